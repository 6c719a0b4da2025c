// SPDX-License-Identifier: MIT
//! Trustworthiness: are neighbors among the embeddings neighbors among the inputs? Continuity: the other way round.

use super::{Analysis, Compute, Invariance, Metric, Needs, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Error, Result};
use crate::kernels::influence;
use crate::plan::{Key, Need, Shared};
use crate::score::{SampleTable, Score};
use crate::spec::Spec;
use crate::stats::interval::{self, Units};

/// What both metrics share.
const fn of_neighborhoods(needs: Needs, compute: Compute) -> Metric {
    Metric {
        invariances: Invariance::SIMILARITY,
        options: &["k", "distance", "sample"],
        ..Metric::of(
            Analysis::Neighborhood,
            &[Takes::States, Takes::Embeddings],
            Work::Study { needs, compute },
        )
    }
}

pub(super) static TRUSTWORTHINESS: Metric = Metric {
    id: "trustworthiness",
    title: "Trustworthiness",
    outputs: &[Output::higher("trustworthiness@K", "0 to 1")
        .about("the K nearest embeddings are near among the inputs too")
        .column("Trust")],
    page: include_str!("trustworthiness.md"),
    ..of_neighborhoods(
        |spec, study| {
            let k = largest_k(spec, study)?;
            let (of, within) = (Key::embeddings(spec), Key::INPUT);
            let ranks = Need::Ranks { of, within, k };
            Ok(vec![
                Need::Neighbors { of, k },
                ranks,
                Need::Neighbors { of: within, k },
            ])
        },
        |shared| preservation("trustworthiness", shared, Key::embeddings(shared.spec), Key::INPUT),
    )
};

pub(super) static CONTINUITY: Metric = Metric {
    id: "continuity",
    title: "Continuity",
    outputs: &[Output::higher("continuity@K", "0 to 1")
        .about("the K nearest inputs are near among the embeddings too")
        .column("Cont")],
    page: include_str!("continuity.md"),
    ..of_neighborhoods(
        |spec, study| {
            let k = largest_k(spec, study)?;
            let (of, within) = (Key::INPUT, Key::embeddings(spec));
            Ok(vec![Need::Neighbors { of, k }, Need::Ranks { of, within, k }])
        },
        |shared| preservation("continuity", shared, Key::INPUT, Key::embeddings(shared.spec)),
    )
};

/// The largest k, checked against the number of rows and the presence of inputs.
pub(super) fn largest_k(spec: &Spec, study: &Study) -> Result<usize> {
    let rows = study.embeddings.rows();
    if study.input.is_none() {
        return Err(Error::input(
            "neighborhoods are compared between inputs and embeddings, but there are no inputs",
        ));
    }
    for &k in &spec.k {
        // At k = N − 1 every row is a neighbor and nothing can be wrong: the normalizer is 0.
        if k == 0 || k + 1 >= rows {
            return Err(Error::KTooLarge {
                k,
                needed: k + 2,
                what: format!("model `{}`", study.model),
                rows,
            });
        }
    }
    let largest = spec.k.iter().copied().max();
    largest.ok_or_else(|| Error::input("no neighborhood size k is given; 5, 10 and 15 are usual"))
}

/// The score at every k, from the ranks that the neighbors `of` one space have `within` the other.
fn preservation(name: &str, shared: &Shared, of: Key, within: Key) -> Result<Results> {
    let largest = largest_k(shared.spec, shared.study)?;
    let (lists, ranks) = (shared.neighbors(of, largest)?, shared.ranks(of, within, largest)?);
    let rows = shared.study.embeddings.rows();
    let episodes = shared.study.episodes.as_deref();
    let (Units::Single(unit) | Units::Groups(_, unit)) = shared.units();
    let queries = shared.anchors().count(rows);
    let mut answer = Results::default();
    let mut columns = Vec::new();
    for &k in &shared.spec.k {
        let worst = normalizer(rows, k);
        let beyond = |&rank: &u32| (rank as usize).saturating_sub(k) as f64;
        let penalty = |q: usize| ranks.of(q)[..k].iter().map(beyond).sum::<f64>();
        // Penalties are integers: summed first, the value is exact but for two roundings.
        let total: f64 = (0..queries).map(penalty).sum::<f64>() * (rows as f64 / queries as f64);
        let value = 1.0 - 2.0 / worst * total;
        let of_rank = |_, rank: u32| f64::from(rank.saturating_sub(k as u32));
        let error = influence::of_penalties(lists, ranks, k, of_rank, shared.anchors(), episodes, rows);
        let interval = error.and_then(|e| {
            let per_penalty = 2.0 * rows as f64 / worst;
            let effects = e.iter().map(|x| -per_penalty * x).collect();
            let interval = interval::from_effects(value, effects, unit, "influence", shared.spec.level)?;
            Some(interval.on_logit_scale(value, [0.0, 1.0]))
        });
        let of_row = |q| Some(1.0 - 2.0 * rows as f64 / worst * penalty(q));
        columns.push((format!("{name}@{k}"), (0..queries).map(of_row).collect()));
        let score = Score::number(format!("{name}@{k}"), value, queries);
        let score = score.with_interval(interval.map(|i| i.within(0.0, 1.0)));
        answer.scores.push(score.with_chance(chance(rows, k)));
    }
    if queries < rows {
        let asked = |q| Some(shared.anchors().row(q) as f64);
        columns.insert(0, ("row".to_string(), (0..queries).map(asked).collect()));
    }
    answer.samples.push(SampleTable::new(name, columns));
    Ok(answer)
}

/// G_k, twice the largest possible sum of penalties.
fn normalizer(rows: usize, k: usize) -> f64 {
    let (n, k) = (rows as f64, k as f64);
    if 2.0 * k < n {
        n * k * (2.0 * n - 3.0 * k - 1.0)
    } else {
        n * (n - k) * (n - k - 1.0)
    }
}

/// The expected score where neighbors are drawn at random: every rank is equally likely.
fn chance(rows: usize, k: usize) -> f64 {
    let (n, kf) = (rows as f64, k as f64);
    let mean_penalty = (n - 1.0 - kf) * (n - kf) / (2.0 * (n - 1.0));
    1.0 - 2.0 / normalizer(rows, k) * n * kf * mean_penalty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normalizer_makes_the_worst_case_zero() {
        // k < N/2: all k neighbors have the k largest ranks. k ≥ N/2: all rows that can intrude do.
        for (n, k) in [(10usize, 3usize), (10, 4), (10, 5), (10, 7), (11, 5), (11, 6)] {
            let worst: usize = (0..k).map(|s| (n - 1 - s).saturating_sub(k)).sum();
            assert_eq!(normalizer(n, k), 2.0 * (n * worst) as f64, "n={n} k={k}");
        }
    }

    #[test]
    fn chance_is_the_mean_over_all_ranks() {
        let (n, k) = (9usize, 2usize);
        let mean: f64 = (1..n).map(|r| r.saturating_sub(k) as f64).sum::<f64>() / (n - 1) as f64;
        let expected = 1.0 - 2.0 / normalizer(n, k) * (n * k) as f64 * mean;
        assert!((chance(n, k) - expected).abs() < 1e-15);
    }
}
