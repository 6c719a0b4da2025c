// SPDX-License-Identifier: MIT
//! Commands that are no analyses.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;
use repscope::options::{FigureOptions, FormatChoice, Machine};

#[derive(Debug, Args)]
pub struct Check {
    /// Files to check; all arrays of a file are shown
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Look for rows of the files among the rows of this one, such as the training data: copies, and near copies
    #[arg(long, value_name = "PATH")]
    pub against: Option<String>,
    /// The split of each row of the file, such as train and test: rows that occur in two splits are found
    #[arg(long, value_name = "PATH")]
    pub splits: Option<String>,
    /// The label of each row of the file: rows that occur twice with different labels are found
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    /// Rows are near copies below this share of the usual distance to the nearest neighbor [default: 0.1 with --against,
    /// --splits or --labels, which look for them; 0 for copies alone]
    #[arg(long, value_name = "SHARE")]
    pub near: Option<f64>,
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

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  repscope demo --quick
  repscope demo --output-dir world --seed 7

Generates a small world, a moving object before clouds that change with every frame, and trains
a JEPA and an Encoder-Decoder on it, with the frame encoder of the representation analysis,
beside two controls: an untrained encoder and one whose training collapses. Then runs every
analysis. All files are in the output folder, with a study.toml to edit and run again.";

#[derive(Debug, Args)]
pub struct Demo {
    /// About two minutes on two cores (the default)
    #[arg(long, conflicts_with_all = ["tiny", "full"])]
    pub quick: bool,
    /// Seconds: complete, but the encoders learn little
    #[arg(long, conflicts_with = "full")]
    pub tiny: bool,
    /// Several minutes, and better models
    #[arg(long)]
    pub full: bool,
    /// Output folder
    #[arg(long, default_value = "demo", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Replace the demo that the output folder holds
    #[arg(long)]
    pub overwrite: bool,
    /// Random seed of world, training and analyses
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Draw no figures
    #[arg(long)]
    pub no_figures: bool,
    #[command(flatten)]
    pub machine: Machine,
    /// No progress bars and no advice on stderr
    #[arg(long)]
    pub quiet: bool,
}

pub(super) const MANUAL_EXAMPLES: &str = "\
Examples:
  repscope manual completions bash > ~/.local/share/bash-completion/completions/repscope
  repscope manual man ~/.local/share/man/man1
  repscope manual docs docs";

#[derive(Debug, Args)]
pub struct Manual {
    #[command(subcommand)]
    pub part: ManualPart,
}

#[derive(Debug, Subcommand)]
pub enum ManualPart {
    /// Prints the completion script of a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
    /// Writes the manual pages, one per command
    Man {
        /// Output folder, such as ~/.local/share/man/man1
        folder: PathBuf,
    },
    /// Writes a Markdown page per metric and one for all commands
    Docs {
        /// Output folder
        folder: PathBuf,
        /// Compare with the existing pages instead of writing; exit code 1 if a page is out of date
        #[arg(long)]
        check: bool,
    },
}

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
    /// Show every score, not only those that answer
    #[arg(long)]
    pub all: bool,
    /// Print results.json on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub figures: FigureOptions,
    /// Number of threads (default: all cores); the files do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Keep texts in CSV files that a spreadsheet would compute (they start with =, +, - or @) without an apostrophe before them
    #[arg(long)]
    pub keep_formulas: bool,
    /// No advice on stderr
    #[arg(long)]
    pub quiet: bool,
}
