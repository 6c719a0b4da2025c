// SPDX-License-Identifier: MIT
//! The arrays that analyses of representations read.

use clap::Args;
use repscope_io::Pool;
use serde::{Deserialize, Serialize};

use super::{EncoderOptions, LayerOptions, VersionOptions, default_options, words};
use crate::depth;
use crate::encoding::is_encoder;
use crate::models;
use crate::source::{IdSource, Named, Source, bind};

/// How embeddings of several steps become one row.
pub(crate) const POOLS: &str = "last mean first flatten";

/// The arrays of all analyses of a run.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// The inputs of the models, one per row (trailing dimensions are flattened): an array, a folder of images, or the
    /// dataset .pth of the representation analysis scripts. Encoders are run on them
    #[arg(long, alias = "inputs", value_name = "PATH", help_heading = "Data")]
    pub states: Option<Source>,
    /// The successor of each input, for smoothness. Each --model is then NAME=Z,Z1, or an encoder
    #[arg(long, alias = "next-inputs", value_name = "PATH", help_heading = "Data")]
    pub next_states: Option<Source>,
    /// The episode of each row: pairs never cross episodes, and intervals are over episodes
    #[arg(long, visible_alias = "groups", value_name = "PATH", help_heading = "Data")]
    pub episodes: Option<Source>,
    /// Rows follow each other in time: smoothness takes each row and the next as a pair
    #[arg(long, help_heading = "Data")]
    pub ordered: bool,
    /// A class per row: strings, integers or booleans; or a folder of images with one subfolder per class
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub labels: Option<Source>,
    /// Continuous values of each row, for probes: an array with a column per target, or a table of numbers
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub targets: Option<Source>,
    /// Embeddings of a second view of the same samples, for alignment; repeat a name for further views, for LiDAR
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = "Data")]
    pub views: Vec<Named>,
    /// Embeddings of reference rows, such as those of the training data, for drift
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = "Data")]
    pub against: Vec<Named>,
    /// The inputs of the reference rows, for models that are encoders
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub against_states: Option<Source>,
    /// The group of each reference row
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub against_groups: Option<Source>,
    /// The batch of each row, for mixing: the plate, device, site or subject that should not show
    #[arg(long, visible_alias = "confounder", value_name = "PATH", help_heading = "Data")]
    pub batches: Option<Source>,
    /// A model: NAME=PATH, or PATH (the file stem is the name). PATH holds its embeddings, or is an encoder (.onnx, weights
    /// of a known network, a text model folder) that is run on --states. Repeat for more models, or pass a folder of .npy
    /// files or a pattern such as 'runs/*.npy' [default: the encoders weights/NAME/best_encoder.*, run on datasets/*.pth]
    #[arg(long = "model", num_args = 1.., value_name = "NAME=PATH", help_heading = "Data")]
    pub models: Vec<Named>,
    /// Training runs of one recipe: NAME=PATTERN, such as jepa='runs/jepa-*.npy' (a pattern, a folder, or files separated by
    /// commas). Its scores are means over the runs, and intervals and comparisons speak about the recipe. Repeat for more
    /// recipes
    #[arg(long, num_args = 1.., value_name = "NAME=PATTERN", help_heading = "Data")]
    pub replicates: Vec<Named>,
    /// A pattern of --model, such as 'jepa=codes-*.npy', names the parts of one array instead of a model per file
    #[arg(long, help_heading = "Data")]
    pub shards: bool,
    /// Pooling of embeddings of shape (N, T, D) to one row per sample
    #[arg(long, value_parser = words::<Pool>(POOLS), default_value = "last", help_heading = "Data")]
    pub pool: Pool,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, batches, the models' names, and NAME.view for their second views, NAME.view3 …)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH", help_heading = "Data")]
    pub ids: Vec<IdSource>,
    /// Which models are layers of one.
    #[command(flatten)]
    #[serde(flatten)]
    pub depth: LayerOptions,
    /// What else is measured of the embeddings.
    #[command(flatten)]
    #[serde(flatten)]
    pub versions: VersionOptions,
    /// How encoders are run.
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
}

/// The models of one analysis, and how the rows of arrays are joined.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Models {
    /// A model: NAME=PATH, or PATH (the file stem is the name). PATH holds its embeddings, or is an encoder (.onnx, weights
    /// of a known network, a text model folder) that is run on --states. Repeat for more models, or pass a folder of .npy
    /// files or a pattern such as 'runs/*.npy': a model per file [default: the encoders weights/NAME/best_encoder.*, run on
    /// datasets/*.pth]
    #[arg(long = "model", num_args = 1.., value_name = "NAME=PATH")]
    pub models: Vec<Named>,
    /// Training runs of one recipe: NAME=PATTERN, such as jepa='runs/jepa-*.npy' (a pattern, a folder, or files separated by
    /// commas). Its scores are means over the runs, and intervals and comparisons speak about the recipe. Repeat for more
    /// recipes
    #[arg(long, num_args = 1.., value_name = "NAME=PATTERN")]
    pub replicates: Vec<Named>,
    /// A pattern of --model, such as 'jepa=codes-*.npy', names the parts of one array instead of a model per file
    #[arg(long)]
    pub shards: bool,
    /// Pooling of embeddings of shape (N, T, D) to one row per sample
    #[arg(long, value_parser = words::<Pool>(POOLS), default_value = "last")]
    pub pool: Pool,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, batches, the models' names, and NAME.view for their second views, NAME.view3 …)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH")]
    pub ids: Vec<IdSource>,
    /// Which models are layers of one.
    #[command(flatten)]
    #[serde(flatten)]
    pub depth: LayerOptions,
    /// What else is measured of the embeddings.
    #[command(flatten)]
    #[serde(flatten)]
    pub versions: VersionOptions,
    /// How encoders are run.
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
}

/// Rows of an episode are correlated, so intervals must be over episodes.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Groups {
    /// The episode of each row: intervals are then over episodes
    #[arg(long, visible_alias = "groups", value_name = "PATH")]
    pub episodes: Option<Source>,
}

/// What encoders are run on, in an analysis of embeddings alone.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenOption {
    /// The inputs of encoders, one sample per row: an array, a folder of images, lines of text
    #[arg(long, alias = "inputs", value_name = "PATH")]
    pub states: Option<Source>,
}

default_options!(Data, Models, Groups, SeenOption);
bind!(Data: states, next_states, episodes, labels, targets, views, against, against_states, against_groups, batches, models, replicates, ids, encoder);
bind!(Models: models, replicates, ids, encoder);
bind!(Groups: episodes);
bind!(SeenOption: states);

impl Data {
    /// Whether there are reference rows.
    pub fn has_reference(&self) -> bool {
        !self.against.is_empty() || self.against_states.is_some()
    }

    /// Whether no model is given.
    pub fn has_no_model(&self) -> bool {
        self.models.is_empty() && self.replicates.is_empty()
    }

    /// The models, and the training runs of recipes.
    pub(crate) fn named_models(&self) -> anyhow::Result<Vec<models::Model>> {
        let mut models = models::parse(&self.models, &self.replicates, self.next_states.is_some(), self.shards)?;
        if self.next_states.is_none() && !self.shards {
            models = depth::with_layers(models, &self.ids)?;
        }
        depth::name_layers(&mut models, &self.depth.layers)?;
        Ok(models)
    }

    /// Whether a model is an encoder. A path that cannot be classified is an error of the reader.
    pub fn has_encoders(&self) -> bool {
        let models = self.named_models().unwrap_or_default();
        let is_run = |model: &models::Model| model.encoder.is_some() || is_encoder(&model.embeddings).unwrap_or(false);
        models.iter().any(is_run)
    }
}

impl Models {
    /// The models as part of all data of a run.
    pub fn data(&self) -> Data {
        Data {
            models: self.models.clone(),
            replicates: self.replicates.clone(),
            shards: self.shards,
            pool: self.pool,
            ids: self.ids.clone(),
            depth: self.depth.clone(),
            versions: self.versions.clone(),
            encoder: self.encoder.clone(),
            ..Data::default()
        }
    }
}
