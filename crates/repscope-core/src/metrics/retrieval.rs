// SPDX-License-Identifier: MIT
//! The scores of a retrieval that need no table: by K, by the whole ranking, and of the two spaces. See their pages.

use super::over_queries::{Found, OverQueries, Pulls, Whole};
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::kernels::rankings::Standing;
use crate::retrieve::Ranked;
use crate::score::Score;

/// What the metrics of a retrieval share.
pub(super) const RANKING: Metric = Metric {
    invariances: Invariance::OF_ANGLES,
    options: &["k-values", "no-normalize", "interval"],
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
        let recall = queries.of_hits(hits, |hits, relevant| hits / relevant);
        let chance = |_| queries.used() as f64 / ranked.findable as f64;
        vec![
            queries.mean(&LABEL_RECALL.outputs[0], &recall, chance),
            queries.over_labels(&LABEL_RECALL.outputs[1], &recall, |_| 1.0, 0.0, chance),
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
    let share = |queries: &OverQueries, hits: &[u32]| {
        let hit = queries.of_hits(hits, |hits, _| f64::from(u8::from(hits > 0.0)));
        let chance = |relevant| 1.0 - miss(ranked.findable, relevant, queries.used());
        queries.share(&LABEL_HIT.outputs[0], &hit, chance)
    };
    let mut found = at_every_k(ranked, |queries, hits, _| vec![share(queries, hits)]);
    // The accuracy of the nearest neighbor as a classifier is always there, to be read beside the others.
    if !ranked.spec.retrieval_k.contains(&1) {
        let of_first = |set| {
            let queries = OverQueries::new(ranked, set, Some(1));
            share(&queries, &queries.first_hits())
        };
        found.scores.extend(ranked.sets.iter().map(of_first));
    }
    found
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
        let ndcg = queries.of_gains(gains);
        let all = ideal_gain(used, used);
        let chance = |relevant| relevant as f64 / ranked.findable as f64 * all / ideal_gain(relevant, used);
        vec![queries.mean(&LABEL_NDCG.outputs[0], &ndcg, chance)]
    })
}

/// The discounted gain of the best order: Σ 1 / log₂(i + 1) over the first min(relevant, k) ranks.
pub(super) fn ideal_gain(relevant: usize, k: usize) -> f64 {
    (0..relevant.min(k)).map(discount).sum()
}

/// What a hit at a place, counted from 0, is worth.
pub(crate) fn discount(place: usize) -> f64 {
    1.0 / ((place + 2) as f64).log2()
}

pub(super) static R_PRECISION: Metric = Metric {
    id: "r_precision",
    title: "R-precision",
    outputs: &[Output::higher("r_precision.DIRECTION", "0 to 1")
        .about("share of the first R targets that have the query's label, R of which there are")],
    page: include_str!("r_precision.md"),
    options: &["no-normalize", "interval"],
    work: Work::Ranking(Part::Whole, |ranked| {
        let value = |standing: &Standing, relevant| f64::from(standing.hits) / relevant as f64;
        let by_chance = |n, relevant| relevant as f64 / n as f64;
        of_standings(ranked, &R_PRECISION, Whole::RPrecision, value, by_chance)
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
    options: &["no-normalize", "interval"],
    work: Work::Ranking(Part::Whole, |ranked| {
        of_standings(
            ranked,
            &MAP_AT_R,
            Whole::MapAtR,
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
    options: &["no-normalize", "interval"],
    work: Work::Ranking(Part::Whole, |ranked| {
        of_standings(
            ranked,
            &MRR,
            Whole::ReciprocalRank,
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
        let finds = |q: usize, first: usize| ranked.rankings.of(q)[..first].contains(&(q as u32));
        let found: Vec<bool> = (0..ranked.queries).map(|q| finds(q, used)).collect();
        let depth = ranked.rankings.depth.min(used + 1);
        // Without one of the others before it, a partner at rank K + 1 is found.
        let comes_next = |q: usize| f64::from(u8::from(!found[q] && finds(q, depth)));
        let pull = |q: usize| [0.0, -comes_next(q), 0.0];
        let interval = ranked.of_partners(used, &found, (0..ranked.queries).map(pull).collect());
        let value = found.iter().filter(|is_found| **is_found).count() as f64 / ranked.queries as f64;
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

/// Scores for every K and set of labels, from the hits and the gains of each query that counts.
pub(super) fn at_every_k(ranked: &Ranked, scores: impl Fn(&OverQueries, &[u32], &[f64]) -> Vec<Score>) -> Results {
    let mut all = Vec::new();
    for set in &ranked.sets {
        for (place, &k) in ranked.spec.retrieval_k.iter().enumerate() {
            let queries = OverQueries::new(ranked, set, Some(k));
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
    which: Whole,
    value: impl Fn(&Standing, usize) -> f64,
    chance: impl Fn(usize, usize) -> f64,
) -> Results {
    let score = |set| {
        let queries = OverQueries::new(ranked, set, None);
        let of_query = |&q: &usize| value(&set.standings[q], set.relevant(q));
        let found = Found {
            values: set.counted.iter().map(of_query).collect(),
            pulls: Pulls::Whole(which),
        };
        queries.mean(&metric.outputs[0], &found, |relevant| chance(ranked.findable, relevant))
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
