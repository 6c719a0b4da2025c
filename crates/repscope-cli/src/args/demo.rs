// SPDX-License-Identifier: MIT
//! `repscope demo`.

use std::path::PathBuf;

use clap::Args;

use repscope::options::Machine;

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  repscope demo --quick
  repscope demo --output-dir world --seed 7

A small world of moving shapes is generated. A JEPA and an Encoder-Decoder are trained on it,
with the encoder of document 000, beside two controls: an encoder that was never trained and
one whose training collapses. Then every analysis is run. Everything lies in the folder, with
a study.toml to change and run again.";

#[derive(Debug, Args)]
pub struct Demo {
    /// About three minutes on two cores (the default)
    #[arg(long, conflicts_with_all = ["tiny", "full"])]
    pub quick: bool,
    /// Seconds: everything is there, but nothing has learned much
    #[arg(long, conflicts_with = "full")]
    pub tiny: bool,
    /// Several minutes, and better models
    #[arg(long)]
    pub full: bool,
    /// Where everything goes
    #[arg(long, default_value = "demo", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// The seed of world, training and analyses
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
