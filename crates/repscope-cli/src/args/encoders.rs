// SPDX-License-Identifier: MIT
//! How an encoder is run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use repscope_models::Pooling;
use repscope_models::architectures::Kind;

/// The heading of these options, by which a study file finds those of its table `[encoder]`.
pub const ENCODER_HEADING: &str = "Encoders";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct EncoderOptions {
    #[command(flatten)]
    pub numbers: NumberEncoderOptions,
    /// A checkpoint with what stands behind a text encoder: the projection of document 001 or the aligner of document 004
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<String>,
    #[command(flatten)]
    pub text: TextEncoderOptions,
}

/// How an encoder of numbers is run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct NumberEncoderOptions {
    #[command(flatten)]
    pub runtime: RuntimeOptions,
    /// The network that weights belong to [default: by the names of the weights]
    #[arg(long, value_enum, value_name = "NETWORK")]
    pub architecture: Option<ArchitectureChoice>,
    /// The input of the model that takes the rows
    #[arg(long, value_name = "NAME")]
    pub input_name: Option<String>,
    /// The output of the model that is the code
    #[arg(long, value_name = "NAME")]
    pub output_name: Option<String>,
    /// How the axes of a row are read [default: as the model asks]
    #[arg(long, value_enum)]
    pub layout: Option<LayoutChoice>,
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
    #[arg(long, value_enum)]
    pub activation: Option<ActivationChoice>,
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
        fn name<T: ValueEnum>(choice: Option<T>) -> Option<String> {
            Some(choice?.to_possible_value()?.get_name().to_string())
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
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct RuntimeOptions {
    /// What runs the encoder: pure Rust, or an installed ONNX Runtime
    #[arg(long, value_enum, default_value = "rust")]
    pub runtime: RuntimeChoice,
    /// The library of ONNX Runtime [default: REPSCOPE_ONNXRUNTIME, else that of an installed onnxruntime package]
    #[arg(long, value_name = "PATH")]
    pub runtime_library: Option<PathBuf>,
    /// Where ONNX Runtime computes [default: cpu]
    #[arg(long, value_enum)]
    pub provider: Option<ProviderChoice>,
    /// Rows that the model sees at once
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub batch_size: usize,
    /// Run the encoder even if the codes are there from an earlier run, and keep none
    #[arg(long)]
    pub no_cache: bool,
}

/// How texts become codes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = ENCODER_HEADING)]
pub struct TextEncoderOptions {
    /// What a text encoder reads, with {} for the text: "To English: {}"
    #[arg(long, value_name = "TEXT")]
    pub template: Option<String>,
    /// Cut texts to so many tokens [default: as the model says]
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// How the tokens of a text become one vector [default: as the model says]
    #[arg(long, value_enum)]
    pub token_pooling: Option<PoolingChoice>,
    /// Take the text encoder's own vectors, although the checkpoint has no projection for texts
    #[arg(long)]
    pub no_projection: bool,
    /// The attention heads of the aligner of document 004
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub aligner_heads: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuntimeChoice {
    Rust,
    Onnxruntime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProviderChoice {
    Cpu,
    Cuda,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutChoice {
    /// (channels, height, width)
    ChannelsFirst,
    /// (height, width, channels)
    ChannelsLast,
    /// One vector, whatever the axes
    Flat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ActivationChoice {
    Silu,
    Relu,
    Gelu,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArchitectureChoice {
    /// The frame encoder of document 000
    ConvEncoder,
    /// ResNet-18, 34, 50 and their kin
    Resnet,
    /// The two-head ResNet of document 003
    TwoHead,
    /// Vision transformer, as DINO and timm name its weights
    Vit,
}

impl From<ArchitectureChoice> for Kind {
    fn from(choice: ArchitectureChoice) -> Self {
        match choice {
            ArchitectureChoice::ConvEncoder => Kind::ConvEncoder,
            ArchitectureChoice::Resnet => Kind::ResNet,
            ArchitectureChoice::TwoHead => Kind::TwoHead,
            ArchitectureChoice::Vit => Kind::Vit,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PoolingChoice {
    Mean,
    Cls,
    Max,
    Last,
    Pooler,
    Eos,
}

impl From<PoolingChoice> for Pooling {
    fn from(choice: PoolingChoice) -> Self {
        match choice {
            PoolingChoice::Mean => Pooling::Mean,
            PoolingChoice::Cls => Pooling::Cls,
            PoolingChoice::Max => Pooling::Max,
            PoolingChoice::Last => Pooling::Last,
            PoolingChoice::Pooler => Pooling::Pooler,
            PoolingChoice::Eos => Pooling::Eos,
        }
    }
}
