// SPDX-License-Identifier: MIT
//! A retrieval: one model's spaces to search with and in, and the labels that say what is relevant.

use std::sync::Arc;

use super::{Labels, Space};
use crate::error::{Error, Result, refuse_if};

/// A class per row of every space, under one name: fine labels, coarse labels.
#[derive(Debug, Clone)]
pub struct LabelSet {
    /// Its name, where there are several: `l1`. It stands in the identity of the scores.
    pub name: Option<String>,
    /// The labels of each space of the retrieval. A target is relevant where its label has the same name as the query's.
    pub of_space: Vec<Arc<Labels>>,
}

/// Which space queries which, as numbers of [`Retrieval::spaces`]. Within one space a row is never its own target.
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
    /// For each space the group of each row, where rows come in groups (subjects, episodes, documents): rows of one group are not
    /// independent, so intervals are over groups. Groups of the same name are the same in all spaces. Empty without groups.
    pub groups: Vec<Option<Arc<Labels>>>,
    /// What to search.
    pub directions: Vec<Direction>,
}

/// Held-out rows and those of training, which are searched apart: the models that their scores belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Held out: the rows that conclusions are about.
    Test,
    /// Those that the model was trained on.
    Train,
}

impl Split {
    /// The word for it, in files and names.
    pub fn name(self) -> &'static str {
        match self {
            Split::Test => "test",
            Split::Train => "train",
        }
    }

    /// What its scores go by: `test`, or `clip/test` where the embeddings have a name.
    pub fn model(self, embeddings: Option<&str>) -> String {
        let name = self.name();
        embeddings.map_or(name.to_string(), |own| format!("{own}/{name}"))
    }

    /// The name of the training rows that belong to these held-out ones.
    pub fn of_training(model: &str) -> Option<String> {
        let before = model.strip_suffix(Split::Test.name())?;
        (before.is_empty() || before.ends_with('/')).then(|| format!("{before}{}", Split::Train.name()))
    }
}

impl Retrieval {
    /// `text2sensor`.
    pub fn direction_name(&self, direction: Direction) -> String {
        let [query, target] = [direction.query, direction.target].map(|space| self.spaces[space].name());
        format!("{query}2{target}")
    }

    /// Whether row i of both spaces is the same sample, seen in two ways.
    pub fn is_paired(&self, direction: Direction) -> bool {
        direction.query != direction.target && self.is_aligned[direction.query] && self.is_aligned[direction.target]
    }

    /// The groups of the rows of a space.
    pub(crate) fn groups_of(&self, space: usize) -> Option<&Labels> {
        self.groups.get(space)?.as_deref()
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
            return Err(internal("not every space says whether it is aligned"));
        }
        for space in &self.spaces {
            let is_plain = |c: char| (c.is_alphanumeric() || c == '_' || c == '-') && c != '2';
            let name = space.name();
            refuse_if(name.is_empty() || !name.chars().all(is_plain), || {
                format!(
                    "a space called `{name}` cannot be named in a direction such as text2sensor; use letters, `_`, `-` and \
                     digits other than 2"
                )
            })?;
        }
        self.check_rows()?;
        for direction in &self.directions {
            let (Some(query), Some(target)) = (self.spaces.get(direction.query), self.spaces.get(direction.target))
            else {
                return Err(internal("a direction names a space that is not there"));
            };
            let (of_query, of_target) = (query.name(), target.name());
            let (a, b) = (query.columns(), target.columns());
            refuse_if(a != b, || {
                format!(
                    "`{of_query}` has {a} columns but `{of_target}` has {b}: vectors of different length have no cosine; project \
                     both into one space first"
                )
            })?;
            refuse_if(direction.query == direction.target && target.rows() < 2, || {
                let direction = self.direction_name(*direction);
                format!("`{of_target}` has one row, so {direction} has nothing to find")
            })?;
        }
        Ok(())
    }

    fn check_rows(&self) -> Result<()> {
        let spaces = self.spaces.iter().zip(&self.is_aligned);
        let mut aligned = spaces.filter(|(_, is_aligned)| **is_aligned).map(|(space, _)| space);
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
        if !self.groups.is_empty() && self.groups.len() != self.spaces.len() {
            return Err(internal("the groups do not cover every space"));
        }
        for (space, groups) in self.spaces.iter().zip(&self.groups) {
            if let Some(groups) = groups.as_ref().filter(|groups| groups.rows() != space.rows()) {
                return Err(Error::RowMismatch {
                    left: "the group array".to_string(),
                    left_rows: groups.rows(),
                    right: format!("`{}`", space.name()),
                    right_rows: space.rows(),
                });
            }
        }
        for set in &self.label_sets {
            if set.of_space.len() != self.spaces.len() {
                return Err(internal("a set of labels does not cover every space"));
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

fn internal(problem: &str) -> Error {
    Error::Internal(problem.to_string())
}
