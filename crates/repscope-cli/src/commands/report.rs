// SPDX-License-Identifier: MIT
//! `repscope report results.json`: everything that can be drawn from a results document, without computing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope::compare::COMPARE;
use repscope::options::{Machine, Outputs};
use repscope::{Report, document_in};
use repscope_io::write_whole;

use crate::outputs::{say, show, warn};
use crate::{args, start_threads};

pub fn run(options: &args::Report) -> Result<ExitCode> {
    start_threads(&Machine {
        threads: options.threads,
        keep_formulas: options.keep_formulas,
        ..Machine::default()
    })?;
    let path = document_in(&options.document);
    let report = Report::open(&path)?;
    if report.results.scores.is_empty() {
        bail!("{} holds no scores, so there is nothing to draw", path.display());
    }
    let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let analysis = report.analysis();
    if report.results.samples.is_empty() && analysis.is_none_or(|own| own.keeps_samples) {
        let samples = beside.join("samples.npz");
        let what = "what is drawn from single samples (scatter plots, maps, CSV files of pairs) is left out";
        let text = format!("warning: {} does not exist: {what}", samples.display());
        say(options.quiet, &text);
    }
    let is_comparison = report.document.command == COMPARE;
    let own_folder = if is_comparison {
        Some(COMPARE)
    } else {
        analysis.map(|own| own.folder)
    };
    let root = options.output_dir.clone().unwrap_or_else(|| root(&beside, own_folder));
    let written = report.write_all(&root, &options.figures)?;
    let (home, page) = if is_comparison {
        (root.join(COMPARE), root.join(COMPARE))
    } else {
        // Beside the document, so that the page of one analysis does not replace that of all.
        (root, options.output_dir.clone().unwrap_or(beside))
    };
    write_whole(&page.join("report.html"), report.html().as_bytes())?;
    warn(&report, options.quiet);
    let to = Outputs {
        json: options.json,
        format: options.format,
        all: options.all,
        quiet: options.quiet,
        ..Outputs::default()
    };
    show(&report, &to)?;
    let files = format!("{} are in {}", written.in_words("report.html"), home.display());
    say(options.quiet, &files);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_where_the_run_put_them() {
        let manifold = Some("manifold_dimension");
        assert_eq!(root(Path::new("out/manifold_dimension"), manifold), Path::new("out"));
        assert_eq!(root(Path::new("manifold_dimension"), manifold), Path::new(""));
        assert_eq!(root(Path::new("out"), manifold), Path::new("out"));
        assert_eq!(root(Path::new("out"), None), Path::new("out"));
    }
}
