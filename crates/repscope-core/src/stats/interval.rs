// SPDX-License-Identifier: MIT
//! Confidence intervals.
//!
//! Means of per-unit values get Student's t over the units (rows; episodes where they are known, because
//! rows of one episode are not independent). Statistics that are not means get a jackknife. Neighbor
//! graphs are never resampled with replacement: a row drawn twice would be its own nearest neighbor.

use std::ops::Range;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

use crate::score::Interval;

/// The units that per-row values are resampled over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Units<'a> {
    /// Each value by itself; the name says what a value belongs to ("rows", "pairs", "anchors").
    Single(&'static str),
    /// Values with the same code belong together.
    Groups(&'a [u32], &'static str),
}

impl Units<'_> {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Units::Single(name) | Units::Groups(_, name) => name,
        }
    }

    /// Sum and count of the values of each unit.
    fn sums(&self, values: &[f64]) -> Vec<(f64, f64)> {
        match self {
            Units::Single(_) => values.iter().map(|&v| (v, 1.0)).collect(),
            Units::Groups(codes, _) => {
                let groups = codes.iter().max().map_or(0, |&m| m as usize + 1);
                let mut sums = vec![(0.0, 0.0); groups];
                for (&v, &c) in values.iter().zip(*codes) {
                    sums[c as usize].0 += v;
                    sums[c as usize].1 += 1.0;
                }
                sums.retain(|s| s.1 > 0.0);
                sums
            }
        }
    }
}

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

/// Student's t interval from leave-one-unit-out replicates; none with fewer than two.
pub(crate) fn jackknife(value: f64, replicates: &[f64], unit: &'static str, level: f64) -> Option<Interval> {
    let n = replicates.len() as f64;
    if replicates.len() < 2 {
        return None;
    }
    let centre = mean(replicates);
    let weight = ((n - 1.0) / n).sqrt();
    let effects: Vec<f64> = replicates.iter().map(|r| weight * (centre - r)).collect();
    from_effects(value, effects, unit, "jackknife", level)
}

/// Student's t interval from what each unit does to the value.
pub(crate) fn from_effects(
    value: f64,
    effects: Vec<f64>,
    unit: &'static str,
    method: &'static str,
    level: f64,
) -> Option<Interval> {
    let standard_error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
    let interval = from_standard_error(value, standard_error, freedom(&effects), unit, method, level)?;
    Some(Interval {
        effects: Some(effects.into()),
        ..interval
    })
}

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

/// The degrees of freedom of the squared error Σ e² of n effects: those of the χ² law with its variance (Satterthwaite 1946), which
/// follows from the kurtosis κ = n Σ e⁴ / (Σ e²)² as 2n / (κ − 1); at most n − 1. Effects of normal data have about n; where few
/// units do nearly all, or are nearly all of a kind, the error is known no better than from those.
pub(crate) fn freedom(effects: &[f64]) -> f64 {
    let n = effects.len() as f64;
    let largest = effects.iter().fold(0.0f64, |most, e| most.max(e.abs()));
    if largest == 0.0 {
        return n - 1.0;
    }
    // Divided by the largest, so that fourth powers stay in range.
    let sum = |power: i32| effects.iter().map(|e| (e / largest).powi(power)).sum::<f64>();
    let kurtosis = n * sum(4) / sum(2).powi(2);
    let found = 2.0 * n / (kurtosis - 1.0);
    if found > 0.0 {
        found.clamp(1.0, n - 1.0)
    } else {
        n - 1.0
    }
}

/// Says so where one unit does most of what is known about the error: then the data have heavy tails, for which intervals are too short.
/// Of a few units one always stands out.
pub(crate) fn heavy_tails(effects: &[f64], unit: &str) -> Option<String> {
    let squares = effects.iter().map(|e| e * e);
    let (total, largest) = squares.fold((0.0, 0.0f64), |(sum, most), e| (sum + e, most.max(e)));
    let (units, share) = (effects.len(), largest / total);
    (units >= FEWEST_FOR_TAILS && share > DOMINANT).then(|| {
        let percent = 100.0 * share;
        format!("heavy tails: one of {units} {unit} makes up {percent:.0} % of the squared error, so the interval may be too short")
    })
}

/// The fewest units that show the tails of their effects, and the share of one unit that is remarkable: of 240 normal rows the
/// largest has less than that in 95 % of cases, even in regressions and eigenvalues.
const FEWEST_FOR_TAILS: usize = 30;
const DOMINANT: f64 = 0.4;

/// Student's t interval from what each row does to the value. What rows of one episode do adds up to the effect of the
/// episode: to first order what leaving it out does.
pub(crate) fn from_rows(
    value: f64,
    effects: &[f64],
    units: Units,
    method: &'static str,
    level: f64,
) -> Option<Interval> {
    let sums = units.sums(effects).into_iter().map(|s| s.0);
    let effects: Vec<f64> = match units {
        Units::Single(_) => sums.collect(),
        Units::Groups(..) => {
            let sums: Vec<f64> = sums.collect();
            let count = sums.len() as f64;
            let weight = (count / (count - 1.0)).sqrt();
            sums.iter().map(|s| weight * s).collect()
        }
    };
    if effects.len() < 2 {
        return None;
    }
    from_effects(value, effects, units.name(), method, level)
}

/// Student's t interval from the derivatives of the value by the weights of the rows.
pub(crate) fn of_influence(value: f64, derivatives: &[f64], units: Units, level: f64) -> Option<Interval> {
    match units {
        Units::Single(_) => {
            let n = derivatives.len() as f64;
            let effects: Vec<f64> = derivatives.iter().map(|e| e * (n / (n - 1.0)).sqrt()).collect();
            from_rows(value, &effects, units, "influence", level)
        }
        Units::Groups(..) => from_rows(value, derivatives, units, "influence", level),
    }
}

/// value ± t · standard error with this many degrees of freedom.
pub(crate) fn from_standard_error(
    value: f64,
    standard_error: f64,
    freedom: f64,
    unit: &'static str,
    method: &'static str,
    level: f64,
) -> Option<Interval> {
    let reach = t_quantile(0.5 + level / 2.0, freedom)? * standard_error;
    Some(Interval {
        low: value - reach,
        high: value + reach,
        level,
        standard_error: Some(standard_error),
        unit,
        method,
        effects: None,
    })
}

impl Interval {
    /// Effects multiplied by a factor, as the value was.
    pub(crate) fn with_effects_times(mut self, factor: f64) -> Self {
        self.effects = self.effects.map(|effects| effects.iter().map(|e| e * factor).collect());
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

    /// With what each unit does to the value.
    pub(crate) fn with_effects(mut self, effects: Vec<f64>) -> Self {
        self.effects = Some(effects.into());
        self
    }

    /// The interval with the variance of a random step beside that of the units: what each repetition of the step does to the value.
    /// Degrees of freedom by Satterthwaite (1946).
    pub(crate) fn with_between(self, value: f64, between: Option<&[f64]>) -> Self {
        let between = between.unwrap_or_default();
        let of_step: f64 = between.iter().map(|e| e * e).sum();
        let (Some(error), Some(effects)) = (self.standard_error.filter(|_| of_step > 0.0), &self.effects) else {
            return self;
        };
        let of_units = (error * error, freedom(effects));
        let (variance, freedom) = add_variances(&[of_units, (of_step, between.len() as f64 - 1.0)]);
        let method = match self.method {
            "influence" => "influence and clusterings",
            _ => "jackknife and clusterings",
        };
        match from_standard_error(value, variance.sqrt(), freedom, self.unit, method, self.level) {
            Some(wider) => Interval {
                effects: self.effects,
                ..wider
            },
            None => self,
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

    /// The interval cut to the range that the value can have.
    pub(crate) fn within(mut self, low: f64, high: f64) -> Self {
        self.low = self.low.clamp(low, high);
        self.high = self.high.clamp(low, high);
        self
    }
}

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

fn wilson(share: f64, n: f64, z: f64) -> [f64; 2] {
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let reach = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    [(centre - reach).max(0.0), (centre + reach).min(1.0)]
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
/// `after` (Bonett and Price 2012: a normal interval with one more sample lost and one more gained). It has a width even where
/// nothing changes. Samples of groups count as the independent samples that would have the error over groups, and where all
/// groups agree each counts once.
pub(crate) fn of_paired_shares(before: &[bool], after: &[bool], units: Units, level: f64) -> Option<Interval> {
    let number = |is_so: bool| f64::from(u8::from(is_so));
    let changes: Vec<f64> = before.iter().zip(after).map(|(&b, &a)| number(b) - number(a)).collect();
    let samples = changes.len() as f64;
    let share = |change: f64| changes.iter().filter(|c| **c == change).count() as f64 / samples;
    let (lost, gained) = (share(1.0), share(-1.0));
    let variance = |lost: f64, gained: f64, n: f64| ((lost + gained) / n - ((lost - gained) / n).powi(2)).max(0.0) / n;
    let of_mean = of_mean(&changes, units, level);
    let known = |i: &Interval| i.effects.as_ref().map_or(0, |effects| effects.len());
    let (n, quantile, method) = match units {
        Units::Single(_) if samples > 0.0 => (samples, normal_quantile(0.5 + level / 2.0), "Bonett-Price"),
        Units::Single(_) => return None,
        Units::Groups(..) => {
            let groups = known(of_mean.as_ref()?) as f64;
            let alike = variance(lost, gained, 1.0) / of_mean.as_ref()?.standard_error?.powi(2);
            let n = if alike.is_finite() && alike > 0.0 {
                alike
            } else {
                groups
            };
            let quantile = t_quantile(0.5 + level / 2.0, groups - 1.0)?;
            (n, quantile, "Bonett-Price, effective sample size")
        }
    };
    let (lost, gained) = (lost * n, gained * n);
    let centre = (lost - gained) / (n + 2.0);
    let reach = quantile * variance(lost + 1.0, gained + 1.0, n + 2.0).sqrt();
    let error = variance(lost, gained, n).sqrt();
    // Student's error divides by n − 1.
    let scale = |i: &Interval| i.standard_error.filter(|e| *e > 0.0).map_or(0.0, |e| error / e);
    let effects = of_mean.and_then(|i| Some((scale(&i), i.effects?)));
    Some(Interval {
        low: (centre - reach).max(-1.0),
        high: (centre + reach).min(1.0),
        level,
        standard_error: Some(error),
        unit: units.name(),
        method,
        effects: effects.map(|(scale, effects)| effects.iter().map(|e| scale * e).collect()),
    })
}

impl Interval {
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

/// Jackknife interval for the population standard deviation of values over their units, on a logarithmic scale.
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
            ((total - square) / left - (sum / left).powi(2)).max(0.0).sqrt()
        })
        .collect();
    let spread = (total / n).sqrt();
    Some(jackknife(spread, &replicates, units.name(), level)?.on_log_scale(spread))
}

/// The sum of independent variances, each with its degrees of freedom, and the degrees of freedom of the sum (Satterthwaite 1946).
pub(crate) fn add_variances(parts: &[(f64, f64)]) -> (f64, f64) {
    let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let spread: f64 = parts
        .iter()
        .map(|(part, freedom)| (part / variance).powi(2) / freedom)
        .sum();
    (variance, 1.0 / spread)
}

/// A variance and its degrees of freedom.
pub(crate) type Part = (f64, f64);

/// The error of a sum of two independent parts: its size, and the degrees of freedom with which Student's t reaches as far at this
/// level as Howe's interval (1974), the root of Σ t²·variance. Satterthwaite's degrees of freedom are too many where a part has
/// one or two.
pub(crate) fn howe(parts: [Part; 2], level: f64) -> Option<(f64, f64)> {
    let total = parts[0].0 + parts[1].0;
    let known: Vec<Part> = parts.into_iter().filter(|(variance, _)| *variance > 0.0).collect();
    if let [] | [_] = known[..] {
        return Some((total.sqrt(), known.first().unwrap_or(&parts[1]).1));
    }
    let mut reach = 0.0;
    for (variance, freedom) in known {
        reach += variance * t_quantile(0.5 + level / 2.0, freedom)?.powi(2);
    }
    let ratio = (reach / total).sqrt();
    let ends = [parts[0].1.min(parts[1].1), parts[0].1.max(parts[1].1).min(1e9)];
    // Fewer degrees of freedom leave more beyond the ratio.
    let [mut few, mut many] = ends.map(f64::ln);
    for _ in 0..60 {
        let middle = 0.5 * (few + many);
        if t_two_sided(ratio, middle.exp()) > 1.0 - level {
            few = middle;
        } else {
            many = middle;
        }
    }
    Some((total.sqrt(), few.exp()))
}

/// The part of a difference that two variances make: Welch's degrees of freedom (1947), at most twice those of the fewer. Without
/// that limit, two runs whose variance comes out small by accident would be trusted as much as the many of the other side.
pub(crate) fn welch(a: Part, b: Part) -> Part {
    let total = a.0 + b.0;
    let spent = a.0 * a.0 / a.1 + b.0 * b.0 / b.1;
    let freedom = if spent > 0.0 { total * total / spent } else { a.1 + b.1 };
    (total, freedom.min(2.0 * a.1.min(b.1)))
}

/// The `q` quantile of Student's t, which is normal with infinitely many degrees of freedom.
pub(crate) fn t_quantile(q: f64, freedom: f64) -> Option<f64> {
    if freedom == f64::INFINITY {
        return Some(normal_quantile(q));
    }
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(q))
}

/// The `q` quantile of the standard normal distribution.
pub(crate) fn normal_quantile(q: f64) -> f64 {
    Normal::standard().inverse_cdf(q)
}

/// The two-sided p-value of a normal statistic.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    statrs::function::erf::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The two-sided p-value of a t statistic, accurate far into the tail.
pub(crate) fn t_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    if freedom == f64::INFINITY {
        return normal_two_sided(t);
    }
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: scipy 1.17.1, `scipy.stats.t.ppf`, `norm.ppf`, `2 * t.sf`.
    #[test]
    fn quantiles_and_p_values_equal_those_of_scipy() {
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-7, "{a} {b}");
        close(t_quantile(0.975, 1.0).unwrap(), 12.706_204_736_174_694);
        close(t_quantile(0.975, 9.0).unwrap(), 2.262_157_162_798_205);
        close(t_quantile(0.975, 59_999.0).unwrap(), 1.960_003_523_836_932_7);
        close(normal_quantile(0.975), 1.959_963_984_540_054);
        close(t_two_sided(2.0, 10.0), 0.073_388_034_770_740_35);
        close(t_two_sided(40.0, 100.0), 2.462_107_602_140_071e-63);
        assert_eq!(t_two_sided(f64::INFINITY, 5.0), 0.0);
    }

    #[test]
    fn the_reach_of_two_parts_is_howes() {
        // t(0.975) of 2 and of 10 degrees of freedom: 4.302653 and 2.228139.
        let (error, freedom) = howe([(0.3, 2.0), (0.7, 10.0)], 0.95).unwrap();
        let reach = (0.3 * 4.302_653f64.powi(2) + 0.7 * 2.228_139f64.powi(2)).sqrt();
        assert!(
            (error - 1.0).abs() < 1e-12 && (2.0..10.0).contains(&freedom),
            "{error} {freedom}"
        );
        assert!((t_quantile(0.975, freedom).unwrap() - reach).abs() < 1e-5);
        assert_eq!(howe([(0.0, 2.0), (0.25, 10.0)], 0.95), Some((0.5, 10.0)));
        assert_eq!(howe([(0.25, 2.0), (0.0, 10.0)], 0.95), Some((0.5, 2.0)));
        let (_, freedom) = howe([(0.3, 2.0), (0.7, f64::INFINITY)], 0.95).unwrap();
        assert!((2.0..1e9).contains(&freedom));
    }

    #[test]
    fn degrees_of_freedom_of_two_variances_are_welchs() {
        // Equal variances of equal counts: 4 + 4; one alone: its own.
        assert_eq!(welch((0.5, 4.0), (0.5, 4.0)), (1.0, 8.0));
        assert_eq!(welch((0.5, 4.0), (0.0, 4.0)), (0.5, 4.0));
        // At most twice the fewer.
        assert_eq!(welch((0.0, 1.0), (0.5, 9.0)), (0.5, 2.0));
    }

    #[test]
    fn the_interval_of_a_mean_is_students() {
        // 1, 2, 3, 4: mean 2.5, standard error sqrt(5/3)/2, t(0.975, 3) = 3.18245.
        let interval = of_mean(&[1.0, 2.0, 3.0, 4.0], Units::Single("rows"), 0.95).unwrap();
        let reach = 3.182_446_305_284_263 * (5.0f64 / 3.0).sqrt() / 2.0;
        assert!((interval.low - (2.5 - reach)).abs() < 1e-7 && (interval.high - (2.5 + reach)).abs() < 1e-7);
    }

    // Expected values: the formula written out in Python, for 8 and for 10 of 10.
    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        let interval = of_share(0.8, 10, "queries", 0.95).unwrap();
        assert!((interval.low - 0.490_162_471_5).abs() < 1e-9 && (interval.high - 0.943_317_848_5).abs() < 1e-9);
        let all = of_share(1.0, 10, "queries", 0.95).unwrap();
        assert!((all.low - 0.722_467_200_1).abs() < 1e-9 && (all.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_paired_difference_is_that_of_bonett_and_price() {
        // 10 units, 3 lost, 1 gained: (4 − 2)/12 ± 1.959964·√((6/12 − (2/12)²)/12); the error is √((0.4 − 0.04)/10).
        let changed = |lost: usize, gained: usize, units: Units| {
            let before: Vec<bool> = (0..10).map(|i| i < lost).collect();
            let after: Vec<bool> = (0..10).map(|i| i >= 10 - gained).collect();
            of_paired_shares(&before, &after, units, 0.95).unwrap()
        };
        let single = Units::Single("samples");
        let interval = changed(3, 1, single);
        let reach = 1.959_963_984_540_054 * ((0.5 - 1.0 / 36.0) / 12.0f64).sqrt();
        assert!(
            (interval.low - (1.0 / 6.0 - reach)).abs() < 1e-9 && (interval.high - (1.0 / 6.0 + reach)).abs() < 1e-9
        );
        assert!((interval.standard_error.unwrap() - 0.036f64.sqrt()).abs() < 1e-12);
        let none = changed(0, 0, single);
        assert!(none.low < -0.1 && none.high > 0.1);
        assert_eq!(changed(10, 0, single).high, 1.0);
        // Two groups that agree in nothing but chance know less than ten samples, and where nothing changes as much as two.
        let groups = Units::Groups(&[0, 0, 0, 0, 0, 1, 1, 1, 1, 1], "groups");
        assert!(changed(3, 1, groups).low < interval.low && changed(0, 0, groups).low < none.low);
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
    fn effects_of_rows_add_up_to_those_of_episodes() {
        let episodes = Units::Groups(&[0, 0, 1, 1, 2, 2], "episodes");
        let values: [f64; 6] = [1.0, 2.0, 4.0, 7.0, 3.0, 1.0];
        let centre = mean(&values);
        let without: Vec<f64> = values.iter().map(|v| (6.0 * centre - v) / 5.0).collect();
        let rows = jackknife(centre, &without, "rows", 0.95).unwrap().effects.unwrap();
        let found = from_rows(centre, &rows, episodes, "jackknife", 0.95).unwrap();
        // For a mean with episodes of one size the jackknife over episodes is Student's t over their means.
        let means = of_mean(&[1.5, 5.5, 2.0], Units::Single("rows"), 0.95).unwrap();
        let ratio = found.standard_error.unwrap() / means.standard_error.unwrap();
        // Rows left out one by one weigh √(5/6)·6/5 as much: √(6/5).
        assert!((ratio - 1.2f64.sqrt()).abs() < 1e-12, "{ratio}");
        assert_eq!(found.unit, "episodes");
    }

    #[test]
    fn the_median_of_a_hundred_lies_between_order_statistics() {
        // 50 ± t(0.975, 99)·√(100·0.25·100/99) = 50 ± 9.97, so ranks 40 and 61.
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        let of_share = |shares: &[f64]| of_mean(shares, Units::Single("pairs"), 0.95);
        let interval = of_quantile(&sorted, &sorted, 0.5, of_share).unwrap();
        assert_eq!((interval.low, interval.high), (40.0, 61.0));
        assert!(of_quantile(&sorted, &sorted, 0.999, of_share).is_none());
    }

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

    #[test]
    fn degrees_of_freedom_are_those_of_the_units_that_count() {
        // Effects of one size have no kurtosis to speak of; one unit that does everything is two at most, by 2n / (n − 1).
        assert_eq!(freedom(&[1.0, -1.0, 1.0, -1.0]), 3.0);
        assert_eq!(freedom(&[0.0; 7]), 6.0);
        let mut effects = vec![0.0; 100];
        effects[3] = 5.0;
        assert!((freedom(&effects) - 200.0 / 99.0).abs() < 1e-9);
        assert!(
            heavy_tails(&effects, "rows")
                .unwrap()
                .contains("one of 100 rows makes up 100 %")
        );
        assert!(heavy_tails(&effects[..20], "rows").is_none() && heavy_tails(&[0.1; 100], "rows").is_none());
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
    fn the_jackknife_of_a_standard_deviation_leaves_each_value_out() {
        // 0, 0, 3: without a 0 the deviation of (0, 3) is 1.5, twice; without the 3 it is 0.
        let interval = of_spread(&[0.0, 0.0, 3.0], Units::Single("pairs"), 0.95).unwrap();
        let expected = jackknife(2f64.sqrt(), &[1.5, 1.5, 0.0], "pairs", 0.95).unwrap();
        let expected = expected.on_log_scale(2f64.sqrt());
        assert!((interval.low - expected.low).abs() < 1e-12 && (interval.high - expected.high).abs() < 1e-12);
    }
}
