// SPDX-License-Identifier: MIT
//! Where results go, in which format, and limits on threads and memory.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FigureOptions;

#[derive(Debug, Clone, Args)]
pub struct Outputs {
    /// Folder for results.json, CSV files and figures
    #[arg(long, default_value = "evaluation_plots", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Print results.json on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatChoice,
    #[command(flatten)]
    pub figures: FigureOptions,
    #[command(flatten)]
    pub machine: Machine,
    /// Random seed
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
}

#[derive(Debug, Clone, Args)]
pub struct Machine {
    /// Number of threads (default: all cores); results do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Memory limit, such as 4G or 512M; a run that needs more stops before it starts
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// No progress bars and no advice on stderr
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    Table,
    Markdown,
    Latex,
    Csv,
    Json,
}
