// SPDX-License-Identifier: MIT
//! The spectrum of a space: eigenvalues of its covariance matrix, and what each row adds to it.
//!
//! With δ_i = x_i − mean, C = Σ_i δ_i δ_iᵀ / (N − 1) has eigenvalues λ, and the participation ratio is
//! (Σ λ)² / Σ λ² = (tr C)² / ‖C‖²_F. Leaving out row i changes the scatter matrix S = (N − 1) C by one
//! rank, S₋ᵢ = S − N/(N−1) δ_i δ_iᵀ, so with ‖δ_i‖² and δ_iᵀ C δ_i at hand the ratio without row i costs
//! a few operations: an exact delete-one jackknife.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use super::moments::{self, Moments, Side, rounding_floor};
use crate::data::Space;
use crate::run::Driver;

/// Rows per task.
const ROWS: usize = 256;

/// Below this share of the whole variance, what is left without a row is rounding.
const ROUNDING_SHARE: f64 = 1e-12;

/// Eigenvalues of the covariance matrix and the contribution of each row.
pub(crate) struct Spectrum {
    /// N.
    pub n: usize,
    /// D.
    pub d: usize,
    /// Eigenvalues of the covariance matrix (ddof 1), largest first: min(N, D) of them, none if N = 1.
    /// Negative ones, which only rounding can cause, are 0; so are all of them if all rows are equal.
    pub eigenvalues: Vec<f64>,
    /// ‖δ_i‖² of each row.
    pub squared_lengths: Vec<f64>,
    /// δ_iᵀ C δ_i of each row.
    pub quadratic: Vec<f64>,
}

impl Spectrum {
    /// Computes the moments of the space and from them its spectrum.
    pub fn new(space: &Space, driver: &Driver) -> Self {
        let (n, d) = (space.rows(), space.columns());
        if n < 2 {
            return Spectrum {
                n,
                d,
                eigenvalues: Vec::new(),
                squared_lengths: vec![0.0; n],
                quadratic: vec![0.0; n],
            };
        }
        let moments = Moments::new(space, driver);
        let (squared_lengths, quadratic) = match moments.side {
            Side::Columns => forms_by_columns(space, &moments, driver),
            Side::Rows => forms_by_rows(&moments),
        };
        let all_equal = squared_lengths.iter().sum::<f64>() <= rounding_floor(n, &moments.mean);
        let eigenvalues = if all_equal {
            vec![0.0; n.min(d)]
        } else {
            eigenvalues(moments)
        };
        Spectrum {
            n,
            d,
            eigenvalues,
            squared_lengths,
            quadratic,
        }
    }

    /// The participation ratio, between 1 and min(N − 1, D); `None` if all rows are equal.
    pub fn participation_ratio(&self) -> Option<f64> {
        participation_ratio(&self.eigenvalues)
    }

    /// The participation ratio of the same data without row `row`; `None` if the other rows are equal or
    /// there are fewer than two.
    ///
    /// A row that holds nearly all of the variance leaves few digits for the others; the result is kept
    /// within its possible range, 1 to min(N − 2, D).
    pub fn participation_ratio_without(&self, row: usize) -> Option<f64> {
        if self.n < 3 {
            return None;
        }
        // In units of C = S / (N − 1): the common factor of S₋ᵢ cancels in the ratio.
        let n = self.n as f64;
        let weight = n / (n - 1.0).powi(2);
        let trace: f64 = self.eigenvalues.iter().sum();
        let squares: f64 = self.eigenvalues.iter().map(|l| l * l).sum();
        let length = self.squared_lengths[row];
        let trace_left = trace - weight * length;
        if trace_left <= ROUNDING_SHARE * trace {
            return None;
        }
        let squares_left = squares - 2.0 * weight * self.quadratic[row] + (weight * length).powi(2);
        let most = (self.n - 2).min(self.d) as f64;
        // Written so that squares lost to rounding (0 or less) give the lower end and not a wild ratio.
        let least_squares = trace_left.powi(2) / most;
        let squares_left = squares_left.clamp(least_squares, trace_left.powi(2));
        Some(trace_left.powi(2) / squares_left)
    }
}

/// (Σ λ)² / Σ λ², or `None` if every eigenvalue is 0.
pub(crate) fn participation_ratio(eigenvalues: &[f64]) -> Option<f64> {
    // Divided by the largest, so that squares of very small or large numbers stay in range.
    let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    let sum: f64 = eigenvalues.iter().map(|l| l / largest).sum();
    let squares: f64 = eigenvalues.iter().map(|l| (l / largest).powi(2)).sum();
    Some(sum * sum / squares)
}

fn eigenvalues(moments: Moments) -> Vec<f64> {
    let size = match moments.side {
        Side::Columns => moments.d,
        Side::Rows => moments.n,
    };
    let scatter = MatRef::from_row_major_slice(&moments.scatter, size, size);
    let mut values = vec![0.0; size];
    let scratch = self_adjoint_evd_scratch::<f64>(size, ComputeEigenvectors::No, Par::Seq, Default::default());
    self_adjoint_evd(
        scatter,
        DiagMut::from_slice_mut(&mut values),
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .expect("the eigenvalues of a finite symmetric matrix are found");
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().map(|l| l.max(0.0) / (moments.n as f64 - 1.0)).collect()
}

/// ‖δ_i‖² and δ_iᵀ C δ_i from the D × D scatter matrix.
fn forms_by_columns(space: &Space, moments: &Moments, driver: &Driver) -> (Vec<f64>, Vec<f64>) {
    let (n, d) = (moments.n, moments.d);
    let scatter = MatRef::from_row_major_slice(&moments.scatter, d, d);
    let parts = driver.map(n.div_ceil(ROWS), |task| {
        let rows = task * ROWS..n.min((task + 1) * ROWS);
        let count = rows.len();
        let mut centered = vec![0.0; count * d];
        moments::centered(space, None, &moments.mean, rows, 0..d, &mut centered);
        // δᵀ S δ = 2 δᵀ L δ + Σ_a S_aa δ_a², with L the part of S below the diagonal: half the work of S δ.
        let mut below = vec![0.0; count * d];
        triangular::matmul(
            MatMut::from_row_major_slice_mut(&mut below, count, d),
            BlockStructure::Rectangular,
            Accum::Replace,
            MatRef::from_row_major_slice(&centered, count, d),
            BlockStructure::Rectangular,
            scatter,
            BlockStructure::StrictTriangularLower,
            1.0,
            Par::Seq,
        );
        let mut forms = Vec::with_capacity(count);
        for (delta, below) in centered.chunks_exact(d).zip(below.chunks_exact(d)) {
            let mut length = 0.0;
            let mut form = 0.0;
            for a in 0..d {
                length += delta[a] * delta[a];
                form += delta[a] * (2.0 * below[a] + scatter[(a, a)] * delta[a]);
            }
            forms.push((length, form / (n as f64 - 1.0)));
        }
        forms
    });
    parts.into_iter().flatten().unzip()
}

/// ‖δ_i‖² = G_ii and δ_iᵀ S δ_i = Σ_j G_ij² from the N × N Gram matrix.
fn forms_by_rows(moments: &Moments) -> (Vec<f64>, Vec<f64>) {
    let n = moments.n;
    let mut squared_lengths = Vec::with_capacity(n);
    let mut quadratic = Vec::with_capacity(n);
    for (i, row) in moments.scatter.chunks_exact(n).enumerate() {
        squared_lengths.push(row[i]);
        quadratic.push(row.iter().map(|g| g * g).sum::<f64>() / (n as f64 - 1.0));
    }
    (squared_lengths, quadratic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::run::Order;
    use rand::Rng;

    fn serial() -> Driver<'static> {
        Driver::silent(Order::Serial)
    }

    /// Correlated columns of very different variance.
    fn correlated(n: usize, d: usize, offset: f64) -> Vec<f64> {
        let mut rng = stream(1, "test", 0);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let mut values = Vec::with_capacity(n * d);
        for _ in 0..n {
            let common = uniform();
            values.extend((0..d).map(|a| offset + common + uniform() / (1.0 + a as f64)));
        }
        values
    }

    fn spectrum(n: usize, d: usize, values: Vec<f64>) -> Spectrum {
        Spectrum::new(&Space::from_f64("z", n, d, values).unwrap(), &serial())
    }

    fn assert_close(a: f64, b: f64, tolerance: f64) {
        assert!(
            (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-300),
            "{a} and {b}"
        );
    }

    #[test]
    fn eigenvalues_agree_with_a_hand_calculation() {
        // Columns (1,−1,0,0) and (0,0,2,−2): C = diag(2, 8) / 3.
        let s = spectrum(4, 2, vec![1.0, 0.0, -1.0, 0.0, 0.0, 2.0, 0.0, -2.0]);
        assert_close(s.eigenvalues[0], 8.0 / 3.0, 1e-14);
        assert_close(s.eigenvalues[1], 2.0 / 3.0, 1e-14);
        assert_close(s.participation_ratio().unwrap(), 100.0 / 68.0, 1e-14);
        assert_eq!(s.squared_lengths, [1.0, 1.0, 4.0, 4.0]);
        assert_close(s.quadratic[0], 2.0 / 3.0, 1e-14);
        assert_close(s.quadratic[3], 32.0 / 3.0, 1e-14);
    }

    #[test]
    fn a_spectrum_falling_like_1_over_i_has_a_participation_ratio_of_28_3() {
        // (Σ 1/i)² / Σ 1/i², i = 1…512: 6.8165165…² / 1.6429828… = 28.28082
        let harmonic: Vec<f64> = (1..=512).map(|i| 1.0 / f64::from(i)).collect();
        assert!((participation_ratio(&harmonic).unwrap() - 28.28082).abs() < 1e-5);
    }

    #[test]
    fn equal_eigenvalues_have_a_participation_ratio_of_their_number() {
        assert_eq!(participation_ratio(&[0.25; 64]), Some(64.0));
        assert_eq!(participation_ratio(&[3e-200, 0.0, 0.0]), Some(1.0));
        assert_eq!(participation_ratio(&[0.0; 3]), None);
        assert_eq!(participation_ratio(&[]), None);
    }

    #[test]
    fn the_ratio_without_a_row_is_that_of_the_data_without_it() {
        for (n, d) in [(3, 5), (20, 30), (30, 20), (40, 40), (41, 40), (600, 3)] {
            let values = correlated(n, d, 5.0);
            let whole = spectrum(n, d, values.clone());
            for row in [0, 1, n / 2, n - 1] {
                let mut rest = values.clone();
                rest.drain(row * d..(row + 1) * d);
                let expected = spectrum(n - 1, d, rest).participation_ratio().unwrap();
                assert_close(whole.participation_ratio_without(row).unwrap(), expected, 1e-11);
            }
        }
    }

    #[test]
    fn columns_and_rows_give_the_same_spectrum() {
        // One column of zeros more than rows: the Gram matrix is used instead of the scatter matrix.
        let (n, d) = (30, 12);
        let narrow = correlated(n, d, 0.0);
        let mut wide = Vec::new();
        for row in narrow.chunks_exact(d) {
            wide.extend_from_slice(row);
            wide.extend([0.0; 20]);
        }
        let (narrow, wide) = (spectrum(n, d, narrow), spectrum(n, d + 20, wide));
        assert_eq!((narrow.eigenvalues.len(), wide.eigenvalues.len()), (12, 30));
        let largest = narrow.eigenvalues[0];
        for a in 0..30 {
            let expected = narrow.eigenvalues.get(a).copied().unwrap_or(0.0);
            assert!((wide.eigenvalues[a] - expected).abs() < 1e-14 * largest);
        }
        for i in 0..n {
            assert_close(narrow.squared_lengths[i], wide.squared_lengths[i], 1e-13);
            assert_close(narrow.quadratic[i], wide.quadratic[i], 1e-12);
        }
    }

    #[test]
    fn a_large_offset_changes_nothing() {
        // Numbers near 1e6 are spaced by 1.2e-10, so about 1e-9 of the spread is lost on input.
        for (n, d) in [(50, 20), (20, 50)] {
            let near = spectrum(n, d, correlated(n, d, 0.0)).participation_ratio().unwrap();
            let far = spectrum(n, d, correlated(n, d, 1e6)).participation_ratio().unwrap();
            assert_close(near, far, 1e-8);
        }
    }

    #[test]
    fn equal_rows_have_no_participation_ratio() {
        for value in [0.0, 0.1, 1e6 + 0.1, 1e-30] {
            let s = spectrum(5, 3, vec![value; 15]);
            assert_eq!(s.participation_ratio(), None);
            assert_eq!(s.participation_ratio_without(2), None);
        }
        // Equal up to the last digit.
        let s = spectrum(2, 1, vec![1e6, 1e6_f64.next_up()]);
        assert_eq!((s.participation_ratio(), s.eigenvalues), (None, vec![0.0]));
    }

    #[test]
    fn one_odd_row_leaves_nothing_when_it_is_left_out() {
        let s = spectrum(4, 2, vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0, -3.0]);
        assert_close(s.participation_ratio().unwrap(), 1.0, 1e-14);
        assert_eq!(s.participation_ratio_without(3), None);
        assert_close(s.participation_ratio_without(0).unwrap(), 1.0, 1e-12);
    }

    #[test]
    fn an_overwhelming_row_keeps_the_ratio_without_it_in_range() {
        let mut values = correlated(20, 3, 0.0);
        values[0] = 1e5;
        let ratio = spectrum(20, 3, values).participation_ratio_without(0).unwrap();
        assert!((1.0..=3.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn one_row_has_no_spectrum_and_two_rows_have_one_direction() {
        let one = spectrum(1, 3, vec![1.0, 2.0, 3.0]);
        assert!(one.eigenvalues.is_empty());
        assert_eq!(
            (one.participation_ratio(), one.participation_ratio_without(0)),
            (None, None)
        );
        let two = spectrum(2, 3, vec![1.0, 2.0, 3.0, 1.0, 2.0, 5.0]);
        assert_close(two.eigenvalues[0], 2.0, 1e-14);
        assert_eq!(two.participation_ratio(), Some(1.0));
        assert_eq!(two.participation_ratio_without(0), None);
    }

    #[test]
    fn the_driver_does_not_change_a_bit() {
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        for (n, d) in [(700, 30), (30, 700)] {
            let space = Space::from_f64("z", n, d, correlated(n, d, 3.0)).unwrap();
            let one = Spectrum::new(&space, &serial());
            for order in [Order::Parallel, Order::Shuffled(3)] {
                let other = Spectrum::new(&space, &Driver::silent(order));
                assert_eq!(bits(&one.eigenvalues), bits(&other.eigenvalues), "{order:?}");
                assert_eq!(bits(&one.quadratic), bits(&other.quadratic), "{order:?}");
            }
        }
    }
}
