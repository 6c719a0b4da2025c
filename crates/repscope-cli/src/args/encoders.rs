// SPDX-License-Identifier: MIT
//! How an encoder is run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
pub struct EncoderOptions {
    /// What runs the encoder: pure Rust, or an installed ONNX Runtime
    #[arg(long, value_enum, default_value = "rust", help_heading = "Encoder")]
    pub runtime: RuntimeChoice,
    /// The library of ONNX Runtime [default: REPSCOPE_ONNXRUNTIME, else that of an installed onnxruntime package]
    #[arg(long, value_name = "PATH", help_heading = "Encoder")]
    pub runtime_library: Option<PathBuf>,
    /// The input of the model that takes the rows
    #[arg(long, value_name = "NAME", help_heading = "Encoder")]
    pub input_name: Option<String>,
    /// The output of the model that is the code
    #[arg(long, value_name = "NAME", help_heading = "Encoder")]
    pub output_name: Option<String>,
    /// How the axes of a row are read [default: as the model asks]
    #[arg(long, value_enum, help_heading = "Encoder")]
    pub layout: Option<LayoutChoice>,
    /// Divide values by this before the model sees them; 255 brings bytes to 0…1
    #[arg(long, value_name = "X", help_heading = "Encoder")]
    pub scale: Option<f32>,
    /// Subtract this after scaling: one number, or one per channel
    #[arg(long, num_args = 1.., value_delimiter = ',', allow_negative_numbers = true, value_name = "X", help_heading = "Encoder")]
    pub mean: Vec<f32>,
    /// Divide by this after that: one number, or one per channel
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "X", help_heading = "Encoder")]
    pub std: Vec<f32>,
    /// Rows that the model sees at once
    #[arg(long, default_value_t = 32, value_name = "N", help_heading = "Encoder")]
    pub batch_size: usize,
    /// The activation of the frame encoder of document 000, where its weights are given [default: silu]
    #[arg(long, value_enum, help_heading = "Encoder")]
    pub activation: Option<ActivationChoice>,
    /// The attention heads of a vision transformer, where its weights are given [default: width / 64]
    #[arg(long, value_name = "N", help_heading = "Encoder")]
    pub heads: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuntimeChoice {
    Rust,
    Onnxruntime,
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
