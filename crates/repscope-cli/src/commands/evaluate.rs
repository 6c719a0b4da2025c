// SPDX-License-Identifier: MIT
//! `repscope evaluate`: every analysis whose inputs are there, saved as it finishes, and one report of all.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::run::Driver;
use repscope_core::{Analysis, Results, Study, draw_maps};
use repscope_io::{ResultsDocument, write_whole};
use repscope_render::{Format, etes_table, render, retrieval_json, retrieval_table};

use super::analyses::{driver, start_threads};
use super::etes;
use crate::args::Evaluate;
use crate::call::{self, Answer};
use crate::evaluation::folder::{self, Found};
use crate::evaluation::options::Options;
use crate::evaluation::plan::{Plan, Planned};
use crate::evaluation::problems::Problems;
use crate::evaluation::stages::{self, STAGES, Stage};
use crate::evaluation::{ANALYSES, document, folder_of, parts};
use crate::gates::Gates;
use crate::outputs::{self, Finished, advise, resolved};
use crate::progress::Watching;
use crate::{report_page, study_file};

/// `words` is the whole command line.
pub fn run(typed: Evaluate, words: Vec<OsString>) -> Result<ExitCode> {
    if let Some(path) = &typed.init {
        return write_example(path, typed.outputs.machine.quiet);
    }
    let mut problems = Problems::default();
    let options = Options::gather(typed, words, &mut problems)?;
    start_threads(&options.evaluate.outputs.machine)?;
    let plan = Plan::new(&options, &mut problems);
    let gates = problems.take(Gates::read(&options.evaluate.gates));
    let output_dir = &options.evaluate.outputs.output_dir;
    problems.take(options.evaluate.gates.refuse_own_baseline(output_dir));
    problems.refuse()?;
    let Some(plan) = plan else {
        bail!("internal error: there is neither a plan nor a problem. Please report this");
    };
    let mut run = Run {
        options: &options.evaluate,
        gates,
        done: Vec::new(),
        failed: Vec::new(),
        taken: Vec::new(),
    };
    run.say(&announcement(&plan));
    let document = document::of_run(&plan, &options.evaluate);
    let mut waiting = plan.running;
    if options.evaluate.resume {
        waiting = run.take_finished(waiting);
    }
    let stages: Vec<&[Analysis]> = STAGES
        .into_iter()
        .filter(|stage| waiting.iter().any(|planned| stage.contains(&planned.analysis)))
        .collect();
    for (i, stage) in stages.iter().enumerate() {
        let (now, later): (Vec<Planned>, Vec<Planned>) = waiting
            .into_iter()
            .partition(|planned| stage.contains(&planned.analysis));
        waiting = later;
        for group in stages::groups(now) {
            let computed = run.watched(i + 1, stages.len(), |driver| group.run(&plan.inputs, driver));
            computed
                .into_iter()
                .for_each(|(planned, results)| run.save(planned, results));
        }
    }
    let code = run.finish(&plan.inputs.studies, document)?;
    let left_out: Vec<Analysis> = plan.left_out.iter().map(|(analysis, _)| *analysis).collect();
    run.summarize(left_out, plan.unwanted);
    Ok(code)
}

/// A run and what has become of its analyses.
struct Run<'a> {
    options: &'a Evaluate,
    /// What the scores must keep.
    gates: Option<Gates>,
    /// Finished now or before.
    done: Vec<(Analysis, Finished)>,
    failed: Vec<(Analysis, String)>,
    /// Finished by an earlier run.
    taken: Vec<Analysis>,
}

impl Run<'_> {
    fn say(&self, text: &str) {
        if !self.options.outputs.machine.quiet {
            advise(text);
        }
    }

    fn folder(&self, analysis: Analysis) -> PathBuf {
        self.options.outputs.output_dir.join(folder_of(analysis))
    }

    /// Takes what an earlier run finished; the others remain.
    fn take_finished(&mut self, planned: Vec<Planned>) -> Vec<Planned> {
        let mut remaining = Vec::new();
        for planned in planned {
            let name = planned.analysis.name();
            let spec = resolved(&planned.spec, planned.sources.options.clone());
            let expected = ResultsDocument::new(name, spec, planned.sources.records.clone(), &Results::default());
            match folder::look(&self.folder(planned.analysis), planned.analysis, &expected) {
                Found::Same(finished) => match self.complete_figures(&finished) {
                    Ok(()) => {
                        self.say(&format!(
                            "{name}: taken from {}",
                            self.folder(planned.analysis).display()
                        ));
                        self.taken.push(planned.analysis);
                        self.done.push((planned.analysis, *finished));
                    }
                    Err(error) => self.fail(planned.analysis, &error),
                },
                Found::Other(reason) => {
                    self.say(&format!("{name}: computed anew, because {reason}"));
                    remaining.push(planned);
                }
                Found::Nothing => remaining.push(planned),
            }
        }
        remaining
    }

    /// Draws the figures that an earlier run left out.
    fn complete_figures(&self, finished: &Finished) -> Result<()> {
        let outputs = &self.options.outputs;
        let is_missing = |path: &str| !outputs.output_dir.join(path).exists();
        finished.write_figures(&outputs.output_dir, &outputs.figures, is_missing)?;
        Ok(())
    }

    fn watched<T>(&self, number: usize, of: usize, work: impl FnOnce(&Driver) -> T) -> T {
        let watching = Watching::new(&self.options.outputs.machine);
        let stage = Stage {
            number,
            of,
            watcher: watching.progress(),
        };
        work(&driver(&stage))
    }

    /// Writes the folder of an analysis. Results that cannot be written are still part of the report.
    fn save(&mut self, planned: Planned, results: Result<Results>) {
        let (analysis, outputs) = (planned.analysis, &self.options.outputs);
        let finished = match results.and_then(|r| Finished::new(analysis.name(), &planned.spec, planned.sources, r)) {
            Ok(finished) => finished,
            Err(error) => return self.fail(analysis, &error),
        };
        if call::is_within() {
            self.done.push((analysis, finished));
            return;
        }
        let folder = self.folder(analysis);
        let flat = planned.flat.as_deref().map_or(Ok(()), |path| {
            write_whole(path, retrieval_json(&finished.results).as_bytes())
        });
        let texts = planned.decoding.as_ref().map_or(Ok(()), |decoding| {
            etes::write_with_texts(&etes::samples(&finished.results, decoding), &folder)
        });
        let written = match flat.map_err(Into::into).and(texts) {
            Ok(()) => finished.write(&folder, &outputs.output_dir, &outputs.figures),
            Err(error) => Err(error),
        };
        match written {
            Ok(written) => self.say(&format!(
                "{}: {} are in {}",
                analysis.name(),
                written.in_words("results.json"),
                folder.display()
            )),
            Err(error) => self.fail(analysis, &error),
        }
        self.done.push((analysis, finished));
    }

    fn fail(&mut self, analysis: Analysis, error: &anyhow::Error) {
        let reason = crate::message(error);
        self.say(&format!("{}: failed: {reason}", analysis.name()));
        self.failed.push((analysis, reason));
    }

    /// Puts all analyses together: `results.json`, `samples.npz`, maps, `report.html`, and the table on stdout.
    fn finish(&mut self, studies: &[Study], plan: ResultsDocument) -> Result<ExitCode> {
        let code = if self.failed.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(2)
        };
        if self.done.is_empty() {
            let reasons: Vec<String> = self
                .failed
                .iter()
                .map(|(a, why)| format!("{}: {why}", a.name()))
                .collect();
            bail!("no analysis could be computed\n- {}", reasons.join("\n- "));
        }
        self.done
            .sort_by_key(|(analysis, _)| ANALYSES.iter().position(|(other, _)| other == analysis));
        let all: Vec<&Results> = self.done.iter().map(|(_, finished)| &finished.results).collect();
        let mut results = Results::join(&all);
        self.watched(1, 1, |driver| draw_maps(&mut results, studies, driver));
        parts::add_classes(&mut results, studies);
        let outputs = &self.options.outputs;
        let mut spec = plan.spec;
        for (analysis, why) in &self.failed {
            if call::is_within() {
                results.warnings.push(format!("{} failed: {why}", analysis.name()));
            }
            // Results that could not be written are there.
            if !self.done.iter().any(|(done, _)| done == analysis) {
                document::note_failure(&mut spec, *analysis, why);
            }
        }
        let document = ResultsDocument::new("evaluate", spec, plan.inputs, &results);
        let finished = Finished { document, results };
        if call::is_within() {
            call::hand_over(Answer::Results(Box::new(finished)))?;
            return Ok(code);
        }
        let root = &outputs.output_dir;
        report_page::draw_maps(&finished, root, &outputs.figures)?;
        write_whole(&root.join("report.html"), report_page::html(&finished).as_bytes())?;
        finished.write_document(root)?;
        if !outputs.machine.quiet {
            outputs::warn(&finished.results.warnings);
        }
        outputs::show(&finished, outputs.json, outputs.format, &table)?;
        let of_gates = match &self.gates {
            Some(gates) => gates.check(&finished).conclude(outputs)?,
            None => ExitCode::SUCCESS,
        };
        let samples = if finished.has_samples() { ", samples.npz" } else { "" };
        self.say(&format!(
            "results.json{samples} and report.html are in {}",
            root.display()
        ));
        // An error weighs more than a gate.
        Ok(if self.failed.is_empty() { of_gates } else { code })
    }

    /// What became of each analysis. Failures are told even to those who want to hear nothing.
    fn summarize(&self, left_out: Vec<Analysis>, unwanted: Vec<Analysis>) {
        let names = |list: Vec<Analysis>| list.iter().map(|a| a.name()).collect::<Vec<_>>().join(", ");
        let is_failed = |analysis: Analysis| self.failed.iter().any(|(failed, _)| *failed == analysis);
        let computed: Vec<Analysis> = self
            .done
            .iter()
            .map(|(analysis, _)| *analysis)
            .filter(|analysis| !self.taken.contains(analysis) && !is_failed(*analysis))
            .collect();
        for (what, list) in [
            ("computed", computed),
            ("taken from an earlier run", self.taken.clone()),
            ("left out", left_out),
            ("not asked for", unwanted),
        ] {
            if !list.is_empty() {
                self.say(&format!("{what}: {}", names(list)));
            }
        }
        for (analysis, reason) in self.failed.iter().filter(|_| !call::is_within()) {
            advise(&format!("error: {} failed: {reason}", analysis.name()));
        }
    }
}

/// All scores; those of a retrieval and of generated texts have tables of their own form.
pub fn table(results: &Results, format: Format) -> String {
    let (width, color) = (outputs::width(), outputs::color());
    let part = |analysis| parts::of_analysis(results, analysis).filter(|_| format != Format::Csv);
    let own = [
        part(Analysis::Retrieval).map(|part| retrieval_table(&part, format, width, color)),
        part(Analysis::Etes).map(|part| etes_table(&part, format, width, color)),
    ];
    let own: Vec<String> = own.into_iter().flatten().collect();
    if own.is_empty() {
        return render(results, format, width, color);
    }
    let of_codes = report_page::of_codes(results);
    let codes = (!of_codes.scores.is_empty()).then(|| render(&of_codes, format, width, color));
    let tables: Vec<String> = codes.into_iter().chain(own).collect();
    tables
        .iter()
        .map(|table| table.trim_end())
        .collect::<Vec<_>>()
        .join("\n\n")
        + "\n"
}

/// Which analyses will run on what, and why the others will not.
fn announcement(plan: &Plan) -> String {
    let names: Vec<&str> = plan.running.iter().map(|planned| planned.analysis.name()).collect();
    let mut lines = vec![format!("running {}", names.join(", "))];
    if !plan.inputs.studies.is_empty() {
        let models = outputs::counted(plan.inputs.studies.len(), "model");
        lines[0] += &format!(" on {models} of {} rows", plan.inputs.rows());
    }
    for (analysis, reason) in &plan.left_out {
        lines.push(format!("leaving out {}: {reason}", analysis.name()));
    }
    lines.join("\n")
}

/// `evaluate --init`.
fn write_example(path: &Path, is_quiet: bool) -> Result<ExitCode> {
    if path.exists() {
        bail!(
            "{} is there already; name another file with --init FILE",
            path.display()
        );
    }
    write_whole(path, study_file::EXAMPLE.as_bytes())?;
    if !is_quiet {
        advise(&format!(
            "{0} is written; name your files in it, then run `repscope evaluate {0}`",
            path.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
