// SPDX-License-Identifier: MIT
//! The scores of a retrieval that need no table: by K, by the whole ranking, and of the two spaces. See their pages.

use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::kernels::rankings::Standing;
use crate::retrieve::{Ranked, RankedSet};
use crate::score::{Interval, Score};
use crate::stats::interval::{self, Units};

/// What the metrics of a retrieval share.
pub(super) const RANKING: Metric = Metric {
    invariances: Invariance::OF_ANGLES,
    options: &["k-values", "no-normalize"],
    ..Metric::of(
        Analysis::Retrieval,
        &[Takes::Queries, Takes::Targets, Takes::Labels],
        Work::Ranking(Part::First, |_| Results::default()),
    )
};

pub(super) static LABEL_RECALL: Metric = Metric {
    id: "label_recall",
    title: "Label recall at K",
    outputs: &[
        Output::higher("label_recall.DIRECTION@K", "0 to 1")
            .about("share of the targets with the query's label that are among the first K"),
        Output::higher("label_recall.DIRECTION.macro@K", "0 to 1").about("the same, averaged over labels"),
    ],
    page: include_str!("label_recall.md"),
    work: Work::Ranking(Part::First, label_recall),
    ..RANKING
};

fn label_recall(ranked: &Ranked) -> Results {
    at_every_k(ranked, |queries, hits, _| {
        let recall = queries.values(hits, |&hits, relevant| f64::from(hits) / relevant as f64);
        let chance = |_| queries.used() as f64 / ranked.findable as f64;
        vec![
            queries.mean(&LABEL_RECALL.outputs[0], &recall, chance),
            queries.over_labels(&LABEL_RECALL.outputs[1], &recall, |_| 1.0, chance),
        ]
    })
}

pub(super) static LABEL_HIT: Metric = Metric {
    id: "label_hit",
    title: "Label hit rate at K",
    outputs: &[Output::higher("label_hit.DIRECTION@K", "0 to 1")
        .about("share of queries with at least one target of their label among the first K")],
    page: include_str!("label_hit.md"),
    work: Work::Ranking(Part::First, label_hit),
    ..RANKING
};

fn label_hit(ranked: &Ranked) -> Results {
    at_every_k(ranked, |queries, hits, _| {
        let hit = queries.values(hits, |&hits, _| f64::from(u8::from(hits > 0)));
        let chance = |relevant| 1.0 - miss(ranked.findable, relevant, queries.used());
        let score = queries.mean(&LABEL_HIT.outputs[0], &hit, chance);
        let interval = interval::of_share(score.value.unwrap_or(0.0), hit.len(), "queries", ranked.spec.level);
        vec![score.with_interval(interval)]
    })
}

/// The probability that `k` targets drawn from `all` miss all `relevant` ones: Π (all − relevant − i) / (all − i).
fn miss(all: usize, relevant: usize, k: usize) -> f64 {
    let factor = |i: usize| (all - relevant).saturating_sub(i) as f64 / (all - i) as f64;
    (0..k).map(factor).product()
}

pub(super) static LABEL_NDCG: Metric = Metric {
    id: "label_ndcg",
    title: "Label nDCG at K",
    outputs: &[Output::higher("label_ndcg.DIRECTION@K", "0 to 1")
        .about("hits among the first K, discounted by rank, against the best order")],
    page: include_str!("label_ndcg.md"),
    work: Work::Ranking(Part::First, label_ndcg),
    ..RANKING
};

fn label_ndcg(ranked: &Ranked) -> Results {
    at_every_k(ranked, |queries, _, gains| {
        let used = queries.used();
        let ndcg = queries.values(gains, |gain, relevant| gain / ideal_gain(relevant, used));
        let all = ideal_gain(used, used);
        let chance = |relevant| relevant as f64 / ranked.findable as f64 * all / ideal_gain(relevant, used);
        vec![queries.mean(&LABEL_NDCG.outputs[0], &ndcg, chance)]
    })
}

/// The discounted gain of the best order: Σ 1 / log₂(i + 1) over the first min(relevant, k) ranks.
pub(super) fn ideal_gain(relevant: usize, k: usize) -> f64 {
    (0..relevant.min(k)).map(|i| 1.0 / ((i + 2) as f64).log2()).sum()
}

pub(super) static R_PRECISION: Metric = Metric {
    id: "r_precision",
    title: "R-precision",
    outputs: &[Output::higher("r_precision.DIRECTION", "0 to 1")
        .about("share of the first R targets that have the query's label, R of which there are")],
    page: include_str!("r_precision.md"),
    options: &["no-normalize"],
    work: Work::Ranking(Part::Whole, |ranked| {
        let value = |standing: &Standing, relevant| f64::from(standing.hits) / relevant as f64;
        of_standings(ranked, &R_PRECISION, value, |n, relevant| relevant as f64 / n as f64)
    }),
    ..RANKING
};

pub(super) static MAP_AT_R: Metric = Metric {
    id: "map_at_r",
    title: "MAP@R",
    outputs: &[
        Output::higher("map_at_r.DIRECTION", "0 to 1").about("precision at each hit among the first R targets, over R")
    ],
    page: include_str!("map_at_r.md"),
    options: &["no-normalize"],
    work: Work::Ranking(Part::Whole, |ranked| {
        of_standings(
            ranked,
            &MAP_AT_R,
            |standing, _| standing.average_precision,
            precision_by_chance,
        )
    }),
    ..RANKING
};

/// Rank i is relevant with probability R / N, and then (i − 1)(R − 1) / (N − 1) more are expected before it.
fn precision_by_chance(all: usize, relevant: usize) -> f64 {
    let (n, r) = (all as f64, relevant as f64);
    let others = if all > 1 { (r - 1.0) / (n - 1.0) } else { 0.0 };
    let precision = |i: usize| (1.0 + (i - 1) as f64 * others) / i as f64;
    (1..=relevant).map(precision).sum::<f64>() / n
}

pub(super) static MRR: Metric = Metric {
    id: "mrr",
    title: "Mean reciprocal rank",
    outputs: &[Output::higher("mrr.DIRECTION", "0 to 1").about("1 / rank of the first target with the query's label")],
    page: include_str!("mrr.md"),
    options: &["no-normalize"],
    work: Work::Ranking(Part::Whole, |ranked| {
        of_standings(
            ranked,
            &MRR,
            |standing, _| 1.0 / f64::from(standing.first),
            reciprocal_by_chance,
        )
    }),
    ..RANKING
};

/// Σ over ranks r of 1/r · P(the first relevant stands at r), P found step by step.
fn reciprocal_by_chance(all: usize, relevant: usize) -> f64 {
    let mut sum = 0.0;
    // The probability that no rank before r is relevant.
    let mut none_before = 1.0;
    for r in 1..=all - relevant + 1 {
        let left = (all - r + 1) as f64;
        sum += none_before * relevant as f64 / left / r as f64;
        none_before *= (left - relevant as f64) / left;
    }
    sum
}

pub(super) static PAIR_RECALL: Metric = Metric {
    id: "pair_recall",
    title: "Pair recall at K",
    outputs: &[Output::higher("pair_recall.DIRECTION@K", "0 to 1")
        .about("share of queries whose own partner is among the first K")],
    page: include_str!("pair_recall.md"),
    takes: &[Takes::Queries, Takes::Targets],
    work: Work::Ranking(Part::First, pair_recall),
    ..RANKING
};

fn pair_recall(ranked: &Ranked) -> Results {
    let at = |&k: &usize| {
        let used = ranked.effective(k);
        let finds = |q: usize| ranked.rankings.of(q)[..used].contains(&(q as u32));
        let found: Vec<f64> = (0..ranked.queries).map(|q| f64::from(u8::from(finds(q)))).collect();
        let value = interval::mean(&found);
        let interval = interval::of_share(value, ranked.queries, "queries", ranked.spec.level);
        let score = Score::number(ranked.id(PAIR_RECALL.outputs[0].id, Some(k)), value, ranked.queries);
        let chance = used as f64 / ranked.findable as f64;
        with_effective_k(score.with_interval(interval).with_chance(chance), ranked, k)
    };
    let k_values = ranked.spec.retrieval_k.iter();
    k_values.filter(|_| ranked.is_paired).map(at).collect()
}

pub(super) static HUBNESS: Metric = Metric {
    id: "hubness",
    title: "Hubness",
    outputs: &[
        Output::lower("hubness.DIRECTION@K", "any number")
            .about("skewness of how often each target is among the first K of a query"),
        Output::lower("hubness.DIRECTION.never@K", "0 to 1")
            .about("share of targets that are among the first K of no query"),
    ],
    page: include_str!("hubness.md"),
    takes: &[Takes::Queries, Takes::Targets],
    work: Work::Ranking(Part::First, hubness),
    ..RANKING
};

fn hubness(ranked: &Ranked) -> Results {
    let at = |&k: &usize| {
        let mut counts = vec![0u32; ranked.targets];
        for q in 0..ranked.queries {
            for &j in &ranked.rankings.of(q)[..ranked.effective(k)] {
                counts[j as usize] += 1;
            }
        }
        let never = counts.iter().filter(|&&c| c == 0).count() as f64 / ranked.targets as f64;
        let [id, of_never] = [0, 1].map(|i: usize| ranked.id(HUBNESS.outputs[i].id, Some(k)));
        let skewed = match skewness(&counts) {
            Some(value) => Score::number(id, value, ranked.targets),
            None => Score::undefined(id, "every target is found equally often", ranked.targets),
        };
        [skewed, Score::number(of_never, never, ranked.targets)].map(|score| with_effective_k(score, ranked, k))
    };
    ranked.spec.retrieval_k.iter().flat_map(at).collect()
}

/// Third central moment over the cube of the standard deviation, both of the population; none without spread.
fn skewness(counts: &[u32]) -> Option<f64> {
    let n = counts.len() as f64;
    let mean = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / n;
    let moment = |power: i32| counts.iter().map(|&c| (f64::from(c) - mean).powi(power)).sum::<f64>() / n;
    let is_even = counts.iter().all(|&c| c == counts[0]);
    (!is_even).then(|| moment(3) / moment(2).powf(1.5))
}

pub(super) static MODALITY_GAP: Metric = Metric {
    id: "modality_gap",
    title: "Modality gap",
    outputs: &[Output::neither("modality_gap.DIRECTION", "0 to 2")
        .about("distance between the mean unit vectors of queries and targets")],
    page: include_str!("modality_gap.md"),
    takes: &[Takes::Queries, Takes::Targets],
    options: &[],
    work: Work::Ranking(Part::First, |ranked| {
        let id = ranked.id(MODALITY_GAP.outputs[0].id, None);
        let score = Score::number(id, ranked.gap, ranked.queries + ranked.targets);
        Some(score).into_iter().filter(|_| !ranked.is_self).collect()
    }),
    ..RANKING
};

/// The queries of one direction that count under one set of labels, and how many targets they look at.
pub(super) struct OverQueries<'a> {
    pub(super) ranked: &'a Ranked<'a>,
    pub(super) set: &'a RankedSet,
    k: Option<usize>,
}

/// The values of the queries of one label.
struct Stratum {
    code: usize,
    count: f64,
    mean: f64,
    /// Σ (value − mean)².
    squares: f64,
}

/// Scores for every K and set of labels, from the hits and the gains of each query that counts.
pub(super) fn at_every_k(ranked: &Ranked, scores: impl Fn(&OverQueries, &[u32], &[f64]) -> Vec<Score>) -> Results {
    let mut all = Vec::new();
    for set in &ranked.sets {
        for (place, &k) in ranked.spec.retrieval_k.iter().enumerate() {
            let queries = OverQueries {
                ranked,
                set,
                k: Some(k),
            };
            let scores = scores(&queries, &set.hits[place], &set.gains[place]);
            all.extend(scores.into_iter().map(|s| with_effective_k(s, ranked, k)));
        }
    }
    Results::from(all)
}

/// The mean over queries of something that follows from the standing of their relevant targets, and their number. `chance`
/// is the mean over all orders of so many targets, of which so many are relevant.
fn of_standings(
    ranked: &Ranked,
    metric: &Metric,
    value: impl Fn(&Standing, usize) -> f64,
    chance: impl Fn(usize, usize) -> f64,
) -> Results {
    let score = |set| {
        let queries = OverQueries { ranked, set, k: None };
        let of_query = |&q: &usize| value(&set.standings[q], set.relevant(q));
        let values: Vec<f64> = set.counted.iter().map(of_query).collect();
        queries.mean(&metric.outputs[0], &values, |relevant| {
            chance(ranked.findable, relevant)
        })
    };
    ranked.sets.iter().map(score).collect()
}

/// Reports which K was really used.
fn with_effective_k(mut score: Score, ranked: &Ranked, k: usize) -> Score {
    if k > ranked.findable {
        score.effective_k = Some(ranked.findable);
    }
    score
}

impl OverQueries<'_> {
    /// The identity of a score of these queries.
    pub(super) fn id(&self, pattern: &str) -> String {
        self.set.id(self.ranked, pattern, self.k)
    }

    /// The K that is used.
    pub(super) fn used(&self) -> usize {
        self.ranked.effective(self.k.unwrap_or(0))
    }

    /// A value for each query, from what it found and the number of its relevant targets.
    pub(super) fn values<T>(&self, found: &[T], value: impl Fn(&T, usize) -> f64) -> Vec<f64> {
        let each = self.set.counted.iter().zip(found);
        each.map(|(&q, found)| value(found, self.set.relevant(q))).collect()
    }

    /// The mean over queries. `chance` gives the value expected of a random ranking for a number of relevant targets.
    pub(super) fn mean(&self, output: &Output, values: &[f64], chance: impl Fn(usize) -> f64) -> Score {
        if values.is_empty() {
            return self.nobody(output);
        }
        // The chance level is a matter of the label alone: found once for each.
        let relevance = &self.set.relevance;
        let asked = (0..relevance.names.len()).filter(|&c| relevance.query_counts[c] > 0 && relevance.relevant(c) > 0);
        let expected = asked.map(|c| relevance.query_counts[c] as f64 * chance(relevance.relevant(c)));
        Score::number(self.id(output.id), mean(values), values.len())
            .with_interval(self.of_mean(values))
            .with_chance(expected.sum::<f64>() / values.len() as f64)
    }

    /// The mean over labels of the mean of their queries; labels count by their weight.
    pub(super) fn over_labels(
        &self,
        output: &Output,
        values: &[f64],
        weight: impl Fn(usize) -> f64,
        chance: impl Fn(usize) -> f64,
    ) -> Score {
        if values.is_empty() {
            return self.nobody(output);
        }
        let strata = self.strata(values);
        let total: f64 = strata.iter().map(|s| weight(s.code)).sum();
        let over = |of: &dyn Fn(&Stratum) -> f64| strata.iter().map(|s| weight(s.code) * of(s)).sum::<f64>() / total;
        let value = over(&|s| s.mean);
        let first = weight(strata[0].code);
        let is_even = strata.iter().all(|s| s.count == 1.0 && weight(s.code) == first);
        let interval = if is_even {
            self.of_mean(values)
        } else {
            let shares: Vec<f64> = strata.iter().map(|s| weight(s.code) / total).collect();
            self.stratified(value, &strata, &shares)
        };
        Score::number(self.id(output.id), value, values.len())
            .with_interval(interval)
            .with_chance(over(&|s| chance(self.set.relevance.relevant(s.code))))
    }

    fn nobody(&self, output: &Output) -> Score {
        let why = if self.ranked.is_self {
            "every label has a single row, so no query has anything relevant to find"
        } else {
            "no label of the queries is a label of the targets"
        };
        Score::undefined(self.id(output.id), why, 0)
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
        let parts = strata.iter().zip(shares);
        let variance: f64 = parts.map(|(s, share)| share * share * variance_of_mean(s)).sum();
        let (error, level, method) = (variance.sqrt(), self.ranked.spec.level, "stratified Student t");
        let interval = interval::from_standard_error(value, error, freedom, "queries", method, level);
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
    fn a_hit_by_chance_is_one_minus_the_share_of_draws_without_a_relevant_target() {
        // 2 of 5, 2 relevant: 3 of the 10 pairs hold none.
        assert!((miss(5, 2, 2) - 0.3).abs() < 1e-15);
        assert_eq!(miss(5, 4, 2), 0.0);
    }

    #[test]
    fn precision_by_chance_is_the_mean_over_all_orders() {
        // 2 relevant of 3: orders 110, 101, 011 give (1 + 1)/2, 1/2 and (1/2)/2 over the first two ranks.
        assert!((precision_by_chance(3, 2) - (1.0 + 0.5 + 0.25) / 3.0).abs() < 1e-15);
        assert_eq!(precision_by_chance(1, 1), 1.0);
    }

    #[test]
    fn a_reciprocal_rank_by_chance_is_the_mean_over_all_orders() {
        // 1 relevant of 3: ranks 1, 2, 3. 2 relevant of 3: ranks 1, 1, 2.
        assert!((reciprocal_by_chance(3, 1) - (1.0 + 0.5 + 1.0 / 3.0) / 3.0).abs() < 1e-15);
        assert!((reciprocal_by_chance(3, 2) - 2.5 / 3.0).abs() < 1e-15);
        assert_eq!(reciprocal_by_chance(4, 4), 1.0);
    }
}
