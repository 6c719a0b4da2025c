// SPDX-License-Identifier: MIT
//! The predictor of the JEPA: three linear layers with SiLU between them, from the embeddings of the last frames to
//! that of the next.

use rand_chacha::ChaCha8Rng;

use crate::layers::{Linear, Silu, parameters};

const HIDDEN: usize = 512;

#[derive(Debug, Clone)]
pub(crate) struct Predictor {
    layers: Vec<Linear>,
}

/// What the backward step needs of a forward step.
#[derive(Default)]
pub(crate) struct Trace {
    seen: Vec<Vec<f32>>,
    silus: Vec<Silu>,
}

impl Predictor {
    pub(crate) fn new(inputs: usize, outputs: usize, rng: &mut ChaCha8Rng) -> Self {
        Predictor {
            layers: [(inputs, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, outputs)]
                .map(|(i, o)| Linear::new(i, o, rng))
                .to_vec(),
        }
    }

    pub(crate) fn forward(&self, embeddings: &[f32]) -> (Vec<f32>, Trace) {
        let mut trace = Trace::default();
        let mut x = embeddings.to_vec();
        for (at, layer) in self.layers.iter().enumerate() {
            let mut y = layer.forward(&x);
            if at + 1 < self.layers.len() {
                let (active, silu) = Silu::forward(y);
                trace.silus.push(silu);
                y = active;
            }
            trace.seen.push(std::mem::replace(&mut x, y));
        }
        (x, trace)
    }

    /// Adds the slopes of all weights, and returns that of the embeddings.
    pub(crate) fn backward(&self, trace: &Trace, slopes: &[f32], gradient: &mut Predictor) -> Vec<f32> {
        let mut slopes = slopes.to_vec();
        for (at, layer) in self.layers.iter().enumerate().rev() {
            if let Some(silu) = trace.silus.get(at) {
                silu.backward(&mut slopes);
            }
            layer.gather(&trace.seen[at], &slopes, &mut gradient.layers[at]);
            slopes = layer.backward(&slopes);
        }
        slopes
    }
}

parameters!(Predictor: layers);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Parameters;
    use crate::layers::{slopes, zeros_like};

    #[test]
    fn slopes_of_a_predictor_are_those_of_finite_differences() {
        let predictor = Predictor::new(4, 3, &mut slopes::stream());
        let (x, weights) = (slopes::numbers(8), slopes::numbers(6));
        let loss = |predictor: &Predictor, x: &[f32]| -> f64 {
            let (y, _) = predictor.forward(x);
            y.iter().zip(&weights).map(|(y, w)| f64::from(*y) * f64::from(*w)).sum()
        };
        let mut gradient = zeros_like(&predictor);
        let (_, trace) = predictor.forward(&x);
        let dx = predictor.backward(&trace, &weights, &mut gradient);
        let agree = |slope: f32, low: f64, high: f64| {
            let difference = (high - low) / 2e-2;
            assert!((f64::from(slope) - difference).abs() < 1e-3, "{slope} but {difference}");
        };
        for at in 0..x.len() {
            let (mut low, mut high) = (x.clone(), x.clone());
            low[at] -= 1e-2;
            high[at] += 1e-2;
            agree(dx[at], loss(&predictor, &low), loss(&predictor, &high));
        }
        for (array, found) in gradient.arrays().iter().enumerate() {
            let at = found.len() / 2;
            let (mut low, mut high) = (predictor.clone(), predictor.clone());
            low.arrays_mut()[array][at] -= 1e-2;
            high.arrays_mut()[array][at] += 1e-2;
            agree(found[at], loss(&low, &x), loss(&high, &x));
        }
    }
}
