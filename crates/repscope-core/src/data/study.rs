// SPDX-License-Identifier: MIT
//! A study: one model's row-aligned spaces, labels and pairs.

use std::sync::Arc;

use super::{Labels, Noise, Space};
use crate::error::{Error, Result};

/// Consecutive states: row numbers `(from, to)`, and the episode each pair belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// Row of the state before and of the state after.
    pub rows: Vec<(u32, u32)>,
    /// The episode of each pair, where episodes are known: the unit of resampling.
    pub episode: Option<Vec<u32>>,
}

impl Pairs {
    /// Each row with the next one of the same episode. Without episodes all rows are one sequence.
    pub fn consecutive(rows: usize, episodes: Option<&Labels>) -> Self {
        let codes = episodes.map(Labels::codes);
        let same = |t: &usize| codes.is_none_or(|c| c[*t] == c[*t + 1]);
        let starts: Vec<usize> = (0..rows.saturating_sub(1)).filter(same).collect();
        Pairs {
            rows: starts.iter().map(|&t| (t as u32, t as u32 + 1)).collect(),
            episode: codes.map(|c| starts.iter().map(|&t| c[t]).collect()),
        }
    }

    /// Row `i` of one matrix with row `i` of a second one that is stacked below it.
    pub fn stacked(rows: usize, episodes: Option<&Labels>) -> Self {
        Pairs {
            rows: (0..rows).map(|i| (i as u32, (i + rows) as u32)).collect(),
            episode: episodes.map(|e| e.codes().to_vec()),
        }
    }
}

/// One model and what is known about its rows. All parts have the same rows in the same order.
#[derive(Debug, Clone)]
pub struct Study {
    /// The model's name.
    pub model: String,
    /// The embeddings the model gave: one row per sample.
    pub embeddings: Space,
    /// The embeddings of a second view of each sample, an augmentation say.
    pub view: Option<Arc<Space>>,
    /// How far noise in what the model saw moves the embeddings.
    pub noise: Option<Arc<Noise>>,
    /// What the model saw, flattened to one row per sample. Shared by all models of a run.
    pub input: Option<Arc<Space>>,
    /// A class per row.
    pub labels: Option<Arc<Labels>>,
    /// The episode of each row: rows of one episode are not independent.
    pub episodes: Option<Arc<Labels>>,
    /// Which rows follow each other.
    pub pairs: Option<Arc<Pairs>>,
}

impl Study {
    /// A study of embeddings alone.
    pub fn new(model: &str, embeddings: Space) -> Self {
        Study {
            model: model.to_string(),
            embeddings,
            view: None,
            noise: None,
            input: None,
            labels: None,
            episodes: None,
            pairs: None,
        }
    }

    /// Checks that all parts have the same number of rows, and that pairs name rows that exist.
    pub fn check(&self) -> Result<()> {
        let rows = self.embeddings.rows();
        let model = &self.model;
        let differ = |what: &str, other: usize| {
            Err(Error::RowMismatch {
                left: what.to_string(),
                left_rows: other,
                right: format!("model `{model}`"),
                right_rows: rows,
            })
        };
        if let Some(input) = self.input.as_ref().filter(|i| i.rows() != rows) {
            return differ(&format!("`{}`", input.name()), input.rows());
        }
        if let Some(view) = self.view.as_ref().filter(|v| v.rows() != rows) {
            return differ("the second view", view.rows());
        }
        if let Some(view) = self.view.as_ref().filter(|v| v.columns() != self.embeddings.columns()) {
            return Err(Error::Input(format!(
                "the second view of model `{model}` has {} columns but its codes have {}; both views must come from the \
                 same encoder",
                view.columns(),
                self.embeddings.columns()
            )));
        }
        for level in self.noise.iter().flat_map(|noise| &noise.levels) {
            if level.moves.raw.len() != rows {
                return differ(&format!("the noise level {}", level.name), level.moves.raw.len());
            }
        }
        if let Some(labels) = self.labels.as_ref().filter(|l| l.rows() != rows) {
            return differ("the label array", labels.rows());
        }
        if let Some(episodes) = self.episodes.as_ref().filter(|e| e.rows() != rows) {
            return differ("the episode array", episodes.rows());
        }
        let Some(pairs) = &self.pairs else { return Ok(()) };
        let last = pairs.rows.iter().map(|&(from, to)| from.max(to)).max();
        if let Some(last) = last.filter(|&last| last as usize >= rows) {
            return Err(Error::Input(format!(
                "a pair names row {last} (counted from 0) but the embeddings of model `{model}` have {rows} rows"
            )));
        }
        match &pairs.episode {
            Some(episode) if episode.len() != pairs.rows.len() => Err(Error::Input(format!(
                "{} episodes are given for {} pairs of model `{model}`; give one per pair",
                episode.len(),
                pairs.rows.len()
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_never_cross_an_episode() {
        let pairs = Pairs::consecutive(5, Some(&Labels::new(&["a", "a", "b", "b", "b"])));
        assert_eq!(pairs.rows, [(0, 1), (2, 3), (3, 4)]);
        assert_eq!(pairs.episode, Some(vec![0, 1, 1]));
    }

    #[test]
    fn one_row_has_no_pair() {
        assert!(Pairs::consecutive(1, None).rows.is_empty());
    }
}
