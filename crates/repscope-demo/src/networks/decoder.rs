// SPDX-License-Identifier: MIT
//! The decoder of the representation analysis: a linear layer makes 4 × 4 pixels of 256 channels of an embedding, and
//! transposed convolutions double the side until it is that of a frame. SiLU and layer normalization stand behind all
//! but the last.

use rand_chacha::ChaCha8Rng;

use crate::layers::{ConvTranspose, LayerNorm, Linear, Normed, Parameters, Silu, parameters};

const FIRST_SIDE: usize = 4;
const CHANNELS: [usize; 5] = [256, 128, 64, 32, 1];

#[derive(Debug, Clone)]
pub(crate) struct Decoder {
    initial: Linear,
    convs: Vec<ConvTranspose>,
    norms: Vec<LayerNorm>,
}

/// What the backward step needs of a forward step.
pub(crate) struct Trace {
    /// What each transposed convolution saw.
    seen: Vec<Vec<f32>>,
    between: Vec<(Silu, Normed)>,
}

impl Decoder {
    /// The first frames that it draws have this gray value everywhere, white being 1. Random ones would be far from any
    /// frame, and the way back from there takes the differences between embeddings with it.
    pub(crate) fn new(embedding: usize, gray: f32, rng: &mut ChaCha8Rng) -> Self {
        let initial = Linear::new(embedding, FIRST_SIDE * FIRST_SIDE * CHANNELS[0], rng);
        let mut side = FIRST_SIDE;
        let mut convs = Vec::new();
        for channels in CHANNELS.windows(2) {
            side *= 2;
            convs.push(ConvTranspose::new(side, channels[0], channels[1], rng));
        }
        if let Some([weight, bias]) = convs.last_mut().map(Parameters::arrays_mut).as_deref_mut() {
            weight.fill(0.0);
            bias.fill(gray);
        }
        let norms = CHANNELS[1..4]
            .iter()
            .map(|&channels| LayerNorm::new(channels))
            .collect();
        Decoder { initial, convs, norms }
    }

    /// The pixels of each frame, where white is 1, and what the backward step needs.
    pub(crate) fn forward(&self, embeddings: &[f32]) -> (Vec<f32>, Trace) {
        let mut x = self.initial.forward(embeddings);
        let mut trace = Trace {
            seen: Vec::new(),
            between: Vec::new(),
        };
        for (at, conv) in self.convs.iter().enumerate() {
            let y = conv.forward(&x);
            trace.seen.push(x);
            x = match self.norms.get(at) {
                Some(norm) => {
                    let (y, silu) = Silu::forward(y);
                    let (y, normed) = norm.forward(y);
                    trace.between.push((silu, normed));
                    y
                }
                None => y,
            };
        }
        (x, trace)
    }

    /// Adds the slopes of all weights, and returns that of the embeddings.
    pub(crate) fn backward(
        &self,
        embeddings: &[f32],
        trace: &Trace,
        slopes: &[f32],
        gradient: &mut Decoder,
    ) -> Vec<f32> {
        let mut slopes = slopes.to_vec();
        for (at, conv) in self.convs.iter().enumerate().rev() {
            if let Some(norm) = self.norms.get(at) {
                let (silu, normed) = &trace.between[at];
                norm.backward(normed, &mut slopes, &mut gradient.norms[at]);
                silu.backward(&mut slopes);
            }
            slopes = conv.backward(&trace.seen[at], &slopes, &mut gradient.convs[at]);
        }
        self.initial.gather(embeddings, &slopes, &mut gradient.initial);
        self.initial.backward(&slopes)
    }
}

parameters!(Decoder: initial, convs, norms);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::slopes;
    use crate::world::SIDE;

    #[test]
    fn slopes_of_the_embeddings_are_those_of_finite_differences() {
        let mut decoder = Decoder::new(3, 0.5, &mut slopes::stream());
        let weight = slopes::numbers(16 * 32);
        decoder.convs[3].arrays_mut()[0].copy_from_slice(&weight);
        let (embeddings, weights) = (slopes::numbers(3), slopes::numbers(SIDE * SIDE));
        let loss = |embeddings: &[f32]| -> f64 {
            let (pixels, _) = decoder.forward(embeddings);
            pixels
                .iter()
                .zip(&weights)
                .map(|(y, w)| f64::from(*y) * f64::from(*w))
                .sum()
        };
        let (_, trace) = decoder.forward(&embeddings);
        let mut gradient = crate::layers::zeros_like(&decoder);
        let found = decoder.backward(&embeddings, &trace, &weights, &mut gradient);
        for at in 0..3 {
            let shifted = |by: f32| {
                let mut embeddings = embeddings.clone();
                embeddings[at] += by;
                loss(&embeddings)
            };
            let difference = (shifted(1e-3) - shifted(-1e-3)) / 2e-3;
            let slope = f64::from(found[at]);
            assert!(
                (slope - difference).abs() < 0.01 * (1.0 + slope.abs()),
                "{at}: {slope} but {difference}"
            );
        }
    }
}
