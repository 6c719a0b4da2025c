// SPDX-License-Identifier: MIT
//! Lloyd's algorithm: rows to their nearest centre, centres to the mean of their rows, until they stand still.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bounds::{Bounds, Ways};
use super::rows::squared_distance;
use super::scorer::Scorer;
use super::{MOST_ITERATIONS, Search, TOLERANCE, UNASSIGNED};

/// Where a start ended.
pub(super) struct Partition {
    pub(super) labels: Vec<u32>,
    pub(super) iterations: usize,
    /// Σ ‖x − c‖² of the packed rows, with c the mean of the rows of the same label.
    pub(super) inertia: f64,
}

/// The clusters of a step.
struct State {
    centers: Vec<f64>,
    sums: Vec<f64>,
    counts: Vec<i64>,
    ways: Ways,
    /// Of each chunk. A task locks that of its own chunk, so nobody waits.
    bounds: Vec<Mutex<Bounds>>,
}

/// What a task of a step found: what the change of labels adds to the sums and counts of the clusters. Most labels
/// stay from step to step.
struct Change {
    rows: usize,
    sums: Vec<f64>,
    counts: Vec<i64>,
}

impl Search<'_> {
    /// Lloyd's steps from the given centres until labels or centres stand still.
    pub(super) fn lloyd(&self, centers: Vec<f64>) -> Partition {
        let (n, d, k) = (self.space.rows(), self.d, self.k);
        let tolerance = TOLERANCE * self.total * self.unit * self.unit / (n as f64 * d as f64);
        let bounds = self.chunks.iter().map(|chunk| Bounds::new(chunk.rows(), k, UNASSIGNED));
        let mut state = State {
            centers,
            sums: vec![0.0; k * d],
            counts: vec![0; k],
            ways: Ways::new(k),
            bounds: bounds.map(Mutex::new).collect(),
        };
        for iteration in 1..=MOST_ITERATIONS {
            let changed = self.step(&mut state);
            if changed > 0 && state.counts.contains(&0) {
                self.fill_empty(&mut state);
            }
            if changed == 0 || state.move_centers(d) <= tolerance {
                return self.partition(state, iteration);
            }
        }
        self.partition(state, MOST_ITERATIONS)
    }

    /// Labels by the nearest centre; returns how many changed.
    fn step(&self, state: &mut State) -> usize {
        let (k, d) = (self.k, self.d);
        let scorer = Scorer::new(&state.centers, 1.0, d);
        let changes = self.each_chunk(|task, chunk| {
            let mut change = Change {
                rows: 0,
                sums: vec![0.0; k * d],
                counts: vec![0; k],
            };
            let row = |i: usize| &chunk.values[i * d..(i + 1) * d];
            lock(&state.bounds[task]).assign(chunk, &scorer, &state.ways, |i, old, new| {
                change.rows += 1;
                if old != UNASSIGNED {
                    add_row(&mut change.sums[old as usize * d..], row(i), -1.0);
                    change.counts[old as usize] -= 1;
                }
                add_row(&mut change.sums[new as usize * d..], row(i), 1.0);
                change.counts[new as usize] += 1;
            });
            change
        });
        for change in changes.iter().filter(|change| change.rows > 0) {
            state.sums.iter_mut().zip(&change.sums).for_each(|(s, x)| *s += x);
            state.counts.iter_mut().zip(&change.counts).for_each(|(s, x)| *s += x);
        }
        changes.iter().map(|change| change.rows).sum()
    }

    /// Gives each empty cluster the row farthest from its centre, the smaller index if two are equally far.
    ///
    /// A row that sits on its centre or is alone in its cluster is left there; if no other is found, the
    /// cluster stays empty.
    fn fill_empty(&self, state: &mut State) {
        let d = self.d;
        let centers: Vec<f32> = state.centers.iter().map(|c| *c as f32).collect();
        let own = |label: u32| label as usize * d..(label as usize + 1) * d;
        let mut labels = state.labels();
        let old = &labels;
        let mut distances = self
            .each_range(|search, rows| {
                let distance = |i: usize| squared_distance(search.packed_row(i), &centers[own(old[i])]);
                rows.map(distance).collect::<Vec<f32>>()
            })
            .concat();
        for empty in 0..self.k {
            if state.counts[empty] > 0 {
                continue;
            }
            let mut farthest: Option<usize> = None;
            for (i, distance) in distances.iter().enumerate() {
                let movable = *distance > 0.0 && state.counts[labels[i] as usize] > 1;
                if movable && farthest.is_none_or(|f| *distance > distances[f]) {
                    farthest = Some(i);
                }
            }
            let Some(i) = farthest else {
                return;
            };
            add_row(&mut state.sums[own(labels[i])], self.packed_row(i), -1.0);
            state.counts[labels[i] as usize] -= 1;
            labels[i] = empty as u32;
            add_row(&mut state.sums[own(labels[i])], self.packed_row(i), 1.0);
            state.counts[empty] = 1;
            distances[i] = 0.0;
            let mut bounds = lock(&state.bounds[i / self.chunk]);
            bounds.labels[i % self.chunk] = empty as u32;
            bounds.upper[i % self.chunk] = f32::INFINITY;
        }
    }

    fn partition(&self, state: State, iterations: usize) -> Partition {
        let sums = state.sums.chunks_exact(self.d).zip(&state.counts);
        let between: f64 = sums
            .filter(|(_, count)| **count > 0)
            .map(|(sum, count)| sum.iter().map(|s| s * s).sum::<f64>() / *count as f64)
            .sum();
        Partition {
            labels: state.labels(),
            iterations,
            // Of all rows about their mean, less that of the means.
            inertia: self.total * self.unit * self.unit - between,
        }
    }
}

impl State {
    /// Moves the centres to the means of their rows and returns the sum of the squares of their ways.
    fn move_centers(&mut self, d: usize) -> f64 {
        let mut squared = vec![0.0; self.counts.len()];
        for (c, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            for (center, sum) in self.centers[c * d..(c + 1) * d].iter_mut().zip(&self.sums[c * d..]) {
                let moved = sum / count as f64;
                squared[c] += (moved - *center).powi(2);
                *center = moved;
            }
        }
        self.ways.add(&squared.iter().map(|s| s.sqrt()).collect::<Vec<f64>>());
        squared.iter().sum()
    }

    fn labels(&self) -> Vec<u32> {
        let chunks = self.bounds.iter();
        chunks.flat_map(|bounds| lock(bounds).labels.clone()).collect()
    }
}

fn lock(bounds: &Mutex<Bounds>) -> MutexGuard<'_, Bounds> {
    bounds.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add_row(sums: &mut [f64], row: &[f32], sign: f64) {
    for (s, x) in sums.iter_mut().zip(row) {
        *s += sign * f64::from(*x);
    }
}
