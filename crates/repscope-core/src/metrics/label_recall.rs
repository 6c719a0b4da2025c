// SPDX-License-Identifier: MIT
//! Label recall at K: how many of a query's relevant targets are among the first K. See the page.

use super::over_queries::at_every_k;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;

pub(super) static METRIC: Metric = Metric {
    id: "label_recall",
    title: "Label recall at K",
    analysis: Analysis::Retrieval,
    outputs: &[
        Output::higher("label_recall.DIRECTION@K", "0 to 1")
            .about("share of the targets with the query's label that are among the first K"),
        Output::higher("label_recall.DIRECTION.macro@K", "0 to 1").about("the same, averaged over labels"),
    ],
    page: include_str!("label_recall.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking(Part::First, compute),
};

fn compute(ranked: &Ranked) -> Results {
    let scores = at_every_k(ranked, |queries, place, k, used| {
        let set = queries.set;
        let hits = set.counted.iter().zip(&set.hits[place]);
        let recall: Vec<f64> = hits.map(|(&q, &h)| f64::from(h) / set.relevant(q) as f64).collect();
        let chance = |_| used as f64 / ranked.findable as f64;
        let id = |part: &str| set.id(ranked, "label_recall", part, Some(k));
        vec![
            queries.mean(id(""), &recall, chance),
            queries.macro_mean(id(".macro"), &recall, chance),
        ]
    });
    Results::from(scores)
}
