// SPDX-License-Identifier: MIT
//! How a request is run: who hears of it, and what the driver does.

use repscope_core::run::{Driver, Order, Progress, Silent};

/// Who hears how far a run is, and what is worth knowing on the way. To stop a run, let `advance` unwind with [`Cancelled`].
pub trait Listener: Progress {
    /// A line of advice: what runs, what is taken from an earlier run, where files are.
    fn say(&self, _text: &str) {}
}

impl Listener for Silent {}

/// What a listener unwinds with when a run is to stop.
pub struct Cancelled;

/// The circumstances of a run. None of them changes a number.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    listener: &'a dyn Listener,
    prunes: bool,
}

impl Session<'static> {
    /// Nobody listens.
    pub fn silent() -> Self {
        Session::new(&Silent)
    }
}

impl<'a> Session<'a> {
    /// A session that somebody listens to.
    pub fn new(listener: &'a dyn Listener) -> Self {
        Session { listener, prunes: true }
    }

    /// Every pair of rows is compared by all coordinates: for benchmarks, and for those who doubt that the bits are the same.
    pub fn without_pruning(self) -> Self {
        Session { prunes: false, ..self }
    }

    /// The same circumstances with another listener.
    pub(crate) fn with<'b>(&self, listener: &'b dyn Listener) -> Session<'b> {
        Session {
            listener,
            prunes: self.prunes,
        }
    }

    /// Runs tasks on the current thread pool.
    pub fn driver(&self) -> Driver<'_> {
        let driver = Driver::new(Order::Parallel, self.listener);
        if self.prunes { driver } else { driver.without_pruning() }
    }

    /// Passes a line of advice to the listener.
    pub fn say(&self, text: &str) {
        self.listener.say(text);
    }

    pub(crate) fn listener(&self) -> &'a dyn Listener {
        self.listener
    }
}
