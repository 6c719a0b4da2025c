// SPDX-License-Identifier: MIT
//! A claim: what a metric must give, what it gave, and where the expectation comes from.

use anyhow::{Result, bail};
use repscope_core::metrics::find;
use repscope_core::run::{Driver, Order};
use repscope_core::{ClidSpec, ClusterCount, Results, Score, Space, Spec, Study, evaluate};
use repscope_render::number;

use super::references::Reference;

/// One line of the evidence.
pub struct Claim {
    /// What is claimed, in words.
    pub name: String,
    pub expected: Expected,
    pub got: Got,
    pub evidence: Evidence,
    /// Why the expected value is right, in a sentence.
    pub because: String,
    pub cites: &'static [Reference],
}

/// What must come out. It never comes from the code that is checked.
pub enum Expected {
    /// This number, up to the tolerance (0: to the bit).
    Near { value: f64, tolerance: f64 },
    /// Anything from `low` to `high`.
    Between { low: f64, high: f64 },
    /// No number, but a reason for that.
    Missing,
    /// Exactly these words.
    Words(&'static str),
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

/// How the expected value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Document 002's validation run prints it.
    Printed,
    /// Another program computes it.
    Computed(&'static str),
    /// A closed formula gives it.
    Formula,
    /// A calculation on paper gives it.
    Hand,
    /// It follows from the definition.
    Proof,
    /// The data were drawn that way.
    Construction,
}

pub fn near(value: f64, tolerance: f64) -> Expected {
    Expected::Near { value, tolerance }
}

pub fn exactly(value: f64) -> Expected {
    Expected::Near { value, tolerance: 0.0 }
}

pub fn between(low: f64, high: f64) -> Expected {
    Expected::Between { low, high }
}

impl Claim {
    pub fn new(name: impl Into<String>) -> Self {
        Claim {
            name: name.into(),
            expected: Expected::Missing,
            got: Got::Words(String::new()),
            evidence: Evidence::Proof,
            because: String::new(),
            cites: &[],
        }
    }

    /// What must come out, and what came out.
    pub fn expect(self, expected: Expected, got: Got) -> Self {
        Claim { expected, got, ..self }
    }

    /// Where the expectation comes from.
    pub fn since(self, evidence: Evidence, cites: &'static [Reference]) -> Self {
        Claim {
            evidence,
            cites,
            ..self
        }
    }

    /// Why the expected value is right, in a sentence.
    pub fn because(self, because: impl Into<String>) -> Self {
        let because = because.into();
        Claim { because, ..self }
    }

    pub fn holds(&self) -> bool {
        match (&self.expected, &self.got) {
            // A NaN compares as false, and so fails.
            (Expected::Near { value, tolerance }, Got::Number(got)) => (got - value).abs() <= *tolerance,
            (Expected::Between { low, high }, Got::Number(got)) => low <= got && got <= high,
            (Expected::Between { low, high }, Got::Span { low: least, high: most }) => low <= least && most <= high,
            (Expected::Missing, Got::Missing(reason)) => !reason.is_empty(),
            (Expected::Words(words), Got::Words(got)) => got == words,
            _ => false,
        }
    }

    pub fn verdict(&self) -> &'static str {
        if self.holds() { "holds" } else { "FAILS" }
    }

    pub fn expected_text(&self) -> String {
        match &self.expected {
            Expected::Near { value, tolerance: 0.0 } => format!("{value} exactly"),
            Expected::Near { value, tolerance } => {
                format!("{} ± {}", rounded(*value, *tolerance), tolerance_text(*tolerance))
            }
            Expected::Between { low, high } if *high == f64::INFINITY => format!("at least {}", number(*low)),
            Expected::Between { low, high } if *low == f64::NEG_INFINITY => format!("at most {}", number(*high)),
            Expected::Between { low, high } => format!("{} to {}", number(*low), number(*high)),
            Expected::Missing => "none, with a reason".to_string(),
            Expected::Words(words) => (*words).to_string(),
        }
    }

    /// As many digits as the tolerance deserves; all of them where the claim fails.
    pub fn got_text(&self) -> String {
        let digits = |x: f64| match self.expected {
            _ if !self.holds() => x.to_string(),
            Expected::Near { tolerance, .. } if tolerance > 0.0 => rounded(x, tolerance),
            Expected::Near { .. } => x.to_string(),
            _ => number(x),
        };
        match &self.got {
            Got::Number(x) => digits(*x),
            Got::Span { low, high } if low == high => digits(*low),
            Got::Span { low, high } => format!("{} to {}", digits(*low), digits(*high)),
            Got::Missing(reason) => format!("none: {reason}"),
            Got::Words(words) => words.clone(),
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

impl Evidence {
    /// In a word.
    pub fn label(self) -> &'static str {
        match self {
            Evidence::Printed => "printed",
            Evidence::Computed(program) => program,
            Evidence::Formula => "formula",
            Evidence::Hand => "by hand",
            Evidence::Proof => "proof",
            Evidence::Construction => "by design",
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

/// The model that all studies here speak of.
const MODEL: &str = "example";

/// Document 002's RankMe.
pub const SPEC: &str = "rankme(variant=spec)";
/// The paper's RankMe.
pub const PAPER: &str = "rankme(variant=paper)";
/// The metrics of a spectrum.
pub const RANKS: &[&str] = &["rankme", "numerical_rank", "participation_ratio", "stable_rank"];

/// What the metrics answered for one model.
pub struct Scores(Results);

impl Scores {
    /// The metrics with these names, of codes alone.
    pub fn of(codes: Space, metrics: &[&str], spec: &Spec) -> Result<Self> {
        Scores::of_study(Study::new(MODEL, codes), metrics, spec)
    }

    pub fn of_study(study: Study, metrics: &[&str], spec: &Spec) -> Result<Self> {
        Ok(Scores(run(&[study], metrics, spec, Order::Parallel)?))
    }

    pub fn got(&self, id: &str) -> Got {
        match self.score(id) {
            Some(score) => Got::from(score),
            None => Got::Missing(format!("there is no score {id}")),
        }
    }

    /// The number of rows that a score speaks of.
    pub fn rows(&self, id: &str) -> Got {
        match self.score(id) {
            Some(score) => Got::Number(score.n as f64),
            None => Got::Missing(format!("there is no score {id}")),
        }
    }

    /// What is said beside the number.
    pub fn note(&self, id: &str) -> String {
        self.score(id).and_then(|s| s.note.clone()).unwrap_or_default()
    }

    fn score(&self, id: &str) -> Option<&Score> {
        self.0.scores.iter().find(|s| s.metric == id)
    }
}

/// The metrics with these names, of several models in any order of work.
pub fn run(studies: &[Study], metrics: &[&str], spec: &Spec, order: Order) -> Result<Results> {
    let mut found = Vec::new();
    for name in metrics {
        let Some((metric, _)) = find(name) else {
            bail!("there is no metric `{name}`");
        };
        found.push(metric);
    }
    Ok(evaluate(studies, &found, spec, &Driver::silent(order))?)
}

/// Document 002's CLID with this many clusters and voters.
pub fn clid(clusters: usize, k: usize) -> Spec {
    Spec {
        clid: ClidSpec {
            clusters: ClusterCount::Of(clusters),
            k,
            ..ClidSpec::SPEC
        },
        ..Spec::default()
    }
}

/// The metrics with these names, of each of several data sets.
pub fn of_each(sets: &[Space], metrics: &[&str], spec: &Spec) -> Result<Vec<Scores>> {
    sets.iter().map(|set| Scores::of(set.clone(), metrics, spec)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(expected: Expected, got: Got) -> Claim {
        Claim::new("a claim").expect(expected, got)
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
        assert!(claim(Expected::Words("same bits"), Got::Words("same bits".to_string())).holds());
        assert!(!claim(Expected::Words("same bits"), Got::Words("clid differs".to_string())).holds());
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
