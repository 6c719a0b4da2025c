// SPDX-License-Identifier: MIT
//! Texts to tokens, as `tokenizer.json` says.

use std::path::Path;

use serde_json::Value as Json;
use tokenizers::models::ModelWrapper;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

use crate::error::{Result, bail, wrong};
use repscope_io::catch_panic;

/// A tokenizer and what is done to a text before it.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    /// The template: what comes before and after the text.
    around: (String, String),
    is_lower_case: bool,
    /// How many tokens a text may have.
    pub(super) longest: usize,
}

/// Normalizers that make more of a text are not believed: real ones write a space in three bytes.
const GROWTH: f64 = 1000.0;

/// The tokens of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) ids: Vec<i64>,
    /// Which of two texts a token is of; there is one.
    pub(super) types: Vec<i64>,
    pub(super) is_cut: bool,
}

impl Tokens {
    pub(super) fn open(path: &Path, longest: usize, around: (String, String), is_lower_case: bool) -> Result<Tokens> {
        let failed = |e: &dyn std::fmt::Display| wrong!("{} cannot be used: {e}", path.display());
        let bytes = repscope_io::read_regular(path).map_err(|e| failed(&e))?;
        let growth = serde_json::from_slice::<Json>(&bytes).map_or(1.0, |all| growth(&all["normalizer"]));
        if growth > GROWTH {
            return Err(failed(&format!(
                "its normalizer may make {growth} bytes of one, and at most {GROWTH} are believed"
            )));
        }
        // The crate panics on some files that are not right.
        let read = catch_panic(|| Tokenizer::from_bytes(bytes));
        let mut tokenizer = match read {
            Some(Ok(tokenizer)) => tokenizer,
            Some(Err(e)) => return Err(failed(&e)),
            None => return Err(failed(&"it is damaged")),
        };
        // Dropout leaves out merges at random, for training: the same text would have other embeddings each time.
        if let ModelWrapper::BPE(model) = tokenizer.get_model()
            && model.dropout.is_some()
        {
            let mut model = model.clone();
            model.dropout = None;
            tokenizer.with_model(model);
        }
        tokenizer.with_padding(None);
        let cut = TruncationParams {
            max_length: longest,
            ..TruncationParams::default()
        };
        let added = tokenizer.get_post_processor().map_or(0, |p| p.added_tokens(false));
        if longest <= added {
            bail!(
                "texts of at most {longest} tokens have no room for words, because {} adds {added}; allow more tokens",
                path.display()
            );
        }
        tokenizer.with_truncation(Some(cut)).map_err(|e| failed(&e))?;
        Ok(Tokens {
            tokenizer,
            around,
            is_lower_case,
            longest,
        })
    }

    /// The tokens of text number `at`.
    pub(super) fn encode(&self, text: &str, at: usize) -> Result<Row> {
        let mut whole = format!("{}{text}{}", self.around.0, self.around.1);
        if self.is_lower_case {
            whole = whole.to_lowercase();
        }
        let failed = |why: &dyn std::fmt::Display| wrong!("text {at} (counted from 0) cannot be tokenized: {why}");
        let encoding = match catch_panic(|| self.tokenizer.encode_fast(whole, true)) {
            Some(Ok(encoding)) => encoding,
            Some(Err(e)) => return Err(failed(&e)),
            None => return Err(failed(&"tokenizer.json is damaged")),
        };
        if encoding.is_empty() {
            return Err(failed(
                &"it gives no tokens, and the tokenizer adds none of its own; drop this text",
            ));
        }
        Ok(Row {
            ids: encoding.get_ids().iter().map(|&id| i64::from(id)).collect(),
            types: encoding.get_type_ids().iter().map(|&id| i64::from(id)).collect(),
            is_cut: !encoding.get_overflowing().is_empty(),
        })
    }

    /// The padding token id, for graphs of a fixed length.
    pub(super) fn pad(&self) -> i64 {
        let names = ["[PAD]", "<pad>", "<|pad|>"];
        let found = names.iter().find_map(|name| self.tokenizer.token_to_id(name));
        found.map_or(0, i64::from)
    }
}

/// How many bytes a normalizer may make out of one, as its description in `tokenizer.json` says.
fn growth(normalizer: &Json) -> f64 {
    let bytes = |text: &Json| text.as_str().map_or(0, str::len) as f64;
    match normalizer["type"].as_str() {
        Some("Sequence") => normalizer["normalizers"]
            .as_array()
            .map_or(1.0, |steps| steps.iter().map(growth).product()),
        Some("Replace") => match &normalizer["pattern"]["String"] {
            // A pattern may match nothing, before every letter.
            Json::String(text) if !text.is_empty() => (bytes(&normalizer["content"]) / text.len() as f64).max(1.0),
            _ => 1.0 + bytes(&normalizer["content"]),
        },
        Some("Prepend") => 1.0 + bytes(&normalizer["prepend"]),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_normalizers_make_of_a_text_is_multiplied() {
        let replace = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaa"});
        let shrink = json!({"type": "Replace", "pattern": {"String": "aaaa"}, "content": "a"});
        let anywhere = json!({"type": "Replace", "pattern": {"Regex": "x*"}, "content": "aaa"});
        assert!((growth(&replace) - 4.0).abs() < 1e-12);
        assert!((growth(&shrink) - 1.0).abs() < 1e-12);
        assert!((growth(&anywhere) - 4.0).abs() < 1e-12);
        let all = json!({"type": "Sequence", "normalizers": vec![replace; 20]});
        assert!(growth(&all) > 1e12);
        assert!((growth(&Json::Null) - 1.0).abs() < 1e-12);
    }
}
