// SPDX-License-Identifier: MIT
//! MAP@R: average precision over the first R targets, where R is how many are relevant. See the page.

use super::r_precision::of_standings;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;

pub(super) static METRIC: Metric = Metric {
    id: "map_at_r",
    title: "MAP@R",
    analysis: Analysis::Retrieval,
    outputs: &[
        Output::higher("map_at_r.DIRECTION", "0 to 1").about("precision at each hit among the first R targets, over R")
    ],
    page: include_str!("map_at_r.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["no-normalize"],
    work: Work::Ranking(Part::Whole, compute),
};

fn compute(ranked: &Ranked) -> Results {
    of_standings(
        ranked,
        "map_at_r",
        |standing, _| standing.average_precision,
        |relevant| chance(ranked.findable, relevant),
    )
}

/// Rank i is relevant with probability R / N, and then (i − 1)(R − 1) / (N − 1) more are expected before it.
fn chance(all: usize, relevant: usize) -> f64 {
    let (n, r) = (all as f64, relevant as f64);
    let others = if all > 1 { (r - 1.0) / (n - 1.0) } else { 0.0 };
    (1..=relevant)
        .map(|i| (1.0 + (i - 1) as f64 * others) / i as f64)
        .sum::<f64>()
        / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_the_mean_over_all_orders() {
        // 2 relevant of 3: orders 110, 101, 011 give (1 + 1)/2, 1/2 and (1/2)/2 over the first two ranks.
        assert!((chance(3, 2) - (1.0 + 0.5 + 0.25) / 3.0).abs() < 1e-15);
        assert_eq!(chance(1, 1), 1.0);
    }
}
