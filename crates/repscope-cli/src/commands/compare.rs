// SPDX-License-Identifier: MIT
//! `repscope compare`: models against each other on the same rows, with intervals and p-values; and gates.

use std::process::ExitCode;

use anyhow::Result;
use repscope::compare::{self, COMPARE};
use repscope::gate::Gates;
use repscope::options::Outputs;
use repscope::{Compare, Report};
use repscope_io::write_whole;

use super::evaluate::conclude;
use crate::outputs::{self, say, terminal, warn};
use crate::progress::Bars;
use crate::{session, start_threads};

pub fn run(request: &Compare) -> Result<ExitCode> {
    let (gates, to) = (Gates::read(&request.gates)?, &request.outputs);
    if request.results.is_some() {
        // Nothing is computed, and nothing is written.
        let report = compare::stored(request, &gates)?;
        show(&report, request, to)?;
        return conclude(Some(&gates.check(&report)), to);
    }
    start_threads(&request.settings.machine)?;
    let folder = to.output_dir.join(COMPARE);
    request.gates.refuse_own_baseline(&to.output_dir)?;
    request.gates.refuse_own_baseline(&folder)?;
    let bars = Bars::new(to.quiet);
    let report = compare::run(request, &session(&bars))?;
    drop(bars);
    let written = report.write_all(&to.output_dir, &to.figures)?;
    write_whole(&folder.join("report.html"), report.html().as_bytes())?;
    report.write_document(&folder)?;
    report.write_document(&to.output_dir)?;
    warn(&report, to.quiet);
    show(&report, request, to)?;
    let code = conclude(Some(&gates.check(&report)), to)?;
    let (files, folder) = (written.files(), folder.display());
    let files = format!("{files}, results.json and report.html are in {folder}");
    say(to.quiet, &files);
    Ok(code)
}

fn show(report: &Report, request: &Compare, to: &Outputs) -> Result<()> {
    match (to.table(), &request.reference) {
        (Some(format), Some(reference)) => {
            outputs::print(&report.differences(Some(reference), format, terminal(to.quiet)))
        }
        _ => outputs::show(report, to),
    }
}
