// SPDX-License-Identifier: MIT
//! Condition number: the largest over the smallest singular value. See the page.

use super::alpha_req::is_rounding;
use super::participation_ratio::NO_VARIANCE;
use super::rankme::needs;
use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::{Better, Score};

pub(super) static METRIC: Metric = Metric {
    id: "condition_number",
    title: "Condition number",
    analysis: Analysis::Rankme,
    outputs: &[Output {
        id: "condition_number",
        about: "largest over smallest singular value of the centred codes",
        better: Better::Neither,
        range: "1 and above",
    }],
    page: include_str!("condition_number.md"),
    invariances: Invariance::SIMILARITY,
    work: Work::Study { needs, compute },
};

fn compute(shared: &Shared) -> Result<Answer> {
    let values = &shared.singular()?.centred;
    let (n, d) = (shared.study.latent.rows(), shared.study.latent.columns());
    // Centring takes one direction away: a singular value beyond N − 1 is 0 whatever the data.
    let count = d.min(n.saturating_sub(1));
    let undefined = |reason: &str| Ok(Score::undefined("condition_number", reason, n, Better::Neither).into());
    let (Some(&largest), Some(&smallest)) = (values.first(), values[..count.min(values.len())].last()) else {
        return undefined(NO_VARIANCE);
    };
    if largest == 0.0 {
        return undefined(NO_VARIANCE);
    }
    if is_rounding(smallest, largest, n, d) {
        return undefined("the codes do not fill min(N − 1, D) dimensions: the smallest singular value is 0");
    }
    Ok(Score::number("condition_number", largest / smallest, n, Better::Neither).into())
}
