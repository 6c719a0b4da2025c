// SPDX-License-Identifier: MIT
//! Influence of targets: what leaving out one target does to the scores of the whole ranking of a query.
//!
//! A target that is left out of the first R makes room for the next one, and a relevant one lowers R. So for each query all effects follow
//! from one walk through its first R + 1 targets. They are added up over queries by target, as integers: sums of integers are the same
//! in every order, whichever thread adds first.

use std::sync::Mutex;

use super::{Found, Job, Standing};

/// Effects are stored as multiples of 1 / SCALE: fine enough beside effects of 1/R², and 2²⁴ queries fit.
const SCALE: f64 = (1u64 << 38) as f64;

/// By target, the effects on R-precision, MAP@R and the reciprocal rank of some queries; those of a hit less what it would do behind
/// the first R, so that this can be added for all relevant targets at once.
pub(super) type Sums = Vec<[i64; 3]>;

/// What single targets do to a query's R-precision, MAP@R and reciprocal rank, as far as it is not added up by target.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Pull {
    /// What each relevant target behind the first R does.
    pub(crate) behind: [f64; 3],
    /// The squared effects of the targets of other units among the first, added up.
    pub(crate) squares: [f64; 3],
    /// How many of the hits among the first R are of the query's own unit.
    pub(crate) own_hits: u32,
}

/// Effects of targets, added up over all queries.
pub(crate) struct Influence {
    /// The units of queries and of targets. A unit that is left out takes its queries with it: what its targets did to
    /// these does not count.
    pub(crate) units: [Vec<u32>; 2],
    sums: Vec<Mutex<Sums>>,
}

impl Influence {
    pub(crate) fn new(units: [Vec<u32>; 2], sets: usize) -> Self {
        let sums = |_| Mutex::new(vec![[0; 3]; units[1].len()]);
        Influence {
            sums: (0..sets).map(sums).collect(),
            units,
        }
    }

    pub(super) fn add(&self, some: &[Sums]) {
        for (all, some) in self.sums.iter().zip(some) {
            let mut all = all.lock().expect("adding does not panic");
            for (all, some) in all.iter_mut().zip(some) {
                (0..3).for_each(|score| all[score] += some[score]);
            }
        }
    }

    /// The sums of one set of labels, by target.
    pub(crate) fn sums(&self, set: usize) -> Vec<[f64; 3]> {
        let sums = self.sums[set].lock().expect("adding does not panic");
        sums.iter().map(|sum| sum.map(|s| s as f64 / SCALE)).collect()
    }
}

impl Job<'_> {
    /// Adds the effects of the first targets of query `q`, in their order, and returns what remains. A target without which nothing
    /// would be relevant is held.
    pub(super) fn pull(&self, set: usize, q: usize, standing: &Standing, order: &[u32], found: &mut Found) -> Pull {
        let relevance = &self.relevances[set];
        let (Some(influence), relevant @ 1..) = (self.influence, relevance.relevant_to(q)) else {
            return Pull::default();
        };
        let is_relevant = |j: &u32| relevance.is_relevant(q, *j);
        let unit = influence.units[0][q];
        let is_other = |j: u32| influence.units[1][j as usize] != unit;

        let (r, fewer) = (relevant as f64, relevant as f64 - 1.0);
        let (hits, total) = (f64::from(standing.hits), standing.average_precision * r);
        let first_r = &order[..relevant.min(order.len())];
        let number = |is_so: bool| f64::from(u8::from(is_so));
        let next = number(order.get(relevant).is_some_and(is_relevant));
        let mut walk = Walk {
            pull: Pull::default(),
            sums: &mut found.sums[set],
        };
        if relevant > 1 {
            let last = number(first_r.last().is_some_and(is_relevant));
            let left = total - last * hits / r;
            walk.pull.behind = [hits / r - (hits - last) / fewer, total / r - left / fewer, 0.0];
        }
        let of_hit = hits / r - (hits - 1.0) / fewer;
        let of_other = -next / r;
        // Over the ranks behind the one at hand: precisions as they are, and one rank further up, with and without one hit less.
        let (mut here, mut up, mut up_less) = (0.0, next * (hits + 1.0) / r, 0.0);
        let mut count = hits;
        for (place, &j) in first_r.iter().enumerate().rev() {
            let is_hit = is_relevant(&j);
            let precision = count / (place + 1) as f64;
            if !is_other(j) {
                walk.pull.own_hits += u32::from(is_hit);
            } else if !is_hit {
                walk.add(j, [of_other, (here - up) / r, 0.0], [0.0; 3]);
            } else if relevant > 1 {
                let without = total - here - precision + up_less;
                walk.add(j, [of_hit, total / r - without / fewer, 0.0], walk.pull.behind);
            }
            if is_hit {
                here += precision;
                if place > 0 {
                    up += count / place as f64;
                    up_less += (count - 1.0) / place as f64;
                }
                count -= 1.0;
            }
        }

        // Ranks of relevant targets farther behind change little, and are not followed.
        let mut ranks = order
            .iter()
            .enumerate()
            .filter(|(_, j)| is_relevant(j))
            .map(|(place, _)| place);
        if let Some(first) = ranks.next() {
            let reciprocal = 1.0 / (first + 1) as f64;
            for &j in order[..first].iter().filter(|j| is_other(**j)) {
                walk.add(j, [0.0, 0.0, reciprocal - 1.0 / first as f64], [0.0; 3]);
            }
            if relevant > 1 && is_other(order[first]) {
                let second = ranks.next().unwrap_or(order.len());
                walk.add(order[first], [0.0, 0.0, reciprocal - 1.0 / second as f64], [0.0; 3]);
            }
        }
        walk.pull
    }
}

struct Walk<'a> {
    pull: Pull,
    sums: &'a mut Sums,
}

impl Walk<'_> {
    #[inline(always)]
    fn add(&mut self, target: u32, effects: [f64; 3], less: [f64; 3]) {
        let sums = &mut self.sums[target as usize];
        for score in 0..3 {
            sums[score] += ((effects[score] - less[score]) * SCALE) as i64;
            self.pull.squares[score] += effects[score] * effects[score];
        }
    }
}
