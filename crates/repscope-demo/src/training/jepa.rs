// SPDX-License-Identifier: MIT
//! Joint-embedding predictive architecture: from the embeddings of two frames a predictor computes that of the next.
//!
//! One encoder sees all three frames, and the error moves the embedding of the next frame as well: what nobody can predict,
//! such as clouds, is best left out of it. So is everything else, unless the terms of [`spread`] keep embeddings apart
//! (as in Sobal et al. 2022). The control that collapses is trained without them.

use repscope_core::random;
use repscope_core::run::Progress;

use super::spread::spread;
use super::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, Lessons, fit, rate};
use crate::layers::zeros_like;
use crate::networks::{Encoder, Predictor, encode};
use crate::world::Frame;

/// Frames that the predictor sees. Two, because one does not show where things go.
const HISTORY: usize = 2;
const RATE: f32 = 1e-3;
const VALIDATED: usize = 96;

/// What the loss is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The squared error of the prediction, and the terms that keep embeddings apart.
    PredictionAndSpread,
    /// The error alone, which is lowest where all embeddings are equal. It is the absolute error without the mean of the
    /// batch: slopes of the squared error vanish as embeddings become equal, and those of the mean drown the others, so
    /// that a short training would not get there.
    Prediction,
}

impl Loss {
    /// The streams of the predictor's first numbers and of the batches.
    fn streams(self) -> [&'static str; 2] {
        match self {
            Loss::PredictionAndSpread => ["jepa/predictor", "jepa/batches"],
            Loss::Prediction => ["collapsed/predictor", "collapsed/batches"],
        }
    }

    /// The mean error of predictions, rows of this width, and its slope by them.
    fn error(self, predicted: &[f32], truth: &[f32], width: usize) -> (f64, Vec<f32>) {
        let share = 1.0 / predicted.len() as f32;
        let mut errors: Vec<f32> = predicted.iter().zip(truth).map(|(p, t)| p - t).collect();
        let (loss, slopes): (f64, Vec<f32>) = match self {
            Loss::PredictionAndSpread => (
                errors.iter().map(|error| f64::from(error * error)).sum(),
                errors.iter().map(|error| 2.0 * share * error).collect(),
            ),
            Loss::Prediction => {
                center(&mut errors, width);
                let mut slopes: Vec<f32> = errors.iter().map(|error| share * error.signum()).collect();
                center(&mut slopes, width);
                (errors.iter().map(|error| f64::from(error.abs())).sum(), slopes)
            }
        };
        (loss / predicted.len() as f64, slopes)
    }

    /// What embeddings cost that are not apart; its slopes are added to `slopes`.
    fn apart(self, embeddings: &[f32], slopes: &mut [f32]) -> f64 {
        match self {
            Loss::PredictionAndSpread => spread(embeddings, EMBEDDING_DIM, slopes),
            Loss::Prediction => 0.0,
        }
    }
}

/// Trains from this encoder on.
pub(crate) fn train(
    start: &Encoder,
    lessons: &Lessons,
    loss: Loss,
    plan: Fit,
    progress: &dyn Progress,
) -> (Encoder, Curve) {
    let windows = lessons.train.windows(HISTORY + 1);
    let held_out = super::spread_out(&lessons.validation.windows(HISTORY + 1), VALIDATED);
    let held_out: Vec<&Frame> = held_out.into_iter().flatten().collect();
    let [of_weights, of_batches] = loss.streams();
    let mut rng = random::stream(lessons.seed, of_weights, 0);
    let networks = (
        start.clone(),
        Predictor::new(HISTORY * EMBEDDING_DIM, EMBEDDING_DIM, &mut rng),
    );
    let mut batches = Batches::new(lessons.seed, of_batches, windows.len(), plan.batch);
    let mut of_encoder = AdamW::new(&networks.0);
    let mut of_predictor = AdamW::new(&networks.1);
    let step = |(encoder, predictor): &mut (Encoder, Predictor), at: usize| {
        let batch: Vec<&Frame> = batches.next().into_iter().flat_map(|sample| windows[sample]).collect();
        let (embeddings, traces) = super::forward(encoder, &batch);
        let (history, next) = split(&embeddings);
        let (predicted, trace) = predictor.forward(&history);
        let (error, slopes) = loss.error(&predicted, &next, EMBEDDING_DIM);
        let mut gradient = zeros_like(predictor);
        let of_history = predictor.backward(&trace, &slopes, &mut gradient);
        // The error falls as much by moving the truth towards the prediction as the other way round.
        let of_next: Vec<f32> = slopes.iter().map(|slope| -slope).collect();
        let mut slopes = join(&of_history, &of_next);
        let apart = loss.apart(&embeddings, &mut slopes);
        let rate = rate(at, plan.steps, RATE);
        let of_all = super::backward(encoder, &traces, &slopes);
        of_encoder.step(encoder, &of_all, rate);
        of_predictor.step(predictor, &gradient, rate);
        error + apart
    };
    let validate = |(encoder, predictor): &(Encoder, Predictor)| {
        let embeddings = encode(encoder, &held_out);
        let (history, next) = split(&embeddings);
        let (error, _) = loss.error(&predictor.forward(&history).0, &next, EMBEDDING_DIM);
        error + loss.apart(&embeddings, &mut vec![0.0; embeddings.len()])
    };
    let ((encoder, _), curve) = fit(networks, plan, progress, step, validate);
    (encoder, curve)
}

/// Subtracts from each row the mean row.
fn center(rows: &mut [f32], width: usize) {
    let count = (rows.len() / width) as f32;
    let mut means = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / count);
    }
    for row in rows.chunks_exact_mut(width) {
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
    }
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
            (4 * EMBEDDING_DIM, 2 * EMBEDDING_DIM, 2.0 * EMBEDDING_DIM as f32)
        );
        assert_eq!(join(&seen, &next), embeddings);
    }

    #[test]
    fn errors_and_slopes_are_those_of_a_hand_calculation() {
        let (predicted, truth) = ([1.0, 3.0, 2.0, 3.0], [0.0, 5.0, -1.0, 5.0]);
        assert_eq!(
            Loss::PredictionAndSpread.error(&predicted, &truth, 2),
            ((1.0 + 4.0 + 9.0 + 4.0) / 4.0, vec![0.5, -1.0, 1.5, -1.0])
        );
        // Errors 1 and 3 in the first column are −1 and 1 around their mean; those in the second are equal.
        let (loss, slopes) = Loss::Prediction.error(&predicted, &truth, 2);
        assert_eq!((loss, &slopes[..]), (0.5, &[-0.25, 0.0, 0.25, 0.0][..]));
    }
}
