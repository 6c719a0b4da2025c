// SPDX-License-Identifier: MIT
//! Which analyses run, and the options that several of them share.

use clap::{Args, ValueEnum};
use repscope_core::Analysis;

#[derive(Debug, Args)]
pub struct Choice {
    /// Run only these analyses; one that cannot run is an error
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
    /// Skip these analyses
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
    /// Neighborhood sizes of `neighborhood` [default: 5 10 15]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "K", help_heading = "Analyses")]
    pub k: Vec<usize>,
    /// Number of neighbors for the k-NN accuracy of `geometry` [default: 5]
    #[arg(long, value_name = "K", help_heading = "Analyses")]
    pub knn_k: Option<usize>,
    /// Use M random query rows in `neighborhood`, `manifold` and `geometry`: an unbiased estimate for millions of rows
    #[arg(long, value_name = "M", help_heading = "Analyses")]
    pub sample: Option<usize>,
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
    Robustness,
    Retrieval,
    Etes,
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
            AnalysisChoice::Robustness => Analysis::Robustness,
            AnalysisChoice::Retrieval => Analysis::Retrieval,
            AnalysisChoice::Etes => Analysis::Etes,
        }
    }
}
