// SPDX-License-Identifier: MIT
//! `repscope report`: redraws a results document.

use std::path::PathBuf;

use clap::Args;
use repscope::options::{FigureOptions, FormatChoice};

#[derive(Debug, Args)]
pub struct Report {
    /// The results.json of an analysis or of `evaluate`, or its folder
    #[arg(value_name = "results.json")]
    pub document: PathBuf,
    /// Output folder [default: that of the run]
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Format of the table
    #[arg(long, value_parser = repscope::options::formats(), default_value = "table")]
    pub format: FormatChoice,
    /// Print results.json on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub figures: FigureOptions,
    /// Number of threads (default: all cores); the files do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// No advice on stderr
    #[arg(long)]
    pub quiet: bool,
}
