// SPDX-License-Identifier: MIT
//! What document 003 asks for: `pis_summary.json`, `detailed_results.json`, LaTeX, charts and examples.

use anyhow::Result;
use repscope_core::Masking;
use repscope_io::{write_grey_png, write_whole};
use repscope_report::{perturb_details, perturb_findings, perturb_latex, perturb_summary, perturb_table};

use super::pictures::masked;
use super::tree::Tree;
use crate::args::Outputs;
use crate::outputs::{self, Finished, advise};

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

/// What is delivered beside the results.
pub struct Parts<'a> {
    pub suffix: &'a str,
    /// The accuracies without perturbation that the user expects.
    pub expected: &'a [(String, f64)],
    /// The sets that were asked for.
    pub wanted: &'a [String],
    pub examples: &'a [Example],
}

impl Parts<'_> {
    /// Prints the results and writes all files.
    pub fn deliver(&self, finished: &Finished, to: &Outputs) -> Result<()> {
        let results = &finished.results;
        let findings = perturb_findings(results, self.expected, self.wanted);
        let folder = to.output_dir.join(FOLDER);
        let written = finished.write_files(&to.output_dir, &to.figures)?;
        let text = |name: &str, contents: &str| write_whole(&folder.join(name), contents.as_bytes());
        text("pis_summary.json", &perturb_summary(results, self.suffix, &findings))?;
        text(
            "detailed_results.json",
            &perturb_details(results, self.suffix, &finished.document.spec),
        )?;
        text(
            "config.json",
            &(serde_json::to_string_pretty(&finished.document.spec)? + "\n"),
        )?;
        for (name, contents) in perturb_latex(results, self.suffix) {
            text(&name, &contents)?;
        }
        for example in self.examples {
            let path = folder.join("example_perturbations").join(&example.name);
            write_grey_png(&path, example.size, &example.pixels)?;
        }
        finished.write_document(&folder)?;
        finished.write_document(&to.output_dir)?;
        if !to.machine.quiet {
            outputs::warn(&results.warnings);
        }
        outputs::show(finished, to.json, to.format, &|results, format| {
            perturb_table(results, &findings, format, outputs::width(), outputs::color())
        })?;
        if !to.machine.quiet {
            advise(&format!(
                "pis_summary.json, detailed_results.json, {} are in {}",
                written.in_words("results.json"),
                folder.display()
            ));
        }
        Ok(())
    }
}
