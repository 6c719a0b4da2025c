// SPDX-License-Identifier: MIT
//! Pooling: from embeddings of T steps per sample to one row per sample.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use repscope_core::Values;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What becomes of the middle dimension of (N, T, D) embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// The last of the T steps.
    #[default]
    Last,
    /// The mean over the steps, summed in double precision.
    Mean,
    /// The first step.
    First,
    /// All steps side by side, T·D columns; also any other trailing dimensions.
    Flatten,
}

impl Pool {
    /// All ways to pool.
    pub const ALL: [Pool; 4] = [Pool::Last, Pool::Mean, Pool::First, Pool::Flatten];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pool::Last => "last",
            Pool::Mean => "mean",
            Pool::First => "first",
            Pool::Flatten => "flatten",
        }
    }

    /// Pools samples of `steps` × `columns`, at least one of each; flattened values stay as they are.
    pub(crate) fn apply(self, values: &Values, steps: usize, columns: usize) -> Values {
        match (values, self) {
            (_, Pool::Flatten) => values.clone(),
            (Values::F32(v), Pool::Mean) => Values::F64(Arc::new(mean((**v).as_ref(), steps, columns))),
            (Values::F64(v), Pool::Mean) => Values::F64(Arc::new(mean((**v).as_ref(), steps, columns))),
            (Values::F32(v), _) => Values::F32(Arc::new(self.step((**v).as_ref(), steps, columns))),
            (Values::F64(v), _) => Values::F64(Arc::new(self.step((**v).as_ref(), steps, columns))),
        }
    }

    /// The first or last step of each sample.
    fn step<T: Copy>(self, values: &[T], steps: usize, columns: usize) -> Vec<T> {
        let start = if self == Pool::First { 0 } else { (steps - 1) * columns };
        let samples = values.chunks_exact(steps * columns);
        samples
            .flat_map(|sample| sample[start..start + columns].iter().copied())
            .collect()
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Pool {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Pool::ALL
            .into_iter()
            .find(|p| p.name() == text)
            .ok_or_else(|| Error::Input(format!("unknown pooling `{text}`; use last, mean, first or flatten")))
    }
}

fn mean<T: Copy + Into<f64>>(values: &[T], steps: usize, columns: usize) -> Vec<f64> {
    let mut means = Vec::with_capacity(values.len() / steps);
    for sample in values.chunks_exact(steps * columns) {
        let column = |j: usize| sample[j..].iter().step_by(columns).map(|&x| x.into()).sum::<f64>();
        means.extend((0..columns).map(|j| column(j) / steps as f64));
    }
    means
}
