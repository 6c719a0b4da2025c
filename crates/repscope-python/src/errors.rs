// SPDX-License-Identifier: MIT
//! Errors as Python's exceptions, with the messages of the command.

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use repscope_cli::{Failure, failure, message};

pyo3::create_exception!(
    repscope,
    InputError,
    PyValueError,
    "The input or an option is wrong; the message says what to do."
);
pyo3::create_exception!(
    repscope,
    InternalError,
    PyRuntimeError,
    "A bug in repscope. Please report it."
);

/// The exception of the right kind.
pub fn exception(error: &anyhow::Error) -> PyErr {
    // Arrays are lent under names that begin so; to the caller they are just names.
    let text = message(error).replace("memory:", "");
    match failure(error) {
        Failure::NotFound => PyFileNotFoundError::new_err(text),
        Failure::System => PyOSError::new_err(text),
        Failure::Internal => InternalError::new_err(text),
        _ => InputError::new_err(text),
    }
}

/// What a panic says.
pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    InternalError::new_err(format!(
        "internal error: {}. Please report this; it is a bug in repscope, not in your data",
        text.unwrap_or("no reason")
    ))
}
