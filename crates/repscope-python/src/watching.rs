// SPDX-License-Identifier: MIT
//! Progress of a call: written by the threads that work, read by the one that waits.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use repscope::{Cancelled, Listener};
use repscope_core::run::Progress;

#[derive(Default)]
pub struct Watcher {
    /// The current stage and how many steps it has.
    stage: Mutex<(String, u64)>,
    done: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Watcher {
    /// Makes the work stop at its next step.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// The stage, how many steps are done, and how many there are.
    pub fn state(&self) -> (String, u64, u64) {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        (stage.0.clone(), self.done.load(Ordering::Relaxed).min(stage.1), stage.1)
    }

    /// Unwinds where the call is to stop; nothing is printed.
    fn stop_if_cancelled(&self) {
        if self.is_cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
    }
}

impl Progress for Watcher {
    fn begin(&self, stage: &str, steps: u64) {
        self.stop_if_cancelled();
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = (stage.to_string(), steps);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.stop_if_cancelled();
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

impl Listener for Watcher {}
