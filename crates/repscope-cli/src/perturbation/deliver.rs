// SPDX-License-Identifier: MIT
//! What document 003 asks for: `pis_summary.json`, `detailed_results.json`, LaTeX, charts and examples.

use std::path::Path;

use anyhow::Result;
use repscope_core::{Masking, Results};
use repscope_io::{ResultsDocument, write_gray_png, write_whole};
use repscope_render::{
    Finding, Format, perturb_details, perturb_findings, perturb_latex, perturb_summary, perturb_table,
};
use serde::{Deserialize, Serialize};

use super::pictures::masked;
use super::tree::Tree;
use crate::args::{FigureOptions, Outputs};
use crate::outputs::{self, Finished, Written, advise};

/// The folder of its files.
pub const FOLDER: &str = "perturbation_analysis";

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

/// What the checks of the document need to know of a run. Its results document keeps it, for `repscope report`.
#[derive(Serialize, Deserialize)]
pub struct Checks {
    /// What stands behind the names of sets in the document's files.
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

    pub fn findings(&self, results: &Results) -> Vec<Finding> {
        perturb_findings(results, &self.expected, &self.wanted)
    }

    /// The scores with what was found.
    pub fn table(&self, results: &Results, format: Format) -> String {
        let findings = self.findings(results);
        perturb_table(results, &findings, format, outputs::width(), outputs::color())
    }
}

/// Prints the results and writes all files.
pub fn deliver(finished: &Finished, checks: &Checks, examples: &[Example], to: &Outputs) -> Result<()> {
    let written = write(finished, checks, examples, &to.output_dir, &to.figures)?;
    finished.write_document(&to.output_dir)?;
    if !to.machine.quiet {
        outputs::warn(&finished.results.warnings);
    }
    outputs::show(finished, to.json, to.format, &|results, format| {
        checks.table(results, format)
    })?;
    if !to.machine.quiet {
        advise(&format!(
            "pis_summary.json, detailed_results.json, {} are in {}",
            written.in_words("results.json"),
            to.output_dir.join(FOLDER).display()
        ));
    }
    Ok(())
}

/// Writes all files into the folder of the analysis.
pub fn write(
    finished: &Finished,
    checks: &Checks,
    examples: &[Example],
    root: &Path,
    figures: &FigureOptions,
) -> Result<Written> {
    let results = &finished.results;
    let folder = root.join(FOLDER);
    let written = finished.write_files(root, figures)?;
    let text = |name: &str, contents: &str| write_whole(&folder.join(name), contents.as_bytes());
    text(
        "pis_summary.json",
        &perturb_summary(results, &checks.suffix, &checks.findings(results)),
    )?;
    text(
        "detailed_results.json",
        &perturb_details(results, &checks.suffix, &finished.document.spec),
    )?;
    text(
        "config.json",
        &(serde_json::to_string_pretty(&finished.document.spec)? + "\n"),
    )?;
    for (name, contents) in perturb_latex(results, &checks.suffix) {
        text(&name, &contents)?;
    }
    for example in examples {
        let path = folder.join("example_perturbations").join(&example.name);
        write_gray_png(&path, example.size, &example.pixels)?;
    }
    finished.write_document(&folder)?;
    Ok(written)
}
