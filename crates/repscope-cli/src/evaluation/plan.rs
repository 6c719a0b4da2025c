// SPDX-License-Identifier: MIT
//! Which analyses run, with which options, and why the others do not.

use std::path::PathBuf;

use anyhow::Result;
use repscope_core::{Analysis, Decoding, Metric, Performance, Retrieval, Spec, check};

use super::inputs::{Inputs, Role};
use super::options::Options;
use super::problems::Problems;
use super::{ANALYSES, has_own_data};
use crate::args::{AnalysisChoice, Command, Data, Robustness};
use crate::commands::{analyses, clid, etes, retrieval};
use crate::reader::Sources;
use crate::{decoding_inputs, performance_file, retrieval_inputs};

/// An analysis that will run.
pub struct Planned {
    pub analysis: Analysis,
    /// As its own command would resolve them.
    pub spec: Spec,
    pub metrics: Vec<&'static Metric>,
    pub sources: Sources,
    /// What the scores of `clid` are compared with, and the metrics of that.
    pub performance: Option<(Performance, Vec<&'static Metric>)>,
    pub retrieval: Option<Retrieval>,
    pub decoding: Option<Decoding>,
    /// The noise that encoders meet.
    pub robustness: Option<Box<Robustness>>,
    /// The flat JSON of document 001, where it is asked for.
    pub flat: Option<PathBuf>,
}

/// What will be done.
pub struct Plan {
    pub inputs: Inputs,
    pub running: Vec<Planned>,
    /// Those that cannot run, each with the reason.
    pub left_out: Vec<(Analysis, String)>,
    /// Those of them that have their inputs, but too few rows.
    pub unfit: Vec<(Analysis, String)>,
    /// Those that --only or --skip leave out.
    pub unwanted: Vec<Analysis>,
}

impl Plan {
    /// Reads everything and decides; `None` where there are problems.
    pub fn new(options: &Options, problems: &mut Problems) -> Option<Self> {
        let own = &options.evaluate;
        let is_wanted = |analysis: Analysis| {
            let among = |choices: &[AnalysisChoice]| choices.iter().any(|c| c.analysis() == analysis);
            !among(&own.choice.skip) && (own.choice.only.is_empty() || among(&own.choice.only))
        };
        for choice in own.choice.only.iter().filter(|choice| own.choice.skip.contains(choice)) {
            let name = choice.analysis().name();
            problems.add(format!("`{name}` is named by --only and by --skip; name it once"));
        }
        let (mut left_out, mut unwanted) = (Vec::new(), Vec::new());
        let mut asked = Vec::new();
        for (analysis, _) in ANALYSES {
            if !is_wanted(analysis) {
                unwanted.push(analysis);
                continue;
            }
            match missing(analysis, options) {
                Some(reason) if own.choice.only.is_empty() => left_out.push((analysis, reason)),
                Some(reason) => problems.add(format!("{} cannot run: {reason}", analysis.name())),
                None => match options.of(analysis) {
                    Ok(command) => asked.push((analysis, command)),
                    Err(wrong) => wrong.into_iter().for_each(|problem| problems.add(problem)),
                },
            }
        }
        let needs_models = asked.iter().any(|(analysis, _)| !has_own_data(*analysis)) || asked.is_empty();
        let inputs = super::inputs::read(&own.data, needs_models, &own.outputs.machine, problems);
        let (mut running, mut unfit) = (Vec::new(), Vec::new());
        for (analysis, command) in asked {
            let resolved = resolve(&command).and_then(|(spec, metrics)| {
                let mut planned = Planned {
                    analysis,
                    spec,
                    metrics,
                    sources: Sources::default(),
                    performance: None,
                    retrieval: None,
                    decoding: None,
                    flat: None,
                    robustness: None,
                };
                if let Some(inputs) = &inputs {
                    planned.sources = inputs.sources(&own.data, roles(analysis));
                    fit(&mut planned, &command, inputs, &own.data)?;
                } else if let Command::Retrieval(options) = &command {
                    retrieval_inputs::read(options)?;
                } else if let Command::Etes(options) = &command {
                    decoding_inputs::read(options)?;
                }
                Ok(planned)
            });
            let Some(planned) = problems.take(resolved.map_err(|e| in_analysis(analysis, e))) else {
                continue;
            };
            match inputs.as_ref().and_then(|inputs| too_few_rows(&planned, inputs)) {
                None => {
                    let refused = inputs.as_ref().map_or(Ok(()), |inputs| refuse(&planned, inputs));
                    problems.take(refused.map_err(|e| in_analysis(analysis, e)));
                    running.push(planned);
                }
                Some(reason) if own.choice.only.is_empty() && !options.says(analysis, "k") => {
                    unfit.push((analysis, reason))
                }
                Some(reason) => problems.add(format!("{} cannot run: {reason}", analysis.name())),
            }
        }
        problems.take(refuse_two_kernels(&running));
        if running.is_empty() && problems.is_empty() {
            problems.add("no analysis is left to run; see --only and --skip");
        }
        let position = |analysis: Analysis| ANALYSES.iter().position(|(other, _)| *other == analysis);
        left_out.extend(unfit.iter().cloned());
        left_out.sort_by_key(|(analysis, _)| position(*analysis));
        inputs.filter(|_| problems.is_empty()).map(|inputs| Plan {
            inputs,
            running,
            left_out,
            unfit,
            unwanted,
        })
    }
}

/// The files that an analysis reads.
fn roles(analysis: Analysis) -> &'static [Role] {
    match analysis {
        Analysis::Smoothness => &[
            Role::States,
            Role::NextStates,
            Role::Episodes,
            Role::Codes,
            Role::NextCodes,
        ],
        Analysis::Robustness => &[Role::States, Role::Episodes, Role::Codes],
        Analysis::Neighborhood => &[Role::States, Role::Episodes, Role::Codes],
        Analysis::Geometry => &[Role::Labels, Role::Episodes, Role::Codes],
        Analysis::Clid => &[Role::Labels, Role::Episodes, Role::Codes, Role::Views],
        Analysis::Retrieval | Analysis::Etes => &[],
        _ => &[Role::Episodes, Role::Codes],
    }
}

/// Why an analysis cannot run, as far as the options tell.
fn missing(analysis: Analysis, options: &Options) -> Option<String> {
    let has_models = !options.evaluate.data.models.is_empty();
    match analysis {
        // A study of a retrieval or of texts alone; without one, the missing models are the problem.
        _ if !has_models
            && !has_own_data(analysis)
            && ANALYSES
                .iter()
                .any(|(own, _)| has_own_data(*own) && options.mentions(*own)) =>
        {
            Some("it needs a model ([models] or --model)".to_string())
        }
        Analysis::Smoothness | Analysis::Neighborhood | Analysis::Robustness
            if options.evaluate.data.states.is_none() =>
        {
            Some("it needs what the models saw (--states)".to_string())
        }
        Analysis::Robustness if !options.evaluate.data.has_encoders() => {
            Some("it needs a model that is an encoder, such as --model model.onnx".to_string())
        }
        _ if has_own_data(analysis) && !options.mentions(analysis) => Some(match &options.file {
            Some(file) => format!("it needs a table [{}] in {}", analysis.name(), file.display()),
            None => format!("it needs a study file with a table [{}]", analysis.name()),
        }),
        _ => None,
    }
}

/// What an analysis computes, and how.
fn resolve(command: &Command) -> Result<(Spec, Vec<&'static Metric>)> {
    Ok(match command {
        Command::Smoothness(options) => (
            analyses::spec(&options.outputs)?,
            analyses::metrics(Analysis::Smoothness),
        ),
        Command::Robustness(options) => (
            analyses::spec(&options.outputs)?,
            analyses::metrics(Analysis::Robustness),
        ),
        Command::Neighborhood(options) => (
            analyses::neighborhood_spec(options)?,
            analyses::metrics(Analysis::Neighborhood),
        ),
        Command::Manifold(options) => (analyses::manifold_spec(options)?, analyses::metrics(Analysis::Manifold)),
        Command::Geometry(options) => (analyses::geometry_spec(options)?, analyses::metrics(Analysis::Geometry)),
        Command::Rankme(options) => (analyses::spec(&options.outputs)?, analyses::metrics(Analysis::Rankme)),
        Command::Clid(options) => {
            let (_, steps) = clid::preset(options);
            let (of_studies, _) = clid::metrics(!options.views.is_empty(), options.performance.is_some());
            (clid::resolve(options, &steps)?, of_studies)
        }
        Command::Retrieval(options) => {
            let mut metrics = Analysis::Retrieval.metrics();
            metrics.retain(|m| !(options.first_only && m.reads_whole_ranking()));
            (retrieval::resolve(options)?, metrics)
        }
        Command::Etes(options) => (etes::resolve(options)?, analyses::metrics(Analysis::Etes)),
        _ => anyhow::bail!("this command is no analysis"),
    })
}

/// What the computation itself would refuse when it starts.
fn refuse(planned: &Planned, inputs: &Inputs) -> Result<()> {
    match planned.analysis {
        // Noise is met later, and data of its own are read already.
        Analysis::Retrieval | Analysis::Etes | Analysis::Robustness => Ok(()),
        _ => Ok(check(&inputs.studies, &planned.metrics, &planned.spec)?),
    }
}

/// What an analysis adds to its options once the data are known.
fn fit(planned: &mut Planned, command: &Command, inputs: &Inputs, own: &Data) -> Result<()> {
    let studies = &inputs.studies;
    match command {
        Command::Smoothness(_) if own.next_states.is_none() => {
            planned.sources.warnings.extend(analyses::one_sequence(studies));
        }
        Command::Robustness(options) => {
            planned.sources.options.extend(inputs.noise_asked(options)?);
            planned.robustness = Some(options.clone());
        }
        Command::Geometry(options) => analyses::refuse_misfits(options, studies)?,
        Command::Rankme(_) => {
            let warning = analyses::different_shapes(studies, analyses::RANKS_GROW);
            planned.sources.warnings.extend(warning);
        }
        Command::Clid(options) => {
            clid::refuse_misfits(options, studies)?;
            if let Some(file) = &options.performance {
                let (performance, record) = performance_file::read(file, &inputs.models)?;
                planned.sources.records.push(record);
                let (_, of_performance) = clid::metrics(!options.views.is_empty(), true);
                planned.performance = Some((performance, of_performance));
            }
            let warning = analyses::different_shapes(studies, clid::SHAPES_MATTER);
            planned.sources.warnings.extend(warning);
            planned.sources.options.extend(clid::asked(options));
        }
        Command::Retrieval(options) => {
            let read = retrieval_inputs::read(options)?;
            planned.sources = read.sources;
            planned.retrieval = Some(read.retrieval);
            planned.flat.clone_from(&options.output);
        }
        Command::Etes(options) => {
            let read = decoding_inputs::read(options)?;
            planned.sources = read.sources;
            planned.decoding = Some(read.decoding);
        }
        _ => {}
    }
    Ok(())
}

/// `geometry` and `clid` both compute uniformity, and the results of all hold it once.
fn refuse_two_kernels(running: &[Planned]) -> Result<()> {
    let t = |analysis| running.iter().find(|p| p.analysis == analysis).map(|p| p.spec.t);
    match (t(Analysis::Geometry), t(Analysis::Clid)) {
        (Some(geometry), Some(clid)) if geometry != clid => anyhow::bail!(
            "[geometry] has t = {geometry} and [clid] has t = {clid}, but the report holds uniformity for one t; give both \
             the same (--set geometry.t=T clid.t=T), or leave one out with --skip"
        ),
        _ => Ok(()),
    }
}

/// Why neighbourhoods are larger than the data, where they are.
fn too_few_rows(planned: &Planned, inputs: &Inputs) -> Option<String> {
    let (rows, k) = (inputs.rows(), planned.spec.k.iter().max().copied().unwrap_or(0));
    let is_asked = planned.analysis == Analysis::Neighborhood;
    (is_asked && k + 1 >= rows).then(|| {
        format!(
            "k = {k} needs at least {} rows, but there are {rows}; use a smaller k",
            k + 2
        )
    })
}

/// The error with the analysis it is about.
fn in_analysis(analysis: Analysis, error: anyhow::Error) -> anyhow::Error {
    anyhow::anyhow!("{}: {}", analysis.name(), crate::message(&error))
}
