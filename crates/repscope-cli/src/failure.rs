// SPDX-License-Identifier: MIT
//! What kind of failure an error is, for programs that have a kind of their own for each.

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A file or folder is not there.
    NotFound,
    /// The operating system refused something else.
    System,
    /// The input or an option is wrong.
    Input,
    /// We are wrong.
    Internal,
}

/// The kind of an error.
pub fn failure(error: &anyhow::Error) -> Failure {
    for cause in error.chain() {
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return match io.kind() {
                std::io::ErrorKind::NotFound => Failure::NotFound,
                _ => Failure::System,
            };
        }
        if matches!(
            cause.downcast_ref::<repscope_core::Error>(),
            Some(repscope_core::Error::Internal(_))
        ) {
            return Failure::Internal;
        }
    }
    if error.to_string().starts_with("internal error") {
        Failure::Internal
    } else {
        Failure::Input
    }
}
