// SPDX-License-Identifier: MIT
//! The networks: the encoder of document 000, its decoder, and the predictor in latent space.

mod decoder;
mod encoder;
mod predictor;

pub(crate) use decoder::Decoder;
pub(crate) use encoder::{BLOCK, Encoder, Trace, encode};
pub(crate) use predictor::Predictor;
