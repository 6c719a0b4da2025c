// SPDX-License-Identifier: MIT
//! What a metric declares to leave its scores unchanged does so, and what it does not declare can be seen.

use std::sync::Arc;

use crate::common::{Draw, MODEL, metric, numbers, of_studies, product, run, space, value};
use repscope_core::metrics::Invariance;
use repscope_core::{Labels, Metric, Pairs, Reference, Score, Space, Spec, Study};

const ROWS: usize = 150;
const COLUMNS: usize = 6;

/// Relative, for f64 data: the largest change (adding 1e3) rounds the codes themselves at 1e-13 of their spread,
/// and no score magnifies that by more than a thousand.
const TOLERANCE: f64 = 1e-9;

#[test]
fn every_declared_invariance_holds() {
    let study = study();
    let mut problems = Vec::new();
    for metric in of_studies() {
        let before = run(&study, &[metric], &spec()).scores;
        for &invariance in metric.invariances {
            for (change, changed) in changes(&study, invariance) {
                let after = run(&changed, &[metric], &spec()).scores;
                assert_eq!(before.len(), after.len(), "{}", metric.id);
                for (a, b) in before.iter().zip(&after) {
                    let scores = numbers_of(a, invariance).into_iter().zip(numbers_of(b, invariance));
                    for ((what, x), (_, y)) in scores.filter(|((_, x), (_, y))| !are_equal(*x, *y)) {
                        problems.push(format!("{change}: {what} of {} from {x:?} to {y:?}", a.metric));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_models_may_be_ranked_by_does_not_change_with_the_scale_of_the_codes() {
    let study = study();
    let before = run(&study, &of_studies(), &spec()).scores;
    let mut changed_values = 0;
    for (change, changed) in changes(&study, Invariance::Scale) {
        for (a, b) in before.iter().zip(run(&changed, &of_studies(), &spec()).scores) {
            let is_same = are_equal(a.value, b.value);
            assert!(
                is_same || !a.comparable,
                "{change}: {} {:?} {:?}",
                a.metric,
                a.value,
                b.value
            );
            changed_values += usize::from(!is_same);
        }
    }
    assert!(changed_values > 0);
}

#[test]
fn every_metric_declares_that_turning_the_space_changes_nothing() {
    // But those that look at single coordinates: CLID of document 002 and probes standardise each, and random projections are others.
    for metric in of_studies()
        .into_iter()
        .filter(|m| !["std_collapse", "clid", "epps_pulley", "probe"].contains(&m.id))
    {
        assert!(metric.invariances.contains(&Invariance::Rotation), "{}", metric.id);
    }
}

#[test]
fn uniformity_sees_a_shift() {
    assert_undeclared(metric("uniformity"), Invariance::Shift);
    let (before, after) = values_around("uniformity", Invariance::Shift);
    // Far from the origin all directions are the same: the mean kernel goes to 1.
    assert!(before < -0.5 && after > -0.1, "{before} {after}");
}

#[test]
fn smoothness_of_unit_codes_sees_a_shift() {
    assert_undeclared(metric("smoothness"), Invariance::Shift);
    let (before, after) = values_around("smoothness.unit.ratio_mean", Invariance::Shift);
    assert!(after < before / 10.0, "{before} {after}");
}

#[test]
fn smoothness_of_raw_codes_does_not_see_a_shift() {
    for id in ["smoothness.slope", "smoothness.r", "smoothness.lipschitz_max"] {
        let (before, after) = values_around(id, Invariance::Shift);
        assert!(are_equal(Some(before), Some(after)), "{id}: {before} {after}");
    }
}

#[test]
fn the_slope_of_smoothness_is_multiplied_with_the_codes() {
    assert_undeclared(metric("smoothness"), Invariance::Scale);
    let (before, after) = values_around("smoothness.slope", Invariance::Scale);
    assert!(are_equal(Some(1e-3 * before), Some(after)), "{before} {after}");
}

#[test]
fn inertia_is_multiplied_with_the_square_of_the_codes_and_its_share_is_not() {
    assert_undeclared(metric("inertia"), Invariance::Scale);
    let (before, after) = values_around("inertia", Invariance::Scale);
    assert!(are_equal(Some(1e-6 * before), Some(after)), "{before} {after}");
    let (before, after) = values_around("inertia.share", Invariance::Scale);
    assert!(are_equal(Some(before), Some(after)), "{before} {after}");
}

#[test]
fn the_spectrum_is_multiplied_with_the_square_of_the_codes() {
    assert_undeclared(metric("spectrum"), Invariance::Scale);
    let (before, after) = values_around("spectrum.max", Invariance::Scale);
    assert!(are_equal(Some(1e-6 * before), Some(after)), "{before} {after}");
}

#[test]
fn knn_accuracy_sees_the_row_order_because_splits_go_by_row_number() {
    assert_undeclared(metric("knn_accuracy"), Invariance::RowOrder);
    let (before, after) = values_around("knn_accuracy@5", Invariance::RowOrder);
    assert_ne!(before, after);
}

fn assert_undeclared(metric: &Metric, invariance: Invariance) {
    assert!(
        !metric.invariances.contains(&invariance),
        "{} {invariance:?}",
        metric.id
    );
}

/// A score before and after the last, strongest change of a kind.
fn values_around(id: &str, invariance: Invariance) -> (f64, f64) {
    let study = study();
    let (_, changed) = changes(&study, invariance).pop().expect("every kind has a change");
    (value(&study, id, &spec()), value(&changed, id, &spec()))
}

/// Both missing, or within the relative tolerance.
fn are_equal(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

/// What must stay. The interval stays too, except that a jackknife over random groups draws them by row number.
fn numbers_of(score: &Score, invariance: Invariance) -> Vec<(&'static str, Option<f64>)> {
    let mut numbers = vec![
        ("value", score.value),
        ("chance", score.chance),
        ("n", Some(score.n as f64)),
    ];
    if invariance != Invariance::RowOrder {
        numbers.push(("lower end", score.interval.map(|i| i[0])));
        numbers.push(("upper end", score.interval.map(|i| i[1])));
    }
    numbers
}

fn spec() -> Spec {
    Spec {
        k: vec![3, 10],
        ..Spec::default()
    }
}

/// Five blobs so far apart that k-means has one optimum; a tenth of the labels is wrong, the inputs are a noisy
/// linear map of the codes, the second view is noisy codes, and the rows come in ten episodes.
fn study() -> Study {
    let mut draw = Draw::new(11);
    let centers: Vec<f64> = draw.orthogonal(COLUMNS).iter().map(|x| 20.0 * x).collect();
    let blobs: Vec<usize> = (0..ROWS).map(|i| i % 5).collect();
    let mut latent = Vec::new();
    for &blob in &blobs {
        latent.extend(
            centers[blob * COLUMNS..(blob + 1) * COLUMNS]
                .iter()
                .map(|c| c + draw.normal()),
        );
    }
    let map = draw.normals(COLUMNS * 8);
    let input = product(&latent, COLUMNS, &map)
        .iter()
        .map(|x| x + draw.normal())
        .collect();
    let labels: Vec<u32> = blobs
        .iter()
        .enumerate()
        .map(|(i, b)| ((b + usize::from(i % 9 == 4)) % 5) as u32)
        .collect();
    let episodes = Labels::from_codes((0..ROWS).map(|i| (i / 15) as u32).collect(), 10);
    let view = latent.iter().map(|x| x + draw.normal()).collect();
    let reference = latent[..60 * COLUMNS].iter().map(|x| x + draw.normal()).collect();
    let batches = (0..ROWS).map(|_| draw.below(3) as u32).collect();
    Study {
        reference: Some(Arc::new(Reference {
            embeddings: space("reference", COLUMNS, reference),
            groups: Some(Labels::from_codes((0..60).map(|i| (5 + i / 15) as u32).collect(), 10)),
        })),
        batches: Some(Arc::new(Labels::from_codes(batches, 3))),
        view: Some(Arc::new(space("view", COLUMNS, view))),
        input: Some(Arc::new(space("input", 8, input))),
        labels: Some(Arc::new(Labels::from_codes(labels, 5))),
        pairs: Some(Arc::new(Pairs::consecutive(ROWS, Some(&episodes)))),
        episodes: Some(Arc::new(episodes)),
        ..Study::new(MODEL, space("latent", COLUMNS, latent))
    }
}

/// The study under changes of one kind, the strongest last. Codes, their second view and the reference change alike.
fn changes(study: &Study, invariance: Invariance) -> Vec<(String, Study)> {
    let mut draw = Draw::new(12);
    let with = |change: &dyn Fn(&[f64]) -> Vec<f64>| Study {
        embeddings: space("latent", COLUMNS, change(&numbers(&study.embeddings))),
        view: (study.view.as_ref()).map(|v| Arc::new(space("view", COLUMNS, change(&numbers(v))))),
        reference: study.reference.as_ref().map(|own| {
            Arc::new(Reference {
                embeddings: space("reference", COLUMNS, change(&numbers(&own.embeddings))),
                groups: own.groups.clone(),
            })
        }),
        ..study.clone()
    };
    match invariance {
        Invariance::Rotation => {
            let rotation = draw.orthogonal(COLUMNS);
            let turned = with(&|codes| product(codes, COLUMNS, &rotation));
            vec![("turned".to_string(), turned)]
        }
        Invariance::Shift => {
            let shift = |codes: &[f64], size: f64| {
                codes
                    .iter()
                    .enumerate()
                    .map(|(i, x)| x + size * (1.0 + (i % COLUMNS) as f64 / 10.0))
                    .collect()
            };
            [3.0, 1e3]
                .map(|size| (format!("shifted by {size}"), with(&|codes| shift(codes, size))))
                .to_vec()
        }
        Invariance::Scale => {
            let scale = |codes: &[f64], factor: f64| codes.iter().map(|x| x * factor).collect();
            [7.5, 1e-3]
                .map(|factor| (format!("times {factor}"), with(&|codes| scale(codes, factor))))
                .to_vec()
        }
        Invariance::RowOrder => vec![("reordered".to_string(), reorder(study, &draw.permutation(ROWS)))],
        other => panic!("no change is written for {other:?}"),
    }
}

fn reorder(study: &Study, order: &[usize]) -> Study {
    let select = |labels: &Option<Arc<Labels>>| labels.as_ref().map(|l| Arc::new(l.select(order)));
    let rows_of = |space: &Option<Arc<Space>>| {
        let space = space.as_ref()?;
        Some(Arc::new(space.select(order).expect("rows of the space")))
    };
    let place = |row: u32| order.iter().position(|&i| i == row as usize).expect("a permutation") as u32;
    let pairs = study.pairs.as_ref().map(|p| {
        Arc::new(Pairs {
            rows: p.rows.iter().map(|&(from, to)| (place(from), place(to))).collect(),
            episode: p.episode.clone(),
        })
    });
    Study {
        view: rows_of(&study.view),
        reference: study.reference.clone(),
        batches: select(&study.batches),
        input: rows_of(&study.input),
        labels: select(&study.labels),
        episodes: select(&study.episodes),
        pairs,
        ..Study::new(MODEL, study.embeddings.select(order).expect("rows of the space"))
    }
}
