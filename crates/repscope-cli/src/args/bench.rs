// SPDX-License-Identifier: MIT
//! The hidden commands of the benchmark scripts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use repscope::Source;
use repscope::analysis::perturb::MaskOptions;
use repscope::options::{EncoderOptions, Machine, Models};

#[derive(Debug, Args)]
pub struct Bench {
    #[command(subcommand)]
    pub job: BenchJob,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // there is one
pub enum BenchJob {
    /// Exact nearest neighbors of every row
    Knn(Knn),
    /// Metrics of embeddings in one run, without reading and writing
    Metric(Metric),
    /// An encoder over an array or texts, without loading either
    Encode(Encode),
    /// The 15 default masks of `perturb` on gray images, one image after the other
    Masks(Masks),
    /// Comparisons of many models in memory, beside the metrics that are compared
    Comparisons(Comparisons),
    /// Retrieval text2sensor, and sensor2text with --both
    Retrieval(Retrieval),
}

#[derive(Debug, Args)]
pub struct Knn {
    pub path: String,
    #[arg(long, default_value_t = 100)]
    pub k: usize,
    /// Output folder write the neighbors as .npy
    #[arg(long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct Metric {
    #[arg(required = true)]
    pub metrics: Vec<String>,
    #[arg(long)]
    pub states: Option<Source>,
    #[arg(long)]
    pub labels: Option<Source>,
    /// Continuous values of each row
    #[arg(long)]
    pub targets: Option<Source>,
    /// Neighborhood sizes of trustworthiness and continuity
    #[arg(long, num_args = 1.., default_values_t = [10])]
    pub k: Vec<usize>,
    #[arg(long, default_value_t = 10)]
    pub clusters: usize,
    #[arg(long, default_value_t = 10)]
    pub restarts: usize,
    /// Random query rows that are compared with all rows
    #[arg(long)]
    pub sample: Option<usize>,
    #[command(flatten)]
    pub models: Box<Models>,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct Encode {
    #[arg(long)]
    pub encoder: String,
    #[arg(long)]
    pub input: String,
    #[command(flatten)]
    pub options: Box<EncoderOptions>,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct Masks {
    pub path: String,
    #[command(flatten)]
    pub masks: MaskOptions,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct Comparisons {
    #[arg(long, default_value_t = 50)]
    pub models: usize,
    #[arg(long, default_value_t = 1800)]
    pub rows: usize,
    #[arg(long, default_value_t = 64)]
    pub columns: usize,
    /// Report the seconds of the metrics, and compare nothing
    #[arg(long)]
    pub metrics_only: bool,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct Retrieval {
    #[arg(long)]
    pub queries: String,
    #[arg(long)]
    pub targets: String,
    #[arg(long)]
    pub labels: String,
    #[arg(long, num_args = 1.., default_values_t = [10, 50, 100])]
    pub k: Vec<usize>,
    #[arg(long)]
    pub first_only: bool,
    #[arg(long)]
    pub both: bool,
    #[command(flatten)]
    pub machine: Machine,
}
