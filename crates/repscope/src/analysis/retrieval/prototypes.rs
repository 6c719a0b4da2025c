// SPDX-License-Identifier: MIT
//! Prototypes: vectors that stand for a label each. Stored vectors, or texts of the metadata through an encoder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use repscope_core::{Finding, Labels, Space, Trouble};
use repscope_io::{InputPath, InputRecord, Pool, PrototypeTexts, Watched, read_prototype_texts, write_whole};
use repscope_models::{Output, trained_with};

use super::names::{Key, resolve_key};
use super::{PROTOTYPE, Retrieval, rows_of_numbers};
use crate::encoding::{self, Model, Seen};
use crate::error::message;
use crate::reader::Reader;
use crate::report::counted;
use crate::session::Session;
use crate::source::{Place, Source};

/// Where the reference implementation keeps its metadata.
const USUAL_METADATA: &str = "metadata/casas_metadata.json";

/// What works without a text encoder.
const OTHERWISE: &str = "Without a text encoder: write the texts with `prototype_texts` texts.csv, encode them by yourself and give \
                         `prototype_embeddings` vectors.npy `prototype_labels` texts.csv";

/// What embeddings of a text encoder alone are.
const UNPROJECTED: &str = "the prototypes are embeddings of the text encoder alone, without the text projection of a checkpoint: they \
                           are comparable with the targets only if these come from the same encoder or were trained to match it";

pub struct Prototypes {
    pub space: Space,
    pub labels: Labels,
}

/// Stored vectors are reason enough.
pub fn are_wanted(options: &Retrieval) -> bool {
    options.use_prototypes || options.prototype_embeddings.is_some()
}

/// What must be known of prototypes that a text encoder makes by itself.
pub fn unprojected(options: &Retrieval) -> Option<Finding> {
    let is_encoded = options.use_prototypes && options.prototype_embeddings.is_none();
    let has_projection = options.checkpoint.is_some() && !options.text.no_projection;
    (is_encoded && !has_projection).then(|| Finding {
        trouble: Trouble::Space,
        model: None,
        text: UNPROJECTED.to_string(),
    })
}

/// Writes the label and text of each prototype as CSV.
pub fn write_texts(options: &Retrieval, to: &Path) -> Result<PrototypeTexts> {
    let texts = texts(options)?;
    let rows = texts
        .texts
        .iter()
        .map(|(label, text)| vec![label.clone(), text.clone()]);
    write_whole(to, repscope_render::write_csv(&["label", "text"], rows).as_bytes())?;
    Ok(texts)
}

/// Reads the prototypes, where they are wanted.
pub fn read(options: &Retrieval, reader: &mut Reader, session: &Session) -> Result<Option<Prototypes>> {
    let Some(source) = &options.prototype_embeddings else {
        if !options.use_prototypes {
            if options.checkpoint.is_some() || options.metadata.is_some() {
                reader.warnings.push(
                    "`checkpoint` and `metadata` are for prototypes, which were not asked for; add `use_prototypes`"
                        .to_string(),
                );
            }
            return Ok(None);
        }
        return encoded(options, reader, session).map(Some);
    };
    let key = Key::embeddings(None, None);
    let path = resolve_key(&source.place()?, &key, None, &mut reader.warnings)?;
    if let Some(checkpoint) = &options.checkpoint {
        reader.warnings.push(format!(
            "`checkpoint` = {checkpoint} is not used: the prototypes are stored vectors"
        ));
    }
    let space = rows_of_numbers(reader.array(&path)?, PROTOTYPE, &path)?;
    let (labels, source) = labels_of(options, &path, reader)?;
    if labels.rows() != space.rows() {
        bail!(
            "{path} holds {} but {source} has {}; give one label per prototype",
            counted(space.rows(), "prototype"),
            counted(labels.rows(), "label")
        );
    }
    Ok(Some(Prototypes { space, labels }))
}

/// The texts of the metadata through the encoder.
fn encoded(options: &Retrieval, reader: &mut Reader, session: &Session) -> Result<Prototypes> {
    let texts = texts(options).context(
        "`use_prototypes` needs vectors (`prototype_embeddings` and `prototype_labels`) or texts (`metadata`)",
    )?;
    let (labels, texts): (Vec<String>, Vec<String>) = record(options, texts, reader)?.into_iter().unzip();
    let space = encode_texts(options, texts, reader, session)?;
    Ok(Prototypes {
        space,
        labels: Labels::new(&labels),
    })
}

/// The labels of stored vectors, and where they come from: a file of their own, the metadata, or the same file.
fn labels_of(options: &Retrieval, vectors: &Place, reader: &mut Reader) -> Result<(Labels, String)> {
    let beside = beside(vectors);
    let path = match (&options.prototype_labels, &options.metadata, beside) {
        (Some(path), metadata, _) => {
            if metadata.is_some() {
                let advice = "`metadata` is not used: `prototype_labels` names the labels of the prototypes";
                reader.warnings.push(advice.to_string());
            }
            Some(path.place()?)
        }
        (None, None, Some(beside)) => Some(beside),
        _ => None,
    };
    if let Some(path) = path {
        let path = resolve_key(&path, &Key::labels(None, None), None, &mut reader.warnings)?;
        let labels = reader.array(&path)?.into_labels(&path.to_string())?;
        return Ok((labels, path.to_string()));
    }
    if options.metadata.is_none() && !Path::new(USUAL_METADATA).exists() {
        bail!(
            "`prototype_embeddings` = {vectors} needs labels: give `prototype_labels` PATH, or `metadata` FILE whose texts \
             they were made from"
        );
    }
    let texts = texts(options)?;
    let (file, dataset) = (metadata(options), &options.dataset_name);
    let source = format!("{} of `{dataset}` in {}", texts.source, file.display());
    let labels = record(options, texts, reader)?.into_iter().map(|(label, _)| label);
    Ok((Labels::new(&labels.collect::<Vec<_>>()), source))
}

/// An array `labels` in the file of the vectors.
fn beside(vectors: &Place) -> Option<Place> {
    let arrays = vectors.list().ok().filter(|_| vectors.key().is_some())?;
    let has_labels = arrays.iter().any(|array| array.key.as_deref() == Some("labels"));
    has_labels.then(|| vectors.with_key("labels"))
}

fn metadata(options: &Retrieval) -> PathBuf {
    let given = options.metadata.as_ref().map(ToString::to_string);
    given.as_deref().unwrap_or(USUAL_METADATA).into()
}

fn texts(options: &Retrieval) -> Result<PrototypeTexts> {
    let (dataset, style) = (&options.dataset_name, &options.caption_style);
    Ok(read_prototype_texts(&metadata(options), dataset, style)?)
}

/// Keeps a record of the metadata; hands on label and text.
fn record(options: &Retrieval, found: PrototypeTexts, reader: &mut Reader) -> Result<Vec<(String, String)>> {
    let path = metadata(options);
    let record = InputRecord::of_file(path.display(), &[found.texts.len()], "json", Watched::open(&path)?);
    reader.records.push(record);
    reader.warnings.extend(found.warnings);
    Ok(found.texts)
}

/// The text encoder that was given, or the one that the checkpoint was trained with.
fn text_encoder(options: &Retrieval, texts: usize) -> Result<Source> {
    if let Some(source) = &options.text_encoder {
        return Ok(source.clone());
    }
    let Some(checkpoint) = &options.checkpoint else {
        bail!(
            "there is no text encoder for {}; name it with `text_encoder` FOLDER, or give the `checkpoint` FILE of \
             the model that was trained with it. {OTHERWISE}",
            counted(texts, "text")
        );
    };
    let path = InputPath::parse(&checkpoint.to_string()).path;
    match trained_with(&path)? {
        Some(name) => Ok(Source::File(name)),
        None => bail!(
            "{checkpoint} does not name the text encoder that it was trained with (text_encoder_metadata.model_name); name it \
             with `text_encoder` FOLDER. {OTHERWISE}"
        ),
    }
}

/// One row per text, in the order of the texts.
pub fn encode_texts(options: &Retrieval, texts: Vec<String>, reader: &mut Reader, session: &Session) -> Result<Space> {
    let source = text_encoder(options, texts.len())?;
    let (checkpoint, machine) = (options.checkpoint.as_ref(), &options.settings.machine);
    let opened = Model::text_encoder(&source, checkpoint, &options.text, &options.runtime, machine, reader);
    let named = || match (&options.text_encoder, checkpoint) {
        (None, Some(checkpoint)) => format!("{checkpoint} was trained with the text encoder {source}"),
        _ => "the texts of the prototypes are not encoded".to_string(),
    };
    let mut model = opened.map_err(|error| anyhow!("{}: {}. {OTHERWISE}", named(), message(&error)))?;
    let seen = Seen::of_texts(texts);
    let mut all: Option<Output> = None;
    let notes = model.run(&seen, 0, "prototypes", &session.driver(), &mut |batch| {
        for output in batch.outputs {
            match &mut all {
                None => all = Some(output),
                Some(all) => all.values.extend(output.values),
            }
        }
        Ok(())
    })?;
    let notes = model.to_be_known(&notes).map(|note| format!("text encoder: {note}"));
    reader.warnings.extend(notes);
    let all = all.context("there are no texts")?;
    encoding::space(all, seen.rows(), "prototype", Pool::Flatten)
}
