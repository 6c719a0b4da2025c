// SPDX-License-Identifier: MIT
//! Label nDCG at K: hits discounted by their rank, against the best possible order. See the page.

use super::over_queries::at_every_k;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;

pub(super) static METRIC: Metric = Metric {
    id: "label_ndcg",
    title: "Label nDCG at K",
    analysis: Analysis::Retrieval,
    outputs: &[Output::higher("label_ndcg.DIRECTION@K", "0 to 1")
        .about("hits among the first K, discounted by rank, against the best order")],
    page: include_str!("label_ndcg.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking(Part::First, compute),
};

fn compute(ranked: &Ranked) -> Results {
    let scores = at_every_k(ranked, |queries, place, k, used| {
        let set = queries.set;
        let ideals: Vec<f64> = (0..set.relevance.names.len())
            .map(|code| ideal(set.relevance.relevant(code), used))
            .collect();
        let gains = set.counted.iter().zip(&set.gains[place]);
        let ndcg: Vec<f64> = gains.map(|(&q, gain)| gain / ideals[set.code(q)]).collect();
        let all = ideal(used, used);
        let chance = |relevant| relevant as f64 / ranked.findable as f64 * all / ideal(relevant, used);
        vec![queries.mean(set.id(ranked, "label_ndcg", "", Some(k)), &ndcg, chance)]
    });
    Results::from(scores)
}

/// The discounted gain of the best order: Σ 1 / log₂(i + 1) over the first min(relevant, k) ranks.
pub(super) fn ideal(relevant: usize, k: usize) -> f64 {
    (0..relevant.min(k)).map(|i| 1.0 / ((i + 2) as f64).log2()).sum()
}
