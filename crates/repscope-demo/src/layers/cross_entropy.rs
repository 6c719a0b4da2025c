// SPDX-License-Identifier: MIT
//! Softmax and cross-entropy: −log of the probability of the true class.

use super::exp::exp;

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
    use super::*;

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
