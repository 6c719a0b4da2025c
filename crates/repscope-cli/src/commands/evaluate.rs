// SPDX-License-Identifier: MIT
//! `repscope evaluate`: every analysis whose inputs are there, saved as it finishes, and one report of all.
//! `repscope compare`: models against each other on the same rows, with intervals and p-values; and gates.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ArgMatches;
use repscope::compare::{self, COMPARE};
use repscope::gate::{Gates, Verdict};
use repscope::options::{FormatChoice, Outputs};
use repscope::{Color, Compare, Evaluate, Problems, Report, usual, write_example};
use repscope_io::{Claim, write_whole};

use crate::args::is_typed;
use crate::cluster;
use crate::outputs::{self, advise, say, show, terminal, warn};
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
    let (cluster, partials) = (request.cluster.clone(), request.partials.clone());
    let mut request = request.gather(|field| is_typed(matches, field), &mut problems)?;
    (request.cluster, request.partials) = (cluster, partials);
    start_threads(&request.settings.machine)?;
    cluster::bind(&mut request)?;
    let (request, found) = usual::complete_evaluation(request, Path::new(""))?;
    let to = &request.outputs;
    found.iter().for_each(|found| say(to.quiet, found));
    let _claim = Claim::take(&to.output_dir)?;
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
    report.check_panels(&to.figures)?;
    let samples = if report.has_samples() { ", samples.npz" } else { "" };
    let files = format!("results.json{samples} and report.html are in {}", root.display());
    say(to.quiet, &files);
    for line in &done.summary {
        say(to.quiet, line);
    }
    // Failures are reported with --quiet too, and weigh more than a gate.
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
        if is_for_people {
            outputs::print(&format!("\n{table}"))?;
        } else if !(verdict.is_passed() && to.quiet) {
            advise(&table);
        }
    }
    Ok(ExitCode::from(u8::from(!verdict.is_passed())))
}

pub fn compare(mut request: Compare) -> Result<ExitCode> {
    if request.results.is_none() {
        let (data, found) = usual::complete_data(request.data, Path::new(""))?;
        request.data = data;
        found.iter().for_each(|found| say(request.outputs.quiet, found));
        if request.data.has_no_model() {
            bail!(
                "there is nothing to compare: name models with --model NAME=PATH or --replicates NAME=PATTERN, or give the \
                 results.json of an earlier run"
            );
        }
    }
    let request = &request;
    let (gates, to) = (Gates::read(&request.gates)?, &request.outputs);
    if request.results.is_some() {
        // Nothing is computed, and nothing is written.
        let report = compare::stored(request, &gates)?;
        show_differences(&report, request, to)?;
        return conclude(Some(&gates.check(&report)), to);
    }
    start_threads(&request.settings.machine)?;
    let folder = to.output_dir.join(COMPARE);
    request.gates.refuse_own_baseline(&to.output_dir)?;
    request.gates.refuse_own_baseline(&folder)?;
    let _claim = Claim::take(&to.output_dir)?;
    let bars = Bars::new(to.quiet);
    let report = compare::run(request, &session(&bars))?;
    drop(bars);
    let written = report.write_all(&to.output_dir, &to.figures)?;
    write_whole(&folder.join("report.html"), report.html().as_bytes())?;
    report.write_document(&folder)?;
    report.write_document(&to.output_dir)?;
    warn(&report, to.quiet);
    show_differences(&report, request, to)?;
    let code = conclude(Some(&gates.check(&report)), to)?;
    let (files, folder) = (written.files(), folder.display());
    let files = format!("{files}, results.json and report.html are in {folder}");
    say(to.quiet, &files);
    Ok(code)
}

fn show_differences(report: &Report, request: &Compare, to: &Outputs) -> Result<()> {
    match (to.table(), &request.reference) {
        (Some(format), Some(reference)) => outputs::print(&report.differences(Some(reference), format, terminal(to))),
        _ => outputs::show(report, to),
    }
}
