// SPDX-License-Identifier: MIT
//! Means over the queries of a retrieval, and their intervals.
//!
//! Another sample has other queries, and other targets to find. What a query does to the mean is its value less the mean. What a
//! target does is the change of all queries' values without it (the next one takes its place): a jackknife over targets that follows
//! from the ranked lists. Effects of rows that are queries and targets at once, and those of a group, are added up. The squared
//! error is the sum of the squared effects of all units, less that of single pairs of a query and a target (of their groups, for shares of
//! rows that come in groups): what they do by chance counts for the query and for the target, and would count twice (Cameron, Gelbach
//! and Miller 2011 for two kinds of units, Aronow, Samii and Assenova 2015 for pairs of one kind). A mean between two bounds has its
//! interval on the scale of ln(x / (1 − x)).

use std::collections::BTreeMap;

use super::Output;
use super::retrieval::{discount, ideal_gain};
use crate::retrieve::{Ranked, RankedSet};
use crate::score::{Interval, Score};
use crate::spec::SearchInterval;
use crate::stats::interval;

/// The queries of one direction that count under one set of labels, and how many targets they look at.
pub(super) struct OverQueries<'a> {
    pub(super) ranked: &'a Ranked<'a>,
    pub(super) set: &'a RankedSet,
    k: Option<usize>,
}

/// A value for each query that counts, and what leaving out a target does to it.
pub(super) struct Found {
    pub(super) values: Vec<f64>,
    pub(super) pulls: Pulls,
}

/// What leaving out a target does to the value of each query: the value less that without it.
pub(super) enum Pulls {
    /// For each query that counts: a relevant target among the first K, another one there, a relevant one behind.
    Kinds(Vec<[f64; 3]>),
    /// For each query that counts: each of the first K, and a relevant target behind them.
    Places(Vec<f64>, Vec<f64>),
    /// As it was added up where the whole ranking was known.
    Whole(Whole),
}

/// The scores that look at the whole ranking, in the order in which their effects are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    RPrecision,
    MapAtR,
    ReciprocalRank,
}

/// What targets do to a mean over queries: the sum for each target, and the sum of squares over all pairs of units.
struct Pulled {
    sums: Vec<f64>,
    squares: f64,
}

/// What is averaged over queries, and so which pairs are taken to do something by chance: the pairs of groups for shares, which a
/// query has or has not, and its row or two decide; single pairs of rows for values that follow from many targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    Means,
    Shares,
}

/// Sums over the pairs of a query's unit with the units of targets, one unit of queries after the other.
struct UnitPairs {
    sums: Vec<f64>,
    touched: Vec<u32>,
    squares: f64,
    /// For each unit of queries that is through, the sum over all units of targets.
    of_queries: Vec<f64>,
}

impl UnitPairs {
    fn new(units: usize) -> Self {
        UnitPairs {
            sums: vec![0.0; units],
            touched: Vec::new(),
            squares: 0.0,
            of_queries: Vec::new(),
        }
    }

    fn add(&mut self, unit: u32, pull: f64) {
        if pull != 0.0 {
            self.touched.push(unit);
            self.sums[unit as usize] += pull;
        }
    }

    /// The queries of a unit are through.
    fn finish(&mut self) {
        let mut total = 0.0;
        for unit in self.touched.drain(..) {
            let sum = std::mem::take(&mut self.sums[unit as usize]);
            self.squares += sum * sum;
            total += sum;
        }
        self.of_queries.push(total);
    }

    /// The sum of squares of what pairs do by chance: without what a unit of targets does to all units of queries alike, and what all
    /// targets do to a unit of queries. `sums` and `units` are by target.
    fn by_chance(&self, sums: &[f64], units: &[u32]) -> f64 {
        let (mut of_targets, mut is_there) = (vec![0.0; self.sums.len()], vec![false; self.sums.len()]);
        for (sum, &unit) in sums.iter().zip(units) {
            of_targets[unit as usize] += sum;
            is_there[unit as usize] = true;
        }
        let squares = |sums: &[f64]| sums.iter().map(|sum| sum * sum).sum::<f64>();
        let (rows, columns) = (
            self.of_queries.len() as f64,
            is_there.iter().filter(|is| **is).count() as f64,
        );
        let total: f64 = self.of_queries.iter().sum();
        let alike =
            squares(&of_targets) / rows + squares(&self.of_queries) / columns - total * total / (rows * columns);
        (self.squares - alike).max(0.0)
    }
}

/// How much each query that counts weighs in a mean, and what its value is compared with there.
struct Weighted {
    weights: Vec<f64>,
    /// What each query does to the mean.
    effects: Vec<f64>,
    /// Whether labels are fixed and queries are drawn within them: effects then allow for the mean of each label.
    is_stratified: bool,
}

/// The values of the queries of one label.
struct Stratum {
    code: usize,
    count: f64,
    mean: f64,
    /// Σ (value − mean)².
    squares: f64,
}

impl<'a> OverQueries<'a> {
    pub(super) fn new(ranked: &'a Ranked<'a>, set: &'a RankedSet, k: Option<usize>) -> Self {
        OverQueries { ranked, set, k }
    }

    /// The identity of a score of these queries.
    pub(super) fn id(&self, pattern: &str) -> String {
        self.set.id(self.ranked, pattern, self.k)
    }

    /// The K that is used.
    pub(super) fn used(&self) -> usize {
        self.ranked.effective(self.k.unwrap_or(0))
    }

    /// For each query that counts: 1 where the nearest target has its label.
    pub(super) fn first_hits(&self) -> Vec<u32> {
        let is_hit = |&q: &usize| {
            let first = self.ranked.rankings.of(q).first();
            u32::from(first.is_some_and(|&j| self.is_relevant(q, j)))
        };
        self.set.counted.iter().map(is_hit).collect()
    }

    /// Whether the target behind the first K has the label of query `q`.
    fn comes_next(&self, q: usize) -> bool {
        let next = self.ranked.rankings.of(q).get(self.used());
        next.is_some_and(|&j| self.is_relevant(q, j))
    }

    fn is_relevant(&self, q: usize, target: u32) -> bool {
        self.set.relevance.targets[target as usize] == self.set.relevance.queries[q]
    }

    /// A value that follows from the number of hits and of relevant targets. A target without which nothing would be relevant
    /// is held.
    pub(super) fn of_hits(&self, hits: &[u32], value: impl Fn(f64, f64) -> f64) -> Found {
        let (mut values, mut pulls) = (Vec::with_capacity(hits.len()), Vec::with_capacity(hits.len()));
        for (&q, &hits) in self.set.counted.iter().zip(hits) {
            let (hits, relevant) = (f64::from(hits), self.set.relevant(q) as f64);
            let next = f64::from(u8::from(self.comes_next(q)));
            let of_query = value(hits, relevant);
            let of_fewer = |hits: f64| {
                if relevant > 1.0 {
                    of_query - value(hits, relevant - 1.0)
                } else {
                    0.0
                }
            };
            values.push(of_query);
            pulls.push([
                of_fewer(hits - 1.0 + next),
                of_query - value(hits + next, relevant),
                of_fewer(hits),
            ]);
        }
        let pulls = Pulls::Kinds(pulls);
        Found { values, pulls }
    }

    /// The discounted gain of the first K over that of the best order. Without a target, those behind it move up.
    pub(super) fn of_gains(&self, gains: &[f64]) -> Found {
        let used = self.used();
        let discounts: Vec<f64> = (0..=used).map(discount).collect();
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        let mut ideal = |relevant: usize| {
            *best
                .entry(relevant.min(used))
                .or_insert_with(|| ideal_gain(relevant, used))
        };
        let (mut values, mut places, mut behind) = (Vec::new(), Vec::new(), Vec::new());
        for (&q, &gain) in self.set.counted.iter().zip(gains) {
            let relevant = self.set.relevant(q);
            let value = gain / ideal(relevant);
            values.push(value);
            behind.push(if relevant > 1 {
                value - gain / ideal(relevant - 1)
            } else {
                0.0
            });
            let list = &self.ranked.rankings.of(q)[..used];
            // What those behind the place at hand are worth, there and one place further up.
            let (mut here, mut up) = (0.0, 0.0);
            if self.comes_next(q) {
                up += discounts[used - 1];
            }
            let from = places.len();
            for (place, &j) in list.iter().enumerate().rev() {
                let is_hit = self.is_relevant(q, j);
                let own = if is_hit { discounts[place] } else { 0.0 };
                let left = relevant - usize::from(is_hit);
                places.push(if left > 0 {
                    value - (gain - here - own + up) / ideal(left)
                } else {
                    0.0
                });
                here += own;
                if is_hit && place > 0 {
                    up += discounts[place - 1];
                }
            }
            places[from..].reverse();
        }
        let pulls = Pulls::Places(places, behind);
        Found { values, pulls }
    }

    /// The mean over queries. `chance` gives the value expected of a random ranking for a number of relevant targets.
    pub(super) fn mean(&self, output: &Output, found: &Found, chance: impl Fn(usize) -> f64) -> Score {
        let Some(score) = self.without_interval(output, &found.values, chance) else {
            return self.nobody(output);
        };
        let value = score.value.unwrap_or(f64::NAN);
        let interval = self.interval(value, &self.alike(&found.values), (&found.pulls, Values::Means), |_| {
            0.0
        });
        score.with_interval(interval.map(|i| i.on_scale_of(value, output)))
    }

    /// A value whose error is that of the mean of these.
    pub(super) fn about(&self, output: &Output, value: f64, found: &Found) -> Score {
        let interval = self.interval(value, &self.alike(&found.values), (&found.pulls, Values::Means), |_| {
            0.0
        });
        let interval = interval.map(|i| i.on_scale_of(value, output));
        Score::number(self.id(output.id), value, found.values.len()).with_interval(interval)
    }

    /// The mean of shares that are 0 or 1 for each query.
    pub(super) fn share(&self, output: &Output, found: &Found, chance: impl Fn(usize) -> f64) -> Score {
        let Some(score) = self.without_interval(output, &found.values, chance) else {
            return self.nobody(output);
        };
        let value = score.value.unwrap_or(f64::NAN);
        let interval = self.interval(
            value,
            &self.alike(&found.values),
            (&found.pulls, Values::Shares),
            |_| 0.0,
        );
        score.with_interval(interval.and_then(|i| interval::of_share_with(value, i, found.values.len())))
    }

    /// The mean over queries, of what is not sampled.
    pub(super) fn without_interval(
        &self,
        output: &Output,
        values: &[f64],
        chance: impl Fn(usize) -> f64,
    ) -> Option<Score> {
        if values.is_empty() {
            return None;
        }
        // The chance level is a matter of the label alone: found once for each.
        let relevance = &self.set.relevance;
        let asked = (0..relevance.names.len()).filter(|&c| relevance.query_counts[c] > 0 && relevance.relevant(c) > 0);
        let expected = asked.map(|c| relevance.query_counts[c] as f64 * chance(relevance.relevant(c)));
        let score = Score::number(self.id(output.id), mean(values), values.len());
        Some(score.with_chance(expected.sum::<f64>() / values.len() as f64))
    }

    /// The mean over labels of the mean of their queries; labels count by their weight, to which each of their targets adds
    /// `by_target`.
    pub(super) fn over_labels(
        &self,
        output: &Output,
        found: &Found,
        weight: impl Fn(usize) -> f64,
        by_target: f64,
        chance: impl Fn(usize) -> f64,
    ) -> Score {
        let values = &found.values;
        if values.is_empty() {
            return self.nobody(output);
        }
        let strata = self.strata(values);
        let total: f64 = strata.iter().map(|s| weight(s.code)).sum();
        let over = |of: &dyn Fn(&Stratum) -> f64| strata.iter().map(|s| weight(s.code) * of(s)).sum::<f64>() / total;
        let value = over(&|s| s.mean);
        let first = weight(strata[0].code);
        let is_even = strata.iter().all(|s| s.count == 1.0 && weight(s.code) == first);
        let weighted = if is_even {
            Some(self.alike(values))
        } else {
            let shares: Vec<f64> = strata.iter().map(|s| weight(s.code) / total).collect();
            self.stratified(values, &strata, &shares)
        };
        let mut means = vec![value; self.set.relevance.names.len()];
        strata.iter().for_each(|s| means[s.code] = s.mean);
        let of_weight = |code: usize| by_target * (means[code] - value) / total;
        let interval = weighted.and_then(|w| self.interval(value, &w, (&found.pulls, Values::Means), of_weight));
        Score::number(self.id(output.id), value, values.len())
            .with_interval(interval.map(|i| i.on_scale_of(value, output)))
            .with_chance(over(&|s| chance(self.set.relevance.relevant(s.code))))
    }

    pub(super) fn nobody(&self, output: &Output) -> Score {
        let why = if self.ranked.is_self {
            "every label has a single row, so no query has anything relevant to find"
        } else {
            "no label of the queries is a label of the targets"
        };
        Score::undefined(self.id(output.id), why, 0)
    }

    /// Every query weighs the same.
    fn alike(&self, values: &[f64]) -> Weighted {
        let (n, center) = (values.len() as f64, mean(values));
        Weighted {
            weights: vec![1.0 / n; values.len()],
            effects: values.iter().map(|v| (v - center) / n).collect(),
            is_stratified: false,
        }
    }

    /// Labels are fixed, queries within a label are drawn, or groups of them: a jackknife within each label. A label whose queries are all
    /// of one unit has the variance of the others.
    fn stratified(&self, values: &[f64], strata: &[Stratum], shares: &[f64]) -> Option<Weighted> {
        let freedom: f64 = strata.iter().map(|s| s.count - 1.0).sum();
        if freedom <= 0.0 {
            return None;
        }
        let pooled = strata.iter().map(|s| s.squares).sum::<f64>() / freedom;
        let mut of_label = vec![None; self.set.relevance.names.len()];
        for (stratum, share) in strata.iter().zip(shares) {
            of_label[stratum.code] = Some((stratum, share));
        }
        let [units, _] = &self.ranked.units.codes;
        let mut of_unit: BTreeMap<(usize, u32), f64> = BTreeMap::new();
        for &q in &self.set.counted {
            *of_unit.entry((self.set.code(q), units[q])).or_default() += 1.0;
        }
        let (mut weights, mut effects) = (Vec::new(), Vec::new());
        for (&q, value) in self.set.counted.iter().zip(values) {
            let (stratum, share) = of_label[self.set.code(q)]?;
            let weight = share / stratum.count;
            weights.push(weight);
            let (n, own) = (stratum.count, of_unit[&(self.set.code(q), units[q])]);
            effects.push(if own == n {
                weight * pooled.sqrt()
            } else {
                weight * (value - stratum.mean) * (n / (n - own)).sqrt()
            });
        }
        let is_stratified = true;
        Some(Weighted {
            weights,
            effects,
            is_stratified,
        })
    }

    /// The labels that have queries, in the order of their codes.
    fn strata(&self, values: &[f64]) -> Vec<Stratum> {
        let classes = self.set.relevance.names.len();
        let (mut counts, mut sums, mut squares) = (vec![0.0; classes], vec![0.0; classes], vec![0.0; classes]);
        let of_query = || self.set.counted.iter().map(|&q| self.set.code(q)).zip(values);
        for (code, value) in of_query() {
            counts[code] += 1.0;
            sums[code] += value;
        }
        for (code, value) in of_query() {
            squares[code] += (value - sums[code] / counts[code]).powi(2);
        }
        let strata = (0..classes).filter(|&c| counts[c] > 0.0).map(|code| Stratum {
            code,
            count: counts[code],
            mean: sums[code] / counts[code],
            squares: squares[code],
        });
        strata.collect()
    }

    /// The interval of a weighted mean; `of_label` is what a target of a label does to it beside its pairs.
    fn interval(
        &self,
        value: f64,
        weighted: &Weighted,
        (pulls, kind): (&Pulls, Values),
        of_label: impl Fn(usize) -> f64,
    ) -> Option<Interval> {
        let targets = &self.set.relevance.targets;
        let pulled = || {
            let mut pulled = self.pulled(&weighted.weights, pulls, kind);
            for (sum, &code) in pulled.sums.iter_mut().zip(targets) {
                *sum += of_label(code as usize);
            }
            pulled
        };
        let of_queries = (&weighted.effects[..], weighted.is_stratified);
        self.ranked.over_units(value, &self.set.counted, of_queries, pulled)
    }

    /// What each target does to a mean with these weights.
    fn pulled(&self, weights: &[f64], pulls: &Pulls, kind: Values) -> Pulled {
        let (set, used) = (self.set, self.used());
        let is_by_units = kind == Values::Shares && self.ranked.units.are_groups();
        let mut pulled = Pulled {
            sums: vec![0.0; self.ranked.targets],
            squares: 0.0,
        };
        // What a relevant target does where it is not among those followed one by one.
        let mut behind = vec![0.0; set.counted.len()];
        let mut own_hits = vec![0usize; set.counted.len()];
        let mut hits = vec![0usize; set.counted.len()];
        if let Pulls::Whole(which) = pulls {
            let which = *which as usize;
            let weight = weights.first().copied().unwrap_or(0.0);
            let sums = pulled.sums.iter_mut().zip(&set.pulls);
            sums.for_each(|(sum, pull)| *sum = weight * pull[which]);
            for (i, &q) in set.counted.iter().enumerate() {
                let standing = &set.standings[q];
                (behind[i], hits[i]) = (weight * standing.pull.behind[which], standing.hits as usize);
                own_hits[i] = standing.pull.own_hits as usize;
                pulled.squares += weight * weight * standing.pull.squares[which];
            }
        } else {
            let [of_queries, of_targets] = &self.ranked.units.codes;
            let mut pairs = UnitPairs::new(self.ranked.units.count);
            let units_of_labels = if is_by_units {
                self.units_of_labels()
            } else {
                Vec::new()
            };
            // Queries of one unit one after the other.
            let mut order: Vec<usize> = (0..set.counted.len()).collect();
            order.sort_by_key(|&i| of_queries[set.counted[i]]);
            for queries in order.chunk_by(|&a, &b| of_queries[set.counted[a]] == of_queries[set.counted[b]]) {
                for &i in queries {
                    let (q, weight) = (set.counted[i], weights[i]);
                    behind[i] = weight
                        * match pulls {
                            Pulls::Kinds(kinds) => kinds[i][2],
                            Pulls::Places(_, behind) => behind[i],
                            Pulls::Whole(_) => 0.0,
                        };
                    let list = &self.ranked.rankings.of(q)[..used];
                    for (place, &j) in list.iter().enumerate() {
                        let is_hit = self.is_relevant(q, j);
                        let pull = weight
                            * match pulls {
                                Pulls::Kinds(kinds) => kinds[i][usize::from(!is_hit)],
                                Pulls::Places(places, _) => places[i * used + place],
                                Pulls::Whole(_) => 0.0,
                            };
                        let unit = of_targets[j as usize];
                        let is_own = of_queries[q] == unit;
                        (hits[i], own_hits[i]) = (
                            hits[i] + usize::from(is_hit),
                            own_hits[i] + usize::from(is_hit && is_own),
                        );
                        if !is_own {
                            let extra = if is_hit { behind[i] } else { 0.0 };
                            pulled.sums[j as usize] += pull - extra;
                            if is_by_units {
                                pairs.add(unit, pull - extra);
                            } else {
                                pulled.squares += pull * pull;
                            }
                        }
                    }
                }
                if is_by_units {
                    self.add_pairs_behind(&mut pairs, queries, &behind, &units_of_labels);
                    pairs.finish();
                }
            }
            if is_by_units {
                self.add_behind(&mut pulled, &behind, None);
                pulled.squares = pairs.by_chance(&pulled.sums, of_targets);
                return pulled;
            }
        }
        self.add_behind(&mut pulled, &behind, Some((&hits, &own_hits)));
        pulled
    }

    /// The units of the targets of each label, and how many it has in each.
    fn units_of_labels(&self) -> Vec<BTreeMap<u32, f64>> {
        let mut units = vec![BTreeMap::new(); self.set.relevance.names.len()];
        for (&code, &unit) in self.set.relevance.targets.iter().zip(&self.ranked.units.codes[1]) {
            *units[code as usize].entry(unit).or_default() += 1.0;
        }
        units
    }

    /// Adds what relevant targets do to the queries of one unit, as `add_behind` does for each target.
    fn add_pairs_behind(
        &self,
        pairs: &mut UnitPairs,
        queries: &[usize],
        behind: &[f64],
        units_of_labels: &[BTreeMap<u32, f64>],
    ) {
        let (set, [of_queries, _]) = (self.set, &self.ranked.units.codes);
        let mut of_label: BTreeMap<usize, f64> = BTreeMap::new();
        for &i in queries.iter().filter(|&&i| behind[i] != 0.0) {
            *of_label.entry(set.code(set.counted[i])).or_default() += behind[i];
        }
        let own = of_queries[set.counted[queries[0]]];
        for (code, sum) in of_label {
            let others = units_of_labels[code].iter().filter(|(unit, _)| **unit != own);
            others.for_each(|(&unit, count)| pairs.add(unit, count * sum));
        }
    }

    /// Adds what relevant targets do that are not among the first: those of the same label as the query and of another unit. Those among
    /// the first have so much less already. `listed` are the relevant targets among the first, and those of the own unit, by query; none
    /// where the squares hold these pairs already.
    fn add_behind(&self, pulled: &mut Pulled, behind: &[f64], listed: Option<(&[usize], &[usize])>) {
        if behind.iter().all(|b| *b == 0.0) {
            return;
        }
        let (set, ranked) = (self.set, self.ranked);
        let [of_queries, of_targets] = &ranked.units.codes;
        // By label and unit: the sum over queries, and the number of targets.
        let mut of_label = vec![0.0; set.relevance.names.len()];
        let mut of_own: BTreeMap<(u32, u32), (f64, usize)> = BTreeMap::new();
        for (&q, behind) in set.counted.iter().zip(behind) {
            of_label[set.code(q)] += behind;
            let own = of_own.entry((set.relevance.queries[q], of_queries[q])).or_default();
            own.0 += behind;
        }
        for (&code, &unit) in set.relevance.targets.iter().zip(of_targets) {
            if let Some(own) = of_own.get_mut(&(code, unit)) {
                own.1 += 1;
            }
        }
        let own = |code: u32, unit: u32| of_own.get(&(code, unit)).copied().unwrap_or_default();
        for ((sum, &code), &unit) in pulled.sums.iter_mut().zip(&set.relevance.targets).zip(of_targets) {
            *sum += of_label[code as usize] - own(code, unit).0;
        }
        let Some((hits, own_hits)) = listed else {
            return;
        };
        for (i, &q) in set.counted.iter().enumerate() {
            let itself = usize::from(ranked.is_self);
            let of_unit = own(set.relevance.queries[q], of_queries[q]).1 - itself;
            let others = set.relevant(q).saturating_sub(of_unit);
            let listed = hits[i] - own_hits[i];
            pulled.squares += others.saturating_sub(listed) as f64 * behind[i] * behind[i];
        }
    }
}

impl Ranked<'_> {
    /// What intervals are over.
    fn interval_unit(&self) -> &'static str {
        match self.spec.search_interval {
            SearchInterval::Population => self.units.name,
            SearchInterval::Gallery => self.units.of_queries,
        }
    }

    /// The interval of the share of queries that find their partner among the first `used`, with what each kind of target does.
    pub(super) fn of_partners(&self, used: usize, found: &[bool], kinds: Vec<[f64; 3]>) -> Option<Interval> {
        let n = found.len() as f64;
        let number = |is_found: &bool| f64::from(u8::from(*is_found));
        let values: Vec<f64> = found.iter().map(number).collect();
        let value = mean(&values);
        let counted: Vec<usize> = (0..found.len()).collect();
        let effects: Vec<f64> = values.iter().map(|v| (v - value) / n).collect();
        let [of_queries, of_targets] = &self.units.codes;
        let pulled = || {
            let mut pulled = Pulled {
                sums: vec![0.0; self.targets],
                squares: 0.0,
            };
            let mut pairs = UnitPairs::new(self.units.count);
            let mut order = counted.clone();
            order.sort_by_key(|&q| of_queries[q]);
            for queries in order.chunk_by(|&a, &b| of_queries[a] == of_queries[b]) {
                for &q in queries.iter().filter(|&&q| kinds[q][1] != 0.0) {
                    let list = &self.rankings.of(q)[..used];
                    for &j in list.iter().filter(|j| of_targets[**j as usize] != of_queries[q]) {
                        pulled.sums[j as usize] += kinds[q][1] / n;
                        pairs.add(of_targets[j as usize], kinds[q][1] / n);
                    }
                }
                pairs.finish();
            }
            pulled.squares = if self.units.are_groups() {
                pairs.by_chance(&pulled.sums, of_targets)
            } else {
                pairs.squares
            };
            pulled
        };
        let interval = self.over_units(value, &counted, (&effects, false), pulled)?;
        interval::of_share_with(value, interval, found.len())
    }

    /// Student's t interval over units, from what each query that counts (and whether that is within labels) and each target does to
    /// the value.
    fn over_units(
        &self,
        value: f64,
        counted: &[usize],
        (of_queries, is_stratified): (&[f64], bool),
        pulled: impl FnOnce() -> Pulled,
    ) -> Option<Interval> {
        let [codes_of_queries, codes_of_targets] = &self.units.codes;
        let mut effects = vec![0.0; self.units.count];
        let mut has_query = vec![false; self.units.count];
        for (&q, effect) in counted.iter().zip(of_queries) {
            effects[codes_of_queries[q] as usize] += effect;
            has_query[codes_of_queries[q] as usize] = true;
        }
        let asking = has_query.iter().filter(|has| **has).count() as f64;
        if asking < 2.0 {
            return None;
        }
        let weight = if is_stratified {
            1.0
        } else {
            (asking / (asking - 1.0)).sqrt()
        };
        effects.iter_mut().for_each(|effect| *effect *= weight);
        let squares = |effects: &[f64]| effects.iter().map(|e| e * e).sum::<f64>();
        let (unit, level) = (self.interval_unit(), self.spec.level);
        let fixed = squares(&effects);
        if self.spec.search_interval == SearchInterval::Gallery {
            let asked = effects.into_iter().zip(has_query).filter(|(_, has)| *has);
            let method = if is_stratified {
                "stratified Student t"
            } else {
                "Student t"
            };
            return interval::from_effects(value, asked.map(|(effect, _)| effect).collect(), unit, method, level);
        }
        let pulled = pulled();
        let center = pulled.sums.iter().sum::<f64>() / pulled.sums.len() as f64;
        for (sum, &unit) in pulled.sums.iter().zip(codes_of_targets) {
            effects[unit as usize] += sum - center;
        }
        // Other targets never make the error smaller than that over queries alone.
        let all = squares(&effects);
        let squared = (all - pulled.squares).max(fixed);
        let scale = if all > 0.0 { (squared / all).sqrt() } else { 0.0 };
        effects.iter_mut().for_each(|effect| *effect *= scale);
        interval::from_effects(value, effects, unit, "query and target jackknife", level)
    }
}

/// The mean, with the rounding errors of the sum carried along (Neumaier 1974), so that it is the nearest number.
fn mean(values: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for &value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        sum = next;
    }
    (sum + lost) / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pairs_of_units_do_by_chance_has_no_main_effects() {
        // Two units of queries (lines) and three of targets: 1 2 6 and 3 4 2. Means of lines 3, of columns 2 3 4, of all 3, so
        // −1 −1 2 and 1 1 −2 are left: 12. Target 1 has two rows.
        let units = [0, 1, 1, 2];
        let lines = [[1.0, 0.5, 1.5, 6.0], [3.0, 3.0, 1.0, 2.0]];
        let (mut pairs, mut sums) = (UnitPairs::new(3), vec![0.0; 4]);
        for line in lines {
            for (target, pull) in line.into_iter().enumerate() {
                pairs.add(units[target], pull);
                sums[target] += pull;
            }
            pairs.finish();
        }
        // 1 + 4 + 36 + 9 + 16 + 4.
        assert_eq!(pairs.squares, 70.0);
        assert!((pairs.by_chance(&sums, &units) - 12.0).abs() < 1e-12);
    }
}
