// SPDX-License-Identifier: MIT
//! Mean reciprocal rank of the first relevant target. See the page.

use super::r_precision::of_standings;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;

pub(super) static METRIC: Metric = Metric {
    id: "mrr",
    title: "Mean reciprocal rank",
    analysis: Analysis::Retrieval,
    outputs: &[Output::higher("mrr.DIRECTION", "0 to 1").about("1 / rank of the first target with the query's label")],
    page: include_str!("mrr.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["no-normalize"],
    work: Work::Ranking(Part::Whole, compute),
};

fn compute(ranked: &Ranked) -> Results {
    of_standings(
        ranked,
        "mrr",
        |standing, _| 1.0 / f64::from(standing.first),
        |relevant| chance(ranked.findable, relevant),
    )
}

/// Σ over ranks r of 1/r · P(the first relevant stands at r), P found step by step.
fn chance(all: usize, relevant: usize) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_the_mean_over_all_orders() {
        // 1 relevant of 3: ranks 1, 2, 3. 2 relevant of 3: ranks 1, 1, 2.
        assert!((chance(3, 1) - (1.0 + 0.5 + 1.0 / 3.0) / 3.0).abs() < 1e-15);
        assert!((chance(3, 2) - 2.5 / 3.0).abs() < 1e-15);
        assert_eq!(chance(4, 4), 1.0);
    }
}
