// SPDX-License-Identifier: MIT
//! Layer normalization of rows: y = (x − mean) / √(var + ε) · scale + shift (Ba, Kiros and Hinton 2016).

use super::parameters;

const EPSILON: f32 = 1e-5;

#[derive(Debug, Clone)]
pub(crate) struct LayerNorm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

/// What the backward step needs: the rows before scale and shift, and 1/√(var + ε) of each.
pub(crate) struct Normed {
    rows: Vec<f32>,
    factors: Vec<f32>,
}

impl LayerNorm {
    pub(crate) fn new(width: usize) -> Self {
        LayerNorm {
            scale: vec![1.0; width],
            shift: vec![0.0; width],
        }
    }

    /// The outputs, and what the backward step needs.
    pub(crate) fn forward(&self, mut x: Vec<f32>) -> (Vec<f32>, Normed) {
        let width = self.scale.len();
        let mut y = vec![0.0; x.len()];
        let mut factors = Vec::with_capacity(x.len() / width);
        for (x, y) in x.chunks_exact_mut(width).zip(y.chunks_exact_mut(width)) {
            let mean = sum(x) / width as f32;
            x.iter_mut().for_each(|x| *x -= mean);
            let factor = 1.0 / (dot(x, x) / width as f32 + EPSILON).sqrt();
            factors.push(factor);
            x.iter_mut().for_each(|x| *x *= factor);
            for (((y, x), scale), shift) in y.iter_mut().zip(x.iter()).zip(&self.scale).zip(&self.shift) {
                *y = x * scale + shift;
            }
        }
        (y, Normed { rows: x, factors })
    }

    /// Adds the slopes of scale and shift, and turns the slope of the output into that of the input.
    pub(crate) fn backward(&self, trace: &Normed, slopes: &mut [f32], gradient: &mut LayerNorm) {
        let width = self.scale.len();
        let rows = trace.rows.chunks_exact(width).zip(&trace.factors);
        for ((x, factor), slopes) in rows.zip(slopes.chunks_exact_mut(width)) {
            let own = gradient.scale.iter_mut().zip(&mut gradient.shift);
            for (((slope, x), (scale, shift)), factor) in slopes.iter_mut().zip(x).zip(own).zip(&self.scale) {
                *scale += *slope * x;
                *shift += *slope;
                *slope *= factor;
            }
            let (mean, along) = (sum(slopes) / width as f32, dot(slopes, x) / width as f32);
            for (slope, x) in slopes.iter_mut().zip(x) {
                *slope = factor * (*slope - mean - x * along);
            }
        }
    }
}

parameters!(LayerNorm: scale, shift);

/// Eight sums side by side, which the compiler keeps in one vector register.
const LANES: usize = 8;

fn sum(x: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
    }
    sums.iter().sum::<f32>() + rest
}

fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (left, right) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::super::slopes;
    use super::*;

    #[test]
    fn rows_have_mean_0_and_variance_1_before_scale_and_shift() {
        let (y, _) = LayerNorm::new(21).forward(slopes::numbers(42));
        for row in y.chunks_exact(21) {
            assert!(
                sum(row).abs() < 1e-4 && (dot(row, row) / 21.0 - 1.0).abs() < 1e-3,
                "{row:?}"
            );
        }
    }

    #[test]
    fn slopes_of_layer_normalization_are_those_of_finite_differences() {
        let mut layer = LayerNorm::new(10);
        layer.scale = slopes::numbers(10);
        layer.shift = slopes::numbers(10);
        let x: Vec<f32> = slopes::numbers(30).iter().map(|x| 3.0 * x).collect();
        let (_, trace) = layer.forward(x.clone());
        let forward = |layer: &LayerNorm, x: &[f32]| layer.forward(x.to_vec()).0;
        slopes::check(&layer, &x, &slopes::numbers(30), forward, |dy, gradient| {
            let mut dx = dy.to_vec();
            layer.backward(&trace, &mut dx, gradient);
            dx
        });
    }
}
