// SPDX-License-Identifier: MIT
//! The networks: the convolutional encoder of the representation analysis, its decoder, and the predictor of
//! embeddings.

mod decoder;
mod encoder;
mod predictor;

pub(crate) use decoder::Decoder;
pub(crate) use encoder::{BLOCK, Encoder, Trace, encode};
pub(crate) use predictor::Predictor;
