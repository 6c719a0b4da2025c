// SPDX-License-Identifier: MIT
//! Why a computation can fail: programs match on the variant, people read what is wrong, with both numbers, and what to do.
//! A value that does not exist for valid data is no failure: it is a [`Score`](crate::Score) with a reason and no number.

use crate::data::LARGEST;
use crate::plan::memory::in_words;

/// Why a computation could not be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A space holds NaN or an infinity. Rows and columns are counted from 0.
    #[error("`{space}` holds {value} at row {row}, column {column} (counted from 0); remove or fill such rows first")]
    NotFinite {
        /// The name of the space.
        space: String,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// What it holds there.
        value: f64,
    },
    /// A space holds a number whose square is too large to be added up.
    #[error(
        "`{space}` holds {value:e} at row {row}, column {column} (counted from 0), more than the {LARGEST:e} up to which \
         squares can be added up; use other units"
    )]
    TooLarge {
        /// The name of the space.
        space: String,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// What it holds there.
        value: f64,
    },
    /// Two parts that need one row for each sample have different numbers of rows.
    #[error(
        "{left} has {left_rows} rows but {right} has {right_rows}; give one row per sample in both, in the same order, or join \
         them by id"
    )]
    RowMismatch {
        /// One part, in words.
        left: String,
        /// Its number of rows.
        left_rows: usize,
        /// The other part, in words.
        right: String,
        /// Its number of rows.
        right_rows: usize,
    },
    /// More neighbors were requested than there are rows.
    #[error("k = {k} needs k of at least 1 and at least {needed} rows; {what} has {rows}; use a smaller k")]
    KTooLarge {
        /// The number of neighbors.
        k: usize,
        /// How many rows it needs.
        needed: usize,
        /// What has too few of them, in words.
        what: String,
        /// How many it has.
        rows: usize,
    },
    /// The run would need more working memory than it may use.
    #[error(
        "{what} needs about {} of working memory, but the memory limit is {}; raise the limit, or {advice}",
        in_words(*needed),
        in_words(*limit)
    )]
    MemoryLimit {
        /// What needs it, in words.
        what: String,
        /// About how many bytes it needs.
        needed: u64,
        /// How many bytes it may use.
        limit: u64,
        /// What would need less.
        advice: &'static str,
    },
    /// A metric was given to a function that computes others.
    #[error("`{metric}` is not {expected}")]
    WrongMetric {
        /// The metric.
        metric: &'static str,
        /// What the function computes.
        expected: &'static str,
    },
    /// Something else in the input or an option is wrong.
    #[error("{0}")]
    Input(String),
    /// A bug of ours.
    #[error("internal error: {0}. Please report this; it is a bug in repscope, not in your data")]
    Internal(String),
}

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses an input that is wrong, with what to say about it.
pub(crate) fn refuse_if(is_wrong: bool, message: impl FnOnce() -> String) -> Result<()> {
    if is_wrong { Err(Error::Input(message())) } else { Ok(()) }
}

impl Error {
    /// An [`Error::Input`] from anything printable.
    pub fn input(message: impl Into<String>) -> Self {
        Error::Input(message.into())
    }
}

/// `1 row`, `2 rows`: for messages and notes.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;

    #[test]
    fn a_program_learns_where_a_number_is_missing() {
        let error = Space::from_f64("z", 2, 2, vec![1.0, 2.0, 3.0, f64::INFINITY]).expect_err("an infinity");
        let Error::NotFinite { space, row, column, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((space.as_str(), row, column), ("z", 1, 1));
    }

    #[test]
    fn messages_name_both_numbers() {
        let error = Error::RowMismatch {
            left: "the label array".to_string(),
            left_rows: 7,
            right: "`z`".to_string(),
            right_rows: 8,
        };
        assert!(
            error
                .to_string()
                .starts_with("the label array has 7 rows but `z` has 8;"),
            "{error}"
        );
    }
}
