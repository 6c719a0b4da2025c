// SPDX-License-Identifier: MIT
//! What can go wrong with a file. Every message names the file.

use std::path::Path;

/// Why an input could not be read or an output not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file as the user named it.
        path: String,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The operating system refused to write.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file that was to be written.
        path: String,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The file was read, but what is in it cannot be used.
    #[error("{path} {problem}")]
    Content {
        /// The file as the user named it, with its `#key`.
        path: String,
        /// What is wrong, as the rest of a sentence that begins with the path.
        problem: String,
    },
    /// Several inputs do not fit together.
    #[error("{0}")]
    Input(String),
    /// The core refused the data.
    #[error(transparent)]
    Core(#[from] repscope_core::Error),
}

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Error::Read {
            path: path.display().to_string(),
            source,
        }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Error::Write {
            path: path.display().to_string(),
            source,
        }
    }
}

/// What a parser found wrong, as the rest of a sentence whose subject is the file ("ends too early").
/// The border functions turn it into an [`Error`] by adding the path.
#[derive(Debug)]
pub(crate) struct Problem(String);

pub(crate) type Parsed<T> = std::result::Result<T, Problem>;

/// A [`Problem`] from a format string and its arguments.
macro_rules! problem {
    ($($message:tt)*) => { $crate::error::Problem::new(format!($($message)*)) };
}

/// Returns a [`Problem`] from a format string and its arguments.
macro_rules! bail {
    ($($message:tt)*) => { return Err($crate::error::problem!($($message)*)) };
}
pub(crate) use {bail, problem};

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Problem(text.into())
    }

    pub(crate) fn in_file(self, path: impl std::fmt::Display) -> Error {
        Error::Content {
            path: path.to_string(),
            problem: self.0,
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Problem::new("ends too early; it may have been cut off while copying"),
            _ => Problem(format!("cannot be decoded: {error}")),
        }
    }
}
