// SPDX-License-Identifier: MIT
//! Unit-length rows in f64: their products with another, and the same rows without what they share.
//! Eight lanes in a fixed order and no fused operations: a product has the same bits on every machine and for equal rows.

use std::ops::Range;

use super::moments::centered;
use super::prepared::{BLOCK, length};
use super::similarity::Side;
use crate::data::Space;
use crate::error::Result;
use crate::run::Driver;

/// Sums that run side by side.
const LANES: usize = 8;

/// The rows of a side, each times its factor.
pub(crate) struct UnitMatrix {
    columns: usize,
    values: Vec<f64>,
}

impl UnitMatrix {
    pub(crate) fn new(side: &Side, driver: &Driver) -> Self {
        let (n, d) = (side.space.rows(), side.space.columns());
        let blocks = driver.blocks(n, BLOCK, |rows| {
            let mut values = vec![0.0; rows.len() * d];
            for (i, row) in rows.zip(values.chunks_exact_mut(d)) {
                side.space.read_row(i, row);
                row.iter_mut().for_each(|x| *x *= side.factors()[i]);
            }
            values
        });
        UnitMatrix {
            columns: d,
            values: blocks.concat(),
        }
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// The cosine of a unit row with row j.
    pub(crate) fn cosine(&self, row: &[f64], j: usize) -> f64 {
        let mut out = [0.0];
        self.cosines(row, j, &mut out);
        out[0]
    }

    /// The cosines of a unit row with the rows from `first` on, as many as `out` has room for, kept within their range.
    pub(crate) fn cosines(&self, row: &[f64], first: usize, out: &mut [f64]) {
        let rows = &self.values[first * self.columns..(first + out.len()) * self.columns];
        pulp::Arch::new().dispatch(Cosines { row, rows, out });
    }
}

struct Cosines<'a> {
    row: &'a [f64],
    rows: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::WithSimd for Cosines<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for (out, other) in self.out.iter_mut().zip(self.rows.chunks_exact(self.row.len())) {
            *out = product(self.row, other).clamp(-1.0, 1.0);
        }
    }
}

/// Σ x·y, in lanes.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += x[l] * y[l];
        }
    }
    let rest: f64 = last_a.iter().zip(last_b).map(|(x, y)| x * y).sum();
    rest + sums.iter().sum::<f64>()
}

/// A unit row nearer to the mean than this is the mean, up to rounding.
const NEAR: f64 = 1e-12;

/// The unit rows of a side less their mean, each divided by its length. A row that is the mean has no direction left and
/// becomes zero. One that had none before stays zero and does not count in the mean.
pub(crate) fn less_mean(side: &Side, is_double: bool, driver: &Driver) -> Result<Space> {
    let (n, d) = (side.space.rows(), side.space.columns());
    let with_direction = (n - side.zeros).max(1) as f64;
    let of_all = side.mean(driver).into_iter();
    let mean: Vec<f64> = of_all.map(|m| m * (n as f64 / with_direction)).collect();
    let block = |rows: Range<usize>| {
        let mut values = vec![0.0; rows.len() * d];
        let factors = side.factors()[rows.clone()].iter();
        centered(side.space, Some(side.factors()), &mean, rows, 0..d, &mut values);
        for (row, before) in values.chunks_exact_mut(d).zip(factors) {
            let length = length(row);
            let is_zero = length <= NEAR || *before == 0.0;
            let factor = if is_zero { 0.0 } else { 1.0 / length };
            row.iter_mut().for_each(|x| *x *= factor);
        }
        values
    };
    let name = side.space.name();
    if is_double {
        Space::from_f64(name, n, d, driver.blocks(n, BLOCK, block).concat())
    } else {
        let single = |rows| block(rows).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
        Space::from_f32(name, n, d, driver.blocks(n, BLOCK, single).concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Space;
    use crate::run::Order;
    use crate::spec::Similarity;

    #[test]
    fn a_cosine_has_the_same_bits_alone_and_among_others() {
        let driver = Driver::silent(Order::Parallel);
        for d in [1, 3, 8, 29] {
            let values = (0..11 * d).map(|p| ((p * 7919 + 13) % 101) as f64 - 50.3).collect();
            let space = Space::from_f64("z", 11, d, values).unwrap();
            let side = Side::new(&space, Similarity::Cosine, &driver);
            let matrix = UnitMatrix::new(&side, &driver);
            let mut together = [0.0; 11];
            matrix.cosines(matrix.row(3), 0, &mut together);
            for (j, &cosine) in together.iter().enumerate() {
                assert_eq!(matrix.cosine(matrix.row(3), j).to_bits(), cosine.to_bits());
                let plain: f64 = matrix.row(3).iter().zip(matrix.row(j)).map(|(a, b)| a * b).sum();
                assert!((plain - cosine).abs() < 1e-14);
            }
            assert!((together[3] - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn what_all_rows_share_is_gone_and_a_row_that_is_the_mean_has_no_direction() {
        // Unit rows (1, 0), (0, 1), (0.6, 0.8)·5 and −(0.6, 0.8)·5: the mean is (0.25, 0.25).
        let values = vec![3.0, 0.0, 0.0, 2.0, 3.0, 4.0, -3.0, -4.0];
        let space = Space::from_f64("z", 4, 2, values).unwrap();
        let driver = Driver::silent(Order::Parallel);
        let side = Side::new(&space, Similarity::Cosine, &driver);
        for (is_double, tolerance) in [(true, 1e-15), (false, 1e-7)] {
            let found = less_mean(&side, is_double, &driver).unwrap();
            let mut row = [0.0; 2];
            found.read_row(0, &mut row);
            // (0.75, −0.25) divided by √0.625.
            let length = 0.625f64.sqrt();
            assert!((row[0] - 0.75 / length).abs() < tolerance && (row[1] + 0.25 / length).abs() < tolerance);
        }
        // A row without a direction changes nothing for the others.
        let values = vec![3.0, 0.0, 0.0, 0.0, 0.0, 2.0];
        let space = Space::from_f64("z", 3, 2, values).unwrap();
        let found = less_mean(&Side::new(&space, Similarity::Cosine, &driver), true, &driver).unwrap();
        let mut row = [0.0; 2];
        found.read_row(2, &mut row);
        assert!((row[0] + 0.5f64.sqrt()).abs() < 1e-15 && (row[1] - 0.5f64.sqrt()).abs() < 1e-15);
        found.read_row(1, &mut row);
        assert_eq!(row, [0.0; 2]);
        let same = Space::from_f64("z", 3, 2, vec![1.0, 2.0, 2.0, 4.0, 0.3, 0.6]).unwrap();
        let found = less_mean(&Side::new(&same, Similarity::Cosine, &driver), true, &driver).unwrap();
        assert_eq!(Side::new(&found, Similarity::Cosine, &driver).zeros, 3);
    }
}
