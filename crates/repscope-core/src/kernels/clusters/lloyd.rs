// SPDX-License-Identifier: MIT
//! Lloyd's algorithm: rows to their nearest center, centers to the mean of their rows, until they stand still.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::Arch;

use super::bounds::{Bounds, Move, Ways};
use super::rows::{Chunk, squared_distance};
use super::scorer::Scorer;
use super::{MOST_ITERATIONS, Search, TOLERANCE, UNASSIGNED};
use crate::blocks;
use crate::error::{Error, Result};
use crate::findings::digest;
use crate::kernels::moments::add;

/// Starts that go on together where rows are elsewhere.
const MOST_ELSEWHERE: usize = 16;

/// Labels as a function of the rows, whoever has these: the number of the nearest of these centers, but for a few rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assignment {
    pub(crate) centers: Vec<f64>,
    pub(crate) others: Vec<(usize, u32)>,
}

/// Where a start ended.
pub(super) struct Partition {
    /// Of rows that are here.
    pub(super) labels: Vec<u32>,
    /// Of rows wherever they are.
    pub(super) assigned: Assignment,
    /// Rows of each cluster in each block.
    pub(super) counts: Vec<Vec<i64>>,
    /// The means of the rows of the same label.
    pub(super) centers: Vec<f64>,
    pub(super) iterations: usize,
    /// Σ ‖x − c‖² of the packed rows, with c the mean of the rows of the same label.
    pub(super) inertia: f64,
}

/// A start on its way.
pub(crate) struct State {
    /// Which start it is.
    number: usize,
    /// Steps taken.
    pub(crate) iterations: usize,
    pub(crate) centers: Vec<f64>,
    /// Of the rows of each cluster, by block.
    pub(crate) sums: Vec<Sums>,
    pub(crate) ways: Ways,
    /// What the labels of the last step came from, and the ways until then.
    pub(crate) before: Option<(Assignment, Ways)>,
    /// What identifies the start: its first centers.
    pub(crate) id: [u64; 2],
    /// Of each chunk that is here. A task locks those of its own chunk, so nobody waits.
    bounds: Vec<Mutex<Bounds>>,
}

/// The sums of the rows of each cluster of a block, and their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    pub(crate) sums: Vec<f64>,
    pub(crate) counts: Vec<i64>,
}

impl Sums {
    fn add(&mut self, change: &Change) {
        add(&mut self.sums, &change.sums);
        self.counts.iter_mut().zip(&change.counts).for_each(|(s, x)| *s += x);
    }
}

/// What a worker knows of a start: bounds of each chunk after so many steps.
pub(crate) struct Trail {
    steps: usize,
    bounds: Vec<Mutex<Bounds>>,
}

/// A step of one start as a worker is asked for it.
pub(crate) struct Step {
    pub(crate) id: [u64; 2],
    /// Steps taken before.
    pub(crate) steps: usize,
    pub(crate) before: Option<(Assignment, Ways)>,
    pub(crate) centers: Vec<f64>,
    pub(crate) ways: Ways,
}

/// A row that may be the only one of an empty cluster.
pub(crate) struct Far {
    pub(crate) row: usize,
    pub(crate) label: u32,
    pub(crate) distance: f32,
    pub(crate) values: Vec<f32>,
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
    pub(super) fn best_of(&self, starts: Vec<Vec<f64>>) -> Result<(usize, Partition)> {
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
                return best.ok_or_else(|| Error::Internal("k-means without a start".to_string()));
            }
            let changed = self.step(&mut running)?;
            let states = std::mem::take(&mut running).into_iter().zip(changed);
            for (mut state, changed) in states {
                if !self.ends(&mut state, changed)? {
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
        if self.elsewhere().is_some() {
            return MOST_ELSEWHERE;
        }
        let sums = self.k * self.d * size_of::<f64>() / self.chunk;
        (self.d * size_of::<f32>() / 2 / (Bounds::bytes_of_row() + sums)).max(1)
    }

    fn begin(&self, number: usize, centers: Vec<f64>) -> State {
        let none = Sums {
            sums: vec![0.0; self.k * self.d],
            counts: vec![0; self.k],
        };
        State {
            number,
            iterations: 0,
            id: digest(centers.iter().map(|x| x.to_bits())),
            centers,
            sums: vec![none; self.blocks().len()],
            ways: Ways::new(self.k),
            before: None,
            bounds: self.unknown(),
        }
    }

    /// Bounds of chunks of which nothing is known.
    fn unknown(&self) -> Vec<Mutex<Bounds>> {
        let bounds = self.chunks.iter().map(|chunk| Bounds::new(chunk.rows(), UNASSIGNED));
        bounds.map(Mutex::new).collect()
    }

    /// Moves the centers after a step that changed so many labels, and returns whether it was the last.
    fn ends(&self, state: &mut State, changed: usize) -> Result<bool> {
        let (n, d) = (self.n, self.d);
        let tolerance = TOLERANCE * self.total * self.unit * self.unit / (n as f64 * d as f64);
        state.iterations += 1;
        let assigned = Assignment {
            centers: state.centers.clone(),
            others: Vec::new(),
        };
        state.before = Some((assigned, state.ways.clone()));
        if changed > 0 && state.counts().contains(&0) {
            self.fill_empty(state)?;
        }
        Ok(changed == 0 || state.move_centers(d) <= tolerance || state.iterations == MOST_ITERATIONS)
    }

    /// Labels by the nearest center; returns how many changed in each state.
    fn step(&self, states: &mut [State]) -> Result<Vec<usize>> {
        if let Some(matrix) = self.elsewhere() {
            return blocks::clusters::step(self, matrix, states);
        }
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
        for (task, change) in changes.iter().enumerate() {
            for ((state, change), changed) in states.iter_mut().zip(change).zip(&mut changed) {
                *changed += change.rows;
                state.sums[task / self.chunks_of_block()].add(change);
            }
        }
        Ok(changed)
    }

    /// The same of a block whose rows begin at `start`, as a worker does it: how many labels changed, and the new sums. What it
    /// knows of the start saves distances; without that, the labels of the step before are found again.
    pub(crate) fn step_of_block(&self, step: &Step, start: usize, trail: &mut Option<Trail>, sums: &mut Sums) -> usize {
        let (k, d) = (self.k, self.d);
        let mut known = trail.take().filter(|known| known.steps <= step.steps);
        let known = known.get_or_insert_with(|| Trail {
            steps: 0,
            bounds: self.unknown(),
        });
        let (scorer, bounds) = (Scorer::new(&step.centers, 1.0, d), &known.bounds);
        let before = step.before.as_ref().map(|(assigned, ways)| {
            let scorer = (known.steps < step.steps).then(|| Scorer::new(&assigned.centers, 1.0, d));
            (assigned, ways, scorer)
        });
        let changes = self.each_chunk(|task, chunk| {
            let mut bounds = lock(&bounds[task]);
            if let Some((assigned, ways, scorer)) = &before {
                if let Some(scorer) = scorer {
                    bounds.assign(chunk, scorer, ways);
                }
                let first = start + task * self.chunk;
                for (row, label) in &assigned.others {
                    if let Some(place) = row.checked_sub(first).filter(|place| *place < chunk.rows()) {
                        bounds.force(place, *label);
                    }
                }
            }
            let moves = bounds.assign(chunk, &scorer, &step.ways);
            Change::new(k, d, chunk, &moves)
        });
        changes.iter().for_each(|change| sums.add(change));
        *trail = Some(Trail {
            steps: step.steps + 1,
            bounds: std::mem::take(&mut known.bounds),
        });
        changes.iter().map(|change| change.rows).sum()
    }

    /// The labels of the rows of a block that begins at `start`.
    pub(crate) fn labels_of_block(&self, assigned: &Assignment, start: usize) -> Vec<u32> {
        let (scorer, ways) = (Scorer::new(&assigned.centers, 1.0, self.d), Ways::new(self.k));
        let labels = self.each_chunk(|_, chunk| {
            let mut bounds = Bounds::new(chunk.rows(), UNASSIGNED);
            bounds.assign(chunk, &scorer, &ways);
            bounds.labels
        });
        let mut labels = labels.concat();
        for (row, label) in &assigned.others {
            if let Some(own) = row.checked_sub(start).and_then(|place| labels.get_mut(place)) {
                *own = *label;
            }
        }
        labels
    }

    /// Gives each empty cluster the row farthest from its center, the smaller index if two are equally far.
    ///
    /// A row that sits on its center or is alone in its cluster is left there; if no other is found, the
    /// cluster stays empty.
    fn fill_empty(&self, state: &mut State) -> Result<()> {
        let (d, mut counts) = (self.d, state.counts());
        let rows_of_block = self.chunk * self.chunks_of_block();
        let own = |label: u32| label as usize * d..(label as usize + 1) * d;
        let mut far = match self.elsewhere() {
            Some(matrix) => blocks::clusters::farthest(self, matrix, &state.centers, &counts)?,
            None => self.farthest(&state.labels(), &state.centers, &counts),
        };
        for empty in 0..self.k {
            if counts[empty] > 0 {
                continue;
            }
            let Some(place) = far.iter().position(|far| counts[far.label as usize] > 1) else {
                return Ok(());
            };
            let Far { row, label, values, .. } = far.remove(place);
            let sums = &mut state.sums[row / rows_of_block];
            add_row(&mut sums.sums[own(label)], &values, -1.0);
            sums.counts[label as usize] -= 1;
            counts[label as usize] -= 1;
            add_row(&mut sums.sums[own(empty as u32)], &values, 1.0);
            sums.counts[empty] += 1;
            counts[empty] = 1;
            if let Some((assigned, _)) = &mut state.before {
                assigned.others.push((row, empty as u32));
            }
            if let Some(bounds) = state.bounds.get(row / self.chunk) {
                lock(bounds).force(row % self.chunk, empty as u32);
            }
        }
        Ok(())
    }

    /// Rows that are not alone, by how far they are from their center, farthest first: as many as empty clusters may ask for, because
    /// a row that goes takes at most one other, which is then alone, out of the list.
    pub(crate) fn farthest(&self, labels: &[u32], centers: &[f64], counts: &[i64]) -> Vec<Far> {
        let d = self.d;
        let centers: Vec<f32> = centers.iter().map(|c| *c as f32).collect();
        let most = 2 * counts.iter().filter(|count| **count == 0).count();
        let found = self.each_chunk(|task, chunk| {
            let far = |(place, values): (usize, &[f32])| {
                let row = task * self.chunk + place;
                let label = labels[row];
                let distance = squared_distance(values, &centers[label as usize * d..(label as usize + 1) * d]);
                (distance > 0.0 && counts[label as usize] > 1).then_some((distance, row, label))
            };
            let mut far: Vec<(f32, usize, u32)> = chunk.values.chunks_exact(d).enumerate().filter_map(far).collect();
            far.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            far.truncate(most);
            far
        });
        let mut found = found.concat();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let far = |(distance, row, label): (f32, usize, u32)| Far {
            row,
            label,
            distance,
            values: self.packed_row(row).to_vec(),
        };
        found.into_iter().take(most).map(far).collect()
    }

    fn partition(&self, state: State) -> Partition {
        let (sums, counts) = (state.total(), state.counts());
        let sums = sums.chunks_exact(self.d).zip(&counts);
        let between: f64 = sums
            .filter(|(_, count)| **count > 0)
            .map(|(sum, count)| sum.iter().map(|s| s * s).sum::<f64>() / *count as f64)
            .sum();
        Partition {
            labels: state.labels(),
            assigned: state.before.map_or_else(Assignment::default, |(assigned, _)| assigned),
            counts: state.sums.into_iter().map(|own| own.counts).collect(),
            centers: state.centers,
            iterations: state.iterations,
            // Of all rows about their mean, less that of the means.
            inertia: self.total * self.unit * self.unit - between,
        }
    }
}

impl Partition {
    /// Rows of each cluster.
    pub(super) fn counts(&self) -> Vec<i64> {
        added(self.counts.iter())
    }
}

/// Counts of blocks, added.
fn added<'a>(blocks: impl Iterator<Item = &'a Vec<i64>>) -> Vec<i64> {
    let mut total = Vec::new();
    for counts in blocks {
        total.resize(counts.len(), 0);
        total.iter_mut().zip(counts).for_each(|(t, c)| *t += c);
    }
    total
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

impl Trail {
    pub(crate) fn bytes(&self) -> usize {
        let rows: usize = self.bounds.iter().map(|bounds| lock(bounds).labels.len()).sum();
        rows * Bounds::bytes_of_row()
    }
}

impl State {
    /// Moves the centers to the means of their rows and returns the sum of the squares of their ways.
    fn move_centers(&mut self, d: usize) -> f64 {
        let (sums, counts) = (self.total(), self.counts());
        let mut squared = vec![0.0; counts.len()];
        for (c, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            for (center, sum) in self.centers[c * d..(c + 1) * d].iter_mut().zip(&sums[c * d..]) {
                let moved = sum / count as f64;
                squared[c] += (moved - *center).powi(2);
                *center = moved;
            }
        }
        self.ways.add(&squared.iter().map(|s| s.sqrt()).collect::<Vec<f64>>());
        squared.iter().sum()
    }

    /// The sums over all blocks.
    fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.centers.len()];
        self.sums.iter().for_each(|own| add(&mut total, &own.sums));
        total
    }

    pub(crate) fn counts(&self) -> Vec<i64> {
        added(self.sums.iter().map(|own| &own.counts))
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
