// SPDX-License-Identifier: MIT
//! What can be typed: a file for each command, or for what several share. Parsing only validates; nothing is opened here.

mod analyses;
mod bench;
mod choice;
mod clid;
mod compare;
mod data;
mod encode;
mod encoders;
mod etes;
mod evaluate;
mod figures;
mod looking;
mod models;
mod outputs;
mod perturb;
mod report;
mod retrieval;
mod robustness;

use clap::{Parser, Subcommand};

pub use analyses::{DistanceChoice, Geometry, Manifold, Neighborhood, Rankme, Smoothness};
pub use bench::{Bench, BenchJob};
pub use choice::{AnalysisChoice, Choice};
pub use clid::{Clid, IdNormChoice, PresetChoice, UnitLengthChoice, YesNo};
pub use compare::Compare;
pub use data::{Data, Episodes, SeenOption};
pub use encode::Encode;
pub use encoders::{
    ActivationChoice, ENCODER_HEADING, EncoderOptions, LayoutChoice, NumberEncoderOptions, ProviderChoice,
    RuntimeChoice, RuntimeOptions, TextEncoderOptions,
};
pub use etes::{Etes, FluencyKind};
pub use evaluate::Evaluate;
pub use figures::{FigureFormat, FigureOptions};
pub use looking::{Check, Explain, Metrics, Validate};
pub use models::{Models, PoolChoice};
pub use outputs::{FormatChoice, Machine, Outputs};
pub use perturb::{MaskOptions, Perturb, PerturbEvaluate, PerturbGenerate};
pub use report::Report;
pub use retrieval::Retrieval;
pub use robustness::Robustness;

use clid::CLID_EXAMPLES;
use compare::COMPARE_EXAMPLES;
use encode::ENCODE_EXAMPLES;
use etes::ETES_EXAMPLES;
use evaluate::EVALUATE_EXAMPLES;
use perturb::PERTURB_EXAMPLES;
use retrieval::RETRIEVAL_EXAMPLES;
use robustness::ROBUSTNESS_EXAMPLES;

const EXAMPLES: &str = "\
Examples:
  repscope manifold --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope geometry --model jepa=z.npz#codes --labels labels.npy
  repscope neighborhood --states frames.npy --model jepa=z.npy --k 5 10 15
  repscope smoothness --states frames.npy --episodes episode.npy --model jepa=z.npy
  repscope retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy --labels labels.npy
  repscope etes --signal eeg.npy --generated beam.npy --reference true.npy
  repscope rankme --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope clid --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --preset paper
  repscope evaluate z.npy --labels labels.npy
  repscope report evaluation_plots/results.json
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope check z.npy labels.npy
  repscope explain two_nn

Paths: file.npy, file.npz#key, file.safetensors#tensor, file.parquet#column, file.csv#column, file.jsonl#field,
file.pth#path.to.tensor, a folder of images. --model also takes a folder of .npy files, a pattern ('checkpoints/*.npy'),
or an encoder (.onnx, weights of a known network, a folder of a text model), which is then run on --states";

/// Measures how good learned representations are.
#[derive(Debug, Parser)]
#[command(name = "repscope", version, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do small steps of the input make small steps of the code?
    Smoothness(Smoothness),
    /// How far does noise in the input move the code?
    #[command(after_help = ROBUSTNESS_EXAMPLES)]
    Robustness(Box<Robustness>),
    /// Are neighbours of the input neighbours of the code? (trustworthiness, continuity)
    #[command(alias = "neighbourhood")]
    Neighborhood(Neighborhood),
    /// How many dimensions do the codes use? (participation ratio, TwoNN, spectrum)
    Manifold(Manifold),
    /// How many directions do the codes really fill? (RankMe as document 002 and as its paper define it, other ranks)
    Rankme(Rankme),
    /// Are clusters of the codes easy to learn, and how many dimensions are there? (CLID, MCR², alignment; which score
    /// predicts accuracy)
    #[command(after_help = CLID_EXAMPLES, allow_negative_numbers = true)]
    Clid(Box<Clid>),
    /// How are the codes spread, and do they fall into classes? (uniformity, silhouette, k-means, k-NN)
    Geometry(Geometry),
    /// Do the targets nearest to a query have its label? (precision@K between spaces, or from label prototypes)
    #[command(after_help = RETRIEVAL_EXAMPLES)]
    Retrieval(Box<Retrieval>),
    /// How near are generated texts to the signals they were made from? (ETES, document 004; lower is better)
    #[command(after_help = ETES_EXAMPLES)]
    Etes(Box<Etes>),
    /// What does masking parts of its images cost a classifier? (perturbation impact score)
    #[command(subcommand, after_help = PERTURB_EXAMPLES)]
    Perturb(Perturb),
    /// Runs an encoder over arrays, images or texts and writes the codes
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<Encode>),
    /// Every analysis whose inputs are there, and one report of all
    #[command(after_help = EVALUATE_EXAMPLES)]
    Evaluate(Box<Evaluate>),
    /// Draws tables, figures, CSV files and the HTML report of a results.json anew, without computing
    Report(Report),
    /// Which model is better, in what, and how sure is that? (paired differences, p-values, ranking; gates for CI)
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<Compare>),
    /// Looks at input files: shapes, NaN, duplicates, zero rows, constant columns, class sizes
    Check(Check),
    /// Evidence that CLID and RankMe are right: examples with known answers, computed anew
    Validate(Validate),
    /// Lists every metric
    Metrics(Metrics),
    /// Shows the definition of a metric
    Explain(Explain),
    /// Timings for the benchmark scripts
    #[command(hide = true)]
    Bench(Bench),
}

/// Options may be written with underscores, as in the specification documents: `--output_dir`.
pub fn with_dashes(arguments: impl Iterator<Item = std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let mut options_ended = false;
    arguments
        .map(|argument| {
            options_ended |= argument == "--";
            let Some(text) = argument.to_str().filter(|t| t.starts_with("--") && !options_ended) else {
                return argument;
            };
            let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
            format!("{}{value}", name.replace('_', "-")).into()
        })
        .collect()
}

/// What clap has to say, without its usage and on one line.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let told = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let parts: Vec<&str> = told.filter(|line| !line.is_empty()).collect();
    parts
        .join("; ")
        .replace(":; ", ": ")
        .trim_start_matches("error: ")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_be_written_with_underscores() {
        let given = ["repscope", "--output_dir=a_b", "--next_states", "x_y", "--", "--z_z"];
        let got = with_dashes(given.iter().map(Into::into));
        assert_eq!(
            got,
            ["repscope", "--output-dir=a_b", "--next-states", "x_y", "--", "--z_z"]
        );
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
