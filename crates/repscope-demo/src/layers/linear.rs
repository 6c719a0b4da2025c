// SPDX-License-Identifier: MIT
//! Linear layer: y = x Wᵀ + b, with W as PyTorch keeps it, a row per output.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::parameters;

#[derive(Debug, Clone)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    /// outputs × inputs.
    pub(crate) weight: Vec<f32>,
    /// One number per output.
    pub(crate) bias: Vec<f32>,
}

impl Linear {
    /// Weights and bias uniform within ±1/√inputs, as in PyTorch.
    pub(crate) fn new(inputs: usize, outputs: usize, rng: &mut ChaCha8Rng) -> Self {
        let weight = uniform(inputs * outputs, inputs, rng);
        let bias = uniform(outputs, inputs, rng);
        Linear { inputs, weight, bias }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(crate) fn forward(&self, x: &[f32]) -> Vec<f32> {
        let mut y = self.bias.repeat(x.len() / self.inputs);
        let out = rows_mut(&mut y, self.outputs());
        let right = rows(&self.weight, self.inputs).transpose();
        product(out, Accum::Add, rows(x, self.inputs), right);
        y
    }

    /// Adds the slopes of weight and bias, from the input of the forward step and the slope of its output.
    pub(crate) fn gather(&self, x: &[f32], dy: &[f32], gradient: &mut Linear) {
        let out = rows_mut(&mut gradient.weight, self.inputs);
        let left = rows(dy, self.outputs()).transpose();
        product(out, Accum::Add, left, rows(x, self.inputs));
        for row in dy.chunks_exact(self.outputs()) {
            for (sum, dy) in gradient.bias.iter_mut().zip(row) {
                *sum += dy;
            }
        }
    }

    /// The slope of the input.
    pub(crate) fn backward(&self, dy: &[f32]) -> Vec<f32> {
        let mut dx = vec![0.0; dy.len() / self.outputs() * self.inputs];
        let out = rows_mut(&mut dx, self.inputs);
        let right = rows(&self.weight, self.inputs);
        product(out, Accum::Replace, rows(dy, self.outputs()), right);
        dx
    }
}

parameters!(Linear: weight, bias);

/// So many numbers within ±1/√inputs.
pub(super) fn uniform(count: usize, inputs: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let bound = 1.0 / (inputs as f32).sqrt();
    (0..count).map(|_| rng.random_range(-bound..bound)).collect()
}

/// out = left · right, or out += left · right.
pub(super) fn product(out: MatMut<f32>, accum: Accum, left: MatRef<f32>, right: MatRef<f32>) {
    matmul(out, accum, left, right, 1.0, Par::Seq);
}

/// Values as a matrix whose rows have this width.
pub(super) fn rows(values: &[f32], width: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, values.len() / width, width)
}

/// The same, to be written.
pub(super) fn rows_mut(values: &mut [f32], width: usize) -> MatMut<'_, f32> {
    let height = values.len() / width;
    MatMut::from_row_major_slice_mut(values, height, width)
}

#[cfg(test)]
mod tests {
    use super::super::slopes;
    use super::*;

    #[test]
    fn slopes_of_a_linear_layer_are_those_of_finite_differences() {
        let layer = Linear::new(5, 3, &mut slopes::stream());
        let (x, weights) = (slopes::numbers(4 * 5), slopes::numbers(4 * 3));
        slopes::check(
            &layer,
            &x,
            &weights,
            |layer, x| layer.forward(x),
            |dy, gradient| {
                layer.gather(&x, dy, gradient);
                layer.backward(dy)
            },
        );
    }
}
