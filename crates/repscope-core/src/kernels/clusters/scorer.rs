// SPDX-License-Identifier: MIT
//! How near rows are to all centers: a kernel with centers in the lanes of vectors.
//!
//! Six rows at a time, wherever they lie in memory, meet one or two vectors of centers; all their sums stay in
//! registers over the coordinates. So a few rows that are left over cost no more each than all of them would.

use pulp::{Arch, Simd, WithSimd, bytemuck};

use super::rows::Chunk;

/// Rows whose scores are held at a time: a few tiles, so that the scores stay in the cache.
pub(super) const STRIP: usize = 48;
/// Rows in a tile: with two vectors of centers, twelve sums fit into the registers of AVX2.
const TILE: usize = 6;

/// Scores ‖c‖²/2 − x·c of rows against centers: smallest at the nearest center.
pub(super) struct Scorer {
    /// −c in panels of two vectors, coordinate by coordinate; one vector if it holds all centers.
    negated: Vec<f32>,
    /// Infinite for the lanes without a center, so that nothing is near them.
    half_lengths: Vec<f32>,
    /// Centers in a panel.
    width: usize,
    /// ‖c‖² of the longest center.
    longest_squared: f32,
    d: usize,
}

impl Scorer {
    pub(super) fn new(centers: &[f64], unit: f64, d: usize) -> Self {
        let k = centers.len() / d;
        let width = if k <= lanes() { lanes() } else { 2 * lanes() };
        let padded = k.next_multiple_of(width);
        let half = |c: &[f64]| c.iter().map(|x| (x * unit).powi(2)).sum::<f64>() / 2.0;
        let halves: Vec<f64> = centers.chunks_exact(d).map(half).collect();
        let mut half_lengths: Vec<f32> = halves.iter().map(|h| *h as f32).collect();
        half_lengths.resize(padded, f32::INFINITY);
        let mut negated = vec![0.0; padded * d];
        for (c, center) in centers.chunks_exact(d).enumerate() {
            let panel = &mut negated[c / width * width * d..];
            for (x, place) in center.iter().zip(panel.iter_mut().skip(c % width).step_by(width)) {
                *place = -(x * unit) as f32;
            }
        }
        Scorer {
            negated,
            half_lengths,
            width,
            longest_squared: (2.0 * halves.iter().copied().fold(0.0, f64::max)) as f32,
            d,
        }
    }

    /// Lets nothing be near a center.
    pub(super) fn forget(&mut self, center: usize) {
        self.half_lengths[center] = f32::INFINITY;
    }

    /// Scores in a row: the number of centers, rounded up.
    pub(super) fn stride(&self) -> usize {
        self.half_lengths.len()
    }

    /// How far twice the difference of two scores, or a squared distance ‖x‖² + 2 · score, may be off at most.
    ///
    /// A sum of d products of rounded factors is off by less than (d + 8) ε times the product of the lengths,
    /// whatever the order of summation; with 2 ‖x‖ ‖c‖ ≤ ‖x‖² + ‖c‖² and room for a few more roundings.
    pub(super) fn error(&self, squared_length: f32) -> f32 {
        (self.d as f32 + 16.0) * f32::EPSILON * (squared_length + 3.0 * self.longest_squared)
    }

    /// Scores the rows of a chunk with these numbers, at most [`STRIP`] of them, row by row.
    pub(super) fn score(&self, chunk: &Chunk, rows: &[u32], scores: &mut Vec<f32>) {
        scores.resize(rows.len() * self.stride(), 0.0);
        Arch::new().dispatch(Scoring {
            scorer: self,
            chunk,
            rows,
            scores,
        });
    }
}

/// How many centers a vector of this machine holds.
pub(super) fn lanes() -> usize {
    Arch::new().dispatch(Lanes)
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

struct Scoring<'a> {
    scorer: &'a Scorer,
    chunk: &'a Chunk,
    rows: &'a [u32],
    scores: &'a mut [f32],
}

impl WithSimd for Scoring<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.scorer.width == S::F32_LANES {
            self.run::<S, 1>(simd);
        } else {
            self.run::<S, 2>(simd);
        }
    }
}

impl Scoring<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let (scorer, d) = (self.scorer, self.scorer.d);
        let (width, stride) = (scorer.width, scorer.stride());
        let panels = scorer.negated.chunks_exact(width * d);
        for (rows, scores) in self.rows.chunks(TILE).zip(self.scores.chunks_mut(TILE * stride)) {
            // The last tile is filled up with its last row.
            let place = |r: usize| rows[r.min(rows.len() - 1)] as usize * d;
            let values: [&[f32]; TILE] = std::array::from_fn(|r| &self.chunk.values[place(r)..][..d]);
            for (p, panel) in panels.clone().enumerate() {
                let halves = &scorer.half_lengths[p * width..(p + 1) * width];
                let panel: &[S::f32s] = bytemuck::cast_slice(panel);
                let start: &[S::f32s] = bytemuck::cast_slice(halves);
                let sums = multiply::<S, V>(simd, &values, panel.as_chunks::<V>().0, &start.as_chunks::<V>().0[0]);
                for (sums, scores) in sums.iter().zip(scores.chunks_exact_mut(stride)) {
                    scores[p * width..(p + 1) * width].copy_from_slice(bytemuck::cast_slice(sums));
                }
            }
        }
    }
}

/// Six rows times one panel, over all coordinates, from the given start.
#[inline(always)]
fn multiply<S: Simd, const V: usize>(
    simd: S,
    rows: &[&[f32]; TILE],
    panel: &[[S::f32s; V]],
    start: &[S::f32s; V],
) -> [[S::f32s; V]; TILE] {
    let mut sums = [*start; TILE];
    // The compiler need not look whether a coordinate exists if all lengths are seen to be equal.
    let rows: [&[f32]; TILE] = std::array::from_fn(|r| &rows[r][..panel.len()]);
    for (j, centers) in panel.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let x = simd.splat_f32s(row[j]);
            for (sum, center) in sums.iter_mut().zip(centers) {
                *sum = simd.mul_add_f32s(x, *center, *sum);
            }
        }
    }
    sums
}
