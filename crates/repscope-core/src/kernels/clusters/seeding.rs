// SPDX-License-Identifier: MIT
//! The first centers: greedy k-means++ (Arthur and Vassilvitskii 2007, with the trials of scikit-learn).
//!
//! Each next center is a row drawn with probability proportional to its squared distance from the nearest center
//! so far; of a few such draws the one that helps most is kept. Several starts are seeded together, so that all
//! their draws are compared with the rows by one matrix product.

use pulp::Arch;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::Search;
use super::candidates::Candidates;

/// A start that is not complete yet.
struct Start<'a> {
    rng: &'a mut ChaCha8Rng,
    /// The rows that are centers.
    chosen: Vec<usize>,
    /// The squared distance of each row to the nearest of them.
    closest: Vec<f32>,
    /// Its sum over each chunk.
    totals: Vec<f64>,
    /// Rows that may become the next.
    candidates: Vec<usize>,
}

impl Search<'_> {
    /// The first centers of several starts.
    pub(super) fn seeds(&self, rngs: &mut [ChaCha8Rng]) -> Vec<Vec<f64>> {
        let trials = 2 + (self.k as f64).ln() as usize;
        // Distances are held for each trial: never more than half of what the packed rows take.
        let at_once = (self.d / (2 * trials)).max(1);
        rngs.chunks_mut(at_once)
            .flat_map(|rngs| self.seeds_together(rngs, trials))
            .collect()
    }

    fn seeds_together(&self, rngs: &mut [ChaCha8Rng], trials: usize) -> Vec<Vec<f64>> {
        let n = self.space.rows();
        let start = |rng| Start {
            rng,
            chosen: Vec::with_capacity(self.k),
            closest: vec![f32::INFINITY; n],
            totals: Vec::new(),
            candidates: Vec::new(),
        };
        let mut starts: Vec<Start> = rngs.iter_mut().map(start).collect();
        for start in &mut starts {
            start
                .candidates
                .push(((uniform(start.rng) * n as f64) as usize).min(n - 1));
        }
        for _ in 0..self.k {
            self.choose(&mut starts);
            for start in &mut starts {
                self.draw(start, trials);
            }
        }
        let rows = |start: &Start| {
            start
                .chosen
                .iter()
                .flat_map(|&i| self.packed_row(i))
                .map(|x| f64::from(*x))
                .collect()
        };
        starts.iter().map(rows).collect()
    }

    /// Chooses for each start the candidate that lowers the sum of `closest` most.
    fn choose(&self, starts: &mut [Start]) {
        let shared: &[Start] = starts;
        let candidates = Candidates::new(self, shared.iter().flat_map(|start| start.candidates.iter().copied()));
        let parts = self.each_chunk(|task, chunk| {
            let mut tried = candidates.distances(chunk);
            let mut left = tried.as_mut_slice();
            for start in shared {
                let (own, rest) = left.split_at_mut(start.candidates.len());
                let closest = &start.closest[task * self.chunk..][..chunk.rows()];
                for (distances, sum) in own {
                    *sum = Arch::new().dispatch(|| shorten(distances, closest));
                }
                left = rest;
            }
            tried
        });
        let mut first = 0;
        for start in starts {
            let potential = |c: usize| parts.iter().map(|tried| tried[first + c].1).sum::<f64>();
            let mut best = (0, potential(0));
            for c in 1..start.candidates.len() {
                let p = potential(c);
                if p < best.1 {
                    best = (c, p);
                }
            }
            for (closest, tried) in start.closest.chunks_mut(self.chunk).zip(&parts) {
                closest.copy_from_slice(&tried[first + best.0].0);
            }
            start.totals = parts.iter().map(|tried| tried[first + best.0].1).collect();
            start.chosen.push(start.candidates[best.0]);
            first += start.candidates.len();
        }
    }

    /// Draws the next candidates.
    fn draw(&self, start: &mut Start, trials: usize) {
        let potential: f64 = start.totals.iter().sum();
        if potential == 0.0 {
            // Every row is a center already: the clusters left over will be empty.
            start.candidates = vec![start.chosen[0]];
            return;
        }
        start.candidates = (0..trials)
            .map(|_| {
                let target = uniform(start.rng) * potential;
                self.row_at(&start.closest, &start.totals, target)
            })
            .collect();
    }

    /// The row at which the running sum of `closest` passes `target`.
    fn row_at(&self, closest: &[f32], totals: &[f64], target: f64) -> usize {
        let mut left = target;
        for (c, total) in totals.iter().enumerate() {
            if left >= *total {
                left -= total;
                continue;
            }
            let first = c * self.chunk;
            for (i, distance) in closest.iter().enumerate().skip(first).take(self.chunk) {
                left -= f64::from(*distance);
                if left < 0.0 {
                    return i;
                }
            }
        }
        // Rounding carried the sum past the end.
        closest.len() - 1
    }
}

/// Replaces each distance by `closest` if that is smaller, and returns the sum.
#[inline(always)]
fn shorten(distances: &mut [f32], closest: &[f32]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (distances, rest) = distances.as_chunks_mut::<8>();
    let (closest, closest_rest) = closest.as_chunks::<8>();
    for (distances, closest) in distances.iter_mut().zip(closest) {
        for lane in 0..8 {
            distances[lane] = distances[lane].min(closest[lane]);
            sums[lane] += f64::from(distances[lane]);
        }
    }
    for (lane, (distance, closest)) in rest.iter_mut().zip(closest_rest).enumerate() {
        *distance = distance.min(*closest);
        sums[lane] += f64::from(*distance);
    }
    sums.iter().sum()
}

/// A number in 0..1 with 53 random bits.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
