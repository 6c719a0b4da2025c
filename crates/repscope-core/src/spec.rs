// SPDX-License-Identifier: MIT
//! The resolved options of a run. All defaults are here.

use serde::Serialize;

use crate::error::{Error, Result};

/// How distances between codes are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// Between the codes as they are.
    Euclidean,
    /// Between the codes divided by their length; orders pairs as the cosine does.
    Cosine,
}

/// How rows of two spaces are compared in a retrieval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Similarity {
    /// The cosine of their angle; 0 where a row has length zero.
    Cosine,
    /// The inner product of the rows as they are.
    Dot,
}

/// Everything that can change a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spec {
    /// The one seed of all random choices.
    pub seed: u64,
    /// Confidence level of intervals.
    pub level: f64,
    /// Neighbourhood sizes of trustworthiness and continuity.
    pub k: Vec<usize>,
    /// Distance between codes for neighbourhoods (inputs are always Euclidean).
    pub distance: Distance,
    /// Rank this many random rows against all, instead of all rows.
    pub sample: Option<usize>,
    /// Number of k-means clusters.
    pub clusters: usize,
    /// Restarts of k-means; the best by inertia is kept.
    pub restarts: usize,
    /// Neighbours that vote in the k-NN accuracy.
    pub knn_k: usize,
    /// Random splits that the k-NN accuracy is averaged over.
    pub splits: usize,
    /// Share of the rows of each class that train in a split.
    pub train_share: f64,
    /// The t of uniformity's kernel exp(−t·d²).
    pub t: f64,
    /// Share of the largest distance ratios that TwoNN's fit leaves out.
    pub discard: f64,
    /// How many of the first targets a retrieval looks at.
    pub retrieval_k: Vec<usize>,
    /// How a retrieval compares rows.
    pub similarity: Similarity,
    /// Bytes the run may use, where the user set a budget.
    pub memory: Option<u64>,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            seed: 42,
            level: 0.95,
            k: vec![5, 10, 15],
            distance: Distance::Euclidean,
            sample: None,
            clusters: 5,
            restarts: 10,
            knn_k: 5,
            splits: 10,
            train_share: 0.7,
            t: 2.0,
            discard: 0.1,
            retrieval_k: vec![10, 50, 100],
            similarity: Similarity::Cosine,
            memory: None,
        }
    }
}

impl Spec {
    /// Refuses options that no metric could work with. Those that depend on the data are checked by the metrics.
    pub(crate) fn check(&self) -> Result<()> {
        if self.clusters == 0 || self.restarts == 0 {
            return Err(Error::Input(format!(
                "k-means with {} clusters and {} restarts: at least one of each is needed",
                self.clusters, self.restarts
            )));
        }
        if self.sample == Some(0) {
            return Err(Error::input(
                "a sample of 0 rows has no score; rank at least 1 with --sample",
            ));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::Input(format!(
                "a confidence level of {} is not between 0 and 1 (0.95 is usual)",
                self.level
            )));
        }
        if !(self.discard >= 0.0 && self.discard < 1.0) {
            return Err(Error::Input(format!(
                "TwoNN cannot leave out a share of {}; it must be at least 0 and below 1 (0.1 is usual)",
                self.discard
            )));
        }
        Ok(())
    }
}
