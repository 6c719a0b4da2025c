// SPDX-License-Identifier: MIT
//! Numerical rank: how many singular values are not small. Document 002's threshold version. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::{bound, needs};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::Score;

pub(super) static METRIC: Metric = Metric {
    id: "numerical_rank",
    title: "Numerical rank",
    analysis: Analysis::Rankme,
    outputs: &[Output::neither("numerical_rank", "1 to min(N, D)")
        .about("singular values above 1 % of the largest; the CLID / RankMe analysis's threshold version")
        .column("Numerical_Rank")],
    page: include_str!("numerical_rank.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

/// The share of the largest singular value that the others must exceed.
const THRESHOLD: f64 = 0.01;

fn compute(shared: &Shared) -> Result<Results> {
    let values = &shared.singular()?.centred.values;
    let n = shared.study.embeddings.rows();
    let largest = values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return Ok(Score::undefined("numerical_rank", NO_VARIANCE, n).into());
    }
    let rank = values.iter().filter(|&&s| s / largest > THRESHOLD).count();
    let note = format!(
        "singular values above {THRESHOLD} of the largest, centered; {}",
        bound(shared)
    );
    Ok(Score::number("numerical_rank", rank as f64, n).with_note(note).into())
}
