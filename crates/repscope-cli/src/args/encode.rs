// SPDX-License-Identifier: MIT
//! `repscope encode`.

use std::path::PathBuf;

use clap::Args;

use super::{EncoderOptions, Machine};

pub const ENCODE_EXAMPLES: &str = "\
Examples:
  repscope encode --encoder model.onnx --input frames.npy --output z.npy
  repscope encode --encoder best_encoder.pth --input frames.npy --output z.npy
  repscope encode --encoder resnet50.pth --input images.npy --scale 255 --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 \\
                  --output z.npy";

#[derive(Debug, Args)]
pub struct Encode {
    /// The model: an .onnx file, or weights (.pth, .pt, .ckpt, .safetensors) of a network that is known; file.pth#key picks a
    /// part of a checkpoint
    #[arg(long, value_name = "MODEL")]
    pub encoder: String,
    /// What it sees, one sample per row
    #[arg(long, value_name = "PATH")]
    pub input: String,
    /// Where the codes go, as .npy; of a model with several outputs, a file for each: z.head.npy
    #[arg(long, value_name = "PATH")]
    pub output: PathBuf,
    #[command(flatten)]
    pub options: EncoderOptions,
    #[command(flatten)]
    pub machine: Machine,
}
