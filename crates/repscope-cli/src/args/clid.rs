// SPDX-License-Identifier: MIT
//! `repscope clid`: the steps of CLID, and its companions.

use clap::{Args, ValueEnum};
use repscope_core::ClusterCount;

use super::{Episodes, Models, Outputs, SeenOption};

pub(super) const CLID_EXAMPLES: &str = "\
Examples:
  repscope clid --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope clid --model checkpoints --preset paper --splits 3
  repscope clid --model 'checkpoints/*.npy' --performance accuracy.csv
  repscope clid --model jepa=z_jepa.npy --views augmented.npy --labels labels.npy

A preset sets all steps of CLID; each option changes one of them.

  step                             spec            paper           option
  columns to mean 0, variance 1    yes             no              --standardize
  rows of length 1                 for the vote    for all steps   --unit-length
  k-means clusters                 10              sqrt            --clusters
  restarts of k-means              10              1               --restarts
  voters                           5               1               --k
  clusterings, a seed each         5               5               --repeats
  splits in halves, of each        1               10              --splits
  scale of the dimension           dim             pool            --id-norm

accuracy.csv has a column of models and one of numbers; with it, each score that
needs no labels is compared with them. Options may be written with - or with _.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PresetChoice {
    /// The steps of document 002
    Spec,
    /// The steps of Lu et al. 2023
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnitLengthChoice {
    /// In no step
    None,
    /// In the vote of the neighbours
    Vote,
    /// In all steps: clusters, vote and dimension
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdNormChoice {
    /// Divided by the number of columns, at most 1
    Dim,
    /// Standardised over the models, as CL is
    Pool,
}

#[derive(Debug, Args)]
pub struct Clid {
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub seen: SeenOption,
    /// Codes of a second view of the same samples, for alignment: NAME=PATH for each model, a folder or pattern with files
    /// named as those of the models, or PATH for one model
    #[arg(long, alias = "features2", num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub views: Vec<String>,
    /// A class per row, for MCR²; without it, k-means' own clusters
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    #[command(flatten)]
    pub episodes: Episodes,
    /// How well each model does elsewhere: a table with a column of models and one of numbers (FILE#COLUMN picks it).
    /// Fits the weights of CL and ID, and says which score predicts the numbers
    #[arg(long, value_name = "FILE")]
    pub performance: Option<String>,
    /// Where the steps start from; the options below change single ones
    #[arg(
        long,
        value_enum,
        default_value = "spec",
        hide_possible_values = true,
        value_name = "spec|paper",
        help_heading = "Steps of CLID"
    )]
    pub preset: PresetChoice,
    /// Bring each column to mean 0 and variance 1 first
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "yes", hide_possible_values = true, value_name = "yes|no", help_heading = "Steps of CLID")]
    pub standardize: Option<YesNo>,
    /// Which steps see rows of length 1
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "none|vote|all",
        help_heading = "Steps of CLID"
    )]
    pub unit_length: Option<UnitLengthChoice>,
    /// Number of k-means clusters; sqrt: the square root of the number of rows. A number also counts for MCR² without
    /// labels
    #[arg(long, alias = "n-clusters", value_parser = cluster_count, value_name = "N|sqrt", help_heading = "Steps of CLID")]
    pub clusters: Option<ClusterCount>,
    /// Restarts of k-means; the best by inertia is kept
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub restarts: Option<usize>,
    /// Neighbours that vote
    #[arg(long, alias = "k-classifier", value_name = "K", help_heading = "Steps of CLID")]
    pub k: Option<usize>,
    /// Clusterings, each with its seed: --seed, --seed + 1, …
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub repeats: Option<usize>,
    /// Random splits in halves of each clustering
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub splits: Option<usize>,
    /// The dimension is divided by the number of columns (dim), or it and CL are standardised over the models (pool)
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "dim|pool",
        help_heading = "Steps of CLID"
    )]
    pub id_norm: Option<IdNormChoice>,
    /// The exponent of alignment's distance
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub alpha: f64,
    /// The t of uniformity's kernel
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub t: f64,
    /// The squared distortion of MCR²
    #[arg(long, default_value_t = 0.01, help_heading = "Companions")]
    pub eps: f64,
    /// The weight inside MCR²'s discriminative term
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam1: f64,
    /// The weight of the discriminative term in MCR²'s total
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam2: f64,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}

/// A number, or `sqrt`.
fn cluster_count(text: &str) -> Result<ClusterCount, String> {
    match text.parse() {
        Ok(count) => Ok(ClusterCount::Of(count)),
        Err(_) if text == "sqrt" => Ok(ClusterCount::Sqrt),
        Err(_) => Err("it is neither a number nor sqrt".to_string()),
    }
}
