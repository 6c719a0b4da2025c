// SPDX-License-Identifier: MIT
//! One analysis: the library runs it, its files are written, its table is shown. And what makes inputs: encoders and masked images.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use repscope::analysis::{Perturb, PerturbGenerate, perturb};
use repscope::options::Outputs;
use repscope::{Analysis, Encode, usual};
use repscope_io::Claim;

use crate::args::{Quietly, Shown};
use crate::outputs::{self, say, show, warn};
use crate::progress::Bars;
use crate::{session, start_threads};

pub fn run(request: Box<dyn Analysis>, to: &Outputs) -> Result<ExitCode> {
    if let Some(said) = request.instead()? {
        said.iter().for_each(|line| say(to.quiet, line));
        return Ok(ExitCode::SUCCESS);
    }
    start_threads(&request.settings().machine)?;
    let (request, found) = usual::complete(request, Path::new(""))?;
    found.iter().for_each(|found| say(to.quiet, found));
    let root = root(&to.output_dir, request.declared().folder);
    let folder = root.join(request.declared().folder);
    let _claim = Claim::take(&to.output_dir)?;
    let bars = Bars::new(to.quiet);
    let report = repscope::run(request, &session(&bars))?;
    drop(bars);
    let written = report.write(&root, &to.figures)?;
    report.write_document(&to.output_dir)?;
    warn(&report, to.quiet);
    show(&report, to)?;
    for path in report.other_files() {
        say(to.quiet, &format!("{} is written", path.display()));
    }
    let files = written.in_words("results.json");
    say(to.quiet, &format!("{files} are in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// The folder in which that of an analysis is made; an output folder that has the name of an analysis is that folder itself.
fn root(output: &Path, folder: &str) -> PathBuf {
    if output.file_name().is_some_and(|name| name == folder) {
        output.parent().unwrap_or(Path::new("")).to_path_buf()
    } else {
        output.to_path_buf()
    }
}

pub fn encode(options: &Quietly<Encode>) -> Result<ExitCode> {
    start_threads(&options.request.machine)?;
    let bars = Bars::new(options.quiet);
    let encoded = repscope::encode(&options.request, &session(&bars))?;
    drop(bars);
    let output: PathBuf = options.request.output.clone().unwrap_or_default();
    let written = encoded.write(&output)?;
    for note in &encoded.notes {
        say(options.quiet, &format!("note: {note}"));
    }
    outputs::print(&format!("embeddings: {}\n", written.join(", ")))?;
    Ok(ExitCode::SUCCESS)
}

pub fn generate(options: &Quietly<PerturbGenerate>) -> Result<ExitCode> {
    start_threads(&options.request.machine)?;
    let bars = Bars::new(options.quiet);
    let done = perturb::generate(&options.request, &session(&bars))?;
    drop(bars);
    if done.dark > 0 {
        let (dark, images) = (done.dark, done.images);
        let text = format!("warning: {dark} of {images} images have no lit pixel and are unchanged");
        say(options.quiet, &text);
    }
    outputs::print(&format!(
        "{} images written, {} were there; masks.csv says what was masked: {}\n",
        done.written,
        done.all - done.written,
        options.request.output.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub fn evaluate(options: Shown<Perturb>) -> Result<ExitCode> {
    let request = Perturb {
        keep: Some(options.outputs.output_dir.join("predictions")),
        ..options.request
    };
    run(Box::new(request), &options.outputs)
}
