// SPDX-License-Identifier: MIT
//! Commands without an analysis: input checks, validation, the list of metrics.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct Check {
    /// Files to check; all arrays of a file are shown
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Use blobs.npy and matrix.npy of this folder, written by make_examples.py, instead of the built-in data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Also write the claims as Markdown, for the appendix of a paper
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the claims as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Metrics {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Metric id: `two_nn`, `trustworthiness@10`, `smoothness.slope`
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}
