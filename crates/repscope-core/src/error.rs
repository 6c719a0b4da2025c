// SPDX-License-Identifier: MIT
//! The two ways a computation can fail. A value that does not exist for valid data is neither: it is
//! a [`Score`](crate::Score) without a number, with its reason.

/// Why a computation could not be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input or an option is wrong; the text says what, with both numbers, and what to do.
    #[error("{0}")]
    Input(String),
    /// A bug of ours.
    #[error("internal error: {0}. Please report this; it is a bug in repscope, not in your data")]
    Internal(String),
}

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Input`] from anything printable.
    pub fn input(message: impl Into<String>) -> Self {
        Error::Input(message.into())
    }
}
