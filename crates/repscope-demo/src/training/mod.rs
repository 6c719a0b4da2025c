// SPDX-License-Identifier: MIT
//! Training: batches in a random order, steps by AdamW, the best network by its loss on held-out episodes.

mod classifier;
mod encoder_decoder;
mod fit;
mod jepa;
mod spread;

use repscope_core::run::{Driver, Order};

use crate::layers::{Parameters, add, zeros_like};
use crate::networks::{BLOCK, Encoder, Trace};
use crate::world::{Frame, World};

pub(crate) use classifier::{HEADS, classes, predict, train as train_classifier};
pub(crate) use encoder_decoder::train as train_encoder_decoder;
pub(crate) use fit::{AdamW, Batches, Curve, Fit, fit, rate};
pub(crate) use jepa::{Loss, train as train_jepa};

/// Training frames and validation frames.
pub(crate) struct Lessons<'a> {
    pub(crate) train: &'a World,
    pub(crate) validation: &'a World,
    pub(crate) seed: u64,
}

/// Channels of the stages of the encoder.
pub(crate) const CHANNELS: [usize; 4] = [32, 64, 128, 256];
/// Width of its embeddings. Clouds alone have 25 numbers: there is no room for everything.
pub(crate) const EMBEDDING_DIM: usize = 32;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::encode;
    use crate::world::Factors;
    use repscope_core::run::{Order, Silent};
    use repscope_core::{Analysis, Labels, Space, Spec, Study, Targets, evaluate, random};
    use std::sync::Arc;

    /// R² of probes of the position of the object and of the clouds, with their intervals.
    #[derive(Debug)]
    struct Learned {
        position: [f64; 2],
        background: [f64; 2],
    }

    /// The interval of R² of probes on episodes that no probe was trained on.
    fn explained(embeddings: &[f32], truth: &[Vec<f32>], episodes: &[i64]) -> [f64; 2] {
        let space = |name: &str, values: Vec<f32>, columns: usize| {
            Space::from_f32(name, truth.len(), columns, values).expect("finite numbers")
        };
        let mut study = Study::new("m", space("embeddings", embeddings.to_vec(), EMBEDDING_DIM));
        study.targets = Some(Arc::new(Targets::numbered(space(
            "truth",
            truth.concat(),
            truth[0].len(),
        ))));
        study.episodes = Some(Arc::new(Labels::new(
            &episodes.iter().map(i64::to_string).collect::<Vec<String>>(),
        )));
        let driver = Driver::silent(Order::Parallel);
        let results = evaluate(&[study], &Analysis::Probe.metrics(), &Spec::default(), &driver).expect("scores");
        let score = results
            .score("m", "probe.linear.r2(average=variance)")
            .expect("a score");
        score.interval.expect("an interval")
    }

    /// What two encoders with few channels learn in seconds, beside the one that they began as: prediction, reconstruction,
    /// nothing.
    fn story() -> [Learned; 3] {
        let (train, validation) = (World::new(7, "train", 96, 16), World::new(7, "validation", 16, 4));
        let test = World::new(7, "test", 48, 8);
        let lessons = Lessons {
            train: &train,
            validation: &validation,
            seed: 7,
        };
        let plan = |steps| Fit {
            steps,
            batch: 16,
            looks: 2,
        };
        let start = Encoder::new(&[8, 16, 32, 64], EMBEDDING_DIM, &mut random::stream(7, "encoder", 0));
        let (jepa, _) = train_jepa(&start, &lessons, Loss::PredictionAndSpread, plan(240), &Silent);
        let (encoder_decoder, _) = train_encoder_decoder(&start, &lessons, plan(160), &Silent);
        [&jepa, &encoder_decoder, &start].map(|encoder| {
            let (embeddings, factors) = (encode(encoder, &test.frames()), test.factors());
            let of = |numbers: fn(&Factors) -> Vec<f32>| {
                let truth: Vec<Vec<f32>> = factors.iter().map(|own| numbers(own)).collect();
                explained(&embeddings, &truth, &test.episode_numbers())
            };
            Learned {
                position: of(|own| vec![own.x, own.y]),
                background: of(|own| own.clouds.to_vec()),
            }
        })
    }

    #[test]
    fn training_pays_and_prediction_leaves_out_what_reconstruction_keeps() {
        let [jepa, encoder_decoder, random] = story();
        let all = format!("{jepa:?} {encoder_decoder:?} {random:?}");
        let is_above = |above: [f64; 2], below: [f64; 2]| above[0] > below[1];
        assert!(is_above(jepa.position, random.position), "{all}");
        assert!(is_above(jepa.position, encoder_decoder.position), "{all}");
        assert!(is_above(encoder_decoder.background, random.background), "{all}");
        assert!(is_above(random.background, jepa.background), "{all}");
    }
}
