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

use super::panels::{self, Panels};
use super::similarity::{PackedQueries, PackedTargets, Products};
use crate::data::Space;
use crate::run::Driver;

/// Up to this many coordinates over all pairs (a fraction of a second of work), all similarities are measured in f64.
const DIRECT: u64 = 1 << 30;
/// Targets kept by all queries at hand, and the fewest and most queries: fewer would meet each target too rarely.
const KEPT: usize = 1 << 24;
const FEWEST: usize = 48;
const MOST: usize = 384;
/// Targets that are looked at to learn how similar a target must be.
const SAMPLE: usize = 1024;
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
        self.settle(q, error, &keys[..near], &meeting.targets.firsts, &mut order[..near]);
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
    fn settle(&self, q: usize, error: f64, keys: &[u64], firsts: &[u32], order: &mut [u32]) {
        let is_apart = |a: &u64, b: &u64| f64::from(value_of(*a)) - f64::from(value_of(*b)) > 2.0 * error;
        let mut first = 0;
        for group in keys.chunk_by(|a, b| !is_apart(a, b)) {
            let end = first + group.len();
            // What comes behind the first `depth` is not promised to be exact.
            if group.len() > 1 && first < self.depth {
                let mut measured = self.measure(q, group, firsts);
                measured.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                for (slot, (_, row)) in order[first..end].iter_mut().zip(measured) {
                    *slot = row;
                }
            }
            first = end;
        }
    }

    /// The f64 similarities of some targets; equal targets are measured once.
    fn measure(&self, q: usize, keys: &[u64], firsts: &[u32]) -> Vec<(f64, u32)> {
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

/// The targets of each label.
struct Members {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Members {
    fn new(relevance: &Relevance) -> Self {
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
struct Meeting<'a> {
    job: &'a Job<'a>,
    queries: &'a [usize],
    targets: &'a PackedTargets,
    packed: PackedQueries,
    /// From which value on each query keeps a target.
    limits: Vec<f32>,
    /// What each query kept, unsorted.
    keys: Vec<Vec<u64>>,
    /// For each set of labels, the value of the best relevant target of each query where it is sought, and how many
    /// targets that are not relevant were met above it.
    best: Vec<Vec<f32>>,
    above: Vec<Vec<u32>>,
    /// Panels of targets that were met.
    met: usize,
}

impl<'a> Meeting<'a> {
    fn new(job: &'a Job, queries: &'a [usize], targets: &'a PackedTargets) -> Self {
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
    fn seek_first(&mut self, set: usize, members: &Members, at_most: usize) {
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
    fn meet_and_learn(&mut self) {
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

    fn meet_rest(&mut self) {
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
    fn rank_of_first(&self, set: usize, place: usize, known: usize) -> u32 {
        match self.best[set][place].is_finite() {
            true => self.above[set][place].max(known as u32) + 1,
            false => 0,
        }
    }

    /// Whether the `needed` most similar targets are all among those kept, with the near ties of the last.
    fn is_enough(&self, keys: &[u64], place: usize, needed: usize) -> bool {
        let limit = self.limits[place];
        let tied = f64::from(limit) + 2.0 * self.packed.errors[place];
        limit == f32::MIN || keys.iter().filter(|&&key| f64::from(value_of(key)) >= tied).count() >= needed
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

/// A key that sorts by value descending, then by row ascending.
#[inline(always)]
fn key_of(value: f32, row: u32) -> u64 {
    // Adding 0 turns −0 into 0. Flipping all bits of a negative number, and the sign of a positive one, makes bits order
    // like numbers; flipping all of that turns the order round.
    let bits = (value + 0.0).to_bits();
    let ascending = bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000);
    u64::from(!ascending) << 32 | u64::from(row)
}

fn row_of(key: u64) -> u32 {
    key as u32
}

fn value_of(key: u64) -> f32 {
    let ascending = !((key >> 32) as u32);
    let mask = if ascending & 0x8000_0000 == 0 {
        u32::MAX
    } else {
        0x8000_0000
    };
    f32::from_bits(ascending ^ mask)
}

/// The largest f32 not above `x`.
fn down(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x {
        rounded.next_down()
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests;
