// SPDX-License-Identifier: MIT
//! A call from within a program: the command runs as from a shell, but reads arrays that the program lends, tells its
//! progress to the program, and hands over its results instead of printing and writing them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use repscope_core::Metric;
use repscope_core::run::Progress;
use repscope_io::{Array, lend};

use crate::args::{self, Cli};
use crate::outputs::Finished;

/// What a program asks.
pub struct Call {
    /// The command and its options, as they would be typed behind `repscope`. Names of arrays stand where paths would.
    pub words: Vec<String>,
    /// The arrays that it lends.
    pub arrays: BTreeMap<String, Array>,
    /// Encoders of the program, by the name under which their codes are lent: they are shown states with noise.
    pub encoders: BTreeMap<String, Box<dyn Encode + Send>>,
    /// The metrics that are computed; none means all of the command.
    pub metrics: Vec<String>,
    /// Who wants to know how far it is. To stop the call, let `advance` unwind with [`Cancelled`].
    pub watcher: Arc<dyn Progress + Send + Sync>,
}

/// An encoder that lives in the calling program.
pub trait Encode {
    /// The codes of a batch; `shape` is that of `values`, and its first number counts the rows.
    fn encode(&mut self, shape: &[usize], values: &[f32]) -> Result<Array>;
}

/// What a call gives.
pub enum Answer {
    /// The results of an analysis.
    Results(Box<Finished>),
    /// The codes of an encoder, by the names of its outputs.
    Codes(Vec<(String, Array)>),
}

/// What a watcher unwinds with when a call is to stop.
pub struct Cancelled;

/// Runs a command for a program.
pub fn answer(call: Call) -> Result<Answer> {
    let words = std::iter::once("repscope".to_string()).chain(call.words);
    let words = args::with_dashes(words.map(Into::into));
    let cli = Cli::try_parse_from(&words).map_err(|error| anyhow!(args::one_line(&error)))?;
    let current = Rc::new(Current {
        encoders: RefCell::new(call.encoders),
        metrics: call.metrics,
        watcher: call.watcher,
        answer: RefCell::new(None),
    });
    let within = Within::begin(current.clone());
    let done = lend(call.arrays, || crate::run(cli.command, words));
    drop(within);
    done?;
    let answer = current.answer.borrow_mut().take();
    answer.context("this command has no results that a program could take")
}

/// The call that this thread is working for.
pub(crate) struct Current {
    encoders: RefCell<BTreeMap<String, Box<dyn Encode + Send>>>,
    metrics: Vec<String>,
    watcher: Arc<dyn Progress + Send + Sync>,
    answer: RefCell<Option<Answer>>,
}

thread_local! {
    static CALLS: RefCell<Vec<Rc<Current>>> = const { RefCell::new(Vec::new()) };
}

/// As long as it is there, this thread works for a call.
struct Within;

impl Within {
    fn begin(current: Rc<Current>) -> Self {
        CALLS.with_borrow_mut(|calls| calls.push(current));
        Within
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(|calls| calls.pop());
    }
}

/// The call, where there is one.
pub(crate) fn current() -> Option<Rc<Current>> {
    CALLS.with_borrow(|calls| calls.last().cloned())
}

/// Whether a program takes the results, so that nothing is printed or written.
pub(crate) fn is_within() -> bool {
    current().is_some()
}

/// Hands results to the program.
pub(crate) fn hand_over(answer: Answer) -> Result<()> {
    let Some(current) = current() else {
        bail!("internal error: nobody called for these results. Please report this");
    };
    current.answer.replace(Some(answer));
    Ok(())
}

/// The metrics that the program wants; all where there is no program, or it did not choose.
pub(crate) fn wanted(metrics: Vec<&'static Metric>) -> Vec<&'static Metric> {
    let chosen = current().map(|call| call.metrics.clone()).unwrap_or_default();
    let is_wanted = |metric: &&Metric| chosen.is_empty() || chosen.iter().any(|id| id == metric.id);
    metrics.into_iter().filter(is_wanted).collect()
}

impl Current {
    pub(crate) fn watcher(&self) -> Arc<dyn Progress + Send + Sync> {
        self.watcher.clone()
    }
}

/// Whether the program has an encoder whose codes are lent under this name.
pub(crate) fn has_encoder(name: &str) -> bool {
    current().is_some_and(|call| call.encoders.borrow().contains_key(name))
}

/// Shows a batch to an encoder of the program.
pub(crate) fn encode(name: &str, shape: &[usize], values: &[f32]) -> Result<Array> {
    let call = current().context("internal error: an encoder without a program. Please report this")?;
    let mut encoders = call.encoders.borrow_mut();
    let encoder = encoders
        .get_mut(name)
        .with_context(|| format!("there is no encoder {name}"))?;
    encoder.encode(shape, values)
}
