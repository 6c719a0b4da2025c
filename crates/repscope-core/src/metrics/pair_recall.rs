// SPDX-License-Identifier: MIT
//! Pair recall at K: the share of queries that find their own partner in the other space. See the page.

use super::over_queries::with_effective_k;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;
use crate::score::Score;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "pair_recall",
    title: "Pair recall at K",
    analysis: Analysis::Retrieval,
    outputs: &[Output::higher("pair_recall.DIRECTION@K", "0 to 1")
        .about("share of queries whose own partner is among the first K")],
    page: include_str!("pair_recall.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking(Part::First, compute),
};

fn compute(ranked: &Ranked) -> Results {
    let mut answer = Results::default();
    if !ranked.is_paired {
        return answer;
    }
    for &k in &ranked.spec.retrieval_k {
        let used = ranked.effective(k);
        let finds = |q: usize| ranked.rankings.of(q)[..used].contains(&(q as u32));
        let found: Vec<f64> = (0..ranked.queries).map(|q| f64::from(u8::from(finds(q)))).collect();
        let value = interval::mean(&found);
        let interval = interval::of_share(value, ranked.queries, "queries", ranked.spec.level);
        let id = ranked.id("pair_recall", "", Some(k));
        let score = Score::number(id, value, ranked.queries)
            .with_interval(interval)
            .with_chance(used as f64 / ranked.findable as f64);
        answer.scores.push(with_effective_k(score, ranked, k));
    }
    answer
}
