// SPDX-License-Identifier: MIT
//! Intervals over samples, or over the units that samples belong to.

use super::measured::Measured;
use crate::score::{Interval, Score};
use crate::stats::interval::{self, Units};

/// Some of the measured samples, to be resampled.
pub(super) struct Sampling<'a> {
    measured: &'a Measured<'a>,
    /// Rows of the data.
    rows: Vec<usize>,
    /// The unit of each, where samples come in units.
    codes: Option<Vec<u32>>,
}

impl<'a> Sampling<'a> {
    /// Samples by their places among those measured.
    pub(super) fn new(measured: &'a Measured<'a>, places: impl Iterator<Item = usize>) -> Self {
        let rows: Vec<usize> = places.map(|place| measured.rows[place]).collect();
        let units = measured.decoded.data.units.as_deref();
        Sampling {
            codes: units.map(|units| rows.iter().map(|&row| units.codes()[row]).collect()),
            measured,
            rows,
        }
    }

    fn level(&self) -> f64 {
        self.measured.decoded.spec.level
    }

    fn units(&self) -> Units<'_> {
        match (&self.codes, self.measured.decoded.units()) {
            (Some(codes), Units::Groups(_, name)) => Units::Groups(codes, name),
            (_, units) => units,
        }
    }

    /// The mean of a value per sample.
    pub(super) fn mean(&self, id: &str, values: &[f64], range: [f64; 2]) -> Score {
        let interval = interval::of_mean(values, self.units(), self.level());
        self.number(
            id,
            interval::mean(values),
            interval.map(|i| i.within(range[0], range[1])),
        )
    }

    /// The mean of shares; single samples get an interval that has a width even at 0 and 1.
    pub(super) fn share(&self, id: &str, values: &[f64]) -> Score {
        let (value, n) = (interval::mean(values), values.len());
        if self.codes.is_some() {
            return self.mean(id, values, [0.0, 1.0]);
        }
        let of_mean = interval::of_mean(values, self.units(), self.level());
        let interval = interval::of_share(value, n, "samples", self.level()).map(|wilson| Interval {
            standard_error: of_mean.as_ref().and_then(|i| i.standard_error),
            effects: of_mean.and_then(|i| i.effects),
            ..wilson
        });
        self.number(id, value, interval)
    }

    /// The `q` quantile by linear interpolation.
    pub(super) fn quantile(&self, id: &str, values: &[f64], q: f64) -> Score {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let interval = interval::of_quantile(values, &sorted, q, self.units(), self.level());
        self.number(id, at_quantile(&sorted, q), interval)
    }

    /// The standard deviation, n − 1 in the denominator.
    pub(super) fn spread(&self, id: &str, values: &[f64]) -> Score {
        let n = values.len() as f64;
        if values.len() < 2 {
            return Score::undefined(id, "one sample has no spread", values.len());
        }
        let mean = interval::mean(values);
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let interval = interval::of_spread(values, self.units(), self.level());
        let unbiased = interval.map(|i| i.times((n / (n - 1.0)).sqrt()).within(0.0, f64::INFINITY));
        self.number(id, (squares / (n - 1.0)).sqrt(), unbiased)
    }

    /// A value with what each sample does to it.
    pub(super) fn influenced(&self, id: &str, value: f64, effects: &[f64]) -> Score {
        let interval = interval::from_rows(value, effects, self.units(), "influence", self.level());
        // Where nothing moves the value, as where all comparisons say the same, an interval would claim too much.
        let moved = interval.filter(|i| i.standard_error.is_some_and(|error| error > 0.0));
        self.number(id, value, moved.map(|i| i.within(0.0, 1.0)))
    }

    fn number(&self, id: &str, value: f64, interval: Option<Interval>) -> Score {
        Score::number(id, value, self.rows.len()).with_interval(interval.map(|i| self.in_place(i)))
    }

    /// Effects of all samples (or units) of the data, 0 for those that are left out here: so systems that leave out different
    /// ones can be compared sample by sample.
    fn in_place(&self, mut interval: Interval) -> Interval {
        let data = self.measured.decoded.data;
        let Some(effects) = interval.effects.take() else {
            return interval;
        };
        let (all, own) = match (&data.units, &self.codes) {
            (Some(units), Some(codes)) => (distinct(units.codes()), distinct(codes)),
            _ => ((0..data.samples()).collect(), self.rows.clone()),
        };
        let mut own = own.into_iter().zip(effects.iter()).peekable();
        let place = |unit: usize| {
            own.next_if(|(other, _)| *other == unit)
                .map_or(0.0, |(_, effect)| *effect)
        };
        interval.effects = Some(all.into_iter().map(place).collect());
        interval
    }
}

/// The codes that are there, ascending.
fn distinct(codes: &[u32]) -> Vec<usize> {
    let set: std::collections::BTreeSet<u32> = codes.iter().copied().collect();
    set.into_iter().map(|code| code as usize).collect()
}

/// The `q` quantile of sorted numbers, by linear interpolation between them.
pub(super) fn at_quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (below, part) = (position.floor() as usize, position.fract());
    match sorted.get(below + 1) {
        Some(above) if part > 0.0 => sorted[below] + part * (above - sorted[below]),
        _ => sorted[below],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(at_quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), 3.0);
        // 0.1 · 3 = 0.3 of the way from the first to the second.
        assert!((at_quantile(&[1.0, 2.0, 4.0, 8.0], 0.1) - 1.3).abs() < 1e-15);
        assert_eq!(at_quantile(&[5.0], 0.9), 5.0);
    }
}
