// SPDX-License-Identifier: MIT
//! Known networks: from weights alone to a graph.
//!
//! A checkpoint has names and shapes of weights. For the networks in this folder that is enough to know what is
//! computed, and [`build`] writes it as an ONNX graph with the weights inside. Widths, depths and numbers of classes
//! are read off the shapes. A weight that is missing, has another shape or has no place in the network is an error;
//! nothing is ever filled in.
//!
//! What no shape determines must be a convention, and is stated with each network.

mod conv_encoder;
mod efficientnet;
mod layers;
mod recognize;
mod resnet;
pub(crate) mod text;
mod vit;

use std::fmt;

use crate::error::{Result, wrong};
use layers::Layers;
pub(crate) use recognize::shape_text;
pub use recognize::{WeightSource, recognize, recognize_as};
use serde::{Deserialize, Serialize};

/// A network that can be written as a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Architecture {
    /// Which one.
    pub kind: Kind,
    /// The prefix of its weights, such as `backbone.`; often empty.
    pub prefix: String,
}

/// The networks that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Convolutions with layer normalization, then one linear layer; frame by frame.
    ConvEncoder,
    /// EfficientNet-lite0 to 4, as the ports to PyTorch name their weights.
    #[serde(rename = "efficientnet-lite")]
    EfficientNetLite,
    /// ResNet-18, 34, 50 and their kin, as torchvision names their weights.
    #[serde(rename = "resnet")]
    ResNet,
    /// A ResNet with a task-specific extractor and two heads, for modulation and signal-to-noise ratio.
    TwoHead,
    /// Vision transformer, as DINO and timm name its weights.
    Vit,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::ConvEncoder => "convolutional frame encoder",
            Kind::EfficientNetLite => "lite EfficientNet",
            Kind::ResNet => "ResNet",
            Kind::TwoHead => "two-head ResNet",
            Kind::Vit => "vision transformer",
        })
    }
}

/// A non-linearity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// x · sigmoid(x).
    Silu,
    /// max(x, 0).
    Relu,
    /// x · Φ(x) with the exact distribution function, not its approximation by tanh.
    Gelu,
    /// x · Φ(x) with Φ approximated by tanh: `gelu_new` of transformers.
    GeluTanh,
    /// x · sigmoid(1.702 · x).
    QuickGelu,
    /// tanh(x).
    Tanh,
}

/// What weights do not determine. Each is for one kind of network, and an error with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Non-linearity of a convolutional encoder; SiLU where none is given.
    pub activation: Option<Activation>,
    /// Number of attention heads of a vision transformer; width / 64 where none is given.
    pub heads: Option<usize>,
}

/// A graph made of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The model file.
    pub onnx: Vec<u8>,
    /// What it is, for people: `ResNet-50: 3 channels, 2048 features`.
    pub title: String,
    /// Weights of the checkpoint outside the network, such as those of a projection head; they are not used.
    pub ignored: Vec<String>,
}

/// Writes the graph of a network that [`recognize`] found. Its input is `input`; the batch may have any size.
pub fn build(architecture: &Architecture, weights: &dyn WeightSource, options: &BuildOptions) -> Result<Built> {
    let kind = architecture.kind;
    let unused = |option: &str, owner: Kind| {
        wrong!("{option} is an option for a {owner}, but the weights are those of a {kind}; leave it out")
    };
    if options.activation.is_some() && kind != Kind::ConvEncoder {
        return Err(unused("an activation", Kind::ConvEncoder));
    }
    if options.heads.is_some() && kind != Kind::Vit {
        return Err(unused("a number of heads", Kind::Vit));
    }
    let mut layers = Layers::new(&kind.to_string(), weights, &architecture.prefix);
    let title = match kind {
        Kind::ConvEncoder => conv_encoder::write(&mut layers, options.activation.unwrap_or(Activation::Silu))?,
        Kind::EfficientNetLite => efficientnet::write(&mut layers)?,
        Kind::ResNet => resnet::write(&mut layers)?,
        Kind::TwoHead => resnet::write_two_head(&mut layers)?,
        Kind::Vit => vit::write(&mut layers, options.heads)?,
    };
    let (onnx, ignored) = layers.finish()?;
    Ok(Built { onnx, title, ignored })
}
