// SPDX-License-Identifier: MIT
//! Lloyd's algorithm: rows to their nearest center, centers to the mean of their rows, until they stand still.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::Arch;

use super::bounds::{Bounds, Move, Ways};
use super::rows::{Chunk, squared_distance};
use super::scorer::Scorer;
use super::{MOST_ITERATIONS, Search, TOLERANCE, UNASSIGNED};

/// Where a start ended.
pub(super) struct Partition {
    pub(super) labels: Vec<u32>,
    /// The means of the rows of the same label.
    pub(super) centers: Vec<f64>,
    pub(super) iterations: usize,
    /// Σ ‖x − c‖² of the packed rows, with c the mean of the rows of the same label.
    pub(super) inertia: f64,
}

/// A start on its way.
struct State {
    /// Which start it is.
    number: usize,
    /// Steps taken.
    iterations: usize,
    centers: Vec<f64>,
    sums: Vec<f64>,
    counts: Vec<i64>,
    ways: Ways,
    /// Of each chunk. A task locks those of its own chunk, so nobody waits.
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
    /// Lloyd's steps from each of the given centers until labels or centers stand still. Returns the start of least
    /// inertia, the earlier one if two are equally good, and its number.
    ///
    /// A few starts go on at a time, so that a chunk of rows is read once for all of them.
    pub(super) fn best_of(&self, starts: Vec<Vec<f64>>) -> (usize, Partition) {
        let mut best: Option<(usize, Partition)> = None;
        let mut waiting = starts.into_iter().enumerate();
        let mut running: Vec<State> = Vec::new();
        loop {
            let free = self.at_once() - running.len();
            running.extend(
                waiting
                    .by_ref()
                    .take(free)
                    .map(|(number, centers)| self.begin(number, centers)),
            );
            if running.is_empty() {
                return best.expect("there is at least one start");
            }
            let changed = self.step(&mut running);
            let states = std::mem::take(&mut running).into_iter().zip(changed);
            for (mut state, changed) in states {
                if !self.ends(&mut state, changed) {
                    running.push(state);
                    continue;
                }
                let (number, found) = (state.number, self.partition(state));
                let is_better = |best: &(usize, Partition)| {
                    found
                        .inertia
                        .total_cmp(&best.1.inertia)
                        .then(number.cmp(&best.0))
                        .is_lt()
                };
                if best.as_ref().is_none_or(is_better) {
                    best = Some((number, found));
                }
                self.driver.progress().advance(1);
            }
        }
    }

    /// Starts that go on together: what they hold takes at most half of what the packed rows take.
    fn at_once(&self) -> usize {
        let sums = self.k * self.d * size_of::<f64>() / self.chunk;
        (self.d * size_of::<f32>() / 2 / (Bounds::bytes_of_row() + sums)).max(1)
    }

    fn begin(&self, number: usize, centers: Vec<f64>) -> State {
        let bounds = self.chunks.iter().map(|chunk| Bounds::new(chunk.rows(), UNASSIGNED));
        State {
            number,
            iterations: 0,
            centers,
            sums: vec![0.0; self.k * self.d],
            counts: vec![0; self.k],
            ways: Ways::new(self.k),
            bounds: bounds.map(Mutex::new).collect(),
        }
    }

    /// Moves the centers after a step that changed so many labels, and returns whether it was the last.
    fn ends(&self, state: &mut State, changed: usize) -> bool {
        let (n, d) = (self.space.rows(), self.d);
        let tolerance = TOLERANCE * self.total * self.unit * self.unit / (n as f64 * d as f64);
        state.iterations += 1;
        if changed > 0 && state.counts.contains(&0) {
            self.fill_empty(state);
        }
        changed == 0 || state.move_centers(d) <= tolerance || state.iterations == MOST_ITERATIONS
    }

    /// Labels by the nearest center; returns how many changed in each state.
    fn step(&self, states: &mut [State]) -> Vec<usize> {
        let (k, d) = (self.k, self.d);
        let scorers: Vec<Scorer> = states.iter().map(|s| Scorer::new(&s.centers, 1.0, d)).collect();
        let shared: &[State] = states;
        let changes = self.each_chunk(|task, chunk| {
            let change = |(state, scorer): (&State, &Scorer)| {
                let moves = lock(&state.bounds[task]).assign(chunk, scorer, &state.ways);
                Change::new(k, d, chunk, &moves)
            };
            shared.iter().zip(&scorers).map(change).collect::<Vec<Change>>()
        });
        let mut changed = vec![0; states.len()];
        for change in &changes {
            for ((state, change), changed) in states.iter_mut().zip(change).zip(&mut changed) {
                *changed += change.rows;
                state.sums.iter_mut().zip(&change.sums).for_each(|(s, x)| *s += x);
                state.counts.iter_mut().zip(&change.counts).for_each(|(s, x)| *s += x);
            }
        }
        changed
    }

    /// Gives each empty cluster the row farthest from its center, the smaller index if two are equally far.
    ///
    /// A row that sits on its center or is alone in its cluster is left there; if no other is found, the
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

    fn partition(&self, state: State) -> Partition {
        let sums = state.sums.chunks_exact(self.d).zip(&state.counts);
        let between: f64 = sums
            .filter(|(_, count)| **count > 0)
            .map(|(sum, count)| sum.iter().map(|s| s * s).sum::<f64>() / *count as f64)
            .sum();
        Partition {
            labels: state.labels(),
            centers: state.centers,
            iterations: state.iterations,
            // Of all rows about their mean, less that of the means.
            inertia: self.total * self.unit * self.unit - between,
        }
    }
}

impl Change {
    fn new(k: usize, d: usize, chunk: &Chunk, moves: &[Move]) -> Self {
        let mut change = Change {
            rows: moves.len(),
            // Empty where nothing changed: adds nothing.
            sums: vec![0.0; if moves.is_empty() { 0 } else { k * d }],
            counts: vec![0; k],
        };
        Arch::new().dispatch(|| {
            for &Move { row, old, new } in moves {
                let row = &chunk.values[row as usize * d..(row as usize + 1) * d];
                if old != UNASSIGNED {
                    add_row(&mut change.sums[old as usize * d..], row, -1.0);
                    change.counts[old as usize] -= 1;
                }
                add_row(&mut change.sums[new as usize * d..], row, 1.0);
                change.counts[new as usize] += 1;
            }
        });
        change
    }
}

impl State {
    /// Moves the centers to the means of their rows and returns the sum of the squares of their ways.
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

#[inline(always)]
pub(super) fn add_row(sums: &mut [f64], row: &[f32], sign: f64) {
    for (s, x) in sums.iter_mut().zip(row) {
        *s += sign * f64::from(*x);
    }
}
