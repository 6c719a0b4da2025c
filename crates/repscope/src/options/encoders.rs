// SPDX-License-Identifier: MIT
//! How an encoder is run.

use clap::Args;
use repscope_models::architectures::{Activation, Kind};
use repscope_models::runtime::Provider;
use repscope_models::{Layout, Pooling};
use serde::{Deserialize, Serialize};

use super::layers::{Layer, object};
use super::{choice, default_options, word, words};
use crate::source::{Source, bind};

const LAYOUTS: &[(&str, &str)] = &[
    ("channels-first", "(channels, height, width)"),
    ("channels-last", "(height, width, channels)"),
    ("flat", "One vector, whatever the axes"),
];
const ARCHITECTURES: &[(&str, &str)] = &[
    ("conv-encoder", "The frame encoder of the representation analysis"),
    ("efficientnet-lite", "EfficientNet-lite0 to 4"),
    ("resnet", "ResNet-18, 34, 50 and related networks"),
    ("two-head", "The two-head ResNet of the perturbation impact scripts"),
    ("vit", "Vision transformer with the weight names of DINO and timm"),
];

/// The heading of these options, by which a study file finds those of its table `[encoder]`.
pub const ENCODER_HEADING: &str = "Encoders";

/// How encoders are run.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct EncoderOptions {
    /// How encoders of numbers are run.
    #[command(flatten)]
    #[serde(flatten)]
    pub numbers: NumberEncoderOptions,
    /// A checkpoint with the projection that follows a text encoder (label retrieval) or its aligner (EEG–text energy)
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<Source>,
    /// How texts become embeddings.
    #[command(flatten)]
    #[serde(flatten)]
    pub text: TextEncoderOptions,
}

/// How an encoder of numbers is run.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct NumberEncoderOptions {
    /// What runs encoders.
    #[command(flatten)]
    #[serde(flatten)]
    pub runtime: RuntimeOptions,
    /// The network that the weights belong to [default: detected from their names]
    #[arg(long, value_parser = choice::<Kind>(ARCHITECTURES), value_name = "NETWORK")]
    pub architecture: Option<Kind>,
    /// Name of the model's input that takes the rows
    #[arg(long, value_name = "NAME")]
    pub input_name: Option<String>,
    /// Axis of the model's output that counts the rows [default: 0, the first]
    #[arg(long, value_name = "N")]
    pub row_axis: Option<usize>,
    /// Name of the model's output that is the embedding
    #[arg(long, value_name = "NAME")]
    pub output_name: Option<String>,
    /// Order of the axes of a row [default: as the model expects]
    #[arg(long, value_parser = choice::<Layout>(LAYOUTS))]
    pub layout: Option<Layout>,
    /// Divide the inputs by this; 255 maps bytes to 0…1
    #[arg(long, value_name = "X")]
    pub scale: Option<f32>,
    /// Subtract this after scaling: one number, or one per channel
    #[arg(long, num_args = 1.., value_delimiter = ',', allow_negative_numbers = true, value_name = "X")]
    pub mean: Vec<f32>,
    /// Divide by this after that: one number, or one per channel
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "X")]
    pub std: Vec<f32>,
    /// Activation of the frame encoder of the representation analysis [default: silu]
    #[arg(long, value_parser = words::<Activation>("silu relu gelu"))]
    pub activation: Option<Activation>,
    /// Number of attention heads of a vision transformer [default: width / 64]
    #[arg(long, value_name = "N")]
    pub heads: Option<usize>,
    /// Padding token id (masked out), for models that take token ids as an array
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub pad_id: Option<i64>,
    /// Skip images that cannot be read instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
}

impl EncoderOptions {
    /// What was chosen, for the results document: nothing where nothing was.
    pub fn asked(&self) -> Layer {
        let numbers = &self.numbers;
        fn name<T: Serialize>(choice: Option<T>) -> Option<String> {
            choice.as_ref().map(word)
        }
        let runtime = (numbers.runtime.runtime != RuntimeChoice::Auto).then_some(numbers.runtime.runtime);
        let some = |values: &[f32]| (!values.is_empty()).then(|| values.to_vec());
        let chosen = serde_json::json!({
            "runtime": name(runtime), "provider": name(numbers.runtime.provider), "architecture": name(numbers.architecture),
            "input_name": numbers.input_name, "output_name": numbers.output_name, "row_axis": numbers.row_axis, "layout": name(numbers.layout), "scale": numbers.scale,
            "mean": some(&numbers.mean), "std": some(&numbers.std), "activation": name(numbers.activation), "heads": numbers.heads,
            "pad_id": numbers.pad_id, "checkpoint": self.checkpoint, "template": self.text.template,
            "max_tokens": self.text.max_tokens, "token_pooling": name(self.text.token_pooling),
            "no_projection": self.text.no_projection.then_some(true),
        });
        let mut chosen = object(chosen);
        chosen.retain(|_, value| !value.is_null());
        chosen
    }
}

/// What runs a model.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct RuntimeOptions {
    /// Runtime of the encoder: the built-in one in pure Rust, an installed ONNX Runtime, or the second for graphs with
    /// convolutions, which it computes in less time, and where the first cannot
    #[arg(long, value_parser = words::<RuntimeChoice>("auto builtin rust onnxruntime"), default_value = "auto")]
    pub runtime: RuntimeChoice,
    /// The ONNX Runtime library [default: REPSCOPE_ONNXRUNTIME, else that of an installed onnxruntime package]
    #[arg(long, value_name = "PATH")]
    pub runtime_library: Option<Source>,
    /// Execution provider of ONNX Runtime [default: cpu]
    #[arg(long, value_parser = words::<Provider>("cpu cuda"))]
    pub provider: Option<Provider>,
    /// Number of rows per batch
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub batch_size: usize,
    /// Neither read nor write cached embeddings
    #[arg(long)]
    pub no_cache: bool,
}

/// How texts become embeddings.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct TextEncoderOptions {
    /// Prompt template, with {} for the text: "To English: {}"
    #[arg(long, value_name = "TEXT")]
    pub template: Option<String>,
    /// Truncate texts to this many tokens [default: as the model says]
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// Pooling of the tokens of a text to one vector [default: as the model says]
    #[arg(long, value_parser = words::<Pooling>("mean cls max last pooler eos"))]
    pub token_pooling: Option<Pooling>,
    /// Use the embeddings of the text encoder although the checkpoint has no text projection
    #[arg(long)]
    pub no_projection: bool,
    /// Number of attention heads of the aligner (EEG–text energy)
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub aligner_heads: usize,
}

/// What runs encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeChoice {
    /// rten, in pure Rust; for graphs with convolutions, and where it cannot run a model, an installed ONNX Runtime.
    Auto,
    /// rten, in pure Rust, and nothing else.
    #[serde(alias = "rust")]
    Builtin,
    /// An installed ONNX Runtime.
    Onnxruntime,
}

default_options!(EncoderOptions, NumberEncoderOptions, RuntimeOptions, TextEncoderOptions);
bind!(EncoderOptions: numbers, checkpoint);
bind!(NumberEncoderOptions: runtime);
bind!(RuntimeOptions: runtime_library);
