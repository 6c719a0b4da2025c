// SPDX-License-Identifier: MIT
//! Label hit rate at K: the share of queries that find at least one relevant target among the first K. See the page.

use super::over_queries::at_every_k;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "label_hit",
    title: "Label hit rate at K",
    analysis: Analysis::Retrieval,
    outputs: &[Output::higher("label_hit.DIRECTION@K", "0 to 1")
        .about("share of queries with at least one target of their label among the first K")],
    page: include_str!("label_hit.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking(Part::First, compute),
};

fn compute(ranked: &Ranked) -> Results {
    let scores = at_every_k(ranked, |queries, place, k, used| {
        let hit: Vec<f64> = queries.set.hits[place]
            .iter()
            .map(|&h| f64::from(u8::from(h > 0)))
            .collect();
        let chance = |relevant| 1.0 - miss(ranked.findable, relevant, used);
        let score = queries.mean(queries.set.id(ranked, "label_hit", "", Some(k)), &hit, chance);
        let interval = interval::of_share(score.value.unwrap_or(0.0), hit.len(), "queries", ranked.spec.level);
        vec![score.with_interval(interval)]
    });
    Results::from(scores)
}

/// The probability that `k` targets drawn from `all` miss all `relevant` ones: Π (all − relevant − i) / (all − i).
fn miss(all: usize, relevant: usize, k: usize) -> f64 {
    let factor = |i: usize| (all - relevant).saturating_sub(i) as f64 / (all - i) as f64;
    (0..k).map(factor).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_one_minus_the_share_of_draws_without_a_relevant_target() {
        // 2 of 5, 2 relevant: 3 of the 10 pairs hold none.
        assert!((miss(5, 2, 2) - 0.3).abs() < 1e-15);
        assert_eq!(miss(5, 4, 2), 0.0);
    }
}
