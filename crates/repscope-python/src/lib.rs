// SPDX-License-Identifier: MIT
//! The compiled part of the Python package: it converts arguments and results, and releases the GIL while Rust works. Nothing is computed here.

mod arrays;
mod blocks;
mod errors;
mod lent;
mod results;
mod running;
mod watching;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use pyo3::prelude::*;

/// The repscope command; gives its exit code. `program` starts this command in another process, where models run; `connect` reaches a
/// cluster.
#[pyfunction]
#[pyo3(signature = (words, program=None, connect=None))]
fn main(py: Python<'_>, words: Vec<OsString>, program: Option<Vec<OsString>>, connect: Option<Py<PyAny>>) -> u8 {
    if let Some(connect) = connect {
        repscope_cli::reach_clusters(blocks::connecting(connect));
    }
    if let Some(program) = program {
        repscope_cli::isolate_models(program);
    }
    let code = py.detach(|| repscope_cli::main(words.into_iter()));
    (0..=2).find(|&known| code == ExitCode::from(known)).unwrap_or(2)
}

/// Everything that is declared about metrics, as JSON.
#[pyfunction]
fn declared_metrics() -> String {
    repscope::declared::metrics().to_string()
}

/// The options of a command, as JSON.
#[pyfunction]
fn declared_options(command: &str) -> String {
    repscope::declared::options(command).to_string()
}

/// The texts that describe labels: label and text, the field they come from, and what is to be known about them.
#[pyfunction]
fn prototype_texts(path: PathBuf, dataset: &str, style: &str) -> PyResult<Described> {
    let read = repscope_io::read_prototype_texts(&path, dataset, style);
    let read = read.map_err(|error| errors::exception(anyhow::Error::from(error).into()))?;
    Ok((read.texts, read.source, read.warnings))
}

/// The text encoder that a checkpoint says it was trained with.
#[pyfunction]
fn trained_with(path: PathBuf) -> PyResult<Option<String>> {
    repscope::trained_with(&path).map_err(errors::exception)
}

/// Pairs of label and text, their field, and notes.
type Described = (Vec<(String, String)>, String, Vec<String>);

/// The compiled part of repscope; private.
#[pymodule]
fn _repscope(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<errors::InputError>())?;
    module.add("DataError", module.py().get_type::<errors::DataError>())?;
    module.add("InternalError", module.py().get_type::<errors::InternalError>())?;
    module.add_class::<results::Run>()?;
    module.add_class::<blocks::Kept>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(declared_metrics, module)?)?;
    module.add_function(wrap_pyfunction!(declared_options, module)?)?;
    module.add_function(wrap_pyfunction!(prototype_texts, module)?)?;
    module.add_function(wrap_pyfunction!(trained_with, module)?)?;
    module.add_function(wrap_pyfunction!(running::compute, module)?)?;
    module.add_function(wrap_pyfunction!(running::encode, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::run_task, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::metrics_of_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(results::load, module)?)?;
    Ok(())
}
