// SPDX-License-Identifier: MIT
//! A small classifier with two heads: which shape the main object has, and in which quadrant it is. The loss is the sum of
//! the cross-entropies of both.

use repscope_core::random;
use repscope_core::run::Progress;

use super::{AdamW, Batches, Curve, Fit, Lessons, fit, rate};
use crate::layers::{cross_entropy, zeros_like};
use crate::networks::{BLOCK, Encoder, encode};
use crate::world::{Factors, Frame, said};

const CHANNELS: [usize; 3] = [16, 32, 64];
const RATE: f32 = 2e-3;
const VALIDATED: usize = 192;
/// Classes of each head.
const CLASSES: usize = 4;

/// The heads, in the order of their outputs.
pub(crate) const HEADS: [&str; 2] = ["shape", "quadrant"];

/// The true class of each head.
pub(crate) fn classes(factors: &Factors) -> [usize; 2] {
    let [_, _, shape, height, side, _] = said(factors);
    [shape, 2 * height + side]
}

pub(crate) fn train(lessons: &Lessons, plan: Fit, progress: &dyn Progress) -> (Encoder, Curve) {
    let (frames, truth) = (lessons.train.frames(), targets(&lessons.train.factors()));
    let held_out = super::spread_out(&lessons.validation.frames(), VALIDATED);
    let held_out_truth = targets(&super::spread_out(&lessons.validation.factors(), VALIDATED)).concat();
    let mut rng = random::stream(lessons.seed, "classifier", 0);
    let classifier = Encoder::new(&CHANNELS, HEADS.len() * CLASSES, &mut rng);
    let mut batches = Batches::new(lessons.seed, "classifier/batches", frames.len(), plan.batch);
    let mut optimizer = AdamW::new(&classifier);
    let step = |classifier: &mut Encoder, at: usize| {
        let batch = batches.next();
        let blocks: Vec<&[usize]> = batch.chunks(BLOCK).collect();
        let (gradient, loss) = super::sum(blocks.len(), |block| {
            let seen: Vec<&Frame> = blocks[block].iter().map(|&sample| frames[sample]).collect();
            let truth: Vec<f32> = blocks[block].iter().flat_map(|&sample| truth[sample]).collect();
            let share = seen.len() as f32 / batch.len() as f32;
            let (outputs, trace) = classifier.forward(&seen);
            let (loss, mut slopes) = cross_entropy(&outputs, &truth, CLASSES);
            slopes.iter_mut().for_each(|slope| *slope *= share);
            let mut gradient = zeros_like(classifier);
            classifier.backward(&trace, &slopes, &mut gradient);
            (gradient, loss * f64::from(share))
        });
        optimizer.step(classifier, &gradient, rate(at, plan.steps, RATE));
        loss
    };
    let validate = |classifier: &Encoder| cross_entropy(&encode(classifier, &held_out), &held_out_truth, CLASSES).0;
    fit(classifier, plan, progress, step, validate)
}

/// A 1 for the true class of each head, 0 for the others.
fn targets(factors: &[&Factors]) -> Vec<[f32; HEADS.len() * CLASSES]> {
    let target = |factors: &&Factors| {
        let mut target = [0.0; HEADS.len() * CLASSES];
        for (head, class) in classes(factors).into_iter().enumerate() {
            target[head * CLASSES + class] = 1.0;
        }
        target
    };
    factors.iter().map(target).collect()
}

/// The class with the largest output, for each head and frame.
pub(crate) fn predict(classifier: &Encoder, frames: &[&Frame]) -> [Vec<i64>; HEADS.len()] {
    let outputs = encode(classifier, frames);
    let largest = |row: &[f32]| (0..CLASSES).fold(0, |best, at| if row[at] > row[best] { at } else { best });
    std::array::from_fn(|head| {
        let rows = outputs.chunks_exact(HEADS.len() * CLASSES);
        rows.map(|row| largest(&row[head * CLASSES..(head + 1) * CLASSES]) as i64)
            .collect()
    })
}
