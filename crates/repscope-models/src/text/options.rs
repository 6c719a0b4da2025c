// SPDX-License-Identifier: MIT
//! What can be chosen about a text encoder.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Result, bail};
use crate::runtime::Runtime;

/// How the vectors of the tokens of a text become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// That of the first token.
    Cls,
    /// The largest value in each coordinate.
    Max,
    /// That of the last token.
    Last,
    /// The model's own pooled output, before any projection.
    Pooler,
    /// That of the token that ends the text, as in CLIP, and CLIP's projection if it exists.
    Eos,
}

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
            Pooling::Max => "max",
            Pooling::Last => "last",
            Pooling::Pooler => "pooler",
            Pooling::Eos => "eos",
        })
    }
}

/// What is done with a checkpoint that may hold a projection of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Projection {
    /// It is applied; a checkpoint without one is an error.
    #[default]
    Required,
    /// It is not applied: embeddings are those of the model alone.
    None,
}

/// What can be chosen. Without a choice the files decide.
#[derive(Debug, Clone, PartialEq)]
pub struct TextOptions {
    /// How tokens become one vector.
    pub pooling: Option<Pooling>,
    /// How many tokens a text may have, special ones included; the rest is cut off.
    pub max_tokens: Option<usize>,
    /// Template around each text, which replaces `{}`: `To English: {}`.
    pub template: Option<String>,
    /// A checkpoint with a projection of texts, and which part of it holds that.
    pub checkpoint: Option<(PathBuf, Option<String>)>,
    /// What is done with the checkpoint.
    pub projection: Projection,
    /// Number of heads of an aligner, which its weights do not determine.
    pub aligner_heads: usize,
    /// How many texts are fed at once.
    pub batch: usize,
    /// Number of threads; 0 means one per core.
    pub threads: usize,
    /// What runs the graph.
    pub runtime: Runtime,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions {
            pooling: None,
            max_tokens: None,
            template: None,
            checkpoint: None,
            projection: Projection::Required,
            aligner_heads: 8,
            batch: 32,
            threads: 0,
            runtime: Runtime::Rten,
        }
    }
}

impl TextOptions {
    pub(super) fn check(&self) -> Result<()> {
        if self.batch == 0 {
            bail!("the batch size is 0; give at least 1");
        }
        if let Some(template) = &self.template {
            let places = template.matches("{}").count();
            if places != 1 {
                bail!(
                    "the template `{template}` has {places} places for the text; write {{}} once, as in `To English: {{}}`"
                );
            }
        }
        Ok(())
    }

    /// Everything that can change an embedding beside the files, as text for a digest. Threads and batch size cannot.
    pub(super) fn identity(&self) -> String {
        format!(
            "pooling {:?} max_tokens {:?} template {:?} key {:?} projection {:?} aligner_heads {}",
            self.pooling,
            self.max_tokens,
            self.template,
            self.checkpoint.as_ref().map(|(_, key)| key),
            self.projection,
            self.aligner_heads
        )
    }
}
