// SPDX-License-Identifier: MIT
//! The order in which each query of a retrieval finds its targets: similarity descending, then row number ascending;
//! in a self-direction the query itself is excluded by its number.
//!
//! Queries meet all targets, by f32 products that never leave the registers unless they are large. Targets come in random
//! order, so the first of them show how similar a target must be to matter to each query; of the others only those are kept.
//! From them come the first `depth` targets of each query and how its relevant targets stand in the whole ranking, for every
//! set of labels. One direction takes some queries at a time and needs O(queries · depth) of memory, plus what those at hand
//! keep. Two opposite directions share one sweep where what all queries keep fits into memory; the results are the same.
//!
//! The first `depth` are exact. Let v be the depth-th largest f32 value and E the error bound of the query: every one of
//! the true first `depth` has an f32 value of at least v − 2E, and targets whose f32 values are more than 2E apart are
//! in their true order. The others are measured in f64. Ranks behind `depth` are those of the f32 values. Small
//! retrievals are measured in f64 throughout.

mod both_ways;
mod candidates;
mod influence;
mod one_way;
mod screen;

pub(crate) use influence::{Influence, Pull};

use super::similarity::{Products, Way};
use crate::data::Space;
use crate::run::Driver;

/// Up to this many coordinates over all pairs (a fraction of a second of work), all similarities are measured in f64.
const DIRECT: u64 = 1 << 30;
/// Targets kept by all queries at hand, and the fewest and most queries: fewer would meet each target too rarely.
const KEPT: usize = 1 << 24;
const FEWEST: usize = 48;
const MOST: usize = 384;
/// Bytes that the rows of both sides may keep in one sweep.
const KEPT_BY_BOTH: u64 = 512 << 20;
/// Up to a share of 1 in this many targets, the relevant ones are measured first: that costs little, and otherwise the
/// first of them might be far behind those that are kept.
const SEEK: usize = 200;

/// What is relevant under one set of labels, by codes that both sides share.
pub(crate) struct Relevance {
    pub(crate) names: Vec<String>,
    pub(crate) queries: Vec<u32>,
    pub(crate) targets: Vec<u32>,
    /// Targets of each code.
    pub(crate) counts: Vec<usize>,
    /// Queries of each code.
    pub(crate) query_counts: Vec<usize>,
    is_self: bool,
}

impl Relevance {
    pub(crate) fn new(names: Vec<String>, queries: Vec<u32>, targets: Vec<u32>, is_self: bool) -> Self {
        let count = |codes: &[u32]| {
            let mut counts = vec![0; names.len()];
            codes.iter().for_each(|&c| counts[c as usize] += 1);
            counts
        };
        Relevance {
            counts: count(&targets),
            query_counts: count(&queries),
            names,
            queries,
            targets,
            is_self,
        }
    }

    /// How many targets are relevant to a query of this code: those of its label, without the query itself.
    pub(crate) fn relevant(&self, code: usize) -> usize {
        self.counts[code] - usize::from(self.is_self && self.query_counts[code] > 0)
    }

    fn is_relevant(&self, query: usize, target: u32) -> bool {
        self.queries[query] == self.targets[target as usize]
    }

    fn relevant_to(&self, query: usize) -> usize {
        self.relevant(self.queries[query] as usize)
    }
}

/// How the R relevant targets of a query stand in the whole ranking.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Standing {
    /// The rank of the first, counted from 1; 0 where there is none.
    pub(crate) first: u32,
    /// How many are among the first R.
    pub(crate) hits: u32,
    /// Mean over 1..R of precision(i)·relevant(i).
    pub(crate) average_precision: f64,
    /// What leaving out a target does to these, where it is asked for.
    pub(crate) pull: Pull,
}

/// What every query found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rankings {
    /// How many targets are listed per query.
    pub(crate) depth: usize,
    /// Targets, `depth` per query, most similar first.
    pub(crate) targets: Vec<u32>,
    /// For each set of labels, the standing of each query.
    pub(crate) standings: Vec<Vec<Standing>>,
}

impl Rankings {
    /// The first targets of query `q`.
    pub(crate) fn of(&self, q: usize) -> &[u32] {
        &self.targets[q * self.depth..(q + 1) * self.depth]
    }

    fn new(job: &Job) -> Self {
        Rankings {
            depth: job.depth,
            targets: vec![0; job.queries() * job.depth],
            standings: vec![vec![Standing::default(); job.queries()]; job.relevances.len()],
        }
    }

    fn put(&mut self, found: Found) {
        for (place, &q) in found.rows.iter().enumerate() {
            let list = &found.targets[place * self.depth..(place + 1) * self.depth];
            self.targets[q as usize * self.depth..][..self.depth].copy_from_slice(list);
            for (all, some) in self.standings.iter_mut().zip(&found.standings) {
                all[q as usize] = some[place];
            }
        }
    }
}

/// What is computed in one direction.
pub(crate) struct Job<'a> {
    pub(crate) products: Products<'a>,
    /// Which of its two sides is the first; opposite directions differ in it.
    pub(crate) way: Way,
    pub(crate) relevances: &'a [Relevance],
    pub(crate) is_self: bool,
    /// How many targets are listed. Must not exceed the number of targets that a query can find.
    pub(crate) depth: usize,
    /// Where what single targets do to the standings is added up, where it is asked for.
    pub(crate) influence: Option<&'a Influence>,
}

/// What some queries found: their first targets, and their standings by set of labels.
struct Found {
    rows: Vec<u32>,
    targets: Vec<u32>,
    standings: Vec<Vec<Standing>>,
    /// For each set, what each target does to the standings of these queries; nothing where it is not asked for.
    sums: Vec<influence::Sums>,
}

impl Found {
    fn new(job: &Job) -> Self {
        let sums = |_| job.influence.map_or(Vec::new(), |_| vec![[0; 3]; job.targets()]);
        Found {
            rows: Vec::new(),
            targets: Vec::new(),
            standings: vec![Vec::new(); job.relevances.len()],
            sums: (0..job.relevances.len()).map(sums).collect(),
        }
    }

    /// All queries are ranked: what targets did to them is added to the sums of all.
    fn finished(mut self, job: &Job) -> Self {
        if let Some(influence) = job.influence {
            influence.add(&std::mem::take(&mut self.sums));
        }
        self
    }
}

/// Bytes that [`rank`] needs beside its input, where at most `needed` targets matter to a query.
pub(crate) fn memory(queries: usize, space: &Space, depth: usize, needed: usize, threads: usize) -> u64 {
    let (n, d) = (space.rows(), space.columns());
    let at_once = one_way::queries_at_once(needed);
    let of_thread = at_once * (needed * 16 + 512 + d * 9);
    (n * (d * 9 + 60) + queries * (depth * 4 + 88) + threads * (of_thread + n * 24)) as u64
}

/// Ranks the targets of every query.
pub(crate) fn rank(job: &Job, driver: &Driver) -> Rankings {
    if job.is_direct() {
        job.directly(driver)
    } else {
        job.by_panels(driver)
    }
}

/// Ranks the targets of two opposite directions: in one sweep, unless that would need more than `memory` bytes.
pub(crate) fn rank_both(jobs: [&Job; 2], memory: u64, driver: &Driver) -> [Rankings; 2] {
    if !jobs[0].is_direct() && both_ways::is_worthwhile(jobs, memory) {
        both_ways::rank_both(jobs, driver)
    } else {
        jobs.map(|job| rank(job, driver))
    }
}

impl Job<'_> {
    fn queries(&self) -> usize {
        self.products.query.space.rows()
    }

    fn targets(&self) -> usize {
        self.products.target.space.rows()
    }

    fn is_direct(&self) -> bool {
        self.queries() as u64 * self.targets() as u64 * self.products.query.space.columns() as u64 <= DIRECT
    }

    /// How much of the ranking query `q` needs.
    fn needed(&self, q: usize) -> usize {
        let relevant = self.relevances.iter().map(|r| r.relevant_to(q));
        // Where one of the first R is left out, the next one takes its place.
        let next = usize::from(self.influence.is_some());
        let findable = self.targets() - usize::from(self.is_self);
        (relevant.max().unwrap_or(0) + next).min(findable).max(self.depth)
    }

    /// All similarities in f64.
    fn directly(&self, driver: &Driver) -> Rankings {
        driver
            .progress()
            .begin("queries", self.queries().div_ceil(FEWEST) as u64);
        let found = driver.blocks(self.queries(), FEWEST, |queries| {
            let mut found = Found::new(self);
            queries.for_each(|q| self.rank_directly(q, &mut found));
            driver.progress().advance(1);
            found.finished(self)
        });
        let mut all = Rankings::new(self);
        found.into_iter().for_each(|found| all.put(found));
        all
    }

    fn rank_directly(&self, q: usize, found: &mut Found) {
        let values: Vec<f64> = (0..self.targets()).map(|j| self.products.exact(q, j)).collect();
        let before = |a: &u32, b: &u32| {
            let (x, y) = (values[*a as usize], values[*b as usize]);
            // −0 and 0 are the same similarity.
            (y + 0.0).total_cmp(&(x + 0.0)).then(a.cmp(b))
        };
        let is_other = |&j: &u32| !(self.is_self && j as usize == q);
        let mut order: Vec<u32> = (0..self.targets() as u32).filter(is_other).collect();
        order.sort_unstable_by(before);
        found.rows.push(q as u32);
        found.targets.extend_from_slice(&order[..self.depth]);
        for set in 0..self.relevances.len() {
            let mut standing = standing(&self.relevances[set], q, &order);
            standing.pull = self.pull(set, q, &standing, &order[..self.needed(q)], found);
            found.standings[set].push(standing);
        }
    }

    /// Products in f32, with f64 where they are too near.
    fn by_panels(&self, driver: &Driver) -> Rankings {
        let targets = one_way::Targets::new(self, driver);
        let queries: Vec<u32> = (0..self.queries() as u32).collect();
        let mut all = Rankings::new(self);
        one_way::rank_some(self, &queries, &targets, &mut all, driver);
        one_way::find_far_firsts(self, &mut all, || &targets, driver);
        all
    }
}

/// The standing of the relevant targets of query `q` in the first part of its ranking.
fn standing(relevance: &Relevance, q: usize, order: &[u32]) -> Standing {
    let relevant = relevance.relevant_to(q);
    let mut standing = Standing::default();
    let mut sum = 0.0;
    for (i, &j) in order.iter().take(relevant).enumerate() {
        if relevance.is_relevant(q, j) {
            standing.hits += 1;
            sum += f64::from(standing.hits) / (i + 1) as f64;
        }
    }
    if relevant > 0 {
        standing.average_precision = sum / relevant as f64;
        let first = order.iter().position(|&j| relevance.is_relevant(q, j));
        standing.first = first.map_or(0, |i| i as u32 + 1);
    }
    standing
}

#[cfg(test)]
mod tests;
