// SPDX-License-Identifier: MIT
//! The order in which each query of a retrieval finds its targets: similarity descending, then row number ascending;
//! in a self-direction the query itself is excluded by its number.
//!
//! Some queries at a time meet all targets, by f32 products that never leave the registers unless they are large.
//! Targets come in random order, so the first of them tell how similar a target must be to matter to each query; of
//! the others only those are kept. From them come the first `depth` targets of each query and how its relevant targets
//! stand in the whole ranking, for every set of labels. Memory is O(queries · depth), plus what the queries at hand keep.
//!
//! The first `depth` are exact. Let v be the depth-th largest f32 value and E the error bound of the query: every one of
//! the true first `depth` has an f32 value of at least v − 2E, and targets whose f32 values are more than 2E apart are
//! in their true order. The others are measured in f64. Ranks behind `depth` are those of the f32 values. Small
//! retrievals are measured in f64 throughout.

mod meeting;

use meeting::{Meeting, Members, down, row_of, value_of};

use super::similarity::{PackedTargets, Products};
use crate::data::Space;
use crate::run::Driver;

/// Up to this many coordinates over all pairs (a fraction of a second of work), all similarities are measured in f64.
const DIRECT: u64 = 1 << 30;
/// Targets kept by all queries at hand, and the fewest and most queries: fewer would meet each target too rarely.
const KEPT: usize = 1 << 24;
const FEWEST: usize = 48;
const MOST: usize = 384;
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
}

/// What is asked.
struct Job<'a> {
    products: Products<'a>,
    relevances: &'a [Relevance],
    is_self: bool,
    depth: usize,
}

/// What the queries of one task found: their first targets, and their standings by set of labels.
type Found = (Vec<u32>, Vec<Vec<Standing>>);

/// Queries that are ranked together, where each keeps about this many targets.
fn queries_at_once(needed: usize) -> usize {
    (KEPT / needed.max(1)).clamp(FEWEST, MOST)
}

/// Bytes that [`rank`] needs beside its input, where at most `needed` targets matter to a query.
pub(crate) fn memory(queries: usize, space: &Space, depth: usize, needed: usize, threads: usize) -> u64 {
    let (n, d) = (space.rows(), space.columns());
    let at_once = queries_at_once(needed);
    let of_thread = at_once * (needed * 16 + d * 4) + n * 4;
    (n * (d * 4 + 16) + queries * (depth * 4 + 16) + threads * of_thread) as u64
}

/// Ranks the targets of every query. `depth` must not exceed the number of targets it can find.
pub(crate) fn rank(
    products: Products,
    relevances: &[Relevance],
    is_self: bool,
    depth: usize,
    driver: &Driver,
) -> Rankings {
    let (queries, targets) = (products.query.space.rows(), products.target.space.rows());
    let coordinates = queries as u64 * targets as u64 * products.query.space.columns() as u64;
    let job = Job {
        products,
        relevances,
        is_self,
        depth,
    };
    if coordinates <= DIRECT {
        job.directly(driver)
    } else {
        job.by_panels(driver)
    }
}

impl Job<'_> {
    fn queries(&self) -> usize {
        self.products.query.space.rows()
    }

    fn targets(&self) -> usize {
        self.products.target.space.rows()
    }

    fn collect(&self, tasks: usize, driver: &Driver, run: impl Fn(usize) -> Found + Sync) -> Rankings {
        driver.progress().begin("queries", tasks as u64);
        let found = driver.map(tasks, |task| {
            let found = run(task);
            driver.progress().advance(1);
            found
        });
        let mut all = Rankings {
            depth: self.depth,
            targets: Vec::with_capacity(self.queries() * self.depth),
            standings: vec![Vec::with_capacity(self.queries()); self.relevances.len()],
        };
        for (targets, standings) in found {
            all.targets.extend(targets);
            for (all, some) in all.standings.iter_mut().zip(standings) {
                all.extend(some);
            }
        }
        all
    }

    /// How much of the ranking query `q` needs.
    fn needed(&self, q: usize) -> usize {
        let relevant = self.relevances.iter().map(|r| r.relevant_to(q));
        relevant.max().unwrap_or(0).max(self.depth)
    }

    /// All similarities in f64.
    fn directly(&self, driver: &Driver) -> Rankings {
        let at_once = FEWEST;
        self.collect(self.queries().div_ceil(at_once), driver, |task| {
            let mut found: Found = (Vec::new(), vec![Vec::new(); self.relevances.len()]);
            for q in task * at_once..self.queries().min((task + 1) * at_once) {
                let values: Vec<f64> = (0..self.targets()).map(|j| self.products.exact(q, j)).collect();
                let before = |a: &u32, b: &u32| {
                    let (x, y) = (values[*a as usize], values[*b as usize]);
                    // −0 and 0 are the same similarity.
                    (y + 0.0).total_cmp(&(x + 0.0)).then(a.cmp(b))
                };
                let mut order: Vec<u32> = (0..self.targets() as u32)
                    .filter(|&j| !(self.is_self && j as usize == q))
                    .collect();
                order.sort_unstable_by(before);
                found.0.extend_from_slice(&order[..self.depth]);
                for (relevance, standings) in self.relevances.iter().zip(&mut found.1) {
                    standings.push(standing(relevance, q, &order));
                }
            }
            found
        })
    }

    /// Products in f32, with f64 where they cannot tell.
    fn by_panels(&self, driver: &Driver) -> Rankings {
        let packed = PackedTargets::new(self.products.target, driver);
        let members: Vec<Members> = self.relevances.iter().map(Members::new).collect();
        let most = (0..self.queries()).map(|q| self.needed(q)).max().unwrap_or(0);
        let all: Vec<usize> = (0..self.queries()).collect();
        let groups: Vec<&[usize]> = all.chunks(queries_at_once(most)).collect();
        let mut rankings = self.collect(groups.len(), driver, |task| {
            let mut meeting = Meeting::new(self, groups[task], &packed);
            for (set, members) in members.iter().enumerate() {
                meeting.seek_first(set, members, self.targets() / SEEK);
            }
            meeting.meet_and_learn();
            let mut found: Found = (Vec::new(), vec![Vec::new(); self.relevances.len()]);
            for place in 0..groups[task].len() {
                self.finish(&mut meeting, place, &mut found);
            }
            found
        });
        self.find_far_firsts(&mut rankings, &members, &packed, driver);
        rankings
    }

    /// Ranks the targets of one query from those it kept.
    fn finish(&self, meeting: &mut Meeting, place: usize, found: &mut Found) {
        let q = meeting.queries[place];
        let (needed, error) = (self.needed(q), meeting.packed.errors[place]);
        let mut keys = std::mem::take(&mut meeting.keys[place]);
        if !meeting.is_enough(&keys, place, needed) {
            // The sample was unlucky: all targets are met once more, by this query alone.
            let mut alone = Meeting::new(self, &meeting.queries[place..=place], meeting.targets);
            alone.meet_rest();
            keys = alone.keys.remove(0);
        }
        let (_, kth, _) = keys.select_nth_unstable(self.depth - 1);
        let tied = down(f64::from(value_of(*kth)) - 2.0 * error);
        let wanted = keys.iter().filter(|&&key| value_of(key) >= tied).count().max(needed);
        if keys.len() > wanted {
            keys.select_nth_unstable(wanted - 1);
            keys.truncate(wanted);
        }
        keys.sort_unstable();
        let near = keys.partition_point(|&key| value_of(key) >= tied);
        let mut order: Vec<u32> = keys.iter().map(|&key| row_of(key)).collect();
        self.settle(q, error, &keys[..near], &mut order[..near]);
        found.0.extend_from_slice(&order[..self.depth]);
        for (set, (relevance, standings)) in self.relevances.iter().zip(&mut found.1).enumerate() {
            let mut standing = standing(relevance, q, &order);
            if standing.first == 0 && relevance.relevant_to(q) > 0 {
                standing.first = meeting.rank_of_first(set, place, order.len());
            }
            standings.push(standing);
        }
    }

    /// Finds the rank of the first relevant target of the queries that have none among those they kept.
    fn find_far_firsts(&self, rankings: &mut Rankings, members: &[Members], packed: &PackedTargets, driver: &Driver) {
        for (set, (relevance, members)) in self.relevances.iter().zip(members).enumerate() {
            let standings = &mut rankings.standings[set];
            let is_open = |&q: &usize| standings[q].first == 0 && relevance.relevant_to(q) > 0;
            let open: Vec<usize> = (0..self.queries()).filter(is_open).collect();
            let groups: Vec<&[usize]> = open.chunks(MOST).collect();
            let firsts = driver.map(groups.len(), |task| {
                let mut meeting = Meeting::new(self, groups[task], packed);
                meeting.seek_first(set, members, usize::MAX);
                meeting.limits.fill(f32::MAX);
                meeting.meet_rest();
                let places = groups[task].iter().enumerate();
                let first = |(place, &q): (usize, &usize)| meeting.rank_of_first(set, place, self.needed(q));
                places.map(first).collect::<Vec<u32>>()
            });
            for (&q, first) in open.iter().zip(firsts.concat()) {
                standings[q].first = first;
            }
        }
    }

    /// Puts targets that f32 cannot tell apart into their true order; `order` holds the rows of `keys`.
    fn settle(&self, q: usize, error: f64, keys: &[u64], order: &mut [u32]) {
        let is_apart = |a: &u64, b: &u64| f64::from(value_of(*a)) - f64::from(value_of(*b)) > 2.0 * error;
        let mut first = 0;
        for group in keys.chunk_by(|a, b| !is_apart(a, b)) {
            let end = first + group.len();
            // What comes behind the first `depth` is not promised to be exact.
            if group.len() > 1 && first < self.depth {
                let mut measured = self.measure(q, group);
                measured.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                for (slot, (_, row)) in order[first..end].iter_mut().zip(measured) {
                    *slot = row;
                }
            }
            first = end;
        }
    }

    /// The f64 similarities of some targets; equal targets are measured once.
    fn measure(&self, q: usize, keys: &[u64]) -> Vec<(f64, u32)> {
        let firsts = &self.products.target.firsts;
        let mut members: Vec<(u32, u32)> = keys
            .iter()
            .map(|&key| (firsts[row_of(key) as usize], row_of(key)))
            .collect();
        members.sort_unstable();
        let mut last = (u32::MAX, 0.0);
        let measure = |(first, j): (u32, u32)| {
            if first != last.0 {
                // Adding 0 turns −0 into 0: both are the same similarity.
                last = (first, self.products.exact(q, first as usize) + 0.0);
            }
            (last.1, j)
        };
        members.into_iter().map(measure).collect()
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
