// SPDX-License-Identifier: MIT
//! The same bits from every order of work and any number of threads.

use std::sync::Arc;

use crate::common::{Draw, MODEL, metric, of_studies, product, space};
use repscope_core::run::{Driver, Order};
use repscope_core::{Labels, Metric, Pairs, Reference, Results, Spec, Study, evaluate};

/// No multiple of the 256 rows of a block.
const ROWS: usize = 1300;
const COLUMNS: usize = 24;

#[test]
fn all_metrics_have_the_same_bits_in_every_order_of_work() {
    assert_same_answer(&study(), &of_studies(), &Spec::default());
}

#[test]
fn a_sample_has_the_same_bits_in_every_order_of_work() {
    let spec = Spec {
        sample: Some(200),
        ..Spec::default()
    };
    assert_same_answer(&study(), &of_studies(), &spec);
}

#[test]
fn sums_from_f32_tiles_have_the_same_bits_in_every_order_of_work() {
    // Beyond 2³² coordinates over all pairs, sums come from f32 tiles: 6,000² · 128 is a little more.
    let mut draw = Draw::new(42);
    let latent = draw.uniforms(6000 * 128);
    let study = Study {
        labels: Some(Arc::new(Labels::from_codes(
            (0..6000).map(|_| draw.below(7) as u32).collect(),
            7,
        ))),
        ..Study::new(MODEL, space("latent", 128, latent))
    };
    assert_same_answer(&study, &[metric("uniformity"), metric("silhouette")], &Spec::default());
}

#[test]
fn a_metric_alone_answers_as_it_does_among_all_others() {
    // Shared passes run with the largest k that anybody asked for; nobody may notice.
    let (study, spec) = (study(), Spec::default());
    let driver = Driver::silent(Order::Parallel);
    let together = evaluate(std::slice::from_ref(&study), &of_studies(), &spec, &driver).expect("a valid study");
    for metric in of_studies() {
        let alone = evaluate(std::slice::from_ref(&study), &[metric], &spec, &driver).expect("a valid study");
        for score in &alone.scores {
            assert_eq!(together.score(MODEL, &score.metric), Some(score), "{}", score.metric);
        }
    }
}

#[test]
fn a_model_alone_answers_as_it_does_beside_another() {
    // Models that share their inputs share the sweep over them.
    let (first, spec, driver) = (study(), Spec::default(), Driver::silent(Order::Parallel));
    let second = Study {
        embeddings: space("latent", 3, Draw::new(43).normals(3 * ROWS)),
        reference: None,
        view: None,
        noise: None,
        model: "other".to_string(),
        ..first.clone()
    };
    let both = evaluate(&[first.clone(), second], &of_studies(), &spec, &driver).expect("valid studies");
    let alone = evaluate(&[first], &of_studies(), &spec, &driver).expect("a valid study");
    assert_eq!(both.scores[..alone.scores.len()], alone.scores[..]);
}

fn assert_same_answer(study: &Study, metrics: &[&Metric], spec: &Spec) {
    let answer = |order| evaluate(std::slice::from_ref(study), metrics, spec, &Driver::silent(order));
    let serial = bits(&answer(Order::Serial).expect("a valid study"));
    assert!(serial.iter().filter(|(_, bits)| bits.is_some()).count() >= metrics.len());
    for seed in [1, 2] {
        assert_same(
            &serial,
            &answer(Order::Shuffled(seed)).expect("a valid study"),
            &format!("shuffled by {seed}"),
        );
    }
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let results = pool.install(|| answer(Order::Parallel)).expect("a valid study");
        assert_same(&serial, &results, &format!("{threads} threads"));
    }
}

fn assert_same(expected: &[(String, Option<u64>)], results: &Results, order: &str) {
    let found = bits(results);
    assert_eq!(expected.len(), found.len(), "{order}");
    let differing: Vec<&str> = expected
        .iter()
        .zip(&found)
        .filter(|(a, b)| a != b)
        .map(|(a, _)| a.0.as_str())
        .collect();
    assert!(differing.is_empty(), "{order}: {differing:?}");
}

/// Every number of the results by name, to the bit.
fn bits(results: &Results) -> Vec<(String, Option<u64>)> {
    let mut all: Vec<(String, Option<f64>)> = Vec::new();
    for s in &results.scores {
        let mut add = |part: &str, number| all.push((format!("{} {part} {:?}", s.metric, s.reason), number));
        add("value", s.value);
        add("low", s.interval.map(|i| i[0]));
        add("high", s.interval.map(|i| i[1]));
        add("chance", s.chance);
        add("standard error", s.standard_error);
        add("n", Some(s.n as f64));
    }
    for curve in &results.curves {
        all.extend(
            curve
                .x
                .iter()
                .chain(&curve.y)
                .map(|&v| (curve.metric.to_string(), Some(v))),
        );
    }
    for (name, column) in results.samples.iter().flat_map(|table| &table.columns) {
        all.extend(column.iter().map(|&v| (name.clone(), v)));
    }
    all.into_iter()
        .map(|(name, number)| (name, number.map(f64::to_bits)))
        .collect()
}

/// Overlapping classes, inputs of 40 columns, a second view, 26 episodes.
fn study() -> Study {
    let mut draw = Draw::new(41);
    let labels: Vec<u32> = (0..ROWS).map(|_| draw.below(6) as u32).collect();
    let latent: Vec<f64> = (0..ROWS * COLUMNS)
        .map(|i| {
            draw.normal()
                + if i % COLUMNS == labels[i / COLUMNS] as usize {
                    2.0
                } else {
                    0.0
                }
        })
        .collect();
    let map = draw.normals(COLUMNS * 40);
    let input = product(&latent, COLUMNS, &map)
        .iter()
        .map(|x| x + draw.normal())
        .collect();
    let episodes = Labels::from_codes((0..ROWS).map(|i| (i / 50) as u32).collect(), 26);
    let view = latent.iter().map(|x| x + draw.normal()).collect();
    let reference = draw.normals(300 * COLUMNS);
    let batches = (0..ROWS).map(|_| draw.below(3) as u32).collect();
    Study {
        reference: Some(Arc::new(Reference {
            embeddings: space("reference", COLUMNS, reference),
            groups: Some(Labels::from_codes((0..300).map(|i| (20 + i / 50) as u32).collect(), 26)),
        })),
        batches: Some(Arc::new(Labels::from_codes(batches, 3))),
        view: Some(Arc::new(space("view", COLUMNS, view))),
        input: Some(Arc::new(space("input", 40, input))),
        labels: Some(Arc::new(Labels::from_codes(labels, 6))),
        pairs: Some(Arc::new(Pairs::consecutive(ROWS, Some(&episodes)))),
        episodes: Some(Arc::new(episodes)),
        ..Study::new(MODEL, space("latent", COLUMNS, latent))
    }
}
