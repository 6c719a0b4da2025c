// SPDX-License-Identifier: MIT
//! Means of the columns and the scatter matrix of the centered rows.
//!
//! With δ_i = x_i − mean, the scatter matrix is S = Σ_i δ_i δ_iᵀ (D × D). Where there are fewer rows than
//! columns, the Gram matrix G_ij = δ_i·δ_j (N × N) has the same nonzero eigenvalues and is smaller.
//!
//! The rows are centered before they are multiplied, so a large common offset costs no digits.

use std::ops::Range;

pub(crate) use super::scatter::Side;
use super::scatter::scatter;
use crate::blocks::SUPER_BLOCK;
use crate::data::{Slice, Space};
use crate::run::Driver;

/// Rows per task when summing columns.
const ROWS: usize = 1024;

/// The first two moments of a space.
pub(crate) struct Moments {
    /// N.
    pub n: usize,
    /// D.
    pub d: usize,
    /// The mean of each column.
    pub mean: Vec<f64>,
    /// Scatter of the centered rows, full and symmetric: D × D if N ≥ D, else the N × N Gram matrix.
    pub scatter: Vec<f64>,
    /// Which of the two `scatter` is.
    pub side: Side,
}

impl Moments {
    /// Computes the means and the smaller of the two scatter matrices.
    pub fn new(space: &Space, driver: &Driver) -> Self {
        let (n, d) = (space.rows(), space.columns());
        let mean = column_means(space, driver);
        let side = if n >= d { Side::Columns } else { Side::Rows };
        let scatter = scatter(space, &mean, side, driver);
        Moments {
            n,
            d,
            mean,
            scatter,
            side,
        }
    }

    /// The number of rows of the scatter matrix.
    pub fn size(&self) -> usize {
        match self.side {
            Side::Columns => self.d,
            Side::Rows => self.n,
        }
    }
}

/// The mean of each column.
pub(crate) fn column_means(space: &Space, driver: &Driver) -> Vec<f64> {
    scaled_column_means(space, None, driver)
}

/// The mean of each column after multiplying row i by `scale[i]`, where a scale is given.
pub(crate) fn scaled_column_means(space: &Space, scale: Option<&[f64]>, driver: &Driver) -> Vec<f64> {
    let origin = Means::origin(space, scale);
    let sums = Means::sums(space, scale, &origin, driver);
    Means::from_sums(&origin, &sums, space.rows())
}

/// The steps to the means of columns: sums over super-blocks are added up in their order.
pub(crate) struct Means;

impl Means {
    /// The first row, which is subtracted before summing: sums stay as small as the spread of the data, and the mean of a constant
    /// column is that constant to the last bit.
    pub(crate) fn origin(space: &Space, scale: Option<&[f64]>) -> Vec<f64> {
        let d = space.columns();
        let (zero, mut origin) = (vec![0.0; d], vec![0.0; d]);
        centered(space, scale, &zero, 0..1, 0..d, &mut origin);
        origin
    }

    /// The sums of what is left of the rows.
    pub(crate) fn sums(space: &Space, scale: Option<&[f64]>, origin: &[f64], driver: &Driver) -> Vec<f64> {
        let (n, d) = (space.rows(), space.columns());
        let mut total = TwoLevels::new(d);
        driver.fold(
            n.div_ceil(ROWS),
            |task| {
                let (mut sums, mut row) = (vec![0.0; d], vec![0.0; d]);
                for i in task * ROWS..n.min((task + 1) * ROWS) {
                    centered(space, scale, origin, i..i + 1, 0..d, &mut row);
                    add(&mut sums, &row);
                }
                sums
            },
            0,
            |task: usize, sums| {
                total.add(&sums);
                if (task + 1).is_multiple_of(SUPER_BLOCK / ROWS) {
                    total.settle();
                }
                task + 1
            },
        );
        total.finish()
    }

    /// The means.
    pub(crate) fn from_sums(origin: &[f64], sums: &[f64], rows: usize) -> Vec<f64> {
        origin.iter().zip(sums).map(|(o, s)| o + s / rows as f64).collect()
    }
}

/// Sums over super-blocks, and over all of them: the same bits whether the super-blocks are summed here or elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct TwoLevels {
    total: Vec<f64>,
    current: Vec<f64>,
}

impl TwoLevels {
    pub(crate) fn new(size: usize) -> Self {
        TwoLevels {
            total: vec![0.0; size],
            current: vec![0.0; size],
        }
    }

    /// Adds to the sums of this super-block.
    pub(crate) fn add(&mut self, terms: &[f64]) {
        add(&mut self.current, terms);
    }

    /// A super-block ends.
    pub(crate) fn settle(&mut self) {
        for (total, current) in self.total.iter_mut().zip(&mut self.current) {
            *total += std::mem::take(current);
        }
    }

    /// The sums of all.
    pub(crate) fn finish(mut self) -> Vec<f64> {
        self.settle();
        self.total
    }
}

/// Copies a rectangle of the space into `out`, row by row, scaled and centered.
pub(crate) fn centered(
    space: &Space,
    scale: Option<&[f64]>,
    mean: &[f64],
    rows: Range<usize>,
    columns: Range<usize>,
    out: &mut [f64],
) {
    fn fill<T: Copy + Into<f64>>(row: &[T], factor: f64, mean: &[f64], out: &mut [f64]) {
        for ((o, &x), m) in out.iter_mut().zip(row).zip(mean) {
            *o = x.into() * factor - m;
        }
    }
    let d = space.columns();
    let mean = &mean[columns.clone()];
    for (i, out) in rows.zip(out.chunks_exact_mut(columns.len())) {
        let factor = scale.map_or(1.0, |s| s[i]);
        let span = i * d + columns.start..i * d + columns.end;
        match space.slice() {
            Slice::F32(v) => fill(&v[span], factor, mean, out),
            Slice::F64(v) => fill(&v[span], factor, mean, out),
        }
    }
}

/// The part of Σ_i ‖δ_i‖² that rounding alone can explain: a sum below it means that all rows are equal.
///
/// A constant column of value m leaves |δ| of a few ulps of m, here taken as 4.
pub(crate) fn rounding_floor(n: usize, mean: &[f64]) -> f64 {
    let ulps = 4.0 * f64::EPSILON;
    n as f64 * mean.iter().map(|m| (ulps * m).powi(2)).sum::<f64>()
}

pub(crate) fn add(sums: &mut [f64], terms: &[f64]) {
    for (s, t) in sums.iter_mut().zip(terms) {
        *s += t;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn space(n: usize, d: usize, value: impl Fn(usize, usize) -> f64) -> Space {
        let values = (0..n * d).map(|p| value(p / d, p % d)).collect();
        Space::from_f64("z", n, d, values).unwrap()
    }

    fn serial() -> Driver<'static> {
        Driver::silent(Order::Serial)
    }

    /// Small integers without a pattern.
    fn digit(i: usize, a: usize) -> f64 {
        ((i * 7919 + a * 104_729 + i * a * 31) % 17) as f64
    }

    /// The definition, entry by entry.
    fn direct(space: &Space, mean: &[f64], side: Side) -> Vec<f64> {
        let (n, d) = (space.rows(), space.columns());
        let mut x = vec![0.0; n * d];
        centered(space, None, mean, 0..n, 0..d, &mut x);
        match side {
            Side::Columns => (0..d * d)
                .map(|p| (0..n).map(|i| x[i * d + p / d] * x[i * d + p % d]).sum())
                .collect(),
            Side::Rows => (0..n * n)
                .map(|p| (0..d).map(|a| x[p / n * d + a] * x[p % n * d + a]).sum())
                .collect(),
        }
    }

    #[test]
    fn means_agree_with_a_hand_calculation() {
        let s = space(4, 2, |i, a| (i * (a + 1)) as f64);
        assert_eq!(column_means(&s, &serial()), [1.5, 3.0]);
        let scaled = scaled_column_means(&s, Some(&[1.0, 1.0, 0.5, 0.0]), &serial());
        assert_eq!(scaled, [0.5, 1.0]);
    }

    #[test]
    fn the_mean_of_a_constant_column_is_exact() {
        let s = space(3001, 1, |_, _| 0.1);
        assert_eq!(column_means(&s, &serial()), [0.1]);
    }

    #[test]
    fn a_large_offset_costs_no_digits_of_the_mean() {
        // Quarters are exact near 1e6, so is their sum around the first row.
        let s = space(2400, 1, |i, _| 1e6 + (i % 4) as f64 / 4.0);
        assert_eq!(column_means(&s, &serial()), [1e6 + 0.375]);
    }

    #[test]
    fn scatter_agrees_with_the_definition_on_both_sides() {
        // Sizes that need several blocks, several tasks and ragged ends.
        for (n, d) in [(1, 1), (1, 4), (5, 3), (4100, 5), (3, 4100), (600, 530), (520, 600)] {
            let s = space(n, d, digit);
            let moments = Moments::new(&s, &serial());
            assert_eq!(moments.side, if n >= d { Side::Columns } else { Side::Rows });
            let expected = direct(&s, &moments.mean, moments.side);
            assert_eq!(moments.scatter.len(), expected.len());
            for (got, expected) in moments.scatter.iter().zip(&expected) {
                // Sums of up to 4100 products below 17²: rounding stays far below 1e-8.
                assert!((got - expected).abs() < 1e-8, "{got} and {expected} at {n} × {d}");
            }
        }
    }

    #[test]
    fn single_precision_gives_the_same_as_double() {
        let s = space(50, 7, digit);
        let values = (0..350).map(|p| digit(p / 7, p % 7) as f32).collect();
        let single = Space::from_f32("z", 50, 7, values).unwrap();
        assert_eq!(
            Moments::new(&s, &serial()).scatter,
            Moments::new(&single, &serial()).scatter
        );
    }

    #[test]
    fn the_driver_does_not_change_a_bit() {
        let bits = |m: &Moments| {
            m.mean
                .iter()
                .chain(&m.scatter)
                .map(|x| x.to_bits())
                .collect::<Vec<u64>>()
        };
        for (n, d) in [(9000, 20), (20, 9000), (700, 600)] {
            let s = space(n, d, |i, a| digit(i, a).sin());
            let one = bits(&Moments::new(&s, &serial()));
            for order in [Order::Parallel, Order::Shuffled(3)] {
                assert!(one == bits(&Moments::new(&s, &Driver::silent(order))), "{order:?}");
            }
        }
    }
}
