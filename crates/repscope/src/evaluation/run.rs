// SPDX-License-Identifier: MIT
//! Every analysis whose inputs are there, saved as it finishes, and one report of all.

use std::path::PathBuf;

use anyhow::{Result, bail};
use repscope_core::{Analysis as Kind, Results, Study, compare, compare_versions, draw_maps, keep_best};
use repscope_io::{ResultsDocument, write_whole};

use super::folder::{self, Found};
use super::plan::{Plan, Planned};
use super::problems::Problems;
use super::request::{Choice, Evaluate};
use super::stages::{Stage, alone, stages};
use super::{document, parts};
use crate::analysis::{self, Analysis, declared};
use crate::command_line;
use crate::error::message;
use crate::gate::{Gates, Verdict};
use crate::options::Outputs;
use crate::pictures;
use crate::report::{Report, resolved};
use crate::session::Session;

/// Up to this many models the differences of all pairs are kept; of more, those with the best model in each score.
const MOST_PAIRED: usize = 10;

/// What became of an evaluation.
pub struct Evaluation {
    /// All analyses in one report.
    pub report: Report,
    /// How the gates went.
    pub gates: Option<Verdict>,
    /// The analyses that failed, each with the reason.
    pub failed: Vec<(Kind, String)>,
    /// What became of the others, in sentences.
    pub summary: Vec<String>,
}

/// Runs one analysis.
pub fn run(request: Box<dyn Analysis>, session: &Session) -> crate::Result<Report> {
    let (inputs, planned) = Plan::alone(request, session)?;
    let results = alone(&planned, &inputs, session)?;
    Ok(finish(planned, results, session)?)
}

/// The report of an analysis: models are compared, the document says what the results hold, and the inputs are what they were.
fn finish(planned: Planned, mut results: Results, session: &Session) -> Result<Report> {
    let name = planned.kind().name();
    results.warnings.splice(0..0, planned.sources.warnings.iter().cloned());
    results.findings.clone_from(&planned.sources.findings);
    results.layers.clone_from(&planned.sources.layers);
    if planned.request.has_rivals() {
        compare(&mut results, &planned.spec, &session.driver());
        results.withhold_wins();
        compare_versions(&mut results, &planned.spec, &session.driver());
    }
    if results.models().len() > MOST_PAIRED {
        keep_best(&mut results, None);
    }
    let options = resolved(&planned.spec, planned.sources.options.clone());
    let document = ResultsDocument::new(name, options, planned.sources.records.clone(), &results);
    document.verify_inputs()?;
    Ok(Report {
        document,
        results,
        extra: planned.extra,
    })
}

/// Runs every analysis whose inputs are there. Where a folder is given, analyses are saved there as they finish, and taken from there
/// where `resume` asks for it.
pub fn evaluate(
    options: &Evaluate,
    save: Option<&Outputs>,
    session: &Session,
    mut problems: Problems,
) -> Result<Evaluation> {
    let folder = save.map(|outputs| outputs.output_dir.as_path());
    let plan = Plan::new(options, folder, session, &mut problems);
    let gates = problems.take(Gates::read(&options.gates));
    if let Some(outputs) = save {
        problems.take(options.gates.refuse_own_baseline(&outputs.output_dir));
    }
    problems.refuse()?;
    let Some(plan) = plan else {
        bail!("internal error: there is neither a plan nor a problem. Please report this");
    };
    session.say(&announcement(&plan));
    let document = document::of_run(&plan, options);
    let mut run = Run {
        save,
        session,
        done: Vec::new(),
        failed: Vec::new(),
        taken: Vec::new(),
    };
    let mut waiting = plan.running;
    if let Some(outputs) = save.filter(|_| options.resume) {
        waiting = run.take_finished(waiting, outputs);
    }
    let stages = stages(waiting);
    let of = stages.len();
    for (i, stage) in stages.into_iter().enumerate() {
        let listener = Stage {
            number: i + 1,
            of,
            listener: session.listener(),
        };
        let session = session.with(&listener);
        for group in stage {
            for (planned, results) in group.run(&plan.inputs, &session) {
                run.save(planned, results);
            }
        }
    }
    let left_out = plan.left_out.iter().map(|(kind, _)| *kind).collect();
    let summary = run.summary(left_out, plan.unwanted);
    let mut report = run.together(&plan.inputs.shown_studies(), document, &options.choice)?;
    report.document.command_line = command_line::of_evaluation(options);
    report.document.pictures = pictures::of_worst(&report.results, &plan.inputs);
    report.document.verify_inputs()?;
    Ok(Evaluation {
        gates: gates.map(|gates| gates.check(&report)),
        report,
        failed: run.failed,
        summary,
    })
}

/// A run and what has become of its analyses.
struct Run<'a> {
    save: Option<&'a Outputs>,
    session: &'a Session<'a>,
    /// Finished now or before.
    done: Vec<(Kind, Report)>,
    failed: Vec<(Kind, String)>,
    /// Finished by an earlier run.
    taken: Vec<Kind>,
}

impl Run<'_> {
    /// Takes what an earlier run finished; the others remain.
    fn take_finished(&mut self, planned: Vec<Planned>, outputs: &Outputs) -> Vec<Planned> {
        let mut remaining = Vec::new();
        for planned in planned {
            let (kind, own) = (planned.kind(), folder_of(outputs, planned.kind()));
            let spec = resolved(&planned.spec, planned.sources.options.clone());
            let records = planned.sources.records.clone();
            let expected = ResultsDocument::new(kind.name(), spec, records, &Results::default());
            match folder::look(&own, kind, &expected) {
                Found::Same(report) => {
                    // Draws the figures that an earlier run left out.
                    let is_missing = |path: &str| !outputs.output_dir.join(path).exists();
                    match report.write_figures(&outputs.output_dir, &outputs.figures, is_missing) {
                        Ok(_) => {
                            self.session
                                .say(&format!("{}: taken from {}", kind.name(), own.display()));
                            self.taken.push(kind);
                            self.done.push((kind, *report));
                        }
                        Err(error) => self.fail(kind, &error),
                    }
                }
                Found::Other(reason) => {
                    let text = format!("{}: computed anew, because {reason}", kind.name());
                    self.session.say(&text);
                    remaining.push(planned);
                }
                Found::Nothing => remaining.push(planned),
            }
        }
        remaining
    }

    /// Writes the folder of an analysis. Results that cannot be written are still part of the report.
    fn save(&mut self, planned: Planned, results: Result<Results>) {
        let kind = planned.kind();
        let report = match results.and_then(|results| finish(planned, results, self.session)) {
            Ok(report) => report,
            Err(error) => return self.fail(kind, &error),
        };
        if let Some(outputs) = self.save {
            match report.write_own(&outputs.output_dir, &outputs.figures) {
                Ok(written) => self.session.say(&format!(
                    "{}: {} are in {}",
                    kind.name(),
                    written.in_words("results.json"),
                    folder_of(outputs, kind).display()
                )),
                Err(error) => self.fail(kind, &error),
            }
        }
        self.done.push((kind, report));
    }

    fn fail(&mut self, kind: Kind, error: &anyhow::Error) {
        let reason = message(error);
        self.session.say(&format!("{}: failed: {reason}", kind.name()));
        self.failed.push((kind, reason));
    }

    /// All analyses in one report, with maps of the embeddings.
    fn together(&mut self, studies: &[Study], plan: ResultsDocument, choice: &Choice) -> Result<Report> {
        if self.done.is_empty() {
            let reasons = self.failed.iter().map(|(kind, why)| format!("{}: {why}", kind.name()));
            bail!(
                "no analysis could be computed\n- {}",
                reasons.collect::<Vec<_>>().join("\n- ")
            );
        }
        self.done
            .sort_by_key(|(kind, _)| analysis::ANALYSES.iter().position(|own| own.kind == *kind));
        let all: Vec<&Results> = self.done.iter().map(|(_, report)| &report.results).collect();
        let mut results = Results::join(&all);
        draw_maps(&mut results, studies, &self.session.driver());
        parts::add_classes(&mut results, studies);
        choice.rank(&mut results)?;
        let mut spec = plan.spec;
        for (kind, why) in &self.failed {
            // Results that could not be written are there.
            if !self.done.iter().any(|(done, _)| done == kind) {
                document::note_failure(&mut spec, *kind, why);
            }
        }
        Ok(Report::new(
            ResultsDocument::new("evaluate", spec, plan.inputs, &results),
            results,
        ))
    }

    /// What became of each analysis.
    fn summary(&self, left_out: Vec<Kind>, unwanted: Vec<Kind>) -> Vec<String> {
        let is_failed = |kind: &Kind| self.failed.iter().any(|(failed, _)| failed == kind);
        let is_computed = |kind: &Kind| self.done.iter().any(|(done, _)| done == kind) && !self.taken.contains(kind);
        let all = analysis::ANALYSES.iter().map(|own| own.kind);
        let computed = all.filter(|kind| is_computed(kind) && !is_failed(kind)).collect();
        let lists: [(&str, Vec<Kind>); 4] = [
            ("computed", computed),
            ("taken from an earlier run", self.taken.clone()),
            ("left out", left_out),
            ("not asked for", unwanted),
        ];
        let named = |(what, list): (&str, Vec<Kind>)| {
            let names: Vec<&str> = list.iter().map(|kind| kind.name()).collect();
            (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
        };
        lists.into_iter().filter_map(named).collect()
    }
}

fn folder_of(outputs: &Outputs, kind: Kind) -> PathBuf {
    outputs.output_dir.join(declared(kind).folder)
}

/// Which analyses will run on what, and why the others will not.
fn announcement(plan: &Plan) -> String {
    let names: Vec<&str> = plan.running.iter().map(|planned| planned.kind().name()).collect();
    let mut lines = vec![format!("running {}", names.join(", "))];
    if !plan.inputs.studies.is_empty() {
        let models = plan.inputs.count_models();
        lines[0] += &format!(" on {models} of {} rows", plan.inputs.rows());
    }
    for (kind, reason) in &plan.left_out {
        lines.push(format!("leaving out {}: {reason}", kind.name()));
    }
    lines.join("\n")
}

/// Writes a commented study file to start from.
pub fn write_example(path: &std::path::Path) -> Result<()> {
    if path.exists() {
        bail!("{} already exists; name another file (`init` FILE)", path.display());
    }
    Ok(write_whole(path, crate::study_file::EXAMPLE.as_bytes())?)
}
