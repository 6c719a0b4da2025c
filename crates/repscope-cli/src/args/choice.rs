// SPDX-License-Identifier: MIT
//! Which analyses run, and the options that are said once for several.

use clap::{Args, ValueEnum};
use repscope_core::Analysis;

#[derive(Debug, Args)]
pub struct Choice {
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
    /// Neighbourhood sizes of `neighborhood` [default: 5 10 15]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "K", help_heading = "Analyses")]
    pub k: Vec<usize>,
    /// Neighbours that vote in the k-NN accuracy of `geometry` [default: 5]
    #[arg(long, value_name = "K", help_heading = "Analyses")]
    pub knn_k: Option<usize>,
    /// Let M random rows ask in `neighborhood`, `manifold` and `geometry`, where N is in the millions
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
