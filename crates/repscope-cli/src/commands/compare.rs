// SPDX-License-Identifier: MIT
//! `repscope compare`: models against each other on the same rows, with intervals and p-values; and gates.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use repscope_core::{Analysis, Metric, Results, Spec, Study, draw_maps};
use repscope_io::{ResultsDocument, write_whole};
use repscope_render::{Format, comparison, render};

use super::analyses::{
    MOST_ROWS, RANKS_GROW, compute, different_shapes, one_sequence, sample, spec, start_threads, watched,
};
use super::clid;
use crate::args::{AnalysisChoice, Cli, Command, Compare, Robustness};
use crate::call::{self, Answer};
use crate::evaluation::inputs::{self, Inputs, Role};
use crate::evaluation::parts;
use crate::evaluation::problems::Problems;
use crate::gates::{Gates, document_in, models};
use crate::outputs::{self, Finished};
use crate::report_page;
use crate::search::list;

/// The command, and its folder within the output folder.
pub const COMPARE: &str = "compare";

/// The analyses that a comparison can run, and whether they need states.
const ANALYSES: [(Analysis, bool); 7] = [
    (Analysis::Smoothness, true),
    (Analysis::Robustness, true),
    (Analysis::Neighborhood, true),
    (Analysis::Manifold, false),
    (Analysis::Geometry, false),
    (Analysis::Rankme, false),
    (Analysis::Clid, false),
];

pub fn run(options: &Compare) -> Result<ExitCode> {
    let gates = Gates::read(&options.gates)?;
    match &options.results {
        Some(path) => stored(&document_in(path), options, &gates),
        None => computed(options, &gates),
    }
}

/// Shows the differences that an earlier run stored. Nothing is written.
fn stored(path: &Path, options: &Compare, gates: &Gates) -> Result<ExitCode> {
    let document = ResultsDocument::read(path)?;
    let results = document.clone().into_results();
    if results.differences.is_empty() && gates.is_empty() {
        bail!(
            "{} holds no differences between models, only the scores of {}; they are taken row by row, which the file \
             does not hold: run `repscope compare --model A=… --model B=…` on the arrays",
            path.display(),
            list(models(&results).into_iter())
        );
    }
    refuse_unknown_reference(options, &models(&results))?;
    let (finished, to) = (Finished { document, results }, &options.outputs);
    let reference = options.reference.as_deref().or_else(|| reference(&finished.document));
    outputs::show(&finished, to.json, to.format, &|results, format| {
        table(results, reference, format)
    })?;
    gates.check(&finished).conclude(to)
}

fn computed(options: &Compare, gates: &Gates) -> Result<ExitCode> {
    let to = &options.outputs;
    start_threads(&to.machine)?;
    let folder = to.output_dir.join(COMPARE);
    options.gates.refuse_own_baseline(&to.output_dir)?;
    options.gates.refuse_own_baseline(&folder)?;
    let analyses = analyses(options)?;
    let spec = resolve(options)?;
    let mut problems = Problems::default();
    let inputs = inputs::read(&options.data, true, &to.machine, &mut problems);
    problems.refuse()?;
    let Some(inputs) = inputs else {
        bail!("internal error: there are neither inputs nor a problem. Please report this");
    };
    refuse_misfits(options, gates, &inputs.studies)?;
    let names: Vec<&str> = inputs.studies.iter().map(|study| study.model.as_str()).collect();
    refuse_unknown_reference(options, &names)?;
    let mut sources = inputs.sources(&options.data, &Role::ALL);
    if analyses.contains(&Analysis::Smoothness) && inputs.steps.is_none() {
        sources.warnings.extend(one_sequence(&inputs.studies));
    }
    if analyses.contains(&Analysis::Rankme) {
        sources.warnings.extend(different_shapes(&inputs.studies, RANKS_GROW));
    }
    sources
        .options
        .insert("views".to_string(), options.data.views.clone().into());
    sources
        .options
        .insert(REFERENCE.to_string(), options.reference.clone().into());
    sources.options.extend(options.gates.asked());

    if analyses.contains(&Analysis::Robustness) {
        sources.options.extend(inputs.noise_asked(&usual_noise(options)?)?);
    }
    let clid_spec = clid_spec(options, &spec);
    if analyses.contains(&Analysis::Clid) && clid_spec.clusters != spec.clusters {
        sources
            .options
            .insert("mcr2_clusters".to_string(), clid_spec.clusters.into());
    }
    let results = evaluate_all(options, &analyses, &inputs, &spec, &clid_spec)?;
    let finished = Finished::new(COMPARE, &spec, sources, results)?;
    if call::is_within() {
        call::hand_over(Answer::Results(Box::new(finished)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut written = finished.write_tables(&to.output_dir)?;
    written.add(report_page::draw(&finished, &folder, &to.figures)?);
    write_whole(&folder.join("report.html"), report_page::html(&finished).as_bytes())?;
    finished.write_document(&folder)?;
    finished.write_document(&to.output_dir)?;
    if !to.machine.quiet {
        outputs::warn(&finished.results.warnings);
    }
    outputs::show(&finished, to.json, to.format, &|results, format| {
        table(results, options.reference.as_deref(), format)
    })?;
    let code = gates.check(&finished).conclude(to)?;
    if !to.machine.quiet {
        outputs::advise(&format!(
            "{}, results.json and report.html are in {}",
            written.files(),
            folder.display()
        ));
    }
    Ok(code)
}

/// Where the document keeps the model that the others are compared with.
const REFERENCE: &str = "reference";

/// The model that a document's differences were shown against, where one was asked for.
pub fn reference(document: &ResultsDocument) -> Option<&str> {
    document.spec[REFERENCE].as_str()
}

/// Differences; the scores themselves where there is one model only.
pub fn table(results: &Results, reference: Option<&str>, format: Format) -> String {
    let (width, color) = (outputs::width(), outputs::color());
    if results.differences.is_empty() {
        render(results, format, width, color)
    } else {
        comparison(results, reference, format, width, color)
    }
}

/// Those that were asked for and have their inputs.
fn analyses(options: &Compare) -> Result<Vec<Analysis>> {
    let has = |choices: &[AnalysisChoice], analysis: Analysis| choices.iter().any(|c| c.analysis() == analysis);
    if has(&options.choice.only, Analysis::Etes) {
        bail!("--only etes: systems that generate texts are compared by `repscope etes`, which takes several");
    }
    if has(&options.choice.only, Analysis::Retrieval) {
        bail!("--only retrieval: a retrieval has no models to compare; use `repscope retrieval`");
    }
    let mut chosen = Vec::new();
    for (analysis, needs_states) in ANALYSES {
        let is_asked = options.choice.only.is_empty() || has(&options.choice.only, analysis);
        if !is_asked || has(&options.choice.skip, analysis) {
            continue;
        }
        if analysis == Analysis::Robustness && !options.data.has_encoders() {
            if !options.choice.only.is_empty() {
                bail!("--only robustness: noise goes into what an encoder sees; give models that are encoders");
            }
            continue;
        }
        match needs_states && options.data.states.is_none() {
            false => chosen.push(analysis),
            true if options.choice.only.is_empty() => {}
            true => bail!(
                "--only {}: it compares codes with states; give --states",
                analysis.name()
            ),
        }
    }
    if chosen.is_empty() {
        bail!("--only and --skip leave no analysis to run");
    }
    Ok(chosen)
}

fn resolve(options: &Compare) -> Result<Spec> {
    let choice = &options.choice;
    if let Some(k) = choice.k.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
        bail!("--k {k}: a neighbourhood has at least one row, and fewer than the data");
    }
    let defaults = spec(&options.outputs)?;
    let mut k = choice.k.clone();
    k.sort_unstable();
    k.dedup();
    Ok(Spec {
        k: if k.is_empty() { defaults.k } else { k },
        knn_k: choice.knn_k.unwrap_or(defaults.knn_k),
        sample: sample(choice.sample)?,
        clusters: options.clusters.unwrap_or(defaults.clusters),
        ..defaults
    })
}

/// CLID looks at all rows. MCR² without labels has more clusters than the others, as `repscope clid` has.
fn clid_spec(options: &Compare, spec: &Spec) -> Spec {
    Spec {
        clusters: match &options.data.labels {
            Some(_) => spec.clusters,
            None => options.clusters.unwrap_or(clid::CLUSTERS),
        },
        sample: None,
        ..spec.clone()
    }
}

fn refuse_misfits(options: &Compare, gates: &Gates, studies: &[Study]) -> Result<()> {
    if studies.len() < 2 && gates.is_empty() {
        bail!("a comparison needs at least 2 models, but 1 is given; add --model NAME=PATH, or ask for a --gate");
    }
    let rows = studies.first().map_or(0, |first| first.latent.rows());
    if let Some(clusters) = options.clusters.filter(|&c| c < 2 || c >= rows) {
        bail!("--clusters {clusters} must be at least 2 and below the number of rows, {rows}");
    }
    if let Some(k) = options.choice.knn_k.filter(|&k| k < 1 || k >= rows) {
        bail!("--knn-k {k} must be at least 1 and below the number of rows, {rows}");
    }
    Ok(())
}

fn refuse_unknown_reference(options: &Compare, models: &[&str]) -> Result<()> {
    match options.reference.as_deref() {
        Some(name) if !models.contains(&name) => bail!(
            "--reference {name}: no model is called that; the models are called {}",
            list(models.iter().copied())
        ),
        _ => Ok(()),
    }
}

/// The noise of `repscope robustness` without any option.
fn usual_noise(options: &Compare) -> Result<Robustness> {
    let seed = format!("--seed={}", options.outputs.seed);
    let words = ["repscope", "robustness", "--states=states", "--model=model", &seed];
    match Cli::try_parse_from(words)?.command {
        Command::Robustness(noise) => Ok(*noise),
        _ => bail!("internal error: robustness is another command. Please report this"),
    }
}

/// One run for all analyses. Smoothness has rows of its own where next states are given, and CLID options of its own
/// where they differ; each is then a further run.
fn evaluate_all(
    options: &Compare,
    analyses: &[Analysis],
    inputs: &Inputs,
    spec: &Spec,
    clid_spec: &Spec,
) -> Result<Results> {
    let is_wanted = |m: &&Metric| m.is_of_studies() && (m.id != "alignment" || !options.data.views.is_empty());
    let is_stepping = |analysis| analysis == Analysis::Smoothness && inputs.steps.is_some();
    let is_apart = |analysis| analysis == Analysis::Clid && clid_spec != spec;
    let is_noisy = |analysis| analysis == Analysis::Robustness;
    let noisy = if analyses.contains(&Analysis::Robustness) {
        watched(&options.outputs.machine, |driver| {
            inputs.with_noise(&usual_noise(options)?, driver)
        })?
    } else {
        Vec::new()
    };
    let metrics = |of: &dyn Fn(Analysis) -> bool| -> Vec<&Metric> {
        let own = analyses.iter().filter(|&&analysis| of(analysis));
        own.flat_map(|a| a.metrics()).filter(is_wanted).collect()
    };
    let (studies, steps) = (&inputs.studies[..], inputs.steps.as_deref().unwrap_or_default());
    let mut runs = Vec::new();
    for (metrics, studies, spec) in [
        (metrics(&is_stepping), steps, spec),
        (metrics(&is_noisy), &noisy[..], spec),
        (
            metrics(&|a| !is_stepping(a) && !is_apart(a) && !is_noisy(a)),
            studies,
            spec,
        ),
        (metrics(&is_apart), studies, clid_spec),
    ] {
        if !metrics.is_empty() {
            runs.push(compute(studies, &metrics, spec, &options.outputs.machine)?);
        }
    }
    let mut results = Results::join(&runs.iter().collect::<Vec<_>>());
    if analyses.contains(&Analysis::Clid) {
        results.breakdowns.extend(studies.iter().map(clid::shape));
    }
    watched(&options.outputs.machine, |driver| {
        draw_maps(&mut results, studies, driver);
        Ok(())
    })?;
    parts::add_classes(&mut results, studies);
    Ok(results)
}
