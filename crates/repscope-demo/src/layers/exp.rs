// SPDX-License-Identifier: MIT
//! eˣ in f32, in a form that compilers turn into vector instructions: most of the time of an activation is spent here.
//!
//! eˣ = 2ⁿ eʳ with n = round(x / ln 2), |r| ≤ ln 2 / 2, and eʳ by its Taylor polynomial of degree 6, within 2·10⁻⁷ of
//! it.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
