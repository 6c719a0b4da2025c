// SPDX-License-Identifier: MIT
//! Matrices that workers hold: tasks go to an executor of the Python side, whose workers call [`run_task`].

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use repscope_core::blocks::{Elsewhere, Rows, Stage, Task, Workers, execute_kept};
use repscope_core::run::{Driver, Order};
use repscope_core::{Error, Space, Values, draw_queries, nearest_neighbors, nearest_neighbors_of};
use repscope_io::{Array, Data};

use crate::arrays;
use crate::errors::{InputError, exception};
use crate::running::pool;

/// A matrix that is not here: its number, rows, columns, whether its numbers have 32 bits, and what identifies its contents.
pub type Matrix = (u32, usize, usize, bool, String);

/// A matrix as an array that only these workers can read.
pub fn array((number, rows, columns, is_single, digest): &Matrix, workers: Arc<dyn Workers>) -> PyResult<Array> {
    let own = Elsewhere::new(*number, (*rows, *columns), *is_single, digest.clone(), workers);
    let dtype = if *is_single { "f32" } else { "f64" };
    Array::new(vec![*rows, *columns], dtype, Data::Elsewhere(Arc::new(own)))
        .map_err(|error| InputError::new_err(error.to_string()))
}

/// What a task reads, as Python sees it: the number of the matrix, and its first row and the one behind the last, or single rows.
type Read = (u32, Option<(usize, usize)>, Option<Py<PyArray1<u32>>>);

/// A task as Python sees it: what it reads, the numbers of its parts, its body, its cost, and whether workers keep what they made.
type Described = (Vec<Read>, Vec<usize>, Py<PyBytes>, f64, bool);

fn described(py: Python<'_>, task: &Task) -> Described {
    let read = |read: &repscope_core::blocks::Read| match &read.rows {
        Rows::Span(span) => (read.matrix, Some((span.start, span.end)), None),
        Rows::Each(rows) => (read.matrix, None, Some(PyArray1::from_slice(py, rows).unbind())),
    };
    let reads = task.reads.iter().map(read).collect();
    (
        reads,
        task.parts.clone(),
        PyBytes::new(py, &task.body).unbind(),
        task.cost,
        task.keeps,
    )
}

/// Has an executor run a stage; `take` gets the partials in the order of the tasks. It says whether to go on.
pub fn run_stage(
    py: Python<'_>,
    executor: &Py<PyAny>,
    stage: &Stage,
    mut take: impl FnMut(Python<'_>, Vec<u8>) -> PyResult<bool>,
) -> PyResult<()> {
    let parts = PyList::new(py, stage.parts.iter().map(|part| PyBytes::new(py, part)))?;
    let tasks: Vec<Described> = stage.tasks.iter().map(|task| described(py, task)).collect();
    let shared = PyBytes::new(py, &stage.shared);
    let partials = executor.call1(py, (&stage.name, shared, parts, tasks))?;
    let partials = partials.bind(py).try_iter()?;
    for partial in partials {
        let partial: PyBackedBytes = partial?.extract()?;
        if !take(py, partial.to_vec())? {
            break;
        }
    }
    Ok(())
}

/// Workers that a command reaches through an executor, on whatever thread it runs.
pub struct Attached(pub Py<PyAny>);

impl Workers for Attached {
    fn run(&self, stage: &Stage, take: repscope_core::blocks::Take) -> repscope_core::Result<()> {
        let mut failed = Ok(());
        // Partials are handed over by a channel: what takes them stays on this thread.
        let (send, partials) = std::sync::mpsc::sync_channel::<Vec<u8>>(1);
        std::thread::scope(|scope| {
            let asking = scope.spawn(move || {
                Python::attach(|py| {
                    run_stage(py, &self.0, stage, |py, partial| {
                        Ok(py.detach(|| send.send(partial).is_ok()))
                    })
                })
            });
            while let Ok(partial) = partials.recv() {
                if let Err(error) = take(partial) {
                    failed = Err(error);
                    break;
                }
            }
            drop(partials);
            let done = asking
                .join()
                .unwrap_or_else(|panic| Err(crate::errors::of_panic(&*panic)));
            failed.and(done.map_err(|error| Error::input(message(&error))))
        })
    }
}

/// Connects the command to a cluster by a callable of the address, the memory of a worker and the folder of partials. It gives what
/// runs stages, and opens shards by `open(name, pattern)`.
pub fn connecting(connect: Py<PyAny>) -> repscope_cli::Connect {
    let failed = |error: PyErr| anyhow::anyhow!(message(&error));
    Box::new(move |asked| {
        let partials = asked.partials.map(|path| path.to_path_buf());
        let stages = Python::attach(|py| connect.call1(py, (asked.address, asked.memory, partials))).map_err(failed)?;
        let workers: Arc<dyn Workers> = Arc::new(Attached(Python::attach(|py| stages.clone_ref(py))));
        Ok(Box::new(move |name: &str, pattern: &str| {
            let opened = Python::attach(|py| -> PyResult<Array> {
                let matrix = stages.call_method1(py, "open", (name, pattern))?;
                array(&matrix.extract::<Matrix>(py)?, workers.clone())
            });
            opened.map_err(failed)
        }))
    })
}

/// What an exception says.
pub fn message(error: &PyErr) -> String {
    Python::attach(|py| {
        let value = error.value(py);
        value.str().map_or_else(|_| error.to_string(), |text| text.to_string())
    })
}

/// What a worker keeps of some rows from one task to the next.
#[pyclass(frozen, module = "repscope._repscope")]
#[derive(Default)]
pub struct Kept(repscope_core::blocks::Kept);

#[pymethods]
impl Kept {
    #[new]
    fn new() -> Self {
        Kept::default()
    }

    /// Whether a task with this body needs no rows beside what is kept.
    fn serves(&self, body: &[u8]) -> bool {
        self.0.serves(body)
    }

    /// How many bytes are kept.
    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// Runs a task on the rows that it reads, given as arrays of 32 or 64 bits in C order; none are needed where what is kept serves it.
#[pyfunction]
#[pyo3(signature = (shared, parts, body, rows, threads=None, kept=None))]
pub fn run_task<'py>(
    py: Python<'py>,
    shared: PyBackedBytes,
    parts: Vec<PyBackedBytes>,
    body: PyBackedBytes,
    rows: Vec<(String, Bound<'py, PyAny>)>,
    threads: Option<usize>,
    kept: Option<Bound<'py, Kept>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let pool = pool(threads)?;
    let mut spaces = Vec::new();
    for (name, values) in rows {
        let array = arrays::array(&(values, String::new()))?;
        let shape = array.shape().to_vec();
        let (Data::F32(_) | Data::F64(_), &[rows, columns]) = (array.data(), &shape[..]) else {
            return Err(InputError::new_err(format!(
                "`{name}` has shape {shape:?}; rows have two dimensions"
            )));
        };
        let values = match array.data().clone() {
            Data::F32(values) => Values::F32(values),
            Data::F64(values) => Values::F64(values),
            _ => return Err(InputError::new_err(format!("`{name}` is not of 32 or 64 bits"))),
        };
        // Looked at by this pool: a global one would outlive the call.
        let space = py.detach(|| pool.install(|| Space::new(&name, rows, columns, values)));
        spaces.push(space.map_err(|error| InputError::new_err(error.to_string()))?);
    }
    let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    let none = repscope_core::blocks::Kept::default();
    let kept = kept.as_ref().map_or(&none, |kept| &kept.get().0);
    let driver = Driver::silent(Order::Parallel);
    let partial = py.detach(|| pool.install(|| execute_kept(&shared, &parts, &body, &spaces, kept, &driver)));
    let partial = partial.map_err(|error| exception(anyhow::Error::from(error).into()))?;
    Ok(PyBytes::new(py, &partial))
}

/// The metrics that are computed of matrices that workers hold.
#[pyfunction]
pub fn metrics_of_blocks() -> Vec<&'static str> {
    repscope_core::METRICS_OF_BLOCKS.to_vec()
}

/// Query rows, the rows nearest to each, and their distances.
type Nearest<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// The nearest rows of a sample of rows, or of all.
#[pyfunction]
#[pyo3(signature = (matrix, k, sample, seed, executor))]
pub fn neighbors<'py>(
    py: Python<'py>,
    matrix: Matrix,
    k: usize,
    sample: Option<usize>,
    seed: u64,
    executor: Py<PyAny>,
) -> PyResult<Nearest<'py>> {
    let array = array(&matrix, Arc::new(Attached(executor)))?;
    let pool = pool(None)?;
    let found = py.detach(|| {
        pool.install(|| -> repscope_core::Result<_> {
            let driver = Driver::silent(Order::Parallel);
            let space = array.into_space("Z", repscope_io::Pool::default())?;
            let rows = space.rows();
            Ok(match sample.filter(|count| *count < rows) {
                None => ((0..rows as u32).collect(), nearest_neighbors(&space, k, &driver)?),
                Some(count) => {
                    let queries = draw_queries(rows, count, seed);
                    let found = nearest_neighbors_of(&space, k, &queries, &driver)?;
                    (queries, found)
                }
            })
        })
    });
    let (queries, (rows, distances)): (Vec<u32>, _) =
        found.map_err(|error| exception(anyhow::Error::from(error).into()))?;
    Ok((
        PyArray1::from_vec(py, queries),
        PyArray1::from_vec(py, rows),
        PyArray1::from_vec(py, distances),
    ))
}
