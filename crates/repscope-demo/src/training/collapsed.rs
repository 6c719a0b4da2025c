// SPDX-License-Identifier: MIT
//! A JEPA without what keeps it from collapsing: the next frame's embedding comes from the encoder itself, with slopes,
//! and no term keeps embeddings apart. The cheapest way to predict well is then one embedding for every frame.

use repscope_core::random;
use repscope_core::run::Progress;

use super::jepa::{HISTORY, absolute_error};
use super::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, Lessons, fit, rate};
use crate::layers::zeros_like;
use crate::networks::{Encoder, Predictor, encode};
use crate::world::Frame;

const RATE: f32 = 2e-3;
const VALIDATED: usize = 32;

/// Trains from this encoder on.
pub(crate) fn train(start: &Encoder, lessons: &Lessons, plan: Fit, progress: &dyn Progress) -> (Encoder, Curve) {
    let windows = lessons.train.windows(HISTORY + 1);
    let held_out = super::spread_out(&lessons.validation.windows(HISTORY + 1), VALIDATED);
    let held_out: Vec<&Frame> = held_out.into_iter().flatten().collect();
    let mut rng = random::stream(lessons.seed, "collapsed/predictor", 0);
    let networks = (
        start.clone(),
        Predictor::new(HISTORY * EMBEDDING_DIM, EMBEDDING_DIM, &mut rng),
    );
    let mut batches = Batches::new(lessons.seed, "collapsed/batches", windows.len(), plan.batch);
    let mut of_encoder = AdamW::new(&networks.0);
    let mut of_predictor = AdamW::new(&networks.1);
    let step = |(encoder, predictor): &mut (Encoder, Predictor), at: usize| {
        let batch: Vec<&Frame> = batches.next().into_iter().flat_map(|sample| windows[sample]).collect();
        let (embeddings, traces) = super::forward(encoder, &batch);
        let (history, next) = split(&embeddings);
        let (predicted, trace) = predictor.forward(&history);
        let (error, slopes) = absolute_error(&predicted, &next);
        let mut gradient = zeros_like(predictor);
        let of_history = predictor.backward(&trace, &slopes, &mut gradient);
        // The error falls as much by moving the truth towards the prediction as the other way round.
        let all = join(&of_history, &slopes.iter().map(|slope| -slope).collect::<Vec<f32>>());
        let rate = rate(at, plan.steps, RATE);
        let of_all = super::backward(encoder, &traces, &all);
        of_encoder.step(encoder, &of_all, rate);
        of_predictor.step(predictor, &gradient, rate);
        error
    };
    let validate = |(encoder, predictor): &(Encoder, Predictor)| {
        let (history, next) = split(&encode(encoder, &held_out));
        absolute_error(&predictor.forward(&history).0, &next).0
    };
    let ((encoder, _), curve) = fit(networks, plan, progress, step, validate);
    (encoder, curve)
}

/// Splits the embeddings of windows into those that the predictor sees and those that it predicts.
fn split(embeddings: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let windows = || embeddings.chunks_exact((HISTORY + 1) * EMBEDDING_DIM);
    let seen = windows().flat_map(|window| &window[..HISTORY * EMBEDDING_DIM]).copied();
    let next = windows().flat_map(|window| &window[HISTORY * EMBEDDING_DIM..]).copied();
    (seen.collect(), next.collect())
}

/// The reverse.
fn join(seen: &[f32], next: &[f32]) -> Vec<f32> {
    let windows = seen
        .chunks_exact(HISTORY * EMBEDDING_DIM)
        .zip(next.chunks_exact(EMBEDDING_DIM));
    windows
        .flat_map(|(seen, next)| seen.iter().chain(next).copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_undoes_splitting() {
        let embeddings: Vec<f32> = (0..2 * 3 * EMBEDDING_DIM as u16).map(f32::from).collect();
        let (seen, next) = split(&embeddings);
        assert_eq!(
            (seen.len(), next.len(), next[0]),
            (4 * EMBEDDING_DIM, 2 * EMBEDDING_DIM, 128.0)
        );
        assert_eq!(join(&seen, &next), embeddings);
    }
}
