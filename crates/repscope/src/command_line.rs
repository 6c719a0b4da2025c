// SPDX-License-Identifier: MIT
//! Options as the command line that asks for the same again, for the page and the results document.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Args, Command};
use serde::Serialize;
use serde_json::Value;

use crate::analysis::named;
use crate::evaluation::request::Evaluate;
use crate::options::layers::{self, Layer, long, object};
use crate::options::{Machine, Outputs};

/// A command with these options.
pub fn of<T: Args + Serialize + Default>(name: &str, options: &T) -> String {
    let all = |options: &T| layers::said(options, |_| true);
    written(name, &layers::command::<T>(), &all(options), &all(&T::default()))
}

/// An evaluation, whose study file may say options of single analyses.
pub fn of_evaluation(options: &Evaluate) -> String {
    let mut options = options.clone();
    options.set = others(&options);
    of("evaluate", &options)
}

/// `geometry.splits=20`, for options of single analyses that no other option of an evaluation says.
fn others(options: &Evaluate) -> Vec<String> {
    // What the options that an evaluation has itself say already.
    let mut plain = Evaluate {
        choice: options.choice.clone(),
        clusters: options.clusters,
        preset: options.preset,
        performance: options.performance.clone(),
        ..Evaluate::default()
    };
    plain.add_typed(&mut Default::default());
    let said =
        |all: &BTreeMap<String, Layer>, name: &str, key: &str| all.get(name).and_then(|own| own.get(key)).cloned();
    let mut words = Vec::new();
    for (name, own) in &options.analyses {
        let defaults = named(name).map(|own| (own.defaults)()).unwrap_or_default();
        let other = own.iter().filter(|(key, value)| {
            said(&plain.analyses, name, key).as_ref() != Some(value) && defaults.get(*key) != Some(value)
        });
        words.extend(other.map(|(key, value)| format!("{name}.{key}={}", texts(value).join(","))));
    }
    words
}

/// The options that differ from their defaults. Where results go and how fast they come is left out: neither changes a number.
fn written(name: &str, command: &Command, said: &Layer, defaults: &Layer) -> String {
    let of_machine = object(serde_json::to_value(Machine::default()).unwrap_or_default());
    let of_outputs = object(serde_json::to_value(Outputs::default()).unwrap_or_default());
    let is_left_out = |field: &str| {
        of_machine.contains_key(field)
            || of_outputs.contains_key(field)
            || ["resume", "inputs", "init"].contains(&field)
    };
    let mut words = vec!["repscope".to_string(), name.to_string()];
    for arg in command.get_arguments().filter(|arg| arg.get_long().is_some()) {
        let field = arg.get_id().as_str();
        let value = said
            .get(field)
            .filter(|value| !value.is_null() && defaults.get(field) != Some(value));
        if let Some(value) = value.filter(|_| !is_left_out(field)) {
            words.extend(option(arg, value));
        }
    }
    words.join(" ")
}

/// `--model a=z.npy --model b=w.npy`, `--k 5 10`, `--ordered`.
fn option(arg: &Arg, value: &Value) -> Vec<String> {
    let name = format!("--{}", long(arg));
    let texts: Vec<String> = texts(value).iter().map(|text| quoted(text)).collect();
    match value {
        Value::Bool(_) if matches!(arg.get_action(), ArgAction::SetTrue) => vec![name],
        _ if long(arg) == "model" => texts.iter().map(|text| format!("{name} {text}")).collect(),
        _ => vec![format!("{name} {}", texts.join(" "))],
    }
}

/// The words of a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// A word as a shell reads it.
fn quoted(text: &str) -> String {
    if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "=._-/@:,+%".contains(c)) {
        text.to_string()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Geometry;
    use crate::evaluation::problems::Problems;

    #[test]
    fn only_what_changes_numbers_is_said_and_can_be_typed_again() {
        let request: Geometry = serde_json::from_value(serde_json::json!({
            "models": ["a=my z.npy", "b=w.npy"], "labels": "y.npy", "splits": 20, "restarts": 10, "threads": 3, "seed": 7,
        }))
        .expect("options");
        assert_eq!(
            of("geometry", &request),
            "repscope geometry --model 'a=my z.npy' --model b=w.npy --labels y.npy --splits 20 --seed 7"
        );
    }

    #[test]
    fn options_of_single_analyses_are_said_once() {
        let options: Evaluate = serde_json::from_value(serde_json::json!({
            "models": ["z.npy"], "k": [5, 7], "set": ["geometry.splits=20", "geometry.restarts=10"], "ordered": true,
        }))
        .expect("options");
        let mut problems = Problems::default();
        let options = options.gather(|_| true, &mut problems).expect("no study file");
        assert!(problems.is_empty());
        assert_eq!(
            of_evaluation(&options),
            "repscope evaluate --ordered --model z.npy --k 5 7 --set geometry.splits=20"
        );
    }
}
