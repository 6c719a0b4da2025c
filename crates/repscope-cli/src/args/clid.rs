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
  standardize the columns          yes             no              --standardize
  scale rows to unit length        for the vote    for all steps   --unit-length
  k-means clusters                 10              sqrt            --clusters
  restarts of k-means              10              1               --restarts
  voting neighbors                 5               1               --k
  clusterings, one seed each       5               5               --repeats
  splits of each clustering        1               10              --splits
  normalization of the dimension   dim             pool            --id-norm

accuracy.csv has a column of models and one of numbers; with it, each score that
needs no labels is correlated with them. Options may be written with - or with _.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PresetChoice {
    /// The steps of the original CLID / RankMe scripts
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
    /// In the vote of the neighbors
    Vote,
    /// In all steps: clusters, vote and dimension
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdNormChoice {
    /// Divided by the number of columns, at most 1
    Dim,
    /// Standardized over the models, like CL
    Pool,
}

#[derive(Debug, Args)]
pub struct Clid {
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub seen: SeenOption,
    /// Embeddings of a second view of the same samples, for alignment: NAME=PATH for each model, a folder or pattern with
    /// the file names of the models, or PATH for one model
    #[arg(long, alias = "features2", num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub views: Vec<String>,
    /// A class per row, for MCR² [default: k-means clusters]
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    #[command(flatten)]
    pub episodes: Episodes,
    /// Downstream performance of each model: a table with a column of models and one of numbers (FILE#COLUMN selects it).
    /// Fits the weights of CL and ID, and shows which score predicts the numbers
    #[arg(long, value_name = "FILE")]
    pub performance: Option<String>,
    /// Preset for all steps; the options below change single ones
    #[arg(
        long,
        value_enum,
        default_value = "spec",
        hide_possible_values = true,
        value_name = "spec|paper",
        help_heading = "Steps of CLID"
    )]
    pub preset: PresetChoice,
    /// Standardize each column to mean 0 and variance 1 first
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "yes", hide_possible_values = true, value_name = "yes|no", help_heading = "Steps of CLID")]
    pub standardize: Option<YesNo>,
    /// Which steps use rows scaled to unit length
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "none|vote|all",
        help_heading = "Steps of CLID"
    )]
    pub unit_length: Option<UnitLengthChoice>,
    /// Number of k-means clusters; sqrt: the square root of the number of rows. A number also applies to MCR² without
    /// labels
    #[arg(long, alias = "n-clusters", value_parser = cluster_count, value_name = "N|sqrt", help_heading = "Steps of CLID")]
    pub clusters: Option<ClusterCount>,
    /// Restarts of k-means; the best by inertia is kept
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub restarts: Option<usize>,
    /// Number of voting neighbors
    #[arg(long, alias = "k-classifier", value_name = "K", help_heading = "Steps of CLID")]
    pub k: Option<usize>,
    /// Number of clusterings, each with its own seed: --seed, --seed + 1, …
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub repeats: Option<usize>,
    /// Number of random train/test splits of each clustering
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub splits: Option<usize>,
    /// Divide the dimension by the number of columns (dim), or standardize it and CL over the models (pool)
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "dim|pool",
        help_heading = "Steps of CLID"
    )]
    pub id_norm: Option<IdNormChoice>,
    /// Exponent of the distance in alignment
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub alpha: f64,
    /// Kernel parameter t of uniformity
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub t: f64,
    /// Squared distortion of MCR²
    #[arg(long, default_value_t = 0.01, help_heading = "Companions")]
    pub eps: f64,
    /// Weight inside the discriminative term of MCR²
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam1: f64,
    /// Weight of the discriminative term in the total of MCR²
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
