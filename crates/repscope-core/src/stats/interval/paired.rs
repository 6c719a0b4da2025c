// SPDX-License-Identifier: MIT
//! Score intervals for two shares of the same samples: all values that the score test does not reject. The test of no change is
//! McNemar's, so interval and p-value ask the same question.

/// How many of `n` samples have a property before and after (`both`), only before (`lost`), and only after (`gained`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changes {
    pub(crate) n: f64,
    pub(crate) both: f64,
    pub(crate) lost: f64,
    pub(crate) gained: f64,
}

/// Halvings of a bracket: more than the digits of a number.
const STEPS: usize = 100;
/// No ratio of two shares of the same samples is looked for beyond this.
const LARGEST_RATIO: f64 = 1e12;

impl Changes {
    /// The interval of the share before less that after (Tango 1998).
    pub(crate) fn difference(&self, quantile: f64) -> [f64; 2] {
        let found = (self.lost - self.gained) / self.n;
        let end = |bracket: [f64; 2], target: f64| {
            falling_root(bracket, |difference| self.score_of_difference(difference) - target)
        };
        [end([-1.0, found], quantile), end([found, 1.0], -quantile)]
    }

    /// The score statistic of a difference: that found less it, over its error with the likeliest shares of this difference.
    fn score_of_difference(&self, difference: f64) -> f64 {
        let Changes { n, lost, gained, .. } = *self;
        let (a, b, c) = (
            2.0 * n,
            (2.0 * n - lost + gained) * difference - lost - gained,
            -gained * difference * (1.0 - difference),
        );
        let gained_then = ((b * b - 4.0 * a * c).max(0.0).sqrt() - b) / (2.0 * a);
        let squared = n * (2.0 * gained_then + difference * (1.0 - difference));
        over_root(lost - gained - n * difference, squared)
    }

    /// The interval of the share after over that before (Nam and Blackwelder 2002). Some sample must have the property before.
    pub(crate) fn ratio(&self, quantile: f64) -> [f64; 2] {
        let found = (self.both + self.gained) / (self.both + self.lost);
        // On the scale of the logarithm: a ratio may be large.
        let end = |[low, high]: [f64; 2], target: f64| {
            falling_root([low.ln(), high.ln()], |log| self.score_of_ratio(log.exp()) - target).exp()
        };
        let smallest = 1.0 / LARGEST_RATIO;
        let low = if found > 0.0 {
            end([smallest, found], quantile)
        } else {
            0.0
        };
        [low, end([found.max(smallest), LARGEST_RATIO], -quantile)]
    }

    fn score_of_ratio(&self, ratio: f64) -> f64 {
        let Changes { n, both, lost, gained } = *self;
        let (before, after, any) = (both + lost, both + gained, both + lost + gained);
        // The likeliest share gained, of the samples with the property at all, whose number the ratio says nothing about.
        let (squared, linear) = (ratio * ratio, ratio * ratio * (before + 2.0 * gained) - after);
        let root = ((squared * before - after).powi(2) + 4.0 * squared * gained * lost).sqrt();
        let gained_then = (linear + root) / (2.0 * ratio * (1.0 + ratio) * any);
        let lost_then = 1.0 - ratio + ratio * gained_then;
        let variance = ratio * any / n * (gained_then + lost_then) / n;
        over_root((after - ratio * before) / n, variance)
    }
}

/// A difference over its error; 0 where there is neither.
fn over_root(difference: f64, squared: f64) -> f64 {
    if difference == 0.0 {
        0.0
    } else {
        difference / squared.max(f64::MIN_POSITIVE).sqrt()
    }
}

/// Where a function that falls changes its sign.
fn falling_root([mut low, mut high]: [f64; 2], of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if of(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z: f64 = 1.959_963_984_540_054;

    // Fagerland, Lydersen and Laake (2014), "Recommended tests and confidence intervals for paired binomial proportions": 21 patients, 1
    // before and after, 1 only before, 7 only after. Difference −0.286 (−0.517 to −0.026), ratio 0.25 (0.065 to 0.907).
    #[test]
    fn intervals_are_those_of_a_published_example() {
        let close = |found: f64, printed: f64| assert!((found - printed).abs() < 5e-4, "{found} {printed}");
        let patients = Changes {
            n: 21.0,
            both: 1.0,
            lost: 1.0,
            gained: 7.0,
        };
        let [low, high] = patients.difference(Z);
        close(low, -0.517);
        close(high, -0.026);
        let turned = Changes {
            lost: 7.0,
            gained: 1.0,
            ..patients
        };
        let [low, high] = turned.ratio(Z);
        close(low, 0.065);
        close(high, 0.907);
        // The other way round: opposite differences, inverse ratios.
        let mirrored = turned.difference(Z);
        assert!((mirrored[0] - 0.026).abs() < 5e-4 && (mirrored[1] - 0.517).abs() < 5e-4);
        let inverse = patients.ratio(Z);
        assert!((inverse[0] * high - 1.0).abs() < 1e-9 && (inverse[1] * low - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_end_at_no_change_is_where_mcnemar_rejects() {
        // (lost − gained)² / (lost + gained) of 9 and 1 is 6.4: at that quantile the interval ends at 0, and the ratio at 1.
        let changes = Changes {
            n: 50.0,
            both: 20.0,
            lost: 9.0,
            gained: 1.0,
        };
        assert!(changes.difference(6.4f64.sqrt())[0].abs() < 1e-12);
        assert!((changes.ratio(6.4f64.sqrt())[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_have_a_width_where_nothing_or_everything_changes() {
        // Without a change: ± z² / (n + z²).
        let none = Changes {
            n: 40.0,
            both: 30.0,
            lost: 0.0,
            gained: 0.0,
        };
        let [low, high] = none.difference(Z);
        let expected = Z * Z / (40.0 + Z * Z);
        assert!((low + expected).abs() < 1e-12 && (high - expected).abs() < 1e-12);
        let [low, high] = none.ratio(Z);
        assert!(low < 1.0 && high > 1.0 && (low * high - 1.0).abs() < 1e-9);
        let all = Changes {
            n: 10.0,
            both: 0.0,
            lost: 10.0,
            gained: 0.0,
        };
        let ([low, high], ratio) = (all.difference(Z), all.ratio(Z));
        assert!(low < 0.9 && high == 1.0 && ratio[0] == 0.0 && ratio[1] > 0.1 && ratio[1] < 1.0);
    }
}
