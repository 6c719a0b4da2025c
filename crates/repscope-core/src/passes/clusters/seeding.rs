// SPDX-License-Identifier: MIT
//! The first centres: greedy k-means++ (Arthur and Vassilvitskii 2007, with the trials of scikit-learn).

use pulp::Arch;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::Search;

impl Search<'_> {
    /// Greedy k-means++: each next centre is a row drawn with probability proportional to its squared
    /// distance from the nearest centre so far; of a few such draws the one that helps most is kept.
    pub(super) fn seeds(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let n = self.space.rows();
        let trials = 2 + (self.k as f64).ln() as usize;
        let mut chosen = vec![((uniform(rng) * n as f64) as usize).min(n - 1)];
        let mut closest = vec![f32::INFINITY; n];
        let mut totals = self.try_seeds(&chosen, &mut closest).1;
        while chosen.len() < self.k {
            let potential: f64 = totals.iter().sum();
            if potential == 0.0 {
                // Every row is a centre already: the clusters left over will be empty.
                chosen.resize(self.k, chosen[0]);
                break;
            }
            let mut candidates = Vec::with_capacity(trials);
            for _ in 0..trials {
                candidates.push(self.draw(&closest, &totals, uniform(rng) * potential));
            }
            let (best, new_totals) = self.try_seeds(&candidates, &mut closest);
            chosen.push(candidates[best]);
            totals = new_totals;
        }
        let rows = chosen.iter().flat_map(|&i| self.packed_row(i));
        rows.map(|x| f64::from(*x)).collect()
    }

    /// Chooses the candidate that lowers the sum of `closest` most, updates `closest` with it, and returns its
    /// number and the new sum of each chunk.
    fn try_seeds(&self, candidates: &[usize], closest: &mut [f32]) -> (usize, Vec<f64>) {
        let old: &[f32] = closest;
        let parts = self.each_chunk(|search, rows| {
            let mut tried = Vec::with_capacity(candidates.len());
            for &candidate in candidates {
                let center = search.packed_row(candidate);
                let mut distances = old[rows.clone()].to_vec();
                let x = &search.packed[rows.start * search.d..rows.end * search.d];
                Arch::new().dispatch(|| shorten(&mut distances, x, center));
                let sum: f64 = distances.iter().map(|x| f64::from(*x)).sum();
                tried.push((sum, distances));
            }
            tried
        });
        let potential = |c: usize| parts.iter().map(|tried| tried[c].0).sum::<f64>();
        let mut best = (0, potential(0));
        for c in 1..candidates.len() {
            let p = potential(c);
            if p < best.1 {
                best = (c, p);
            }
        }
        for (closest, tried) in closest.chunks_mut(self.chunk).zip(&parts) {
            closest.copy_from_slice(&tried[best.0].1);
        }
        (best.0, parts.iter().map(|tried| tried[best.0].0).collect())
    }

    /// The row at which the running sum of `closest` passes `target`.
    fn draw(&self, closest: &[f32], totals: &[f64], target: f64) -> usize {
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

/// Replaces each distance by that to `center` if it is smaller; `rows` are packed one after the other.
#[inline(always)]
fn shorten(distances: &mut [f32], rows: &[f32], center: &[f32]) {
    for (distance, row) in distances.iter_mut().zip(rows.chunks_exact(center.len())) {
        *distance = distance.min(squared_distance(row, center));
    }
}

/// ‖x − y‖² by differences, so that it is 0 for equal rows; in 16 running sums, for vector instructions.
#[inline(always)]
pub(super) fn squared_distance(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (x, x_rest) = x.as_chunks::<16>();
    let (y, y_rest) = y.as_chunks::<16>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..16 {
            let difference = x[lane] - y[lane];
            sums[lane] += difference * difference;
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| (x - y) * (x - y)).sum();
    sums.iter().sum::<f32>() + rest
}

/// A number in 0..1 with 53 random bits.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
