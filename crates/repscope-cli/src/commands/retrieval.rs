// SPDX-License-Identifier: MIT
//! `repscope retrieval`: document 001 on saved embeddings.

use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::{Analysis, Results, Similarity, Spec, retrieve};
use repscope_render::{Format, retrieval_json, retrieval_readings, retrieval_summary, retrieval_table};

use super::analyses::{MOST_ROWS, spec, start_threads, watched};
use crate::args::Retrieval;
use crate::call;
use crate::outputs::{self, Contents, Delivery};
use crate::retrieval_inputs;

pub fn run(options: &Retrieval) -> Result<ExitCode> {
    if let Some(to) = &options.prototype_texts {
        let written = retrieval_inputs::write_texts(options, to)?;
        if !options.outputs.machine.quiet {
            for warning in &written.warnings {
                outputs::advise(&format!("warning: {warning}"));
            }
            outputs::advise(&format!(
                "{} texts of {} are written to {}",
                written.texts.len(),
                written.source,
                to.display()
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let spec = resolve(options)?;
    if let Some(output) = options.output.as_ref().filter(|o| o.is_dir()) {
        bail!("--output {} is a folder; name a file for the JSON", output.display());
    }
    start_threads(&options.outputs.machine)?;
    let inputs = retrieval_inputs::read(options)?;
    let mut metrics = call::wanted(Analysis::Retrieval.metrics());
    metrics.retain(|m| !(options.first_only && m.reads_whole_ranking()));
    let results = watched(&options.outputs.machine, |driver| {
        Ok(retrieve(&[inputs.retrieval], &metrics, &spec, driver)?)
    })?;
    let is_quiet = options.outputs.machine.quiet;
    let delivery = Delivery {
        command: Analysis::Retrieval.name(),
        folder: "retrieval",
        show: &|results, format| show(results, format, is_quiet),
        extra: options.output.as_deref().map(|path| (path, retrieval_json as Contents)),
    };
    delivery.deliver(&spec, inputs.sources, results, &options.outputs)?;
    Ok(ExitCode::SUCCESS)
}

pub fn resolve(options: &Retrieval) -> Result<Spec> {
    if let Some(k) = options.k_values.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
        bail!("--k-values {k}: K counts the first targets, at least 1 and at most {MOST_ROWS}");
    }
    let mut retrieval_k: Vec<usize> = Vec::new();
    for &k in &options.k_values {
        if !retrieval_k.contains(&k) {
            retrieval_k.push(k);
        }
    }
    // The last of --normalize and --no-normalize counts; clap clears the other.
    let similarity = if options.no_normalize {
        Similarity::Dot
    } else {
        Similarity::Cosine
    };
    Ok(Spec {
        retrieval_k,
        similarity,
        ..spec(&options.outputs)?
    })
}

/// The document's summary, our table, and what the numbers say.
pub fn show(results: &Results, format: Format, is_quiet: bool) -> String {
    if format != Format::Table {
        return retrieval_table(results, format, 0, repscope_render::Color::No);
    }
    let summary = retrieval_summary(results);
    if is_quiet {
        return summary;
    }
    let table = retrieval_table(results, format, outputs::width(), outputs::color());
    let readings: String = retrieval_readings(results)
        .iter()
        .map(|r| item(r, outputs::width()))
        .collect();
    format!("{}\n\n{}\n\n{readings}", summary.trim_end(), table.trim_end())
}

/// An item of a list, broken into lines that fit; later lines stand under the text of the first.
fn item(text: &str, width: usize) -> String {
    let mut lines = vec!["-".to_string()];
    for word in text.split_whitespace() {
        let length = lines.last().map_or(0, |l| l.chars().count());
        match lines.last_mut() {
            Some(line) if length + 1 + word.chars().count() <= width => *line += &format!(" {word}"),
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_broken_under_its_own_text() {
        assert_eq!(item("one two three four", 11), "- one two\n  three\n  four\n");
        assert_eq!(item("short", 80), "- short\n");
    }
}
