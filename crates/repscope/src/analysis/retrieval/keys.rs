// SPDX-License-Identifier: MIT
//! Which array of a file is meant, where the path does not say it.

use anyhow::{Result, bail};
use repscope_io::Format;

use crate::source::Place;

/// The name to look for in a file with several arrays.
pub struct Key {
    /// The option that names it, where there is one.
    option: Option<&'static str>,
    /// What was given.
    given: Option<String>,
    /// What is looked for otherwise.
    usual: &'static str,
}

impl Key {
    pub fn embeddings(option: Option<&'static str>, given: Option<&str>) -> Self {
        Key {
            option,
            given: given.map(str::to_string),
            usual: "embeddings",
        }
    }

    pub fn labels(option: Option<&'static str>, given: Option<&str>) -> Self {
        Key {
            option,
            given: given.map(str::to_string),
            usual: "labels",
        }
    }
}

/// The path with the array it means. Where the usual name is missing, the only array of the file will do.
pub fn resolve(place: &Place, key: &Key, ids: Option<&str>, warnings: &mut Vec<String>) -> Result<Place> {
    let Some(path) = place.file().filter(|path| path.key.is_none()) else {
        return Ok(place.clone());
    };
    let with = |key: &str| place.with_key(key);
    let is_table = match Format::of_path(&path.path) {
        None | Some(Format::Npy | Format::Text) => {
            if let (Some(option), Some(given)) = (key.option, &key.given) {
                warnings.push(format!(
                    "`{option}` = {given} is not needed: {path} holds one array without a name"
                ));
            }
            return Ok(place.clone());
        }
        Some(format) => matches!(format, Format::Csv | Format::Tsv),
    };
    if let Some(given) = &key.given {
        return Ok(with(given));
    }
    // The columns of a table of numbers are one matrix.
    if is_table && key.usual == "embeddings" {
        return Ok(place.clone());
    }
    let arrays = place.list()?;
    // What --prototype-texts writes calls its column `label`.
    let usual = [key.usual, "label"];
    for name in &usual[..if is_table { 2 } else { 1 }] {
        if arrays.iter().any(|a| a.key.as_deref() == Some(name)) {
            return Ok(with(name));
        }
    }
    let others: Vec<&str> = arrays
        .iter()
        .filter_map(|a| a.key.as_deref())
        .filter(|k| Some(*k) != ids)
        .collect();
    match others[..] {
        [only] => {
            if key.option.is_some() && !is_table {
                warnings.push(format!(
                    "{path} has no array `{}`; its only array `{only}` is used",
                    key.usual
                ));
            }
            Ok(with(only))
        }
        _ => match with(key.usual).read() {
            Ok(_) => Ok(with(key.usual)),
            Err(error) => {
                let option = key.option.map_or(String::new(), |o| format!(", or as `{o}`"));
                bail!("{error}. Name the one you mean: {path}#KEY{option}")
            }
        },
    }
}
