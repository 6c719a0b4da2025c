// SPDX-License-Identifier: MIT
//! What can be typed. Parsing only validates; nothing is opened here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use repscope_core::ClusterCount;
use repscope_figures::Width;

use crate::commands::compare::{COMPARE_EXAMPLES, Compare};
use crate::evaluation::args::{EVALUATE_EXAMPLES, Evaluate, Report};

const EXAMPLES: &str = "\
Examples:
  repscope manifold --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope geometry --model jepa=z.npz#codes --labels labels.npy
  repscope neighborhood --states frames.npy --model jepa=z.npy --k 5 10 15
  repscope smoothness --states frames.npy --episodes episode.npy --model jepa=z.npy
  repscope retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy --labels labels.npy
  repscope rankme --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope clid --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --preset paper
  repscope evaluate z.npy --labels labels.npy
  repscope report evaluation_plots/results.json
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope check z.npy labels.npy
  repscope explain two_nn

Paths: file.npy, file.npz#key, file.safetensors#tensor, file.parquet#column, file.csv#column.
--model also takes a folder of .npy files, or a pattern: --model 'checkpoints/*.npy'";

const CLID_EXAMPLES: &str = "\
Examples:
  repscope clid --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope clid --model checkpoints --preset paper --splits 3
  repscope clid --model 'checkpoints/*.npy' --performance accuracy.csv
  repscope clid --model jepa=z_jepa.npy --views augmented.npy --labels labels.npy

A preset sets all steps of CLID; each option changes one of them.

  step                             spec            paper           option
  columns to mean 0, variance 1    yes             no              --standardize
  rows of length 1                 for the vote    for all steps   --unit-length
  k-means clusters                 10              sqrt            --clusters
  restarts of k-means              10              1               --restarts
  voters                           5               1               --k
  clusterings, a seed each         5               5               --repeats
  splits in halves, of each        1               10              --splits
  scale of the dimension           dim             pool            --id-norm

accuracy.csv has a column of models and one of numbers; with it, each score that
needs no labels is compared with them. Options may be written with - or with _.";

const RETRIEVAL_EXAMPLES: &str = "\
Examples:
  repscope retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy \\
      --labels l1=l1.npy l2=l2.npy --directions both sensor2sensor
  repscope retrieval --sensor_embeddings data.npz#sensor --labels data.npz \\
      --prototype_embeddings prototypes.npy --prototype_labels names.npy

A direction names the space that asks and the one that is searched. In
sensor2sensor a row never finds itself. With --quiet only the summary of
document 001 is printed. Options may be written with - or with _.";

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

#[derive(Debug, Args)]
pub struct Models {
    /// Codes of a model: NAME=PATH, or PATH (the file stem is the name). Repeat for more models, or name a folder of .npy
    /// files or a pattern such as 'runs/*.npy': a model per file
    #[arg(long = "model", required = true, num_args = 1.., value_name = "NAME=PATH")]
    pub models: Vec<String>,
    /// How codes of shape (N, T, D) become one row per sample
    #[arg(long, value_enum, default_value = "last")]
    pub pool: PoolChoice,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, the models' names, and NAME.view for their second views)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH")]
    pub ids: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PoolChoice {
    Last,
    Mean,
    First,
    Flatten,
}

#[derive(Debug, Args)]
pub struct Outputs {
    /// Where results.json, CSV files and figures go
    #[arg(long, default_value = "evaluation_plots", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Print the results document (results.json) on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    /// How to print the table
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatChoice,
    #[command(flatten)]
    pub figures: FigureOptions,
    #[command(flatten)]
    pub machine: Machine,
    /// The seed of every random choice
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
}

#[derive(Debug, Args)]
pub struct FigureOptions {
    /// Draw no figures
    #[arg(long)]
    pub no_figures: bool,
    /// What figures are written as
    #[arg(
        long,
        value_enum,
        num_args = 1..,
        value_delimiter = ',',
        default_values = ["png", "svg", "pdf"],
        hide_possible_values = true,
        value_name = "png,svg,pdf"
    )]
    pub figure_format: Vec<FigureFormat>,
    /// How wide figures are: one column (88 mm), two (180 mm), or millimetres
    #[arg(long, value_parser = figure_width, default_value = "two", value_name = "one|two|MM")]
    pub figure_width: Width,
}

impl FigureOptions {
    /// The formats that were asked for, each once.
    pub fn formats(&self) -> Vec<FigureFormat> {
        let all = [FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf];
        all.into_iter().filter(|f| self.figure_format.contains(f)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    Png,
    Svg,
    Pdf,
}

impl FigureFormat {
    /// The extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            FigureFormat::Png => "png",
            FigureFormat::Svg => "svg",
            FigureFormat::Pdf => "pdf",
        }
    }
}

/// `one`, `two`, or a number of millimetres.
fn figure_width(text: &str) -> Result<Width, String> {
    match text.trim_end_matches("mm").trim_end().parse::<f64>() {
        _ if text == "one" => Ok(Width::OneColumn),
        _ if text == "two" => Ok(Width::TwoColumns),
        Ok(mm) if (40.0..=1000.0).contains(&mm) => Ok(Width::Millimetres(mm)),
        _ => Err("it is neither one, nor two, nor a number of millimetres from 40 to 1000".to_string()),
    }
}

#[derive(Debug, Args)]
pub struct Machine {
    /// Threads to use (default: all cores); the numbers do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Working memory the run may use, such as 4G or 512M; a run that needs more is refused before it starts
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// No progress bars and no advice on stderr
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    Table,
    Markdown,
    Latex,
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceChoice {
    Euclidean,
    Cosine,
}

#[derive(Debug, Args)]
pub struct Smoothness {
    /// The states that the model saw, one per row (trailing dimensions are flattened)
    #[arg(long, value_name = "PATH")]
    pub states: String,
    /// The state after each state; without it, the next row of the same episode. Each --model is then Z,Z1
    #[arg(long, value_name = "PATH")]
    pub next_states: Option<String>,
    /// The episode of each row; pairs never cross episodes (booleans are read as stop flags)
    #[arg(long, value_name = "PATH")]
    pub episodes: Option<String>,
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Neighborhood {
    /// The states that the model saw, one per row (trailing dimensions are flattened)
    #[arg(long, value_name = "PATH")]
    pub states: String,
    /// The episode of each row: intervals are then taken over episodes
    #[arg(long, value_name = "PATH")]
    pub episodes: Option<String>,
    #[command(flatten)]
    pub models: Models,
    /// Neighbourhood sizes
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [5, 10, 15])]
    pub k: Vec<usize>,
    /// Distance between codes
    #[arg(long, value_enum, default_value = "euclidean")]
    pub distance: DistanceChoice,
    /// Rank M random rows against all rows, for an unbiased estimate where N is in the millions
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Rankme {
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PresetChoice {
    /// The steps of document 002
    Spec,
    /// The steps of Lu et al. 2023
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnitLengthChoice {
    /// In no step
    None,
    /// In the vote of the neighbours
    Vote,
    /// In all steps: clusters, vote and dimension
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdNormChoice {
    /// Divided by the number of columns, at most 1
    Dim,
    /// Standardised over the models, as CL is
    Pool,
}

#[derive(Debug, Args)]
pub struct Clid {
    #[command(flatten)]
    pub models: Models,
    /// Codes of a second view of the same samples, for alignment: NAME=PATH for each model, a folder or pattern with files
    /// named as those of the models, or PATH for one model
    #[arg(long, alias = "features2", num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub views: Vec<String>,
    /// A class per row, for MCR²; without it, k-means' own clusters
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    /// How well each model does elsewhere: a table with a column of models and one of numbers (FILE#COLUMN picks it).
    /// Fits the weights of CL and ID, and says which score predicts the numbers
    #[arg(long, value_name = "FILE")]
    pub performance: Option<String>,
    /// Where the steps start from; the options below change single ones
    #[arg(
        long,
        value_enum,
        default_value = "spec",
        hide_possible_values = true,
        value_name = "spec|paper",
        help_heading = "Steps of CLID"
    )]
    pub preset: PresetChoice,
    /// Bring each column to mean 0 and variance 1 first
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "yes", hide_possible_values = true, value_name = "yes|no", help_heading = "Steps of CLID")]
    pub standardize: Option<YesNo>,
    /// Which steps see rows of length 1
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "none|vote|all",
        help_heading = "Steps of CLID"
    )]
    pub unit_length: Option<UnitLengthChoice>,
    /// Number of k-means clusters; sqrt: the square root of the number of rows. A number also counts for MCR² without
    /// labels
    #[arg(long, alias = "n-clusters", value_parser = cluster_count, value_name = "N|sqrt", help_heading = "Steps of CLID")]
    pub clusters: Option<ClusterCount>,
    /// Restarts of k-means; the best by inertia is kept
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub restarts: Option<usize>,
    /// Neighbours that vote
    #[arg(long, alias = "k-classifier", value_name = "K", help_heading = "Steps of CLID")]
    pub k: Option<usize>,
    /// Clusterings, each with its seed: --seed, --seed + 1, …
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub repeats: Option<usize>,
    /// Random splits in halves of each clustering
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub splits: Option<usize>,
    /// The dimension is divided by the number of columns (dim), or it and CL are standardised over the models (pool)
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "dim|pool",
        help_heading = "Steps of CLID"
    )]
    pub id_norm: Option<IdNormChoice>,
    /// The exponent of alignment's distance
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub alpha: f64,
    /// The t of uniformity's kernel
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub t: f64,
    /// The squared distortion of MCR²
    #[arg(long, default_value_t = 0.01, help_heading = "Companions")]
    pub eps: f64,
    /// The weight inside MCR²'s discriminative term
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam1: f64,
    /// The weight of the discriminative term in MCR²'s total
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam2: f64,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}

/// A number, or `sqrt`.
fn cluster_count(text: &str) -> Result<ClusterCount, String> {
    match text.parse() {
        Ok(count) => Ok(ClusterCount::Of(count)),
        Err(_) if text == "sqrt" => Ok(ClusterCount::Sqrt),
        Err(_) => Err("it is neither a number nor sqrt".to_string()),
    }
}

#[derive(Debug, Args)]
pub struct Manifold {
    #[command(flatten)]
    pub models: Models,
    /// Take the neighbour ratios of M random rows, with neighbours among all rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    /// Share of the largest ratios that TwoNN's fit leaves out
    #[arg(long, default_value_t = 0.1)]
    pub discard: f64,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Geometry {
    #[command(flatten)]
    pub models: Models,
    /// A class per row: strings, whole numbers or booleans
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    /// The episode of each row: intervals are then taken over episodes
    #[arg(long, value_name = "PATH")]
    pub episodes: Option<String>,
    /// Number of k-means clusters [default: 5]
    #[arg(long)]
    pub clusters: Option<usize>,
    /// Restarts of k-means
    #[arg(long, default_value_t = 10)]
    pub restarts: usize,
    /// Neighbours that vote in the k-NN accuracy [default: 5]
    #[arg(long)]
    pub k: Option<usize>,
    /// Random 70/30 splits that the k-NN accuracy is averaged over
    #[arg(long, default_value_t = 10)]
    pub splits: usize,
    /// The t of uniformity's kernel
    #[arg(long, default_value_t = 2.0)]
    pub t: f64,
    /// Compare M random rows with all rows, where N is in the millions
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Retrieval {
    /// Embeddings of the sensor samples, one per row
    #[arg(long, value_name = "PATH", help_heading = "Embeddings and labels")]
    pub sensor_embeddings: Option<String>,
    /// Embeddings of their texts, in the same order of rows
    #[arg(long, value_name = "PATH", help_heading = "Embeddings and labels")]
    pub text_embeddings: Option<String>,
    /// Further spaces to search with and in, beside or instead of sensor and text; names without the digit 2
    #[arg(long = "space", num_args = 1.., value_name = "NAME=PATH", help_heading = "Embeddings and labels")]
    pub spaces: Vec<String>,
    /// A label per row; or several sets of them, as l1=PATH l2=PATH. Where NAME is a space, the labels of that space
    /// alone, which may then have other rows than the rest
    #[arg(long, num_args = 1.., value_name = "PATH|NAME=PATH", help_heading = "Embeddings and labels")]
    pub labels: Vec<String>,
    /// The array of --sensor-embeddings, where the file holds several [default: embeddings]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub sensor_key: Option<String>,
    /// The array of --text-embeddings, where the file holds several [default: embeddings]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub text_key: Option<String>,
    /// The array of --labels, where the file holds several [default: labels]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub labels_key: Option<String>,
    /// Join the rows by id instead of by position: the name of an id array in every file, or NAME=PATH for each space
    /// and each set of labels (`labels` where they have no name)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH", help_heading = "Embeddings and labels")]
    pub ids: Vec<String>,
    /// Leave out the rows with these labels, of noise classes say
    #[arg(
        long,
        num_args = 1..,
        value_name = "LABEL",
        allow_negative_numbers = true,
        help_heading = "Embeddings and labels"
    )]
    pub exclude_labels: Vec<String>,
    /// Take labels that differ only in upper and lower case as one
    #[arg(long, help_heading = "Embeddings and labels")]
    pub ignore_case: bool,
    /// What the results call these embeddings
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "embeddings",
        help_heading = "Embeddings and labels"
    )]
    pub name: String,
    /// How many of the first targets to look at
    #[arg(
        long,
        num_args = 1..,
        value_delimiter = ',',
        default_values_t = [10, 50, 100],
        value_name = "K",
        help_heading = "Search"
    )]
    pub k_values: Vec<usize>,
    /// Leave out R-precision, MAP@R and MRR, which need more of the ranking than the first K: a little faster
    #[arg(long, help_heading = "Search")]
    pub first_only: bool,
    /// text2sensor, sensor2text, sensor2sensor, text2text, both (text2sensor and sensor2text; with --use-prototypes
    /// prototype2sensor and prototype2text), prototype2NAME, or NAME2NAME of any spaces [default: both, or all pairs
    /// of the spaces given]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "DIRECTION", help_heading = "Search")]
    pub directions: Vec<String>,
    /// Compare by cosine (the default)
    #[arg(long, overrides_with = "no_normalize", help_heading = "Search")]
    pub normalize: bool,
    /// Compare by the inner product of the rows as they are
    #[arg(long, overrides_with = "normalize", help_heading = "Search")]
    pub no_normalize: bool,
    /// Search with prototypes, vectors that stand for a label each
    #[arg(long, help_heading = "Prototypes")]
    pub use_prototypes: bool,
    /// Stored prototypes, one per row; a label may have several
    #[arg(long, value_name = "PATH", help_heading = "Prototypes")]
    pub prototype_embeddings: Option<String>,
    /// The labels of the stored prototypes. Without it, an array `labels` in the same file, or those of the metadata in
    /// file order
    #[arg(
        long,
        value_name = "PATH",
        requires = "prototype_embeddings",
        help_heading = "Prototypes"
    )]
    pub prototype_labels: Option<String>,
    /// JSON with texts for the labels of each dataset [default: metadata/casas_metadata.json]
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub metadata: Option<PathBuf>,
    /// The dataset in the metadata
    #[arg(long, value_name = "NAME", default_value = "milan", help_heading = "Prototypes")]
    pub dataset_name: String,
    /// The style in the metadata: label_to_text_STYLE, or a field of label_to_text
    #[arg(long, value_name = "STYLE", default_value = "sourish", help_heading = "Prototypes")]
    pub caption_style: String,
    /// The model whose text encoder turns the texts into prototypes (not yet possible: see --prototype-texts)
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub checkpoint: Option<PathBuf>,
    /// Write the labels and texts of the metadata as CSV and stop, to encode them with an encoder of your own
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub prototype_texts: Option<PathBuf>,
    /// Also write the label precisions as a flat JSON file: {"text2sensor": {"10": 0.72, …}, …}
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Files to look at; of a file with several arrays all are shown
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Take blobs.npy and matrix.npy of this folder, written by make_examples.py, instead of the built-in ones
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
    /// The metric: `two_nn`, `trustworthiness@10`, `smoothness.slope`
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Bench {
    #[command(subcommand)]
    pub job: BenchJob,
}

#[derive(Debug, Subcommand)]
pub enum BenchJob {
    /// Exact nearest neighbours of every row
    Knn {
        path: String,
        #[arg(long, default_value_t = 100)]
        k: usize,
        /// Where to write the neighbours as .npy
        #[arg(long)]
        output: Option<PathBuf>,
        #[command(flatten)]
        machine: Machine,
    },
    /// Neighbourhood, manifold and geometry in one run
    All {
        #[arg(long)]
        states: String,
        #[arg(long)]
        labels: Option<String>,
        #[command(flatten)]
        models: Models,
        #[command(flatten)]
        machine: Machine,
    },
    /// Retrieval in one direction, text2sensor
    Retrieval {
        #[arg(long)]
        queries: String,
        #[arg(long)]
        targets: String,
        #[arg(long)]
        labels: String,
        #[arg(long, num_args = 1.., default_values_t = [10, 50, 100])]
        k: Vec<usize>,
        #[arg(long)]
        first_only: bool,
        #[command(flatten)]
        machine: Machine,
    },
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
