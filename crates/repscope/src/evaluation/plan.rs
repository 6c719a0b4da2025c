// SPDX-License-Identifier: MIT
//! Which analyses run, with which options, and why the others do not.

use std::path::{Path, PathBuf};

use anyhow::Result;
use repscope_core::{
    Analysis as Kind, Decoding, METRICS, Metric, Performance, Results, Retrieval, Spec, Study, check, check_similarity,
};
use repscope_io::{check_writable, write_whole};
use repscope_render::retrieval_json;

use super::problems::Problems;
use super::request::Evaluate;
use crate::analysis::perturb::{Checks, Scored};
use crate::analysis::{self, Analysis, EtesFiles, Origin};
use crate::inputs::{Distances, Inputs, Needs, Role};
use crate::options::{Data, FigureOptions};
use crate::reader::Sources;
use crate::report::Report;
use crate::session::Session;

/// An analysis that will run.
pub struct Planned {
    pub request: Box<dyn Analysis>,
    /// The inputs of a study that it was planned with.
    pub data: Data,
    pub spec: Spec,
    pub metrics: Vec<&'static Metric>,
    pub sources: Sources,
    pub extra: Extra,
}

/// What one analysis needs beside the studies.
pub enum Extra {
    Nothing,
    /// What the scores of `clid` are compared with, and the metrics of that.
    Performance(Performance, Vec<&'static Metric>),
    /// Studies of its own.
    Studies(Vec<Study>),
    /// What searches what, of held-out and of training rows where both are given, and where its flat JSON goes.
    Retrieval(Vec<Retrieval>, Option<PathBuf>),
    /// Signals and texts, and where the scores of samples go.
    Decoding(Box<Decoding>, EtesFiles),
    /// Predictions with and without perturbation.
    Perturbation(Box<Scored>),
}

impl Extra {
    /// Files outside the folder of the analysis, which the request named.
    pub fn other_files(&self, results: &Results) -> Vec<PathBuf> {
        match self {
            Extra::Retrieval(_, path) => path.iter().cloned().collect(),
            Extra::Decoding(decoding, files) => files.named(results, decoding),
            _ => Vec::new(),
        }
    }

    /// Refuses files that were named and cannot be written, before anything is computed for them.
    fn check_writable(&self) -> Result<()> {
        let named = match self {
            Extra::Retrieval(_, path) => path.as_deref(),
            Extra::Decoding(_, files) => files.asked(),
            _ => None,
        };
        Ok(named.map_or(Ok(()), check_writable)?)
    }

    /// Writes what belongs to the files of one analysis and is in no other report.
    pub fn write(&self, report: &Report, folder: &Path, figures: &FigureOptions) -> Result<()> {
        match self {
            Extra::Retrieval(_, Some(path)) => write_whole(path, retrieval_json(&report.results).as_bytes())?,
            Extra::Decoding(decoding, files) => {
                files.write(&report.results, decoding, folder)?;
            }
            Extra::Perturbation(scored) => scored.write(folder, figures)?,
            _ => {}
        }
        if let Some(checks) = Checks::of(&report.document) {
            checks.write(report, folder)?;
        }
        Ok(())
    }
}

impl Planned {
    /// Resolves an analysis and makes it ready to run.
    pub fn new(
        request: Box<dyn Analysis>,
        data: &Data,
        inputs: &Inputs,
        roles: &[Role],
        session: &Session,
    ) -> Result<Self> {
        let (mut spec, metrics) = (request.spec(data)?, request.metrics(data));
        request.settle(&mut spec, inputs);
        let mut sources = match request.declared().data {
            Origin::Study => inputs.sources(data, roles),
            Origin::Own => Sources::default(),
        };
        let extra = request.prepare(data, inputs, &mut sources, session)?;
        extra.check_writable()?;
        Ok(Planned {
            request,
            data: data.clone(),
            spec,
            metrics,
            sources,
            extra,
        })
    }

    pub fn kind(&self) -> Kind {
        self.request.declared().kind
    }

    /// The metrics that are computed together with those of others.
    pub fn shared(&self) -> Vec<&'static Metric> {
        let is_shared = |metric: &&Metric| self.request.shares(metric);
        self.metrics.iter().copied().filter(is_shared).collect()
    }

    /// The metrics that it computes by itself.
    pub fn alone(&self) -> Vec<&'static Metric> {
        let is_own = |metric: &&Metric| !self.request.shares(metric);
        self.metrics.iter().copied().filter(is_own).collect()
    }

    /// What the computation itself would refuse when it starts.
    fn refuse(&self, inputs: &Inputs) -> Result<()> {
        let declared = self.request.declared();
        // Noise is met later, and data of its own are read already.
        if declared.data != Origin::Study || declared.kind == Kind::Robustness {
            return Ok(());
        }
        let refuse = if declared.kind.is_of_pairs() {
            check_similarity
        } else {
            check
        };
        Ok(refuse(&inputs.studies, &self.metrics, &self.spec)?)
    }
}

/// Metrics in the order in which they are listed, each once.
pub fn in_order(mut metrics: Vec<&'static Metric>) -> Vec<&'static Metric> {
    metrics.sort_by_key(|metric| METRICS.iter().position(|other| other.id == metric.id));
    metrics.dedup_by_key(|metric| metric.id);
    metrics
}

/// What will be done.
pub struct Plan {
    pub inputs: Inputs,
    pub running: Vec<Planned>,
    /// Those that cannot run, each with the reason.
    pub left_out: Vec<(Kind, String)>,
    /// Those of them that have their inputs, but too few rows.
    pub unfit: Vec<(Kind, String)>,
    /// Those that nobody asked for.
    pub unwanted: Vec<Kind>,
}

impl Plan {
    /// One analysis with the inputs that its own options name.
    pub fn alone(request: Box<dyn Analysis>, session: &Session) -> Result<(Inputs, Planned)> {
        let (declared, data) = (request.declared(), request.data());
        let mut problems = Problems::default();
        let inputs = match declared.data {
            Origin::Study => {
                // Options that no data could fit are refused before anything is read.
                request.spec(&data)?;
                let compares_inputs = declared.reads.contains(&Role::States) && declared.kind != Kind::Robustness;
                if compares_inputs && data.states.is_none() && !data.has_no_model() {
                    let name = declared.kind.name();
                    anyhow::bail!("{name} compares embeddings with what the models saw; give that with `states` PATH");
                }
                let needs = Needs {
                    models: true,
                    distances: if compares_inputs {
                        Distances::Required
                    } else {
                        Distances::None
                    },
                };
                Inputs::read(&data, needs, &request.settings().machine, session, &mut problems)
            }
            Origin::Own => Some(Inputs::default()),
        };
        problems.refuse()?;
        let Some(inputs) = inputs else {
            anyhow::bail!("internal error: there are neither inputs nor a problem. Please report this");
        };
        let planned = Planned::new(request, &data, &inputs, Role::ALL, session)?;
        if !inputs.versions.is_empty() && !planned.request.measures_versions() {
            let name = declared.kind.name();
            anyhow::bail!("{name} measures whole embeddings alone; leave out `prefix` and `quantize`");
        }
        Ok((inputs, planned))
    }

    /// Reads everything and decides; `None` where there are problems. `folder` is where finished work is kept, if anywhere.
    pub fn new(options: &Evaluate, folder: Option<&Path>, session: &Session, problems: &mut Problems) -> Option<Self> {
        let is_free = options.choice.only.is_empty();
        for kind in options
            .choice
            .only
            .iter()
            .filter(|kind| options.choice.skip.contains(kind))
        {
            let name = kind.name();
            problems.add(format!("`{name}` is both to run and to be skipped; name it once"));
        }
        let (mut left_out, mut unwanted) = (Vec::new(), Vec::new());
        let mut asked = Vec::new();
        for declared in analysis::evaluated() {
            let kind = declared.kind;
            if !options.wants(kind) {
                unwanted.extend((!declared.is_asked_for).then_some(kind));
                continue;
            }
            match options.lacks(declared) {
                Some(reason) if is_free => left_out.push((kind, reason)),
                Some(reason) => problems.add(format!("{} cannot run: {reason}", kind.name())),
                None => match options.of(declared) {
                    Ok(mut request) => {
                        if let Some(folder) = folder {
                            request.keep_in(&folder.join(declared.folder));
                        }
                        asked.push(request);
                    }
                    Err(problem) => problems.add(problem),
                },
            }
        }
        let is_study = |request: &dyn Analysis| request.declared().data == Origin::Study;
        let needs = Needs {
            models: asked.iter().any(|request| is_study(&**request)) || asked.is_empty(),
            distances: Distances::OfNumbers,
        };
        let inputs = Inputs::read(&options.data, needs, &options.settings.machine, session, problems);
        let (mut running, mut unfit) = (Vec::new(), Vec::new());
        for request in asked {
            let declared = request.declared();
            let named = |error| anyhow::anyhow!("{}: {}", declared.kind.name(), crate::error::message(&error));
            let Some(inputs) = &inputs else {
                // What is wrong with its options, and with data of its own, is said along with the rest.
                let none = Inputs::default();
                problems.take(request.spec(&options.data).map_err(named));
                if declared.data == Origin::Own {
                    let planned = Planned::new(request, &options.data, &none, declared.reads, session);
                    problems.take(planned.map_err(named));
                }
                continue;
            };
            let planned = Planned::new(request, &options.data, inputs, declared.reads, session);
            let Some(planned) = problems.take(planned.map_err(named)) else {
                continue;
            };
            match planned.request.misfit(&planned.spec, inputs) {
                None => {
                    problems.take(planned.refuse(inputs).map_err(named));
                    running.push(planned);
                }
                Some(reason) if is_free && !options.says(declared.kind, "k") => unfit.push((declared.kind, reason)),
                Some(reason) => problems.add(format!("{} cannot run: {reason}", declared.kind.name())),
            }
        }
        problems.take(refuse_two_kernels(&running));
        if running.is_empty() && problems.is_empty() {
            problems.add("no analysis is left to run; see `only` and `skip`");
        }
        let position = |kind: Kind| analysis::evaluated().position(|own| own.kind == kind);
        left_out.extend(unfit.iter().cloned());
        left_out.sort_by_key(|(kind, _)| position(*kind));
        inputs.filter(|_| problems.is_empty()).map(|inputs| Plan {
            inputs,
            running,
            left_out,
            unfit,
            unwanted,
        })
    }
}

/// `geometry` and `clid` both compute uniformity, and the results of all hold it once.
fn refuse_two_kernels(running: &[Planned]) -> Result<()> {
    let t = |kind| running.iter().find(|p| p.kind() == kind).map(|p| p.spec.t);
    match (t(Kind::Geometry), t(Kind::Clid)) {
        (Some(geometry), Some(clid)) if geometry != clid => anyhow::bail!(
            "[geometry] has t = {geometry} and [clid] has t = {clid}, but the report holds uniformity for one t; give both \
             the same (`set` geometry.t=T clid.t=T), or leave one out with `skip`"
        ),
        _ => Ok(()),
    }
}
