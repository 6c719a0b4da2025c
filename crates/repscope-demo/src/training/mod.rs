// SPDX-License-Identifier: MIT
//! Training: batches in a random order, steps by AdamW, the best network by its loss on held-out episodes.

mod adamw;
mod batches;
mod blocks;
mod classifier;
mod collapsed;
mod encoder_decoder;
mod fit;
mod jepa;
mod spread;

pub(crate) use adamw::AdamW;
pub(crate) use batches::Batches;
pub(crate) use blocks::spread_out;
pub(crate) use classifier::{HEADS, classes, predict, train as train_classifier};
pub(crate) use collapsed::train as train_collapsed;
pub(crate) use encoder_decoder::train as train_encoder_decoder;
pub(crate) use fit::{Curve, Fit, fit, rate};
pub(crate) use jepa::train as train_jepa;

use crate::world::World;

/// Training frames and validation frames.
pub(crate) struct Lessons<'a> {
    pub(crate) train: &'a World,
    pub(crate) validation: &'a World,
    pub(crate) seed: u64,
}

/// Channels of the stages of the encoder.
pub(crate) const CHANNELS: [usize; 4] = [32, 64, 128, 256];
/// Width of its embeddings.
pub(crate) const EMBEDDING_DIM: usize = 64;
