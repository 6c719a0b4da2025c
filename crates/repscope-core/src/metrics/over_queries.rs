// SPDX-License-Identifier: MIT
//! Averages of a value per query: plain, over labels, and over labels weighted by their targets. Shared by the scores
//! of a retrieval.

use crate::retrieve::{Ranked, RankedSet};
use crate::score::{Interval, Score};
use crate::stats::interval::{self, Units};

/// The queries of one direction that count under one set of labels.
pub(super) struct OverQueries<'a> {
    pub(super) ranked: &'a Ranked<'a>,
    pub(super) set: &'a RankedSet,
}

/// The values of the queries of one label.
struct Stratum {
    code: usize,
    count: f64,
    mean: f64,
    /// Σ (value − mean)².
    squares: f64,
}

impl OverQueries<'_> {
    /// The mean over queries. `chance` gives the value expected of a random ranking for a number of relevant targets.
    pub(super) fn mean(&self, id: String, values: &[f64], chance: impl Fn(usize) -> f64) -> Score {
        let Some(score) = self.start(&id, values, mean(values)) else {
            return self.nobody(id);
        };
        // The chance level is a matter of the label alone: found once for each.
        let relevance = &self.set.relevance;
        let asked = (0..relevance.names.len()).filter(|&c| relevance.query_counts[c] > 0 && relevance.relevant(c) > 0);
        let expected = asked.map(|c| relevance.query_counts[c] as f64 * chance(relevance.relevant(c)));
        score
            .with_interval(self.of_mean(values))
            .with_chance(expected.sum::<f64>() / values.len() as f64)
    }

    /// The mean over labels of the mean of their queries.
    pub(super) fn macro_mean(&self, id: String, values: &[f64], chance: impl Fn(usize) -> f64) -> Score {
        self.over_labels(id, values, |_| 1.0, chance)
    }

    /// The mean over labels, weighted by the number of their targets.
    pub(super) fn weighted_mean(&self, id: String, values: &[f64], chance: impl Fn(usize) -> f64) -> Score {
        self.over_labels(id, values, |code| self.set.relevance.counts[code] as f64, chance)
    }

    fn over_labels(
        &self,
        id: String,
        values: &[f64],
        weight: impl Fn(usize) -> f64,
        chance: impl Fn(usize) -> f64,
    ) -> Score {
        let strata = self.strata(values);
        let total: f64 = strata.iter().map(|s| weight(s.code)).sum();
        let over = |of: &dyn Fn(&Stratum) -> f64| strata.iter().map(|s| weight(s.code) * of(s)).sum::<f64>() / total;
        let value = over(&|s| s.mean);
        let Some(score) = self.start(&id, values, value) else {
            return self.nobody(id);
        };
        let is_even = strata
            .iter()
            .all(|s| s.count == 1.0 && weight(s.code) == weight(strata[0].code));
        let interval = if is_even {
            self.of_mean(values)
        } else {
            let shares: Vec<f64> = strata.iter().map(|s| weight(s.code) / total).collect();
            self.stratified(value, &strata, &shares)
        };
        score
            .with_interval(interval)
            .with_chance(over(&|s| chance(self.set.relevance.relevant(s.code))))
    }

    fn start(&self, id: &str, values: &[f64], value: f64) -> Option<Score> {
        let score = Score::number(id, value, values.len());
        (!values.is_empty()).then_some(score)
    }

    fn nobody(&self, id: String) -> Score {
        let why = if self.ranked.is_self {
            "every label has a single row, so no query has anything relevant to find"
        } else {
            "no label of the queries is a label of the targets"
        };
        Score::undefined(id, why, 0)
    }

    fn of_mean(&self, values: &[f64]) -> Option<Interval> {
        let interval = interval::of_mean(values, Units::Single("queries"), self.ranked.spec.level);
        interval.map(|i| i.within(0.0, 1.0))
    }

    /// Labels are fixed, queries within a label are drawn. A label with one query has the variance of the others.
    fn stratified(&self, value: f64, strata: &[Stratum], shares: &[f64]) -> Option<Interval> {
        let freedom: f64 = strata.iter().map(|s| s.count - 1.0).sum();
        if freedom <= 0.0 {
            return None;
        }
        let pooled = strata.iter().map(|s| s.squares).sum::<f64>() / freedom;
        let variance_of_mean = |s: &Stratum| match s.count {
            1.0 => pooled,
            n => s.squares / (n - 1.0) / n,
        };
        let variance: f64 = strata
            .iter()
            .zip(shares)
            .map(|(s, share)| share * share * variance_of_mean(s))
            .sum();
        let level = self.ranked.spec.level;
        let interval = interval::from_standard_error(
            value,
            variance.sqrt(),
            freedom,
            "queries",
            "stratified Student t",
            level,
        );
        interval.map(|i| i.within(0.0, 1.0))
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
}

/// The mean, with the rounding errors of the sum carried along (Neumaier 1974): the mean of hits over K is the nearest
/// number to the true one.
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

/// Says which K was really used.
pub(super) fn with_effective_k(mut score: Score, ranked: &Ranked, k: usize) -> Score {
    if k > ranked.findable {
        score.effective_k = Some(ranked.findable);
    }
    score
}

/// The same for every K and set of labels: `scores` gets the place of K, the K asked for and the K used.
pub(super) fn at_every_k(
    ranked: &Ranked,
    scores: impl Fn(&OverQueries, usize, usize, usize) -> Vec<Score>,
) -> Vec<Score> {
    let mut all = Vec::new();
    for set in &ranked.sets {
        for (place, &k) in ranked.spec.retrieval_k.iter().enumerate() {
            let queries = OverQueries { ranked, set };
            let scores = scores(&queries, place, k, ranked.effective(k));
            all.extend(scores.into_iter().map(|s| with_effective_k(s, ranked, k)));
        }
    }
    all
}
