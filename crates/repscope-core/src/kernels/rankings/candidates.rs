// SPDX-License-Identifier: MIT
//! Some queries on their way through all targets: what each keeps, and what stands before its first relevant target.
//!
//! Targets come in random order. After m of N of them about `needed`·m/N of those that matter have been met: a query keeps
//! that many and some standard deviations more, with their near ties, and from then on sees only what is not below
//! them. So few are kept, and almost never too few; whether they were is known at the end.

use super::{Found, Job, Relevance, standing};

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

/// By how many standard deviations, and how many targets, a query keeps more than is expected to matter.
const DEVIATIONS: f64 = 5.0;
const SPARE: usize = 10;

/// How many targets a query keeps that needs so many, when it has met this share of all.
pub(super) fn expected_to_be_kept(needed: usize, met: f64) -> usize {
    let expected = needed as f64 * met;
    ((expected + DEVIATIONS * expected.sqrt()) as usize + SPARE).min(needed)
}

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
        for count in &relevance.counts {
            starts.push(starts[starts.len() - 1] + count);
        }
        Members { starts, targets }
    }

    fn of(&self, code: usize) -> &[u32] {
        &self.targets[self.starts[code]..self.starts[code + 1]]
    }
}

/// How many targets a query may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// As many as there are near ties.
    Any,
    /// [`most_kept`]; where near ties need more, it gives up.
    Bounded,
}

/// The most targets that a query keeps in bounded room.
pub(super) fn most_kept(needed: usize) -> usize {
    needed + needed / 2 + 64
}

/// The relevant target that comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    similarity: f64,
    row: u32,
}

impl Best {
    fn is_behind(&self, similarity: f64, row: u32) -> bool {
        similarity > self.similarity || similarity == self.similarity && row < self.row
    }
}

/// What some queries kept.
pub(super) struct Kept<'a> {
    pub(super) job: &'a Job<'a>,
    /// Which query stands at each place.
    pub(super) rows: Vec<u32>,
    /// The error bound of each.
    pub(super) errors: Vec<f64>,
    /// From which value on each sees a target. More places than queries: a multiple of a panel, however wide.
    pub(super) seen_from: Vec<f32>,
    /// From which value on each keeps a target.
    limits: Vec<f32>,
    /// What each kept, unsorted, and at how many it drops the low ones.
    pub(super) keys: Vec<Vec<u64>>,
    full: Vec<usize>,
    room: Room,
    /// For each set of labels, the best relevant target of each query where it is sought, and how many targets that are not relevant
    /// were met above it.
    best: Vec<Vec<Option<Best>>>,
    above: Vec<Vec<u32>>,
    /// From which value on each query may meet a target above its best ones; infinite where none is sought.
    pub(super) sought_from: Vec<f32>,
    is_sought: bool,
    /// By how much similarities exceed values.
    pub(super) shared: f64,
    /// Targets that will have been met after those at hand.
    met: usize,
}

impl<'a> Kept<'a> {
    /// Nothing, before the queries of these rows meet a target. Values fall short of similarities by `shared`.
    pub(super) fn new(job: &'a Job, rows: &[u32], errors: Vec<f64>, shared: f64, room: Room) -> Self {
        let (count, sets) = (rows.len(), job.relevances.len());
        let room_of = |&q: &u32| Vec::with_capacity(most_kept(job.needed(q as usize)));
        let mut seen_from = vec![f32::MIN; count];
        seen_from.resize(count.next_multiple_of(96), f32::INFINITY);
        Kept {
            job,
            rows: rows.to_vec(),
            errors,
            seen_from,
            limits: vec![f32::MIN; count],
            keys: rows.iter().map(room_of).collect(),
            full: vec![SPARE; count],
            room,
            best: vec![vec![None; count]; sets],
            above: vec![vec![0; count]; sets],
            sought_from: vec![f32::INFINITY; count],
            is_sought: false,
            shared,
            met: 0,
        }
    }

    /// Measures the relevant targets of the queries that have at most this many, so that those above the best can be counted.
    pub(super) fn seek_first(&mut self, set: usize, members: &Members, at_most: usize) {
        let relevance = &self.job.relevances[set];
        for (place, &q) in self.rows.iter().enumerate() {
            let relevant = relevance.relevant_to(q as usize);
            if relevant == 0 || relevant > at_most {
                continue;
            }
            let code = relevance.queries[q as usize] as usize;
            let others = members.of(code).iter().filter(|&&j| !(self.job.is_self && j == q));
            let mut best = Best {
                similarity: f64::NEG_INFINITY,
                row: u32::MAX,
            };
            for &row in others {
                let similarity = self.job.products.exact(q as usize, row as usize) + 0.0;
                if best.is_behind(similarity, row) {
                    best = Best { similarity, row };
                }
            }
            self.best[set][place] = Some(best);
            let from = down(best.similarity - self.shared - self.errors[place]);
            self.sought_from[place] = self.sought_from[place].min(from);
            self.seen_from[place] = self.seen_from[place].min(from);
            self.is_sought = true;
        }
    }

    /// Every target is kept.
    pub(super) fn keep_all(&mut self) {
        self.full.fill(usize::MAX);
    }

    /// No target is kept; those above the best relevant one are still counted.
    pub(super) fn keep_none(&mut self) {
        (0..self.rows.len()).for_each(|place| self.raise(place, f32::INFINITY));
    }

    /// So many targets come next.
    pub(super) fn expect(&mut self, targets: usize) {
        self.met += targets;
    }

    /// The query at `place` meets a target.
    #[inline(always)]
    pub(super) fn take(&mut self, place: usize, row: u32, value: f32) {
        if value >= self.limits[place] {
            self.keys[place].push(key_of(value, row));
            if self.keys[place].len() >= self.full[place] {
                self.drop_low(place);
            }
        }
        if self.is_sought {
            self.count_above(place, row, value);
        }
    }

    /// Counts a target that is above the best relevant one. Where the value cannot tell, the similarity does.
    fn count_above(&mut self, place: usize, row: u32, value: f32) {
        let (job, q, error) = (self.job, self.rows[place] as usize, self.errors[place]);
        if value < self.sought_from[place] {
            return;
        }
        let sets = job.relevances.iter().zip(&self.best).zip(&mut self.above);
        for ((relevance, best), above) in sets {
            let Some(best) = best[place] else { continue };
            let excess = f64::from(value) + self.shared - best.similarity;
            let is_above = if excess.abs() > error {
                excess > 0.0
            } else {
                best.is_behind(job.products.exact(q, row as usize) + 0.0, row)
            };
            above[place] += u32::from(is_above && !relevance.is_relevant(q, row));
        }
    }

    /// Drops what is not expected to matter.
    #[inline(never)]
    fn drop_low(&mut self, place: usize) {
        let needed = self.job.needed(self.rows[place] as usize);
        let wanted = expected_to_be_kept(needed, self.met as f64 / self.job.targets() as f64);
        let keys = &mut self.keys[place];
        if wanted < keys.len() {
            let (_, last, _) = keys.select_nth_unstable(wanted - 1);
            // With its near ties, so that those of the last that matters are always kept.
            let limit = down(f64::from(value_of(*last)) - 2.0 * self.errors[place]);
            keys.retain(|&key| value_of(key) >= limit);
            self.raise(place, limit);
        }
        self.make_room(place, wanted, needed);
    }

    /// At how many targets the low ones are dropped next.
    fn make_room(&mut self, place: usize, wanted: usize, needed: usize) {
        let kept = self.keys[place].len();
        let full = (wanted + wanted / 2 + 32).max(kept + kept / 4 + 16);
        if self.room == Room::Bounded && full > most_kept(needed) {
            self.keys[place] = Vec::new();
            self.raise(place, f32::INFINITY);
            return;
        }
        self.full[place] = full;
    }

    fn raise(&mut self, place: usize, limit: f32) {
        self.limits[place] = limit.max(self.limits[place]);
        self.seen_from[place] = self.limits[place].min(self.sought_from[place]);
    }

    /// How many queries gave up.
    pub(super) fn gave_up(&self) -> usize {
        self.limits.iter().filter(|&&limit| limit == f32::INFINITY).count()
    }

    /// The rank of the first relevant target, which stands behind the first `known`; 0 where it was not sought.
    pub(super) fn rank_of_first(&self, set: usize, place: usize, known: usize) -> u32 {
        self.best[set][place].map_or(0, |_| self.above[set][place].max(known as u32) + 1)
    }

    /// Whether the `needed` most similar targets are all among those kept, with the near ties of the last.
    pub(super) fn is_enough(&self, place: usize, needed: usize) -> bool {
        let limit = self.limits[place];
        let tied = f64::from(limit) + 2.0 * self.errors[place];
        let is_above = |&&key: &&u64| f64::from(value_of(key)) >= tied;
        limit == f32::MIN || self.keys[place].iter().filter(is_above).count() >= needed
    }
}

impl Kept<'_> {
    /// Ranks what every query kept. Those that did not keep enough are left out and named.
    pub(super) fn finish(mut self) -> (Found, Vec<u32>) {
        let mut found = Found::new(self.job);
        let mut missing = Vec::new();
        for place in 0..self.rows.len() {
            let q = self.rows[place];
            if self.is_enough(place, self.job.needed(q as usize)) {
                self.rank(place, &mut found)
            } else {
                missing.push(q)
            }
        }
        (found.finished(self.job), missing)
    }

    /// Ranks the targets of one query.
    fn rank(&mut self, place: usize, found: &mut Found) {
        let (job, q, error) = (self.job, self.rows[place] as usize, self.errors[place]);
        let mut keys = std::mem::take(&mut self.keys[place]);
        let (_, kth, _) = keys.select_nth_unstable(job.depth - 1);
        let tied = down(f64::from(value_of(*kth)) - 2.0 * error);
        let near = keys.iter().filter(|&&key| value_of(key) >= tied).count();
        let needed = job.needed(q);
        let wanted = near.max(needed);
        if keys.len() > wanted {
            keys.select_nth_unstable(wanted - 1);
            keys.truncate(wanted);
        }
        keys.sort_unstable();
        let mut order: Vec<u32> = keys.iter().map(|&key| row_of(key)).collect();
        job.settle(q, error, &keys[..near], &mut order[..near]);
        found.rows.push(q as u32);
        order.truncate(needed);
        found.targets.extend_from_slice(&order[..job.depth]);
        for (set, relevance) in job.relevances.iter().enumerate() {
            let mut standing = standing(relevance, q, &order);
            if standing.first == 0 && relevance.relevant_to(q) > 0 {
                standing.first = self.rank_of_first(set, place, order.len());
            }
            standing.pull = job.pull(set, q, &standing, &order, found);
            found.standings[set].push(standing);
        }
    }
}

impl Job<'_> {
    /// Puts targets that are too near for f32 into their true order; `order` holds the rows of `keys`.
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
        let member = |&key: &u64| (firsts[row_of(key) as usize], row_of(key));
        let mut members: Vec<(u32, u32)> = keys.iter().map(member).collect();
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
