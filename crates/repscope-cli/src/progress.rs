// SPDX-License-Identifier: MIT
//! Progress bars on stderr, only where a person is watching; or whoever called the command from within a program.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use repscope_core::run::{Progress, Silent};

use crate::args::Machine;
use crate::call;

/// Who watches a run.
pub enum Watching {
    Program(Arc<dyn Progress + Send + Sync>),
    Person(Bars),
    Nobody,
}

impl Watching {
    pub fn new(machine: &Machine) -> Self {
        match call::current() {
            Some(call) => Watching::Program(call.watcher()),
            None if machine.quiet => Watching::Nobody,
            None => Watching::Person(Bars::new()),
        }
    }

    pub fn progress(&self) -> &dyn Progress {
        match self {
            Watching::Program(watcher) => &**watcher,
            Watching::Person(bars) => bars,
            Watching::Nobody => &Silent,
        }
    }
}

/// One bar for the current stage; it stays hidden for stages that take less than a moment.
pub struct Bars {
    current: Mutex<ProgressBar>,
}

impl Bars {
    pub fn new() -> Self {
        Bars {
            current: Mutex::new(ProgressBar::hidden()),
        }
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, steps: u64) {
        // indicatif draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new(steps).with_message(stage.to_string());
        let template = "{msg:>10} {wide_bar} {percent:>3} %  {eta_precise} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        let mut current = self.current.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        current.finish_and_clear();
        *current = bar;
    }

    fn advance(&self, steps: u64) {
        self.current
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .inc(steps);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.current
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .finish_and_clear();
    }
}
