// SPDX-License-Identifier: MIT
//! The encoder of the representation analysis: stages of a convolution that halves the image, SiLU and layer
//! normalization over the channels; then everything in one row, normalized and mapped by a linear layer.
//!
//! In training white is 1, not 255: a bias of usual size would mean nothing beside gray values, and without bias the
//! layer normalization would make surfaces of any brightness look alike. In files the first weights are divided by 255,
//! so that the stored encoder sees frames as they are.
//!
//! The classifier is a smaller network of the same kind, whose outputs are those of its heads.

use rand_chacha::ChaCha8Rng;
use repscope_core::run::{Driver, Order};

use crate::layers::{Conv, LayerNorm, Linear, Normed, Silu, parameters};
use crate::world::{Frame, SIDE, WHITE};

/// Frames that one task sees. A constant, so that sums of gradients do not depend on the number of threads.
pub(crate) const BLOCK: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    pub(crate) stages: Vec<Stage>,
    pub(crate) final_norm: LayerNorm,
    pub(crate) fc: Linear,
}

#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) conv: Conv,
    pub(crate) norm: LayerNorm,
}

/// What the backward step needs of a forward step.
pub(crate) struct Trace {
    stages: Vec<(Vec<f32>, Silu, Normed)>,
    final_norm: Normed,
    flat: Vec<f32>,
}

impl Encoder {
    /// An untrained encoder of frames, with a stage for each number of channels.
    pub(crate) fn new(channels: &[usize], outputs: usize, rng: &mut ChaCha8Rng) -> Self {
        let (mut side, mut depth) = (SIDE, 1);
        let mut stages = Vec::new();
        for &channels in channels {
            stages.push(Stage {
                conv: Conv::new(side, depth, channels, rng),
                norm: LayerNorm::new(channels),
            });
            (side, depth) = (side / 2, channels);
        }
        let flat = side * side * depth;
        Encoder {
            stages,
            final_norm: LayerNorm::new(flat),
            fc: Linear::new(flat, outputs, rng),
        }
    }

    /// Scales and shifts the last layer so that the embeddings of these frames have mean 0 and variance 1 (Mishkin and
    /// Matas 2016). Embeddings of an untrained encoder are nearly the same for all frames.
    pub(crate) fn scale_to(&mut self, frames: &[&Frame]) {
        let embeddings = encode(self, frames);
        let (outputs, inputs) = (self.fc.outputs(), self.fc.inputs);
        let count = frames.len() as f32;
        for at in 0..outputs {
            let own = || embeddings.iter().skip(at).step_by(outputs);
            let mean = own().sum::<f32>() / count;
            let deviation = (own().map(|z| (z - mean).powi(2)).sum::<f32>() / count).sqrt();
            let weights = &mut self.fc.weight[at * inputs..(at + 1) * inputs];
            weights.iter_mut().for_each(|weight| *weight /= deviation);
            self.fc.bias[at] = (self.fc.bias[at] - mean) / deviation;
        }
    }

    /// The embedding of each frame, and what the backward step needs.
    pub(crate) fn forward(&self, frames: &[&Frame]) -> (Vec<f32>, Trace) {
        let mut x: Vec<f32> = frames
            .iter()
            .flat_map(|frame| frame.iter().map(|&gray| f32::from(gray) / WHITE))
            .collect();
        let mut stages = Vec::new();
        for stage in &self.stages {
            let (y, seen) = stage.conv.forward(&x);
            let (y, silu) = Silu::forward(y);
            let (y, normed) = stage.norm.forward(y);
            stages.push((seen, silu, normed));
            x = y;
        }
        let (flat, final_norm) = self.final_norm.forward(x);
        let embeddings = self.fc.forward(&flat);
        (
            embeddings,
            Trace {
                stages,
                final_norm,
                flat,
            },
        )
    }

    /// Adds the slopes of all weights, from the slope of the embeddings.
    pub(crate) fn backward(&self, trace: &Trace, slopes: &[f32], gradient: &mut Encoder) {
        self.fc.gather(&trace.flat, slopes, &mut gradient.fc);
        let mut slopes = self.fc.backward(slopes);
        self.final_norm
            .backward(&trace.final_norm, &mut slopes, &mut gradient.final_norm);
        for (at, stage) in self.stages.iter().enumerate().rev() {
            let (seen, silu, normed) = &trace.stages[at];
            let gradient = &mut gradient.stages[at];
            stage.norm.backward(normed, &mut slopes, &mut gradient.norm);
            silu.backward(&mut slopes);
            stage.conv.gather(seen, &slopes, &mut gradient.conv);
            // The slope of the pixels is not needed.
            if at > 0 {
                slopes = stage.conv.backward(&slopes);
            }
        }
    }
}

parameters!(Stage: conv, norm);
parameters!(Encoder: stages, final_norm, fc);

/// The embeddings of any number of frames, one row each.
pub(crate) fn encode(encoder: &Encoder, frames: &[&Frame]) -> Vec<f32> {
    let driver = Driver::silent(Order::Parallel);
    let blocks: Vec<&[&Frame]> = frames.chunks(BLOCK).collect();
    driver
        .map(blocks.len(), |block| encoder.forward(blocks[block]).0)
        .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Parameters;
    use crate::layers::{slopes, zeros_like};

    #[test]
    fn slopes_of_an_encoder_are_those_of_finite_differences() {
        let encoder = Encoder::new(&[7, 6], 4, &mut slopes::stream());
        let frame: Vec<u8> = (0..SIDE * SIDE).map(|at| (at * at % 251) as u8).collect();
        let frame: &Frame = frame.as_slice().try_into().unwrap();
        let weights = slopes::numbers(4);
        let loss = |encoder: &Encoder| -> f64 {
            let (embeddings, _) = encoder.forward(&[frame]);
            embeddings
                .iter()
                .zip(&weights)
                .map(|(z, w)| f64::from(*z) * f64::from(*w))
                .sum()
        };
        let mut gradient = zeros_like(&encoder);
        encoder.backward(&encoder.forward(&[frame]).1, &weights, &mut gradient);
        for (array, found) in gradient.arrays().iter().enumerate() {
            for at in (0..found.len()).step_by(found.len().div_ceil(9)) {
                let step = 2e-3;
                let shifted = |by: f32| {
                    let mut encoder = encoder.clone();
                    encoder.arrays_mut()[array][at] += by;
                    loss(&encoder)
                };
                let difference = (shifted(step) - shifted(-step)) / f64::from(2.0 * step);
                let slope = f64::from(found[at]);
                assert!(
                    (slope - difference).abs() < 0.01 * (0.3 + slope.abs()),
                    "number {at} of array {array}: {slope} but {difference}"
                );
            }
        }
    }

    #[test]
    fn embeddings_do_not_depend_on_what_else_is_in_a_block() {
        let encoder = Encoder::new(&[2, 3], 4, &mut slopes::stream());
        let frames: Vec<Box<Frame>> = (0..11u8)
            .map(|at| Box::new([at.wrapping_mul(20); SIDE * SIDE]))
            .collect();
        let frames: Vec<&Frame> = frames.iter().map(|frame| &**frame).collect();
        let all = encode(&encoder, &frames);
        assert_eq!(all.len(), 44);
        for (at, frame) in frames.iter().enumerate() {
            let alone = encode(&encoder, &[frame]);
            let pairs = alone.iter().zip(&all[at * 4..]);
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-4), "{at}");
        }
    }
}
