// SPDX-License-Identifier: MIT
//! Intervals of quantiles.

use crate::score::Interval;

/// Distribution-free interval for the `q` quantile of values: that of the share of values up to the quantile, which
/// `of_share` makes, taken back to order statistics (Woodruff 1952), between which it is interpolated (Nyblom 1992): whole ranks would
/// make it too wide. None where it leaves the data.
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
    // At least half a rank, so that it holds the quantile itself where values are tied.
    let reach = (n * (share.high - share.low) / 2.0).max(0.5);
    // Half a rank is the distance between counts below the quantile and the ranks of values beside it.
    let (low, high) = (n * q + 0.5 - reach, n * q + 0.5 + reach);
    if low < 1.0 || high > n {
        return None;
    }
    let at_rank = |rank: f64| {
        let (below, share) = (rank.floor() as usize, rank.fract());
        let above = sorted[below.min(sorted.len() - 1)];
        sorted[below - 1] + share * (above - sorted[below - 1])
    };
    // More values below the quantile move it down, by as much as the order statistics are apart.
    let (low_end, high_end) = (at_rank(low), at_rank(high));
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
        // 50.5 ± 100 · t(0.975, 99) · √(0.25 / 99) = 50.5 ± 9.971.
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        let of_share = |shares: &[f64]| of_mean(shares, Units::Single("pairs"), 0.95);
        let interval = of_quantile(&sorted, &sorted, 0.5, of_share).unwrap();
        assert!(
            (interval.low - 40.529).abs() < 1e-3 && (interval.high - 60.471).abs() < 1e-3,
            "{interval:?}"
        );
        assert!(of_quantile(&sorted, &sorted, 0.999, of_share).is_none());
    }
}
