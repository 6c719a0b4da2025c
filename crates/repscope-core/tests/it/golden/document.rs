// SPDX-License-Identifier: MIT
//! `expected.json`.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Document {
    pub case: String,
    pub options: Options,
    pub expected: Vec<Expected>,
    pub undefined: Vec<Undefined>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    pub k: Option<Vec<usize>>,
    pub clusters: Option<usize>,
    pub knn_k: Option<usize>,
    pub local_k: Option<usize>,
    pub danco_k: Option<usize>,
    pub t: Option<f64>,
    pub alpha: Option<f64>,
    pub distance: Option<String>,
    /// The K of the lists that two models are compared by.
    pub similarity_k: Option<Vec<usize>>,
    /// The neighbors that vote in probes.
    pub probe_k: Option<usize>,
    pub directions: Option<Vec<String>>,
    pub similarity: Option<String>,
    pub clid: Option<ClidOptions>,
    pub mcr2: Option<Mcr2Options>,
    /// By model and metric.
    pub scores: Option<BTreeMap<String, BTreeMap<String, Option<f64>>>>,
    /// By model.
    pub performance: Option<BTreeMap<String, f64>>,
    pub perturbation: Option<PerturbationOptions>,
}

/// Classes are written as numbers with spaces between them, one per sample.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerturbationOptions {
    pub heads: Vec<HeadOptions>,
    pub sets: Vec<SetOptions>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadOptions {
    pub name: String,
    pub classes: Vec<String>,
    pub labels: String,
    pub baseline: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetOptions {
    pub name: String,
    pub family: String,
    pub percent: f64,
    pub predictions: Vec<String>,
    pub masked_lit: Option<f64>,
    pub masked_all: Option<f64>,
}

/// The steps of CLID: a preset and what is changed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClidOptions {
    pub preset: String,
    pub standardize: Option<bool>,
    pub unit_length: Option<String>,
    pub clusters: Option<usize>,
    pub restarts: Option<usize>,
    pub k: Option<usize>,
    pub splits: Option<usize>,
    pub repeats: Option<usize>,
    pub id_norm: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mcr2Options {
    pub gamma1: Option<f64>,
    pub gamma2: Option<f64>,
    pub eps: Option<f64>,
}

/// What a stored value is a value of: a score, or a part of it.
#[derive(Deserialize)]
pub struct Place {
    pub metric: String,
    /// Where a case holds several models.
    pub model: Option<String>,
    pub part: Option<Part>,
    /// The names that lead a line of a breakdown.
    pub row: Option<Vec<String>>,
    pub column: Option<String>,
}

#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Chance,
    N,
    EffectiveK,
    StandardError,
    /// A number of a breakdown.
    Cell,
}

#[derive(Deserialize)]
pub struct Expected {
    #[serde(flatten)]
    pub of: Place,
    pub value: Value,
    pub tolerance: f64,
    pub kind: Kind,
    pub library: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Value {
    Number(f64),
    Curve(Vec<f64>),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Absolute,
    Relative,
}

#[derive(Deserialize)]
pub struct Undefined {
    #[serde(flatten)]
    pub of: Place,
}

impl Place {
    /// The model it speaks of.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or("golden")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        if let Some(model) = &self.model {
            write!(f, " of {model}")?;
        }
        if let Some(part) = self.part {
            write!(f, ", {part:?}")?;
        }
        if let (Some(row), Some(column)) = (&self.row, &self.column) {
            write!(f, " {column} of {}", row.join(", "))?;
        }
        Ok(())
    }
}
