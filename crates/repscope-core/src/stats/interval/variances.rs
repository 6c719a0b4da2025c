// SPDX-License-Identifier: MIT
//! Errors that have several independent parts.

use super::{freedom, from_standard_error, t_quantile, t_two_sided};
use crate::score::Interval;

impl Interval {
    /// The interval without what pairs of units do together, beyond what each does alone: a jackknife has its variance twice (Efron and
    /// Stein 1981). From the residuals of all pairs of so many units, after a number for each unit was fitted. Where pairs do most, the
    /// value is nearly a sum of squares, whose law is skewed: they keep half of what a jackknife has too much.
    pub(crate) fn with_pairs_once(self, value: f64, residuals: &[f64], units: usize) -> Self {
        if units <= 3 {
            return self;
        }
        let squares: f64 = residuals.iter().map(|r| r * r).sum();
        self.without_pairs(value, squares * (units as f64 - 1.0) / (units as f64 - 3.0))
    }

    /// The same from the variance of what pairs of units do together.
    pub(crate) fn without_pairs(self, value: f64, of_pairs: f64) -> Self {
        let Some(error) = self.standard_error.filter(|error| *error > 0.0) else {
            return self;
        };
        let of_pairs = of_pairs / (error * error);
        let left = (1.0 - of_pairs).max(1.5 * of_pairs).min(1.0);
        self.about(value, left.sqrt())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_units_count_once() {
        // An error of 5, and six pairs of four units: residuals with 2 squared in sum, which stand for 2 · 3/1 = 6 of 25.
        let of = || from_standard_error(1.0, 5.0, 9.0, "episodes", "jackknife", 0.95).unwrap();
        let residuals = [1.0, -1.0, 0.0, 0.0, 0.0, 0.0];
        let found = of().with_pairs_once(1.0, &residuals, 4);
        assert!((found.standard_error.unwrap() - 19f64.sqrt()).abs() < 1e-12);
        assert!(((found.high - 1.0) / (of().high - 1.0) - 19f64.sqrt() / 5.0).abs() < 1e-12);
        // No less than one and a half times the pairs themselves, 12 of 25; and no more than it was.
        let most = residuals.map(|r| r * 2f64.sqrt());
        assert!((of().with_pairs_once(1.0, &most, 4).standard_error.unwrap() - 18f64.sqrt()).abs() < 1e-12);
        let beyond = residuals.map(|r| r * 3.0);
        assert_eq!(of().with_pairs_once(1.0, &beyond, 4).high, of().high);
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
}
