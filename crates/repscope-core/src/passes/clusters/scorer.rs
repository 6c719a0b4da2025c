// SPDX-License-Identifier: MIT
//! The nearest centre of many rows at a time, by one matrix product per strip of rows.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;

use super::Search;

/// Rows per matrix product: keeps the scores of a few centres in the cache.
const STRIP: usize = 256;

/// Scores ‖c‖²/2 − x·c of rows against centres: smallest at the nearest centre.
pub(super) struct Scorer {
    centers: Vec<f32>,
    pub(super) half_lengths: Vec<f32>,
    d: usize,
}

impl Scorer {
    pub(super) fn new(centers: &[f64], unit: f64, d: usize) -> Self {
        let half = |c: &[f64]| (c.iter().map(|x| (x * unit).powi(2)).sum::<f64>() / 2.0) as f32;
        Scorer {
            centers: centers.iter().map(|c| (c * unit) as f32).collect(),
            half_lengths: centers.chunks_exact(d).map(half).collect(),
            d,
        }
    }

    /// Calls `take` with the first row and the scores of each strip of the range.
    pub(super) fn each_strip(&self, search: &Search, rows: Range<usize>, mut take: impl FnMut(usize, &Strip)) {
        let (k, d) = (self.half_lengths.len(), self.d);
        let centers = MatRef::from_row_major_slice(&self.centers, k, d);
        let mut strip = Strip::default();
        for first in rows.clone().step_by(STRIP) {
            let count = STRIP.min(rows.end - first);
            strip.scores.resize(count * k, 0.0);
            let x = MatRef::from_row_major_slice(&search.packed[first * d..(first + count) * d], count, d);
            let out = MatMut::from_column_major_slice_mut(&mut strip.scores, count, k);
            matmul(out, Accum::Replace, x, centers.transpose(), -1.0f32, Par::Seq);
            strip.lowest.clear();
            strip.lowest.resize(count, f32::INFINITY);
            strip.nearest.clear();
            strip.nearest.resize(count, 0);
            Arch::new().dispatch(|| strip.finish(&self.half_lengths));
            take(first, &strip);
        }
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
