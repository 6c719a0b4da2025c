// SPDX-License-Identifier: MIT
//! What can be chosen about an encoder.

use super::beside::Beside;
use crate::architectures::{BuildOptions, Kind};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use serde::{Deserialize, Serialize};

/// How the axes of a row are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Images as (channels, height, width).
    ChannelsFirst,
    /// Images as (height, width, channels).
    ChannelsLast,
    /// A vector, whatever the axes.
    Flat,
}

/// What can be chosen. Without a choice the graph and the data decide.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The input that takes the rows; needed where the graph has several.
    pub input: Option<String>,
    /// What further inputs are fed.
    pub beside: Vec<Beside>,
    /// Which axis of the outputs counts the rows.
    pub row_axis: usize,
    /// The outputs that are wanted; all where empty.
    pub outputs: Vec<String>,
    /// How the axes of the data are to be read.
    pub layout: Option<Layout>,
    /// What values are divided by: 255 brings bytes to 0…1.
    pub scale: Option<f32>,
    /// Subtracted after scaling: one number, or one per channel.
    pub mean: Vec<f32>,
    /// Divided by after that: one number, or one per channel.
    pub std: Vec<f32>,
    /// Padding token id of arrays of token ids (masked out).
    pub pad: Option<i64>,
    /// How many rows are fed at once; a graph with a fixed size keeps its own.
    pub batch: usize,
    /// Number of threads; 0 means one per core.
    pub threads: usize,
    /// What runs the graph.
    pub runtime: Runtime,
    /// The network that weights without a graph are those of; recognized by their names where none is given.
    pub architecture: Option<Kind>,
    /// What weights without a graph do not determine.
    pub build: BuildOptions,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            input: None,
            beside: Vec::new(),
            row_axis: 0,
            outputs: Vec::new(),
            layout: None,
            scale: None,
            mean: Vec::new(),
            std: Vec::new(),
            pad: None,
            batch: 32,
            threads: 0,
            runtime: Runtime::Rten,
            architecture: None,
            build: BuildOptions::default(),
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Model(what));
        if self.batch == 0 {
            return wrong("the batch size is 0; give at least 1".to_string());
        }
        if let Some(scale) = self.scale.filter(|s| !s.is_finite() || *s == 0.0) {
            return wrong(format!("the scale is {scale}, by which nothing can be divided"));
        }
        if let Some(mean) = self.mean.iter().find(|m| !m.is_finite()) {
            return wrong(format!("a mean is {mean}; give finite numbers"));
        }
        if let Some(std) = self.std.iter().find(|s| !s.is_finite() || **s == 0.0) {
            return wrong(format!("a std is {std}, by which nothing can be divided"));
        }
        Ok(())
    }

    /// Everything that can change an embedding, as text for a digest. Threads and batch size cannot.
    pub(super) fn identity(&self) -> String {
        let mut identity = format!(
            "input {:?} outputs {:?} layout {:?} scale {:?} mean {:?} std {:?}",
            self.input, self.outputs, self.layout, self.scale, self.mean, self.std
        );
        for beside in &self.beside {
            identity += &format!(" beside {}", beside.identity());
        }
        if self.row_axis > 0 {
            identity += &format!(" row axis {}", self.row_axis);
        }
        if let Some(pad) = self.pad {
            identity += &format!(" pad {pad}");
        }
        identity
    }

    /// What may surprise about the values.
    pub(super) fn note(&self, dtype: &str) -> Option<String> {
        let is_bare = dtype == "u8" && self.scale.is_none();
        is_bare.then(|| "bytes are fed as numbers from 0 to 255; a scale of 255 would make them 0 to 1".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_divided_by_is_refused() {
        let with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.check()
        };
        assert!(with(|_| {}).is_ok());
        assert!(with(|o| o.batch = 0).is_err());
        assert!(with(|o| o.scale = Some(0.0)).is_err());
        assert!(with(|o| o.scale = Some(f32::NAN)).is_err());
        assert!(with(|o| o.mean = vec![f32::INFINITY]).is_err());
        assert!(with(|o| o.std = vec![0.2, 0.0]).is_err());
    }
}
