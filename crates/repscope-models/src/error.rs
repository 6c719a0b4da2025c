// SPDX-License-Identifier: MIT
//! What can go wrong with a model.

use thiserror::Error;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a model cannot be read or run: one sentence with what is wrong and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The model or its input is not what it should be.
    #[error("{0}")]
    Model(String),
    /// The built-in runtime cannot run the model; an installed ONNX Runtime may.
    #[error("{0}")]
    Unsupported(String),
    /// A file of weights cannot be read.
    #[error(transparent)]
    File(#[from] repscope_io::Error),
}

/// An [`Error::Model`] from a format string and its arguments.
macro_rules! wrong {
    ($($message:tt)*) => { $crate::error::Error::Model(format!($($message)*)) };
}

/// Returns an [`Error::Model`] from a format string and its arguments.
macro_rules! bail {
    ($($message:tt)*) => { return Err($crate::error::wrong!($($message)*)) };
}
pub(crate) use {bail, wrong};

/// Where to go when the built-in runtime cannot.
pub(crate) const WAY_OUT: &str = "the runtime onnxruntime runs it with an installed ONNX Runtime";

/// An operator that the built-in runtime does not have, or computes otherwise than it should.
pub(crate) fn unsupported(operator: &str) -> Error {
    Error::Unsupported(format!(
        "the model uses {operator}, which the built-in runtime does not have; {WAY_OUT}"
    ))
}
