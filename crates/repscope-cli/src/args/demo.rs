// SPDX-License-Identifier: MIT
//! `repscope demo`.

use std::path::PathBuf;

use clap::Args;

use repscope::options::Machine;

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  repscope demo --quick
  repscope demo --output-dir world --seed 7

Generates a small world of moving shapes and trains a JEPA and an Encoder-Decoder on it, with
the frame encoder of the representation analysis, beside two controls: an untrained encoder and
one whose training collapses. Then runs every analysis. All files are in the output folder, with
a study.toml to edit and run again.";

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
