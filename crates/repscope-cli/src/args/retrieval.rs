// SPDX-License-Identifier: MIT
//! `repscope retrieval`: spaces, labels, directions, prototypes.

use std::path::PathBuf;

use clap::Args;

use super::{Outputs, RuntimeOptions, TextEncoderOptions};

pub(super) const RETRIEVAL_EXAMPLES: &str = "\
Examples:
  repscope retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy \\
      --labels l1=l1.npy l2=l2.npy --directions both sensor2sensor
  repscope retrieval --sensor_embeddings data.npz#sensor --labels data.npz \\
      --prototype_embeddings prototypes.npy --prototype_labels names.npy
  repscope retrieval --sensor_embeddings sensor.npy --labels labels.npy --use_prototypes --metadata metadata.json \\
      --text_encoder clip-vit-base-patch32/ --checkpoint best_model.pt

A direction names the space of the queries and the space of the targets. In
sensor2sensor a row is never its own target. --quiet prints only the Label-Recall@K
summary. Options may be written with - or with _.";

#[derive(Debug, Args)]
pub struct Retrieval {
    /// Embeddings of the sensor samples, one per row
    #[arg(long, value_name = "PATH", help_heading = "Embeddings and labels")]
    pub sensor_embeddings: Option<String>,
    /// Embeddings of their texts, in the same row order
    #[arg(long, value_name = "PATH", help_heading = "Embeddings and labels")]
    pub text_embeddings: Option<String>,
    /// Further spaces of queries and targets, in addition to or instead of sensor and text; names without the digit 2
    #[arg(long = "space", num_args = 1.., value_name = "NAME=PATH", help_heading = "Embeddings and labels")]
    pub spaces: Vec<String>,
    /// A label per row, or several sets of labels as l1=PATH l2=PATH. If NAME is a space, the labels of that space only,
    /// which may then have a different number of rows
    #[arg(long, num_args = 1.., value_name = "PATH|NAME=PATH", help_heading = "Embeddings and labels")]
    pub labels: Vec<String>,
    /// Array in the file of --sensor-embeddings, if it holds several [default: embeddings]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub sensor_key: Option<String>,
    /// Array in the file of --text-embeddings, if it holds several [default: embeddings]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub text_key: Option<String>,
    /// Array in the file of --labels, if it holds several [default: labels]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub labels_key: Option<String>,
    /// Join the rows by id instead of by position: the name of an id array in every file, or NAME=PATH for each space
    /// and each set of labels (`labels` if it has no name)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH", help_heading = "Embeddings and labels")]
    pub ids: Vec<String>,
    /// Leave out the rows with these labels, for example noise classes
    #[arg(
        long,
        num_args = 1..,
        value_name = "LABEL",
        allow_negative_numbers = true,
        help_heading = "Embeddings and labels"
    )]
    pub exclude_labels: Vec<String>,
    /// Ignore case in labels
    #[arg(long, help_heading = "Embeddings and labels")]
    pub ignore_case: bool,
    /// Name of these embeddings in the results
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "embeddings",
        help_heading = "Embeddings and labels"
    )]
    pub name: String,
    /// Numbers K of first targets to score
    #[arg(
        long,
        num_args = 1..,
        value_delimiter = ',',
        default_values_t = [10, 50, 100],
        value_name = "K",
        help_heading = "Search"
    )]
    pub k_values: Vec<usize>,
    /// Skip R-precision, MAP@R and MRR, which need more than the first K targets: slightly faster
    #[arg(long, help_heading = "Search")]
    pub first_only: bool,
    /// text2sensor, sensor2text, sensor2sensor, text2text, both (text2sensor and sensor2text; with --use-prototypes
    /// prototype2sensor and prototype2text), prototype2NAME, or NAME2NAME of any spaces [default: both, or all pairs
    /// of the spaces given]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "DIRECTION", help_heading = "Search")]
    pub directions: Vec<String>,
    /// Cosine similarity (the default)
    #[arg(long, overrides_with = "no_normalize", help_heading = "Search")]
    pub normalize: bool,
    /// Inner product of the rows without normalization
    #[arg(long, overrides_with = "normalize", help_heading = "Search")]
    pub no_normalize: bool,
    /// Use prototypes as queries: one or more embeddings per label
    #[arg(long, help_heading = "Prototypes")]
    pub use_prototypes: bool,
    /// Stored prototypes, one per row; a label may have several
    #[arg(long, value_name = "PATH", help_heading = "Prototypes")]
    pub prototype_embeddings: Option<String>,
    /// Labels of the stored prototypes [default: the array `labels` in the same file, or the labels of the metadata in file
    /// order]
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
    /// Text encoder of the prototypes: a Hugging Face model folder, or an .onnx file with tokenizer.json beside it
    #[arg(long, value_name = "PATH", help_heading = "Prototypes")]
    pub text_encoder: Option<String>,
    /// Trained model whose text projection is applied after the text encoder
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub checkpoint: Option<String>,
    /// Write the labels and texts of the metadata as CSV and stop, to encode them with your own encoder
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub prototype_texts: Option<PathBuf>,
    /// Also write the label precisions as a flat JSON file: {"text2sensor": {"10": 0.72, …}, …}
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub runtime: RuntimeOptions,
    #[command(flatten)]
    pub text: TextEncoderOptions,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}
