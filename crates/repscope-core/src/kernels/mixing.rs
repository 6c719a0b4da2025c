// SPDX-License-Identifier: MIT
//! Which batches the neighbors of a row come from: LISI, the number of batches that a neighborhood holds in effect, and the test of kBET
//! whether it holds them as all rows do.
//!
//! Both follow from one list of neighbors per row. What they are where batches are perfectly mixed comes from batches that are assigned
//! at random ([`Assignments`]).

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::data::Labels;
use crate::kernels::neighbors::Neighbors;
use crate::kernels::tiles::Anchors;
use crate::kernels::together::Together;
use crate::random;
use crate::run::Driver;
use crate::stats::interval::Units;

/// Queries of a task.
const ROWS: usize = 256;
/// Steps that find the width of a neighborhood at most: more than the digits of a number.
const STEPS: usize = 100;

/// The neighbors that LISI looks at: three times the perplexity less one, as published, or all other rows.
pub(crate) fn looked_at(perplexity: f64, rows: usize) -> usize {
    ((3.0 * perplexity) as usize - 1).min(rows.saturating_sub(1))
}

/// The perplexity that so many neighbors allow.
pub(crate) fn fitting(perplexity: f64, neighbors: usize) -> f64 {
    perplexity.min((neighbors as f64 + 1.0) / 3.0)
}

/// exp(−β d) of the neighbors, adding up to 1, with β such that their perplexity is the one given.
fn weights(distances: &[f64], perplexity: f64) -> Vec<f64> {
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = distances.iter().map(|d| d - nearest).sum::<f64>() / distances.len() as f64;
    if mean <= 0.0 {
        return vec![1.0 / distances.len() as f64; distances.len()];
    }
    // In these units β is about 1, whatever the scale of the space; what all distances have in common changes no weight.
    let scaled: Vec<f64> = distances.iter().map(|d| (d - nearest) / mean).collect();
    let wanted = perplexity.ln();
    let (mut low, mut high, mut beta) = (0.0, f64::INFINITY, 1.0);
    let mut found = Vec::new();
    for _ in 0..STEPS {
        found = scaled.iter().map(|d| (-beta * d).exp()).collect::<Vec<f64>>();
        let total: f64 = found.iter().sum();
        found.iter_mut().for_each(|p| *p /= total);
        let average: f64 = found.iter().zip(&scaled).map(|(p, d)| p * d).sum();
        let gap = total.ln() + beta * average - wanted;
        if gap.abs() < 1e-13 {
            break;
        }
        if gap > 0.0 {
            low = beta;
        } else {
            high = beta;
        }
        // The entropy falls with β by β times the variance of the distances.
        let variance: f64 = found.iter().zip(&scaled).map(|(p, d)| p * (d - average).powi(2)).sum();
        let next = beta + gap / (beta * variance);
        beta = if next > low && next < high {
            next
        } else if high.is_finite() {
            f64::midpoint(low, high)
        } else {
            2.0 * beta
        };
    }
    found
}

/// Random assignments of the batches. Where all rows of a group are of one batch, groups change theirs as wholes; where groups have rows of
/// several batches, rows change theirs within their group.
pub(crate) struct Assignments {
    /// What is permuted, each list for itself: rows, or groups as wholes.
    lists: Vec<Vec<u32>>,
    /// The rows of each group, where groups move.
    members: Option<Vec<Vec<u32>>>,
}

impl Assignments {
    /// `within` are classes that rows keep; they are not looked at where groups are given.
    pub(crate) fn new(batches: &[u32], groups: Option<&Labels>, within: Option<&[u32]>) -> Self {
        let lists_of = |codes: &[u32]| {
            let mut lists = vec![Vec::new(); codes.iter().max().map_or(0, |&last| last as usize + 1)];
            for (row, &code) in codes.iter().enumerate() {
                lists[code as usize].push(row as u32);
            }
            lists.retain(|list: &Vec<u32>| !list.is_empty());
            lists
        };
        let Some(groups) = groups else {
            let all = || vec![(0..batches.len() as u32).collect()];
            return Assignments {
                lists: within.map_or_else(all, lists_of),
                members: None,
            };
        };
        let members = lists_of(groups.codes());
        let batch = |row: &u32| batches[*row as usize];
        let are_whole = members
            .iter()
            .all(|list| list.iter().all(|row| batch(row) == batch(&list[0])));
        if are_whole {
            Assignments {
                lists: vec![(0..members.len() as u32).collect()],
                members: Some(members),
            }
        } else {
            Assignments {
                lists: members,
                members: None,
            }
        }
    }

    /// Whether groups move as wholes and every batch is one of them, so that another assignment only gives them other names.
    pub(crate) fn only_rename(&self, batches: usize) -> bool {
        self.members.as_ref().is_some_and(|members| members.len() == batches)
    }

    /// The batch of each row in one draw.
    pub(crate) fn draw(&self, batches: &[u32], seed: u64, number: usize) -> Vec<u32> {
        let mut stream = random::stream(seed, "batches", number as u64);
        let mut drawn = batches.to_vec();
        for list in &self.lists {
            let order = random::permutation(list.len(), &mut stream);
            for (&own, &place) in list.iter().zip(&order) {
                let other = list[place as usize];
                match &self.members {
                    None => drawn[own as usize] = batches[other as usize],
                    Some(members) => {
                        let batch = batches[members[other as usize][0] as usize];
                        members[own as usize]
                            .iter()
                            .for_each(|&row| drawn[row as usize] = batch);
                    }
                }
            }
        }
        drawn
    }
}

/// A value for each query, and what else is known of it.
pub(crate) struct Mixed {
    pub(crate) values: Vec<f64>,
    /// What rows do beside their own value, as neighbors; nothing where only some rows ask.
    pub(crate) together: Together,
    /// The mean over queries under each assignment.
    pub(crate) by_chance: Vec<f64>,
}

/// The lists of neighbors, and the batches of all rows.
pub(crate) struct Neighborhoods<'a> {
    pub(crate) neighbors: &'a Neighbors,
    pub(crate) anchors: Anchors<'a>,
    pub(crate) batches: &'a [u32],
    pub(crate) classes: usize,
    /// What the rows come in.
    pub(crate) units: Units<'a>,
    /// The batches of each draw.
    pub(crate) draws: &'a [Vec<u32>],
}

/// A query, a neighbor, and what that does to the value of the query.
type Change = (u32, u32, f64);

/// What a task finds: values, changes, and sums by draw.
type Part = (Vec<f64>, Vec<Change>, Vec<f64>);

impl Neighborhoods<'_> {
    /// Values by query, of a function that may report what each neighbor does to its query.
    fn each(
        &self,
        of: impl Fn(usize, &[u32], Option<&mut Vec<Change>>, &mut [f64]) -> f64 + Sync,
        driver: &Driver,
    ) -> Mixed {
        let rows = self.batches.len();
        let queries = self.anchors.count(rows);
        let is_all = self.anchors == Anchors::All;
        let task = |task: usize| -> Part {
            let (mut values, mut changes, mut sums) = (Vec::new(), Vec::new(), vec![0.0; self.draws.len()]);
            for query in task * ROWS..queries.min((task + 1) * ROWS) {
                let wanted = is_all.then_some(&mut changes);
                values.push(of(query, self.neighbors.of(query), wanted, &mut sums));
            }
            (values, changes, sums)
        };
        let start = Mixed {
            values: Vec::with_capacity(queries),
            together: Together::new(if is_all { rows } else { 0 }),
            by_chance: vec![0.0; self.draws.len()],
        };
        let mut mixed = driver.fold(
            queries.div_ceil(ROWS),
            task,
            start,
            |mut all, (values, changes, sums)| {
                all.values.extend(values);
                for (query, other, change) in changes {
                    all.together.add(self.units, query, other, change / queries as f64);
                }
                all.by_chance.iter_mut().zip(sums).for_each(|(all, own)| *all += own);
                all
            },
        );
        mixed.by_chance.iter_mut().for_each(|sum| *sum /= queries as f64);
        mixed
    }

    /// The inverse Simpson index of the weighted neighbors of each query (Korsunsky et al. 2019).
    pub(crate) fn lisi(&self, count: usize, perplexity: f64, driver: &Driver) -> Mixed {
        let shares = |list: &[u32], weights: &[f64], batches: &[u32]| {
            let mut shares = vec![0.0; self.classes];
            for (&row, weight) in list.iter().zip(weights) {
                shares[batches[row as usize] as usize] += weight;
            }
            shares
        };
        let simpson = |shares: &[f64]| shares.iter().map(|q| q * q).sum::<f64>();
        let of = |query: usize, list: &[u32], changes: Option<&mut Vec<Change>>, sums: &mut [f64]| {
            let list = &list[..count];
            let weights = weights(&self.neighbors.distances_of(query)[..count], perplexity);
            for (sum, batches) in sums.iter_mut().zip(self.draws) {
                *sum += 1.0 / simpson(&shares(list, &weights, batches));
            }
            let own = shares(list, &weights, self.batches);
            let total = simpson(&own);
            if let Some(changes) = changes {
                // A single row has little weight, so that the others may have it. A group may be most of a neighborhood: what it does is the
                // derivative by its weight. All neighbors together do nothing.
                let of = |(&row, p): (&u32, &f64)| {
                    let share = own[self.batches[row as usize] as usize];
                    match self.units {
                        Units::Groups(..) => -2.0 * p * (share - total) / (total * total),
                        Units::Single(_) => {
                            let left = total - 2.0 * share * p + p * p;
                            let without = (1.0 - p).powi(2) / left;
                            1.0 / total - if left > 0.0 { without } else { 1.0 / total }
                        }
                    }
                };
                let each: Vec<f64> = list.iter().zip(&weights).map(of).collect();
                let mean = each.iter().sum::<f64>() / count as f64;
                let centered = list
                    .iter()
                    .zip(each)
                    .map(|(&row, change)| (query as u32, row, change - mean));
                changes.extend(centered);
            }
            1.0 / total
        };
        self.each(of, driver)
    }

    /// Whether the batches of the `k` nearest of each query are those of all rows, by Pearson's test: 1 where it does not reject.
    pub(crate) fn accepted(&self, k: usize, alpha: f64, driver: &Driver) -> Mixed {
        let mut counts = vec![0.0; self.classes];
        self.batches.iter().for_each(|&batch| counts[batch as usize] += 1.0);
        let rows = self.batches.len() as f64;
        let expected: Vec<f64> = counts.iter().map(|count| k as f64 * count / rows).collect();
        let law = ChiSquared::new(self.classes as f64 - 1.0).expect("there are two batches at least");
        let accepts = |list: &[u32], batches: &[u32]| {
            let mut found = vec![0.0; self.classes];
            list.iter()
                .for_each(|&row| found[batches[row as usize] as usize] += 1.0);
            let terms = found.iter().zip(&expected).map(|(f, e)| (f - e) * (f - e) / e);
            f64::from(u8::from(law.sf(terms.sum()) >= alpha))
        };
        let of = |_: usize, list: &[u32], _: Option<&mut Vec<Change>>, sums: &mut [f64]| {
            let list = &list[..k];
            for (sum, batches) in sums.iter_mut().zip(self.draws) {
                *sum += accepts(list, batches);
            }
            accepts(list, self.batches)
        };
        self.each(of, driver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perplexity(weights: &[f64]) -> f64 {
        let entropy = -weights.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>();
        entropy.exp()
    }

    #[test]
    fn weights_have_the_perplexity_that_was_asked_for() {
        let distances: Vec<f64> = (0..30).map(|i| 3.0 + f64::from(i).sqrt()).collect();
        for scale in [1e-6, 1.0, 1e9] {
            let scaled: Vec<f64> = distances.iter().map(|d| d * scale).collect();
            let found = weights(&scaled, 10.0);
            assert!((perplexity(&found) - 10.0).abs() < 1e-9, "{scale}");
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        // All at one distance, or more perplexity than neighbors: all count the same.
        assert_eq!(weights(&[2.0; 4], 3.0), [0.25; 4]);
        assert!((perplexity(&weights(&[1.0, 2.0, 3.0], 3.5)) - 3.0).abs() < 1e-3);
    }

    #[test]
    fn batches_move_with_their_groups_or_within_them() {
        let groups = Labels::from_codes(vec![0, 0, 1, 1, 2, 2], 3);
        let whole = Assignments::new(&[0, 0, 0, 0, 1, 1], Some(&groups), None);
        let within = Assignments::new(&[0, 1, 0, 1, 0, 1], Some(&groups), None);
        assert!(!whole.only_rename(2) && Assignments::new(&[0, 0, 1, 1, 2, 2], Some(&groups), None).only_rename(3));
        for number in 0..20 {
            let drawn = whole.draw(&[0, 0, 0, 0, 1, 1], 3, number);
            assert!(
                drawn.chunks(2).all(|own| own[0] == own[1]) && drawn.iter().sum::<u32>() == 2,
                "{drawn:?}"
            );
            let drawn = within.draw(&[0, 1, 0, 1, 0, 1], 3, number);
            assert!(drawn.chunks(2).all(|own| own[0] != own[1]), "{drawn:?}");
        }
    }
}
