// SPDX-License-Identifier: MIT
//! Continuity: do neighbors among the inputs stay neighbors among the embeddings? See the page.

use super::trustworthiness::{largest_k, preservation};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::plan::{Key, Need, Shared};
use crate::spec::Spec;

pub(super) static METRIC: Metric = Metric {
    id: "continuity",
    title: "Continuity",
    analysis: Analysis::Neighborhood,
    outputs: &[Output::higher("continuity@K", "0 to 1").about("the K nearest inputs are near among the embeddings too")],
    page: include_str!("continuity.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::States, Takes::Codes],
    options: &["k", "distance", "sample"],
    work: Work::Study { needs, compute },
};

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let k = largest_k(spec, study)?;
    Ok(vec![
        Need::Neighbors { of: Key::INPUT, k },
        Need::Ranks {
            of: Key::INPUT,
            within: Key::embeddings(spec),
            k,
        },
    ])
}

fn compute(shared: &Shared) -> Result<Results> {
    preservation("continuity", shared, Key::INPUT, Key::embeddings(shared.spec))
}
