// SPDX-License-Identifier: MIT
//! The evidence that the metrics of the CLID / RankMe specification are right: claims with known answers, computed anew on every run.
//!
//! A [`Claim`] is checked against a printed value, another program, a formula, a calculation by hand or a proof, never
//! against the code that it checks. `data` holds what the claims speak of, one file per group holds the claims, and
//! `table` shows them.

mod by_hand;
mod claim;
mod constraints;
mod data;
mod dimension;
mod document;
mod edge_cases;
mod invariance;
mod literature;
mod rank;
mod references;
mod table;

use std::path::Path;

use anyhow::Result;

use claim::Claim;
use data::Examples;
use references::Reference;

pub use table::{markdown, table};

/// All claims, by what they rest on.
pub struct Report {
    pub groups: Vec<Group>,
    /// Where the two files of the CLID / RankMe specification come from.
    pub examples: String,
}

/// Claims of one kind.
pub struct Group {
    pub title: &'static str,
    pub about: &'static str,
    pub claims: Vec<Claim>,
}

/// Computes every claim, on the shipped examples or on those of a folder.
pub fn validate(folder: Option<&Path>) -> Result<Report> {
    let examples = match folder {
        Some(folder) => Examples::in_folder(folder)?,
        None => Examples::shipped()?,
    };
    Ok(Report {
        groups: vec![
            document::group(&examples)?,
            literature::group(&examples)?,
            rank::group()?,
            dimension::group(&examples)?,
            by_hand::group()?,
            constraints::group()?,
            invariance::group()?,
            edge_cases::group()?,
        ],
        examples: match folder {
            Some(folder) => format!("blobs.npy and matrix.npy of {}", folder.display()),
            None => "the files built into repscope".to_string(),
        },
    })
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

    /// What the claims cite, in the order in which they do.
    fn references(&self) -> Vec<Reference> {
        let mut cited: Vec<Reference> = Vec::new();
        for reference in self.claims().flat_map(|claim| claim.cites) {
            if !cited.contains(reference) {
                cited.push(*reference);
            }
        }
        cited
    }

    /// How the expectation of a claim is known: `by hand [3]`.
    fn source(&self, claim: &Claim) -> String {
        let cited = self.references();
        let mut source = claim.evidence.label().to_string();
        for (i, _) in cited.iter().enumerate().filter(|(_, r)| claim.cites.contains(r)) {
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
                "evidence": claim.evidence.label(),
                "because": claim.because,
                "references": claim.cites.iter().map(|r| r.0).collect::<Vec<_>>(),
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
            "differences": references::DIFFERENCES,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::claim::{Got, near};
    use super::*;

    pub(super) fn with_a_failing_claim() -> Report {
        Report {
            groups: vec![Group {
                title: "Two claims",
                about: "One of them fails.",
                claims: vec![
                    Claim::new("one is one").expect(near(1.0, 1e-9), Got::Number(1.0)),
                    Claim::new("two is a|b").expect(near(2.0, 0.0005), Got::Number(2.25)),
                ],
            }],
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
    fn every_claim_says_why_it_is_expected() {
        for claim in validate(None).unwrap().claims() {
            assert!(!claim.because.is_empty(), "{}", claim.name);
        }
    }
}
