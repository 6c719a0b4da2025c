// SPDX-License-Identifier: MIT
//! Options that are spelled as data: the tables of a study file, `--set`, and the keyword arguments of a program.
//!
//! A key is the name of an option. What a layer does not say stays absent, so that layers can be put over each other and become
//! options once, at the end. Every key and value is checked by itself, so that all problems are found at once.

use std::path::Path;

use clap::{Arg, ArgAction, Args, Command};
use repscope_io::names::did_you_mean;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::source::Bind;

/// Options by name.
pub type Layer = Map<String, Value>;

/// A struct of options, as clap sees it.
pub fn command<T: Args>() -> Command {
    T::augment_args(Command::new("options"))
}

/// The long name of an option.
pub fn long(arg: &Arg) -> &str {
    arg.get_long().unwrap_or_default()
}

/// The key of an option in a study file.
pub fn key(arg: &Arg) -> String {
    long(arg).replace('-', "_")
}

/// The option that a key means.
pub fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let option = name.replace('_', "-");
    command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some())
        .find(|arg| {
            let is_alias = |aliases: Option<Vec<&str>>| aliases.is_some_and(|all| all.contains(&option.as_str()));
            long(arg) == option || arg.get_id() == name || is_alias(arg.get_all_aliases())
        })
}

/// The options of which a table consists: those of `T` that `is_own` accepts.
pub fn keys<T: Args>(is_own: impl Fn(&Arg) -> bool) -> Vec<String> {
    let command = command::<T>();
    let own = command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some() && is_own(arg));
    own.map(key).collect()
}

/// Reads one option into a layer, with paths relative to a folder; what is wrong with it otherwise.
pub fn put<T>(layer: &mut Layer, arg: &Arg, value: Value, folder: &Path) -> Result<(), String>
where
    T: Args + DeserializeOwned + Serialize + Bind,
{
    let field = arg.get_id().as_str();
    let alone = Map::from_iter([(field.to_string(), plain(arg, value)?)]);
    let mut options: T = serde_json::from_value(alone.into()).map_err(|error| in_words(&error))?;
    options.rebase(folder);
    layer.extend(said(&options, |own| own == field));
    Ok(())
}

/// The name of an unknown option among those that are known.
pub fn unknown(name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return "is no option: there are none here".to_string();
    }
    let similar = did_you_mean(name, known.iter().map(String::as_str));
    if similar.is_empty() {
        format!("is no option; there are {}", known.join(", "))
    } else {
        format!("is no option{similar}")
    }
}

/// The layer as options; what it does not say has its default.
pub fn read<T: DeserializeOwned>(layer: Layer) -> Result<T, String> {
    serde_json::from_value(layer.into()).map_err(|error| in_words(&error))
}

/// What was said of some options: those of their fields that `is_said` names.
pub fn said<T: Serialize>(options: &T, is_said: impl Fn(&str) -> bool) -> Layer {
    let fields = object(serde_json::to_value(options).unwrap_or_default()).into_iter();
    fields.filter(|(field, _)| is_said(field)).collect()
}

/// The members of an object; none for anything else.
pub fn object(value: Value) -> Layer {
    match value {
        Value::Object(members) => members,
        _ => Layer::new(),
    }
}

/// A value in the form that its field has: one value for a list is a list of it, a table of names and values is a list of
/// `NAME=VALUE`, a boolean for yes or no is the word.
fn plain(arg: &Arg, value: Value) -> Result<Value, String> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            Value::Bool(_) => Ok(value),
            _ => Err("must be true or false".to_string()),
        };
    }
    let has = |word: &str| arg.get_possible_values().iter().any(|own| own.get_name() == word);
    let value = match value {
        Value::Bool(yes) if has("yes") => Value::from(if yes { "yes" } else { "no" }),
        Value::Null => return Err("must not be empty".to_string()),
        other => other,
    };
    let is_many = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    if !is_many {
        return Ok(value);
    }
    let list = match value {
        Value::Array(values) => values,
        Value::Object(entries) if !entries.contains_key("array") && !entries.contains_key("source") => {
            let text = |value: Value| match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let named = |(name, value): (String, Value)| match value {
                Value::Array(values) => {
                    let each = values.into_iter().map(text).collect::<Vec<_>>();
                    Value::from(format!("{name}={}", each.join(",")))
                }
                value => Value::from(format!("{name}={}", text(value))),
            };
            entries.into_iter().map(named).collect()
        }
        one => vec![one],
    };
    if list.is_empty() {
        return Err("is empty; leave it out, or give a value".to_string());
    }
    Ok(list.into())
}

/// What serde has to say, in the words of users.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    let kind = |expected: &str| match expected {
        "f64" | "f32" => "a number".to_string(),
        "usize" | "u64" | "u32" => "an integer of at least 0".to_string(),
        "i64" => "an integer".to_string(),
        "a string" => "text, in quotes".to_string(),
        other => other.to_string(),
    };
    let of_type = text
        .strip_prefix("invalid type: ")
        .or(text.strip_prefix("invalid value: "));
    if let Some((found, expected)) = of_type.and_then(|rest| rest.split_once(", expected ")) {
        return format!("must be {}, not {found}", kind(expected));
    }
    if let Some((found, expected)) = text
        .strip_prefix("unknown variant ")
        .and_then(|rest| rest.split_once(", expected "))
    {
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let similar = did_you_mean(found.trim_matches('`'), known.iter().copied());
        return format!("is {found}, which is not one of {}{similar}", known.join(", "));
    }
    text.to_string()
}
