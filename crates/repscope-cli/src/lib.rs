// SPDX-License-Identifier: MIT
//! The repscope command: reads a command line, has the library answer it, and shows the answer.
//!
//! The map: `args` is what can be typed, `commands` has a file for each command or two, `outputs` and `progress` are stdout and stderr,
//! and `validation` holds the claims of `repscope validate`.
#![forbid(unsafe_code)]

mod args;
mod cluster;
mod commands;
mod outputs;
mod panics;
mod progress;
mod validation;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use args::{First, Last, PerturbCommand, Typed};
pub use cluster::{Asked, Connect, Open, reach_clusters};
use repscope::Session;
use repscope::options::Machine;
use repscope_models::runtime::{Isolation, isolate};

/// The command: parses, runs, reports. Exit codes: 0 ok, 1 a gate failed, 2 error.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    if repscope_io::stdout_was_closed() {
        outputs::advise("error: stdout is closed, so the result would go nowhere; use >/dev/null if it is not wanted");
        return ExitCode::from(2);
    }
    let words = args::with_dashes(words);
    let typed = match args::parse(&words) {
        Ok(typed) => typed,
        Err(error) => return outputs::refuse(&words, &error),
    };
    if let Some(fault) = std::env::var_os("REPSCOPE_FAULT") {
        repscope_io::inject_fault(&fault.to_string_lossy());
    }
    if let Err(error) = repscope_io::clean_up_on_signals() {
        outputs::advise(&format!("temporary files stay if a signal ends this run: {error}"));
    }
    match panics::caught(|| run(typed)) {
        Ok(_) if repscope_io::was_truncated() => {
            outputs::advise(
                "error: a file was cut off by another program while it was read, so what was shown may be wrong; run again when no \
                 other program writes the inputs",
            );
            ExitCode::from(2)
        }
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            outputs::advise(&format!("error: {}", repscope::message(&error)));
            ExitCode::from(2)
        }
    }
}

/// Has models that come from files run in a process of their own: this command again, whose program and first arguments are given. One batch
/// may take an hour, or as many seconds as `REPSCOPE_BATCH_SECONDS` says.
pub fn isolate_models(mut command: Vec<OsString>) {
    command.push("run-model".into());
    let seconds = std::env::var_os("REPSCOPE_BATCH_SECONDS").and_then(|text| text.to_str()?.parse().ok());
    isolate(Isolation {
        command,
        seconds: seconds.unwrap_or(3600),
    });
}

fn run(typed: Typed) -> Result<ExitCode> {
    match typed {
        Typed::Analysis(request, outputs) => commands::analyses::run(request, &outputs),
        Typed::Evaluate(request, matches) => commands::evaluate::run(*request, &matches),
        Typed::First(first) => match *first {
            First::Demo(options) => commands::demo::run(&options),
            First::Compare(request) => commands::evaluate::compare(*request),
            First::Report(options) => commands::report::run(&options),
            First::Evaluate(_) => bail!("internal error: `evaluate` is read apart. Please report this"),
        },
        Typed::Last(last) => match *last {
            Last::Perturb(PerturbCommand::Generate(options)) => commands::analyses::generate(&options),
            Last::Perturb(PerturbCommand::Evaluate(options)) => commands::analyses::evaluate(*options),
            Last::Encode(options) => commands::analyses::encode(&options),
            Last::Check(options) => commands::check::run(&options),
            Last::Validate(options) => commands::validate::run(&options),
            Last::Metrics(options) => commands::explain::list(&options),
            Last::Explain(options) => commands::explain::run(&options),
            Last::Manual(options) => commands::manual::run(&options),
            Last::Bench(options) => commands::bench::run(&options.job),
            Last::RunModel => {
                repscope_models::runtime::serve(std::io::stdin(), std::io::stdout())?;
                Ok(ExitCode::SUCCESS)
            }
        },
    }
}

/// Starts as many threads as asked, for reading and computing alike, and has files read within the limits of the machine. To be called
/// once, before either.
fn start_threads(machine: &Machine) -> Result<()> {
    machine.apply()?;
    let pool = repscope::threads(machine.threads)?;
    pool.build_global().context("starting the threads")
}

/// A session for people. `REPSCOPE_PRUNING=off` in the environment has every pair looked at with all its coordinates.
fn session(listener: &dyn repscope::Listener) -> Session<'_> {
    let session = Session::new(listener);
    match std::env::var_os("REPSCOPE_PRUNING") {
        Some(value) if value == "off" => session.without_pruning(),
        _ => session,
    }
}

/// The reader of our output has gone (`repscope metrics | head`): nothing is wrong.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
