// SPDX-License-Identifier: MIT
//! Mean relative rank errors: how far the ranks of neighbors in one space are from those in the other. See the page.

use super::trustworthiness::largest_k;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::influence;
use crate::plan::{Key, Need, Shared};
use crate::score::Score;
use crate::spec::Spec;
use crate::stats::interval::{self, Units};

const FALSE: Output = Output::lower("mrre.false@K", "0 to 1")
    .about("relative rank error of the K nearest embeddings, which may be false neighbors");
const MISSING: Output = Output::lower("mrre.missing@K", "0 to 1")
    .about("relative rank error of the K nearest inputs, which may be missing neighbors");

pub(super) static METRIC: Metric = Metric {
    id: "mrre",
    title: "Mean relative rank error",
    outputs: &[FALSE, MISSING],
    page: include_str!("mrre.md"),
    invariances: Invariance::SIMILARITY,
    options: &["k", "distance", "sample"],
    ..Metric::of(
        Analysis::Neighborhood,
        &[Takes::States, Takes::Embeddings],
        Work::Study { needs, compute },
    )
};

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let k = largest_k(spec, study)?;
    let one_way = |[of, within]: [Key; 2]| [Need::Neighbors { of, k }, Need::Ranks { of, within, k }];
    Ok(ways(spec).into_iter().flat_map(one_way).collect())
}

/// Whose neighbors, and the space in which they are ranked too.
fn ways(spec: &Spec) -> [[Key; 2]; 2] {
    let embeddings = Key::embeddings(spec);
    [[embeddings, Key::INPUT], [Key::INPUT, embeddings]]
}

fn compute(shared: &Shared) -> Result<Results> {
    let largest = largest_k(shared.spec, shared.study)?;
    let rows = shared.study.embeddings.rows();
    let queries = shared.anchors().count(rows);
    let (Units::Single(unit) | Units::Groups(_, unit)) = shared.units();
    let mut answer = Results::default();
    for ([of, within], output) in ways(shared.spec).into_iter().zip([FALSE, MISSING]) {
        let (lists, ranks) = (shared.neighbors(of, largest)?, shared.ranks(of, within, largest)?);
        for &k in &shared.spec.k {
            let worst = normalizer(rows, k);
            let of_query = |q: usize| {
                (1..)
                    .zip(&ranks.of(q)[..k])
                    .map(|(place, &rank)| error(place, rank))
                    .sum::<f64>()
            };
            let value = (0..queries).map(of_query).sum::<f64>() / queries as f64 / worst;
            let episodes = shared.study.episodes.as_deref();
            let effects = influence::of_penalties(lists, ranks, k, error, shared.anchors(), episodes, rows);
            let interval = effects.and_then(|effects| {
                let effects = effects.iter().map(|e| e / worst).collect();
                let interval = interval::from_effects(value, effects, unit, "influence", shared.spec.level)?;
                Some(interval.on_logit_scale(value, [0.0, 1.0]))
            });
            let score = Score::number(output.id.replace("@K", &format!("@{k}")), value, queries);
            answer
                .scores
                .push(score.with_interval(interval).with_chance(chance(rows, k)));
        }
    }
    Ok(answer)
}

/// How far the rank of a neighbor is from its place, relative to the place.
fn error(place: usize, rank: u32) -> f64 {
    (f64::from(rank) - place as f64).abs() / place as f64
}

/// The largest sum of the errors of a row: the rank N − j at each place j.
fn normalizer(rows: usize, k: usize) -> f64 {
    let at = |place: usize| (rows as f64 - 2.0 * place as f64).abs() / place as f64;
    (1..=k).map(at).sum()
}

/// The expected score where neighbors are drawn at random: every rank is equally likely.
fn chance(rows: usize, k: usize) -> f64 {
    let others = rows as f64 - 1.0;
    let at = |place: usize| {
        let (below, above) = (place as f64, others - place as f64);
        (below * (below - 1.0) + above * (above + 1.0)) / 2.0 / others / place as f64
    };
    (1..=k).map(at).sum::<f64>() / normalizer(rows, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reverse_order_is_the_worst_and_chance_is_the_mean_over_all_ranks() {
        let (n, k) = (9usize, 3usize);
        let reverse: f64 = (1..=k).map(|place| error(place, (n - place) as u32)).sum();
        assert!((reverse - normalizer(n, k)).abs() < 1e-12);
        let mean = |place| (1..n).map(|rank| error(place, rank as u32)).sum::<f64>() / (n - 1) as f64;
        let expected = (1..=k).map(mean).sum::<f64>() / normalizer(n, k);
        assert!((chance(n, k) - expected).abs() < 1e-12);
    }
}
