// SPDX-License-Identifier: MIT
//! The nearest centre of many rows at a time, by one matrix product per strip of rows.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;

use super::rows::Chunk;

/// Rows per matrix product: keeps them and the scores of a few centres in the cache.
pub(super) const STRIP: usize = 64;

/// Scores ‖c‖²/2 − x·c of rows against centres: smallest at the nearest centre.
pub(super) struct Scorer {
    centers: Vec<f32>,
    pub(super) half_lengths: Vec<f32>,
    /// ‖c‖² of the longest centre.
    longest_squared: f32,
    d: usize,
}

impl Scorer {
    pub(super) fn new(centers: &[f64], unit: f64, d: usize) -> Self {
        let half = |c: &[f64]| c.iter().map(|x| (x * unit).powi(2)).sum::<f64>() / 2.0;
        let halves: Vec<f64> = centers.chunks_exact(d).map(half).collect();
        Scorer {
            centers: centers.iter().map(|c| (c * unit) as f32).collect(),
            half_lengths: halves.iter().map(|h| *h as f32).collect(),
            longest_squared: (2.0 * halves.iter().copied().fold(0.0, f64::max)) as f32,
            d,
        }
    }

    /// How far twice the difference of two scores, or a squared distance ‖x‖² + 2 · score, may be off at most.
    ///
    /// A sum of d products of rounded factors is off by less than (d + 8) ε times the product of the lengths,
    /// whatever the order of summation; with 2 ‖x‖ ‖c‖ ≤ ‖x‖² + ‖c‖² and room for a few more roundings.
    pub(super) fn error(&self, squared_length: f32) -> f32 {
        (self.d as f32 + 16.0) * f32::EPSILON * (squared_length + 3.0 * self.longest_squared)
    }

    /// Scores the rows of a chunk with these numbers, at most [`STRIP`] of them, in rising order.
    pub(super) fn score(&self, chunk: &Chunk, rows: &[u32], strip: &mut Strip) {
        let (count, k, d) = (rows.len(), self.half_lengths.len(), self.d);
        let row = |i: u32| &chunk.values[i as usize * d..(i as usize + 1) * d];
        let (first, last) = (rows[0], rows[count - 1]);
        let values = if (last - first) as usize + 1 == count {
            &chunk.values[first as usize * d..(last as usize + 1) * d]
        } else {
            strip.gathered.clear();
            rows.iter().for_each(|&i| strip.gathered.extend_from_slice(row(i)));
            &strip.gathered
        };
        strip.scores.resize(count * k, 0.0);
        matmul(
            MatMut::from_column_major_slice_mut(&mut strip.scores, count, k),
            Accum::Replace,
            MatRef::from_row_major_slice(values, count, d),
            MatRef::from_row_major_slice(&self.centers, k, d).transpose(),
            -1.0f32,
            Par::Seq,
        );
        strip.lowest.clear();
        strip.lowest.resize(count, f32::INFINITY);
        strip.nearest.clear();
        strip.nearest.resize(count, 0);
        Arch::new().dispatch(|| strip.finish(&self.half_lengths));
    }
}

/// The scores of a few rows.
#[derive(Default)]
pub(super) struct Strip {
    /// All rows against the first centre, then against the second, and so on.
    pub(super) scores: Vec<f32>,
    /// The lowest score of each row.
    pub(super) lowest: Vec<f32>,
    /// The centre it belongs to, the smaller number if there are several.
    pub(super) nearest: Vec<u32>,
    /// The rows one after the other, where they are not neighbours in the chunk.
    gathered: Vec<f32>,
}

impl Strip {
    /// Adds ‖c‖²/2 to the products and finds the lowest score of each row. Written without branches and with
    /// rows innermost, for vector instructions.
    #[inline(always)]
    fn finish(&mut self, half_lengths: &[f32]) {
        let scores = self.scores.chunks_exact_mut(self.lowest.len());
        for ((c, scores), half) in (0u32..).zip(scores).zip(half_lengths) {
            for ((score, lowest), nearest) in scores.iter_mut().zip(&mut self.lowest).zip(&mut self.nearest) {
                *score += half;
                let lower = *score < *lowest;
                *lowest = if lower { *score } else { *lowest };
                *nearest = if lower { c } else { *nearest };
            }
        }
    }
}
