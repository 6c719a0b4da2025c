// SPDX-License-Identifier: MIT
//! Joint-embedding predictive architecture: from the embeddings of two frames a predictor computes that of the next.
//!
//! The next frame's embedding comes from a target encoder, a moving average of the encoder, which gets no slopes. A
//! training this short does not rely on that alone to keep embeddings from becoming equal: the terms of
//! [`spread`](super::spread) are added. The loss is the mean absolute error of the prediction plus these. In validation
//! the error is that of the prediction over that of the mean embedding: the target changes while it is learned, and the
//! more it separates frames, the larger errors get.

use repscope_core::random;
use repscope_core::run::Progress;

use super::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, Lessons, fit, rate};
use crate::layers::{Parameters, zeros_like};
use crate::networks::{Encoder, Predictor, encode};
use crate::world::Frame;

/// Frames that the predictor sees. Two, because one does not show where things go.
pub(super) const HISTORY: usize = 2;
const RATE: f32 = 1e-3;
/// How much of itself the target keeps in a step.
const KEPT: f32 = 0.99;
const VALIDATED: usize = 96;

#[derive(Clone)]
struct Jepa {
    encoder: Encoder,
    predictor: Predictor,
    target: Encoder,
}

/// Trains from this encoder on.
pub(crate) fn train(start: &Encoder, lessons: &Lessons, plan: Fit, progress: &dyn Progress) -> (Encoder, Curve) {
    let windows = lessons.train.windows(HISTORY + 1);
    let held_out = super::spread_out(&lessons.validation.windows(HISTORY + 1), VALIDATED);
    let mut rng = random::stream(lessons.seed, "jepa/predictor", 0);
    let jepa = Jepa {
        encoder: start.clone(),
        predictor: Predictor::new(HISTORY * EMBEDDING_DIM, EMBEDDING_DIM, &mut rng),
        target: start.clone(),
    };
    let mut batches = Batches::new(lessons.seed, "jepa/batches", windows.len(), plan.batch);
    let mut of_encoder = AdamW::new(&jepa.encoder);
    let mut of_predictor = AdamW::new(&jepa.predictor);
    let step = |jepa: &mut Jepa, at: usize| {
        let batch: Vec<&[Frame]> = batches.next().into_iter().map(|sample| windows[sample]).collect();
        let (history, next) = split(&batch);
        let (embeddings, traces) = super::forward(&jepa.encoder, &history);
        let target = encode(&jepa.target, &next);
        let (predicted, trace) = jepa.predictor.forward(&embeddings);
        let (error, slopes) = absolute_error(&predicted, &target);
        let mut gradient = zeros_like(&jepa.predictor);
        let mut slopes = jepa.predictor.backward(&trace, &slopes, &mut gradient);
        let loss = error + spread(&embeddings, EMBEDDING_DIM, &mut slopes);
        let rate = rate(at, plan.steps, RATE);
        let of_all = super::backward(&jepa.encoder, &traces, &slopes);
        of_encoder.step(&mut jepa.encoder, &of_all, rate);
        of_predictor.step(&mut jepa.predictor, &gradient, rate);
        follow(&mut jepa.target, &jepa.encoder);
        loss
    };
    let validate = |jepa: &Jepa| {
        let (history, next) = split(&held_out);
        let embeddings = encode(&jepa.encoder, &history);
        let (predicted, _) = jepa.predictor.forward(&embeddings);
        let target = encode(&jepa.target, &next);
        let (error, _) = absolute_error(&predicted, &target);
        let (of_mean, _) = absolute_error(&mean_rows(&target), &target);
        error / of_mean + spread(&embeddings, EMBEDDING_DIM, &mut vec![0.0; embeddings.len()])
    };
    let (best, curve) = fit(jepa, plan, progress, step, validate);
    (best.encoder, curve)
}

/// The frames that are seen, sample after sample, and those to predict.
fn split<'a>(windows: &[&'a [Frame]]) -> (Vec<&'a Frame>, Vec<&'a Frame>) {
    let seen = windows.iter().flat_map(|window| &window[..HISTORY]).collect();
    let next = windows.iter().map(|window| &window[HISTORY]).collect();
    (seen, next)
}

/// Mean absolute error, and its slope by the prediction.
pub(super) fn absolute_error(predicted: &[f32], target: &[f32]) -> (f64, Vec<f32>) {
    let share = 1.0 / predicted.len() as f32;
    let pairs = || predicted.iter().zip(target);
    let loss: f64 = pairs().map(|(p, t)| f64::from((p - t).abs())).sum();
    let slopes = pairs().map(|(p, t)| share * (p - t).signum()).collect();
    (loss / predicted.len() as f64, slopes)
}

/// The mean row, as often as there are rows.
fn mean_rows(embeddings: &[f32]) -> Vec<f32> {
    let count = embeddings.len() / EMBEDDING_DIM;
    let mut mean = vec![0.0; EMBEDDING_DIM];
    for row in embeddings.chunks_exact(EMBEDDING_DIM) {
        mean.iter_mut().zip(row).for_each(|(mean, z)| *mean += z / count as f32);
    }
    mean.repeat(count)
}

/// The target becomes a little more like the encoder.
fn follow(target: &mut Encoder, encoder: &Encoder) {
    for (target, own) in target.arrays_mut().into_iter().zip(encoder.arrays()) {
        for (target, own) in target.iter_mut().zip(own) {
            *target = KEPT * *target + (1.0 - KEPT) * own;
        }
    }
}

// What keeps embeddings apart: the variance and covariance terms of VICReg (Bardes, Ponce and LeCun 2022).
//
// ```text
// variance   = 1/D Σ_j max(0, 1 − √(var_j + 1e-4))
// covariance = 1/D Σ_{i≠j} cov_ij²
// ```

/// VICReg weighs variance, invariance and covariance 25 : 25 : 1; here the prediction has the weight 1.
const VARIANCE: f64 = 1.0;
const COVARIANCE: f64 = 0.04;

/// Both terms with their weights, and their slopes, which are added to `slopes`.
pub(super) fn spread(embeddings: &[f32], width: usize, slopes: &mut [f32]) -> f64 {
    let count = embeddings.len() / width;
    let freedom = (count - 1) as f64;
    let mut means = vec![0.0; width];
    for row in embeddings.chunks_exact(width) {
        means
            .iter_mut()
            .zip(row)
            .for_each(|(mean, z)| *mean += f64::from(*z) / count as f64);
    }
    let centered: Vec<Vec<f64>> = embeddings
        .chunks_exact(width)
        .map(|row| row.iter().zip(&means).map(|(z, mean)| f64::from(*z) - mean).collect())
        .collect();
    let mut covariance = vec![vec![0.0; width]; width];
    for row in &centered {
        for (left, sums) in row.iter().zip(&mut covariance) {
            sums.iter_mut()
                .zip(row)
                .for_each(|(sum, right)| *sum += left * right / freedom);
        }
    }
    // The slope of an embedding is that of the terms by the covariances, times the centered embeddings.
    let mut by_covariance = vec![vec![0.0; width]; width];
    let mut loss = 0.0;
    for i in 0..width {
        let deviation = (covariance[i][i] + 1e-4).sqrt();
        if deviation < 1.0 {
            loss += VARIANCE * (1.0 - deviation) / width as f64;
            by_covariance[i][i] = -VARIANCE / (width as f64 * deviation * freedom);
        }
        for j in (0..width).filter(|&j| j != i) {
            loss += COVARIANCE * covariance[i][j].powi(2) / width as f64;
            by_covariance[i][j] = 4.0 * COVARIANCE * covariance[i][j] / (width as f64 * freedom);
        }
    }
    for (row, slopes) in centered.iter().zip(slopes.chunks_exact_mut(width)) {
        for (slope, factors) in slopes.iter_mut().zip(&by_covariance) {
            *slope += factors.iter().zip(row).map(|(factor, z)| factor * z).sum::<f64>() as f32;
        }
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::slopes::numbers;

    #[test]
    fn equal_embeddings_cost_almost_one_and_spread_embeddings_nothing() {
        let mut slopes = [0.0; 8];
        assert!((spread(&[0.5; 8], 2, &mut slopes) - 0.99).abs() < 1e-9);
        let apart = [2.0, 2.0, -2.0, 2.0, 2.0, -2.0, -2.0, -2.0];
        assert_eq!(spread(&apart, 2, &mut slopes), 0.0);
    }

    #[test]
    fn slopes_of_the_spread_are_those_of_finite_differences() {
        let embeddings = numbers(15);
        let mut slopes = vec![0.0; 15];
        spread(&embeddings, 3, &mut slopes);
        for at in 0..15 {
            let shifted = |by: f32| {
                let mut embeddings = embeddings.clone();
                embeddings[at] += by;
                spread(&embeddings, 3, &mut [0.0; 15])
            };
            let difference = (shifted(1e-3) - shifted(-1e-3)) / 2e-3;
            assert!(
                (f64::from(slopes[at]) - difference).abs() < 1e-4,
                "{at}: {} but {difference}",
                slopes[at]
            );
        }
    }
}
