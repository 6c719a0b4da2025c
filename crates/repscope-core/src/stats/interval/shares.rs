// SPDX-License-Identifier: MIT
//! Intervals of shares: of units that have a property, of tested rows, and of two shares of the same samples.

use super::paired::Changes;
use super::{Units, jackknife, mean, normal_quantile, of_mean, t_quantile};
use crate::score::Interval;

/// Wilson's interval for the share of `n` independent units that have a property (Wilson 1927). It has a width even where
/// all or none of them do.
pub(crate) fn of_share(share: f64, n: usize, unit: &'static str, level: f64) -> Option<Interval> {
    if n == 0 {
        return None;
    }
    let [low, high] = wilson(share, n as f64, normal_quantile(0.5 + level / 2.0));
    Some(Interval {
        low,
        high,
        level,
        standard_error: Some((share * (1.0 - share) / n as f64).sqrt()),
        unit,
        method: "Wilson",
        effects: None,
    })
}

/// The largest share of a kind of units that `units` of them miss with the probability 1 − level.
pub(crate) fn unseen_share(units: usize, level: f64) -> f64 {
    1.0 - (1.0 - level).powf(1.0 / units.max(1) as f64)
}

/// Interval for a share of tested rows from its values without those of each unit. Where no unit changes anything, Wilson's over the units
/// that were tested: finite data do not prove a perfect score.
pub(crate) fn of_accuracy(
    value: f64,
    without: &[f64],
    tested: usize,
    is_grouped: bool,
    level: f64,
) -> Option<Interval> {
    let unit = if is_grouped { "episodes" } else { "rows" };
    let found = jackknife(value, without, unit, level)?;
    // But for rounding: accuracies are means over splits.
    if found.standard_error.is_some_and(|error| error > 1e-12) {
        return Some(found);
    }
    Some(Interval {
        effects: found.effects,
        ..of_share(value, tested, unit, level)?
    })
}

/// The ends of Wilson's interval, with any quantile.
pub(super) fn wilson(share: f64, n: f64, z: f64) -> [f64; 2] {
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let reach = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // Rounding may leave the share itself a last digit outside.
    [
        (centre - reach).max(0.0).min(share),
        (centre + reach).min(1.0).max(share),
    ]
}

/// Wilson's interval for a share with a known error: that of as many independent units as would have this error (Franco et al.
/// 2019), with Student's quantile for that of the normal law. Where all units agree there is no error, and each counts once: `units`.
pub(crate) fn of_share_with(share: f64, error: Interval, units: usize) -> Option<Interval> {
    let squared = error.standard_error?.powi(2);
    let known = error.effects.as_ref().map_or(units, |effects| effects.len().min(units)) as f64;
    let alike = share * (1.0 - share) / squared;
    let n = if alike.is_finite() && alike > 0.0 { alike } else { known };
    let [low, high] = wilson(share, n, t_quantile(0.5 + error.level / 2.0, known - 1.0)?);
    Some(Interval {
        low,
        high,
        method: "Wilson, effective sample size",
        ..error
    })
}

/// The share of values that are 1 (others are 0, ties between), over their units.
pub(crate) fn of_share_over(values: &[f64], units: Units, level: f64) -> Option<Interval> {
    let (share, error) = (mean(values), of_mean(values, units, level));
    match units {
        Units::Single(unit) => {
            let wilson = of_share(share, values.len(), unit, level)?;
            Some(match error {
                Some(error) => Interval {
                    low: wilson.low,
                    high: wilson.high,
                    method: wilson.method,
                    ..error
                },
                None => wilson,
            })
        }
        Units::Groups(..) => of_share_with(share, error?, values.len()),
    }
}

/// Interval for the difference of two shares of the same samples, those that have a property `before` less those that have it
/// `after`. It has a width even where nothing changes.
///
/// Independent samples have Tango's score interval. Samples of groups have that of Bonett and Price (2012: normal, with one more sample
/// lost and one more gained) for as many independent samples as would have the error over groups; where all groups agree each
/// counts once. Their error is estimated, so a score test with known errors has nothing to invert.
pub(crate) fn of_paired_shares(before: &[bool], after: &[bool], units: Units, level: f64) -> Option<Interval> {
    let number = |is_so: bool| f64::from(u8::from(is_so));
    let changes: Vec<f64> = before.iter().zip(after).map(|(&b, &a)| number(b) - number(a)).collect();
    let samples = changes.len() as f64;
    let count = |change: f64| changes.iter().filter(|c| **c == change).count() as f64;
    let (lost, gained) = (count(1.0), count(-1.0));
    let variance = |lost: f64, gained: f64, n: f64| ((lost + gained) / n - ((lost - gained) / n).powi(2)).max(0.0) / n;
    let of_mean = of_mean(&changes, units, level);
    let known = |i: &Interval| i.effects.as_ref().map_or(0, |effects| effects.len());
    let (n, [low, high], method) = match units {
        Units::Single(_) if samples > 0.0 => {
            let counted = Changes {
                n: samples,
                both: before.iter().zip(after).filter(|(b, a)| **b && **a).count() as f64,
                lost,
                gained,
            };
            let ends = counted.difference(normal_quantile(0.5 + level / 2.0));
            (samples, ends, "Tango")
        }
        Units::Single(_) => return None,
        Units::Groups(..) => {
            let groups = known(of_mean.as_ref()?) as f64;
            let squared = of_mean.as_ref()?.standard_error?.powi(2);
            let alike = variance(lost / samples, gained / samples, 1.0) / squared;
            let n = if alike.is_finite() && alike > 0.0 {
                alike
            } else {
                groups
            };
            let quantile = t_quantile(0.5 + level / 2.0, groups - 1.0)?;
            let [lost, gained] = [lost, gained].map(|count| count / samples * n);
            let centre = (lost - gained) / (n + 2.0);
            let reach = quantile * variance(lost + 1.0, gained + 1.0, n + 2.0).sqrt();
            (
                n,
                [centre - reach, centre + reach],
                "Bonett-Price, effective sample size",
            )
        }
    };
    let error = variance(lost / samples * n, gained / samples * n, n).sqrt();
    // Student's error divides by n − 1.
    let scale = |i: &Interval| i.standard_error.filter(|e| *e > 0.0).map_or(0.0, |e| error / e);
    let effects = of_mean.and_then(|i| Some((scale(&i), i.effects?)));
    Some(Interval {
        low: low.max(-1.0),
        high: high.min(1.0),
        level,
        standard_error: Some(error),
        unit: units.name(),
        method,
        effects: effects.map(|(scale, effects)| effects.iter().map(|e| scale * e).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: the formula written out in Python, for 8 and for 10 of 10.
    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        let interval = of_share(0.8, 10, "queries", 0.95).unwrap();
        assert!((interval.low - 0.490_162_471_5).abs() < 1e-9 && (interval.high - 0.943_317_848_5).abs() < 1e-9);
        let all = of_share(1.0, 10, "queries", 0.95).unwrap();
        assert!((all.low - 0.722_467_200_1).abs() < 1e-9);
        for n in 1..200 {
            let (none, all) = (of_share(0.0, n, "queries", 0.95), of_share(1.0, n, "queries", 0.95));
            assert!(none.unwrap().low == 0.0 && all.unwrap().high == 1.0, "{n}");
        }
    }

    #[test]
    fn the_interval_of_a_paired_difference_is_tangos() {
        let changed = |lost: usize, gained: usize, units: Units| {
            let before: Vec<bool> = (0..10).map(|i| i < lost).collect();
            let after: Vec<bool> = (0..10).map(|i| i >= 10 - gained).collect();
            of_paired_shares(&before, &after, units, 0.95).unwrap()
        };
        let single = Units::Single("samples");
        // 10 units, 3 lost, 1 gained: the formula written out in Python; the error is √((0.4 − 0.04)/10).
        let interval = changed(3, 1, single);
        assert!((interval.low + 0.217_085_378_1).abs() < 1e-6 && (interval.high - 0.551_453_205_3).abs() < 1e-6);
        assert!((interval.standard_error.unwrap() - 0.036f64.sqrt()).abs() < 1e-12);
        let none = changed(0, 0, single);
        assert!(none.low < -0.1 && none.high > 0.1);
        assert_eq!(changed(10, 0, single).high, 1.0);
        // Two groups that agree in nothing but chance know less than ten samples, and where nothing changes as much as two.
        let groups = Units::Groups(&[0, 0, 0, 0, 0, 1, 1, 1, 1, 1], "groups");
        assert!(changed(3, 1, groups).low < interval.low && changed(0, 0, groups).low < none.low);
    }

    #[test]
    fn the_interval_of_a_paired_difference_of_groups_is_that_of_bonett_and_price() {
        // Five groups of two samples that change alike: 1 lost, 4 unchanged. Means 1, 0, 0, 0, 0 have a squared error of 0.2·0.8/4 = 0.04, as
        // 0.16 / 0.04 = 4 independent samples would: 0.8 lost of 4. (1.8 − 1)/6 ± t(0.975, 4)·√((2.8/6 − (0.8/6)²)/6).
        let before: Vec<bool> = (0..10).map(|i| i < 2).collect();
        let codes: Vec<u32> = (0..10).map(|i| i / 2).collect();
        let found = of_paired_shares(&before, &[false; 10], Units::Groups(&codes, "groups"), 0.95).unwrap();
        let (centre, reach) = (
            0.8 / 6.0,
            2.776_445_105_198 * ((2.8 / 6.0 - (0.8f64 / 6.0).powi(2)) / 6.0).sqrt(),
        );
        assert!((found.low - (centre - reach)).abs() < 1e-9 && (found.high - (centre + reach)).abs() < 1e-9);
    }
}
