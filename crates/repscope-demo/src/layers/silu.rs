// SPDX-License-Identifier: MIT
//! SiLU: y = x σ(x), by number (Elfwing, Uchibe and Doya 2018).

/// What the backward step needs: the inputs and their σ.
pub(crate) struct Silu {
    x: Vec<f32>,
    gate: Vec<f32>,
}

impl Silu {
    /// The outputs, and what the backward step needs.
    pub(crate) fn forward(x: Vec<f32>) -> (Vec<f32>, Silu) {
        let gate: Vec<f32> = x.iter().map(|x| 1.0 / (1.0 + exp(-x))).collect();
        let y = x.iter().zip(&gate).map(|(x, gate)| x * gate).collect();
        (y, Silu { x, gate })
    }

    /// Turns the slope of the output into that of the input: σ (1 + x (1 − σ)) times as much.
    pub(crate) fn backward(&self, slopes: &mut [f32]) {
        for ((slope, x), gate) in slopes.iter_mut().zip(&self.x).zip(&self.gate) {
            *slope *= gate * (1.0 + x * (1.0 - gate));
        }
    }
}

// eˣ in f32, in a form that compilers turn into vector instructions: most of the time of an activation is spent here.
//
// eˣ = 2ⁿ eʳ with n = round(x / ln 2), |r| ≤ ln 2 / 2, and eʳ by its Taylor polynomial of degree 6, within 2·10⁻⁷ of
// it.

/// Beyond these the result would leave the range of f32.
const LIMIT: f32 = 87.0;
/// Adding 1.5 · 2²³ to a small number leaves its nearest integer in the lowest bits.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, the first of which has so few digits that its multiples are exact.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);

pub(super) fn exp(x: f32) -> f32 {
    let x = x.clamp(-LIMIT, LIMIT);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN_2.0 - n * LN_2.1;
    let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0));
    let power = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * tail)));
    // The exponent of an f32 begins at bit 23 and counts from 127.
    power * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// The mean loss over rows of outputs, and its slope. A target is a distribution over the outputs of its row.
pub(crate) fn cross_entropy(outputs: &[f32], targets: &[f32], width: usize) -> (f64, Vec<f32>) {
    let count = outputs.len() / width;
    let mut loss = 0.0;
    let mut slopes = Vec::with_capacity(outputs.len());
    for (row, target) in outputs.chunks_exact(width).zip(targets.chunks_exact(width)) {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f32 = row.iter().map(|y| exp(y - largest)).sum();
        for (y, target) in row.iter().zip(target) {
            let log_probability = y - largest - total.ln();
            loss -= f64::from(*target) * f64::from(log_probability);
            slopes.push((exp(log_probability) - target) / count as f32);
        }
    }
    (loss / count as f64, slopes)
}

#[cfg(test)]
mod tests {
    use super::super::slopes::numbers;
    use super::super::{Parameters, slopes};
    use super::*;

    #[derive(Clone)]
    struct NoNumbers;

    impl Parameters for NoNumbers {
        fn arrays(&self) -> Vec<&[f32]> {
            Vec::new()
        }

        fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
            Vec::new()
        }
    }

    #[test]
    fn slopes_of_silu_are_those_of_finite_differences() {
        let x: Vec<f32> = slopes::numbers(9).iter().map(|x| 4.0 * x).collect();
        let (_, trace) = Silu::forward(x.clone());
        let forward = |_: &NoNumbers, x: &[f32]| Silu::forward(x.to_vec()).0;
        slopes::check(&NoNumbers, &x, &slopes::numbers(9), forward, |dy, _| {
            let mut dx = dy.to_vec();
            trace.backward(&mut dx);
            dx
        });
    }

    #[test]
    fn powers_of_e_are_right_to_six_digits() {
        for step in -8600..=8600 {
            let x = step as f32 / 100.0;
            let (found, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "e^{x} is {expected}, not {found}"
            );
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e9) > 0.0 && exp(1e9).is_finite());
    }

    #[test]
    fn equal_outputs_cost_the_logarithm_of_their_number() {
        let (loss, slopes) = cross_entropy(&[3.0; 4], &[0.0, 1.0, 0.0, 0.0], 4);
        assert!((loss - 4f64.ln()).abs() < 1e-6);
        assert_eq!(slopes, [0.25, -0.75, 0.25, 0.25]);
    }

    #[test]
    fn slopes_of_cross_entropy_are_those_of_finite_differences() {
        let (outputs, targets) = (numbers(6), [0.0, 1.0, 0.0, 0.5, 0.0, 0.5]);
        let (_, slopes) = cross_entropy(&outputs, &targets, 3);
        for at in 0..6 {
            let shifted = |by: f32| {
                let mut outputs = outputs.clone();
                outputs[at] += by;
                cross_entropy(&outputs, &targets, 3).0
            };
            let difference = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            assert!((f64::from(slopes[at]) - difference).abs() < 1e-4, "{at}");
        }
    }
}
