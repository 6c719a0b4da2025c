// SPDX-License-Identifier: MIT
//! Texts in, embeddings out.
//!
//! ```text
//! text ─template─▶ tokens ─model─▶ a vector per token ─pooling─▶ a vector ─dense, normalize─▶ projection ─▶ embedding
//! ```
//!
//! A text has the same embedding, to the bit, whatever the batch size and whatever the other texts: only texts with the
//! same number of tokens are fed together, so that nothing is filled up.

mod body;
mod checkpoint;
mod folder;
mod language;
mod open;
mod options;
mod steps;
mod take;
mod tokens;

use std::collections::BTreeMap;

use repscope_io::Watched;

use crate::error::{Result, bail};
use crate::runtime::{Data, Value};
use body::{Body, Vectors};
use steps::Step;
use take::Take;
use tokens::{Row, Tokens};

pub use checkpoint::trained_with;
pub use language::LanguageModel;
pub use options::{Pooling, Projection, TextOptions};

/// Texts are sorted by length within windows of this size, and returned in their order.
const WINDOW: usize = 1024;

/// A text model with what was chosen about it.
pub struct TextEncoder {
    tokens: Tokens,
    body: Body,
    take: Take,
    steps: Vec<Step>,
    width: usize,
    batch: usize,
    title: String,
    digest: String,
    /// The files that it was read from.
    files: Vec<Watched>,
    /// How embeddings are made, in sentences without a full stop.
    made: Vec<String>,
    /// The token that ends a text.
    end: Option<i64>,
}

impl TextEncoder {
    /// The length of an embedding.
    pub fn width(&self) -> usize {
        self.width
    }

    /// What the model is, for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the model is and how texts become vectors, in words. The notes of a run begin with it.
    pub fn about(&self) -> &[String] {
        &self.made
    }

    /// The digest of all files, of the options that change embeddings and of the runtime: a key under which embeddings
    /// can be kept.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The files that it was read from.
    pub fn files(&self) -> &[Watched] {
        &self.files
    }

    /// Encodes texts and passes on embeddings (rows × [`width`](Self::width)) in the order of the texts, with the
    /// number of the first. Gives notes on how it was done.
    pub fn encode(
        &mut self,
        texts: &[String],
        on_batch: &mut dyn FnMut(usize, &[f32]) -> Result<()>,
    ) -> Result<Vec<String>> {
        if texts.is_empty() {
            bail!("there is nothing to encode: 0 texts");
        }
        let (mut cut, mut empty) = (0, 0);
        for (at, window) in texts.chunks(WINDOW).enumerate() {
            let first = at * WINDOW;
            let rows = window.iter().enumerate();
            let rows = rows.map(|(i, text)| self.tokens.encode(text, first + i));
            let rows: Vec<Row> = rows.collect::<Result<_>>()?;
            cut += rows.iter().filter(|row| row.is_cut).count();
            empty += window.iter().filter(|text| text.trim().is_empty()).count();
            let embeddings = self.encode_window(&rows, first)?;
            on_batch(first, &embeddings)?;
        }
        let mut notes = self.made.clone();
        let count = texts.len();
        if cut > 0 {
            let longest = self.tokens.longest;
            notes.push(format!(
                "{cut} of {count} texts are longer than {longest} tokens and were cut"
            ));
        }
        if empty > 0 {
            notes.push(format!(
                "{empty} of {count} texts are empty and are encoded without words"
            ));
        }
        Ok(notes)
    }

    /// Encodes all texts.
    pub fn encode_all(&mut self, texts: &[String]) -> Result<(Vec<f32>, Vec<String>)> {
        let mut all = Vec::new();
        let notes = self.encode(texts, &mut |_, embeddings| {
            all.extend_from_slice(embeddings);
            Ok(())
        })?;
        Ok((all, notes))
    }

    /// The embeddings of some texts in their order; `first` is the number of the first.
    fn encode_window(&mut self, rows: &[Row], first: usize) -> Result<Vec<f32>> {
        self.check_known(rows, first)?;
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            let length = self.body.tokens.unwrap_or(row.ids.len());
            by_length.entry(length).or_default().push(at);
        }
        let step = self.body.rows.unwrap_or(self.batch);
        let mut embeddings = vec![0.0; rows.len() * self.width];
        for places in by_length.values() {
            for batch in places.chunks(step) {
                let texts: Vec<&Row> = batch.iter().map(|&at| &rows[at]).collect();
                let (made, width) = self.encode_rows(&texts)?;
                if width != self.width {
                    bail!(
                        "the model gives embeddings of {width} numbers for some texts and of {} for others",
                        self.width
                    );
                }
                for (&at, embedding) in batch.iter().zip(made.chunks_exact(width)) {
                    if embedding.iter().any(|x| !x.is_finite()) {
                        bail!(
                            "the embedding of text {} (counted from 0) is not finite; the model or its projection is damaged",
                            first + at
                        );
                    }
                    embeddings[at * width..(at + 1) * width].copy_from_slice(embedding);
                }
            }
        }
        Ok(embeddings)
    }

    fn check_known(&self, rows: &[Row], first: usize) -> Result<()> {
        let Some(known) = self.body.vocabulary else {
            return Ok(());
        };
        let beyond = |row: &Row| row.ids.iter().copied().find(|&id| id < 0 || id >= known as i64);
        match rows.iter().enumerate().find_map(|(at, row)| Some((at, beyond(row)?))) {
            Some((at, id)) => bail!(
                "text {} (counted from 0) has the token {id}, but the model knows {known}; tokenizer.json is that of another \
                 model",
                first + at
            ),
            None => Ok(()),
        }
    }

    /// The embeddings of texts that are fed together, and their width. There may be more rows than texts, at the end.
    fn encode_rows(&mut self, texts: &[&Row]) -> Result<(Vec<f32>, usize)> {
        let output = self.take.output().to_string();
        let made = self.body.run(texts, std::slice::from_ref(&output))?;
        let Some(Vectors { value, fed }) = made.into_iter().next() else {
            bail!("the output {output} was not computed");
        };
        let (mut vectors, mut width) = self.take.vectors(value, fed, texts, self.end)?;
        for step in &mut self.steps {
            (vectors, width) = step.run(vectors, width)?;
        }
        Ok((vectors, width))
    }
}

/// The numbers of a tensor, which must be floating-point.
fn floats(value: Value, name: &str) -> Result<(Vec<usize>, Vec<f32>)> {
    match value.data {
        Data::F32(values) => Ok((value.shape, values)),
        Data::I64(_) => bail!("the output {name} holds integers, not embeddings"),
    }
}
