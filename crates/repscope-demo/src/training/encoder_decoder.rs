// SPDX-License-Identifier: MIT
//! Encoder-Decoder: a frame is to be drawn again from its embedding. The loss is the mean squared error of pixels,
//! white being 1.
//!
//! The mean frame is a good first answer, and while the decoder gives it, differences between embeddings only disturb: an
//! encoder that learns as fast as the decoder loses them and stays there. So embeddings begin with variance 1, and the
//! encoder learns later and more slowly.

use repscope_core::random;
use repscope_core::run::{Driver, Order, Progress};

use super::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, Lessons, fit, rate};
use crate::layers::{parameters, zeros_like};
use crate::networks::{BLOCK, Decoder, Encoder};
use crate::world::{Frame, WHITE};

const RATE: f32 = 2e-3;
/// The rate of the encoder, as a share of the decoder's.
const ENCODER_SHARE: f32 = 0.2;
/// The share of the steps in which the encoder comes to that.
const SLOW_START: f32 = 0.3;
/// Frames that the scale of the first embeddings is taken from.
const SCALED: usize = 256;
const VALIDATED: usize = 96;

#[derive(Clone)]
struct Both {
    encoder: Encoder,
    decoder: Decoder,
}

/// Trains from this encoder on.
pub(crate) fn train(start: &Encoder, lessons: &Lessons, plan: Fit, progress: &dyn Progress) -> (Encoder, Curve) {
    let frames = lessons.train.frames();
    let held_out = super::spread_out(&lessons.validation.frames(), VALIDATED);
    let mut rng = random::stream(lessons.seed, "encoder_decoder/decoder", 0);
    let mut encoder = start.clone();
    let some = super::spread_out(&frames, SCALED);
    encoder.scale_to(&some);
    let grays = some.iter().flat_map(|frame| frame.iter()).map(|&gray| f64::from(gray));
    let gray = grays.sum::<f64>() / (some.len() * some[0].len()) as f64;
    let both = Both {
        encoder,
        decoder: Decoder::new(EMBEDDING_DIM, gray as f32 / WHITE, &mut rng),
    };
    let mut batches = Batches::new(lessons.seed, "encoder_decoder/batches", frames.len(), plan.batch);
    let mut of_encoder = AdamW::new(&both.encoder);
    let mut of_decoder = AdamW::new(&both.decoder);
    let step = |both: &mut Both, at: usize| {
        let batch: Vec<&Frame> = batches.next().into_iter().map(|sample| frames[sample]).collect();
        let blocks: Vec<&[&Frame]> = batch.chunks(BLOCK).collect();
        let (gradient, loss) = super::sum(blocks.len(), |block| gradient(both, blocks[block], batch.len()));
        let rate = rate(at, plan.steps, RATE);
        let ready = (at as f32 / (SLOW_START * plan.steps as f32)).min(1.0);
        of_encoder.step(&mut both.encoder, &gradient.encoder, rate * ENCODER_SHARE * ready);
        of_decoder.step(&mut both.decoder, &gradient.decoder, rate);
        loss
    };
    let validate = |both: &Both| {
        let blocks: Vec<&[&Frame]> = held_out.chunks(BLOCK).collect();
        let driver = Driver::silent(Order::Parallel);
        let losses = driver.map(blocks.len(), |block| {
            let (embeddings, _) = both.encoder.forward(blocks[block]);
            squared_error(&both.decoder.forward(&embeddings).0, blocks[block], held_out.len()).0
        });
        losses.iter().sum()
    };
    let (best, curve) = fit(both, plan, progress, step, validate);
    (best.encoder, curve)
}

/// The gradient of some of a batch of `count` frames, and their part of its loss.
fn gradient(both: &Both, frames: &[&Frame], count: usize) -> (Both, f64) {
    let mut gradient = zeros_like(both);
    let (embeddings, of_encoder) = both.encoder.forward(frames);
    let (pixels, of_decoder) = both.decoder.forward(&embeddings);
    let (loss, slopes) = squared_error(&pixels, frames, count);
    let slopes = both
        .decoder
        .backward(&embeddings, &of_decoder, &slopes, &mut gradient.decoder);
    both.encoder.backward(&of_encoder, &slopes, &mut gradient.encoder);
    (gradient, loss)
}

/// The part of these frames in the mean over `count` frames, and its slope by their pixels.
fn squared_error(pixels: &[f32], frames: &[&Frame], count: usize) -> (f64, Vec<f32>) {
    let share = 1.0 / (count * frames[0].len()) as f32;
    let mut loss = 0.0;
    let mut slopes = Vec::with_capacity(pixels.len());
    for (pixel, truth) in pixels.iter().zip(frames.iter().flat_map(|frame| frame.iter())) {
        let error = pixel - f32::from(*truth) / WHITE;
        loss += f64::from(share * error * error);
        slopes.push(2.0 * share * error);
    }
    (loss, slopes)
}

parameters!(Both: encoder, decoder);
