// SPDX-License-Identifier: MIT
//! The side of texts: sentences as bags of words, an encoder that puts them beside the embeddings of frames, and a
//! captioner.

mod aligned;
mod bag;
mod captioner;
mod contrast;
mod standard;

pub(crate) use aligned::{Aligned, WIDTH, train as train_aligned};
pub(crate) use captioner::{Captioner, train as train_captioner};
pub(crate) use standard::Standard;

use crate::world::Said;

/// Embeddings of frames in standard units, and what is true of the frames.
pub(crate) struct Described {
    pub(crate) embeddings: Vec<f32>,
    pub(crate) said: Vec<Said>,
}

/// The rows of some samples, one after the other.
fn rows_of(rows: &[f32], width: usize, samples: &[usize]) -> Vec<f32> {
    samples
        .iter()
        .flat_map(|&at| &rows[at * width..(at + 1) * width])
        .copied()
        .collect()
}
