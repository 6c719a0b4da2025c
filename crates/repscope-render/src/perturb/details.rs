// SPDX-License-Identifier: MIT
//! `detailed_results.json` of perturbation impact: every score, precision, recall and F1 of every class, confusion matrices, and what
//! each set does to each class. There is no clock in it: the same results are the same bytes, and times are in a file beside it.

use super::summary::key;
use super::{BASELINE, Run, cell, names};
use crate::csv_files::word;
use crate::json::Json;
use repscope_core::{Breakdown, Results, Score};
use serde_json::Value;
use std::collections::HashMap;

/// Matrices of more classes than this are listed by the pairs that occur: squares of them would fill disks.
const MOST_CLASSES: usize = 1000;

/// Columns that count.
const COUNTS: [&str; 5] = ["support", "predicted", "right", "samples", "count"];

/// `detailed_results.json`; `config` is whatever the command was asked to do.
pub fn perturb_details(results: &Results, suffix: &str, config: &Value) -> String {
    let config = Json::from(config);
    let Some(run) = Run::first(results) else {
        return Json::object([("config", config)]).document();
    };
    let scores = results.scores.iter().filter(|score| score.model == run.model);
    let warnings = results.warnings.iter().map(|warning| Json::text(warning.as_str()));
    Json::object([
        ("model", Json::text(run.model)),
        ("config", config),
        ("scores", Json::List(scores.map(of_score).collect())),
        ("per_class", per_class(&run, suffix, "accuracy")),
        ("confusion_matrices", confusion_matrices(&run, suffix)),
        ("per_class_pis", per_class(&run, suffix, "pis")),
        ("warnings", Json::List(warnings.collect())),
        ("processing_timestamps", Json::text("run.json")),
    ])
    .document()
}

fn of_score(score: &Score) -> Json {
    let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::text);
    Json::object([
        ("metric", Json::text(score.metric.as_str())),
        ("value", Json::number(score.value)),
        ("interval", Json::pair(score.interval)),
        ("level", Json::number(score.level)),
        ("standard_error", Json::number(score.standard_error)),
        ("n", Json::Count(score.n as u64)),
        ("better", Json::text(word(score.better))),
        ("chance", Json::number(score.chance)),
        ("unit", text(&score.unit)),
        ("method", text(&score.method)),
        ("reason", text(&score.reason)),
        ("note", text(&score.note)),
    ])
}

/// The inputs as they are, and every set: the name in the identity, and the key in the document.
fn all_sets(run: &Run, suffix: &str) -> Vec<(String, String)> {
    let sets = run.sets.iter().map(|set| (set.name.clone(), key(&set.name, suffix)));
    let baseline = (BASELINE.to_string(), BASELINE.to_string());
    std::iter::once(baseline).chain(sets).collect()
}

/// What each head has of each set; heads without anything are left out.
fn by_head_and_set(run: &Run, suffix: &str, of: impl Fn(&str, &str) -> Option<Json>) -> Vec<(String, Json)> {
    let sets = all_sets(run, suffix);
    let of_head = |head: &String| {
        let known = sets
            .iter()
            .filter_map(|(set, key)| Some((key.as_str(), of(head, set)?)));
        let known: Vec<(&str, Json)> = known.collect();
        (!known.is_empty()).then(|| (head.clone(), Json::object(known)))
    };
    run.heads.iter().filter_map(of_head).collect()
}

fn per_class(run: &Run, suffix: &str, measure: &str) -> Json {
    let table = |head: &str, set: &str| run.breakdown(&format!("{measure}.{head}@{set}"));
    let of = |head: &str, set: &str| Some(Json::List(lines(table(head, set)?)));
    Json::Object(by_head_and_set(run, suffix, of))
}

/// Lines of a table as objects: names first, then numbers.
fn lines(table: &Breakdown) -> Vec<Json> {
    let count = table.keys.first().map_or(0, |key| key.values.len());
    let line = |line: usize| {
        let names = table.keys.iter().map(|key| {
            let name = key.values.get(line);
            (
                key.name.as_str(),
                name.map_or(Json::Null, |name| Json::text(name.as_str())),
            )
        });
        let numbers = table.columns.iter().map(|column| {
            let value = cell(table, &column.name, line);
            let value = if COUNTS.contains(&column.name.as_str()) {
                Json::count(value)
            } else {
                Json::number(value)
            };
            (column.name.as_str(), value)
        });
        Json::object(names.chain(numbers))
    };
    (0..count).map(line).collect()
}

/// Rows are the true classes, columns what the head says.
fn confusion_matrices(run: &Run, suffix: &str) -> Json {
    let classes = |head: &str| {
        let table = run.breakdown(&format!("accuracy.{head}@{BASELINE}"));
        table.map_or(&[][..], |table| names(table, "class"))
    };
    let of = |head: &str, set: &str| {
        let table = run.breakdown(&format!("accuracy.{head}.confusion@{set}"))?;
        Some(match classes(head) {
            few if few.len() <= MOST_CLASSES && !few.is_empty() => matrix(table, few),
            _ => Json::List(lines(table)),
        })
    };
    let heads = by_head_and_set(run, suffix, of).into_iter().map(|(head, sets)| {
        let names = classes(&head).iter().map(|name| Json::text(name.as_str()));
        let members = Json::object([("classes", Json::List(names.collect())), ("counts", sets)]);
        (head, members)
    });
    Json::Object(heads.collect())
}

fn matrix(table: &Breakdown, classes: &[String]) -> Json {
    let mut counts = vec![vec![0.0; classes.len()]; classes.len()];
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, class) in classes.iter().enumerate() {
        places.entry(class).or_insert(place);
    }
    let pairs = names(table, "class").iter().zip(names(table, "predicted"));
    for (line, (class, predicted)) in pairs.enumerate() {
        if let (Some(&row), Some(&column)) = (places.get(class.as_str()), places.get(predicted.as_str())) {
            counts[row][column] += cell(table, "count", line).unwrap_or(0.0);
        }
    }
    let row = |row: &Vec<f64>| Json::List(row.iter().map(|count| Json::count(Some(*count))).collect());
    Json::List(counts.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{of_document, one_head};
    use super::*;
    use serde_json::json;

    fn read(results: &Results) -> Value {
        let text = perturb_details(results, "blackout", &json!({"seed": 42, "batch_size": 256}));
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn confusion_matrices_are_dense_with_rows_for_true_classes() {
        let of_head = &read(&of_document())["confusion_matrices"]["modulation"];
        assert_eq!(of_head["classes"], json!(["BPSK", "QPSK", "64QAM"]));
        let counts = json!([[2, 0, 2], [0, 6, 0], [0, 0, 0]]);
        assert_eq!(
            (&of_head["counts"]["baseline"], &of_head["counts"]["top5_blackout"]),
            (&counts, &counts)
        );
    }

    #[test]
    fn classes_have_their_names_and_what_does_not_exist_is_null() {
        let details = read(&of_document());
        let classes = &details["per_class"]["modulation"]["top5_blackout"];
        assert_eq!(
            classes[1],
            json!({"class": "QPSK", "support": 6, "precision": 0.75, "recall": 1.0, "f1": 6.0 / 7.0})
        );
        assert_eq!(
            (&classes[2]["class"], &classes[2]["f1"]),
            (&json!("64QAM"), &Value::Null)
        );
        let impacts = details["per_class_pis"]["modulation"]["top5_blackout"]
            .as_array()
            .unwrap();
        assert_eq!(
            (impacts.len(), &impacts[3]["head"], &impacts[3]["pis"]),
            (4, &json!("snr"), &json!(8.0))
        );
    }

    #[test]
    fn every_score_and_the_configuration_are_there() {
        let results = of_document();
        let details = read(&results);
        assert_eq!(details["config"], json!({"seed": 42, "batch_size": 256}));
        assert_eq!(details["scores"].as_array().unwrap().len(), results.scores.len());
        let one = read(&one_head());
        assert_eq!(one["scores"][4]["reason"], "the share is not known");
        assert_eq!(one["per_class"], json!({}));
        assert_eq!(
            read(&Results::default()),
            json!({"config": {"seed": 42, "batch_size": 256}})
        );
    }

    #[test]
    fn many_classes_are_listed_by_the_pairs_that_occur() {
        let mut results = of_document();
        for table in &mut results.breakdowns {
            if table.metric == "accuracy.modulation@baseline" {
                table.keys[0].values = (0..=MOST_CLASSES).map(|i| format!("class {i}")).collect();
            }
        }
        let pairs = &read(&results)["confusion_matrices"]["modulation"]["counts"]["baseline"];
        assert_eq!(pairs[1], json!({"class": "BPSK", "predicted": "64QAM", "count": 2}));
    }
}
