// SPDX-License-Identifier: MIT
//! The representation analyses, and `rankme`.

use clap::{Args, ValueEnum};

use super::{Episodes, Models, Outputs, SeenOption};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceChoice {
    Euclidean,
    Cosine,
}

#[derive(Debug, Args)]
pub struct Smoothness {
    /// The inputs of the model, one per row (trailing dimensions are flattened): an array, a folder of images, or the
    /// dataset .pth of the representation analysis scripts
    #[arg(long, value_name = "PATH")]
    pub states: String,
    /// The successor of each input; without it, the next row of the same episode. Each --model is then Z,Z1, or
    /// an encoder
    #[arg(long, value_name = "PATH")]
    pub next_states: Option<String>,
    /// The episode of each row; pairs never cross episodes (booleans are read as stop flags)
    #[arg(long, value_name = "PATH")]
    pub episodes: Option<String>,
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Neighborhood {
    /// The inputs of the model, one per row (trailing dimensions are flattened): an array, a folder of images, or the
    /// dataset .pth of the representation analysis scripts
    #[arg(long, value_name = "PATH")]
    pub states: String,
    #[command(flatten)]
    pub episodes: Episodes,
    #[command(flatten)]
    pub models: Models,
    /// Neighborhood sizes
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [5, 10, 15])]
    pub k: Vec<usize>,
    /// Distance between embeddings
    #[arg(long, value_enum, default_value = "euclidean")]
    pub distance: DistanceChoice,
    /// Rank M random query rows against all rows: an unbiased estimate for millions of rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Manifold {
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub seen: SeenOption,
    #[command(flatten)]
    pub episodes: Episodes,
    /// Use the neighbor ratios of M random query rows, with neighbors among all rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    /// Share of the largest ratios that the TwoNN fit leaves out
    #[arg(long, default_value_t = 0.1)]
    pub discard: f64,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Geometry {
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub seen: SeenOption,
    /// A class per row: strings, integers or booleans; or a folder of images with one subfolder per class
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    #[command(flatten)]
    pub episodes: Episodes,
    /// Number of k-means clusters [default: 5]
    #[arg(long)]
    pub clusters: Option<usize>,
    /// Restarts of k-means
    #[arg(long, default_value_t = 10)]
    pub restarts: usize,
    /// Number of neighbors for the k-NN accuracy [default: 5]
    #[arg(long)]
    pub k: Option<usize>,
    /// Number of random 70/30 splits that the k-NN accuracy is averaged over
    #[arg(long, default_value_t = 10)]
    pub splits: usize,
    /// Kernel parameter t of uniformity
    #[arg(long, default_value_t = 2.0)]
    pub t: f64,
    /// Compare M random query rows with all rows: an unbiased estimate for millions of rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Rankme {
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub seen: SeenOption,
    #[command(flatten)]
    pub episodes: Episodes,
    #[command(flatten)]
    pub outputs: Outputs,
}
