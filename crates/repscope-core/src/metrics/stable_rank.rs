// SPDX-License-Identifier: MIT
//! Stable rank: the whole variance over that of the first direction. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::{needs, score};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::kernels::singular::Function;
use crate::plan::Shared;

pub(super) static METRIC: Metric = Metric {
    id: "stable_rank",
    title: "Stable rank",
    analysis: Analysis::Rankme,
    outputs: &[Output::neither("stable_rank", "1 to min(N, D)")
        .about("sum of the eigenvalues over the largest (NESum)")
        .column("Stable_Rank")],
    page: include_str!("stable_rank.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

/// Σ σ² over the largest.
pub(super) const RANK: Function = ("stable_rank", |singular| {
    let largest = *singular.values.first().filter(|s| **s > 0.0)?;
    Some(singular.values.iter().map(|s| (s / largest).powi(2)).sum())
});

fn compute(shared: &Shared) -> Result<Results> {
    Ok(score(RANK, &shared.singular()?.centred, [0.0, f64::MAX], NO_VARIANCE, shared).into())
}
