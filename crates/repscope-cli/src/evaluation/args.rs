// SPDX-License-Identifier: MIT
//! What can be typed after `repscope evaluate` and `repscope report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use repscope_core::Analysis;

use crate::args::{FigureOptions, FormatChoice, Outputs, PoolChoice, PresetChoice};
use crate::gates::GateOptions;

pub const EVALUATE_EXAMPLES: &str = "\
Examples:
  repscope evaluate z.npy --labels labels.npy
  repscope evaluate --states frames.npy --labels labels.npy --model jepa=z_jepa.npy ae=z_ae.npy
  repscope evaluate z_jepa.npy z_ae.npy --only manifold,rankme
  repscope evaluate --init study.toml
  repscope evaluate study.toml --resume

  analysis       needs
  smoothness     --states; --next-states or --episodes where there are some
  neighborhood   --states
  manifold       nothing but codes
  geometry       codes; more with --labels
  rankme         nothing but codes
  clid           codes; more with --labels, --views and --performance
  retrieval      a table [retrieval] in the study file

The study file says the same as the options; an option wins over it.";

#[derive(Debug, Args)]
pub struct Evaluate {
    /// A study file (.toml), or the codes of models as with --model
    #[arg(value_name = "STUDY.toml|PATH")]
    pub inputs: Vec<String>,
    /// Write a commented study file to start from, and stop [default: study.toml]
    #[arg(long, num_args = 0..=1, default_missing_value = "study.toml", value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// The states that the models saw, one per row (trailing dimensions are flattened)
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub states: Option<String>,
    /// The state after each state, for smoothness. Each --model is then NAME=Z,Z1
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub next_states: Option<String>,
    /// The episode of each row: pairs never cross episodes, and intervals are taken over them
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub episodes: Option<String>,
    /// A class per row: strings, whole numbers or booleans
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub labels: Option<String>,
    /// Codes of a second view of the same samples, for alignment
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = "Data")]
    pub views: Vec<String>,
    /// Codes of a model: NAME=PATH, or PATH (the file stem is the name). Repeat for more models, or name a folder of .npy
    /// files or a pattern such as 'runs/*.npy'
    #[arg(long = "model", num_args = 1.., value_name = "NAME=PATH", help_heading = "Data")]
    pub models: Vec<String>,
    /// How codes of shape (N, T, D) become one row per sample
    #[arg(long, value_enum, default_value = "last", help_heading = "Data")]
    pub pool: PoolChoice,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, the models' names, and NAME.view for their second views)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH", help_heading = "Data")]
    pub ids: Vec<String>,
    /// Run these analyses and no others; one that cannot run is an error
    #[arg(
        long,
        value_enum,
        num_args = 1..,
        value_delimiter = ',',
        value_name = "ANALYSIS",
        hide_possible_values = true,
        help_heading = "Analyses"
    )]
    pub only: Vec<AnalysisChoice>,
    /// Leave these analyses out
    #[arg(
        long,
        value_enum,
        num_args = 1..,
        value_delimiter = ',',
        value_name = "ANALYSIS",
        hide_possible_values = true,
        help_heading = "Analyses"
    )]
    pub skip: Vec<AnalysisChoice>,
    /// Take the analyses that an earlier run finished with the same inputs, options and version from the output folder
    #[arg(long, help_heading = "Analyses")]
    pub resume: bool,
    /// Neighbourhood sizes of `neighborhood` [default: 5 10 15]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "K", help_heading = "Analyses")]
    pub k: Vec<usize>,
    /// Number of k-means clusters of `geometry` [default: 5]
    #[arg(long, value_name = "N", help_heading = "Analyses")]
    pub clusters: Option<usize>,
    /// The steps of `clid` [default: spec]
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "spec|paper",
        help_heading = "Analyses"
    )]
    pub preset: Option<PresetChoice>,
    /// How well each model does elsewhere, for `clid`: a table with a column of models and one of numbers
    #[arg(long, value_name = "FILE", help_heading = "Analyses")]
    pub performance: Option<String>,
    /// Let M random rows ask in `neighborhood`, `manifold` and `geometry`, where N is in the millions
    #[arg(long, value_name = "M", help_heading = "Analyses")]
    pub sample: Option<usize>,
    /// Any other option of an analysis, by the name it has there: --set geometry.splits=20
    #[arg(long, num_args = 1.., value_name = "ANALYSIS.OPTION=VALUE", help_heading = "Analyses")]
    pub set: Vec<String>,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
    #[command(flatten)]
    pub gates: GateOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnalysisChoice {
    Smoothness,
    #[value(alias = "neighbourhood")]
    Neighborhood,
    Manifold,
    Geometry,
    Rankme,
    Clid,
    Retrieval,
}

impl AnalysisChoice {
    pub fn analysis(self) -> Analysis {
        match self {
            AnalysisChoice::Smoothness => Analysis::Smoothness,
            AnalysisChoice::Neighborhood => Analysis::Neighborhood,
            AnalysisChoice::Manifold => Analysis::Manifold,
            AnalysisChoice::Geometry => Analysis::Geometry,
            AnalysisChoice::Rankme => Analysis::Rankme,
            AnalysisChoice::Clid => Analysis::Clid,
            AnalysisChoice::Retrieval => Analysis::Retrieval,
        }
    }
}

#[derive(Debug, Args)]
pub struct Report {
    /// The results.json of any analysis or of `evaluate`, or the folder it is in
    #[arg(value_name = "results.json")]
    pub document: PathBuf,
    /// Where the files go [default: where the run put them]
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// How to print the table
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatChoice,
    /// Print the results document instead of the table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub figures: FigureOptions,
    /// Threads to use (default: all cores); the files do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// No advice on stderr
    #[arg(long)]
    pub quiet: bool,
}
