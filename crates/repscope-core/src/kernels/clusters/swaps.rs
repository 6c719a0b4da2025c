// SPDX-License-Identifier: MIT
//! Out of a minimum of Lloyd's algorithm: a center leaves where it is missed least and comes back where it helps most.
//!
//! In a poor minimum two centers share what needs one, and one stands for what needs two; no step of Lloyd's changes
//! that. A swap takes a center away, puts two in place of another, and lets Lloyd's steps follow (Kaukoranta, Fränti and
//! Nevalainen 1998). It is kept if the inertia is lower.

use rand_chacha::ChaCha8Rng;

use super::Search;
use super::bisect::Halves;
use super::lloyd::Partition;
use super::scorer::{STRIP, Scorer};
use crate::blocks;
use crate::error::Result;
use crate::kernels::moments::add;

/// A relative difference of inertia that is more than two paths to one minimum differ by.
pub(super) const BETTER: f64 = 1e-5;
/// Swaps tried before a minimum is taken as it is.
const TRIES: usize = 5;
/// Swaps kept at most.
const MOST_SWAPS: usize = 50;

impl Search<'_> {
    /// The partition after all swaps that lower the inertia.
    pub(super) fn improve(&self, mut best: Partition, rng: &mut ChaCha8Rng) -> Result<Partition> {
        for _ in 0..MOST_SWAPS {
            let starts = self.swaps(&best, rng)?;
            if starts.is_empty() {
                return Ok(best);
            }
            let found = self.best_of(starts)?.1;
            if found.inertia >= best.inertia * (1.0 - BETTER) {
                return Ok(best);
            }
            best = found;
        }
        Ok(best)
    }

    /// The centers after each of the most promising swaps: those for which the loss without the one center, less the
    /// gain by cutting the other cluster in two, is smallest.
    fn swaps(&self, best: &Partition, rng: &mut ChaCha8Rng) -> Result<Vec<Vec<f64>>> {
        let (k, d) = (self.k, self.d);
        // Empty clusters are left where there are no more distinct rows: nothing can be gained.
        if k < 2 || best.counts().contains(&0) || best.inertia <= BETTER * BETTER * self.total * self.unit * self.unit {
            return Ok(Vec::new());
        }
        let parts = match self.elsewhere() {
            Some(matrix) => blocks::clusters::losses(self, matrix, &best.centers)?,
            None => self.losses(&best.centers),
        };
        let mut losses = vec![0.0; k];
        parts.iter().for_each(|part| add(&mut losses, part));
        let halves = self.halves(best, rng)?;
        let pairs = (0..k).flat_map(|gone| (0..k).map(move |cut| (gone, cut)));
        let mut pairs: Vec<(usize, usize)> = pairs.filter(|(gone, cut)| gone != cut).collect();
        let cost = |&(gone, cut): &(usize, usize)| losses[gone] - halves[cut].gain;
        pairs.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let swap = |&(gone, cut): &(usize, usize)| {
            let Halves {
                centers: [near, far], ..
            } = &halves[cut];
            let mut centers = best.centers.clone();
            centers[cut * d..(cut + 1) * d].copy_from_slice(near);
            centers[gone * d..(gone + 1) * d].copy_from_slice(far);
            centers
        };
        Ok(pairs.iter().take(TRIES).map(swap).collect())
    }

    /// By how much the inertia of the rows of each chunk rises if a center is taken away and its rows go to the next one, for each
    /// center.
    pub(crate) fn losses(&self, centers: &[f64]) -> Vec<Vec<f64>> {
        let k = self.k;
        let scorer = Scorer::new(centers, 1.0, self.d);
        self.each_chunk(|_, chunk| {
            let mut losses = vec![0.0; k];
            let mut scores = Vec::new();
            let rows: Vec<u32> = (0..chunk.rows() as u32).collect();
            for rows in rows.chunks(STRIP) {
                scorer.score(chunk, rows, &mut scores);
                for scores in scores.chunks_exact(scorer.stride()) {
                    let (mut own, mut next) = ((0, f32::INFINITY), f32::INFINITY);
                    for (c, &score) in scores[..k].iter().enumerate() {
                        next = next.min(score.max(own.1));
                        if score < own.1 {
                            own = (c, score);
                        }
                    }
                    // ‖x − c‖² = ‖x‖² + 2 · score.
                    losses[own.0] += 2.0 * f64::from(next - own.1);
                }
            }
            losses
        })
    }
}
