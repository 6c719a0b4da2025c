// SPDX-License-Identifier: MIT
//! The one place where the texts of prototypes become vectors.

use anyhow::{Context, Result, bail};
use repscope_core::Space;
use repscope_io::{InputPath, Pool};
use repscope_models::Output;

use super::Retrieval;
use crate::encoding::{self, Model, Seen};
use crate::reader::Reader;
use crate::session::Session;

/// One row per text, in the order of the texts.
pub fn encode_texts(options: &Retrieval, texts: Vec<String>, reader: &mut Reader, session: &Session) -> Result<Space> {
    let machine = &options.settings.machine;
    let Some(path) = options
        .text_encoder
        .as_ref()
        .map(|source| InputPath::parse(&source.to_string()))
    else {
        let why = match &options.checkpoint {
            Some(checkpoint) => {
                format!("{checkpoint} holds the projection of texts, but not the text encoder before it")
            }
            None => format!("there are {} texts and no text encoder", texts.len()),
        };
        bail!(
            "{why}; name the encoder with `text_encoder` FOLDER. Or write the texts with `prototype_texts` texts.csv, encode them \
             by yourself and give `prototype_embeddings` vectors.npy `prototype_labels` texts.csv"
        );
    };
    if !path.path.exists() {
        bail!("text encoder {path}: there is no such folder or file");
    }
    let mut model = Model::open_text(
        &path,
        options.checkpoint.as_ref(),
        &options.text,
        &options.runtime,
        machine,
    )
    .with_context(|| format!("text encoder {path}"))?;
    reader.records.push(model.record(&path));
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
