// SPDX-License-Identifier: MIT
//! `--gate 'equivalent(trustworthiness@10, 0.01)'`: models that must be the same within a margin.
//!
//! The gate passes only where every pair is shown to be the same, so each p-value may be as large as a single one: that all of
//! many true claims hold needs no adjustment.

use anyhow::{Result, bail};
use repscope_core::{Difference, Results};
use repscope_render::{GateLine, number, p_value};

use super::{NONE, refuse_unknown, split_model};
use crate::compare::margin;

const WORD: &str = "equivalent";

#[derive(Debug, PartialEq)]
pub struct Same {
    /// The model of all pairs; `None` for every two models.
    model: Option<String>,
    metric: String,
    within: f64,
}

impl Same {
    /// Whether a gate is one of these.
    pub fn is_one(text: &str) -> bool {
        let rest = text.trim_start().strip_prefix(WORD);
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    }

    /// `equivalent([MODEL:]METRIC, DELTA)`.
    pub fn parse(text: &str) -> Result<Self> {
        let inner = text.trim().strip_prefix(WORD).map(str::trim_start);
        let inner = inner.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        let Some((left, size)) = inner.and_then(|inner| inner.rsplit_once(',')) else {
            bail!("`gate` = {text}: write {WORD}(METRIC, DELTA), such as {WORD}(trustworthiness@10, 0.01)");
        };
        let (model, metric) = split_model(left);
        refuse_unknown(&format!("`gate` = {text}"), metric)?;
        Ok(Same {
            model,
            metric: metric.to_string(),
            within: margin("gate", text, size.trim())?,
        })
    }

    /// How it went for each pair of models that it speaks of.
    pub fn check(&self, results: &Results) -> Vec<GateLine> {
        let names = results.models();
        let mut pairs: Vec<[&str; 2]> = Vec::new();
        for (i, a) in names.iter().enumerate() {
            pairs.extend(names[i + 1..].iter().map(|b| [*a, *b]));
        }
        if let Some(model) = &self.model {
            pairs.retain(|pair| pair.contains(&model.as_str()));
        }
        if pairs.is_empty() {
            let why = match &self.model {
                Some(model) if !names.contains(&model.as_str()) => format!("there is no model `{model}`"),
                _ => format!("two models are needed, and there is {}", names.len()),
            };
            let model = self.model.as_deref().unwrap_or_default();
            return vec![GateLine::failed(self.gate(), model, NONE, why)];
        }
        pairs.into_iter().map(|pair| self.check_pair(pair, results)).collect()
    }

    fn check_pair(&self, [a, b]: [&str; 2], results: &Results) -> GateLine {
        let is_it = |d: &&Difference| d.metric == self.metric && ((d.a == a && d.b == b) || (d.a == b && d.b == a));
        let names = format!("{a}, {b}");
        let Some(d) = results.differences.iter().find(is_it) else {
            let why = format!("the results hold no difference of the two in {}", self.metric);
            return GateLine::failed(self.gate(), &names, NONE, why);
        };
        match d.p_of_equivalence(self.within) {
            Some(p) => {
                let got = format!("{}, {}", number(d.value), p_value(p));
                GateLine::new(self.gate(), &names, got, p <= 1.0 - d.level)
            }
            None => {
                let why = "the error of the difference is unknown";
                GateLine::failed(self.gate(), &names, number(d.value), why)
            }
        }
    }

    fn gate(&self) -> String {
        format!("{WORD}({}, {})", self.metric, self.within)
    }
}

#[cfg(test)]
mod tests {
    use repscope_core::{Better, Score};

    use super::*;

    fn results() -> Results {
        let score = |model: &str, value| Score {
            model: model.to_string(),
            ..Score::number("nmi", value, 100)
        };
        let mut results = Results::from(vec![score("a", 0.5), score("b", 0.501), score("c", 0.6)]);
        let difference = |a: &str, b: &str, value| Difference {
            standard_error: Some(0.002),
            freedom: Some(99.0),
            ..Difference::new("nmi", [a, b], value, Better::Higher, 0.95)
        };
        results.differences = vec![difference("a", "b", -0.001), difference("a", "c", -0.1)];
        results
    }

    #[test]
    fn every_two_models_must_be_the_same_within_the_margin() {
        let same = Same::parse("equivalent(nmi, 0.01)").unwrap();
        let found = same.check(&results());
        let passed: Vec<(&str, bool)> = found.iter().map(|line| (line.model.as_str(), line.passed)).collect();
        assert_eq!(passed, [("a, b", true), ("a, c", false), ("b, c", false)]);
        assert_eq!(found[0].got, "-0.001, p < 0.0001");
        let why = found[2].why.as_deref().unwrap();
        assert!(why.contains("no difference of the two in nmi"), "{why}");
    }

    #[test]
    fn a_gate_may_speak_of_the_pairs_of_one_model() {
        let same = Same::parse("equivalent(b:nmi, 0.01)").unwrap();
        let models: Vec<String> = same.check(&results()).into_iter().map(|line| line.model).collect();
        assert_eq!(models, ["a, b", "b, c"]);
        let unknown = Same::parse("equivalent(z:nmi, 0.01)").unwrap().check(&results());
        assert!(!unknown[0].passed && unknown[0].why.as_deref() == Some("there is no model `z`"));
    }

    #[test]
    fn names_with_brackets_are_metrics_too() {
        let same = Same::parse("equivalent(rankme(variant=paper), 0.5)").unwrap();
        assert_eq!((same.metric.as_str(), same.within), ("rankme(variant=paper)", 0.5));
    }

    #[test]
    fn what_is_no_such_gate_says_what_is_missing() {
        let error = |text: &str| Same::parse(text).unwrap_err().to_string();
        assert!(error("equivalent(nmi)").contains("write equivalent(METRIC, DELTA)"));
        assert!(error("equivalent(nmi, 0)").contains("the margin 0 must be above 0"));
        assert!(error("equivalent(nmi, x)").contains("`x` is not a number"));
        assert!(error("equivalent(nmii, 0.1)").contains("did you mean `nmi`?"));
    }
}
