// SPDX-License-Identifier: MIT
//! Ranking some rows against all instead of all against all.

use std::sync::Arc;

use crate::common::{Draw, MODEL, of_studies, product, run, score, space, value};
use repscope_core::{Labels, Pairs, Score, Spec, Study};

const ROWS: usize = 600;
const ANCHORS: usize = 100;
const SEEDS: u64 = 30;

#[test]
fn sampled_trustworthiness_is_unbiased() {
    assert_unbiased("trustworthiness@10");
}

#[test]
fn sampled_continuity_is_unbiased() {
    assert_unbiased("continuity@10");
}

#[test]
fn sampled_silhouette_is_unbiased() {
    assert_unbiased("silhouette");
}

#[test]
fn sampled_neighborhoods_of_every_size_are_unbiased() {
    for id in ["q_nx@10", "r_nx.auc", "mrre.false@10", "mle_id@20"] {
        assert_unbiased(id);
    }
}

#[test]
fn sampled_uniformity_is_unbiased_but_for_the_curvature_of_its_logarithm() {
    // The mean kernel over the anchors is unbiased. Its logarithm is low by half the relative variance (Jensen), (s/m)²/2, far
    // below the error of one sample. 600 seeds know the mean to a 24th of that error.
    let study = study();
    let full = value(&study, "uniformity", &Spec::default());
    let at = |seed| value(&study, "uniformity", &spec(seed, ANCHORS));
    let values: Vec<f64> = (0..600).map(at).collect();
    let mean_and_error = |values: Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0);
        (mean, variance.sqrt())
    };
    let (kernel, deviation) = mean_and_error(values.iter().map(|v| v.exp()).collect());
    let error = deviation / 600f64.sqrt();
    assert!(
        (kernel - full.exp()).abs() < 3.0 * error,
        "{kernel} ± {error}, not {}",
        full.exp()
    );
    let (mean, of_logarithm) = mean_and_error(values);
    let curvature = (deviation / kernel).powi(2) / 2.0;
    assert!(curvature < 0.05 * of_logarithm, "{curvature} {of_logarithm}");
    assert!(
        (mean + curvature - full).abs() < 3.0 * of_logarithm / 600f64.sqrt(),
        "{mean} {full}"
    );
}

#[test]
fn intervals_of_samples_cover_the_full_value() {
    // Nominally 95 %, and a little more, since a sixth of all rows is asked: 26 of 30 leaves room for chance.
    let study = study();
    let neighborhoods = [
        "trustworthiness@10",
        "continuity@10",
        "q_nx@10",
        "r_nx.auc",
        "mrre.false@10",
    ];
    for id in neighborhoods.into_iter().chain(["silhouette", "mle_id@20", "gride@16"]) {
        let full = value(&study, id, &Spec::default());
        let covers = |s: &Score| s.interval.is_some_and(|[low, high]| low <= full && full <= high);
        let covered = sampled(&study, id).iter().filter(|s| covers(s)).count();
        assert!(covered >= 26, "{id}: {covered} of {SEEDS}");
    }
}

#[test]
fn the_unit_of_a_sampled_score_is_the_anchor_and_n_counts_them() {
    for id in [
        "trustworthiness@10",
        "q_nx@10",
        "r_nx.auc",
        "silhouette",
        "uniformity",
        "mle_id@20",
    ] {
        let found = score(&study(), id, &spec(42, ANCHORS));
        assert_eq!((found.n, found.unit.as_deref()), (ANCHORS, Some("query rows")), "{id}");
    }
}

#[test]
fn a_sample_of_all_rows_or_more_is_the_full_result() {
    let study = study();
    let full = run(&study, &of_studies(), &Spec::default());
    for anchors in [ROWS, ROWS + 1, usize::MAX] {
        assert_eq!(run(&study, &of_studies(), &spec(42, anchors)), full, "{anchors}");
    }
}

#[test]
fn different_seeds_ask_different_rows_and_the_same_seed_the_same() {
    let study = study();
    let at = |seed| value(&study, "trustworthiness@10", &spec(seed, ANCHORS));
    assert_ne!(at(1), at(2));
    assert_eq!(at(1), at(1));
}

/// The mean over seeds is within three of its standard errors of the full value.
fn assert_unbiased(id: &str) {
    let study = study();
    let full = value(&study, id, &Spec::default());
    let values: Vec<f64> = sampled(&study, id).iter().map(|s| s.value.expect("a number")).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    assert!(
        error > 0.0 && (mean - full).abs() < 3.0 * error,
        "{id}: {mean} ± {error}, not {full}"
    );
}

fn sampled(study: &Study, id: &str) -> Vec<Score> {
    (0..SEEDS).map(|seed| score(study, id, &spec(seed, ANCHORS))).collect()
}

fn spec(seed: u64, anchors: usize) -> Spec {
    Spec {
        seed,
        sample: Some(anchors),
        ..Spec::default()
    }
}

/// Three overlapping classes in five dimensions, coded by a noisy map to three.
fn study() -> Study {
    let mut draw = Draw::new(31);
    let labels: Vec<u32> = (0..ROWS).map(|_| draw.below(3) as u32).collect();
    let input: Vec<f64> = (0..5 * ROWS)
        .map(|i| {
            draw.normal()
                + if i % 5 == 0 {
                    3.0 * f64::from(labels[i / 5])
                } else {
                    0.0
                }
        })
        .collect();
    let map = draw.normals(15);
    let latent = product(&input, 5, &map).iter().map(|z| z + draw.normal()).collect();
    Study {
        input: Some(Arc::new(space("input", 5, input))),
        labels: Some(Arc::new(Labels::from_codes(labels, 3))),
        pairs: Some(Arc::new(Pairs::consecutive(ROWS, None))),
        ..Study::new(MODEL, space("latent", 3, latent))
    }
}
