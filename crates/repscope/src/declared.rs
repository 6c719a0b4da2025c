// SPDX-License-Identifier: MIT
//! Everything that is declared about metrics and commands, as JSON: bindings make their functions, documentation and types
//! from it.

use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction};
use repscope_core::{ClusterCount, METRICS, Metric};
use serde_json::{Value, json};

use crate::analysis::perturb::Predictions;
use crate::options::Word;
use crate::performance_file::PerformanceSource;
use crate::request;
use crate::source::{IdSource, Named, Source};

/// Every metric: what it takes, the options that change it, what it gives, and its page.
pub fn metrics() -> Value {
    METRICS.iter().map(|metric| of_metric(metric)).collect()
}

/// The options of a command, or none where there is no such command.
pub fn options(command: &str) -> Value {
    let own = request::command(command);
    let arguments = own.iter().flat_map(|own| own.get_arguments());
    arguments
        .filter(|arg| arg.get_long().is_some())
        .map(of_option)
        .collect()
}

fn of_metric(metric: &Metric) -> Value {
    let command = metric.analysis.name();
    let declared = options(command);
    let declared = declared.as_array().cloned().unwrap_or_default();
    let named = |name: &&str| declared.iter().find(|own| own["name"] == **name).cloned();
    let outputs: Value = metric
        .outputs
        .iter()
        .map(|output| json!({"id": output.id, "about": output.about, "better": output.better, "range": output.range, "bare": output.has_bare_name}))
        .collect();
    json!({
        "id": metric.id, "title": metric.title, "command": command, "page": metric.definition(), "outputs": outputs,
        "takes": metric.takes,
        "options": metric.options.iter().filter_map(named).collect::<Vec<_>>(),
    })
}

fn of_option(arg: &Arg) -> Value {
    let choices = arg.get_possible_values();
    let choices: Vec<&str> = choices.iter().map(|value| value.get_name()).collect();
    let is_flag = !arg.get_action().takes_values();
    let many =
        matches!(arg.get_action(), ArgAction::Append) || arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    let defaults: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    json!({
        "name": arg.get_long(), "field": arg.get_id().as_str(), "heading": arg.get_help_heading(),
        "help": arg.get_help().map(ToString::to_string),
        "kind": if is_flag { "flag" } else { kind(arg.get_value_parser()) },
        "many": many && !is_flag,
        "choices": if is_flag { Vec::new() } else { choices },
        "default": if is_flag { Vec::new() } else { defaults },
    })
}

/// `integer`, `number`, `source` (an array or its path), `named` (sources by name), `path`, `count` (an integer or a word), `word` (a
/// number or a word) or `text`.
fn kind(parser: &ValueParser) -> &'static str {
    use std::any::TypeId;
    let kinds = [
        (TypeId::of::<usize>(), "integer"),
        (TypeId::of::<u64>(), "integer"),
        (TypeId::of::<i64>(), "integer"),
        (TypeId::of::<f64>(), "number"),
        (TypeId::of::<f32>(), "number"),
        (TypeId::of::<Source>(), "source"),
        (TypeId::of::<PerformanceSource>(), "path"),
        (TypeId::of::<Predictions>(), "path"),
        (TypeId::of::<Named>(), "named"),
        (TypeId::of::<IdSource>(), "named"),
        (TypeId::of::<PathBuf>(), "path"),
        (TypeId::of::<ClusterCount>(), "count"),
        (TypeId::of::<Word>(), "word"),
    ];
    kinds
        .iter()
        .find(|(id, _)| parser.type_id() == *id)
        .map_or("text", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_a_metric_names_is_one_of_its_command() {
        for metric in METRICS {
            let found = of_metric(metric)["options"].as_array().map(Vec::len);
            assert_eq!(found, Some(metric.options.len()), "{}", metric.id);
        }
    }

    #[test]
    fn an_option_says_its_kind_and_default() {
        let all = options("neighborhood");
        let find = |name: &str| {
            let all = all.as_array().expect("a list");
            all.iter().find(|own| own["name"] == name).expect("an option").clone()
        };
        let k = find("k");
        assert_eq!((&k["kind"], &k["many"]), (&json!("integer"), &json!(true)));
        assert_eq!(k["default"], json!(["5", "10", "15"]));
        assert_eq!(find("distance")["choices"], json!(["euclidean", "cosine"]));
        assert_eq!(find("level")["kind"], json!("number"));
        assert_eq!(options("nonsense"), json!([]));
    }
}
