// SPDX-License-Identifier: MIT
//! Options that several analyses share, and what all option structs have in common.
//!
//! A struct of options is the `--help` of a command, a table of a study file, the keyword arguments of a Python function, and plain
//! data: its `#[arg]` attributes hold the only help texts and defaults. [`layers`] reads it from other spellings than the command line.

mod data;
mod encoders;
pub mod layers;
mod outputs;
mod settings;
mod versions;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, Command};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use data::POOLS;
pub use data::{Data, Groups, Models, SeenOption};
pub use encoders::{EncoderOptions, NumberEncoderOptions, RuntimeChoice, RuntimeOptions, TextEncoderOptions};
pub use outputs::{FigureFormat, FigureOptions, FormatChoice, Outputs, formats};
pub use settings::{MOST_ROWS, MOST_SPLITS, Machine, Settings};
pub use versions::{LayerOptions, VersionOptions};

/// The values that options have where nobody says otherwise: those of the command line.
pub(crate) fn defaults<T: Args>() -> T {
    let command = T::augment_args(Command::new("defaults").no_binary_name(true));
    let ids: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
    let command = ids
        .iter()
        .fold(command, |command, id| command.mut_arg(id, |arg| arg.required(false)));
    // What else clap may require is checked where options are used.
    let matches: ArgMatches = command.ignore_errors(true).get_matches_from(Vec::<String>::new());
    T::from_arg_matches(&matches).expect("every option has a default or is optional")
}

/// Implements `Default` by the defaults of the command line.
macro_rules! default_options {
    ($($name:ty),* $(,)?) => {
        $(impl Default for $name {
            fn default() -> Self {
                $crate::options::defaults()
            }
        })*
    };
}
pub(crate) use default_options;

/// Parses one of some words: those by which serde knows the type. Each comes with its help, which may be empty.
pub(crate) fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: &'static [(&'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(word, help)| {
        if help.is_empty() {
            PossibleValue::new(*word)
        } else {
            PossibleValue::new(*word).help(*help)
        }
    });
    PossibleValuesParser::new(values)
        .map(|word| serde_json::from_value(word.into()).expect("every listed word is a value"))
}

/// The same for words, separated by spaces, that need no help.
pub(crate) fn words<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.split(' '))
        .map(|word| serde_json::from_value(word.into()).expect("every listed word is a value"))
}

/// The word by which serde knows a value.
pub(crate) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

/// A word or a number, as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Word(pub String);

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Word(text.to_string())
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Word(text)),
            serde_json::Value::Number(number) => Ok(Word(number.to_string())),
            other => Err(D::Error::custom(format!("{other} is neither a word nor a number"))),
        }
    }
}
