// SPDX-License-Identifier: MIT
//! Where results go, in which form, and what the run may use of the machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FigureOptions;

#[derive(Debug, Clone, Args)]
pub struct Outputs {
    /// Where results.json, CSV files and figures go
    #[arg(long, default_value = "evaluation_plots", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Print the results document (results.json) on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    /// How to print the table
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatChoice,
    #[command(flatten)]
    pub figures: FigureOptions,
    #[command(flatten)]
    pub machine: Machine,
    /// The seed of every random choice
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
}

#[derive(Debug, Clone, Args)]
pub struct Machine {
    /// Threads to use (default: all cores); the numbers do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Working memory the run may use, such as 4G or 512M; a run that needs more is refused before it starts
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
