// SPDX-License-Identifier: MIT
//! Energies of texts and signals equal those of torch, scikit-learn, SciPy and NumPy, as `golden/etes.json` holds them.

use std::sync::Arc;

use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Breakdown, Decoding, Labels, Results, Space, Spec, System, etes};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

fn cases() -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/etes.json");
    let text = std::fs::read_to_string(path).expect("golden/etes.json");
    let document: Value = serde_json::from_str(&text).expect("what etes.py wrote");
    list(&document["cases"]).clone()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().expect("an object").iter()
}

fn floats(value: &Value) -> Vec<f64> {
    list(value).iter().map(|v| v.as_f64().expect("a number")).collect()
}

fn strings(value: &Value) -> Vec<String> {
    list(value)
        .iter()
        .map(|v| v.as_str().expect("a text").to_string())
        .collect()
}

fn space(case: &Value, name: &str) -> Option<Arc<Space>> {
    let rows: Vec<Vec<f64>> = case.get(name)?.as_array()?.iter().map(floats).collect();
    Some(Arc::new(
        Space::from_f64(name, rows.len(), rows[0].len(), rows.concat()).expect("a space"),
    ))
}

fn decoding(case: &Value) -> Decoding {
    let labels = |value: &Value| Arc::new(Labels::new(&strings(value)));
    let system = System {
        name: "system".to_string(),
        signal: space(case, "signal").expect("signals"),
        generated: space(case, "generated").expect("texts"),
        reference: space(case, "reference"),
        fluency: case.get("fluency").map(|v| floats(v).into()),
        texts: case.get("texts").map(|v| strings(v).into()),
    };
    let groups = case
        .get("groups")
        .map(|all| entries(all).map(|(name, v)| (name.clone(), labels(v))).collect());
    Decoding {
        systems: vec![system],
        references: case.get("reference_texts").map(|v| strings(v).into()),
        groups: groups.unwrap_or_default(),
        units: case.get("units").map(labels),
    }
}

fn answer(case: &Value) -> Results {
    let mut spec = Spec::default();
    if let Some(weight) = case.get("fluency_weight") {
        spec.etes.fluency_weight = weight.as_f64().expect("a weight");
    }
    let driver = Driver::silent(Order::Parallel);
    etes(&decoding(case), &Analysis::Etes.metrics(), &spec, &driver).expect("a valid case")
}

fn is_same(found: Option<f64>, expected: &Value) -> bool {
    match (found, expected.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE,
        (None, None) => true,
        _ => false,
    }
}

fn cell(table: &Breakdown, line: &str, column: &str) -> Option<f64> {
    let row = table.keys[0]
        .values
        .iter()
        .position(|name| name == line)
        .expect("a line");
    let column = table.columns.iter().find(|c| c.name == column).expect("a column");
    column.values[row]
}

#[test]
fn every_golden_value_is_met() {
    let mut problems = Vec::new();
    let mut values = 0;
    let mut check = |what: String, found: Option<f64>, expected: &Value| {
        values += 1;
        if !is_same(found, expected) {
            problems.push(format!("{what}: {found:?} and not {expected}"));
        }
    };
    for case in cases() {
        let results = answer(&case);
        let name = case["name"].as_str().expect("a name");
        let score = |id: &str| results.score("system", id).unwrap_or_else(|| panic!("{name}: no {id}"));
        for (id, expected) in entries(&case["expected"]) {
            check(format!("{name}: {id}"), score(id).value, expected);
        }
        for (id, parts) in entries(&case["parts"]) {
            for (part, expected) in entries(parts) {
                let found = match part.as_str() {
                    "chance" => score(id).chance,
                    // Where nothing moves the value there is no interval.
                    _ => score(id)
                        .standard_error
                        .or((expected.as_f64() == Some(0.0)).then_some(0.0)),
                };
                check(format!("{name}: {part} of {id}"), found, expected);
            }
        }
        for (of, lines) in entries(&case["cells"]) {
            let is_meant = |t: &&Breakdown| t.metric == *of || t.keys[0].name == *of;
            let table = results.breakdowns.iter().find(is_meant).expect("a breakdown");
            for (line, columns) in entries(lines) {
                for (column, expected) in entries(columns) {
                    check(
                        format!("{name}: {of}, {line}, {column}"),
                        cell(table, line, column),
                        expected,
                    );
                }
            }
        }
        for (column, expected) in entries(&case["samples"]) {
            let columns = &results.samples[0].columns;
            let found = &columns.iter().find(|(other, _)| other == column).expect("a column").1;
            assert_eq!(found.len(), list(expected).len());
            for (row, (found, expected)) in found.iter().zip(list(expected)).enumerate() {
                check(format!("{name}: {column} of sample {row}"), *found, expected);
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(values > 2000, "{values}");
}
