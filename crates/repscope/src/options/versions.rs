// SPDX-License-Identifier: MIT
//! Models that belong together: shorter and quantized embeddings, which are measured beside the whole ones, and layers.

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Precision, Version};
use serde::{Deserialize, Serialize};

use super::layers::Layer;
use super::{default_options, words};
use crate::source::bind;

/// What else is measured of the embeddings.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct VersionOptions {
    /// Also measure the first D columns of the embeddings (Matryoshka), for each D; rows of unit length are brought to unit length again
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "D", help_heading = "Shorter and quantized embeddings")]
    pub prefix: Vec<usize>,
    /// Also measure quantized embeddings: int8 (256 levels from the smallest to the largest value of each column), binary (signs)
    #[arg(
        long,
        value_parser = words::<Precision>("int8 binary"),
        num_args = 1..,
        value_delimiter = ',',
        hide_possible_values = true,
        value_name = "int8|binary",
        help_heading = "Shorter and quantized embeddings"
    )]
    pub quantize: Vec<Precision>,
}

/// Models that are layers of one.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerOptions {
    /// Models called NAME/… are layers of one model, in the order in which they are given: scores are drawn over depth. A file of
    /// several arrays with the same rows is such a model in any case
    #[arg(long, num_args = 1.., value_name = "NAME", help_heading = "Layers")]
    pub layers: Vec<String>,
}

default_options!(VersionOptions, LayerOptions);
bind!(VersionOptions:);
bind!(LayerOptions:);

impl VersionOptions {
    /// Whether nothing but the embeddings as they are is asked for.
    pub fn is_empty(&self) -> bool {
        self.prefix.is_empty() && self.quantize.is_empty()
    }

    /// The versions that are asked for.
    pub(crate) fn all(&self) -> Result<Vec<Version>> {
        if self.prefix.contains(&0) {
            bail!("`prefix` = 0: a prefix keeps at least 1 column");
        }
        if self.quantize.contains(&Precision::Float) {
            bail!("`quantize` = float: embeddings as they are are measured in any case; give int8 or binary");
        }
        Ok(Version::all(&self.prefix, &self.quantize))
    }

    /// What was asked for, for the results document: nothing where nothing was.
    pub(crate) fn asked(&self) -> Layer {
        let mut asked = Layer::new();
        if !self.prefix.is_empty() {
            asked.insert("prefix".to_string(), serde_json::json!(self.prefix));
        }
        if !self.quantize.is_empty() {
            asked.insert("quantize".to_string(), serde_json::json!(self.quantize));
        }
        asked
    }
}
