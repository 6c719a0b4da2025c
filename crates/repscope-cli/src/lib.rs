// SPDX-License-Identifier: MIT
//! The repscope command as a library: [`main`] is the command, [`call::answer`] runs it for a program that keeps the results
//! ([`Finished`]).
#![forbid(unsafe_code)]

mod args;
pub mod call;
mod commands;
pub mod declared;
mod decoding_inputs;
mod encoding;
mod evaluation;
mod failure;
mod figure_files;
mod finished;
mod gates;
mod inputs;
mod models;
mod noise;
mod outputs;
mod performance_file;
mod perturbation;
mod progress;
mod reader;
mod report_page;
mod retrieval_inputs;
mod search;
mod study_file;
mod text_encoder;
mod validation;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use args::{Cli, Command};
use clap::Parser;

pub use failure::{Failure, failure};
pub use finished::{FigureFile, open};
pub use outputs::Finished;
pub use repscope_render::Format;

/// The command: parses, runs, reports. Exit codes: 0 ok, 1 a gate failed, 2 error.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words = args::with_dashes(words);
    let cli = Cli::parse_from(&words);
    match run(cli.command, words) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            outputs::advise(&format!("error: {}", message(&error)));
            ExitCode::from(2)
        }
    }
}

/// Runs a command; `words` is the whole command line that it was read from.
fn run(command: Command, words: Vec<OsString>) -> Result<ExitCode> {
    match command {
        Command::Smoothness(options) => commands::analyses::smoothness(&options),
        Command::Robustness(options) => commands::robustness::robustness(&options),
        Command::Neighborhood(options) => commands::analyses::neighborhood(&options),
        Command::Manifold(options) => commands::analyses::manifold(&options),
        Command::Rankme(options) => commands::analyses::rankme(&options),
        Command::Clid(options) => commands::clid::run(&options),
        Command::Geometry(options) => commands::analyses::geometry(&options),
        Command::Retrieval(options) => commands::retrieval::run(&options),
        Command::Etes(options) => commands::etes::run(&options),
        Command::Perturb(options) => commands::perturb::run(&options),
        Command::Encode(options) => commands::encode::run(&options),
        Command::Evaluate(options) => commands::evaluate::run(*options, words),
        Command::Report(options) => commands::report::run(&options),
        Command::Compare(options) => commands::compare::run(&options),
        Command::Check(options) => commands::check::run(&options),
        Command::Validate(options) => commands::validate::run(&options),
        Command::Metrics(options) => commands::metrics::run(&options),
        Command::Explain(options) => commands::explain::run(&options),
        Command::Demo(options) => commands::demo::run(&options),
        Command::Manual(options) => commands::manual::run(&options),
        Command::Bench(options) => commands::bench::run(&options.job),
    }
}

/// The error and its causes; one that the message before it already quotes is not said twice.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}

/// The reader of our output has gone (`repscope metrics | head`): nothing is wrong.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
