// SPDX-License-Identifier: MIT
//! What is known about the distances of rows to centres that have moved since they were measured.
//!
//! A centre that moves by s changes no distance by more than s. So a row stays with its centre as long as the
//! distance to it, plus the way it went, is less than the distance to every other, minus the way that one went
//! (Elkan 2003). Lower bounds are kept per group of centres (Ding et al. 2015), so their memory is bounded.

use pulp::Arch;

use super::rows::Chunk;
use super::scorer::{STRIP, Scorer, Strip};

/// Most groups of centres.
const GROUPS: usize = 16;
/// More than what rounding takes from a sum or a root of single-precision numbers, relative to them.
const ROUNDING: f32 = 4.0 * f32::EPSILON;

/// How far the centres went since the first step.
pub(super) struct Ways {
    of_centers: Vec<f64>,
    /// The sum over the steps of the farthest way within each group; centre c is in group c mod groups.
    of_groups: Vec<f64>,
}

impl Ways {
    pub(super) fn new(k: usize) -> Self {
        Ways {
            of_centers: vec![0.0; k],
            of_groups: vec![0.0; k.min(GROUPS)],
        }
    }

    /// Adds the way each centre went in one step.
    pub(super) fn add(&mut self, steps: &[f64]) {
        let groups = self.of_groups.len();
        for (g, way) in self.of_groups.iter_mut().enumerate() {
            *way += steps[g..].iter().step_by(groups).copied().fold(0.0, f64::max);
        }
        self.of_centers
            .iter_mut()
            .zip(steps)
            .for_each(|(way, step)| *way += step);
    }
}

/// The labels of the rows of a chunk, and bounds on their distances at the start of all ways.
pub(super) struct Bounds {
    pub(super) labels: Vec<u32>,
    /// The distance to the own centre is at most this plus the way of that centre.
    pub(super) upper: Vec<f32>,
    /// The distance to every other centre of a group is at least this minus the way of the group; all rows for
    /// the first group, then for the second, and so on.
    lower: Vec<f32>,
}

impl Bounds {
    /// Nothing is known yet.
    pub(super) fn new(rows: usize, k: usize, unassigned: u32) -> Self {
        Bounds {
            labels: vec![unassigned; rows],
            upper: vec![f32::INFINITY; rows],
            lower: vec![0.0; rows * k.min(GROUPS)],
        }
    }

    /// Gives each row the label of its nearest centre and calls `changed` with the row, its old and its new label
    /// where that is another one.
    pub(super) fn assign(
        &mut self,
        chunk: &Chunk,
        scorer: &Scorer,
        ways: &Ways,
        mut changed: impl FnMut(usize, u32, u32),
    ) {
        let open = self.undecided(ways);
        let mut strip = Strip::default();
        for rows in open.chunks(STRIP) {
            scorer.score(chunk, rows, &mut strip);
            self.renew(chunk, scorer, ways, rows, &strip);
            for (&row, &new) in rows.iter().zip(&strip.nearest) {
                let old = std::mem::replace(&mut self.labels[row as usize], new);
                if old != new {
                    changed(row as usize, old, new);
                }
            }
        }
    }

    /// The rows whose nearest centre the bounds do not tell.
    fn undecided(&self, ways: &Ways) -> Vec<u32> {
        let rows = self.labels.len();
        let mut lowest = vec![f32::INFINITY; rows];
        Arch::new().dispatch(|| {
            for (lower, way) in self.lower.chunks_exact(rows).zip(&ways.of_groups) {
                let way = *way as f32 * (1.0 + ROUNDING);
                for (lowest, lower) in lowest.iter_mut().zip(lower) {
                    *lowest = lowest.min(lower * (1.0 - ROUNDING) - way);
                }
            }
        });
        let is_open = |row: &usize| {
            let way = ways.of_centers.get(self.labels[*row] as usize);
            let (way, upper) = (way.map_or(0.0, |way| *way as f32), self.upper[*row]);
            upper + way + ROUNDING * (upper.abs() + way) >= lowest[*row]
        };
        (0..rows).filter(is_open).map(|row| row as u32).collect()
    }

    /// Takes the bounds of a few rows from their scores.
    fn renew(&mut self, chunk: &Chunk, scorer: &Scorer, ways: &Ways, rows: &[u32], strip: &Strip) {
        let (count, all) = (rows.len(), self.labels.len());
        let squared: Vec<f32> = rows.iter().map(|&i| chunk.squared_lengths[i as usize]).collect();
        let errors: Vec<f32> = squared.iter().map(|s| scorer.error(*s)).collect();
        for (at, &row) in rows.iter().enumerate() {
            let distance = (squared[at] + 2.0 * strip.lowest[at] + errors[at]).max(0.0).sqrt();
            self.upper[row as usize] = distance - ways.of_centers[strip.nearest[at] as usize] as f32;
        }
        let least: Vec<f32> = squared.iter().zip(&errors).map(|(s, e)| s - e).collect();
        let groups = ways.of_groups.len();
        let mut others = vec![0.0; count];
        for (g, way) in ways.of_groups.iter().enumerate() {
            Arch::new().dispatch(|| {
                others.fill(f32::INFINITY);
                for c in (g..scorer.half_lengths.len()).step_by(groups) {
                    let scores = &strip.scores[c * count..(c + 1) * count];
                    for ((other, score), nearest) in others.iter_mut().zip(scores).zip(&strip.nearest) {
                        let score = if *nearest == c as u32 { f32::INFINITY } else { *score };
                        *other = other.min(score);
                    }
                }
                // ‖x − c‖² = ‖x‖² + 2 · score.
                for (other, least) in others.iter_mut().zip(&least) {
                    *other = (least + 2.0 * *other).max(0.0).sqrt() + *way as f32;
                }
            });
            for (other, &row) in others.iter().zip(rows) {
                self.lower[g * all + row as usize] = *other;
            }
        }
    }
}
