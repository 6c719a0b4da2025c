// SPDX-License-Identifier: MIT
//! Shorter and quantized embeddings: their numbers are those of NumPy, and their changes those of two models.

use std::collections::BTreeMap;
use std::sync::Arc;

use repscope_core::run::{Driver, Order};
use repscope_core::{
    Difference, Labels, METRICS, Metric, Precision, Results, Space, Spec, Study, Version, Versioned, compare,
    compare_versions, evaluate,
};

use crate::common::Draw;

// Expected values: golden/versions.json, by NumPy.
#[test]
fn prefixes_and_quantized_embeddings_are_those_of_numpy() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/versions.json");
    let text = std::fs::read_to_string(path).expect("a part of the repository");
    let cases: serde_json::Value = serde_json::from_str(&text).expect("what versions.py wrote");
    let cases = cases.as_array().expect("a list");
    assert_eq!(cases.len(), 5);
    for case in cases {
        let numbers = |value: &serde_json::Value| -> Vec<f64> {
            let all = value["rows"].as_array().expect("a list");
            all.iter().map(|x| x.as_f64().expect("a number")).collect()
        };
        let size = |at: usize| case["shape"][at].as_u64().expect("a size") as usize;
        let space = Space::from_f64("z", size(0), size(1), numbers(case)).expect("finite numbers");
        for own in case["versions"].as_array().expect("a list") {
            let version = Version {
                columns: own["columns"].as_u64().map(|d| d as usize),
                precision: serde_json::from_value(own["precision"].clone()).expect("a precision"),
            };
            let made = version.of_study(&Study::new("m", space.clone())).expect("a version");
            let mut row = vec![0.0; made.embeddings.columns()];
            for (i, wanted) in numbers(own).chunks(row.len()).enumerate() {
                made.embeddings.read_row(i, &mut row);
                for (x, wanted) in row.iter().zip(wanted) {
                    let name = &case["name"];
                    assert!((x - wanted).abs() <= 1e-12, "{name} {version}, row {i}: {x} {wanted}");
                }
            }
        }
    }
}

fn driver() -> Driver<'static> {
    Driver::silent(Order::Parallel)
}

fn metrics() -> Vec<&'static Metric> {
    let wanted = ["knn_accuracy", "trustworthiness", "two_nn", "uniformity"];
    METRICS.iter().copied().filter(|own| wanted.contains(&own.id)).collect()
}

/// Two classes that the first columns tell apart, in twelve columns.
fn study(model: &str, seed: u64) -> Study {
    const ROWS: usize = 200;
    let mut draw = Draw::new(seed);
    let values: Vec<f64> = (0..ROWS * 12)
        .map(|at| draw.normal() + if at % 12 < 4 && (at / 12) % 2 == 0 { 1.2 } else { 0.0 })
        .collect();
    let labels: Vec<&str> = (0..ROWS).map(|i| ["a", "b"][i % 2]).collect();
    let space = Space::from_f64("z", ROWS, 12, values).expect("finite numbers");
    Study {
        input: Some(Arc::new(space.clone())),
        labels: Some(Arc::new(Labels::new(&labels))),
        ..Study::new(model, space)
    }
}

fn versioned(version: Version, studies: &[Study]) -> Versioned {
    let made: Vec<Study> = studies
        .iter()
        .map(|study| version.of_study(study).expect("a version"))
        .collect();
    Versioned {
        version,
        columns: studies
            .iter()
            .map(|own| (own.model.clone(), 12))
            .collect::<BTreeMap<_, _>>(),
        results: evaluate(&made, &metrics(), &Spec::default(), &driver()).expect("scores"),
        changes: Vec::new(),
    }
}

fn with_versions(studies: &[Study], versions: &[Version]) -> Results {
    let mut results = evaluate(studies, &metrics(), &Spec::default(), &driver()).expect("scores");
    compare(&mut results, &Spec::default(), &driver());
    results.versions = versions.iter().map(|own| versioned(*own, studies)).collect();
    compare_versions(&mut results, &Spec::default(), &driver());
    results
}

const BINARY: Version = Version {
    columns: None,
    precision: Precision::Binary,
};

fn prefix(columns: usize) -> Version {
    Version {
        columns: Some(columns),
        precision: Precision::Float,
    }
}

#[test]
fn a_change_is_the_difference_of_two_models_on_the_same_rows() {
    let whole = study("m", 5);
    let results = with_versions(std::slice::from_ref(&whole), &[prefix(2)]);
    // The same embeddings as two models of a comparison.
    let short = Study {
        model: "short".to_string(),
        ..prefix(2).of_study(&whole).expect("a version")
    };
    let mut both = evaluate(&[short, whole], &metrics(), &Spec::default(), &driver()).expect("scores");
    compare(&mut both, &Spec::default(), &driver());
    let changes = &results.versions[0].changes;
    assert_eq!(changes.len(), both.differences.len());
    for (change, difference) in changes.iter().zip(&both.differences) {
        let key = |d: &Difference| (d.metric.to_string(), d.value, d.interval, d.p, d.units, d.is_paired);
        assert_eq!(key(change), key(difference));
        assert_eq!((change.a.as_str(), change.b.as_str()), ("m", "m"));
    }
}

#[test]
fn no_version_wins_and_the_comparison_of_the_models_does_not_know_of_them() {
    let studies = [study("m", 5), study("n", 6)];
    let with = with_versions(&studies, &[prefix(2), prefix(6), BINARY]);
    let without = with_versions(&studies, &[]);
    assert_eq!(with.differences, without.differences);
    assert_eq!(with.scores, without.scores);
    let changes = || with.versions.iter().flat_map(|own| &own.changes);
    assert!(changes().all(|own| own.winner.is_none()));
    // Two columns are worse than twelve, and that is found among all changes that are tested.
    let lost = with
        .version(&prefix(2))
        .and_then(|own| own.change("m", "trustworthiness@10"));
    let lost = lost.expect("a change");
    assert!(
        lost.value < -0.1 && lost.p_adjusted.expect("a p-value") < 0.001,
        "{lost:?}"
    );
    let tested = changes().filter(|own| own.p_adjusted.is_some()).count();
    assert_eq!(
        tested,
        changes()
            .filter(|own| own.better != repscope_core::Better::Neither && own.p.is_some())
            .count()
    );
    // Within a version the models are compared as in a run of their own.
    let own = &with.versions[0].results.differences;
    assert!(!own.is_empty() && own.iter().all(|d| d.a == "m" && d.b == "n"));
}

#[test]
fn parts_of_a_run_join_their_versions_and_adjust_them_together() {
    let studies = [study("m", 5)];
    let all = with_versions(&studies, &[prefix(2), BINARY]);
    let part = |ids: &[&str]| {
        let metrics: Vec<&Metric> = metrics().into_iter().filter(|own| ids.contains(&own.id)).collect();
        all.pick(&metrics, &[])
    };
    let (first, second) = (
        part(&["knn_accuracy", "uniformity"]),
        part(&["trustworthiness", "two_nn"]),
    );
    let joined = Results::join(&[&first, &second]);
    let p = |results: &Results| {
        let changes = results.versions.iter().flat_map(|own| &own.changes);
        let mut all: Vec<(String, Option<f64>)> = changes.map(|d| (d.metric.to_string(), d.p_adjusted)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).expect("numbers")));
        all
    };
    assert_eq!(joined.versions.len(), 2);
    assert_eq!(p(&joined), p(&all));
}

fn space(rows: usize, columns: usize, values: &[f64]) -> Space {
    Space::from_f64("z", rows, columns, values.to_vec()).expect("finite numbers")
}

fn made(version: Version, space: &Space) -> Vec<Vec<f64>> {
    let made = version
        .of_study(&Study::new("m", space.clone()))
        .expect("a version")
        .embeddings;
    let row = |i| {
        let mut row = vec![0.0; made.columns()];
        made.read_row(i, &mut row);
        row
    };
    (0..made.rows()).map(row).collect()
}

const fn of(columns: Option<usize>, precision: Precision) -> Version {
    Version { columns, precision }
}

#[test]
fn a_prefix_of_rows_of_unit_length_has_unit_length() {
    let rows = made(
        of(Some(2), Precision::Float),
        &space(2, 3, &[0.6, 0.0, 0.8, 0.0, 0.0, 1.0]),
    );
    // (0.6, 0)/0.6; a prefix of zeros has no direction.
    assert_eq!(rows, [[1.0, 0.0], [0.0, 0.0]]);
    let rows = made(
        of(Some(2), Precision::Float),
        &space(2, 3, &[3.0, 4.0, 8.0, 0.0, 2.0, 1.0]),
    );
    assert_eq!(rows, [[3.0, 4.0], [0.0, 2.0]], "other rows stay as they are");
}

#[test]
fn eight_bits_are_the_nearest_of_256_levels_of_a_column() {
    // Column 1 from 0 to 255 has a step of 1; column 2 is constant.
    let rows = made(
        of(None, Precision::Int8),
        &space(4, 2, &[0.0, 7.0, 255.0, 7.0, 100.4, 7.0, 100.6, 7.0]),
    );
    assert_eq!(rows, [[0.0, 7.0], [255.0, 7.0], [100.0, 7.0], [101.0, 7.0]]);
}

#[test]
fn one_bit_is_the_sign_and_zero_is_not_positive() {
    let rows = made(of(None, Precision::Binary), &space(1, 4, &[0.1, -3.0, 0.0, -0.0]));
    assert_eq!(rows, [[1.0, -1.0, -1.0, -1.0]]);
}

#[test]
fn a_view_is_quantized_with_the_levels_of_the_embeddings() {
    let mut study = Study::new("m", space(2, 1, &[0.0, 255.0]));
    study.view = Some(Arc::new(space(2, 1, &[-9.0, 12.3])));
    let made = of(None, Precision::Int8).of_study(&study).expect("a version");
    let view = made.view.expect("a view");
    let mut row = [0.0];
    view.read_row(0, &mut row);
    assert_eq!(row, [0.0], "what is below the levels takes the lowest");
    view.read_row(1, &mut row);
    assert_eq!(row, [12.0]);
}

#[test]
fn every_combination_is_a_version_but_the_whole() {
    let found = Version::all(&[8, 4, 8], &[Precision::Binary]);
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["[:4]", "[:8]", "[:4] binary", "[:8] binary", "binary"]);
    assert_eq!(Version::all(&[], &[]), []);
}

#[test]
fn a_prefix_that_does_not_fit_is_refused_with_both_numbers() {
    let study = Study::new("m", space(1, 3, &[1.0, 2.0, 3.0]));
    let error = of(Some(4), Precision::Float)
        .of_study(&study)
        .expect_err("too long")
        .to_string();
    assert!(error.contains("4 columns") && error.contains("has 3"), "{error}");
}
