// SPDX-License-Identifier: MIT
//! How likely a language model finds texts.
//!
//! ```text
//! log-perplexity = mean over the tokens of a text of −ln p(token | those before it)
//! ```
//!
//! Every token counts, the first one too: it follows the token that begins texts (GPT-2's `bos_token_id`, T5's
//! `decoder_start_token_id`). So it is the loss that transformers gives for these labels. The encoder of T5 reads the empty text.

use std::collections::BTreeMap;
use std::path::Path;

use repscope_io::Watched;
use serde_json::Value as Json;

use super::body::{Body, Vectors};
use super::folder::{Folder, LANGUAGE};
use super::open::{digest, files, longest, open_model};
use super::options::TextOptions;
use super::tokens::{Row, Tokens};
use super::{WINDOW, floats};
use crate::architectures::text::Family;
use crate::error::{Result, bail, wrong};

/// Logits of so many numbers are held at once.
const MOST_LOGITS: usize = 1 << 25;

/// A language model.
pub struct LanguageModel {
    tokens: Tokens,
    body: Body,
    /// The token before the first one.
    start: i64,
    /// The token that ends a text, by which an empty one is scored.
    end: Option<i64>,
    /// Whether the tokenizer ends every text itself (T5).
    is_ended: bool,
    batch: usize,
    digest: String,
    /// The files that it was read from.
    files: Vec<Watched>,
    made: Vec<String>,
}

/// The tokens of a text: what is fed, and what should come out.
struct Scored {
    fed: Row,
    targets: Vec<i64>,
}

impl LanguageModel {
    /// Opens a folder of Hugging Face (GPT-2, T5), or an exported causal model (`.onnx`) whose output is `logits`, with
    /// `tokenizer.json` and `config.json` beside it. Nothing is downloaded.
    pub fn open(path: &Path, options: TextOptions) -> Result<Self> {
        let folder = Folder::open(path, &LANGUAGE)?;
        // Opened before they are used. Who uses them says better what is wrong with them.
        let files = files(&folder, &options);
        let opened = open_model(&folder, &options)?;
        let language = folder.config.as_ref().and_then(|config| config.language);
        let number = |key: &str| {
            folder
                .json
                .as_ref()
                .and_then(|json| json.get(key))
                .and_then(Json::as_i64)
        };
        let start = language
            .map(|language| language.start)
            .or_else(|| number("bos_token_id"));
        let Some(start) = start else {
            bail!(
                "config.json beside {} says no bos_token_id, the token that begins a text; add it",
                path.display()
            );
        };
        let is_ended = folder
            .config
            .as_ref()
            .is_some_and(|config| config.family == Family::T5Decoder);
        // One place is for the token before the first.
        let longest = longest(&folder, &options, &opened)?.saturating_sub(1);
        let tokens = Tokens::open(&folder.tokenizer, longest, (String::new(), String::new()), false)?;
        let mut body = Body::new(opened.session, folder.config.clone(), tokens.pad())?;
        body.vocabulary = opened.vocabulary;
        if !body.outputs().iter().any(|name| name == "logits") {
            bail!(
                "{} has the outputs {}, but a language model has `logits`; give GPT-2, T5, or one that was exported for text \
                 generation without a cache",
                path.display(),
                body.outputs().join(", ")
            );
        }
        let how = if is_ended {
            "the encoder reads the empty text, and the decoder is scored on each text with its end"
        } else {
            "each token is scored by those before it, the first one by the token that begins texts"
        };
        let mut made = vec![opened.title, how.to_string()];
        made.extend(opened.notes);
        let files = files?;
        let identity = format!("repscope language model 1\n{}", digest(&files, &options, &body));
        Ok(LanguageModel {
            digest: blake3::hash(identity.as_bytes()).to_hex().to_string(),
            files,
            tokens,
            body,
            start,
            end: folder
                .config
                .as_ref()
                .map(|config| config.end)
                .or_else(|| number("eos_token_id")),
            is_ended,
            batch: options.batch,
            made,
        })
    }

    /// What the model is and how texts are scored, in words.
    pub fn about(&self) -> &[String] {
        &self.made
    }

    /// The digest of all files, of the options that change scores and of the runtime.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The files that it was read from.
    pub fn files(&self) -> &[Watched] {
        &self.files
    }

    /// Scores texts and passes on their log-perplexities in their order, with the number of the first. Gives notes on how it was done.
    pub fn score(
        &mut self,
        texts: &[String],
        on_batch: &mut dyn FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<Vec<String>> {
        let mut cut = 0;
        for (at, window) in texts.chunks(WINDOW).enumerate() {
            let first = at * WINDOW;
            let rows = window
                .iter()
                .enumerate()
                .map(|(i, text)| self.tokenize(text, first + i));
            let rows: Vec<Scored> = rows.collect::<Result<_>>()?;
            cut += rows.iter().filter(|row| row.fed.is_cut).count();
            on_batch(first, &self.score_window(&rows, first)?)?;
        }
        let mut notes = self.made.clone();
        if cut > 0 {
            let (count, longest) = (texts.len(), self.tokens.longest);
            notes.push(format!(
                "{cut} of {count} texts are longer than {longest} tokens and were cut"
            ));
        }
        let empty = texts.iter().filter(|text| text.is_empty()).count();
        if empty > 0 && !self.is_ended {
            notes.push(format!(
                "{empty} of {} texts are empty and are scored by their end alone",
                texts.len()
            ));
        }
        Ok(notes)
    }

    /// Scores all texts.
    pub fn score_all(&mut self, texts: &[String]) -> Result<(Vec<f64>, Vec<String>)> {
        let mut all = Vec::new();
        let notes = self.score(texts, &mut |_, scores| {
            all.extend_from_slice(scores);
            Ok(())
        })?;
        Ok((all, notes))
    }

    fn tokenize(&self, text: &str, at: usize) -> Result<Scored> {
        let (mut targets, is_cut) = if text.is_empty() && !self.is_ended {
            (Vec::new(), false)
        } else {
            let row = self.tokens.encode(text, at)?;
            (row.ids, row.is_cut)
        };
        // Some tokenizers begin texts themselves.
        if !self.is_ended && targets.first() == Some(&self.start) {
            targets.remove(0);
        }
        if targets.is_empty() {
            let end = self.end.ok_or_else(|| {
                wrong!("text {at} (counted from 0) is empty, and config.json says no eos_token_id; drop this text")
            })?;
            targets.push(end);
        }
        let known = self.body.vocabulary.map_or(i64::MAX, |known| known as i64);
        if let Some(id) = targets.iter().chain([&self.start]).find(|id| !(0..known).contains(*id)) {
            bail!(
                "text {at} (counted from 0) has the token {id}, but the model knows {known}; tokenizer.json is that of another model"
            );
        }
        let ids: Vec<i64> = std::iter::once(self.start)
            .chain(targets[..targets.len() - 1].iter().copied())
            .collect();
        Ok(Scored {
            fed: Row {
                types: vec![0; ids.len()],
                ids,
                is_cut,
            },
            targets,
        })
    }

    /// The log-perplexities of some texts in their order; `first` is the number of the first.
    fn score_window(&mut self, rows: &[Scored], first: usize) -> Result<Vec<f64>> {
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            by_length.entry(row.targets.len()).or_default().push(at);
        }
        let mut scores = vec![0.0; rows.len()];
        for (&length, places) in &by_length {
            let of_text = length.saturating_mul(self.body.vocabulary.unwrap_or(1 << 16)).max(1);
            let step = self.body.rows.unwrap_or(self.batch.min(MOST_LOGITS / of_text).max(1));
            for batch in places.chunks(step) {
                let texts: Vec<&Row> = batch.iter().map(|&at| &rows[at].fed).collect();
                let made = self.body.run(&texts, &["logits".to_string()])?;
                let Some(Vectors { value, fed }) = made.into_iter().next() else {
                    bail!("the output logits was not computed");
                };
                let (shape, logits) = floats(value, "logits")?;
                let &[count, tokens, width] = &shape[..] else {
                    bail!(
                        "the output logits has {} dimensions, and texts × tokens × vocabulary are needed",
                        shape.len()
                    );
                };
                if count != fed || tokens < length || width == 0 {
                    bail!("the output logits has the shape {shape:?} for {fed} texts of {length} tokens");
                }
                for (&at, logits) in batch.iter().zip(logits.chunks_exact(tokens * width)) {
                    let score = log_perplexity(logits, width, &rows[at].targets);
                    scores[at] = score.filter(|score| score.is_finite()).ok_or_else(|| {
                        wrong!(
                            "the score of text {} (counted from 0) is not finite; the model or its tokenizer is damaged",
                            first + at
                        )
                    })?;
                }
            }
        }
        Ok(scores)
    }
}

/// The mean of −ln p over the tokens that should come, p being the softmax of a row of logits.
fn log_perplexity(logits: &[f32], width: usize, targets: &[i64]) -> Option<f64> {
    let mut sum = 0.0;
    for (row, &target) in logits.chunks_exact(width).zip(targets) {
        let own = f64::from(*row.get(usize::try_from(target).ok()?)?);
        let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let all: f64 = row.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum();
        sum += all.ln() + largest - own;
    }
    Some(sum / targets.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_perplexity_is_the_mean_of_surprises() {
        // p = 1/4 and 3/4 of the first token, of two.
        let logits = [0.0, 3f32.ln(), 3f32.ln(), 0.0];
        let found = log_perplexity(&logits, 2, &[0, 0]).unwrap();
        assert!((found - (4f64.ln() + (4.0f64 / 3.0).ln()) / 2.0).abs() < 1e-6);
        assert_eq!(log_perplexity(&logits, 2, &[2, 0]), None);
        // Large logits do not overflow.
        let found = log_perplexity(&[1e4, 1e4], 2, &[1]).unwrap();
        assert!((found - 2f64.ln()).abs() < 1e-12);
    }
}
