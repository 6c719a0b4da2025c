// SPDX-License-Identifier: MIT
//! Rows of length 1 in f64, and their products with another.
//!
//! Eight lanes in a fixed order and no fused operations: a product has the same bits on every machine, alone and among others,
//! and equal rows have equal products.

use super::prepared::BLOCK;
use super::similarity::Side;
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
        let blocks = driver.map(n.div_ceil(BLOCK), |b| {
            let rows = b * BLOCK..n.min((b + 1) * BLOCK);
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

    /// The cosines of a unit row with the rows from `first` on, as many as `out` has room for. Rounding does not take them out
    /// of their range.
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
}
