// SPDX-License-Identifier: MIT
//! Encoders: models that turn inputs, images and texts into embeddings.
//!
//! Every encoder is a graph in the ONNX format. One that was exported is read from its file ([`graph`] lists its
//! inputs and outputs); for weights alone (`.pth`, `.safetensors`) `architectures` recognizes the network and writes
//! the graph. So there is one way to run a model: [`runtime`], in pure Rust or by an installed ONNX Runtime.
//! [`Encoder`] feeds it batches of rows, [`TextEncoder`] texts; [`LanguageModel`] says how likely texts are.

pub mod architectures;
mod encoder;
mod error;
pub mod graph;
pub mod hub;
pub mod runtime;
mod text;

pub use encoder::{Batch, Beside, Embeddings, Encoder, Fed, Layout, Made, Options, Output, Rows};
pub use error::{Error, Result};
pub use text::{LanguageModel, Pooling, Projection, TextEncoder, TextOptions, trained_with};
