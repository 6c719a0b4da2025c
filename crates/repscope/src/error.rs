// SPDX-License-Identifier: MIT
//! What can go wrong, as programs distinguish it.

use std::path::PathBuf;

/// Why a request has no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder does not exist.
    #[error("{message}")]
    NotFound {
        /// The whole story.
        message: String,
        /// What is missing, where it is known.
        path: Option<PathBuf>,
    },
    /// The operating system refused something else.
    #[error("{0}")]
    System(String),
    /// The data cannot be used: numbers that are not finite, rows that do not match.
    #[error("{message}")]
    Data {
        /// The whole story.
        message: String,
        /// What is wrong, by the numbers.
        cause: repscope_core::Error,
    },
    /// An input or an option is wrong.
    #[error("{0}")]
    Input(String),
    /// We are wrong.
    #[error("{0}")]
    Internal(String),
}

/// A result with our errors.
pub type Result<T> = std::result::Result<T, Error>;

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        let text = message(&error);
        for cause in error.chain() {
            if let Some(io) = cause.downcast_ref::<std::io::Error>() {
                return match io.kind() {
                    std::io::ErrorKind::NotFound => Error::NotFound {
                        message: text,
                        path: None,
                    },
                    _ => Error::System(text),
                };
            }
            if matches!(cause.downcast_ref(), Some(repscope_core::Error::Internal(_))) {
                return Error::Internal(text);
            }
        }
        if text.starts_with("internal error") {
            return Error::Internal(text);
        }
        match error.downcast::<repscope_core::Error>() {
            Ok(cause) => Error::Data { message: text, cause },
            Err(_) => Error::Input(text),
        }
    }
}

/// The error and its causes; one that the message before it already quotes is not said twice.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}
