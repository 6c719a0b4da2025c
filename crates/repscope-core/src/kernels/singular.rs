// SPDX-License-Identifier: MIT
//! The singular values of a space, centered and as it is.
//!
//! Eigenvalues of a scatter matrix are squares: a singular value below 10⁻⁸ of the largest drowns in their rounding, and
//! entropies of singular values see that. So the rows are reduced to a triangular matrix with the same singular
//! values, block by block (QR of each block, then of two triangles on top of each other), and its singular values are
//! taken directly. The rows as they are have the singular values of the triangle of the centered rows with √N times their
//! mean below it, since the centered rows add up to zero.
//!
//! With X = U Σ Vᵀ, leaving out row i takes (v_j·x_i)² = σ_j² U_ij² from σ_j², to first order. So a function f of the
//! singular values changes by Σ_j ∂f/∂ln σ_j² · U_ij²: one more product of all rows with V gives all effects.
//!
//! Two things that this leaves out are known for normal rows. The j-th direction is what N − j degrees of freedom leave to vary, not N − 1
//! (Bartlett 1933), so its slope counts √((N − 1) / (N − j)) times. And eigenvalues do not cross: the density of those of a sample has
//! factors |λ_j − λ_k|^½ (Anderson 1965), so what moves one toward its neighbor moves that one away, and the more so the nearer they are.
//! With variances v_j of the logarithms alone, the covariance of all is (diag(1 / v) + L / 2)⁻¹, L being the Laplacian of the graph with
//! the weights λ_j λ_k / (λ_j − λ_k)².

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul;
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::moments::{centered, column_means, rounding_floor};
use super::prepared::{length, power_of_two_near};
use crate::blocks::SUPER_BLOCK;
use crate::data::Space;
use crate::error::Result;
use crate::run::Driver;

/// Rows per block, as a multiple of the columns: merging two triangles then costs a quarter of making one.
const ROWS_PER_COLUMN: usize = 8;
/// And at least this many.
const FEWEST: usize = 1024;

/// Rows per task when they are multiplied by V.
const ROWS: usize = 256;
/// The step of ln σ² for a derivative.
const STEP: f64 = 1e-4;
/// Nearer eigenvalues than this share of the larger one push each other away no more.
const NEAREST: f64 = 1e-6;

/// A function of singular values, with its name; none where they do not define it.
pub(crate) type Function = (&'static str, fn(&Values) -> Option<f64>);

/// The function whose effects are wanted for themselves, as leverages of the rows: how far it varies does not matter.
pub(crate) const LEVERAGES: &str = "coherence";

/// The singular values of the rows minus their mean, and of the rows as they are.
pub(crate) struct Singular {
    /// All 0 where all rows are equal.
    pub(crate) centered: Values,
    pub(crate) raw: Values,
}

/// Singular values.
pub(crate) struct Values {
    /// N.
    pub(crate) n: usize,
    /// D.
    pub(crate) d: usize,
    /// Largest first, min(N, D) of them, in units that depend on the data: only ratios mean something.
    pub(crate) values: Vec<f64>,
    /// What is added to shares of entropies, where it was chosen.
    pub(crate) eps: Option<f64>,
    /// How many directions of the rows were taken away: 1 where they are centered.
    taken: usize,
    /// What is known about how the functions vary.
    effects: Vec<Variation>,
}

/// How a function varies.
struct Variation {
    of: &'static str,
    /// ∂f/∂ln σ_j², each times what its degrees of freedom make of it.
    slopes: Vec<f64>,
    /// What each row does.
    of_rows: Vec<f64>,
}

impl Singular {
    /// With what each row does to functions of the centered and of the raw values.
    pub(crate) fn new(
        space: &Space,
        of_centered: &[Function],
        of_raw: &[Function],
        eps: Option<f64>,
        driver: &Driver,
    ) -> Self {
        let mean = column_means(space, driver);
        let scale = power_of_two_near(longest(space, &mean, driver));
        let triangle = triangle(space, &mean, scale, driver);
        let effects = |asked: &Asked| Ok(asked.effects_of_rows(space, driver));
        let shape = (space.rows(), space.columns());
        Singular::of_triangle(shape, &mean, scale, &triangle, [of_centered, of_raw], eps, &effects)
            .expect("what rows do is found here")
    }

    /// From a matrix with the singular values and V of the centered rows, times `scale`.
    pub(crate) fn of_triangle(
        (n, d): (usize, usize),
        mean: &[f64],
        scale: f64,
        centered: &Mat<f64>,
        [of_centered, of_raw]: [&[Function]; 2],
        eps: Option<f64>,
        effects: Effects,
    ) -> Result<Self> {
        let below = Mat::from_fn(1, d, |_, j| (n as f64).sqrt() * mean[j] * scale);
        let raw = triangle_of(stacked(centered, &below));
        let nothing = vec![0.0; d];
        Ok(Singular {
            centered: Values::new((n, d), (1, mean), scale, centered, of_centered, eps, effects)?,
            raw: Values::new((n, d), (0, &nothing), scale, &raw, of_raw, eps, effects)?,
        })
    }
}

impl Values {
    /// From a matrix with the singular values and V of the rows less `mean`, times `scale`.
    fn new(
        (n, d): (usize, usize),
        (taken, mean): (usize, &[f64]),
        scale: f64,
        matrix: &Mat<f64>,
        functions: &[Function],
        eps: Option<f64>,
        effects: Effects,
    ) -> Result<Self> {
        let mut found = Values {
            n,
            d,
            values: vec![0.0; n.min(d)],
            eps,
            taken,
            effects: Vec::new(),
        };
        let (mut values, vectors) = decompose(matrix);
        // With fewer rows than columns the mean below them adds a row but no direction.
        values.truncate(n.min(d));
        let squares: f64 = values.iter().map(|s| (s / scale).powi(2)).sum();
        if squares > rounding_floor(n, mean) {
            found.values = values;
            let mut slopes = found.slopes(functions);
            let shares = found.shares_of_freedom();
            let estimates = slopes.iter_mut().zip(functions).filter(|(_, of)| of.0 != LEVERAGES);
            for (slopes, _) in estimates {
                slopes
                    .iter_mut()
                    .zip(&shares)
                    .for_each(|(slope, share)| *slope *= share);
            }
            let asked = Asked {
                n,
                values: found.values.clone(),
                slopes,
                mean: mean.to_vec(),
                scale,
                vectors,
            };
            let effects = effects(&asked)?;
            let known = functions.iter().zip(asked.slopes).zip(effects);
            let known = known.map(|((function, slopes), of_rows)| Variation {
                of: function.0,
                slopes,
                of_rows,
            });
            found.effects = known.collect();
        }
        Ok(found)
    }

    /// What each row does to the function of this name; none where it is not defined.
    pub(crate) fn effects(&self, name: &str) -> Option<&[f64]> {
        Some(&self.effects.iter().find(|found| found.of == name)?.of_rows)
    }

    /// What the repulsion of eigenvalues leaves of the error of the function of this name, as a share. `design` is how many times
    /// larger the units of the rows make its squared error than that of single rows.
    pub(crate) fn left_by_repulsion(&self, name: &str, design: f64) -> f64 {
        let Some(found) = self.effects.iter().find(|found| found.of == name) else {
            return 1.0;
        };
        let known = (0..self.values.len()).filter(|&j| !self.is_rounding(self.values[j]));
        let known: Vec<usize> = known.collect();
        let slopes: Vec<f64> = known.iter().map(|&j| found.slopes[j]).collect();
        let alone: f64 = slopes.iter().map(|slope| slope * slope).sum();
        let (shares, size) = (self.shares_of_freedom(), known.len());
        // 1 + B L B · design / N, B being the diagonal of the shares.
        let mut matrix = Mat::zeros(size, size);
        for a in 0..size {
            for b in 0..a {
                let (larger, smaller) = (self.values[known[b]], self.values[known[a]]);
                let ratio = (smaller / larger).powi(2);
                let weight = ratio / (1.0 - ratio).max(NEAREST).powi(2) * design / self.n as f64;
                let (own, other) = (shares[known[a]], shares[known[b]]);
                matrix[(a, b)] = -weight * own * other;
                matrix[(a, a)] += weight * own * own;
                matrix[(b, b)] += weight * other * other;
            }
        }
        (0..size).for_each(|a| matrix[(a, a)] += 1.0);
        let scratch = cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
        let factor = cholesky_in_place(
            matrix.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        );
        if factor.is_err() || alone == 0.0 {
            return 1.0;
        }
        // aᵀ (L Lᵀ)⁻¹ a = ‖L⁻¹ a‖².
        let mut solved = Mat::from_fn(size, 1, |a, _| slopes[a]);
        solve_lower_triangular_in_place(matrix.as_ref(), solved.as_mut(), Par::Seq);
        let left: f64 = (0..size).map(|a| solved[(a, 0)].powi(2)).sum();
        (left / alone).sqrt().min(1.0)
    }

    /// √((N − 1) / (N − j)) of each direction, counted from 1, for centered rows. Where there are no more rows than columns, the rows are
    /// the directions, and the columns what varies.
    fn shares_of_freedom(&self) -> Vec<f64> {
        let all = (self.n - self.taken.min(self.n)) as f64;
        let left = |j: usize| (self.n.max(self.d + self.taken) - self.taken) as f64 - j as f64;
        (0..self.values.len())
            .map(|j| (all / left(j)).sqrt().max(1.0))
            .collect()
    }

    /// Whether a value is no more than rounding of the largest.
    pub(crate) fn is_rounding(&self, value: f64) -> bool {
        let largest = self.values.first().copied().unwrap_or(0.0);
        value <= largest * self.n.max(self.d) as f64 * f64::EPSILON
    }

    /// ∂f/∂ln σ_j² of each function, by central differences; 0 where σ_j is 0 or f is not defined.
    fn slopes(&self, functions: &[Function]) -> Vec<Vec<f64>> {
        let values = self.values.clone();
        let mut moved = Values {
            values,
            effects: Vec::new(),
            ..*self
        };
        let mut slopes = vec![vec![0.0; self.values.len()]; functions.len()];
        for (j, &value) in self.values.iter().enumerate().filter(|(_, v)| !self.is_rounding(**v)) {
            for (slopes, (_, function)) in slopes.iter_mut().zip(functions) {
                moved.values[j] = value * (STEP / 2.0).exp();
                let up = function(&moved);
                moved.values[j] = value * (-STEP / 2.0).exp();
                let both = up.zip(function(&moved));
                slopes[j] = both.map_or(0.0, |(up, down)| (up - down) / (2.0 * STEP));
                moved.values[j] = value;
            }
        }
        slopes
    }
}

/// What is asked of each row: what it does to functions of the singular values.
pub(crate) struct Asked {
    /// N.
    pub(crate) n: usize,
    /// The singular values of the rows less `mean`, times `scale`.
    pub(crate) values: Vec<f64>,
    /// ∂f/∂ln σ_j² of each function.
    pub(crate) slopes: Vec<Vec<f64>>,
    pub(crate) mean: Vec<f64>,
    pub(crate) scale: f64,
    /// V.
    pub(crate) vectors: Mat<f64>,
}

/// Who finds out, for all rows: a list for each function.
pub(crate) type Effects<'a> = &'a dyn Fn(&Asked) -> Result<Vec<Vec<f64>>>;

impl Asked {
    /// Σ_j slope_j · (U_ij² − 1/N) for each list of slopes and each row of a space.
    pub(crate) fn effects_of_rows(&self, space: &Space, driver: &Driver) -> Vec<Vec<f64>> {
        let (d, rank) = (space.columns(), self.values.len());
        let parts = driver.blocks(space.rows(), ROWS, |rows| {
            let mut block = vec![0.0; rows.len() * d];
            centered(space, None, &self.mean, rows.clone(), 0..d, &mut block);
            let block = MatRef::from_row_major_slice(&block, rows.len(), d);
            let mut along = vec![0.0; rows.len() * rank];
            let out = MatMut::from_row_major_slice_mut(&mut along, rows.len(), rank);
            let vectors = self.vectors.as_ref().subcols(0, rank);
            matmul::matmul(out, Accum::Replace, block, vectors, self.scale, Par::Seq);
            let effects = |slopes: &Vec<f64>| {
                let of_row = |along: &[f64]| {
                    let values = self.values.iter().zip(along).zip(slopes);
                    let known = values.filter(|(_, slope)| **slope != 0.0);
                    let effect =
                        |((value, a), slope): ((&f64, &f64), &f64)| slope * ((a / value).powi(2) - 1.0 / self.n as f64);
                    known.map(effect).sum()
                };
                along.chunks_exact(rank).map(of_row).collect::<Vec<f64>>()
            };
            self.slopes.iter().map(effects).collect::<Vec<_>>()
        });
        let mut all = vec![Vec::with_capacity(space.rows()); self.slopes.len()];
        for part in parts {
            for (all, part) in all.iter_mut().zip(part) {
                all.extend(part);
            }
        }
        all
    }
}

/// Rows of a block whose triangle is found at once.
fn at_once(columns: usize) -> usize {
    (ROWS_PER_COLUMN * columns).max(FEWEST)
}

/// Rows whose triangles are merged before those of others: blocks of about a super-block.
pub(crate) fn rows_of_group(columns: usize) -> usize {
    let block = at_once(columns);
    (SUPER_BLOCK / block).max(1) * block
}

/// The length of the longest row less the mean.
fn longest(space: &Space, mean: &[f64], driver: &Driver) -> f64 {
    let d = space.columns();
    let longest = driver.blocks(space.rows(), at_once(d), |rows| {
        let mut row = vec![0.0; d];
        let measure = |i: usize| {
            centered(space, None, mean, i..i + 1, 0..d, &mut row);
            length(&row)
        };
        rows.map(measure).fold(0.0, f64::max)
    });
    longest.into_iter().fold(0.0, f64::max)
}

/// A matrix of at most D rows with the singular values and V of the rows less the mean, times a power of two that keeps all squares in
/// range. Triangles of a group are merged first, then those of groups, in their order.
pub(crate) fn triangle(space: &Space, mean: &[f64], scale: f64, driver: &Driver) -> Mat<f64> {
    let (n, d) = (space.rows(), space.columns());
    let at_once = at_once(d);
    let per_group = rows_of_group(d) / at_once;
    let mut total = None;
    let group = driver.fold(
        n.div_ceil(at_once),
        |task| {
            let rows = task * at_once..n.min((task + 1) * at_once);
            let mut block = vec![0.0; rows.len() * d];
            centered(space, None, mean, rows.clone(), 0..d, &mut block);
            block.iter_mut().for_each(|x| *x *= scale);
            triangle_of(MatRef::from_row_major_slice(&block, rows.len(), d).to_owned())
        },
        (0, None),
        |(task, group), below| {
            let group = merged(group, below);
            if (task + 1) % per_group > 0 {
                return (task + 1, Some(group));
            }
            total = Some(merged(total.take(), group));
            (task + 1, None)
        },
    );
    if let (_, Some(last)) = group {
        total = Some(merged(total, last));
    }
    total.unwrap_or_else(|| Mat::zeros(0, d))
}

/// Two triangles as one.
pub(crate) fn merged(above: Option<Mat<f64>>, below: Mat<f64>) -> Mat<f64> {
    match above {
        None => below,
        Some(above) => triangle_of(stacked(&above, &below)),
    }
}

/// The upper triangle of a QR decomposition: as many rows as columns, or all rows where there are fewer.
fn triangle_of(mut rows: Mat<f64>) -> Mat<f64> {
    let (n, d) = (rows.nrows(), rows.ncols());
    if n <= d {
        return rows;
    }
    let block = recommended_block_size::<f64>(n, d);
    let mut coefficients = Mat::zeros(block, d);
    let scratch = qr_in_place_scratch::<f64>(n, d, block, Par::Seq, Default::default());
    qr_in_place(
        rows.as_mut(),
        coefficients.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    Mat::from_fn(d, d, |i, j| if i <= j { rows[(i, j)] } else { 0.0 })
}

fn stacked(above: &Mat<f64>, below: &Mat<f64>) -> Mat<f64> {
    let first = above.nrows();
    Mat::from_fn(first + below.nrows(), above.ncols(), |i, j| {
        if i < first {
            above[(i, j)]
        } else {
            below[(i - first, j)]
        }
    })
}

/// The singular values, largest first, and V.
fn decompose(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let (n, d) = (matrix.nrows(), matrix.ncols());
    let mut values = vec![0.0; n.min(d)];
    let mut vectors = Mat::zeros(d, n.min(d));
    let (none, thin) = (ComputeSvdVectors::No, ComputeSvdVectors::Thin);
    let scratch = svd_scratch::<f64>(n, d, none, thin, Par::Seq, Default::default());
    svd(
        matrix.as_ref(),
        DiagMut::from_slice_mut(&mut values),
        None,
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .expect("the singular values of a finite matrix are found");
    values.iter_mut().for_each(|v| *v = v.max(0.0));
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    let sorted = order.iter().map(|&j| values[j]).collect();
    let moved = Mat::from_fn(d, order.len(), |i, j| vectors[(i, order[j])]);
    (sorted, moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::run::Order;
    use rand::RngExt;

    /// Rows on the axes, so that the singular values are known: √(rows of the axis) · length.
    #[test]
    fn singular_values_of_rows_on_the_axes_are_known_to_the_smallest() {
        let lengths = [1.0, 1e-4, 1e-9];
        let rows: Vec<f64> = (0..6000)
            .flat_map(|i| (0..3).map(move |c| if c == i % 3 { lengths[c] } else { 0.0 }))
            .collect();
        let space = Space::from_f64("axes", 6000, 3, rows).unwrap();
        let found = Singular::new(&space, &[], &[], None, &Driver::silent(Order::Parallel))
            .raw
            .values;
        for (value, length) in found.iter().zip(lengths) {
            assert!((value / found[0] / length - 1.0).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn blocks_and_one_piece_give_the_same_singular_values() {
        let mut rng = stream(1, "singular", 0);
        let rows: Vec<f64> = (0..5000 * 7)
            .map(|x| (rng.random::<f64>() - 0.3) * 10f64.powi(-(x % 7)))
            .collect();
        let space = Space::from_f64("x", 5000, 7, rows.clone()).unwrap();
        let found = Singular::new(&space, &[], &[], None, &Driver::silent(Order::Parallel))
            .raw
            .values;
        let (whole, _) = decompose(&MatRef::from_row_major_slice(&rows, 5000, 7).to_owned());
        for (a, b) in found.iter().zip(&whole) {
            assert!((a / found[0] - b / whole[0]).abs() < 1e-14, "{found:?} {whole:?}");
        }
    }

    #[test]
    fn the_rows_as_they_are_have_the_singular_values_of_the_rows() {
        // An offset that dominates, with more rows than columns and with fewer.
        for (n, d) in [(40, 6), (6, 40), (6, 6), (1, 3)] {
            let mut rng = stream(2, "singular", 0);
            let rows: Vec<f64> = (0..n * d).map(|_| 50.0 + rng.random::<f64>()).collect();
            let (direct, _) = decompose(&MatRef::from_row_major_slice(&rows, n, d).to_owned());
            let space = Space::from_f64("x", n, d, rows).unwrap();
            let found = Singular::new(&space, &[], &[], None, &Driver::silent(Order::Serial))
                .raw
                .values;
            assert_eq!(found.len(), n.min(d));
            for (a, b) in found.iter().zip(&direct) {
                assert!((a / found[0] - b / direct[0]).abs() < 1e-14, "{found:?} {direct:?}");
            }
        }
    }

    #[test]
    fn equal_rows_have_no_centered_singular_values() {
        let space = Space::from_f64("same", 50, 3, vec![0.1; 150]).unwrap();
        let found = Singular::new(&space, &[], &[], None, &Driver::silent(Order::Serial));
        assert_eq!(found.centered.values, [0.0; 3]);
        assert!(found.raw.values[0] > 0.0);
    }

    #[test]
    fn eigenvalues_that_are_near_each_other_vary_less_apart() {
        // 50 rows at ±2 on one axis and 50 at ±1 on the other: λ = 200 and 50. f = ln(λ₁/λ₂) has the slopes (1, −s) with
        // s = √(99/98), and (1 + B L B · κ) (1, −s) = (1 + κ (1 + s²)) (1, −s) with κ = ¼ / (¾)² · design / 100.
        let apart: Function = ("apart", |v| Some(2.0 * (v.values[0] / v.values[1]).ln()));
        let row = |i: usize| {
            let sign = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            if i < 50 { [2.0 * sign, 0.0] } else { [0.0, sign] }
        };
        let space = Space::from_f64("x", 100, 2, (0..100).flat_map(row).collect()).unwrap();
        let found = Singular::new(&space, &[apart], &[], None, &Driver::silent(Order::Serial)).centered;
        for design in [1.0, 3.0] {
            let weight: f64 = 0.25 / 0.5625 * design / 100.0;
            let expected = (1.0 / (1.0 + weight * (1.0 + 99.0 / 98.0))).sqrt();
            let left = found.left_by_repulsion("apart", design);
            assert!((left - expected).abs() < 1e-9, "{left} {expected}");
        }
        assert_eq!(found.left_by_repulsion("no such function", 1.0), 1.0);
    }

    #[test]
    fn the_effect_of_a_row_is_what_leaving_it_out_does() {
        let share: Function = ("share", |v| {
            Some(v.values[0].powi(2) / v.values.iter().map(|s| s * s).sum::<f64>())
        });
        let mut rng = stream(3, "effects", 0);
        let (n, d) = (900, 4);
        let rows: Vec<f64> = (0..n * d)
            .map(|x| (rng.random::<f64>() - 0.3) * [3.0, 2.0, 1.0, 0.5][x % d])
            .collect();
        let of = |rows: Vec<f64>| {
            let space = Space::from_f64("x", rows.len() / d, d, rows).unwrap();
            Singular::new(&space, &[share], &[share], None, &Driver::silent(Order::Parallel))
        };
        let whole = of(rows.clone());
        for row in [0, 300, 899] {
            let mut fewer = rows.clone();
            fewer.drain(row * d..(row + 1) * d);
            let left = of(fewer);
            for (whole, left) in [(&whole.centered, &left.centered), (&whole.raw, &left.raw)] {
                let change = (share.1)(whole).unwrap() - (share.1)(left).unwrap();
                let effect = whole.effects("share").unwrap()[row];
                // To first order: the rest is smaller by another 1/N.
                assert!(
                    (change - effect).abs() < 0.02 * effect.abs() + 1e-7,
                    "{row}: {change} {effect}"
                );
            }
        }
    }
}
