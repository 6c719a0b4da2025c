// SPDX-License-Identifier: MIT
//! Neighborhoods of every size: the share that inputs and embeddings agree on (Q_NX), how much more that is than chance (R_NX), and the area
//! under R_NX. See the pages.

use super::trustworthiness::largest_k;
use super::{Analysis, Compute, Invariance, Metric, Needs, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::alike::lists::{mutual, shares};
use crate::kernels::influence::Gathered;
use crate::kernels::neighbors::Neighbors;
use crate::kernels::tiles::Anchors;
use crate::plan::{Key, Need, Shared};
use crate::run::{Driver, Order};
use crate::score::{Curve, Interval, SampleTable, Score};
use crate::spec::Spec;
use crate::stats::interval;

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

const SHARED: Output =
    Output::higher("q_nx@K", "0 to 1").about("share of the K nearest rows that inputs and embeddings agree on");
const ABOVE_CHANCE: Output = Output::higher("r_nx@K", "−1 to 1")
    .about("share that both agree on, 0 by chance and 1 at most")
    .function_of("q_nx@K");
const AREA: Output =
    Output::higher("r_nx.auc", "−1 to 1").about("area under R_NX over the logarithm of K, small neighborhoods first");

pub(super) static Q_NX: Metric = Metric {
    id: "q_nx",
    title: "Q_NX",
    outputs: &[SHARED],
    page: include_str!("q_nx.md"),
    ..of_neighborhoods(
        |spec, study| both_lists(spec, study).map(Vec::from),
        |shared| {
            let mut answer = Results::default();
            let mut columns = Vec::new();
            for (k, found) in all_found(shared)? {
                columns.push((format!("q_nx@{k}"), found.values.iter().copied().map(Some).collect()));
                let score = Score::number(format!("q_nx@{k}"), found.value, found.values.len());
                answer
                    .scores
                    .push(score.with_interval(found.interval).with_chance(chance(shared, k)));
            }
            let (queries, rows) = (shared.anchors(), shared.study.embeddings.rows());
            if let Anchors::Some(asked) = queries {
                debug_assert!(asked.len() < rows);
                columns.insert(
                    0,
                    (
                        "row".to_string(),
                        asked.iter().map(|&row| Some(f64::from(row))).collect(),
                    ),
                );
            }
            answer.samples.push(SampleTable::new("q_nx", columns));
            Ok(answer)
        },
    )
};

pub(super) static R_NX: Metric = Metric {
    id: "r_nx",
    title: "R_NX",
    outputs: &[ABOVE_CHANCE, AREA],
    page: include_str!("r_nx.md"),
    ..of_neighborhoods(
        |spec, study| {
            let mut needs = Vec::from(both_lists(spec, study)?);
            needs.push(Need::CoRanking);
            Ok(needs)
        },
        above_chance,
    )
};

fn both_lists(spec: &Spec, study: &Study) -> Result<[Need; 2]> {
    let k = largest_k(spec, study)?;
    Ok([Key::embeddings(spec), Key::INPUT].map(|of| Need::Neighbors { of, k }))
}

/// The share that two random neighborhoods have in common.
fn chance(shared: &Shared, k: usize) -> f64 {
    k as f64 / (shared.study.embeddings.rows() as f64 - 1.0)
}

/// The mean share of common neighbors, and that of each query.
struct Found {
    value: f64,
    values: Vec<f64>,
    interval: Option<Interval>,
}

fn all_found(shared: &Shared) -> Result<Vec<(usize, Found)>> {
    let largest = largest_k(shared.spec, shared.study)?;
    let lists = [Key::embeddings(shared.spec), Key::INPUT];
    let [embeddings, inputs] = lists.map(|key| shared.neighbors(key, largest));
    let (embeddings, inputs) = (embeddings?, inputs?);
    let of_size = |&k: &usize| (k, found(embeddings, inputs, k, shared));
    Ok(shared.spec.k.iter().map(of_size).collect())
}

fn found(embeddings: &Neighbors, inputs: &Neighbors, k: usize, shared: &Shared) -> Found {
    let (level, rows) = (shared.spec.level, shared.study.embeddings.rows());
    let driver = Driver::silent(Order::Serial);
    let (value, values, interval) = match shared.anchors() {
        Anchors::All => {
            let agreement = mutual(embeddings, inputs, k, shared.units(), &driver);
            let value = interval::mean(&agreement.values);
            // What pairs of rows do together stays in: beside ranks that a row shifts in all lists, the error is none too large.
            let interval = interval::of_influence(value, &agreement.effects, shared.units(), level);
            (value, agreement.values, interval)
        }
        anchors @ Anchors::Some(_) => {
            let (values, changes) = shares(embeddings, inputs, k, &driver);
            let value = interval::mean(&values);
            let mut gathered = Gathered::new(anchors, shared.study.episodes.as_deref(), rows);
            for (q, (own, parts)) in values.iter().zip(&changes).enumerate() {
                gathered.add(q, own - value, parts);
            }
            let unit = shared.units().name();
            let interval = gathered
                .effects()
                .and_then(|effects| interval::from_effects(value, effects, unit, "influence", level));
            (value, values, interval)
        }
    };
    Found {
        value,
        values,
        interval: interval.map(|own| own.on_logit_scale(value, [0.0, 1.0])),
    }
}

/// By how much the standard error of the area is widened for what a row does to the ranks of all others, which its influence leaves out:
/// without it, the error was 0.7 to 0.9 times the true one in all designs of the coverage study.
const SHIFTED_RANKS: f64 = 1.3;

/// The sizes of neighborhoods in the curve: all up to this one, then each larger by this factor.
const ALL_UP_TO: usize = 20;
const FARTHER: f64 = 1.1;

fn above_chance(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let mut answer = Results::default();
    for (k, found) in all_found(shared)? {
        // (Q − q) / (1 − q), where q is chance.
        let chance = chance(shared, k);
        let factor = 1.0 / (1.0 - chance);
        let value = (found.value - chance) * factor;
        let interval = found.interval.map(|own| own.shifted(-chance).times(factor));
        let score = Score::number(format!("r_nx@{k}"), value, found.values.len());
        answer.scores.push(score.with_interval(interval).with_chance(0.0));
    }
    let ranking = shared.co_ranking()?;
    let unit = match shared.row_units().name() {
        "rows" if ranking.queries < rows => "query rows",
        unit => unit,
    };
    let effects = ranking.effects.clone();
    let interval = effects.and_then(|e| interval::from_effects(ranking.area, e, unit, "influence", shared.spec.level));
    let interval = interval.map(|own| own.about(ranking.area, SHIFTED_RANKS));
    let score = Score::number(&AREA, ranking.area, ranking.queries);
    let score = score
        .with_interval(interval.map(|own| own.within(-1.0, 1.0)))
        .with_chance(0.0);
    answer.scores.push(if ranking.queries < rows {
        score.with_note(format!("rankings of all rows by {} random rows", ranking.queries))
    } else {
        score
    });
    let others = rows as f64 - 1.0;
    let share = ranking.shared();
    let sizes: Vec<usize> = sizes(share.len());
    answer.curves.push(Curve {
        model: String::new(),
        metric: "r_nx".into(),
        x_label: "neighbors K".to_string(),
        y_label: "R_NX".to_string(),
        y: sizes
            .iter()
            .map(|&k| (others * share[k - 1] - k as f64) / (others - k as f64))
            .collect(),
        x: sizes.into_iter().map(|k| k as f64).collect(),
    });
    Ok(answer)
}

/// From 1 to the largest.
fn sizes(largest: usize) -> Vec<usize> {
    let next = |k: &usize| {
        let next = if *k < ALL_UP_TO {
            k + 1
        } else {
            (*k as f64 * FARTHER) as usize
        };
        (*k < largest).then_some(next.min(largest))
    };
    std::iter::successors((largest > 0).then_some(1), next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_a_curve_start_at_1_and_end_at_the_largest() {
        assert_eq!(sizes(3), [1, 2, 3]);
        let many = sizes(60_000);
        assert!(many.len() < 120 && many.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((many[0], many[many.len() - 1]), (1, 60_000));
        assert!(sizes(0).is_empty());
    }
}
