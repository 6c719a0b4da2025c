// SPDX-License-Identifier: MIT
//! Some queries on their way through all targets: what each keeps, from which value on, and what stands before its first
//! relevant target.

use super::{Job, Relevance};
use crate::passes::panels::{self, Panels};
use crate::passes::similarity::{PackedQueries, PackedTargets};

/// Targets that are looked at to learn how similar a target must be.
const SAMPLE: usize = 1024;

/// The targets of each label.
pub(super) struct Members {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Members {
    pub(super) fn new(relevance: &Relevance) -> Self {
        let mut targets: Vec<u32> = (0..relevance.targets.len() as u32).collect();
        targets.sort_by_key(|&j| relevance.targets[j as usize]);
        let mut starts = vec![0];
        relevance
            .counts
            .iter()
            .for_each(|count| starts.push(starts[starts.len() - 1] + count));
        Members { starts, targets }
    }

    fn of(&self, code: usize) -> &[u32] {
        &self.targets[self.starts[code]..self.starts[code + 1]]
    }
}

/// Some queries on their way through the targets.
pub(super) struct Meeting<'a> {
    job: &'a Job<'a>,
    pub(super) queries: &'a [usize],
    pub(super) targets: &'a PackedTargets,
    pub(super) packed: PackedQueries,
    /// From which value on each query keeps a target.
    pub(super) limits: Vec<f32>,
    /// What each query kept, unsorted.
    pub(super) keys: Vec<Vec<u64>>,
    /// For each set of labels, the value of the best relevant target of each query where it is sought, and how many
    /// targets that are not relevant were met above it.
    best: Vec<Vec<f32>>,
    above: Vec<Vec<u32>>,
    /// Panels of targets that were met.
    met: usize,
}

impl<'a> Meeting<'a> {
    pub(super) fn new(job: &'a Job, queries: &'a [usize], targets: &'a PackedTargets) -> Self {
        let sets = job.relevances.len();
        Meeting {
            job,
            queries,
            targets,
            packed: PackedQueries::new(job.products.query, queries, targets),
            limits: vec![f32::MIN; queries.len()],
            keys: queries
                .iter()
                .map(|&q| Vec::with_capacity(job.needed(q) * 5 / 4 + SAMPLE))
                .collect(),
            best: vec![vec![f32::INFINITY; queries.len()]; sets],
            above: vec![vec![0; queries.len()]; sets],
            met: 0,
        }
    }

    /// Measures the relevant targets of the queries that have at most this many, so that those above the best can be
    /// counted.
    pub(super) fn seek_first(&mut self, set: usize, members: &Members, at_most: usize) {
        let relevance = &self.job.relevances[set];
        for (place, &q) in self.queries.iter().enumerate() {
            let relevant = relevance.relevant_to(q);
            if relevant == 0 || relevant > at_most {
                continue;
            }
            let code = relevance.queries[q] as usize;
            let others = members
                .of(code)
                .iter()
                .filter(|&&j| !(self.job.is_self && j as usize == q));
            let values = others.map(|&j| self.job.products.exact(q, j as usize));
            let best = values.fold(f64::NEG_INFINITY, f64::max);
            self.best[set][place] = (best - self.packed.shared[place]) as f32;
        }
    }

    /// Meets all targets. From those met so far it is learnt, a few times, how similar a target must be to matter.
    pub(super) fn meet_and_learn(&mut self) {
        let (panels, sample) = (self.targets.panels.count(), SAMPLE / Panels::targets_at_once());
        for end in [sample, panels / 8, panels / 3] {
            if (self.met + 1..panels).contains(&end) {
                self.meet(end);
                self.raise_limits();
            }
        }
        self.meet_rest();
    }

    fn raise_limits(&mut self) {
        let share = (self.met * Panels::targets_at_once()) as f64 / self.job.targets() as f64;
        for (place, &q) in self.queries.iter().enumerate() {
            let keys = &mut self.keys[place];
            let expected = self.job.needed(q) as f64 * share;
            // Three standard deviations more than expected: rarely too few, and then found out.
            let rank = (expected + 3.0 * expected.sqrt() + 4.0) as usize;
            if rank < keys.len() {
                let (_, last, _) = keys.select_nth_unstable(rank);
                // With its near ties, so that those of the last that matters are always kept.
                let limit = down(f64::from(value_of(*last)) - 2.0 * self.packed.errors[place]);
                self.limits[place] = limit.max(self.limits[place]);
                keys.retain(|&key| value_of(key) >= limit);
            }
        }
    }

    pub(super) fn meet_rest(&mut self) {
        self.meet(self.targets.panels.count());
    }

    fn meet(&mut self, end: usize) {
        let lowest = |place: usize| self.best.iter().map(|b| b[place]).fold(self.limits[place], f32::min);
        let limits: Vec<f32> = (0..self.queries.len()).map(lowest).collect();
        let (keys, keep, above) = (&mut self.keys, &self.limits, &mut self.above);
        let (job, queries, order, best) = (self.job, self.queries, &self.targets.order, &self.best);
        let is_sought = best.iter().flatten().any(|b| b.is_finite());
        panels::meet(
            &self.packed.panels,
            &self.targets.panels,
            self.met..end,
            &limits,
            #[inline(always)]
            |place, target, value| {
                let (row, q) = (order[target], queries[place]);
                if value >= keep[place] && !(job.is_self && row as usize == q) {
                    keys[place].push(key_of(value, row));
                }
                if is_sought {
                    for ((relevance, best), above) in job.relevances.iter().zip(best).zip(above.iter_mut()) {
                        above[place] += u32::from(value > best[place] && !relevance.is_relevant(q, row));
                    }
                }
            },
        );
        self.met = end;
    }

    /// The rank of the first relevant target, which is known to stand behind the first `known`; 0 where it was not
    /// sought.
    pub(super) fn rank_of_first(&self, set: usize, place: usize, known: usize) -> u32 {
        match self.best[set][place].is_finite() {
            true => self.above[set][place].max(known as u32) + 1,
            false => 0,
        }
    }

    /// Whether the `needed` most similar targets are all among those kept, with the near ties of the last.
    pub(super) fn is_enough(&self, keys: &[u64], place: usize, needed: usize) -> bool {
        let limit = self.limits[place];
        let tied = f64::from(limit) + 2.0 * self.packed.errors[place];
        limit == f32::MIN || keys.iter().filter(|&&key| f64::from(value_of(key)) >= tied).count() >= needed
    }
}

/// A key that sorts by value descending, then by row ascending.
#[inline(always)]
pub(super) fn key_of(value: f32, row: u32) -> u64 {
    // Adding 0 turns −0 into 0. Flipping all bits of a negative number, and the sign of a positive one, makes bits order
    // like numbers; flipping all of that turns the order round.
    let bits = (value + 0.0).to_bits();
    let ascending = bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000);
    u64::from(!ascending) << 32 | u64::from(row)
}

pub(super) fn row_of(key: u64) -> u32 {
    key as u32
}

pub(super) fn value_of(key: u64) -> f32 {
    let ascending = !((key >> 32) as u32);
    let mask = if ascending & 0x8000_0000 == 0 {
        u32::MAX
    } else {
        0x8000_0000
    };
    f32::from_bits(ascending ^ mask)
}

/// The largest f32 not above `x`.
pub(super) fn down(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x {
        rounded.next_down()
    } else {
        rounded
    }
}
