// SPDX-License-Identifier: MIT
//! Progress bars and advice on stderr, only where a person is watching.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use repscope::{Color, Listener};
use repscope_core::run::Progress;

use crate::outputs::{harmless, say};

/// One bar for the current stage; it stays hidden for stages that take less than a moment.
pub struct Bars {
    current: Mutex<ProgressBar>,
    quiet: bool,
}

impl Bars {
    pub fn new(quiet: bool) -> Self {
        Bars {
            current: Mutex::new(ProgressBar::hidden()),
            quiet,
        }
    }

    fn current(&self) -> MutexGuard<'_, ProgressBar> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, steps: u64) {
        if self.quiet {
            return;
        }
        // indicatif draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new(steps).with_message(harmless(stage, Color::No));
        let template = "{msg:>10} {wide_bar} {percent:>3} %  {eta_precise} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        let mut current = self.current();
        current.finish_and_clear();
        *current = bar;
    }

    fn advance(&self, steps: u64) {
        self.current().inc(steps);
    }
}

impl Listener for Bars {
    fn say(&self, text: &str) {
        // A bar would be torn by a line written over it.
        let current = self.current();
        current.suspend(|| say(self.quiet, text));
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.current().finish_and_clear();
    }
}
