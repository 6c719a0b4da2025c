// SPDX-License-Identifier: MIT
//! Command-line arguments: one file per command, or per group of shared options. Parsing only validates; it opens no file.

mod analyses;
mod bench;
mod choice;
mod clid;
mod compare;
mod data;
mod demo;
mod encode;
mod encoders;
mod etes;
mod evaluate;
mod figures;
mod looking;
mod manual;
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
pub use demo::Demo;
pub use encode::Encode;
pub use encoders::{
    ActivationChoice, ENCODER_HEADING, EncoderOptions, LayoutChoice, NumberEncoderOptions, ProviderChoice,
    RuntimeChoice, RuntimeOptions, TextEncoderOptions,
};
pub use etes::{Etes, FluencyKind};
pub use evaluate::Evaluate;
pub use figures::{FigureFormat, FigureOptions};
pub use looking::{Check, Explain, Metrics, Validate};
pub use manual::{Manual, ManualPart};
pub use models::{Models, PoolChoice};
pub use outputs::{FormatChoice, Machine, Outputs};
pub use perturb::{MaskOptions, Perturb, PerturbEvaluate, PerturbGenerate};
pub use report::Report;
pub use retrieval::Retrieval;
pub use robustness::Robustness;

use clid::CLID_EXAMPLES;
use compare::COMPARE_EXAMPLES;
use demo::DEMO_EXAMPLES;
use encode::ENCODE_EXAMPLES;
use etes::ETES_EXAMPLES;
use evaluate::EVALUATE_EXAMPLES;
use manual::MANUAL_EXAMPLES;
use perturb::PERTURB_EXAMPLES;
use retrieval::RETRIEVAL_EXAMPLES;
use robustness::ROBUSTNESS_EXAMPLES;

const EXAMPLES: &str = "\
Examples:
  repscope demo --quick
  repscope evaluate z.npy --labels labels.npy
  repscope evaluate --states frames.npy --model jepa=jepa.onnx autoencoder=best_encoder.pth
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope explain two_nn

`repscope COMMAND --help` shows the options and examples of a command. Paths: file.npy,
file.npz#key, file.safetensors#tensor, file.parquet#column, file.csv#column,
file.jsonl#field, file.pth#path.to.tensor, a folder of images.";

/// Measures how good learned representations are.
#[derive(Debug, Parser)]
#[command(name = "repscope", version, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Trains a JEPA and an Encoder-Decoder on a small world, and evaluates both
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
    /// Runs every analysis whose inputs are given, with one report
    #[command(after_help = EVALUATE_EXAMPLES)]
    Evaluate(Box<Evaluate>),
    /// Which model is better, and is the difference significant? (p-values; gates for CI)
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<Compare>),
    /// Redraws tables, figures and the page of a results.json without computing
    #[command(
        after_help = "Examples:\n  repscope report evaluation_plots/results.json\n  repscope report evaluation_plots --output-dir paper --figure-width one --figure-format pdf"
    )]
    Report(Report),
    /// Do small changes of the input cause small changes of the embedding?
    #[command(
        after_help = "Examples:\n  repscope smoothness --states frames.npy --episodes episode.npy --model jepa=z.npy\n  repscope smoothness --states s.npy --next-states s1.npy --model jepa=z.npy,z1.npy"
    )]
    Smoothness(Smoothness),
    /// How far does noise in the input move the embedding?
    #[command(after_help = ROBUSTNESS_EXAMPLES)]
    Robustness(Box<Robustness>),
    /// Are neighbors preserved by the embedding? (trustworthiness, continuity)
    #[command(alias = "neighbourhood")]
    #[command(
        after_help = "Examples:\n  repscope neighborhood --states frames.npy --model jepa=z.npy --k 5 10 15\n  repscope neighborhood --states frames.npy --model z.npy --sample 2000"
    )]
    Neighborhood(Neighborhood),
    /// How many dimensions do the embeddings use? (participation ratio, TwoNN, spectrum)
    #[command(
        after_help = "Examples:\n  repscope manifold --model jepa=z_jepa.npy --model autoencoder=z_ae.npy\n  repscope manifold --model z.npz#codes --discard 0.05"
    )]
    Manifold(Manifold),
    /// What is the effective rank of the embeddings? (RankMe, other ranks)
    #[command(after_help = "Examples:\n  repscope rankme --model jepa=z_jepa.npy --model autoencoder=z_ae.npy")]
    Rankme(Rankme),
    /// Are the clusters learnable, and which score predicts accuracy? (CLID, MCR²)
    #[command(after_help = CLID_EXAMPLES, allow_negative_numbers = true)]
    Clid(Box<Clid>),
    /// How are the embeddings spread, and do they separate classes? (silhouette, k-NN)
    #[command(
        after_help = "Examples:\n  repscope geometry --model jepa=z.npy --labels labels.npy\n  repscope geometry --model z.npy --clusters 10 --format latex"
    )]
    Geometry(Geometry),
    /// Do the targets nearest to a query have its label? (precision@K, prototypes)
    #[command(after_help = RETRIEVAL_EXAMPLES)]
    Retrieval(Box<Retrieval>),
    /// How well do generated texts match the signals they come from? (EEG–text energy)
    #[command(after_help = ETES_EXAMPLES)]
    Etes(Box<Etes>),
    /// How much accuracy does a classifier lose on masked images? (perturbation impact)
    #[command(subcommand, after_help = PERTURB_EXAMPLES)]
    Perturb(Perturb),
    /// Runs an encoder on arrays, images or texts and writes the embeddings
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<Encode>),
    /// Checks input files: shapes, NaN, duplicates, constant columns, class sizes
    #[command(after_help = "Examples:\n  repscope check z.npy labels.npy")]
    Check(Check),
    /// Validates CLID and RankMe on examples with known answers
    #[command(after_help = "Examples:\n  repscope validate --output evidence.md")]
    Validate(Validate),
    /// Lists every metric
    #[command(after_help = "Examples:\n  repscope metrics --json")]
    Metrics(Metrics),
    /// Shows the definition of a metric
    #[command(after_help = "Examples:\n  repscope explain trustworthiness@10 two_nn")]
    Explain(Explain),
    /// Shell completions, manual pages, documentation
    #[command(after_help = MANUAL_EXAMPLES)]
    Manual(Manual),
    /// Timings for the benchmark scripts
    #[command(hide = true)]
    Bench(Bench),
}

/// Accepts options with underscores, as in the original scripts: `--output_dir`.
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

/// The message of a clap error on one line, without usage.
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

    /// Words as a shell splits them: quotes hold words together, and what is sent elsewhere with `>` is no argument.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (i, part) in line.split('\'').enumerate() {
            match i % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_string)),
                _ => words.push(part.to_string()),
            }
        }
        words.into_iter().take_while(|word| word != ">").collect()
    }

    #[test]
    fn every_command_that_the_pages_show_is_a_command_line() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = vec![root.join("README.md")];
        for folder in ["docs/guides", "examples"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("a folder").flatten() {
                let path = entry.path();
                pages.push(if path.is_dir() { path.join("README.md") } else { path });
            }
        }
        let mut parsed = 0;
        for page in pages.iter().filter(|page| page.extension().is_some_and(|e| e == "md")) {
            let text = std::fs::read_to_string(page).unwrap_or_default().replace("\\\n", " ");
            let shown = text.lines().filter_map(|line| {
                let line = line.strip_prefix("$ ")?;
                line.strip_prefix("repscope ")
                    .or(line.strip_prefix("cargo run --release -- "))
            });
            for line in shown {
                let line = format!(
                    "repscope {}",
                    line.split(" # ").next().unwrap_or(line).replace('"', "'")
                );
                if let Err(error) = Cli::try_parse_from(with_dashes(words(&line).into_iter().map(Into::into))) {
                    panic!("{}: {line}\n{error}", page.display());
                }
                parsed += 1;
            }
        }
        assert!(parsed > 40, "{parsed} commands");
    }

    #[test]
    fn every_example_of_every_help_is_a_command_line() {
        use clap::CommandFactory;
        let mut all = Cli::command();
        all.build();
        let helps = std::iter::once(&all).chain(all.get_subcommands());
        let mut parsed = 0;
        for command in helps.filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help
                .replace("\\\n", " ")
                .lines()
                .filter(|line| line.starts_with("  repscope "))
            {
                let words = with_dashes(words(line).into_iter().map(Into::into));
                if let Err(error) = Cli::try_parse_from(words) {
                    panic!("{line}\n{error}");
                }
                parsed += 1;
            }
        }
        assert!(parsed > 40, "{parsed} examples");
    }
}
