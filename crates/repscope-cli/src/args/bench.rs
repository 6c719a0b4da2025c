// SPDX-License-Identifier: MIT
//! The hidden commands of the benchmark scripts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{EncoderOptions, Machine, MaskOptions, Models};

#[derive(Debug, Args)]
pub struct Bench {
    #[command(subcommand)]
    pub job: BenchJob,
}

#[derive(Debug, Subcommand)]
pub enum BenchJob {
    /// Exact nearest neighbours of every row
    Knn {
        path: String,
        #[arg(long, default_value_t = 100)]
        k: usize,
        /// Where to write the neighbours as .npy
        #[arg(long)]
        output: Option<PathBuf>,
        #[command(flatten)]
        machine: Machine,
    },
    /// Metrics of codes in one run, without reading and writing
    Metric {
        #[arg(required = true)]
        metrics: Vec<String>,
        #[arg(long)]
        states: Option<String>,
        #[arg(long)]
        labels: Option<String>,
        /// Neighbourhood sizes of trustworthiness and continuity
        #[arg(long, num_args = 1.., default_values_t = [10])]
        k: Vec<usize>,
        #[arg(long, default_value_t = 10)]
        clusters: usize,
        #[arg(long, default_value_t = 10)]
        restarts: usize,
        /// Random rows that are compared with all rows
        #[arg(long)]
        sample: Option<usize>,
        #[command(flatten)]
        models: Box<Models>,
        #[command(flatten)]
        machine: Machine,
    },
    /// An encoder over an array or texts, without loading either
    Encode {
        #[arg(long)]
        encoder: String,
        #[arg(long)]
        input: String,
        #[command(flatten)]
        options: Box<EncoderOptions>,
        #[command(flatten)]
        machine: Machine,
    },
    /// The 15 masks of document 003 on grey images, one image after the other
    Masks {
        path: String,
        #[command(flatten)]
        masks: MaskOptions,
        #[command(flatten)]
        machine: Machine,
    },
    /// Comparisons of many models in memory, beside the metrics that are compared
    Comparisons {
        #[arg(long, default_value_t = 50)]
        models: usize,
        #[arg(long, default_value_t = 1800)]
        rows: usize,
        #[arg(long, default_value_t = 64)]
        columns: usize,
        /// Report the seconds of the metrics, and compare nothing
        #[arg(long)]
        metrics_only: bool,
        #[command(flatten)]
        machine: Machine,
    },
    /// Retrieval text2sensor, and sensor2text with --both
    Retrieval {
        #[arg(long)]
        queries: String,
        #[arg(long)]
        targets: String,
        #[arg(long)]
        labels: String,
        #[arg(long, num_args = 1.., default_values_t = [10, 50, 100])]
        k: Vec<usize>,
        #[arg(long)]
        first_only: bool,
        #[arg(long)]
        both: bool,
        #[command(flatten)]
        machine: Machine,
    },
}
