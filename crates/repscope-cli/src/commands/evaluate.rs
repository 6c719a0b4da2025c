// SPDX-License-Identifier: MIT
//! `repscope evaluate`: every analysis whose inputs are there, saved as it finishes, and one report of all.

use std::process::ExitCode;

use anyhow::Result;
use clap::ArgMatches;
use repscope::gate::Verdict;
use repscope::options::{FormatChoice, Outputs};
use repscope::{Color, Evaluate, Problems, write_example};
use repscope_io::write_whole;

use crate::args::is_typed;
use crate::outputs::{self, advise, say, show, warn};
use crate::progress::Bars;
use crate::{session, start_threads};

pub fn run(request: Evaluate, matches: &ArgMatches) -> Result<ExitCode> {
    if let Some(path) = &request.init {
        write_example(path)?;
        let path = path.display();
        let done = format!("{path} is written; name your files in it, then run `repscope evaluate {path}`");
        say(request.outputs.quiet, &done);
        return Ok(ExitCode::SUCCESS);
    }
    let mut problems = Problems::default();
    let request = request.gather(|field| is_typed(matches, field), &mut problems)?;
    start_threads(&request.settings.machine)?;
    let to = &request.outputs;
    let bars = Bars::new(to.quiet);
    let done = repscope::evaluate_with(&request, Some(to), &session(&bars), problems)?;
    drop(bars);
    let (report, root) = (&done.report, &to.output_dir);
    report.draw_maps(root, &to.figures)?;
    write_whole(&root.join("report.html"), report.html().as_bytes())?;
    report.write_document(root)?;
    warn(report, to.quiet);
    show(report, to)?;
    let mut code = conclude(done.gates.as_ref(), to)?;
    let samples = if report.has_samples() { ", samples.npz" } else { "" };
    let files = format!("results.json{samples} and report.html are in {}", root.display());
    say(to.quiet, &files);
    for line in &done.summary {
        say(to.quiet, line);
    }
    // Failures are told even to those who want to hear nothing, and weigh more than a gate.
    for (kind, reason) in &done.failed {
        advise(&format!("error: {} failed: {reason}", kind.name()));
        code = ExitCode::from(2);
    }
    Ok(code)
}

/// Shows the gates below the table; where stdout holds something that programs read, on stderr.
pub fn conclude(verdict: Option<&Verdict>, to: &Outputs) -> Result<ExitCode> {
    let Some(verdict) = verdict else {
        return Ok(ExitCode::SUCCESS);
    };
    let is_for_people = to.format == FormatChoice::Table && !to.json;
    let color = if is_for_people { outputs::color() } else { Color::No };
    if let Some(table) = verdict.table(outputs::width(), color) {
        match is_for_people {
            true => outputs::print(&format!("\n{table}"))?,
            false if verdict.is_passed() && to.quiet => {}
            false => advise(&table),
        }
    }
    Ok(ExitCode::from(u8::from(!verdict.is_passed())))
}
