// SPDX-License-Identifier: MIT
//! `repscope evaluate`: all analyses.

use std::path::PathBuf;

use clap::Args;

use super::{Choice, Data, Outputs, PresetChoice};
use crate::gates::GateOptions;

pub(super) const EVALUATE_EXAMPLES: &str = "\
Examples:
  repscope evaluate z.npy --labels labels.npy
  repscope evaluate --states frames.npy --labels labels.npy --model jepa=z_jepa.npy ae=z_ae.npy
  repscope evaluate z_jepa.npy z_ae.npy --only manifold,rankme
  repscope evaluate --states frames.npy --model jepa=jepa.onnx autoencoder=autoencoder.onnx
  repscope evaluate --init study.toml
  repscope evaluate study.toml --resume

  analysis       needs
  smoothness     --states; --next-states or --episodes if available
  robustness     --states, and models that are encoders
  neighborhood   --states
  manifold       embeddings
  geometry       embeddings; more with --labels
  rankme         embeddings
  clid           embeddings; more with --labels, --views and --performance
  retrieval      a table [retrieval] in the study file

A study file holds the same settings as the options; options override it.";

#[derive(Debug, Args)]
pub struct Evaluate {
    /// A study file (.toml), or embeddings of models as with --model
    #[arg(value_name = "STUDY.toml|PATH")]
    pub inputs: Vec<String>,
    /// Write a commented study file to start from, and stop [default: study.toml]
    #[arg(long, num_args = 0..=1, default_missing_value = "study.toml", value_name = "FILE")]
    pub init: Option<PathBuf>,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub choice: Choice,
    /// Reuse analyses in the output folder that an earlier run finished with the same inputs, options and version
    #[arg(long, help_heading = "Analyses")]
    pub resume: bool,
    /// Number of k-means clusters of `geometry` [default: 5]
    #[arg(long, value_name = "N", help_heading = "Analyses")]
    pub clusters: Option<usize>,
    /// Preset of `clid` [default: spec]
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "spec|paper",
        help_heading = "Analyses"
    )]
    pub preset: Option<PresetChoice>,
    /// Downstream performance of each model, for `clid`: a table with a column of models and one of numbers
    #[arg(long, value_name = "FILE", help_heading = "Analyses")]
    pub performance: Option<String>,
    /// Any other option of an analysis: --set geometry.splits=20
    #[arg(long, num_args = 1.., value_name = "ANALYSIS.OPTION=VALUE", help_heading = "Analyses")]
    pub set: Vec<String>,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
    #[command(flatten)]
    pub gates: GateOptions,
}
