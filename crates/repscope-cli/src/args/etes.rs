// SPDX-License-Identifier: MIT
//! `repscope etes`: signals, what systems made of them, and the true texts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Outputs, RuntimeOptions, TextEncoderOptions};

pub(super) const ETES_EXAMPLES: &str = "\
Examples:
  repscope etes --signal eeg.npy --generated beam.npy --reference true.npy
  repscope etes --signal eeg.npy --generated beam=b.npy nucleus=n.npy \\
      --reference true.npy --group subject=subjects.npy
  repscope etes --signal eeg.npy --generated-text beam.txt \\
      --reference-text true.txt --text-encoder flan-t5-large/ \\
      --checkpoint glim.ckpt --template 'To English: {}'

Energies are negative cosines: lower is better. Row i of all files is the same
sample. NAME=PATH gives a file to one system, a path alone to all of them.";

const INPUTS: &str = "Signals and texts";

#[derive(Debug, Args)]
pub struct Etes {
    /// Embeddings of the signals, one per row; NAME=PATH where a system has signals of its own
    #[arg(long, num_args = 1.., required = true, value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub signal: Vec<String>,
    /// Embeddings of the texts that a system generated; several systems as NAME=PATH NAME=PATH
    #[arg(
        long,
        num_args = 1..,
        required_unless_present = "generated_text",
        value_name = "NAME=PATH|PATH",
        help_heading = INPUTS
    )]
    pub generated: Vec<String>,
    /// Embeddings of the true texts
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub reference: Vec<String>,
    /// The texts that a system generated (.txt, file.jsonl#field, file.csv#column). Without --generated they are encoded
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub generated_text: Vec<String>,
    /// The true texts. Without --reference they are encoded
    #[arg(long, value_name = "PATH", help_heading = INPUTS)]
    pub reference_text: Option<String>,
    /// The text encoder: a folder as Hugging Face stores it, or an .onnx file with tokenizer.json beside it
    #[arg(long, value_name = "PATH", help_heading = INPUTS)]
    pub text_encoder: Option<String>,
    /// The trained model: its aligner is put behind the text encoder
    #[arg(long, value_name = "FILE", requires = "text_encoder", help_heading = INPUTS)]
    pub checkpoint: Option<String>,
    /// How fluent each generated text is, which then is part of the total
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub fluency: Vec<String>,
    /// What --fluency holds
    #[arg(long, value_enum, default_value = "log-perplexity", value_name = "KIND", help_heading = INPUTS)]
    pub fluency_kind: FluencyKind,
    /// Give the scores for each value of something, too: subject=PATH task=PATH
    #[arg(long, num_args = 1.., value_name = "NAME=PATH", help_heading = INPUTS)]
    pub group: Vec<String>,
    /// Samples with the same value of this --group belong together: intervals are over its values, not over samples
    #[arg(long, value_name = "GROUP", help_heading = INPUTS)]
    pub units: Option<String>,
    /// Weight of the fluency (log-perplexity / 10) in the total
    #[arg(long, default_value_t = 0.1, value_name = "W", help_heading = "Scores")]
    pub fluency_weight: f64,
    /// Where the bands excellent, good, fair and weak end; behind them is poor
    #[arg(
        long,
        num_args = 4,
        allow_negative_numbers = true,
        default_values_t = [-0.8, -0.5, -0.2, 0.0],
        value_name = "E",
        help_heading = "Scores"
    )]
    pub bands: Vec<f64>,
    /// Is the true text among the K nearest of all texts?
    #[arg(
        long,
        num_args = 1..,
        value_delimiter = ',',
        default_values_t = [1, 5, 10],
        value_name = "K",
        help_heading = "Scores"
    )]
    pub k: Vec<usize>,
    /// Random pairings that the p-value is counted from; 0 leaves it out
    #[arg(long, default_value_t = 999, value_name = "N", help_heading = "Scores")]
    pub permutations: usize,
    /// Write the scores of each sample to this .csv, .json or .parquet file, too
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub samples: Option<PathBuf>,
    #[command(flatten)]
    pub runtime: RuntimeOptions,
    #[command(flatten)]
    pub text: TextEncoderOptions,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FluencyKind {
    /// Mean negative log-likelihood of the tokens
    LogPerplexity,
    /// Its exponential, at least 1
    Perplexity,
}
