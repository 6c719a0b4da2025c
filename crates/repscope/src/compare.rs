// SPDX-License-Identifier: MIT
//! Models against each other on the same rows, with intervals and p-values.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{
    Analysis as Kind, Difference, Margin, Results, Spec, compare, compare_versions, draw_maps, test_equivalence,
};
use repscope_io::{ResultsDocument, StoredVersion};
use serde::{Deserialize, Serialize};

use crate::analysis::{self, Analysis, MCR2_CLUSTERS, Origin, check_k, check_sample};
use crate::command_line;
use crate::evaluation::parts;
use crate::evaluation::plan::Planned;
use crate::evaluation::problems::Problems;
use crate::evaluation::request::{Choice, Evaluate};
use crate::evaluation::stages::stages;
use crate::gate::{GateOptions, Gates, refuse_unknown};
use crate::inputs::{Distances, Inputs, Needs, Role};
use crate::options::{Data, Outputs, Settings, default_options};
use crate::pictures;
use crate::report::{Report, resolved};
use crate::search::{distinct, list};
use crate::session::Session;
use crate::source::bind;

/// The command, and its folder within the output folder.
pub const COMPARE: &str = "compare";
/// Where the document keeps the model that the others are compared with.
const REFERENCE: &str = "reference";
/// Where it keeps the margins of equivalence.
const EQUIVALENT: &str = "equivalent";

/// Which model is better, in what, and how sure is that?
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Compare {
    /// The results.json of an earlier run, or its folder: show its differences instead of computing them
    #[arg(
        value_name = "results.json",
        conflicts_with_all = [
            "models", "replicates", "states", "next_states", "episodes", "labels", "targets", "views", "against", "against_states", "against_groups", "batches", "pool", "ids", "prefix", "quantize", "layers", "only", "skip", "k", "knn_k",
            "sample", "rank_by", "clusters", "output_dir", "seed", "level", "no_figures", "figure_format", "figure_width",
            "no_caption", "panel"
        ]
    )]
    pub results: Option<PathBuf>,
    /// Model that the others are compared with [default: the second of two, the first of more]
    #[arg(long, value_name = "MODEL")]
    pub reference: Option<String>,
    /// Test whether models are the same within this margin, by two one-sided tests: DELTA for every score with a direction,
    /// METRIC=DELTA for one. Repeat for more
    #[arg(long, num_args = 1.., value_name = "[METRIC=]DELTA")]
    pub equivalent: Vec<String>,
    /// The inputs.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: Data,
    /// Which analyses run.
    #[command(flatten)]
    #[serde(flatten)]
    pub choice: Choice,
    /// Number of k-means clusters [default: the number of classes; without labels 5, and 10 for MCR²]
    #[arg(long, value_name = "N", help_heading = "Analyses")]
    pub clusters: Option<usize>,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
    /// What becomes of the results.
    #[command(flatten, next_help_heading = "Results")]
    #[serde(flatten)]
    pub outputs: Outputs,
    /// What the scores must keep.
    #[command(flatten)]
    #[serde(flatten)]
    pub gates: GateOptions,
}

default_options!(Compare);
bind!(Compare: data);

impl Compare {
    /// The margins of equivalence: one for all scores with a direction, and those of single scores.
    fn margins(&self) -> Result<Vec<Margin>> {
        let mut margins: Vec<Margin> = Vec::new();
        for text in &self.equivalent {
            let (metric, size) = match text.rsplit_once('=') {
                Some((metric, size)) => (Some(metric.trim()), size.trim()),
                None => (None, text.trim()),
            };
            let within = margin(EQUIVALENT, text, size)?;
            if let Some(metric) = metric {
                refuse_unknown(&format!("`{EQUIVALENT}` = {text}"), metric)?;
            }
            let metric = metric.map(Into::into);
            if margins.iter().any(|other| other.metric == metric) {
                bail!("`{EQUIVALENT}` = {text} is a second margin for the same scores; give one");
            }
            margins.push(Margin { metric, within });
        }
        Ok(margins)
    }

    /// Tests equivalence, and says which margins have nothing to be tested.
    fn test(&self, results: &mut Results, margins: &[Margin]) {
        test_equivalence(results, margins);
        for (text, margin) in self.equivalent.iter().zip(margins) {
            let is_own = |d: &Difference| margin.metric.as_ref().is_none_or(|metric| *metric == d.metric);
            let changes = results.versions.iter().flat_map(|own| &own.changes);
            let mut tested = results.differences.iter().chain(changes);
            if !tested.any(|d| d.equivalent.is_some() && is_own(d)) {
                results.warnings.push(format!(
                    "`{EQUIVALENT}` = {text} tests nothing: no difference in such a score has an error"
                ));
            }
        }
    }
}

/// A margin: a size above 0.
pub(crate) fn margin(option: &str, text: &str, size: &str) -> Result<f64> {
    match size.parse::<f64>() {
        Ok(within) if within > 0.0 && within.is_finite() => Ok(within),
        Ok(within) => bail!("`{option}` = {text}: the margin {within} must be above 0 and finite"),
        Err(_) => bail!("`{option}` = {text}: `{size}` is not a number; write METRIC=0.01, say"),
    }
}

/// The model that a document's differences were shown against, where one was asked for.
pub(crate) fn reference(document: &ResultsDocument) -> Option<&str> {
    document.spec[REFERENCE].as_str()
}

/// The differences that an earlier run stored.
pub fn stored(options: &Compare, gates: &Gates) -> Result<Report> {
    let path = crate::report::document_in(options.results.as_deref().unwrap_or(std::path::Path::new("")));
    let mut document = ResultsDocument::read(&path)?;
    let margins = options.margins()?;
    let mut results = document.clone().into_results();
    if !margins.is_empty() {
        let has_error = |d: &Difference| d.standard_error.is_some();
        if !results.differences.is_empty() && !results.differences.iter().any(has_error) {
            bail!(
                "{} holds differences without their standard errors, as older versions wrote them, and equivalence cannot be \
                 tested from those; run the comparison again",
                path.display()
            );
        }
        options.test(&mut results, &margins);
        document.differences.clone_from(&results.differences);
        document.versions = results.versions.iter().map(StoredVersion::from).collect();
    }
    if results.differences.is_empty() && results.versions.is_empty() && gates.is_empty() {
        bail!(
            "{} holds no differences between models, only the scores of {}; they are taken row by row, which the file \
             does not hold: run `repscope compare --model A=… --model B=…` on the arrays",
            path.display(),
            list(results.models().into_iter())
        );
    }
    refuse_unknown_reference(options, &results.models())?;
    Ok(Report::new(document, results))
}

/// Runs every analysis whose inputs are there, and compares the models.
pub fn run(options: &Compare, session: &Session) -> Result<Report> {
    let choice = &options.choice;
    choice.ranked_by()?;
    let margins = options.margins()?;
    let gates = Gates::read(&options.gates)?;
    let (requests, mut spec) = (requests(options)?, resolve(options)?);
    let mut problems = Problems::default();
    let needs = Needs {
        models: true,
        distances: Distances::OfNumbers,
    };
    let inputs = Inputs::read(&options.data, needs, &options.settings.machine, session, &mut problems);
    problems.refuse()?;
    let Some(inputs) = inputs else {
        bail!("internal error: there are neither inputs nor a problem. Please report this");
    };
    refuse_misfits(options, &gates, &inputs)?;
    let shown = inputs.shown_studies();
    let names: Vec<&str> = shown.iter().map(|study| study.model.as_str()).collect();
    refuse_unknown_reference(options, &names)?;

    let mut sources = inputs.sources(&options.data, Role::ALL);
    let mut planned = Vec::new();
    for request in requests {
        let mut own = Planned::new(request, &options.data, &inputs, Role::ALL, session)?;
        if let Some(reason) = own.request.misfit(&own.spec, &inputs) {
            if options.choice.only.is_empty() {
                session.say(&format!("leaving out {}: {reason}", own.kind().name()));
                continue;
            }
            bail!("{} cannot run: {reason}", own.kind().name());
        }
        match own.kind() {
            Kind::Geometry => spec.clusters = own.spec.clusters,
            Kind::Robustness => sources.options.extend(own.sources.options.clone()),
            Kind::Clid => {
                own.spec.clusters = clid_clusters(options, &spec);
                if own.spec.clusters != spec.clusters {
                    let clusters = own.spec.clusters.into();
                    sources.options.insert("mcr2_clusters".to_string(), clusters);
                }
            }
            _ => {}
        }
        sources.findings = distinct(sources.findings.into_iter().chain(own.sources.findings.clone()));
        sources.warnings = distinct(sources.warnings.into_iter().chain(own.sources.warnings.clone()));
        planned.push(own);
    }
    if planned.is_empty() {
        bail!("no analysis is left to run; see `only` and `skip`");
    }
    sources.options.extend([
        ("views".to_string(), serde_json::json!(options.data.views)),
        (REFERENCE.to_string(), options.reference.clone().into()),
    ]);
    if !options.equivalent.is_empty() {
        let asked = serde_json::json!(options.equivalent);
        sources.options.insert(EQUIVALENT.to_string(), asked);
    }
    sources.options.extend(options.gates.asked());

    let mut done: Vec<(Kind, Results)> = Vec::new();
    for group in stages(planned).into_iter().flatten() {
        for (own, results) in group.run(&inputs, session) {
            done.push((own.kind(), results?));
        }
    }
    done.sort_by_key(|(kind, _)| analysis::ANALYSES.iter().position(|own| own.kind == *kind));
    let mut results = Results::join(&done.iter().map(|(_, results)| results).collect::<Vec<_>>());
    results.warnings.splice(0..0, sources.warnings);
    draw_maps(&mut results, &shown, &session.driver());
    parts::add_classes(&mut results, &shown);
    results.findings = sources.findings;
    results.layers = sources.layers;
    compare(&mut results, &spec, &session.driver());
    results.withhold_wins();
    compare_versions(&mut results, &spec, &session.driver());
    options.test(&mut results, &margins);
    choice.rank(&mut results)?;
    let document = ResultsDocument {
        command_line: command_line::of(COMPARE, options),
        pictures: pictures::of_worst(&results, &inputs),
        ..ResultsDocument::new(COMPARE, resolved(&spec, sources.options), sources.records, &results)
    };
    document.verify_inputs()?;
    Ok(Report::new(document, results))
}

/// The analyses that were asked for and have their inputs.
fn requests(options: &Compare) -> Result<Vec<Box<dyn Analysis>>> {
    let choice = &options.choice;
    for kind in &choice.only {
        match kind {
            Kind::Etes => bail!("`etes` compares the systems that it is given itself; run it alone"),
            Kind::Similarity => bail!("`similarity` compares every two models itself; run it alone"),
            Kind::Retrieval => bail!("a retrieval has no models to compare; run `retrieval` alone"),
            _ => {}
        }
    }
    let evaluate = Evaluate {
        data: options.data.clone(),
        choice: choice.clone(),
        clusters: options.clusters,
        settings: options.settings.clone(),
        ..Evaluate::default()
    };
    let mut problems = Problems::default();
    let evaluate = evaluate.gather(|_| false, &mut problems)?;
    let mut requests = Vec::new();
    for declared in analysis::evaluated()
        .filter(|own| own.data == Origin::Study && !own.kind.is_of_pairs() && evaluate.wants(own.kind))
    {
        match evaluate.lacks(declared) {
            None => requests.push(evaluate.of(declared).map_err(anyhow::Error::msg)?),
            Some(reason) if !choice.only.is_empty() => bail!("{} cannot run: {reason}", declared.kind.name()),
            Some(_) => {}
        }
    }
    if requests.is_empty() {
        bail!("no analysis is left to run; see `only` and `skip`");
    }
    Ok(requests)
}

/// The options of all analyses together.
fn resolve(options: &Compare) -> Result<Spec> {
    let choice = &options.choice;
    let defaults = options.settings.spec()?;
    let k = check_k(&choice.k)?;
    Ok(Spec {
        k: if k.is_empty() { defaults.k } else { k },
        knn_k: choice.knn_k.unwrap_or(defaults.knn_k),
        sample: check_sample(choice.sample)?,
        clusters: options.clusters.unwrap_or(defaults.clusters),
        ..defaults
    })
}

/// MCR² without labels has more clusters than the others, as in `clid`.
fn clid_clusters(options: &Compare, spec: &Spec) -> usize {
    match &options.data.labels {
        Some(_) => spec.clusters,
        None => options.clusters.unwrap_or(MCR2_CLUSTERS),
    }
}

fn refuse_misfits(options: &Compare, gates: &Gates, inputs: &Inputs) -> Result<()> {
    if inputs.shown_models().len() < 2 && inputs.versions.is_empty() && gates.is_empty() {
        bail!("a comparison needs at least 2 models, but 1 is given; add `model` NAME=PATH, or ask for a `gate`");
    }
    let rows = inputs.rows();
    if let Some(clusters) = options.clusters.filter(|&c| c < 2 || c >= rows) {
        bail!("`clusters` = {clusters} must be at least 2 and below the number of rows, {rows}");
    }
    if let Some(k) = options.choice.knn_k.filter(|&k| k < 1 || k >= rows) {
        bail!("`knn_k` = {k} must be at least 1 and below the number of rows, {rows}");
    }
    Ok(())
}

fn refuse_unknown_reference(options: &Compare, models: &[&str]) -> Result<()> {
    match options.reference.as_deref() {
        Some(name) if !models.contains(&name) => bail!(
            "`reference` = {name}: no model is called that; the models are called {}",
            list(models.iter().copied())
        ),
        _ => Ok(()),
    }
}
