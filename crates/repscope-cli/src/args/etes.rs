// SPDX-License-Identifier: MIT
//! `repscope etes`: signals, generated texts and reference texts.

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

Energies are negative cosine similarities: lower is better. Row i of all files is the
same sample. NAME=PATH assigns a file to one system, a plain path to all of them.";

const INPUTS: &str = "Signals and texts";

#[derive(Debug, Args)]
pub struct Etes {
    /// Embeddings of the signals, one per row; NAME=PATH if a system has its own signals
    #[arg(long, num_args = 1.., required = true, value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub signal: Vec<String>,
    /// Embeddings of the generated texts; several systems as NAME=PATH NAME=PATH
    #[arg(
        long,
        num_args = 1..,
        required_unless_present = "generated_text",
        value_name = "NAME=PATH|PATH",
        help_heading = INPUTS
    )]
    pub generated: Vec<String>,
    /// Embeddings of the reference texts
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub reference: Vec<String>,
    /// The generated texts (.txt, file.jsonl#field, file.csv#column); encoded unless --generated is given
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub generated_text: Vec<String>,
    /// The reference texts; encoded unless --reference is given
    #[arg(long, value_name = "PATH", help_heading = INPUTS)]
    pub reference_text: Option<String>,
    /// The text encoder: a Hugging Face model folder, or an .onnx file with tokenizer.json beside it
    #[arg(long, value_name = "PATH", help_heading = INPUTS)]
    pub text_encoder: Option<String>,
    /// Trained model whose aligner is applied after the text encoder
    #[arg(long, value_name = "FILE", requires = "text_encoder", help_heading = INPUTS)]
    pub checkpoint: Option<String>,
    /// Fluency of each generated text, which enters the total
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub fluency: Vec<String>,
    /// Kind of values in --fluency
    #[arg(long, value_enum, default_value = "log-perplexity", value_name = "KIND", help_heading = INPUTS)]
    pub fluency_kind: FluencyKind,
    /// Also report the scores of each group: subject=PATH task=PATH
    #[arg(long, num_args = 1.., value_name = "NAME=PATH", help_heading = INPUTS)]
    pub group: Vec<String>,
    /// Sampling unit of the intervals: the values of this --group instead of samples
    #[arg(long, value_name = "GROUP", help_heading = INPUTS)]
    pub units: Option<String>,
    /// Weight of the fluency (log-perplexity / 10) in the total
    #[arg(long, default_value_t = 0.1, value_name = "W", help_heading = "Scores")]
    pub fluency_weight: f64,
    /// Upper limits of the bands excellent, good, fair and weak; above them is poor
    #[arg(
        long,
        num_args = 4,
        allow_negative_numbers = true,
        default_values_t = [-0.8, -0.5, -0.2, 0.0],
        value_name = "E",
        help_heading = "Scores"
    )]
    pub bands: Vec<f64>,
    /// Report how often the own text of a signal is among its K nearest texts
    #[arg(
        long,
        num_args = 1..,
        value_delimiter = ',',
        default_values_t = [1, 5, 10],
        value_name = "K",
        help_heading = "Scores"
    )]
    pub k: Vec<usize>,
    /// Number of random pairings for the p-value; 0 omits it
    #[arg(long, default_value_t = 999, value_name = "N", help_heading = "Scores")]
    pub permutations: usize,
    /// Also write the scores of each sample to this .csv, .json or .parquet file
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
