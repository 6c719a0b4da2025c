// SPDX-License-Identifier: MIT
//! Where the representation analysis keeps its files: encoders in `weights/NAME/best_encoder.*`, states in `datasets/*.pth`.
//!
//! A command that is given no model looks there and nowhere else, and says what it found. Where there is more than one candidate, it stops and lists them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_io::{InputPath, read_dataset};

use crate::analysis::{self, Analysis, Origin};
use crate::evaluation::request::Evaluate;
use crate::options::Data;
use crate::search::list;
use crate::source::{Named, Source};

const WEIGHTS: &str = "weights";
const ENCODER: &str = "best_encoder";
/// What an encoder can be stored as.
const ENDINGS: [&str; 6] = ["pth", "pt", "ckpt", "bin", "safetensors", "onnx"];
const DATASETS: &str = "datasets";
const DATASET: &str = "pth";

/// What lies at the usual places.
struct Usual {
    models: Vec<Named>,
    /// None where states are given already.
    states: Option<Source>,
    /// What was found, in a sentence.
    said: String,
}

/// The request with the encoders and states of a folder, where it names no model, and what was found. Nothing changes where the folder
/// has no encoders.
pub fn complete(request: Box<dyn Analysis>, folder: &Path) -> crate::Result<(Box<dyn Analysis>, Option<String>)> {
    let declared = request.declared();
    if declared.data != Origin::Study {
        return Ok((request, None));
    }
    let (data, said) = complete_data(request.data(), folder)?;
    if said.is_none() {
        return Ok((request, None));
    }
    let mut layer = request.said();
    layer.insert("models".to_string(), serde_json::json!(data.models));
    layer.insert("states".to_string(), serde_json::json!(data.states));
    let request = (declared.read)(layer).map_err(anyhow::Error::msg)?;
    Ok((request, said))
}

/// The same for an evaluation of several analyses. A study file says by itself what it is about.
pub fn complete_evaluation(mut request: Evaluate, folder: &Path) -> crate::Result<(Evaluate, Option<String>)> {
    let has_own_data = analysis::evaluated()
        .filter(|own| own.data == Origin::Own)
        .any(|own| request.mentions(own.kind));
    if request.study.is_some() || has_own_data {
        return Ok((request, None));
    }
    let (data, said) = complete_data(request.data, folder)?;
    request.data = data;
    Ok((request, said))
}

/// The same for inputs alone.
pub fn complete_data(data: Data, folder: &Path) -> crate::Result<(Data, Option<String>)> {
    if !data.has_no_model() {
        return Ok((data, None));
    }
    let Some(found) = find(folder, data.states.is_none())? else {
        return Ok((data, None));
    };
    let data = Data {
        models: found.models,
        states: found.states.or(data.states.clone()),
        ..data
    };
    Ok((data, Some(found.said)))
}

fn find(folder: &Path, are_states_missing: bool) -> Result<Option<Usual>> {
    let mut models = Vec::new();
    for own in entries(&folder.join(WEIGHTS))?.into_iter().filter(|path| path.is_dir()) {
        let is_encoder = |path: &PathBuf| {
            let is_known = |ending: &str| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
            path.file_stem().is_some_and(|stem| stem == ENCODER)
                && extension(path).is_some_and(is_known)
                && path.is_file()
        };
        let name = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match &entries(&own)?.into_iter().filter(is_encoder).collect::<Vec<_>>()[..] {
            [] => {}
            [encoder] => models.push((name, encoder.display().to_string())),
            several => bail!(
                "{} holds {}, and one of them is the encoder; say which with `model` = {name}=PATH",
                own.display(),
                list(several.iter().map(|path| file_name(path)))
            ),
        }
    }
    if models.is_empty() {
        return Ok(None);
    }
    let states = are_states_missing.then(|| dataset(folder)).transpose()?;
    let found: Vec<String> = models.iter().map(|(name, path)| format!("`{name}` ({path})")).collect();
    let (found, weights) = (found.join(", "), folder.join(WEIGHTS));
    let of_states = states
        .as_ref()
        .map_or(String::new(), |states| format!("; the states {states}"));
    Ok(Some(Usual {
        said: format!(
            "no model is given; found the encoders {found} in {}{of_states}",
            weights.display()
        ),
        models: models
            .into_iter()
            .map(|(name, path)| Named::Source(name, Source::File(path), None))
            .collect(),
        states,
    }))
}

/// The one dataset.
fn dataset(folder: &Path) -> Result<Source> {
    let at = folder.join(DATASETS);
    let is_dataset =
        |path: &PathBuf| extension(path).is_some_and(|own| own.eq_ignore_ascii_case(DATASET)) && path.is_file();
    let found: Vec<PathBuf> = entries(&at)?.into_iter().filter(is_dataset).collect();
    match &found[..] {
        [only] => Ok(Source::File(only.display().to_string())),
        [] => bail!(
            "{} holds encoders, but {} holds no .{DATASET} with what they see; give it with `states` PATH",
            folder.join(WEIGHTS).display(),
            at.display()
        ),
        several => {
            let lines: Vec<String> = several.iter().map(|path| format!("\n- {}", described(path))).collect();
            bail!(
                "{} holds {} datasets; say which with `states` PATH{}",
                at.display(),
                several.len(),
                lines.concat()
            )
        }
    }
}

/// A dataset and how many states it has, or why it is none.
fn described(path: &Path) -> String {
    let what = match read_dataset(&InputPath::file(path)) {
        Ok(Some(own)) => format!("{} states of {}", own.states.rows(), own.part),
        Ok(None) => "no states with stop flags".to_string(),
        // The message begins with the path.
        Err(error) => return error.to_string(),
    };
    format!("{} ({})", path.display(), what.trim_end_matches(" of "))
}

/// What a folder holds, by name; nothing where there is no such folder. Hidden files are left out.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let wrong = || format!("{}: the folder cannot be listed", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(wrong)? {
        let path = entry.with_context(wrong)?.path();
        found.extend((!file_name(&path).starts_with('.')).then_some(path));
    }
    found.sort();
    Ok(found)
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|own| own.to_str())
}
