// SPDX-License-Identifier: MIT
//! A graph of a stranger that runs in this process: on a thread with a stack that suffices for long and nested graphs, which are followed
//! by recursion. Pages of the stack are taken as they are used.

use super::rten_session::RtenSession;
use super::{ModelBytes, Port, Session, Value};
use crate::error::{Result, wrong};

/// Some hundred thousand nodes in a row.
pub(super) const STACK: usize = 512 << 20;

pub(super) struct DeepSession(RtenSession);

impl DeepSession {
    pub(super) fn load(model: ModelBytes, threads: usize) -> Result<Self> {
        deeply(|| RtenSession::load(model, threads)).map(DeepSession)
    }
}

impl Session for DeepSession {
    fn inputs(&self) -> &[Port] {
        self.0.inputs()
    }

    fn outputs(&self) -> &[Port] {
        self.0.outputs()
    }

    fn engine(&self) -> String {
        self.0.engine()
    }

    fn run(&mut self, inputs: Vec<(String, Value)>, outputs: &[String]) -> Result<Vec<Value>> {
        deeply(|| self.0.run(inputs, outputs))
    }
}

/// Works on a thread with a large stack.
fn deeply<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| wrong!("a thread that runs the model cannot be started: {error}"))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
