// SPDX-License-Identifier: MIT
//! A claim: what a metric must give, what it gave, and where the expectation comes from.

use repscope_core::Score;
use repscope_render::number;
use serde::Deserialize;

/// One line of the evidence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What is claimed, in words.
    pub name: String,
    /// What it speaks of: the names of data and value.
    pub of: (String, String),
    #[serde(rename = "expect")]
    pub expected: Expected,
    /// How the expected value was found: printed by the specification's validation run, computed by another program, by a closed
    /// formula, by hand, by a proof, or by the design of the data.
    pub evidence: String,
    /// Names of references.
    #[serde(default)]
    pub cites: Vec<String>,
    /// Why the expected value is right, in a sentence.
    pub because: String,
    #[serde(skip)]
    pub got: Got,
}

/// What must come out. It never comes from the code that is checked.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// This number, up to a tolerance.
    Near(f64, f64),
    /// This number, to the bit.
    Exactly(f64),
    /// Anything from the first to the second.
    Between(f64, f64),
    /// No number, but a reason for that.
    Missing,
    /// Words that say this.
    Words(String),
}

/// What came out.
#[derive(Debug, Clone)]
pub enum Got {
    Number(f64),
    /// The smallest and the largest of several numbers.
    Span {
        low: f64,
        high: f64,
    },
    /// No number, and why.
    Missing(String),
    Words(String),
}

impl Default for Got {
    /// Nothing, which no claim accepts.
    fn default() -> Self {
        Got::Missing(String::new())
    }
}

impl Claim {
    pub fn holds(&self) -> bool {
        match (&self.expected, &self.got) {
            // A NaN compares as false, and so fails.
            (Expected::Near(value, tolerance), Got::Number(got)) => (got - value).abs() <= *tolerance,
            (Expected::Exactly(value), Got::Number(got)) => got == value,
            (Expected::Between(low, high), Got::Number(got)) => low <= got && got <= high,
            (Expected::Between(low, high), Got::Span { low: least, high: most }) => low <= least && most <= high,
            (Expected::Missing, Got::Missing(reason)) => !reason.is_empty(),
            (Expected::Words(words), Got::Words(got)) => got.contains(words),
            _ => false,
        }
    }

    pub fn verdict(&self) -> &'static str {
        if self.holds() { "holds" } else { "FAILS" }
    }

    pub fn expected_text(&self) -> String {
        match &self.expected {
            Expected::Near(value, tolerance) => {
                format!("{} ± {}", rounded(*value, *tolerance), tolerance_text(*tolerance))
            }
            Expected::Exactly(value) => format!("{value} exactly"),
            Expected::Between(low, f64::INFINITY) => format!("at least {}", number(*low)),
            Expected::Between(low, high) => format!("{} to {}", number(*low), number(*high)),
            Expected::Missing => "none, with a reason".to_string(),
            Expected::Words(words) => words.clone(),
        }
    }

    /// As many digits as the tolerance deserves; all of them where the claim fails.
    pub fn got_text(&self) -> String {
        let digits = |x: f64| match self.expected {
            _ if !self.holds() => x.to_string(),
            Expected::Near(_, tolerance) => rounded(x, tolerance),
            Expected::Exactly(_) => x.to_string(),
            _ => number(x),
        };
        match (&self.got, &self.expected) {
            (Got::Number(x), _) => digits(*x),
            (Got::Span { low, high }, _) if low == high => digits(*low),
            (Got::Span { low, high }, _) => format!("{} to {}", digits(*low), digits(*high)),
            (Got::Missing(reason), _) => format!("none: {reason}"),
            (Got::Words(_), Expected::Words(words)) if self.holds() => words.clone(),
            (Got::Words(words), _) => words.clone(),
        }
    }
}

impl From<&Score> for Got {
    fn from(score: &Score) -> Self {
        match score.value {
            Some(value) => Got::Number(value),
            None => Got::Missing(score.reason.clone().unwrap_or_default()),
        }
    }
}

impl Got {
    /// The smallest and the largest number; one that is missing comes first.
    pub fn span(all: impl IntoIterator<Item = Got>) -> Got {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for got in all {
            let Got::Number(x) = got else { return got };
            if x.is_nan() {
                return got;
            }
            low = low.min(x);
            high = high.max(x);
        }
        if low <= high {
            Got::Span { low, high }
        } else {
            Got::Missing("there is nothing to look at".to_string())
        }
    }

    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Got::Number(x) => Some(*x),
            _ => None,
        }
    }

    /// The number after a calculation; a missing one stays missing.
    pub fn map(self, calculate: impl FnOnce(f64) -> f64) -> Got {
        match self {
            Got::Number(x) => Got::Number(calculate(x)),
            other => other,
        }
    }

    /// Both numbers in one calculation; the first that is missing stays missing.
    pub fn with(self, other: Got, calculate: impl FnOnce(f64, f64) -> f64) -> Got {
        match (self, other) {
            (Got::Number(a), Got::Number(b)) => Got::Number(calculate(a, b)),
            (Got::Number(_), missing) => missing,
            (missing, _) => missing,
        }
    }
}

/// Cut at the decimal place of the tolerance, without zeros that say nothing.
fn rounded(x: f64, tolerance: f64) -> String {
    let exponent = format!("{tolerance:e}");
    let place: i32 = exponent.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let text = format!("{x:.*}", (-place).clamp(0, 12) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

fn tolerance_text(tolerance: f64) -> String {
    if tolerance < 1e-4 {
        format!("{tolerance:e}")
    } else {
        tolerance.to_string()
    }
}

#[cfg(test)]
pub(super) fn claimed(name: &str, expected: Expected, got: Got) -> Claim {
    Claim {
        name: name.to_string(),
        of: Default::default(),
        expected,
        evidence: "proof".to_string(),
        cites: Vec::new(),
        because: String::new(),
        got,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(expected: Expected, got: Got) -> Claim {
        claimed("a claim", expected, got)
    }

    fn near(value: f64, tolerance: f64) -> Expected {
        Expected::Near(value, tolerance)
    }

    fn exactly(value: f64) -> Expected {
        Expected::Exactly(value)
    }

    fn between(low: f64, high: f64) -> Expected {
        Expected::Between(low, high)
    }

    fn words(text: &str) -> Expected {
        Expected::Words(text.to_string())
    }

    #[test]
    fn a_number_holds_within_its_tolerance_and_fails_outside() {
        assert!(claim(near(1.907, 0.0005), Got::Number(1.90720)).holds());
        let failing = claim(near(1.907, 0.0005), Got::Number(1.9076));
        assert!(!failing.holds());
        assert_eq!(failing.verdict(), "FAILS");
    }

    #[test]
    fn exactly_means_to_the_last_bit() {
        assert!(claim(exactly(0.3), Got::Number(0.3)).holds());
        assert!(!claim(exactly(0.3), Got::Number(0.1 + 0.2)).holds());
    }

    #[test]
    fn a_number_that_is_no_number_fails_every_claim() {
        for nan in [
            Got::Number(f64::NAN),
            Got::span([Got::Number(1.0), Got::Number(f64::NAN)]),
        ] {
            assert!(!claim(near(1.0, 0.5), nan.clone()).holds());
            assert!(!claim(between(0.0, f64::INFINITY), nan.clone()).holds());
            assert!(!claim(Expected::Missing, nan).holds());
        }
    }

    #[test]
    fn a_range_holds_both_of_its_ends_and_nothing_beyond() {
        let span = |low, high| Got::Span { low, high };
        assert!(claim(between(0.0, 1.0), span(0.0, 1.0)).holds());
        assert!(!claim(between(0.0, 1.0), span(0.0, 1.0 + 1e-15)).holds());
        assert!(!claim(between(0.0, 1.0), span(-1e-300, 1.0)).holds());
        assert!(!claim(between(0.0, 1.0), Got::span([])).holds());
    }

    #[test]
    fn a_missing_number_needs_a_reason_and_is_no_number() {
        assert!(claim(Expected::Missing, Got::Missing("all rows are the same".to_string())).holds());
        assert!(!claim(Expected::Missing, Got::Missing(String::new())).holds());
        assert!(!claim(Expected::Missing, Got::Number(1.0)).holds());
        assert!(!claim(near(1.0, 0.5), Got::Missing("why".to_string())).holds());
        let one_missing = Got::span([Got::Number(1.0), Got::Missing("why".to_string())]);
        assert!(!claim(between(0.0, 2.0), one_missing).holds());
    }

    #[test]
    fn other_words_fail() {
        assert!(claim(words("same bits"), Got::Words("same bits".to_string())).holds());
        assert!(!claim(words("same bits"), Got::Words("clid differs".to_string())).holds());
    }

    #[test]
    fn numbers_have_the_digits_of_their_tolerance_and_all_where_they_fail() {
        let holding = claim(near(8.437, 0.0005), Got::Number(8.436930702559378));
        assert_eq!(
            (holding.expected_text(), holding.got_text()),
            ("8.437 ± 0.0005".into(), "8.4369".into())
        );
        let fine = claim(near(8.436930702559378, 1e-9), Got::Number(8.43693070255938));
        assert_eq!(
            (fine.expected_text(), fine.got_text()),
            ("8.436930703 ± 1e-9".into(), "8.436930703".into())
        );
        assert_eq!(claim(near(8.437, 0.0005), Got::Number(8.4376)).got_text(), "8.4376");
        assert_eq!(claim(exactly(9.0), Got::Number(9.0)).expected_text(), "9 exactly");
        assert_eq!(
            claim(between(2.0, f64::INFINITY), Got::Number(3.0)).expected_text(),
            "at least 2"
        );
        assert_eq!(claim(near(10.0, 0.5), Got::Number(10.0)).got_text(), "10");
    }
}
