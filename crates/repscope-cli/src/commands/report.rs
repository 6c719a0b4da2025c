// SPDX-License-Identifier: MIT
//! `repscope report results.json`: everything that can be drawn from a results document, without computing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::{Analysis, ClidSpec, Results, Spec};
use repscope_io::{ResultsDocument, write_whole};
use repscope_render::{ClidRun, Format, clid_table, render};
use serde::Deserialize;

use super::analyses::start_threads;
use super::compare::{self, COMPARE};
use super::{etes, evaluate, retrieval};
use crate::args::{Machine, Report};
use crate::evaluation::{folder, folder_of};
use crate::outputs::{self, Finished, advise};
use crate::perturbation::deliver::Checks;
use crate::report_page;

pub fn run(options: &Report) -> Result<ExitCode> {
    start_threads(&Machine {
        threads: options.threads,
        memory: None,
        quiet: options.quiet,
    })?;
    let path = if options.document.is_dir() {
        options.document.join("results.json")
    } else {
        options.document.clone()
    };
    let document = ResultsDocument::read(&path)?;
    if document.scores.is_empty() {
        bail!("{} holds no scores, so there is nothing to draw", path.display());
    }
    let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let analysis = report_page::analysis_of(&document.command);
    let finished = folder::with_samples(document, &beside, false)?;
    if !options.quiet && finished.results.samples.is_empty() && analysis.is_none_or(folder::has_samples) {
        advise(&format!(
            "warning: {} is not there: what is drawn from single samples (scatter plots, maps, CSV files of pairs) is \
             left out",
            beside.join("samples.npz").display()
        ));
    }
    let is_comparison = finished.document.command == COMPARE;
    let own_folder = if is_comparison {
        Some(COMPARE)
    } else {
        analysis.map(folder_of)
    };
    let root = options.output_dir.clone().unwrap_or_else(|| root(&beside, own_folder));
    let written = finished.write_all(&root, &options.figures)?;
    let (home, page) = match is_comparison {
        true => (root.join(COMPARE), root.join(COMPARE)),
        // Beside the document, so that the page of one analysis does not replace that of all.
        false => (root, options.output_dir.clone().unwrap_or(beside)),
    };
    let page = page.join("report.html");
    write_whole(&page, report_page::html(&finished).as_bytes())?;
    if !options.quiet {
        outputs::warn(&finished.results.warnings);
    }
    outputs::show(&finished, options.json, options.format, &|results, format| {
        table(&finished, results, format, options.quiet)
    })?;
    if !options.quiet {
        advise(&format!(
            "{} are in {}",
            written.in_words("report.html"),
            home.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The output folder of the run that wrote a document: an analysis has a folder of its own in it, as `compare` has.
fn root(beside: &Path, own_folder: Option<&str>) -> PathBuf {
    let is_own = |folder: &str| beside.file_name().is_some_and(|name| name == folder);
    match own_folder.filter(|folder| is_own(folder)) {
        Some(_) => beside.parent().unwrap_or(Path::new("")).to_path_buf(),
        None => beside.to_path_buf(),
    }
}

/// The scores in the form of the command that made them.
pub fn table(finished: &Finished, results: &Results, format: Format, is_quiet: bool) -> String {
    match report_page::analysis_of(&finished.document.command) {
        None if finished.document.command == COMPARE => {
            compare::table(results, compare::reference(&finished.document), format)
        }
        None => evaluate::table(results, format),
        Some(Analysis::Retrieval) => retrieval::show(results, format, is_quiet),
        Some(Analysis::Etes) => etes::show(results, format),
        Some(Analysis::Clid) => clid(&finished.document, results, format),
        Some(Analysis::Perturb) => match Checks::of(&finished.document) {
            Some(checks) => checks.table(results, format),
            None => render(results, format, outputs::width(), outputs::color()),
        },
        Some(_) => render(results, format, outputs::width(), outputs::color()),
    }
}

/// The scores with the steps of CLID, which the document names.
fn clid(document: &ResultsDocument, results: &Results, format: Format) -> String {
    let (width, color) = (outputs::width(), outputs::color());
    let (Some(steps), Some(level)) = (steps(&document.spec["clid"]), document.spec["level"].as_f64()) else {
        return render(results, format, width, color);
    };
    let (preset, preset_steps) = match document.spec["preset"].as_str() {
        Some("paper") => ("paper", ClidSpec::PAPER),
        _ => ("spec", ClidSpec::SPEC),
    };
    let spec = Spec {
        clid: steps,
        level,
        ..Spec::default()
    };
    let run = ClidRun {
        spec: &spec,
        preset,
        preset_steps: &preset_steps,
        performance: document.spec["performance"].as_str(),
    };
    clid_table(results, &run, format, width, color)
}

/// The steps of CLID as a document keeps them.
fn steps(spec: &serde_json::Value) -> Option<ClidSpec> {
    ClidSpec::deserialize(spec).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_clid_read_back_as_they_were_written() {
        for written in [ClidSpec::SPEC, ClidSpec::PAPER] {
            let json = serde_json::to_value(&written).expect("plain data");
            assert_eq!(steps(&json), Some(written));
        }
        assert_eq!(steps(&serde_json::Value::Null), None);
    }

    #[test]
    fn files_go_where_the_run_put_them() {
        let manifold = Some("manifold_dimension");
        assert_eq!(root(Path::new("out/manifold_dimension"), manifold), Path::new("out"));
        assert_eq!(root(Path::new("manifold_dimension"), manifold), Path::new(""));
        assert_eq!(root(Path::new("out"), manifold), Path::new("out"));
        assert_eq!(root(Path::new("out"), None), Path::new("out"));
    }
}
