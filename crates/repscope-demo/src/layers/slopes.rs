// SPDX-License-Identifier: MIT
//! Are the slopes that a backward step gives those of finite differences? The loss is a weighted sum of the outputs.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use repscope_core::random;

use super::{Parameters, zeros_like};

pub(crate) fn stream() -> ChaCha8Rng {
    random::stream(7, "slopes", 0)
}

/// Numbers within ±1, the same for every call of one length.
pub(crate) fn numbers(count: usize) -> Vec<f32> {
    let mut rng = random::stream(8, "numbers", count as u64);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Compares for every number of the input and of the layer. In f32 a difference quotient has about three digits: half of
/// them are lost in the difference.
pub(crate) fn check<P: Parameters>(
    layer: &P,
    x: &[f32],
    weights: &[f32],
    forward: impl Fn(&P, &[f32]) -> Vec<f32>,
    backward: impl FnOnce(&[f32], &mut P) -> Vec<f32>,
) {
    let loss = |layer: &P, x: &[f32]| -> f64 {
        let y = forward(layer, x);
        assert_eq!(y.len(), weights.len(), "a weight for every output");
        y.iter().zip(weights).map(|(y, w)| f64::from(*y) * f64::from(*w)).sum()
    };
    let mut gradient = zeros_like(layer);
    let dx = backward(weights, &mut gradient);
    for at in 0..x.len() {
        let shifted = |by: f32| {
            let mut x = x.to_vec();
            x[at] += by;
            loss(layer, &x)
        };
        agree(f64::from(dx[at]), shifted, &format!("input {at}"));
    }
    for (array, slopes) in gradient.arrays().iter().enumerate() {
        for (at, slope) in slopes.iter().enumerate() {
            let shifted = |by: f32| {
                let mut layer = layer.clone();
                layer.arrays_mut()[array][at] += by;
                loss(&layer, x)
            };
            agree(f64::from(*slope), shifted, &format!("number {at} of array {array}"));
        }
    }
}

fn agree(slope: f64, shifted: impl Fn(f32) -> f64, what: &str) {
    const STEP: f32 = 1e-2;
    let difference = (shifted(STEP) - shifted(-STEP)) / f64::from(2.0 * STEP);
    let allowed = 2e-3 * (1.0 + slope.abs().max(difference.abs()));
    assert!((slope - difference).abs() < allowed, "{what}: {slope} but {difference}");
}
