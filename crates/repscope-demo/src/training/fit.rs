// SPDX-License-Identifier: MIT
//! The training loop: steps, regular evaluation of the validation loss, and the best network is kept.

use repscope_core::random;
use repscope_core::run::Progress;

use crate::layers::Parameters;

/// How long to train, and how often to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub(crate) steps: usize,
    /// Samples per step.
    pub(crate) batch: usize,
    /// Looks at the validation loss, the last one after the last step.
    pub(crate) looks: usize,
}

/// The losses of a training, a row per look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curve {
    rows: Vec<(usize, Option<f64>, f64)>,
}

impl Curve {
    /// `step,train_loss,validation_loss`: the training loss is the mean over the steps since the row before.
    pub(crate) fn csv(&self) -> String {
        let mut text = "step,train_loss,validation_loss\n".to_string();
        for (step, train, validation) in &self.rows {
            let train = train.map_or(String::new(), |loss| loss.to_string());
            text += &format!("{step},{train},{validation}\n");
        }
        text
    }

    /// The validation loss before the first step.
    pub(crate) fn first(&self) -> f64 {
        self.rows.first().map_or(f64::NAN, |row| row.2)
    }

    /// The lowest validation loss, and after which step.
    pub(crate) fn best(&self) -> (usize, f64) {
        let lowest = self.rows.iter().min_by(|a, b| a.2.total_cmp(&b.2));
        lowest.map_or((0, f64::NAN), |row| (row.0, row.2))
    }
}

/// Trains, and returns the network with the lowest validation loss.
pub(crate) fn fit<N: Clone>(
    mut network: N,
    plan: Fit,
    progress: &dyn Progress,
    mut step: impl FnMut(&mut N, usize) -> f64,
    validate: impl Fn(&N) -> f64,
) -> (N, Curve) {
    let mut curve = Curve::default();
    curve.rows.push((0, None, validate(&network)));
    let mut best = network.clone();
    let (mut sum, mut count) = (0.0, 0);
    for at in 0..plan.steps {
        sum += step(&mut network, at);
        count += 1;
        progress.advance(1);
        let is_look = (at + 1) * plan.looks / plan.steps > at * plan.looks / plan.steps;
        if is_look {
            let loss = validate(&network);
            if loss < curve.best().1 {
                best = network.clone();
            }
            curve.rows.push((at + 1, Some(sum / f64::from(count)), loss));
            (sum, count) = (0.0, 0);
        }
    }
    (best, curve)
}

/// The rate of a step: up to `peak` over the first tenth of the steps, then down along a cosine.
pub(crate) fn rate(step: usize, steps: usize, peak: f32) -> f32 {
    let warm = (steps / 10).max(1);
    if step < warm {
        return peak * (step + 1) as f32 / warm as f32;
    }
    let done = (step - warm) as f32 / (steps - warm).max(1) as f32;
    peak * (0.02 + 0.98 * (1.0 + (std::f32::consts::PI * done).cos()) / 2.0)
}

pub(crate) struct Batches {
    seed: u64,
    name: &'static str,
    count: usize,
    size: usize,
    rounds: u64,
    left: Vec<u32>,
}

impl Batches {
    /// Batches of `size` out of `count` samples, from the stream of this name.
    pub(crate) fn new(seed: u64, name: &'static str, count: usize, size: usize) -> Self {
        Batches {
            seed,
            name,
            count,
            size,
            rounds: 0,
            left: Vec::new(),
        }
    }

    pub(crate) fn next(&mut self) -> Vec<usize> {
        let mut batch = Vec::with_capacity(self.size);
        while batch.len() < self.size {
            match self.left.pop() {
                Some(sample) => batch.push(sample as usize),
                None => {
                    self.left = random::permutation(self.count, &mut random::stream(self.seed, self.name, self.rounds));
                    self.rounds += 1;
                }
            }
        }
        batch
    }
}

const FIRST: f32 = 0.9;
const SECOND: f32 = 0.999;
const EPSILON: f32 = 1e-8;
const DECAY: f32 = 0.01;

/// The moving averages of a network's slopes and of their squares.
pub(crate) struct AdamW {
    first: Vec<Vec<f32>>,
    second: Vec<Vec<f32>>,
    steps: i32,
}

impl AdamW {
    pub(crate) fn new<P: Parameters>(network: &P) -> Self {
        let zeros = || network.arrays().iter().map(|array| vec![0.0; array.len()]).collect();
        AdamW {
            first: zeros(),
            second: zeros(),
            steps: 0,
        }
    }

    /// One step against the gradient.
    pub(crate) fn step<P: Parameters>(&mut self, network: &mut P, gradient: &P, rate: f32) {
        self.steps += 1;
        let first_share = 1.0 - FIRST.powi(self.steps);
        let second_share = (1.0 - SECOND.powi(self.steps)).sqrt();
        let averages = self.first.iter_mut().zip(&mut self.second);
        let arrays = network.arrays_mut().into_iter().zip(gradient.arrays());
        for ((weights, slopes), (first, second)) in arrays.zip(averages) {
            let averages = first.iter_mut().zip(second);
            for ((weight, slope), (first, second)) in weights.iter_mut().zip(slopes).zip(averages) {
                *first = FIRST * *first + (1.0 - FIRST) * slope;
                *second = SECOND * *second + (1.0 - SECOND) * slope * slope;
                let step = *first / first_share / (second.sqrt() / second_share + EPSILON);
                *weight -= rate * (DECAY * *weight + step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::{Linear, zeros_like};
    use repscope_core::run::Silent;

    #[test]
    fn the_network_with_the_lowest_validation_loss_is_kept() {
        let plan = Fit {
            steps: 10,
            batch: 1,
            looks: 5,
        };
        // The loss is lowest at 6 of the steps 0, 2, 4, 6, 8, 10.
        let step = |network: &mut i32, _| {
            *network += 1;
            f64::from(*network)
        };
        let (best, curve) = fit(0, plan, &Silent, step, |network| f64::from((network - 6).abs()));
        assert_eq!((best, curve.best(), curve.first()), (6, (6, 0.0), 6.0));
        assert!(
            curve
                .csv()
                .starts_with("step,train_loss,validation_loss\n0,,6\n2,1.5,4\n")
        );
        assert_eq!(curve.csv().lines().count(), 7);
    }

    #[test]
    fn the_rate_rises_and_falls() {
        let rates: Vec<f32> = (0..100).map(|step| rate(step, 100, 1.0)).collect();
        assert!(rates[0] < rates[5] && rates[5] < rates[9] && rates[9] <= 1.0);
        assert!(rates[10] > rates[50] && rates[50] > rates[99] && rates[99] > 0.0);
    }

    #[test]
    fn every_sample_is_seen_once_before_any_is_seen_twice() {
        let mut batches = Batches::new(1, "test", 10, 4);
        let mut seen: Vec<usize> = (0..5).flat_map(|_| batches.next()).collect();
        assert_eq!(seen.len(), 20);
        seen[..10].sort_unstable();
        assert_eq!(seen[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn the_first_step_is_the_rate_against_the_sign_of_the_slope() {
        let layer = Linear {
            inputs: 2,
            weight: vec![1.0, 1.0],
            bias: vec![0.0],
        };
        let mut gradient = zeros_like(&layer);
        gradient.weight = vec![3.0, -0.5];
        let mut moved = layer.clone();
        AdamW::new(&layer).step(&mut moved, &gradient, 0.1);
        // 1 − 0.1 · (0.01 · 1 ± 1).
        assert!((moved.weight[0] - 0.899).abs() < 1e-6 && (moved.weight[1] - 1.099).abs() < 1e-6);
        assert_eq!(moved.bias, [0.0]);
    }
}
