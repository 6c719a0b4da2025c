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

Embeddings are cached by content hash (model, data, options), so no analysis encodes twice and an interrupted run
resumes. The cache is the folder REPSCOPE_CACHE if set, otherwise the user's cache folder.";

#[derive(Debug, Args)]
pub struct Encode {
    /// The model: an .onnx file, weights (.pth, .pt, .ckpt, .safetensors) of a known network (file.pth#key selects a
    /// part of a checkpoint), or the folder of a text model
    #[arg(long, value_name = "MODEL")]
    pub encoder: String,
    /// The inputs, one sample per row: an array, a folder of PNG and JPEG images (sorted by path), file.txt with one text
    /// per line, or file.jsonl#field
    #[arg(long, value_name = "PATH")]
    pub input: String,
    /// Where to write the embeddings, as .npy or .safetensors; for a model with several outputs, one tensor per output, or
    /// one file z.head.npy per output
    #[arg(long, value_name = "PATH")]
    pub output: PathBuf,
    #[command(flatten)]
    pub options: EncoderOptions,
    #[command(flatten)]
    pub machine: Machine,
}
