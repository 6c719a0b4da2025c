// SPDX-License-Identifier: MIT
//! `repscope robustness`.

use clap::{Args, ValueEnum};
use repscope_core::Corruption;

use super::{EncoderOptions, Episodes, Outputs, PoolChoice};

pub const ROBUSTNESS_EXAMPLES: &str = "\
Examples:
  repscope robustness --states frames.npy --model jepa=jepa.onnx --model autoencoder=best_encoder.pth
  repscope robustness --states frames.npy --model jepa=jepa.onnx --noise 1 5 10 --draws 5 --clamp data
  repscope robustness --clean jepa=z.npy --noisy jepa@0.1=z_noise01.npy jepa@0.2=z_noise02.npy";

#[derive(Debug, Clone, Args)]
pub struct Robustness {
    /// The inputs of the models, one per row: an array, a folder of images, or the dataset .pth of the representation
    /// analysis scripts
    #[arg(long, value_name = "PATH", requires = "encoders")]
    pub states: Option<String>,
    /// An encoder: NAME=PATH, or PATH (the file stem is the name): an .onnx file, or weights of a known network. Repeat for
    /// more models
    #[arg(long = "model", num_args = 1.., value_name = "NAME=ENCODER", id = "encoders", requires = "states", required_unless_present = "clean")]
    pub encoders: Vec<String>,
    /// Kind of noise
    #[arg(long, value_enum, default_value = "gaussian")]
    pub kind: KindChoice,
    /// Noise levels: σ in the units of the inputs for gaussian and uniform, the share of values for salt-and-pepper,
    /// severities from 1 to 5 for the others [default: 0.01 0.05 0.1 0.15 0.2, or 1 to 5]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "LEVEL")]
    pub noise: Vec<String>,
    /// Noise draws per sample; distances are averaged over draws
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub draws: usize,
    /// Clip noisy inputs to the range LO HI, or to the range of the inputs with `data` [default: no clipping]
    #[arg(long, num_args = 1..=2, allow_negative_numbers = true, value_name = "LO HI|data")]
    pub clamp: Vec<String>,
    /// Stored embeddings of the inputs without noise: NAME=PATH, or PATH. Repeat for more models
    #[arg(long, num_args = 1.., value_name = "NAME=PATH", help_heading = "Stored codes", requires = "noisy", conflicts_with = "encoders")]
    pub clean: Vec<String>,
    /// Stored embeddings of the same inputs with noise, by level: NAME@LEVEL=PATH, or LEVEL=PATH for one model. Repeat a
    /// level for another draw of the noise
    #[arg(long, num_args = 1.., value_name = "NAME@LEVEL=PATH", help_heading = "Stored codes", requires = "clean")]
    pub noisy: Vec<String>,
    #[command(flatten)]
    pub episodes: Episodes,
    /// Pooling of embeddings of shape (N, T, D) to one row per sample
    #[arg(long, value_enum, default_value = "last")]
    pub pool: PoolChoice,
    #[command(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindChoice {
    Gaussian,
    Uniform,
    SaltAndPepper,
    Blur,
    Brightness,
    Contrast,
    Occlusion,
}

impl KindChoice {
    pub fn corruption(self) -> Corruption {
        match self {
            KindChoice::Gaussian => Corruption::Gaussian,
            KindChoice::Uniform => Corruption::Uniform,
            KindChoice::SaltAndPepper => Corruption::SaltAndPepper,
            KindChoice::Blur => Corruption::Blur,
            KindChoice::Brightness => Corruption::Brightness,
            KindChoice::Contrast => Corruption::Contrast,
            KindChoice::Occlusion => Corruption::Occlusion,
        }
    }
}
