// SPDX-License-Identifier: MIT
//! `repscope report`: a results document drawn anew.

use std::path::PathBuf;

use clap::Args;
use repscope::options::{FigureOptions, FormatChoice};

#[derive(Debug, Args)]
pub struct Report {
    /// The results.json of any analysis or of `evaluate`, or the folder it is in
    #[arg(value_name = "results.json")]
    pub document: PathBuf,
    /// Where the files go [default: where the run put them]
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// How to print the table
    #[arg(long, value_parser = repscope::options::formats(), default_value = "table")]
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
