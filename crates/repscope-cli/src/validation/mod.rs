// SPDX-License-Identifier: MIT
//! The evidence that CLID, RankMe and their companions are right: claims with known answers, computed anew on every run.
//!
//! A [`Claim`] is checked against a printed value, another program, a formula, a calculation by hand or a proof, never
//! against the code that it checks. The claims are data (`validation/claims.toml`), `values` computes what they look up, `data`
//! holds what that is computed of, and `table` shows them.

mod claim;
mod data;
mod table;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use claim::Claim;
use data::Examples;

pub use table::{markdown, table};

const CLAIMS: &str = include_str!("../../validation/claims.toml");

/// All claims, by what they rest on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    #[serde(rename = "group")]
    pub groups: Vec<Group>,
    /// What claims cite, by the names that they use.
    references: BTreeMap<String, String>,
    /// What differs between the specification and the literature, a paragraph each.
    differences: Vec<String>,
    /// Where the two files of the specification come from.
    #[serde(skip)]
    pub examples: String,
}

/// Claims of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub title: String,
    pub about: String,
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// Computes every claim, on the shipped examples or on those of a folder.
pub fn validate(folder: Option<&Path>) -> Result<Report> {
    let examples = match folder {
        Some(folder) => Examples::in_folder(folder)?,
        None => Examples::shipped()?,
    };
    let values = values::compute(&examples)?;
    let mut report: Report = toml::from_str(CLAIMS).context("reading the claims")?;
    for claim in report.groups.iter_mut().flat_map(|group| &mut group.claims) {
        claim.got = values.get(&claim.of)?;
    }
    report.examples = match folder {
        Some(folder) => format!("blobs.npy and matrix.npy of {}", folder.display()),
        None => "the files built into repscope".to_string(),
    };
    Ok(report)
}

impl Report {
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.groups.iter().flat_map(|group| &group.claims)
    }

    pub fn failing(&self) -> Vec<&Claim> {
        self.claims().filter(|claim| !claim.holds()).collect()
    }

    /// `All 70 claims hold.`, or how many do not.
    pub fn summary(&self) -> String {
        let (all, failing) = (self.claims().count(), self.failing().len());
        match failing {
            0 => format!("All {all} claims hold."),
            1 => format!("1 of {all} claims FAILS."),
            _ => format!("{failing} of {all} claims FAIL."),
        }
    }

    /// The names of what the claims cite, in the order in which they do.
    fn cited(&self) -> Vec<&String> {
        let mut cited: Vec<&String> = Vec::new();
        for name in self.claims().flat_map(|claim| &claim.cites) {
            if !cited.contains(&name) {
                cited.push(name);
            }
        }
        cited
    }

    /// What the claims cite, in the order in which they do.
    fn references(&self) -> Vec<&str> {
        self.cited().into_iter().map(|name| self.reference(name)).collect()
    }

    fn reference<'a>(&'a self, name: &'a str) -> &'a str {
        self.references.get(name).map_or(name, String::as_str)
    }

    /// How the expectation of a claim is known: `by hand [3]`.
    fn source(&self, claim: &Claim) -> String {
        let mut source = claim.evidence.clone();
        for (i, _) in self
            .cited()
            .iter()
            .enumerate()
            .filter(|(_, name)| claim.cites.contains(name))
        {
            source += &format!(" [{}]", i + 1);
        }
        source
    }

    /// The claims for programs.
    pub fn json(&self) -> serde_json::Value {
        let claim = |group: &Group, claim: &Claim| {
            serde_json::json!({
                "group": group.title,
                "claim": claim.name,
                "expected": claim.expected_text(),
                "got": claim.got_text(),
                "value": claim.got.number(),
                "verdict": claim.verdict(),
                "holds": claim.holds(),
                "evidence": claim.evidence,
                "because": claim.because,
                "references": claim.cites.iter().map(|name| self.reference(name)).collect::<Vec<_>>(),
            })
        };
        let claims = self
            .groups
            .iter()
            .flat_map(|g| g.claims.iter().map(move |c| claim(g, c)));
        serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "examples": self.examples,
            "summary": self.summary(),
            "failing": self.failing().len(),
            "claims": claims.collect::<Vec<_>>(),
            "differences": self.differences,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::claim::{Expected, Got, claimed};
    use super::*;

    pub(super) fn with_a_failing_claim() -> Report {
        Report {
            groups: vec![Group {
                title: "Two claims".to_string(),
                about: "One of them fails.".to_string(),
                claims: vec![
                    claimed("one is one", Expected::Near(1.0, 1e-9), Got::Number(1.0)),
                    claimed("two is a|b", Expected::Near(2.0, 0.0005), Got::Number(2.25)),
                ],
            }],
            references: BTreeMap::new(),
            differences: Vec::new(),
            examples: "nothing".to_string(),
        }
    }

    #[test]
    fn a_failing_claim_is_counted_and_named() {
        let report = with_a_failing_claim();
        assert_eq!(report.summary(), "1 of 2 claims FAILS.");
        let names: Vec<&str> = report.failing().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["two is a|b"]);
        assert_eq!(report.json()["claims"][1]["verdict"], "FAILS");
        assert_eq!(report.json()["claims"][0]["verdict"], "holds");
    }

    #[test]
    fn every_claim_says_why_it_is_expected_and_cites_what_is_listed() {
        let report = validate(None).unwrap();
        for claim in report.claims() {
            assert!(!claim.because.is_empty(), "{}", claim.name);
            for cited in &claim.cites {
                assert!(report.references.contains_key(cited), "{}: {cited}", claim.name);
            }
        }
        assert_eq!(
            report.references.len(),
            report.cited().len(),
            "what nobody cites is not listed"
        );
    }
}
