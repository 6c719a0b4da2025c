// SPDX-License-Identifier: MIT
//! From the options of `repscope retrieval` to a retrieval: spaces, labels, prototypes and directions.
//!
//! `names` says what was typed, `keys` which array of a file is meant, `captions` which rows of it, `directions` what
//! to search. Everything is then read, joined by id where asked, and put together. What follows changes the whole:
//! `spelling` takes labels of different case as one, `exclude` leaves rows out, and `matching` compares the labels of
//! the `prototypes` with those of the data.

mod captions;
mod directions;
mod exclude;
mod keys;
mod matching;
mod names;
mod prototypes;
mod spelling;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{LabelSet, Labels, Retrieval, Space};
use repscope_io::{Array, InputPath, Pool};

use crate::args;
use crate::reader::{Orders, Part, Reader, Sources};
use captions::Captions;
use names::{LabelFile, Named};

pub use prototypes::write_texts;

/// What the prototypes are called as a space.
const PROTOTYPE: &str = "prototype";

/// A retrieval, what it was read from, and what the user should know.
pub struct Inputs {
    pub retrieval: Retrieval,
    pub sources: Sources,
}

/// Reads everything and checks that it fits together.
pub fn read(options: &args::Retrieval) -> Result<Inputs> {
    let mut spaces = names::spaces(options)?;
    let mut labels = names::labels(options, &spaces)?;
    let space_names: Vec<&str> = spaces.iter().map(|s| s.name.as_str()).collect();
    let directions = directions::resolve(&options.directions, &space_names, prototypes::are_wanted(options))?;

    let mut reader = Reader::new(&options.ids);
    let id_column = reader.id_column().map(str::to_string);
    for space in &mut spaces {
        space.path = keys::resolve(&space.path, &space.key, id_column.as_deref(), &mut reader.warnings)?;
    }
    for file in &mut labels {
        file.path = keys::resolve(&file.path, &file.key, id_column.as_deref(), &mut reader.warnings)?;
    }
    let captions = Captions::of(&spaces, !options.ids.is_empty(), &mut reader.warnings)?;
    let orders = reader.join(parts(&spaces, &labels, &captions, &options.ids)?)?;

    let mut read = Vec::new();
    for space in &spaces {
        read.push(read_space(&mut reader, space, &orders)?);
    }
    let mut label_sets = read_labels(&mut reader, &labels, &spaces, &orders)?;
    let mut is_aligned: Vec<bool> = spaces.iter().map(|s| !has_own_labels(&labels, &s.name)).collect();
    if let Some(found) = prototypes::read(options, &mut reader)? {
        read.push(Arc::new(found.space));
        is_aligned.push(false);
        let names = Arc::new(found.labels);
        label_sets.iter_mut().for_each(|set| set.of_space.push(names.clone()));
    }
    let mut retrieval = Retrieval {
        model: options.name.clone(),
        spaces: read,
        is_aligned,
        label_sets,
        directions,
    };
    retrieval.check()?;
    if options.ignore_case {
        spelling::ignore_case(&mut retrieval, &mut reader.warnings);
    }
    exclude::exclude(
        &mut retrieval,
        &options.exclude_labels,
        options.ignore_case,
        &mut reader.warnings,
    )?;
    matching::compare(&mut retrieval, &mut reader.warnings)?;
    retrieval.check()?;
    let sources = Sources {
        options: roles(options, &retrieval),
        records: reader.records,
        warnings: reader.warnings,
    };
    Ok(Inputs { retrieval, sources })
}

fn has_own_labels(labels: &[LabelFile], space: &str) -> bool {
    labels.iter().any(|file| file.space.as_deref() == Some(space))
}

/// The arrays whose rows belong together. A space with labels of its own stands alone.
fn parts(spaces: &[Named], labels: &[LabelFile], captions: &Captions, ids: &[String]) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for space in spaces {
        parts.push(Part {
            name: space.name.clone(),
            path: space.path.clone(),
            chosen: captions.rows_of(&space.path)?,
        });
    }
    for file in labels {
        parts.push(Part {
            name: file.part(),
            path: file.path.clone(),
            chosen: captions.rows_of(&file.path)?,
        });
    }
    if ids.is_empty() {
        return Ok(parts);
    }
    if let Some(space) = labels.iter().find_map(|file| file.space.as_ref()) {
        bail!(
            "--ids joins the rows of spaces that share their labels, but `{space}` has its own; leave out --ids, or put \
             the rows into one order first"
        );
    }
    for (name, _) in ids.iter().filter_map(|i| i.split_once('=')) {
        if !parts.iter().any(|p| p.name == name) {
            let known: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
            bail!("--ids names `{name}`, but the arrays here are {}", names::list(&known));
        }
    }
    Ok(parts)
}

fn read_space(reader: &mut Reader, named: &Named, orders: &Orders) -> Result<Arc<Space>> {
    let array = reader.array(&named.path)?;
    let space = rows_of_numbers(array, &named.name, &named.path)?;
    Ok(Arc::new(orders.space(&named.name, space)?))
}

/// One row per sample. Dimensions of size 1 do not count: (N, 1, D) is N × D.
fn rows_of_numbers(array: Array, name: &str, path: &InputPath) -> Result<Space> {
    let shape = array.shape().to_vec();
    if shape.iter().skip(1).filter(|&&size| size > 1).count() > 1 {
        bail!("{path} has shape {shape:?}; embeddings are one row per sample, N × D: pool or flatten them first");
    }
    array.into_space(name, Pool::Flatten).with_context(|| path.to_string())
}

/// One set of labels per name; each covers every space, with shared labels or the space's own.
fn read_labels(reader: &mut Reader, files: &[LabelFile], spaces: &[Named], orders: &Orders) -> Result<Vec<LabelSet>> {
    let mut read = Vec::new();
    for file in files {
        let labels = reader.array(&file.path)?.into_labels(&file.path.to_string())?;
        read.push(Arc::new(orders.labels(&file.part(), labels)?));
    }
    let mut sets: Vec<Option<String>> = Vec::new();
    for file in files {
        if !sets.contains(&file.set) {
            sets.push(file.set.clone());
        }
    }
    let labels_of = |set: &Option<String>, space: &str| -> Result<Arc<Labels>> {
        let own = has_own_labels(files, space).then_some(space);
        let at = files.iter().position(|f| f.set == *set && f.space.as_deref() == own);
        let at = at.with_context(|| names::missing_labels(space, set.as_deref(), own.is_some()))?;
        Ok(read[at].clone())
    };
    let mut label_sets = Vec::new();
    for set in sets {
        let of_space = spaces.iter().map(|s| labels_of(&set, &s.name)).collect::<Result<_>>()?;
        label_sets.push(LabelSet { name: set, of_space });
    }
    Ok(label_sets)
}

/// What was typed about the inputs, and what it came to.
fn roles(options: &args::Retrieval, retrieval: &Retrieval) -> serde_json::Map<String, serde_json::Value> {
    let directions: Vec<String> = retrieval
        .directions
        .iter()
        .map(|d| retrieval.direction_name(*d))
        .collect();
    let roles = serde_json::json!({
        "sensor_embeddings": options.sensor_embeddings, "sensor_key": options.sensor_key,
        "text_embeddings": options.text_embeddings, "text_key": options.text_key,
        "spaces": options.spaces, "labels": options.labels, "labels_key": options.labels_key, "ids": options.ids,
        "directions": directions, "exclude_labels": options.exclude_labels, "ignore_case": options.ignore_case,
        "use_prototypes": prototypes::are_wanted(options), "prototype_embeddings": options.prototype_embeddings,
        "prototype_labels": options.prototype_labels, "metadata": options.metadata,
        "dataset_name": options.dataset_name, "caption_style": options.caption_style,
        "checkpoint": options.checkpoint, "name": options.name,
    });
    match roles {
        serde_json::Value::Object(map) => map,
        _ => serde_json::Map::new(),
    }
}
