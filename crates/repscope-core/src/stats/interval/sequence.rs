// SPDX-License-Identifier: MIT
//! Intervals of a statistic of values that follow each other.

use std::ops::Range;

use super::{from_effects, jackknife, mean};
use crate::score::Interval;

/// Student's t interval of a statistic of a sequence, from its value without windows of neighbors. `without` is given the window.
///
/// Neighbors that share a row go together, and so do steps of a slow process. Where values more than m apart do not, the squared error is
/// that of leaving out all windows of m + 1 values, less that of all windows of m: to first order γ₀ + 2 γ₁ + … + 2 γ_m, as in a
/// truncated kernel, and with the full effect of a row that a window takes out entirely. m is the last lag whose autocorrelation
/// stands out from those of the next five (Politis 2003), at least 1; it is 0 where the values have no order.
pub(crate) fn of_sequence(
    value: f64,
    n: usize,
    is_ordered: bool,
    without: impl Fn(Range<usize>) -> Option<f64>,
    unit: &'static str,
    level: f64,
) -> Option<Interval> {
    if n < 3 {
        return None;
    }
    let single: Option<Vec<f64>> = (0..n).map(|i| without(i..i + 1)).collect();
    let single = single?;
    if !is_ordered {
        return jackknife(value, &single, unit, level);
    }
    let centre = mean(&single);
    let effects: Vec<f64> = single.iter().map(|r| centre - r).collect();
    let alone: f64 = effects.iter().map(|e| e * e).sum();
    let last = last_lag(&effects, alone).max(1);
    // Windows that stick out at the ends are left out as far as they are there.
    let squares = |length: usize| {
        let windows = 1..n + length;
        let effects = windows.map(|end| Some(value - without(end.saturating_sub(length)..end.min(n))?));
        effects.map(|e| e.map(|e: f64| e * e)).sum::<Option<f64>>()
    };
    let squared = (squares(last + 1)? - squares(last)?).max(alone);
    let scale = if alone > 0.0 { (squared / alone).sqrt() } else { 0.0 };
    let scaled = effects.iter().map(|e| scale * e).collect();
    from_effects(value, scaled, unit, "lag-robust jackknife", level)
}

/// The last lag whose autocorrelation stands out, up to a quarter of the values and at most 50.
fn last_lag(effects: &[f64], squares: f64) -> usize {
    const QUIET: usize = 5;
    let n = effects.len();
    let threshold = 2.0 * ((n as f64).log10() / n as f64).sqrt();
    let correlation = |lag: usize| effects[lag..].iter().zip(effects).map(|(a, b)| a * b).sum::<f64>() / squares;
    let most = (n / 4).min(50);
    let stands_out: Vec<bool> = (1..=most + QUIET)
        .map(|lag| lag < n && correlation(lag).abs() > threshold)
        .collect();
    (0..most)
        .find(|&m| !stands_out[m..m + QUIET].contains(&true))
        .unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::super::{Units, of_mean};
    use super::*;

    #[test]
    fn a_sequence_whose_neighbors_go_together_has_a_larger_error() {
        // Each value is the sum of two neighbors of a list without order: autocorrelation 0.5 at lag 1, so twice the variance.
        let hash = |i: u64| {
            let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1u64 << 53) as f64
        };
        let values: Vec<f64> = (0..3000).map(|i| hash(i) + hash(i + 1)).collect();
        let total: f64 = values.iter().sum();
        let without = |window: Range<usize>| {
            let left = values.len() - window.len();
            Some((total - values[window].iter().sum::<f64>()) / left as f64)
        };
        let error = |is_ordered: bool| {
            let found = of_sequence(total / 3000.0, 3000, is_ordered, without, "pairs", 0.95).unwrap();
            let squares: f64 = found.effects.as_ref().unwrap().iter().map(|e| e * e).sum();
            assert!((squares.sqrt() / found.standard_error.unwrap() - 1.0).abs() < 1e-9);
            found.standard_error.unwrap()
        };
        let plain = of_mean(&values, Units::Single("pairs"), 0.95)
            .unwrap()
            .standard_error
            .unwrap();
        assert!((error(false) / plain - 1.0).abs() < 1e-6);
        // The autocorrelation is known to about 1/√3000.
        assert!(
            (error(true).powi(2) / plain.powi(2) - 2.0).abs() < 0.12,
            "{}",
            error(true) / plain
        );
    }
}
