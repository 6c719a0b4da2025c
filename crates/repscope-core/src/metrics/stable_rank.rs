// SPDX-License-Identifier: MIT
//! Stable rank: the whole variance over that of the first direction. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::needs;
use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::{Better, Score};

pub(super) static METRIC: Metric = Metric {
    id: "stable_rank",
    title: "Stable rank",
    analysis: Analysis::Rankme,
    outputs: &[Output {
        id: "stable_rank",
        about: "sum of the eigenvalues over the largest (NESum)",
        better: Better::Neither,
        range: "1 to min(N, D)",
    }],
    page: include_str!("stable_rank.md"),
    invariances: Invariance::SIMILARITY,
    work: Work::Study { needs, compute },
};

fn compute(shared: &Shared) -> Result<Answer> {
    let values = &shared.singular()?.centred;
    let n = shared.study.latent.rows();
    let largest = values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return Ok(Score::undefined("stable_rank", NO_VARIANCE, n, Better::Neither).into());
    }
    let rank = values.iter().map(|s| (s / largest).powi(2)).sum();
    Ok(Score::number("stable_rank", rank, n, Better::Neither).into())
}
