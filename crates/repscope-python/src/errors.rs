// SPDX-License-Identifier: MIT
//! Errors as Python's exceptions, with the messages of the command.

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use repscope::Error;

pyo3::create_exception!(
    repscope,
    InputError,
    PyValueError,
    "The input or an option is wrong; the message says what to do."
);
pyo3::create_exception!(
    repscope,
    DataError,
    InputError,
    "The data cannot be used as they are: a number that is not finite, too few rows, too little memory."
);
pyo3::create_exception!(
    repscope,
    InternalError,
    PyRuntimeError,
    "A bug in repscope. Please report it."
);

/// The exception of the right kind.
pub fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::NotFound { .. } => PyFileNotFoundError::new_err(text),
        Error::System(_) => PyOSError::new_err(text),
        Error::Internal(_) => InternalError::new_err(text),
        Error::Data { .. } => DataError::new_err(text),
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
