// SPDX-License-Identifier: MIT
//! Calls: the work goes on in threads of its own, while the calling thread waits, tells the progress, answers Ctrl-C, and
//! runs the encoders that are Python functions.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::Duration;

use anyhow::{Context, anyhow};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use repscope_cli::call::{Answer, Call, Encode, answer};
use repscope_io::Array;

use crate::arrays::{self, Given};
use crate::errors::{InputError, exception, of_panic};
use crate::results::Run;
use crate::watching::Watcher;

/// How often the waiting thread looks for Ctrl-C and tells the progress.
const LOOK: Duration = Duration::from_millis(50);
/// More threads than this take longer to start than to work.
const MOST_THREADS: usize = 1024;

/// What reaches the waiting thread.
enum Message {
    /// A batch for an encoder, and where its codes go; nothing comes back where it failed.
    Encode {
        name: String,
        shape: Vec<usize>,
        values: Vec<f32>,
        reply: SyncSender<Option<Array>>,
    },
    /// The end.
    Done(std::thread::Result<anyhow::Result<Answer>>),
}

/// An encoder that is a Python function, as the working thread sees it.
struct Remote {
    name: String,
    ask: Sender<Message>,
}

impl Encode for Remote {
    fn encode(&mut self, shape: &[usize], values: &[f32]) -> anyhow::Result<Array> {
        let (reply, codes) = mpsc::sync_channel(1);
        let message = Message::Encode {
            name: self.name.clone(),
            shape: shape.to_vec(),
            values: values.to_vec(),
            reply,
        };
        self.ask.send(message).map_err(|_| anyhow!("nobody waits any more"))?;
        codes.recv().ok().flatten().context("the encoder failed")
    }
}

/// Runs a command on arrays in memory and keeps its results.
#[pyfunction]
#[pyo3(signature = (words, arrays, encoders, metrics, threads, progress))]
pub fn compute(
    py: Python<'_>,
    words: Vec<String>,
    arrays: BTreeMap<String, Given<'_>>,
    encoders: BTreeMap<String, Py<PyAny>>,
    metrics: Vec<String>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Run> {
    match ask(py, words, &arrays, &encoders, metrics, threads, progress)? {
        Answer::Results(finished) => Ok(Run::new(*finished)),
        Answer::Codes(_) => Err(InputError::new_err("this command gives codes, not results")),
    }
}

/// Runs a model over an array and gives its codes, by the names of its outputs.
#[pyfunction]
#[pyo3(signature = (words, arrays, threads, progress))]
pub fn encode<'py>(
    py: Python<'py>,
    words: Vec<String>,
    arrays: BTreeMap<String, Given<'py>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    match ask(py, words, &arrays, &BTreeMap::new(), Vec::new(), threads, progress)? {
        Answer::Codes(codes) => codes
            .iter()
            .map(|(name, array)| Ok((name.clone(), arrays::to_python(py, array)?)))
            .collect(),
        Answer::Results(_) => Err(InputError::new_err("this command gives results, not codes")),
    }
}

fn ask(
    py: Python<'_>,
    words: Vec<String>,
    arrays: &BTreeMap<String, Given<'_>>,
    encoders: &BTreeMap<String, Py<PyAny>>,
    metrics: Vec<String>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let mut lent = BTreeMap::new();
    for (name, given) in arrays {
        lent.insert(name.clone(), arrays::array(given)?);
    }
    let watcher = Arc::new(Watcher::default());
    let (tell, told) = mpsc::channel();
    let remote = |name: &String| -> (String, Box<dyn Encode + Send>) {
        let ask = tell.clone();
        let name = name.clone();
        (name.clone(), Box::new(Remote { name, ask }))
    };
    let call = Call {
        words,
        arrays: lent,
        encoders: encoders.keys().map(remote).collect(),
        metrics,
        watcher: watcher.clone(),
    };
    let pool = pool(threads)?;
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| answer(call)));
        // Where nobody waits any more, nobody wants it.
        let _ = tell.send(Message::Done(done));
    });
    let waiting = Waiting {
        told,
        watcher,
        encoders,
        progress,
    };
    waiting.wait(py)
}

/// Threads for one call. They end with it, so that a process can fork at any time without losing any.
pub fn pool(threads: Option<usize>) -> PyResult<ThreadPool> {
    if let Some(threads) = threads.filter(|t| !(1..=MOST_THREADS).contains(t)) {
        return Err(InputError::new_err(format!(
            "threads = {threads} must be from 1 to {MOST_THREADS}; leave it out to use all cores"
        )));
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder.build().map_err(|error| InputError::new_err(error.to_string()))
}

/// The calling thread, until the work is done.
struct Waiting<'a> {
    told: Receiver<Message>,
    watcher: Arc<Watcher>,
    encoders: &'a BTreeMap<String, Py<PyAny>>,
    progress: Option<Py<PyAny>>,
}

impl Waiting<'_> {
    fn wait(mut self, py: Python<'_>) -> PyResult<Answer> {
        let mut shown = None;
        let mut stopped: Option<PyErr> = None;
        loop {
            let told = &mut self.told;
            let happened = match py.detach(move || told.recv_timeout(LOOK)) {
                Ok(Message::Done(done)) => {
                    return match (stopped, done) {
                        (Some(error), _) => Err(error),
                        (None, Ok(Ok(answer))) => Ok(answer),
                        (None, Ok(Err(error))) => Err(exception(&error)),
                        (None, Err(panic)) => Err(of_panic(&*panic)),
                    };
                }
                Ok(Message::Encode {
                    name,
                    shape,
                    values,
                    reply,
                }) => {
                    let codes = match &stopped {
                        None => self.encode(py, &name, &shape, &values).map(Some),
                        Some(_) => Ok(None),
                    };
                    let (codes, failed) = match codes {
                        Ok(codes) => (codes, Ok(())),
                        Err(error) => (None, Err(error)),
                    };
                    // A working thread that has stopped takes no codes.
                    let _ = reply.send(codes);
                    failed
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| self.tell(py, &mut shown)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(stopped.unwrap_or_else(|| of_panic(&"the working thread is gone")));
                }
            };
            if let Err(error) = happened {
                self.watcher.cancel();
                stopped.get_or_insert(error);
            }
        }
    }

    /// Tells how far the work is, where that has changed.
    fn tell(&self, py: Python<'_>, shown: &mut Option<(String, u64, u64)>) -> PyResult<()> {
        let Some(progress) = &self.progress else {
            return Ok(());
        };
        let state = self.watcher.state();
        if shown.as_ref() != Some(&state) {
            progress.call1(py, (&state.0, state.1, state.2))?;
            *shown = Some(state);
        }
        Ok(())
    }

    /// Shows a batch to an encoder. It gives an array as [`arrays::array`] takes it.
    fn encode(&self, py: Python<'_>, name: &str, shape: &[usize], values: &[f32]) -> PyResult<Array> {
        let batch = PyArray1::from_slice(py, values).reshape(shape.to_vec())?;
        let encoder = self.encoders.get(name);
        let encoder = encoder.ok_or_else(|| InputError::new_err(format!("there is no encoder {name}")))?;
        let codes: Given<'_> = encoder.call1(py, (batch,))?.extract(py)?;
        arrays::array(&codes)
    }
}
