// SPDX-License-Identifier: MIT
//! Hubness: are a few targets found by many queries, and many by none? See the page.

use super::over_queries::with_effective_k;
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;
use crate::score::Score;

pub(super) static METRIC: Metric = Metric {
    id: "hubness",
    title: "Hubness",
    analysis: Analysis::Retrieval,
    outputs: &[
        Output::lower("hubness.DIRECTION@K", "any number")
            .about("skewness of how often each target is among the first K of a query"),
        Output::lower("hubness.DIRECTION.never@K", "0 to 1")
            .about("share of targets that are among the first K of no query"),
    ],
    page: include_str!("hubness.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking(Part::First, compute),
};

fn compute(ranked: &Ranked) -> Results {
    let mut answer = Results::default();
    for &k in &ranked.spec.retrieval_k {
        let mut counts = vec![0u32; ranked.targets];
        for q in 0..ranked.queries {
            for &j in &ranked.rankings.of(q)[..ranked.effective(k)] {
                counts[j as usize] += 1;
            }
        }
        let never = counts.iter().filter(|&&c| c == 0).count() as f64 / ranked.targets as f64;
        let id = ranked.id("hubness", "", Some(k));
        let skewed = match skewness(&counts) {
            Some(value) => Score::number(id, value, ranked.targets),
            None => Score::undefined(id, "every target is found equally often", ranked.targets),
        };
        let never = Score::number(ranked.id("hubness", ".never", Some(k)), never, ranked.targets);
        answer.scores.push(with_effective_k(skewed, ranked, k));
        answer.scores.push(with_effective_k(never, ranked, k));
    }
    answer
}

/// Third central moment over the cube of the standard deviation, both of the population; none without spread.
fn skewness(counts: &[u32]) -> Option<f64> {
    let n = counts.len() as f64;
    let mean = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / n;
    let moment = |power: i32| counts.iter().map(|&c| (f64::from(c) - mean).powi(power)).sum::<f64>() / n;
    let is_even = counts.iter().all(|&c| c == counts[0]);
    (!is_even).then(|| moment(3) / moment(2).powf(1.5))
}
