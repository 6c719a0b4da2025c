// SPDX-License-Identifier: MIT
//! R-precision: precision among the first R targets, where R is how many are relevant. See the page.

use super::over_queries::OverQueries;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::kernels::rankings::Standing;
use crate::retrieve::Ranked;

pub(super) static METRIC: Metric = Metric {
    id: "r_precision",
    title: "R-precision",
    analysis: Analysis::Retrieval,
    outputs: &[Output::higher("r_precision.DIRECTION", "0 to 1")
        .about("share of the first R targets that have the query's label, R of which there are")],
    page: include_str!("r_precision.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["no-normalize"],
    work: Work::Ranking(Part::Whole, compute),
};

fn compute(ranked: &Ranked) -> Results {
    let n = ranked.findable as f64;
    of_standings(
        ranked,
        "r_precision",
        |standing, relevant| f64::from(standing.hits) / relevant as f64,
        |relevant| relevant as f64 / n,
    )
}

/// The mean over queries of something that follows from the standing of their relevant targets, and their number.
pub(super) fn of_standings(
    ranked: &Ranked,
    metric: &str,
    value: impl Fn(&Standing, usize) -> f64,
    chance: impl Fn(usize) -> f64,
) -> Results {
    let mut answer = Results::default();
    for set in &ranked.sets {
        let values: Vec<f64> = set
            .counted
            .iter()
            .map(|&q| value(&set.standings[q], set.relevant(q)))
            .collect();
        let queries = OverQueries { ranked, set };
        answer
            .scores
            .push(queries.mean(set.id(ranked, metric, "", None), &values, &chance));
    }
    answer
}
