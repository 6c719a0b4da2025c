// SPDX-License-Identifier: MIT
//! `repscope encode`.

use std::path::PathBuf;

use clap::Args;

use super::{EncoderOptions, Machine};

pub const ENCODE_EXAMPLES: &str = "\
Examples:
  repscope encode --encoder model.onnx --input frames.npy --output z.npy
  repscope encode --encoder best_encoder.pth --input frames.npy --output z.npy
  repscope encode --encoder resnet50.pth --input photos/ --scale 255 --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 \\
                  --output z.safetensors
  repscope encode --encoder all-MiniLM-L6-v2/ --input captions.txt --output text.npy
  repscope encode --encoder clip/ --checkpoint best_model.pt --input data.jsonl#caption --output text.npy

Codes are kept by what they were made of (model, data, options), so that no analysis encodes twice; a run that was
interrupted goes on where it was. They are in the folder that REPSCOPE_CACHE names, else in the user's cache folder.";

#[derive(Debug, Args)]
pub struct Encode {
    /// The model: an .onnx file, weights (.pth, .pt, .ckpt, .safetensors) of a network that is known (file.pth#key picks a
    /// part of a checkpoint), or the folder of a text model
    #[arg(long, value_name = "MODEL")]
    pub encoder: String,
    /// What it sees, one sample per row: an array, a folder of PNG and JPEG images (sorted by path), a text per line of
    /// file.txt, or file.jsonl#field
    #[arg(long, value_name = "PATH")]
    pub input: String,
    /// Where the codes go, as .npy or .safetensors; of a model with several outputs, a tensor for each, or a file
    /// z.head.npy
    #[arg(long, value_name = "PATH")]
    pub output: PathBuf,
    #[command(flatten)]
    pub options: EncoderOptions,
    #[command(flatten)]
    pub machine: Machine,
}
