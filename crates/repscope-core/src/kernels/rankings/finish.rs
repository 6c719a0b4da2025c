// SPDX-License-Identifier: MIT
//! From the targets that a query kept to its ranking.

use super::candidates::Kept;
use super::keys::{down, row_of, value_of};
use super::{Found, Job, standing};

impl Kept<'_> {
    /// Ranks what every query kept. Those that did not keep enough are left out and named.
    pub(super) fn finish(mut self) -> (Found, Vec<u32>) {
        let mut found = Found::new(self.job.relevances.len());
        let mut missing = Vec::new();
        for place in 0..self.rows.len() {
            let q = self.rows[place];
            if self.is_enough(place, self.job.needed(q as usize)) {
                self.rank(place, &mut found)
            } else {
                missing.push(q)
            }
        }
        (found, missing)
    }

    /// Ranks the targets of one query.
    fn rank(&mut self, place: usize, found: &mut Found) {
        let (job, q, error) = (self.job, self.rows[place] as usize, self.errors[place]);
        let mut keys = std::mem::take(&mut self.keys[place]);
        let (_, kth, _) = keys.select_nth_unstable(job.depth - 1);
        let tied = down(f64::from(value_of(*kth)) - 2.0 * error);
        let near = keys.iter().filter(|&&key| value_of(key) >= tied).count();
        let wanted = near.max(job.needed(q));
        if keys.len() > wanted {
            keys.select_nth_unstable(wanted - 1);
            keys.truncate(wanted);
        }
        keys.sort_unstable();
        let mut order: Vec<u32> = keys.iter().map(|&key| row_of(key)).collect();
        job.settle(q, error, &keys[..near], &mut order[..near]);
        found.rows.push(q as u32);
        found.targets.extend_from_slice(&order[..job.depth]);
        for (set, (relevance, standings)) in job.relevances.iter().zip(&mut found.standings).enumerate() {
            let mut standing = standing(relevance, q, &order);
            if standing.first == 0 && relevance.relevant_to(q) > 0 {
                standing.first = self.rank_of_first(set, place, order.len());
            }
            standings.push(standing);
        }
    }
}

impl Job<'_> {
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
