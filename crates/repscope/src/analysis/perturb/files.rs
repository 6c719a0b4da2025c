// SPDX-License-Identifier: MIT
//! The files of a perturbation analysis: `pis_summary.json`, `detailed_results.json`, LaTeX, charts and examples.

use std::path::Path;

use anyhow::Result;
use repscope_core::{Masking, Results};
use repscope_io::{ResultsDocument, write_gray_png, write_whole};
use repscope_render::{Finding, perturb_details, perturb_findings, perturb_latex, perturb_summary};
use serde::{Deserialize, Serialize};

use super::pictures::masked;
use super::tree::Tree;
use crate::report::Report;

/// An image to show.
pub struct Example {
    name: String,
    size: (usize, usize),
    pixels: Vec<u8>,
}

/// The first image that has lit pixels, as it is and masked in every way.
pub fn examples(tree: &Tree, maskings: &[Masking], suffix: &str) -> Result<Vec<Example>> {
    let size = (tree.images.shape()[0], tree.images.shape()[1]);
    for &row in &tree.rows {
        let (pixels, masked) = masked(&tree.images, row, maskings)?;
        if pixels.iter().all(|&pixel| pixel == 0) {
            continue;
        }
        let example = |name: String, pixels: Vec<u8>| Example { name, size, pixels };
        let stem = tree.images.names()[row].replace('/', "_");
        let stem = stem
            .rsplit_once('.')
            .map_or(stem.as_str(), |(stem, _)| stem)
            .to_string();
        let mut examples = vec![example(format!("{stem}_original.png"), pixels)];
        for (masking, masked) in maskings.iter().zip(masked) {
            examples.push(example(
                format!("{stem}_{}_{suffix}.png", masking.name()),
                masked.pixels,
            ));
        }
        return Ok(examples);
    }
    Ok(Vec::new())
}

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
        serde_json::from_value(document.spec.get("checks")?.clone()).ok()
    }

    /// Which checks hold, which do not, and which are open.
    pub fn findings(&self, results: &Results) -> Vec<Finding> {
        perturb_findings(results, &self.expected, &self.wanted)
    }

    /// Writes the summaries, the options and the tables for papers into the folder of the analysis.
    pub(crate) fn write(&self, report: &Report, folder: &Path) -> Result<()> {
        let (results, spec) = (&report.results, &report.document.spec);
        let text = |name: &str, contents: &str| write_whole(&folder.join(name), contents.as_bytes());
        let summary = perturb_summary(results, &self.suffix, &self.findings(results));
        text("pis_summary.json", &summary)?;
        text("detailed_results.json", &perturb_details(results, &self.suffix, spec))?;
        text("config.json", &(serde_json::to_string_pretty(spec)? + "\n"))?;
        for (name, contents) in perturb_latex(results, &self.suffix) {
            text(&name, &contents)?;
        }
        Ok(())
    }
}

/// Writes images to show.
pub(super) fn write_examples(examples: &[Example], folder: &Path) -> Result<()> {
    for example in examples {
        let path = folder.join("example_perturbations").join(&example.name);
        write_gray_png(&path, example.size, &example.pixels)?;
    }
    Ok(())
}
