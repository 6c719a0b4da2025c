// SPDX-License-Identifier: MIT
//! Intervals of quantiles.

use crate::score::Interval;

/// Distribution-free interval for the `q` quantile of values: that of the share of values up to the quantile, which
/// `of_share` makes, taken back to order statistics (Woodruff 1952). None where it leaves the data.
pub(crate) fn of_quantile(
    values: &[f64],
    sorted: &[f64],
    q: f64,
    of_share: impl Fn(&[f64]) -> Option<Interval>,
) -> Option<Interval> {
    let n = sorted.len() as f64;
    let at = *sorted.get((n * q).ceil() as usize - 1)?;
    let is_below: Vec<f64> = values.iter().map(|&v| f64::from(u8::from(v <= at))).collect();
    let share = of_share(&is_below)?;
    let reach = n * (share.high - share.low) / 2.0;
    let (low, high) = ((n * q - reach).floor(), (n * q + reach).ceil());
    if low < 1.0 || high >= n {
        return None;
    }
    // More values below the quantile move it down, by as much as the order statistics are apart.
    let (low_end, high_end) = (sorted[low as usize - 1], sorted[high as usize]);
    let apart = (high_end - low_end) / (share.high - share.low);
    Some(Interval {
        low: low_end,
        high: high_end,
        level: share.level,
        standard_error: None,
        unit: share.unit,
        method: "order statistics",
        effects: share.with_effects_times(-apart).effects,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Units, of_mean};
    use super::*;

    #[test]
    fn the_median_of_a_hundred_lies_between_order_statistics() {
        // 50 ± t(0.975, 99)·√(100·0.25·100/99) = 50 ± 9.97, so ranks 40 and 61.
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        let of_share = |shares: &[f64]| of_mean(shares, Units::Single("pairs"), 0.95);
        let interval = of_quantile(&sorted, &sorted, 0.5, of_share).unwrap();
        assert_eq!((interval.low, interval.high), (40.0, 61.0));
        assert!(of_quantile(&sorted, &sorted, 0.999, of_share).is_none());
    }
}
