// SPDX-License-Identifier: MIT
//! Embeddings of models, and how the rows of arrays are joined.

use clap::{Args, ValueEnum};

use super::EncoderOptions;

#[derive(Debug, Args)]
pub struct Models {
    /// A model: NAME=PATH, or PATH (the file stem is the name). PATH holds its embeddings, or is an encoder (.onnx, weights
    /// of a known network, a text model folder) that is run on --states. Repeat for more models, or pass a folder of .npy
    /// files or a pattern such as 'runs/*.npy': one model per file
    #[arg(long = "model", required = true, num_args = 1.., value_name = "NAME=PATH")]
    pub models: Vec<String>,
    /// Pooling of embeddings of shape (N, T, D) to one row per sample
    #[arg(long, value_enum, default_value = "last")]
    pub pool: PoolChoice,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, the models' names, and NAME.view for their second views)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH")]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub encoder: EncoderOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PoolChoice {
    Last,
    Mean,
    First,
    Flatten,
}
