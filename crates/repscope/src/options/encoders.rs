// SPDX-License-Identifier: MIT
//! How an encoder is run.

use clap::Args;
use repscope_models::architectures::{Activation, Kind};
use repscope_models::runtime::Provider;
use repscope_models::{Layout, Pooling};
use serde::{Deserialize, Serialize};

use super::{choice, default_options, word};
use crate::source::{Source, bind};

const RUNTIMES: &[(&str, &str)] = &[("rust", ""), ("onnxruntime", "")];
const PROVIDERS: &[(&str, &str)] = &[("cpu", ""), ("cuda", "")];
const ACTIVATIONS: &[(&str, &str)] = &[("silu", ""), ("relu", ""), ("gelu", "")];
const POOLINGS: &[(&str, &str)] = &[
    ("mean", ""),
    ("cls", ""),
    ("max", ""),
    ("last", ""),
    ("pooler", ""),
    ("eos", ""),
];
const LAYOUTS: &[(&str, &str)] = &[
    ("channels-first", "(channels, height, width)"),
    ("channels-last", "(height, width, channels)"),
    ("flat", "One vector, whatever the axes"),
];
const ARCHITECTURES: &[(&str, &str)] = &[
    ("conv-encoder", "The frame encoder of document 000"),
    ("resnet", "ResNet-18, 34, 50 and their kin"),
    ("two-head", "The two-head ResNet of document 003"),
    ("vit", "Vision transformer, as DINO and timm name its weights"),
];

/// The heading of these options, by which a study file finds those of its table `[encoder]`.
pub const ENCODER_HEADING: &str = "Encoders";

#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct EncoderOptions {
    /// How encoders of numbers are run.
    #[command(flatten)]
    #[serde(flatten)]
    pub numbers: NumberEncoderOptions,
    /// A checkpoint with what stands behind a text encoder: the projection of document 001 or the aligner of document 004
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
    /// The network that weights belong to [default: by the names of the weights]
    #[arg(long, value_parser = choice::<Kind>(ARCHITECTURES), value_name = "NETWORK")]
    pub architecture: Option<Kind>,
    /// The input of the model that takes the rows
    #[arg(long, value_name = "NAME")]
    pub input_name: Option<String>,
    /// The output of the model that is the code
    #[arg(long, value_name = "NAME")]
    pub output_name: Option<String>,
    /// How the axes of a row are read [default: as the model asks]
    #[arg(long, value_parser = choice::<Layout>(LAYOUTS))]
    pub layout: Option<Layout>,
    /// Divide values by this before the model sees them; 255 brings bytes to 0…1
    #[arg(long, value_name = "X")]
    pub scale: Option<f32>,
    /// Subtract this after scaling: one number, or one per channel
    #[arg(long, num_args = 1.., value_delimiter = ',', allow_negative_numbers = true, value_name = "X")]
    pub mean: Vec<f32>,
    /// Divide by this after that: one number, or one per channel
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "X")]
    pub std: Vec<f32>,
    /// The activation of the frame encoder of document 000, where its weights are given [default: silu]
    #[arg(long, value_parser = choice::<Activation>(ACTIVATIONS))]
    pub activation: Option<Activation>,
    /// The attention heads of a vision transformer, where its weights are given [default: width / 64]
    #[arg(long, value_name = "N")]
    pub heads: Option<usize>,
    /// Where a model takes token ids as an array: the id that fills up, which the model is told not to look at
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub pad_id: Option<i64>,
    /// Leave out images that cannot be read, instead of stopping
    #[arg(long)]
    pub skip_bad: bool,
}

impl EncoderOptions {
    /// What was chosen, for the results document: nothing where nothing was.
    pub fn asked(&self) -> serde_json::Map<String, serde_json::Value> {
        let numbers = &self.numbers;
        fn name<T: Serialize>(choice: Option<T>) -> Option<String> {
            choice.as_ref().map(word)
        }
        let runtime = (numbers.runtime.runtime != RuntimeChoice::Rust).then_some(numbers.runtime.runtime);
        let some = |values: &[f32]| (!values.is_empty()).then(|| values.to_vec());
        let chosen = serde_json::json!({
            "runtime": name(runtime), "provider": name(numbers.runtime.provider), "architecture": name(numbers.architecture),
            "input_name": numbers.input_name, "output_name": numbers.output_name, "layout": name(numbers.layout), "scale": numbers.scale,
            "mean": some(&numbers.mean), "std": some(&numbers.std), "activation": name(numbers.activation), "heads": numbers.heads,
            "pad_id": numbers.pad_id, "checkpoint": self.checkpoint, "template": self.text.template,
            "max_tokens": self.text.max_tokens, "token_pooling": name(self.text.token_pooling),
            "no_projection": self.text.no_projection.then_some(true),
        });
        let serde_json::Value::Object(mut chosen) = chosen else {
            return serde_json::Map::new();
        };
        chosen.retain(|_, value| !value.is_null());
        chosen
    }
}

/// What runs a model.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct RuntimeOptions {
    /// What runs the encoder: pure Rust, or an installed ONNX Runtime
    #[arg(long, value_parser = choice::<RuntimeChoice>(RUNTIMES), default_value = "rust")]
    pub runtime: RuntimeChoice,
    /// The library of ONNX Runtime [default: REPSCOPE_ONNXRUNTIME, else that of an installed onnxruntime package]
    #[arg(long, value_name = "PATH")]
    pub runtime_library: Option<Source>,
    /// Where ONNX Runtime computes [default: cpu]
    #[arg(long, value_parser = choice::<Provider>(PROVIDERS))]
    pub provider: Option<Provider>,
    /// Rows that the model sees at once
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub batch_size: usize,
    /// Run the encoder even if the codes are there from an earlier run, and keep none
    #[arg(long)]
    pub no_cache: bool,
}

/// How texts become codes.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct TextEncoderOptions {
    /// What a text encoder reads, with {} for the text: "To English: {}"
    #[arg(long, value_name = "TEXT")]
    pub template: Option<String>,
    /// Cut texts to so many tokens [default: as the model says]
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// How the tokens of a text become one vector [default: as the model says]
    #[arg(long, value_parser = choice::<Pooling>(POOLINGS))]
    pub token_pooling: Option<Pooling>,
    /// Take the text encoder's own vectors, although the checkpoint has no projection for texts
    #[arg(long)]
    pub no_projection: bool,
    /// The attention heads of the aligner of document 004
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub aligner_heads: usize,
}

/// What runs encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeChoice {
    /// rten, in pure Rust.
    Rust,
    /// An installed ONNX Runtime.
    Onnxruntime,
}

default_options!(EncoderOptions, NumberEncoderOptions, RuntimeOptions, TextEncoderOptions);
bind!(EncoderOptions: numbers, checkpoint);
bind!(NumberEncoderOptions: runtime);
bind!(RuntimeOptions: runtime_library);
