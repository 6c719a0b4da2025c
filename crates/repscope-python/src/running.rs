// SPDX-License-Identifier: MIT
//! Calls: each runs on its own thread pool, while the calling thread waits, reports the progress, answers Ctrl-C, and runs the encoders
//! that are Python functions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, anyhow};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use rayon::ThreadPool;
use repscope::source::Encode;
use repscope::{Answer, Array, Request, Session, Source};
use repscope_core::blocks::{Stage, Take, Workers};

use crate::arrays::{self, Given};
use crate::blocks;
use crate::errors::{InputError, exception, of_panic};
use crate::results::Run;
use crate::watching::Watcher;

/// How often the waiting thread looks for Ctrl-C and reports the progress.
const LOOK: Duration = Duration::from_millis(50);

/// An array of the caller: its name, its values, and the encoder that made it, where it is a Python function. Of a matrix that is not
/// here, the values are a [`Matrix`](blocks::Matrix).
type Lent<'py> = (String, Given<'py>, Option<Py<PyAny>>);

/// What reaches the waiting thread.
enum Message {
    /// A batch for the encoder with this number, and where its embeddings go; nothing comes back where it failed.
    Encode {
        number: usize,
        shape: Vec<usize>,
        values: Vec<f32>,
        reply: SyncSender<Option<Array>>,
    },
    /// A stage for workers, and where partials go; the channel is closed at the end, or earlier where something failed.
    Stage { stage: Stage, reply: SyncSender<Vec<u8>> },
    /// The end.
    Done(std::thread::Result<repscope::Result<Answer>>),
}

/// An encoder that is a Python function, as the working thread sees it.
struct Remote {
    number: usize,
    ask: Sender<Message>,
}

impl Encode for Remote {
    fn encode(&mut self, shape: &[usize], values: &[f32]) -> anyhow::Result<Array> {
        let (reply, embeddings) = mpsc::sync_channel(1);
        let message = Message::Encode {
            number: self.number,
            shape: shape.to_vec(),
            values: values.to_vec(),
            reply,
        };
        self.ask.send(message).map_err(|_| anyhow!("nobody waits any more"))?;
        embeddings.recv().ok().flatten().context("the encoder failed")
    }
}

/// Workers that are reached through the executor of the caller, as the working thread sees them.
struct Called(Mutex<Sender<Message>>);

impl Workers for Called {
    fn run(&self, stage: &Stage, take: Take) -> repscope_core::Result<()> {
        let (reply, partials) = mpsc::sync_channel(1);
        let expected = stage.tasks.len();
        let message = Message::Stage {
            stage: stage.clone(),
            reply,
        };
        let stopped = || repscope_core::Error::input("the workers have stopped");
        let ask = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        ask.send(message).map_err(|_| stopped())?;
        for _ in 0..expected {
            take(partials.recv().map_err(|_| stopped())?)?;
        }
        Ok(())
    }
}

/// Runs a request on arrays in memory and keeps its results. An executor runs stages on matrices that are not here.
#[pyfunction]
#[pyo3(signature = (command, options, arrays, threads, progress, executor=None))]
pub fn compute(
    py: Python<'_>,
    command: &str,
    options: &str,
    arrays: Vec<Lent<'_>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    executor: Option<Py<PyAny>>,
) -> PyResult<Run> {
    match ask(py, command, options, &arrays, threads, progress, executor)? {
        Answer::Report(report) => Ok(Run::new(*report)),
        Answer::Encoded(_) => Err(InputError::new_err("this command gives embeddings, not results")),
    }
}

/// Runs a model over an array and gives its embeddings, by the names of its outputs.
#[pyfunction]
#[pyo3(signature = (options, arrays, threads, progress))]
pub fn encode<'py>(
    py: Python<'py>,
    options: &str,
    arrays: Vec<Lent<'py>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    match ask(py, "encode", options, &arrays, threads, progress, None)? {
        Answer::Encoded(encoded) => {
            let outputs = encoded.arrays().map_err(|error| exception(error.into()))?;
            let give = |(name, array): &(String, Array)| Ok((name.clone(), arrays::to_python(py, array)?));
            outputs.iter().map(give).collect()
        }
        Answer::Report(_) => Err(InputError::new_err("this command gives results, not embeddings")),
    }
}

fn ask(
    py: Python<'_>,
    command: &str,
    options: &str,
    arrays: &[Lent<'_>],
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    executor: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let (send, messages) = mpsc::channel();
    let workers: Arc<dyn Workers> = Arc::new(Called(Mutex::new(send.clone())));
    let mut sources = Vec::new();
    for (number, (name, given, encoder)) in arrays.iter().enumerate() {
        let array = match given.0.extract::<blocks::Matrix>() {
            Ok(matrix) => blocks::array(&matrix, workers.clone())?,
            Err(_) => arrays::array(given)?,
        };
        sources.push(match encoder {
            None => Source::Array(name.clone(), array),
            Some(_) => {
                let ask = send.clone();
                Source::Encoder(name.clone(), array, Arc::new(Mutex::new(Remote { number, ask })))
            }
        });
    }
    let options = serde_json::from_str(options).map_err(|error| InputError::new_err(error.to_string()))?;
    let request = Request::read(command, options, &sources).map_err(exception)?;
    drop((sources, workers));
    let watcher = Arc::new(Watcher::default());
    let listener = watcher.clone();
    let pool = pool(threads)?;
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| request.run(&Session::new(&*listener))));
        // Where nobody waits any more, nobody wants it.
        let _ = send.send(Message::Done(done));
    });
    let waiting = Waiting {
        messages,
        watcher,
        arrays,
        progress,
        executor,
    };
    waiting.wait(py)
}

/// Threads for one call. They end with it, so that a process can fork at any time without losing any.
pub fn pool(threads: Option<usize>) -> PyResult<ThreadPool> {
    let builder = repscope::threads(threads).map_err(exception)?;
    builder.build().map_err(|error| InputError::new_err(error.to_string()))
}

/// The calling thread, until the work is done.
struct Waiting<'a, 'py> {
    messages: Receiver<Message>,
    watcher: Arc<Watcher>,
    arrays: &'a [Lent<'py>],
    progress: Option<Py<PyAny>>,
    executor: Option<Py<PyAny>>,
}

impl Waiting<'_, '_> {
    fn wait(mut self, py: Python<'_>) -> PyResult<Answer> {
        let mut shown = None;
        let mut stopped: Option<PyErr> = None;
        loop {
            let messages = &mut self.messages;
            let happened = match py.detach(move || messages.recv_timeout(LOOK)) {
                Ok(Message::Done(done)) => {
                    return match (stopped, done) {
                        (Some(error), _) => Err(error),
                        (None, Ok(Ok(answer))) => Ok(answer),
                        (None, Ok(Err(error))) => Err(exception(error)),
                        (None, Err(panic)) => Err(of_panic(&*panic)),
                    };
                }
                Ok(Message::Encode {
                    number,
                    shape,
                    values,
                    reply,
                }) => {
                    let embeddings = match &stopped {
                        None => self.encode(py, number, &shape, &values).map(Some),
                        Some(_) => Ok(None),
                    };
                    let (embeddings, failed) = match embeddings {
                        Ok(embeddings) => (embeddings, Ok(())),
                        Err(error) => (None, Err(error)),
                    };
                    // A working thread that has stopped takes no embeddings.
                    let _ = reply.send(embeddings);
                    failed
                }
                Ok(Message::Stage { stage, reply }) => match &stopped {
                    None => self.stage(py, &stage, reply, &mut shown),
                    Some(_) => Ok(()),
                },
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

    /// Reports how far the work is, where that has changed.
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

    /// Has the executor run a stage.
    fn stage(
        &self,
        py: Python<'_>,
        stage: &Stage,
        reply: SyncSender<Vec<u8>>,
        shown: &mut Option<(String, u64, u64)>,
    ) -> PyResult<()> {
        let executor = self.executor.as_ref();
        let executor = executor.ok_or_else(|| InputError::new_err("a matrix is elsewhere, and nobody can read it"))?;
        blocks::run_stage(py, executor, stage, |py, partial| {
            // A working thread that has stopped takes no partials.
            let goes_on = py.detach(|| reply.send(partial).is_ok());
            self.tell(py, shown)?;
            Ok(goes_on)
        })
    }

    /// Runs an encoder on a batch. It gives an array as [`arrays::array`] takes it.
    fn encode(&self, py: Python<'_>, number: usize, shape: &[usize], values: &[f32]) -> PyResult<Array> {
        let batch = PyArray1::from_slice(py, values).reshape(shape.to_vec())?;
        let encoder = self.arrays.get(number).and_then(|(_, _, encoder)| encoder.as_ref());
        let encoder = encoder.ok_or_else(|| InputError::new_err(format!("there is no encoder {number}")))?;
        let embeddings: Given<'_> = encoder.call1(py, (batch,))?.extract(py)?;
        arrays::array(&embeddings)
    }
}
