// SPDX-License-Identifier: MIT
//! The files of a perturbation analysis: `pis_summary.json`, `detailed_results.json` and LaTeX.

use std::path::Path;

use anyhow::Result;
use repscope_core::Results;
use repscope_io::{ResultsDocument, write_whole};
use repscope_render::{Finding, perturb_details, perturb_findings, perturb_latex, perturb_summary};
use serde::{Deserialize, Serialize};

use crate::report::Report;

/// What the checks of a perturbation analysis need to know of a run. Its results document keeps it, for `repscope report`.
#[derive(Serialize, Deserialize)]
pub struct Checks {
    /// What stands behind the names of sets in files.
    pub suffix: String,
    /// The accuracies without perturbation that the user expects.
    pub expected: Vec<(String, f64)>,
    /// The sets that were asked for.
    pub wanted: Vec<String>,
}

impl Checks {
    /// Those that a results document keeps.
    pub fn of(document: &ResultsDocument) -> Option<Self> {
        // Those of an evaluation of several analyses stand under the name of this one.
        let own = || document.spec.get("analyses")?.get("perturb")?.get("checks");
        serde_json::from_value(document.spec.get("checks").or_else(own)?.clone()).ok()
    }

    /// Which checks hold, which do not, and which are open.
    pub fn findings(&self, results: &Results) -> Vec<Finding> {
        perturb_findings(results, &self.expected, &self.wanted)
    }

    /// Writes the summaries, the tables and the sentences for papers into the folder of the analysis.
    pub(crate) fn write(&self, report: &Report, folder: &Path) -> Result<()> {
        let (results, spec) = (&report.results, &report.document.spec);
        let text = |name: &str, contents: &str| write_whole(&folder.join(name), contents.as_bytes());
        let summary = perturb_summary(results, &self.suffix, &self.findings(results));
        text("pis_summary.json", &summary)?;
        text("detailed_results.json", &perturb_details(results, &self.suffix, spec))?;
        for (name, contents) in perturb_latex(results, &self.suffix) {
            text(&name, &contents)?;
        }
        Ok(())
    }
}
