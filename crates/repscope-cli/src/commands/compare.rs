// SPDX-License-Identifier: MIT
//! `repscope compare`: models against each other on the same rows, with intervals and p-values; and gates.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis, Metric, Results, Spec, Study};
use repscope_figures::Width;
use repscope_io::ResultsDocument;
use repscope_report::{Format, comparison, render};

use super::analyses::{MOST_ROWS, ONE_SEQUENCE, RANKS_GROW, compute, different_shapes, spec, start_threads};
use super::clid;
use crate::args::{FigureOptions, FormatChoice, Machine, Models, Outputs, PoolChoice};
use crate::evaluation::args::AnalysisChoice;
use crate::gates::{GateOptions, Gates, document_in, models};
use crate::inputs::{self, Inputs, Paths};
use crate::outputs::{self, Finished};
use crate::search::list;

pub const COMPARE_EXAMPLES: &str = "\
Examples:
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope compare --model 'runs/*.npy' --labels labels.npy --reference first
  repscope compare --model jepa=z.npy --states frames.npy --gate 'trustworthiness@10>=0.95'
  repscope compare evaluation_plots/results.json --baseline main.json --max-drop 2%

Differences are taken row by row, or episode by episode where --episodes are given, so models
must have the same rows. Exit codes: 0 all is well, 1 a gate failed, 2 error.";

/// The analyses that a comparison can run, and whether they need states.
const ANALYSES: [(Analysis, bool); 6] = [
    (Analysis::Smoothness, true),
    (Analysis::Neighborhood, true),
    (Analysis::Manifold, false),
    (Analysis::Geometry, false),
    (Analysis::Rankme, false),
    (Analysis::Clid, false),
];

#[derive(Debug, Args)]
pub struct Compare {
    /// The results.json of an earlier run, or its folder: its differences are shown instead of computed
    #[arg(
        value_name = "results.json",
        required_unless_present = "models",
        conflicts_with_all = [
            "models", "states", "episodes", "labels", "views", "pool", "ids", "only", "skip", "k", "clusters", "output_dir",
            "seed", "level"
        ]
    )]
    pub results: Option<PathBuf>,
    #[command(flatten)]
    pub asked: Asked,
    /// Where results.json and the CSV files go
    #[arg(long, default_value = "evaluation_plots", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Print the results document (results.json) on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    /// How to print the differences
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatChoice,
    /// The seed of every random choice
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Confidence level of the intervals; a model is called better where the adjusted p-value is at most 1 less it
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
    #[command(flatten)]
    pub machine: Machine,
}

/// What is compared.
#[derive(Debug, Args)]
pub struct Asked {
    /// Codes of a model: NAME=PATH, or PATH (the file stem is the name). Repeat for more models, or name a folder of .npy
    /// files or a pattern such as 'runs/*.npy': a model per file
    #[arg(long = "model", num_args = 1.., value_name = "NAME=PATH")]
    pub models: Vec<String>,
    /// The model that the others are compared with [default: the second of two, the best of more]
    #[arg(long, value_name = "MODEL")]
    pub reference: Option<String>,
    /// The states that the models saw, one per row: for smoothness and neighborhood
    #[arg(long, value_name = "PATH")]
    pub states: Option<String>,
    /// The episode of each row: differences are then taken episode by episode
    #[arg(long, value_name = "PATH")]
    pub episodes: Option<String>,
    /// A class per row: strings, whole numbers or booleans
    #[arg(long, value_name = "PATH")]
    pub labels: Option<String>,
    /// Codes of a second view of the same samples, for alignment
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub views: Vec<String>,
    /// How codes of shape (N, T, D) become one row per sample
    #[arg(long, value_enum, default_value = "last")]
    pub pool: PoolChoice,
    /// Join the arrays by id instead of by row: the name of an id column in every file, or NAME=PATH for
    /// each array (states, labels, episodes, the models' names, and NAME.view for their second views)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH")]
    pub ids: Vec<String>,
    /// Run these analyses and no others (smoothness, neighborhood, manifold, geometry, rankme, clid)
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', value_name = "ANALYSIS", hide_possible_values = true)]
    pub only: Vec<AnalysisChoice>,
    /// Leave these analyses out
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', value_name = "ANALYSIS", hide_possible_values = true)]
    pub skip: Vec<AnalysisChoice>,
    /// Neighbourhood sizes [default: 5 10 15]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "K")]
    pub k: Vec<usize>,
    /// Number of k-means clusters [default: 5; 10 for MCR² without labels]
    #[arg(long, value_name = "N")]
    pub clusters: Option<usize>,
    #[command(flatten)]
    pub gates: GateOptions,
}

pub fn run(options: Compare) -> Result<ExitCode> {
    let asked = options.asked;
    let gates = Gates::read(&asked.gates)?;
    let outputs = Outputs {
        output_dir: options.output_dir,
        json: options.json,
        format: options.format,
        // A comparison is a table; `evaluate` draws.
        figures: FigureOptions {
            no_figures: true,
            figure_format: Vec::new(),
            figure_width: Width::default(),
        },
        machine: options.machine,
        seed: options.seed,
        level: options.level,
    };
    match &options.results {
        Some(path) => stored(&document_in(path), &asked, &gates, &outputs),
        None => computed(&asked, &gates, &outputs),
    }
}

/// Shows the differences that an earlier run stored. Nothing is written.
fn stored(path: &Path, options: &Asked, gates: &Gates, to: &Outputs) -> Result<ExitCode> {
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
    let finished = Finished { document, results };
    outputs::show(&finished, to.json, to.format, &|results, format| {
        shown(results, options, format)
    })?;
    gates.check(&finished.results).conclude(to)
}

fn computed(options: &Asked, gates: &Gates, to: &Outputs) -> Result<ExitCode> {
    start_threads(&to.machine)?;
    options.gates.refuse_own_baseline(&to.output_dir)?;
    let analyses = analyses(options)?;
    let spec = resolve(options, to)?;
    let paths = Paths {
        states: options.states.as_deref(),
        labels: options.labels.as_deref(),
        episodes: options.episodes.as_deref(),
        views: &options.views,
        ..Paths::default()
    };
    let models = Models {
        models: options.models.clone(),
        pool: options.pool,
        ids: options.ids.clone(),
    };
    let mut inputs = inputs::read(&paths, &models)?;
    refuse_misfits(options, gates, &inputs.studies)?;
    let names: Vec<&str> = inputs.studies.iter().map(|study| study.model.as_str()).collect();
    refuse_unknown_reference(options, &names)?;
    let warnings = &mut inputs.sources.warnings;
    if analyses.contains(&Analysis::Smoothness) && options.episodes.is_none() {
        warnings.push(ONE_SEQUENCE.to_string());
    }
    if analyses.contains(&Analysis::Rankme) {
        warnings.extend(different_shapes(&inputs.studies, RANKS_GROW));
    }
    inputs.sources.options.extend(options.gates.asked());

    let results = evaluate_all(options, &analyses, &mut inputs, &spec, &to.machine)?;
    let finished = Finished::new("compare", &spec, inputs.sources, results)?;
    let folder = to.output_dir.join("compare");
    let written = finished.write(&folder, &to.output_dir, &to.figures)?;
    finished.write_document(&to.output_dir)?;
    if !to.machine.quiet {
        outputs::warn(&finished.results.warnings);
    }
    outputs::show(&finished, to.json, to.format, &|results, format| {
        shown(results, options, format)
    })?;
    let code = gates.check(&finished.results).conclude(to)?;
    if !to.machine.quiet {
        outputs::advise(&format!(
            "{} are in {}",
            written.in_words("results.json"),
            folder.display()
        ));
    }
    Ok(code)
}

/// Differences; the scores themselves where there is one model only.
fn shown(results: &Results, options: &Asked, format: Format) -> String {
    let (width, color) = (outputs::width(), outputs::color());
    match results.differences.is_empty() {
        true => render(results, format, width, color),
        false => comparison(results, options.reference.as_deref(), format, width, color),
    }
}

/// Those that were asked for and have their inputs.
fn analyses(options: &Asked) -> Result<Vec<Analysis>> {
    let has = |choices: &[AnalysisChoice], analysis: Analysis| choices.iter().any(|c| c.analysis() == analysis);
    if has(&options.only, Analysis::Retrieval) {
        bail!("--only retrieval: a retrieval has no models to compare; use `repscope retrieval`");
    }
    let mut chosen = Vec::new();
    for (analysis, needs_states) in ANALYSES {
        let is_asked = options.only.is_empty() || has(&options.only, analysis);
        if !is_asked || has(&options.skip, analysis) {
            continue;
        }
        match needs_states && options.states.is_none() {
            false => chosen.push(analysis),
            true if options.only.is_empty() => {}
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

fn resolve(options: &Asked, to: &Outputs) -> Result<Spec> {
    if let Some(k) = options.k.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
        bail!("--k {k}: a neighbourhood has at least one row, and fewer than the data");
    }
    let defaults = spec(to)?;
    let mut k = options.k.clone();
    k.sort_unstable();
    k.dedup();
    Ok(Spec {
        k: if k.is_empty() { defaults.k } else { k },
        clusters: options.clusters.unwrap_or(defaults.clusters),
        ..defaults
    })
}

fn refuse_misfits(options: &Asked, gates: &Gates, studies: &[Study]) -> Result<()> {
    if studies.len() < 2 && gates.is_empty() {
        bail!("a comparison needs at least 2 models, but 1 is given; add --model NAME=PATH, or ask for a --gate");
    }
    let (first, others) = studies
        .split_first()
        .map_or((None, &[][..]), |(first, others)| (Some(first), others));
    for (first, other) in first
        .into_iter()
        .flat_map(|first| others.iter().map(move |other| (first, other)))
    {
        if first.latent.rows() != other.latent.rows() {
            bail!(
                "model `{}` has {} rows but model `{}` has {}; differences are taken row by row, so give the same rows of \
                 both, or join them with --ids",
                first.model,
                first.latent.rows(),
                other.model,
                other.latent.rows()
            );
        }
    }
    let rows = first.map_or(0, |first| first.latent.rows());
    if let Some(clusters) = options.clusters.filter(|&c| c < 2 || c >= rows) {
        bail!("--clusters {clusters} must be at least 2 and below the number of rows, {rows}");
    }
    Ok(())
}

fn refuse_unknown_reference(options: &Asked, models: &[&str]) -> Result<()> {
    match options.reference.as_deref() {
        Some(name) if !models.contains(&name) => bail!(
            "--reference {name}: no model is called that; the models are called {}",
            list(models.iter().copied())
        ),
        _ => Ok(()),
    }
}

/// One run for all analyses. MCR² without labels has more clusters than the others, as `repscope clid` has, and then a
/// run of its own.
fn evaluate_all(
    options: &Asked,
    analyses: &[Analysis],
    inputs: &mut Inputs,
    spec: &Spec,
    machine: &Machine,
) -> Result<Results> {
    let clid_spec = Spec {
        clusters: match &options.labels {
            Some(_) => spec.clusters,
            None => options.clusters.unwrap_or(clid::CLUSTERS),
        },
        ..spec.clone()
    };
    let is_wanted = |m: &&Metric| m.is_of_studies() && (m.id != "alignment" || !options.views.is_empty());
    let metrics = |of: &dyn Fn(Analysis) -> bool| -> Vec<&Metric> {
        let own = analyses
            .iter()
            .filter(|&&analysis| of(analysis))
            .flat_map(|a| a.metrics());
        own.filter(is_wanted).collect()
    };
    let is_clid = |analysis| analysis == Analysis::Clid;
    if clid_spec.clusters == spec.clusters || !analyses.contains(&Analysis::Clid) {
        return compute(inputs, &metrics(&|_| true), spec, machine);
    }
    inputs
        .sources
        .options
        .insert("mcr2_clusters".to_string(), clid_spec.clusters.into());
    let mut results = Results::default();
    for (metrics, spec) in [(metrics(&|a| !is_clid(a)), spec), (metrics(&is_clid), &clid_spec)] {
        let more = compute(inputs, &metrics, spec, machine)?;
        results.scores.extend(more.scores);
        results.curves.extend(more.curves);
        results.breakdowns.extend(more.breakdowns);
        results.samples.extend(more.samples);
        results.warnings.extend(more.warnings);
        results.classes = more.classes;
    }
    Ok(results)
}
