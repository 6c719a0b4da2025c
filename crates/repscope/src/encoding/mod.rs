// SPDX-License-Identifier: MIT
//! Models that are run: what they see ([`Seen`]), the model itself ([`Model`]), and embeddings that are cached for the next run
//! (`store`).

mod encoder_input;
mod model;
mod store;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use glob::Pattern;
use repscope_core::Space;
use repscope_core::run::Driver;
use repscope_io::{Array, Data, Files, Format, InputPath, Pool, Weights, list_arrays, read_array};
use repscope_models::architectures::recognize;
use repscope_models::{Encoder, Output, Rows};

use crate::options::{EncoderOptions, Machine};
use crate::reader::Reader;
use crate::search::list;
use crate::session::Session;
use crate::source::Place;

pub use encoder_input::{Seen, bad_images};
pub use model::{Model, open_numbers, open_numbers_beside};
pub use store::{Sink, Stored};

/// Whether a place holds a model that is run, not its embeddings.
pub fn is_encoder(place: &Place) -> Result<bool> {
    let Some(path) = place.file() else {
        return Ok(false);
    };
    if is_model_folder(&path.path) || has_extension(&path.path, "onnx") {
        return Ok(true);
    }
    if path.key.as_ref().is_some_and(|key| key.starts_with(':')) {
        return Ok(false); // numbers without a header, whatever the extension
    }
    let format = Format::of_path(&path.path);
    if !matches!(format, Some(Format::Torch | Format::Safetensors)) || !path.path.is_file() {
        return Ok(false);
    }
    let arrays = list_arrays(&path.path)?;
    let is_array = match &path.key {
        Some(key) => arrays.iter().any(|array| array.key.as_ref() == Some(key)),
        None => arrays.len() == 1,
    };
    let is_weight = |key: &str| key.ends_with(".weight") || key.ends_with("in_proj_weight");
    let has_weights = arrays.iter().filter_map(|array| array.key.as_deref()).any(is_weight);
    if is_array || !has_weights {
        return Ok(false);
    }
    let weights = Weights::open(&path.path, path.key.as_deref())?;
    recognize(&weights).with_context(|| path.to_string())?;
    Ok(true)
}

/// A folder as Hugging Face and sentence-transformers write it.
pub fn is_model_folder(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_file();
    path.is_dir() && (has("tokenizer.json") || has("modules.json") || has("config.json"))
}

pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// How models are run.
#[derive(Clone, Copy)]
pub struct Encoders<'a> {
    pub options: &'a EncoderOptions,
    pub machine: &'a Machine,
    pub session: &'a Session<'a>,
}

impl Encoders<'_> {
    /// Opens a model, and keeps a record of it.
    pub fn open(&self, place: &Place, reader: &mut Reader) -> Result<Model> {
        let path = file(place)?;
        let model = Model::open(path, self.options, self.machine)?;
        reader.records.push(model.record(path));
        Ok(model)
    }

    /// The embeddings of what a model sees, computed or from an earlier run.
    pub fn stored(&self, model: &mut Model, name: &str, seen: &Seen, beside: Option<&Path>) -> Result<Stored> {
        let no_cache = self.options.numbers.runtime.no_cache;
        stored(model, name, seen, beside, no_cache, self.session)
    }

    /// The embeddings of all rows as a space, from the one output that holds them.
    pub fn space(
        &self,
        model: &mut Model,
        name: &str,
        seen: &Seen,
        pool: Pool,
        warnings: &mut Vec<String>,
    ) -> Result<Space> {
        let stored = self.stored(model, name, seen, None)?;
        for note in model.to_be_known(&stored.notes) {
            let warning = format!("{name}: {note}");
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let array = stored.only()?;
        array.into_space(name, pool).with_context(|| name.to_string())
    }

    /// The embeddings of all outputs whose names match, each with its name and the file where it is kept, from one run.
    pub fn outputs(
        &self,
        model: &mut Model,
        name: &str,
        seen: &Seen,
        pool: Pool,
        wanted: &Pattern,
    ) -> Result<Vec<(String, InputPath, Space)>> {
        let stored = self.stored(model, name, seen, None)?;
        let mut found = Vec::new();
        for (output, file) in stored.outputs.iter().filter(|(output, _)| wanted.matches(output)) {
            let path = InputPath::file(file);
            let space = read_array(&path)?.into_space(&format!("{name}/{output}"), pool);
            found.push((
                output.clone(),
                path,
                space.with_context(|| format!("the output {output} of {name}"))?,
            ));
        }
        if found.is_empty() {
            let known = list(stored.outputs.iter().map(|(output, _)| output.as_str()));
            bail!("no output of `{name}` is called like `{wanted}`; it has {known}");
        }
        Ok(found)
    }
}

/// The embeddings of what a model sees, computed or from an earlier run.
pub fn stored(
    model: &mut Model,
    name: &str,
    seen: &Seen,
    beside: Option<&Path>,
    no_cache: bool,
    session: &Session,
) -> Result<Stored> {
    match stored_once(model, name, seen, beside, no_cache, session) {
        Err(error) if model.fall_back(&error)? => stored_once(model, name, seen, beside, no_cache, session),
        done => done,
    }
}

fn stored_once(
    model: &mut Model,
    name: &str,
    seen: &Seen,
    beside: Option<&Path>,
    no_cache: bool,
    session: &Session,
) -> Result<Stored> {
    let place = store::Place::find(no_cache, beside, session)?;
    let key = store::key(model.digest(), seen.digest());
    let files: Files = model.files().iter().cloned().collect();
    let can_go_on = model.can_go_on();
    let mut run = |first: usize, sink: &mut Sink| {
        if first > 0 {
            session.say(&format!(
                "going on with an interrupted run: {first} of {} rows of `{name}` are there",
                seen.rows()
            ));
        }
        model.run(seen, first, name, &session.driver(), sink)
    };
    let verify = || Ok(files.verify().and_then(|()| seen.files.verify())?);
    let stored = place.embeddings(&key, seen.rows(), can_go_on, session, &mut run, &verify)?;
    if stored.is_kept {
        session.say(&format!(
            "the embeddings of `{name}` are those of an earlier run with the same model, data and options (`no_cache` runs it \
             again)"
        ));
    }
    Ok(stored)
}

/// The file of a model.
pub fn file(place: &Place) -> Result<&InputPath> {
    place
        .file()
        .with_context(|| format!("{place} is an array, and a model is needed"))
}

/// Feeds all rows of numbers, with a progress bar; gives notes on how.
pub fn encode(
    encoder: &mut Encoder,
    rows: &dyn Rows,
    stage: &str,
    driver: &Driver,
    on_batch: &mut Sink,
) -> Result<Vec<String>> {
    driver.progress().begin(stage, rows.count() as u64);
    outside(|keep| {
        encoder.encode(rows, &mut |batch| {
            driver.progress().advance(batch.count as u64);
            keep(on_batch(batch))
        })
    })
}

/// Runs something that calls back, and gives back the error of the callback as it was.
fn outside<T>(
    run: impl FnOnce(&mut dyn FnMut(Result<()>) -> repscope_models::Result<()>) -> repscope_models::Result<T>,
) -> Result<T> {
    let mut failed = None;
    let done = run(&mut |result| {
        result.map_err(|error| {
            let text = crate::error::message(&error);
            failed = Some(error);
            repscope_models::Error::Model(text)
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(done?),
    }
}

/// Embeddings of some rows as a space.
pub fn space(output: Output, rows: usize, name: &str, pool: Pool) -> Result<Space> {
    let shape = std::iter::once(rows).chain(output.shape).collect();
    let array = Array::new(shape, "f32", Data::F32(Arc::new(output.values)))?;
    Ok(array.into_space(name, pool)?)
}

/// The one output; several are an error that names them.
pub fn only<T>(outputs: Vec<(String, T)>) -> Result<T> {
    let names: Vec<String> = outputs.iter().map(|(name, _)| name.clone()).collect();
    let mut outputs = outputs.into_iter();
    match (outputs.next(), outputs.next()) {
        (Some((_, output)), None) => Ok(output),
        _ => bail!(
            "the model has the outputs {}; say which holds the embeddings with `output_name`",
            names.join(", ")
        ),
    }
}
