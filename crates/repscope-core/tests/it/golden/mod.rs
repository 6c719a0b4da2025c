// SPDX-License-Identifier: MIT
//! The golden cases: inputs as NumPy wrote them, answers as scikit-learn, SciPy, scikit-dimension, ZADU, ranx and
//! NumPy gave them (see `golden/README.md`). Every tolerance is stored beside its value, with where it comes from.

mod answer;
mod case;
mod document;
mod embeddings;
mod models;
mod perturbed;
mod retrieval;

use std::collections::BTreeSet;

use repscope_core::{METRICS, metrics};

use answer::{Answer, Answers};
use case::{Case, cases};
use document::{Expected, Kind, Part, Value};

/// What `generate.py` says it wrote: an empty or half-empty folder must not pass.
const CASES: usize = 263;
const VALUES: usize = 6222;
const UNDEFINED: usize = 481;

#[test]
fn every_golden_value_is_reproduced_within_its_tolerance() {
    let mut report = Report::default();
    for case in cases() {
        check(&case, &mut report);
    }
    let problems = &report.problems;
    assert!(
        problems.is_empty(),
        "{} mismatches:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert_eq!(
        (report.cases, report.values, report.undefined),
        (CASES, VALUES, UNDEFINED)
    );
}

#[test]
fn every_output_of_every_metric_has_a_golden_value() {
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    for case in cases() {
        for place in case.document.expected.iter().map(|e| &e.of) {
            // A column of a breakdown may be an output of its own: `spearman` of `performance`.
            let id = match (place.part, &place.column) {
                (None, _) => place.metric.clone(),
                (Some(Part::Cell), Some(column)) => format!("{}.{column}", place.metric),
                (Some(_), _) => continue,
            };
            match metrics::find(&id) {
                Some((_, Some(output))) => {
                    covered.insert(output.id);
                }
                // The curve `spectrum` begins with `spectrum.max` and ends with `spectrum.min`.
                Some((metric, None)) => covered.extend(metric.outputs.iter().map(|o| o.id)),
                None => assert!(place.part.is_some(), "{}: no metric is called {id}", case.document.case),
            }
        }
    }
    for id in apart() {
        match metrics::find(&id) {
            Some((_, Some(output))) => covered.insert(output.id),
            _ => panic!("no metric is called {id}"),
        };
    }
    let declared = METRICS.iter().flat_map(|m| m.outputs).map(|o| o.id);
    let bare: Vec<&str> = declared.filter(|id| !covered.contains(id)).collect();
    assert!(bare.is_empty(), "without a golden value: {bare:?}");
}

/// The identities in the files of generated texts, whose values the tests of `repscope-core` compare.
fn apart() -> Vec<String> {
    let mut ids = Vec::new();
    for file in ["etes.json", "text_metrics.json"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../golden")
            .join(file);
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
        for case in document["cases"].as_array().expect("cases") {
            // A map from identities to values, or a list of values with their identities.
            match &case["expected"] {
                serde_json::Value::Object(values) => ids.extend(values.keys().cloned()),
                values => {
                    let values = values.as_array().expect("expected values");
                    ids.extend(values.iter().filter_map(|v| Some(v["metric"].as_str()?.to_string())));
                }
            }
        }
    }
    ids
}

#[derive(Default)]
struct Report {
    cases: usize,
    values: usize,
    undefined: usize,
    problems: Vec<String>,
}

fn check(case: &Case, report: &mut Report) {
    let name = &case.document.case;
    report.cases += 1;
    let mut answers = Answers::new(case);
    for expected in &case.document.expected {
        report.values += 1;
        let what = format!("{name}: {} ({})", expected.of, expected.library);
        match (&expected.value, answers.to(&expected.of)) {
            (Value::Number(wanted), Answer::Number(got)) => {
                compare(&what, *wanted, got, expected, &mut report.problems);
            }
            (Value::Curve(wanted), Answer::Curve(got)) if wanted.len() == got.len() => {
                for (place, (w, g)) in wanted.iter().zip(&got).enumerate() {
                    compare(&format!("{what} at {place}"), *w, *g, expected, &mut report.problems);
                }
            }
            (_, Answer::None(reason)) => report.problems.push(format!("{what}: no value, {reason}")),
            (_, Answer::Curve(got)) => report.problems.push(format!("{what}: a curve of {}", got.len())),
            (_, Answer::Number(got)) => report.problems.push(format!("{what}: a number, {got}")),
        }
    }
    for undefined in &case.document.undefined {
        report.undefined += 1;
        let what = format!("{name}: {}", undefined.of);
        match answers.to(&undefined.of) {
            Answer::None(reason) if !reason.is_empty() => {}
            Answer::None(_) => report.problems.push(format!("{what} has no reason")),
            Answer::Number(got) => report.problems.push(format!("{what} is {got} but must not exist")),
            Answer::Curve(_) => report.problems.push(format!("{what} is a curve")),
        }
    }
}

fn compare(what: &str, wanted: f64, got: f64, expected: &Expected, problems: &mut Vec<String>) {
    let allowed = match expected.kind {
        Kind::Absolute => expected.tolerance,
        Kind::Relative => expected.tolerance * wanted.abs(),
    };
    let difference = (got - wanted).abs();
    if difference.is_nan() || difference > allowed {
        problems.push(format!(
            "{what}: expected {wanted:e}, got {got:e}, difference {difference:.1e}, allowed {allowed:.1e}"
        ));
    }
}
