// SPDX-License-Identifier: MIT
//! Intervals on another scale: of a multiple, a logarithm, a share, a correlation; and cut to a range.

use super::{normal_quantile, wilson};
use crate::metrics::Output;
use crate::score::Interval;

impl Interval {
    /// Effects multiplied by a factor, as the value was.
    pub(crate) fn with_effects_times(mut self, factor: f64) -> Self {
        self.effects = self.effects.map(|effects| effects.iter().map(|e| e * factor).collect());
        self
    }

    /// The same value with an error that is this many times as large.
    pub(crate) fn about(mut self, value: f64, factor: f64) -> Self {
        (self.low, self.high) = (
            value + factor * (self.low - value),
            value + factor * (self.high - value),
        );
        self.with_error_times(factor)
    }

    /// The interval of the value plus a number.
    pub(crate) fn shifted(mut self, by: f64) -> Self {
        (self.low, self.high) = (self.low + by, self.high + by);
        self
    }

    /// The interval of the value multiplied by a positive factor.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        (self.low, self.high) = (self.low * factor, self.high * factor);
        self.with_error_times(factor)
    }

    /// With another standard error, to which the effects add up.
    pub(crate) fn with_error_times(mut self, factor: f64) -> Self {
        self.standard_error = self.standard_error.map(|error| error * factor);
        self.with_effects_times(factor)
    }

    /// The same error on the scale of the logarithm, for a positive value whose error grows with it; beyond a factor of e the upper end
    /// grows with the error itself, since nothing is known that far out.
    pub(crate) fn on_log_scale(mut self, value: f64) -> Self {
        let reach = (self.high - self.low) / 2.0 / value;
        if value > 0.0 && reach.is_finite() {
            self.low = value * (-reach).exp();
            let factor = if reach <= 1.0 {
                reach.exp()
            } else {
                1.0 + reach * (1f64.exp() - 1.0)
            };
            self.high = value * factor;
        }
        self
    }

    /// The same error on the scale of ln(x / (1 − x)), x being where the value lies between two bounds that it does not leave.
    pub(crate) fn on_logit_scale(mut self, value: f64, [least, most]: [f64; 2]) -> Self {
        let width = most - least;
        let at = (value - least) / width;
        let reach = (self.high - self.low) / 2.0 / width / (at * (1.0 - at));
        if at > 0.0 && at < 1.0 && reach.is_finite() {
            let end = |shift: f64| least + width / (1.0 + (-((at / (1.0 - at)).ln() + shift)).exp());
            (self.low, self.high) = (end(-reach), end(reach));
        }
        self
    }

    /// On the scale of ln(x / (1 − x)) where the declared range of the score has two ends: near one of them, values that are off to the
    /// other side have larger errors, and an interval of equal reach would miss more often on that side.
    pub(crate) fn on_scale_of(self, value: f64, output: &Output) -> Self {
        match output.bounds() {
            [least, most] if least.is_finite() && most.is_finite() => self.on_logit_scale(value, [least, most]),
            _ => self,
        }
    }

    /// Wilson's interval for a share, with as many units as its reach speaks of: it does not leave 0 to 1, and reaches farther to the
    /// middle.
    pub(crate) fn on_share_scale(mut self, share: f64) -> Self {
        let (spread, reach) = (share * (1.0 - share), self.high - share);
        if spread > 0.0 && reach > 0.0 {
            // The quantile is in the reach already.
            [self.low, self.high] = wilson(share, spread / (reach * reach), 1.0);
        }
        self.within(0.0, 1.0)
    }

    /// The same reach on the scale of the square root of the value above its least value, where the error of sums of squares and of
    /// mutual information varies less with the value.
    pub(crate) fn on_root_scale(mut self, value: f64, least: f64) -> Self {
        let root = (value - least).max(0.0).sqrt();
        if root > 0.0 {
            let reach = (self.high - value) / (2.0 * root);
            self.low = least + (root - reach).max(0.0).powi(2);
            self.high = least + (root + reach).powi(2);
        }
        self
    }

    /// The values from which this one is as far as their own error reaches, where the squared error grows with the value above its least
    /// one: (x − value)² = reach² (x − least) / (value − least). A squared distance is such a value, and an interval of its own error would
    /// miss upward whenever it comes out small.
    pub(crate) fn with_error_of_ends(mut self, value: f64, least: f64) -> Self {
        let (above, reach) = (value - least, (self.high - self.low) / 2.0);
        if above > 0.0 && reach.is_finite() {
            let growth = reach * reach / above;
            let half = (growth * growth / 4.0 + growth * above).sqrt();
            let center = value + growth / 2.0;
            (self.low, self.high) = (center - half, center + half);
        }
        self
    }

    /// The same level with regard to the skewness of the effects (Hall 1992): where a few units raise a value, values that come out
    /// low have small errors as well, and an interval of equal reach would miss upward. With γ the skewness Σ e³ / (Σ e²)^(3/2),
    /// T + γT²/3 + γ²T³/27 + γ/6 has the distribution of Student's t more nearly than T = error / standard error.
    pub(crate) fn with_skewness(mut self, value: f64) -> Self {
        let (Some(effects), Some(error)) = (&self.effects, self.standard_error.filter(|error| *error > 0.0)) else {
            return self;
        };
        let cubes: f64 = effects.iter().map(|e| (e / error).powi(3)).sum();
        let squares: f64 = effects.iter().map(|e| (e / error).powi(2)).sum();
        let skewness = cubes / squares.powf(1.5);
        let quantile = (self.high - self.low) / 2.0 / error;
        // Below this the formula loses digits, and corrects nothing.
        if skewness.abs() < 1e-6 || !quantile.is_finite() {
            return self;
        }
        let back = |t: f64| 3.0 / skewness * ((1.0 + skewness * (t - skewness / 6.0)).cbrt() - 1.0);
        (self.low, self.high) = (value - error * back(quantile), value - error * back(-quantile));
        self
    }

    /// The interval of the square root of a value that is not negative, from that of the value.
    pub(crate) fn of_root(mut self, value: f64) -> Self {
        (self.low, self.high) = (self.low.max(0.0).sqrt(), self.high.max(0.0).sqrt());
        let slope = if value > 0.0 { 0.5 / value.sqrt() } else { 0.0 };
        self.with_error_times(slope)
    }

    /// The interval cut to the range that the value can have.
    pub(crate) fn within(mut self, low: f64, high: f64) -> Self {
        self.low = self.low.clamp(low, high);
        self.high = self.high.clamp(low, high);
        self
    }

    /// The interval of a positive value, from that of its logarithm.
    pub(crate) fn of_exp(mut self, value: f64) -> Self {
        (self.low, self.high) = (self.low.exp(), self.high.exp());
        self.with_error_times(value)
    }

    /// The interval of a correlation, from that of Fisher's z = artanh r.
    pub(crate) fn of_tanh(mut self, r: f64) -> Self {
        (self.low, self.high) = (self.low.tanh(), self.high.tanh());
        let slope = (1.0 - r) * (1.0 + r);
        self.standard_error = self.standard_error.map(|error| error * slope);
        self.with_effects_times(slope)
    }
}

/// Fisher's z of a correlation; one of ±1 is taken to be as near to it as numbers get.
pub(crate) fn fisher_z(r: f64) -> f64 {
    r.clamp(-1.0 + f64::EPSILON, 1.0 - f64::EPSILON).atanh()
}

/// Interval for Pearson's r by Fisher's z; none with fewer than four pairs.
pub(crate) fn of_correlation(r: f64, pairs: usize, unit: &'static str, level: f64) -> Option<Interval> {
    if pairs < 4 {
        return None;
    }
    let (z, reach) = (
        r.atanh(),
        normal_quantile(0.5 + level / 2.0) / (pairs as f64 - 3.0).sqrt(),
    );
    let ends = if r.abs() >= 1.0 {
        (r, r)
    } else {
        ((z - reach).tanh(), (z + reach).tanh())
    };
    Some(Interval {
        low: ends.0,
        high: ends.1,
        level,
        standard_error: None,
        unit,
        method: "Fisher z",
        effects: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::from_standard_error;
    use crate::score::Interval;

    #[test]
    fn ends_are_as_far_as_their_own_error_reaches() {
        // A value of 3, 4 above the least, whose error reaches 2: (x − 3)² = 4 (x + 1)/4 at x = (7 ± √17)/2.
        let of = |reach: f64| Interval {
            low: 3.0 - reach,
            high: 3.0 + reach,
            level: 0.95,
            standard_error: Some(1.0),
            unit: "rows",
            method: "influence",
            effects: None,
        };
        let found = of(2.0).with_error_of_ends(3.0, -1.0);
        let ends = [7.0 - 17f64.sqrt(), 7.0 + 17f64.sqrt()].map(|end| end / 2.0);
        assert!((found.low - ends[0]).abs() < 1e-12 && (found.high - ends[1]).abs() < 1e-12);
        // However far it reaches, not below the least; and a value at the least has no other scale.
        assert!(of(1e6).with_error_of_ends(3.0, -1.0).low >= -1.0);
        assert_eq!(of(2.0).with_error_of_ends(3.0, 3.0).high, 5.0);
    }

    #[test]
    fn other_scales_keep_small_errors_and_the_range() {
        let of = |value: f64, error: f64| from_standard_error(value, error, 1e6, "rows", "influence", 0.95).unwrap();
        for (found, value, error) in [
            (of(2.0, 1e-4).on_log_scale(2.0), 2.0, 1e-4),
            (of(0.3, 1e-5).on_logit_scale(0.3, [0.0, 1.0]), 0.3, 1e-5),
        ] {
            let plain = of(value, error);
            // Scales differ by the square of the error.
            assert!((found.low - plain.low).abs() < 1e-6 && (found.high - plain.high).abs() < 1e-6);
        }
        let wide = of(0.9, 0.2).on_logit_scale(0.9, [0.0, 1.0]);
        assert!(wide.low > 0.0 && wide.high < 1.0 && 0.9 - wide.low > wide.high - 0.9);
        assert!(of(1.0, 3.0).on_log_scale(1.0).low > 0.0);
        assert_eq!(of(1.0, 0.0).on_logit_scale(1.0, [0.0, 1.0]).high, 1.0);
    }

    #[test]
    fn skewed_effects_make_an_interval_reach_farther_to_their_side() {
        // Effects 2, −1, −1: Σ e² = 6, Σ e³ = 6, so γ = 6 / 6^1.5 = 0.408248. With T = 2 standard errors of √6:
        // (3/γ)((1 + γ(2 − γ/6))^(1/3) − 1) = 1.571792, and −3.394952 for −2 (Python).
        let skewed = |effects: [f64; 3]| Interval {
            low: 10.0 - 2.0 * 6f64.sqrt(),
            high: 10.0 + 2.0 * 6f64.sqrt(),
            level: 0.95,
            standard_error: Some(6f64.sqrt()),
            unit: "rows",
            method: "jackknife",
            effects: Some(effects.to_vec().into()),
        };
        let found = skewed([2.0, -1.0, -1.0]).with_skewness(10.0);
        let reach = [10.0 - found.low, found.high - 10.0].map(|reach| reach / 6f64.sqrt());
        assert!(
            (reach[0] - 1.571791957).abs() < 1e-6 && (reach[1] - 3.394952423).abs() < 1e-6,
            "{reach:?}"
        );
        let mirrored = skewed([-2.0, 1.0, 1.0]).with_skewness(10.0);
        assert!((found.high - 10.0 - (10.0 - mirrored.low)).abs() < 1e-12);
        let even = skewed([3f64.sqrt(), -3f64.sqrt(), 0.0]).with_skewness(10.0);
        assert_eq!(even, skewed([3f64.sqrt(), -3f64.sqrt(), 0.0]));
    }
}
