// SPDX-License-Identifier: MIT
//! The arrays that analyses read.

use clap::Args;
use repscope_io::InputPath;

use super::{EncoderOptions, PoolChoice};
use crate::call;
use crate::encoding::is_encoder;
use crate::models;

/// The arrays of all analyses of a run.
#[derive(Debug, Args)]
pub struct Data {
    /// The inputs of the models, one per row (trailing dimensions are flattened): an array, a folder of images, or the
    /// dataset .pth of the representation analysis scripts. Encoders are run on them
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub states: Option<String>,
    /// The successor of each input, for smoothness. Each --model is then NAME=Z,Z1, or an encoder
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub next_states: Option<String>,
    /// The episode of each row: pairs never cross episodes, and intervals are over episodes
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub episodes: Option<String>,
    /// A class per row: strings, integers or booleans; or a folder of images with one subfolder per class
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub labels: Option<String>,
    /// Embeddings of a second view of the same samples, for alignment
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = "Data")]
    pub views: Vec<String>,
    /// A model: NAME=PATH, or PATH (the file stem is the name). PATH holds its embeddings, or is an encoder (.onnx, weights
    /// of a known network, a text model folder) that is run on --states. Repeat for more models, or pass a folder of .npy
    /// files or a pattern such as 'runs/*.npy'
    #[arg(long = "model", num_args = 1.., value_name = "NAME=PATH", help_heading = "Data")]
    pub models: Vec<String>,
    /// Pooling of embeddings of shape (N, T, D) to one row per sample
    #[arg(long, value_enum, default_value = "last", help_heading = "Data")]
    pub pool: PoolChoice,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, the models' names, and NAME.view for their second views)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH", help_heading = "Data")]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub encoder: EncoderOptions,
}

impl Data {
    /// Whether a model is an encoder. A path that cannot be classified is an error of the reader.
    pub fn has_encoders(&self) -> bool {
        let models = models::parse(&self.models, self.next_states.is_some()).unwrap_or_default();
        let meets_noise = |path: &InputPath| call::has_encoder(&path.to_string()) || is_encoder(path).unwrap_or(false);
        models.iter().any(|model| meets_noise(&model.codes))
    }
}

/// Rows of an episode are correlated, so intervals must be over episodes.
#[derive(Debug, Clone, Args)]
pub struct Episodes {
    /// The episode of each row: intervals are then over episodes
    #[arg(long, value_name = "PATH")]
    pub episodes: Option<String>,
}

/// What encoders are run on, in an analysis that takes embeddings only.
#[derive(Debug, Args)]
pub struct SeenOption {
    /// The inputs of encoders, one sample per row: an array, a folder of images, lines of text
    #[arg(long, value_name = "PATH")]
    pub states: Option<String>,
}
