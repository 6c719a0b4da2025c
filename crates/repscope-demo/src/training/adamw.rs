// SPDX-License-Identifier: MIT
//! AdamW (Loshchilov and Hutter 2019), with PyTorch's numbers.

use crate::layers::Parameters;

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
