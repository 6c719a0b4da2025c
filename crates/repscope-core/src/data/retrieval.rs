// SPDX-License-Identifier: MIT
//! A retrieval: one model's spaces to search with and in, and the labels that say what is relevant.

use std::sync::Arc;

use super::{Labels, Space};
use crate::error::{Error, Result};

/// A class per row of every space, under one name: fine labels, coarse labels.
#[derive(Debug, Clone)]
pub struct LabelSet {
    /// Its name, where there are several: `l1`. It stands in the identity of the scores.
    pub name: Option<String>,
    /// The labels of each space, in the order of [`Retrieval::spaces`]. A target is relevant where its label has the
    /// same name as the query's.
    pub of_space: Vec<Arc<Labels>>,
}

/// Which space asks, and which is searched; numbers of [`Retrieval::spaces`]. Where both are the same space, a row
/// is never its own target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction {
    /// The space whose rows are the queries.
    pub query: usize,
    /// The space whose rows are ranked.
    pub target: usize,
}

/// One model's spaces, their labels, and the directions to search.
#[derive(Debug, Clone)]
pub struct Retrieval {
    /// The model's name.
    pub model: String,
    /// The spaces, each with its own name (`sensor`, `text`, `prototype`).
    pub spaces: Vec<Arc<Space>>,
    /// For each space: whether its rows stand for the same samples as those of the other aligned spaces.
    pub is_aligned: Vec<bool>,
    /// One or more sets of labels.
    pub label_sets: Vec<LabelSet>,
    /// What to search.
    pub directions: Vec<Direction>,
}

impl Retrieval {
    /// `text2sensor`.
    pub fn direction_name(&self, direction: Direction) -> String {
        format!(
            "{}2{}",
            self.spaces[direction.query].name(),
            self.spaces[direction.target].name()
        )
    }

    /// Whether row i of both spaces is the same sample, seen in two ways.
    pub fn is_paired(&self, direction: Direction) -> bool {
        direction.query != direction.target && self.is_aligned[direction.query] && self.is_aligned[direction.target]
    }

    /// Checks that the parts fit together.
    pub fn check(&self) -> Result<()> {
        let spaces = self.spaces.len();
        if spaces == 0 || self.directions.is_empty() || self.label_sets.is_empty() {
            return Err(Error::input(
                "a retrieval needs at least one space, one direction and one set of labels",
            ));
        }
        if self.is_aligned.len() != spaces {
            return Err(Error::Internal(
                "not every space says whether it is aligned".to_string(),
            ));
        }
        for space in &self.spaces {
            let is_plain = |c: char| (c.is_alphanumeric() || c == '_' || c == '-') && c != '2';
            if space.name().is_empty() || !space.name().chars().all(is_plain) {
                return Err(Error::Input(format!(
                    "a space called `{}` cannot be named in a direction such as text2sensor; use letters, `_`, `-` and \
                     digits other than 2",
                    space.name()
                )));
            }
        }
        self.check_rows()?;
        for direction in &self.directions {
            let (Some(query), Some(target)) = (self.spaces.get(direction.query), self.spaces.get(direction.target))
            else {
                return Err(Error::Internal(
                    "a direction names a space that is not there".to_string(),
                ));
            };
            if query.columns() != target.columns() {
                return Err(Error::Input(format!(
                    "`{}` has {} columns but `{}` has {}: vectors of different length have no cosine; project both \
                     into one space first",
                    query.name(),
                    query.columns(),
                    target.name(),
                    target.columns()
                )));
            }
            if direction.query == direction.target && target.rows() < 2 {
                return Err(Error::Input(format!(
                    "`{}` has one row, so {} has nothing to find",
                    target.name(),
                    self.direction_name(*direction)
                )));
            }
        }
        Ok(())
    }

    fn check_rows(&self) -> Result<()> {
        let mut aligned = self
            .spaces
            .iter()
            .zip(&self.is_aligned)
            .filter(|(_, a)| **a)
            .map(|(s, _)| s);
        if let Some(first) = aligned.next()
            && let Some(other) = aligned.find(|s| s.rows() != first.rows())
        {
            return Err(Error::RowMismatch {
                left: format!("`{}`", first.name()),
                left_rows: first.rows(),
                right: format!("`{}`", other.name()),
                right_rows: other.rows(),
            });
        }
        for set in &self.label_sets {
            if set.of_space.len() != self.spaces.len() {
                return Err(Error::Internal(
                    "a set of labels does not cover every space".to_string(),
                ));
            }
            for (space, labels) in self.spaces.iter().zip(&set.of_space) {
                if labels.rows() != space.rows() {
                    let name = set.name.as_ref().map_or(String::new(), |n| format!(" `{n}`"));
                    return Err(Error::RowMismatch {
                        left: format!("the label array{name}"),
                        left_rows: labels.rows(),
                        right: format!("`{}`", space.name()),
                        right_rows: space.rows(),
                    });
                }
            }
        }
        Ok(())
    }
}
