// SPDX-License-Identifier: MIT
//! Pair recall at K: the share of queries that find their own partner in the other space. See the page.

use super::over_queries::with_effective_k;
use super::{Analysis, Answer, Invariance, Metric, Output, Part, Takes, Work};
use crate::interval;
use crate::retrieve::Ranked;
use crate::score::{Better, Score};

pub(super) static METRIC: Metric = Metric {
    id: "pair_recall",
    title: "Pair recall at K",
    analysis: Analysis::Retrieval,
    outputs: &[Output {
        id: "pair_recall.DIRECTION@K",
        about: "share of queries whose own partner is among the first K",
        better: Better::Higher,
        range: "0 to 1",
    }],
    page: include_str!("pair_recall.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking {
        part: Part::First,
        compute,
    },
};

fn compute(ranked: &Ranked) -> Answer {
    let mut answer = Answer::default();
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
        let score = Score::number(id, value, ranked.queries, Better::Higher)
            .with_interval(interval)
            .with_chance(used as f64 / ranked.findable as f64);
        answer.scores.push(with_effective_k(score, ranked, k));
    }
    answer
}
