// SPDX-License-Identifier: MIT
//! The spectrum of a space: eigenvalues of its covariance matrix, and what each row adds to it.
//!
//! With δ_i = x_i − mean, C = Σ_i δ_i δ_iᵀ / (N − 1) has eigenvalues λ, and the participation ratio is
//! (Σ λ)² / Σ λ² = (tr C)² / ‖C‖²_F. The weight of row i adds δ_i δ_iᵀ to the scatter matrix S = (N − 1) C, so what a row does
//! to the ratio follows from ‖δ_i‖² and δ_iᵀ C δ_i. The eigenvalues do not need what rows add, nor the other way round, so each is
//! found only where it is needed.

use std::sync::LazyLock;

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};

use super::moments::{self, Moments, Side, rounding_floor};
use super::prepared::power_of_two_near;
use super::scatter::TOGETHER;
use crate::data::Space;
use crate::run::Driver;

/// Rows per task.
const ROWS: usize = 256;

/// From this many rows on, δ_iᵀ C δ_i is in single precision: six digits of a change that is about 1/N of the ratio.
const MANY: usize = 4096;

/// Eigenvalues of the covariance matrix and the contribution of each row.
pub(crate) struct Spectrum {
    /// N.
    pub n: usize,
    /// D.
    pub d: usize,
    /// Eigenvalues of the covariance matrix (ddof 1), largest first: min(N, D) of them, none if N = 1.
    /// Negative ones, which only rounding can cause, are 0; so are all of them if all rows are equal.
    pub eigenvalues: LazyLock<Vec<f64>, Box<dyn FnOnce() -> Vec<f64> + Send>>,
    /// What each row adds, where that is needed.
    by_row: Option<ByRow>,
    /// Σ λ; 0 if all rows are equal.
    trace: f64,
    /// Σ λ² / (Σ λ)².
    concentration: f64,
}

/// What each row adds to the moments.
pub(crate) struct ByRow {
    /// ‖δ_i‖² of each row.
    pub(crate) squares: Vec<f64>,
    /// δ_iᵀ C δ_i of each row.
    pub(crate) forms: Vec<f64>,
}

impl ByRow {
    /// Of the rows of a space, which may be some of those that the moments are of.
    pub(crate) fn by_columns(space: &Space, moments: &Moments, driver: &Driver) -> Self {
        if moments.n < MANY {
            forms_by_columns(space, moments, |x| x, driver)
        } else {
            forms_by_columns(space, moments, |x| x as f32, driver)
        }
    }
}

impl Spectrum {
    /// Computes the moments of the space, and what each row adds to them where that is needed.
    pub fn new(space: &Space, wants_rows: bool, driver: &Driver) -> Self {
        let (n, d) = (space.rows(), space.columns());
        if n < 2 {
            return Spectrum {
                n,
                d,
                eigenvalues: LazyLock::new(Box::new(Vec::new)),
                by_row: wants_rows.then(|| ByRow {
                    squares: vec![0.0; n],
                    forms: vec![0.0; n],
                }),
                trace: 0.0,
                concentration: 0.0,
            };
        }
        let moments = Moments::new(space, driver);
        let by_row = wants_rows.then(|| match moments.side {
            Side::Columns => ByRow::by_columns(space, &moments, driver),
            Side::Rows => forms_by_rows(&moments),
        });
        Spectrum::of_moments(moments, by_row)
    }

    /// From moments of at least two rows.
    pub(crate) fn of_moments(moments: Moments, by_row: Option<ByRow>) -> Self {
        let (n, d) = (moments.n, moments.d);
        let squares: f64 = moments.scatter.iter().step_by(moments.size() + 1).sum();
        let all_equal = squares <= rounding_floor(n, &moments.mean);
        let (trace, concentration) = if all_equal { (0.0, 0.0) } else { sums(&moments) };
        Spectrum {
            n,
            d,
            eigenvalues: LazyLock::new(Box::new(move || {
                let zeros = all_equal.then(|| vec![0.0; n.min(d)]);
                zeros.unwrap_or_else(|| eigenvalues(&moments))
            })),
            by_row,
            trace,
            concentration,
        }
    }

    /// The participation ratio, between 1 and min(N − 1, D); `None` if all rows are equal.
    pub fn participation_ratio(&self) -> Option<f64> {
        let most = self.n.saturating_sub(1).min(self.d) as f64;
        (self.trace > 0.0).then(|| (1.0 / self.concentration).clamp(1.0, most))
    }

    /// What each row adds, if that was computed.
    pub fn by_row(&self) -> Option<&ByRow> {
        self.by_row.as_ref()
    }

    /// What each row does to the participation ratio R, as the derivative by its weight: 2R (‖δ_i‖² / Σ ‖δ‖² − δ_iᵀCδ_i / Σ δᵀCδ). `None`
    /// if all rows are equal.
    pub fn effects_on_participation_ratio(&self, by_row: &ByRow) -> Option<Vec<f64>> {
        let ratio = self.participation_ratio()?;
        let [squares, forms] = [&by_row.squares, &by_row.forms].map(|values| values.iter().sum::<f64>());
        let parts = by_row.squares.iter().zip(&by_row.forms);
        Some(parts.map(|(s, f)| 2.0 * ratio * (s / squares - f / forms)).collect())
    }
}

/// Σ λ and Σ λ² / (Σ λ)²: the trace and the squared entries of the covariance matrix.
fn sums(moments: &Moments) -> (f64, f64) {
    let size = moments.size();
    // Divided by the largest, so that squares of very small or large numbers stay in range.
    let largest = largest_diagonal(moments);
    let trace: f64 = (0..size).map(|a| moments.scatter[a * size + a] / largest).sum();
    let rows = moments.scatter.chunks_exact(size);
    let square = |row: &[f64]| row.iter().map(|s| (s / largest).powi(2)).sum::<f64>();
    let squares: f64 = rows.map(square).sum();
    (trace * largest / (moments.n as f64 - 1.0), squares / trace.powi(2))
}

fn largest_diagonal(moments: &Moments) -> f64 {
    let diagonal = moments.scatter.iter().step_by(moments.size() + 1);
    diagonal.copied().fold(0.0, f64::max)
}

fn eigenvalues(moments: &Moments) -> Vec<f64> {
    let size = moments.size();
    let scatter = MatRef::from_row_major_slice(&moments.scatter, size, size);
    let mut values = vec![0.0; size];
    let par = Par::rayon(TOGETHER);
    let scratch = self_adjoint_evd_scratch::<f64>(size, ComputeEigenvectors::No, par, Default::default());
    self_adjoint_evd(
        scatter,
        DiagMut::from_slice_mut(&mut values),
        None,
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .expect("the eigenvalues of a finite symmetric matrix are found");
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().map(|l| l.max(0.0) / (moments.n as f64 - 1.0)).collect()
}

/// ‖δ_i‖² and δ_iᵀ C δ_i from the D × D scatter matrix, the latter from rounded numbers.
fn forms_by_columns<T: RealField + Copy + Into<f64>>(
    space: &Space,
    moments: &Moments,
    round: fn(f64) -> T,
    driver: &Driver,
) -> ByRow {
    let (n, d) = (moments.n, moments.d);
    // Powers of two bring the columns and the matrix to near 1 before they are rounded.
    let largest = largest_diagonal(moments);
    let (unit, scale) = (
        power_of_two_near((largest / n as f64).sqrt()),
        power_of_two_near(largest),
    );
    let back = 1.0 / unit / unit / scale / (n as f64 - 1.0);
    let scatter: Vec<T> = moments.scatter.iter().map(|s| round(s * scale)).collect();
    let scatter = MatRef::from_row_major_slice(&scatter, d, d);
    let parts = driver.blocks(space.rows(), ROWS, |rows| {
        let count = rows.len();
        let mut centered = vec![0.0; count * d];
        moments::centered(space, None, &moments.mean, rows, 0..d, &mut centered);
        let rounded: Vec<T> = centered.iter().map(|x| round(x * unit)).collect();
        // δᵀ S δ = 2 δᵀ L δ + Σ_a S_aa δ_a², with L the part of S below the diagonal: half the work of S δ.
        let mut below = vec![round(0.0); count * d];
        triangular::matmul(
            MatMut::from_row_major_slice_mut(&mut below, count, d),
            BlockStructure::Rectangular,
            Accum::Replace,
            MatRef::from_row_major_slice(&rounded, count, d),
            BlockStructure::Rectangular,
            scatter,
            BlockStructure::StrictTriangularLower,
            round(1.0),
            Par::Seq,
        );
        let length = |delta: &[f64]| delta.iter().map(|x| x * x).sum::<f64>();
        let form = |(delta, below): (&[T], &[T])| {
            let term = |a: usize| {
                let (delta, below, own): (f64, f64, f64) = (delta[a].into(), below[a].into(), scatter[(a, a)].into());
                delta * (2.0 * below + own * delta)
            };
            (0..d).map(term).sum::<f64>() * back
        };
        let lengths = centered.chunks_exact(d).map(length);
        let forms = rounded.chunks_exact(d).zip(below.chunks_exact(d)).map(form);
        lengths.zip(forms).collect::<Vec<_>>()
    });
    let (squares, forms) = parts.into_iter().flatten().unzip();
    ByRow { squares, forms }
}

/// ‖δ_i‖² = G_ii and δ_iᵀ S δ_i = Σ_j G_ij² from the N × N Gram matrix.
fn forms_by_rows(moments: &Moments) -> ByRow {
    let n = moments.n;
    let form = |row: &[f64]| row.iter().map(|g| g * g).sum::<f64>() / (n as f64 - 1.0);
    let rows = moments.scatter.chunks_exact(n).enumerate();
    let (squares, forms) = rows.map(|(i, row)| (row[i], form(row))).unzip();
    ByRow { squares, forms }
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
        Spectrum::new(&Space::from_f64("z", n, d, values).unwrap(), true, &serial())
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
        assert_eq!(s.by_row().unwrap().squares, [1.0, 1.0, 4.0, 4.0]);
        assert_close(s.by_row().unwrap().forms[0], 2.0 / 3.0, 1e-14);
        assert_close(s.by_row().unwrap().forms[3], 32.0 / 3.0, 1e-14);
    }

    /// Rows ±√λ_a on the axes, so that the covariance matrix has eigenvalues in proportion to λ.
    fn on_the_axes(eigenvalues: &[f64]) -> Spectrum {
        let d = eigenvalues.len();
        let mut values = vec![0.0; 2 * d * d];
        for (a, l) in eigenvalues.iter().enumerate() {
            values[2 * a * d + a] = l.sqrt();
            values[(2 * a + 1) * d + a] = -l.sqrt();
        }
        spectrum(2 * d, d, values)
    }

    #[test]
    fn a_spectrum_falling_like_1_over_i_has_a_participation_ratio_of_28_3() {
        // (Σ 1/i)² / Σ 1/i², i = 1…512: 6.8165165…² / 1.6429828… = 28.28082
        let harmonic: Vec<f64> = (1..=512).map(|i| 1.0 / f64::from(i)).collect();
        assert!((on_the_axes(&harmonic).participation_ratio().unwrap() - 28.28082).abs() < 1e-5);
    }

    #[test]
    fn equal_eigenvalues_have_a_participation_ratio_of_their_number() {
        assert_eq!(on_the_axes(&[0.25; 64]).participation_ratio(), Some(64.0));
        assert_eq!(on_the_axes(&[4e-200, 0.0, 0.0]).participation_ratio(), Some(1.0));
    }

    #[test]
    fn the_ratio_is_that_of_the_eigenvalues() {
        for (n, d) in [(20, 30), (30, 20), (5000, 12)] {
            let s = spectrum(n, d, correlated(n, d, 5.0));
            let sum: f64 = s.eigenvalues.iter().sum();
            let squares: f64 = s.eigenvalues.iter().map(|l| l * l).sum();
            assert_close(s.participation_ratio().unwrap(), sum * sum / squares, 1e-13);
        }
    }

    #[test]
    fn single_precision_keeps_six_digits_of_what_a_row_does() {
        let (n, d) = (MANY, 30);
        let space = Space::from_f64("z", n, d, correlated(n, d, 100.0)).unwrap();
        let moments = Moments::new(&space, &serial());
        let double = forms_by_columns(&space, &moments, |x| x, &serial());
        let single = forms_by_columns(&space, &moments, |x| x as f32, &serial());
        let (single, double) = (single.forms, double.forms);
        let mean = double.iter().sum::<f64>() / n as f64;
        for (single, double) in single.iter().zip(&double) {
            assert!(
                (single - double).abs() < 1e-6 * (mean + double),
                "{single} and {double}"
            );
        }
    }

    #[test]
    fn what_a_row_does_to_the_ratio_is_the_derivative_by_its_weight() {
        for (n, d) in [(20, 30), (30, 20), (40, 3)] {
            let values = correlated(n, d, 5.0);
            let spectrum = spectrum(n, d, values.clone());
            let found = spectrum
                .effects_on_participation_ratio(spectrum.by_row().unwrap())
                .unwrap();
            let ratio_with = |row: usize, weight: f64| {
                let weight_of = |i: usize| if i == row { weight } else { 1.0 };
                let total: f64 = (0..n).map(weight_of).sum();
                let mean = |a: usize| (0..n).map(|i| weight_of(i) * values[i * d + a]).sum::<f64>() / total;
                let means: Vec<f64> = (0..d).map(mean).collect();
                let entry = |a: usize, b: usize| {
                    let term =
                        |i: usize| weight_of(i) * (values[i * d + a] - means[a]) * (values[i * d + b] - means[b]);
                    (0..n).map(term).sum::<f64>()
                };
                let trace: f64 = (0..d).map(|a| entry(a, a)).sum();
                let squares: f64 = (0..d * d).map(|ab| entry(ab / d, ab % d).powi(2)).sum();
                trace * trace / squares
            };
            for row in [0, n / 2, n - 1] {
                let step = 1e-4;
                let expected = (ratio_with(row, 1.0 + step) - ratio_with(row, 1.0 - step)) / (2.0 * step);
                // Central differences err by about the square of the step.
                assert!(
                    (found[row] - expected).abs() < 1e-7,
                    "{row}: {}, not {expected}",
                    found[row]
                );
            }
            assert!(found.iter().sum::<f64>().abs() < 1e-10);
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
            assert_close(
                narrow.by_row().unwrap().squares[i],
                wide.by_row().unwrap().squares[i],
                1e-13,
            );
            assert_close(
                narrow.by_row().unwrap().forms[i],
                wide.by_row().unwrap().forms[i],
                1e-12,
            );
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
            assert_eq!(s.effects_on_participation_ratio(s.by_row().unwrap()), None);
        }
        // Equal up to the last digit.
        let s = spectrum(2, 1, vec![1e6, 1e6_f64.next_up()]);
        assert_eq!(
            (s.participation_ratio(), s.eigenvalues.as_slice()),
            (None, [0.0].as_slice())
        );
    }

    #[test]
    fn one_row_has_no_spectrum_and_two_rows_have_one_direction() {
        let one = spectrum(1, 3, vec![1.0, 2.0, 3.0]);
        assert!(one.eigenvalues.is_empty());
        assert_eq!(one.participation_ratio(), None);
        let two = spectrum(2, 3, vec![1.0, 2.0, 3.0, 1.0, 2.0, 5.0]);
        assert_close(two.eigenvalues[0], 2.0, 1e-14);
        assert_eq!(two.participation_ratio(), Some(1.0));
    }

    #[test]
    fn the_driver_does_not_change_a_bit() {
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        for (n, d) in [(700, 30), (30, 700)] {
            let space = Space::from_f64("z", n, d, correlated(n, d, 3.0)).unwrap();
            let one = Spectrum::new(&space, true, &serial());
            for order in [Order::Parallel, Order::Shuffled(3)] {
                let other = Spectrum::new(&space, true, &Driver::silent(order));
                assert_eq!(bits(&one.eigenvalues), bits(&other.eigenvalues), "{order:?}");
                assert_eq!(
                    bits(&one.by_row().unwrap().forms),
                    bits(&other.by_row().unwrap().forms),
                    "{order:?}"
                );
            }
        }
    }
}
