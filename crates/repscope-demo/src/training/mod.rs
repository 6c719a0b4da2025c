// SPDX-License-Identifier: MIT
//! Training: batches in a random order, steps by AdamW, the best network by its loss on held-out episodes.

mod classifier;
mod collapsed;
mod encoder_decoder;
mod fit;
mod jepa;

use repscope_core::run::{Driver, Order};

use crate::layers::{Parameters, add, zeros_like};
use crate::networks::{BLOCK, Encoder, Trace};
use crate::world::{Frame, World};

pub(crate) use classifier::{HEADS, classes, predict, train as train_classifier};
pub(crate) use collapsed::train as train_collapsed;
pub(crate) use encoder_decoder::train as train_encoder_decoder;
pub(crate) use fit::{AdamW, Batches, Curve, Fit, fit, rate};
pub(crate) use jepa::train as train_jepa;

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

/// The embeddings of a batch, and what the backward step needs of each block.
fn forward(encoder: &Encoder, frames: &[&Frame]) -> (Vec<f32>, Vec<Trace>) {
    let blocks: Vec<&[&Frame]> = frames.chunks(BLOCK).collect();
    let run = Driver::silent(Order::Parallel).map(blocks.len(), |block| encoder.forward(blocks[block]));
    let (embeddings, traces): (Vec<Vec<f32>>, Vec<Trace>) = run.into_iter().unzip();
    (embeddings.concat(), traces)
}

/// The gradient, from the slopes of the embeddings.
fn backward(encoder: &Encoder, traces: &[Trace], slopes: &[f32]) -> Encoder {
    let blocks: Vec<&[f32]> = slopes.chunks(BLOCK * encoder.fc.outputs()).collect();
    let run = |block: usize| {
        let mut gradient = zeros_like(encoder);
        encoder.backward(&traces[block], blocks[block], &mut gradient);
        (gradient, 0.0)
    };
    sum(blocks.len(), run).0
}

/// Runs at least one task, and adds up their gradients and losses in task order.
fn sum<P: Parameters + Send>(count: usize, run: impl Fn(usize) -> (P, f64) + Sync) -> (P, f64) {
    let merge = |sum: Option<(P, f64)>, (gradient, loss): (P, f64)| match sum {
        Some((mut sum, so_far)) => {
            add(&mut sum, &gradient);
            Some((sum, so_far + loss))
        }
        None => Some((gradient, loss)),
    };
    let driver = Driver::silent(Order::Parallel);
    driver
        .fold(count, run, None, merge)
        .expect("a batch has at least one frame")
}

/// At most `count` of some samples, evenly spread: what a validation loss is taken on.
pub(crate) fn spread_out<T: Copy>(samples: &[T], count: usize) -> Vec<T> {
    let count = count.min(samples.len());
    (0..count).map(|at| samples[at * samples.len() / count]).collect()
}
