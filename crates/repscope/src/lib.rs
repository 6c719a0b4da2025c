// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
//!
//! # The map
//!
//! What is asked is a value, and so is what is answered. The map, in the order data flow:
//!
//! - [`source`]: where inputs come from: files, arrays, encoders.
//! - [`options`]: the options that several requests share; how a study file and keyword arguments become options.
//! - [`analysis`]: one file per analysis, and [`ANALYSES`], the list of all. An analysis is a struct of options: its command line, its
//!   table in a study file, and its keyword arguments in Python.
//! - [`usual`]: the places where a command looks that is given no model.
//! - `inputs`, `reader`, `models`, `encoding`: sources become studies.
//! - `evaluation`: a request becomes a plan, the plan runs in groups that share passes, and the results become a [`Report`].
//! - [`compare`]: models against each other; [`gate`]: limits that scores must keep.
//! - [`Report`]: results and everything that is made of them: tables, figures, the page, files.
//! - [`Session`]: who hears of a run. Nothing here prints, and nothing depends on it.
#![forbid(unsafe_code)]

pub mod analysis;
mod command_line;
pub mod compare;
#[cfg(any(feature = "ndarray", feature = "faer"))]
mod conversions;
pub mod declared;
mod depth;
mod encode;
#[doc(hidden)] // for benchmarks
pub mod encoding;
mod error;
mod evaluation;
mod figure_files;
mod functions;
pub mod gate;
#[doc(hidden)] // for benchmarks
pub mod inputs;
mod models;
pub mod options;
mod performance_file;
mod pictures;
#[doc(hidden)] // for benchmarks
pub mod reader;
mod report;
mod report_page;
mod request;
mod search;
mod session;
pub mod source;
mod study_file;
mod threads;
pub mod usual;
mod versions;

pub use analysis::{ANALYSES, Analysis};
pub use compare::Compare;
pub use encode::{Encode, Encoded};
pub use error::{Error, Result, message};
pub use evaluation::problems::Problems;
pub use evaluation::request::{Choice, Evaluate};
pub use evaluation::run::{Evaluation, run, write_example};
pub use functions::*;
pub use report::{Report, Terminal, Written, counted, document_in};
pub use repscope_core::{Labels, Score, Values};
pub use repscope_io::Array;
pub use repscope_io::names::did_you_mean;
pub use repscope_render::{Color, Format};
pub use request::{Answer, Request, command};
pub use search::list;
pub use session::{Cancelled, Listener, Session};
pub use source::{Named, Source};
pub use threads::threads;

/// Runs every analysis whose inputs are there, and puts them into one report. Where outputs are given, each analysis is saved in the
/// output folder as it finishes.
pub fn evaluate(request: &Evaluate, save: Option<&options::Outputs>, session: &Session) -> Result<Evaluation> {
    evaluate_with(request, save, session, Problems::default())
}

/// The same, where reading the request found problems already: they are reported with the rest.
pub fn evaluate_with(
    request: &Evaluate,
    save: Option<&options::Outputs>,
    session: &Session,
    problems: Problems,
) -> Result<Evaluation> {
    Ok(evaluation::run::evaluate(request, save, session, problems)?)
}

/// The text encoder that a checkpoint says it was trained with; none where it says nothing.
pub fn trained_with(checkpoint: &std::path::Path) -> Result<Option<String>> {
    Ok(repscope_models::trained_with(checkpoint).map_err(anyhow::Error::from)?)
}

/// Runs an encoder.
pub fn encode(request: &Encode, session: &Session) -> Result<Encoded> {
    Ok(encode::encode(request, session)?)
}
