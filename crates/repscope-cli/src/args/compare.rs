// SPDX-License-Identifier: MIT
//! `repscope compare`: paired comparison of models.

use std::path::PathBuf;

use clap::Args;

use super::{Choice, Data, Outputs};
use crate::gates::GateOptions;

pub(super) const COMPARE_EXAMPLES: &str = "\
Examples:
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope compare --model 'runs/*.npy' --labels labels.npy --reference first
  repscope compare --model jepa=z.npy --states frames.npy --gate 'trustworthiness@10>=0.95'
  repscope compare evaluation_plots/results.json --baseline main.json --max-drop 2%

Differences are paired by row, or by episode with --episodes, so all models need the same
rows. A model is called better if the adjusted p-value is at most 1 − --level. Files go to
the folder compare in --output-dir. Exit codes: 0 success, 1 a gate failed, 2 error.";

#[derive(Debug, Args)]
pub struct Compare {
    /// The results.json of an earlier run, or its folder: show its differences instead of computing them
    #[arg(
        value_name = "results.json",
        required_unless_present = "models",
        conflicts_with_all = [
            "models", "states", "next_states", "episodes", "labels", "views", "pool", "ids", "only", "skip", "k", "knn_k",
            "sample", "clusters", "output_dir", "seed", "level", "no_figures", "figure_format", "figure_width"
        ]
    )]
    pub results: Option<PathBuf>,
    /// Model that the others are compared with [default: the second of two, the best of more]
    #[arg(long, value_name = "MODEL")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub choice: Choice,
    /// Number of k-means clusters [default: 5; 10 for MCR² without labels]
    #[arg(long, value_name = "N", help_heading = "Analyses")]
    pub clusters: Option<usize>,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
    #[command(flatten)]
    pub gates: GateOptions,
}
