// SPDX-License-Identifier: MIT
//! Intervals of means and standard deviations.

use super::{Units, jackknife};
use crate::score::Interval;

/// The mean of `values`.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Student's t interval for the mean of `values` over their units; none with fewer than two units.
/// For groups this is the delete-one-group jackknife of the overall mean.
pub(crate) fn of_mean(values: &[f64], units: Units, level: f64) -> Option<Interval> {
    let sums = units.sums(values);
    let (total, count) = sums.iter().fold((0.0, 0.0), |(t, c), s| (t + s.0, c + s.1));
    let replicates: Vec<f64> = sums.iter().map(|s| (total - s.0) / (count - s.1)).collect();
    let method = match units {
        Units::Single(_) => "Student t",
        Units::Groups(..) => "jackknife",
    };
    Some(Interval {
        method,
        ..jackknife(total / count, &replicates, units.name(), level)?
    })
}

/// Jackknife interval for the population standard deviation of values over their units, from that of the variance, whose effects are
/// skewed: few values make up most of it.
pub(crate) fn of_spread(values: &[f64], units: Units, level: f64) -> Option<Interval> {
    let n = values.len() as f64;
    let centre = mean(values);
    let deviations: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let squares: Vec<f64> = deviations.iter().map(|d| d * d).collect();
    let total: f64 = squares.iter().sum();
    let parts = units.sums(&deviations).into_iter().zip(units.sums(&squares));
    let replicates: Vec<f64> = parts
        .map(|((sum, count), (square, _))| {
            let left = n - count;
            ((total - square) / left - (sum / left).powi(2)).max(0.0)
        })
        .collect();
    let variance = total / n;
    let of_variance = jackknife(variance, &replicates, units.name(), level)?;
    Some(of_variance.with_skewness(variance).of_root(variance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_students() {
        // 1, 2, 3, 4: mean 2.5, standard error sqrt(5/3)/2, t(0.975, 3) = 3.18245.
        let interval = of_mean(&[1.0, 2.0, 3.0, 4.0], Units::Single("rows"), 0.95).unwrap();
        let reach = 3.182_446_305_284_263 * (5.0f64 / 3.0).sqrt() / 2.0;
        assert!((interval.low - (2.5 - reach)).abs() < 1e-7 && (interval.high - (2.5 + reach)).abs() < 1e-7);
    }

    #[test]
    fn values_of_one_group_count_as_one_unit() {
        let values = [1.0, 1.0, 1.0, 3.0, 3.0, 3.0];
        let groups = of_mean(&values, Units::Groups(&[0, 0, 0, 1, 1, 1], "episodes"), 0.95).unwrap();
        let pair = of_mean(&[1.0, 3.0], Units::Single("rows"), 0.95).unwrap();
        assert!((groups.low - pair.low).abs() < 1e-9 && groups.unit == "episodes");
        assert!(of_mean(&values, Units::Groups(&[4; 6], "episodes"), 0.95).is_none());
    }

    #[test]
    fn the_jackknife_of_a_standard_deviation_leaves_each_value_out() {
        // 0, 0, 3: without a 0 the variance of (0, 3) is 2.25, twice; without the 3 it is 0.
        let interval = of_spread(&[0.0, 0.0, 3.0], Units::Single("pairs"), 0.95).unwrap();
        let expected = jackknife(2.0, &[2.25, 2.25, 0.0], "pairs", 0.95).unwrap();
        let expected = expected.with_skewness(2.0).of_root(2.0);
        assert!((interval.low - expected.low).abs() < 1e-12 && (interval.high - expected.high).abs() < 1e-12);
    }
}
