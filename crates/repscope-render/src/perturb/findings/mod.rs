// SPDX-License-Identifier: MIT
//! The checks of perturbation impact, answered with numbers. A check that does not hold is a finding about the model or
//! the data, never an error.

mod level;
mod monotonicity;
mod ordering;

use super::Run;
use crate::numbers::number;
use repscope_core::Results;

/// How far an accuracy may be from one that was stated with four digits.
const ROUNDING: f64 = 5e-5;
/// What is left of a difference in binary.
const BINARY: f64 = 1e-12;

/// The answer to one check.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What was asked: `monotonicity of top`.
    pub check: String,
    /// Whether it holds; `None` where the data cannot tell.
    pub holds: Option<bool>,
    /// The numbers that say so.
    pub evidence: String,
}

impl Finding {
    fn new(check: impl Into<String>, holds: Option<bool>, evidence: impl Into<String>) -> Self {
        Finding {
            check: check.into(),
            holds,
            evidence: evidence.into(),
        }
    }
}

/// Answers the checks. `expected` are accuracies without perturbation that were stated elsewhere, by head;
/// `complete` are the names of the sets that were asked for.
pub fn perturb_findings(results: &Results, expected: &[(String, f64)], complete: &[String]) -> Vec<Finding> {
    let Some(run) = Run::first(results) else {
        return vec![Finding::new(
            "completeness",
            None,
            "there are no scores of perturbed inputs",
        )];
    };
    let mut findings = vec![baseline(&run, expected), completeness(&run, complete)];
    findings.extend(
        run.families()
            .iter()
            .map(|family| monotonicity::monotonicity(&run, family)),
    );
    findings.extend(ordering::ordering(&run));
    findings.push(level::sanity(&run));
    findings.push(level::saturation(&run));
    findings
}

/// Are the accuracies without perturbation those that were stated?
fn baseline(run: &Run, expected: &[(String, f64)]) -> Finding {
    let check = "baseline match";
    if expected.is_empty() {
        return Finding::new(check, None, "no accuracies were given to compare with");
    }
    let mut holds = Some(true);
    let mut words = Vec::new();
    for (head, stated) in expected {
        let Some(value) = run.baseline(head).and_then(|score| score.value) else {
            holds = holds.filter(|holds| !holds);
            words.push(format!(
                "{head} has no accuracy to compare with {}; the heads are {}",
                number(*stated),
                run.heads.join(", ")
            ));
            continue;
        };
        let difference = (value - stated).abs();
        let is_same = difference <= ROUNDING + BINARY;
        if !is_same {
            holds = Some(false);
        }
        words.push(if is_same {
            format!("{head} {value:.5} is the stated {}", number(*stated))
        } else {
            format!(
                "{head} {value:.5} is {difference:.5} from the stated {}",
                number(*stated)
            )
        });
    }
    Finding::new(check, holds, words.join("; "))
}

/// Does every set that was asked for have an accuracy for every head?
fn completeness(run: &Run, complete: &[String]) -> Finding {
    let check = "completeness";
    if complete.is_empty() {
        return Finding::new(
            check,
            None,
            format!("{} sets; no list of sets was given", run.sets.len()),
        );
    }
    let is_there = |set: &&String| {
        let of = |head: &String| run.accuracy(head, set).is_some_and(|score| score.value.is_some());
        run.heads.iter().all(of)
    };
    let (there, missing): (Vec<&String>, Vec<&String>) = complete.iter().partition(is_there);
    let mut evidence = format!("{} of {} sets", there.len(), complete.len());
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.into_iter().map(String::as_str).collect();
        evidence += &format!("; missing: {}", missing.join(", "));
    }
    Finding::new(check, Some(there.len() == complete.len()), evidence)
}

/// `1, 2 and 5 %`.
fn percents(percents: &[f64]) -> String {
    let written: Vec<String> = percents.iter().map(f64::to_string).collect();
    format!("{} %", and(&written))
}

/// `a, b and c`.
fn and(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{of_document, one_head};
    use super::*;

    fn stated(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        values.iter().map(|(head, value)| (head.to_string(), *value)).collect()
    }

    fn of(results: &Results, expected: &[(&str, f64)], check: &str) -> Finding {
        let findings = perturb_findings(results, &stated(expected), &[]);
        findings.into_iter().find(|finding| finding.check == check).unwrap()
    }

    #[test]
    fn a_baseline_matches_within_the_rounding_of_four_digits() {
        let mut results = of_document();
        super::super::testdata::change(&mut results, "accuracy.combined@baseline", 0.51257, None);
        let finding = of(&results, &[("combined", 0.5126), ("snr", 0.6871)], "baseline match");
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "combined 0.51257 is the stated 0.5126; snr 0.68710 is the stated 0.6871"
        );
        let finding = of(&results, &[("combined", 0.5127), ("snr", 0.6871)], "baseline match");
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding
                .evidence
                .starts_with("combined 0.51257 is 0.00013 from the stated 0.5127"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_baseline_that_cannot_be_compared_is_open() {
        assert_eq!(of(&of_document(), &[], "baseline match").holds, None);
        let unknown = of(&of_document(), &[("phase", 0.5)], "baseline match");
        assert_eq!(unknown.holds, None);
        assert!(
            unknown.evidence.contains("the heads are combined, modulation, snr"),
            "{unknown:?}"
        );
        // One that differs decides, whatever the others are.
        let both = of(&of_document(), &[("snr", 0.5), ("phase", 0.5)], "baseline match");
        assert_eq!(both.holds, Some(false));
    }

    #[test]
    fn missing_sets_are_named() {
        let asked = ["top1", "top5", "top2", "bottom3"].map(str::to_string);
        let findings = perturb_findings(&of_document(), &[], &asked);
        assert_eq!(
            findings[1],
            Finding::new("completeness", Some(false), "2 of 4 sets; missing: top2, bottom3")
        );
        let findings = perturb_findings(&of_document(), &[], &asked[..2]);
        assert_eq!(findings[1], Finding::new("completeness", Some(true), "2 of 2 sets"));
    }

    #[test]
    fn every_check_is_answered_once() {
        let checks = |results: &Results| -> Vec<String> {
            let findings = perturb_findings(results, &[], &[]);
            findings.into_iter().map(|finding| finding.check).collect()
        };
        assert_eq!(
            checks(&of_document()),
            [
                "baseline match",
                "completeness",
                "monotonicity of top",
                "monotonicity of bottom",
                "monotonicity of random",
                "ordering of combined",
                "ordering of modulation",
                "ordering of snr",
                "sanity",
                "saturation",
            ]
        );
        assert_eq!(
            checks(&one_head()),
            [
                "baseline match",
                "completeness",
                "monotonicity of top",
                "ordering of digit",
                "sanity",
                "saturation"
            ]
        );
        assert_eq!(checks(&Results::default()), ["completeness"]);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(percents(&[0.5, 1.0, 5.0]), "0.5, 1 and 5 %");
        assert_eq!([and(&[]), and(&["a".to_string()])], ["", "a"]);
    }
}
