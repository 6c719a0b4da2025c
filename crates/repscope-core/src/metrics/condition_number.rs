// SPDX-License-Identifier: MIT
//! Condition number: the largest over the smallest singular value. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::{needs, score};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::kernels::singular::Function;
use crate::plan::Shared;

pub(super) static METRIC: Metric = Metric {
    id: "condition_number",
    title: "Condition number",
    analysis: Analysis::Rankme,
    outputs: &[Output::neither("condition_number", "1 and above")
        .about("largest over smallest singular value of the centered embeddings")
        .column("Condition_Number")],
    page: include_str!("condition_number.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

/// The largest over the smallest; none where the smallest is 0.
pub(super) const RATIO: Function = ("condition_number", |singular| {
    // Centering takes one direction away: a singular value beyond N − 1 is 0 whatever the data.
    let count = singular.d.min(singular.n.saturating_sub(1));
    let (largest, smallest) = (singular.values.first()?, singular.values[..count].last()?);
    (!singular.is_rounding(*smallest)).then(|| largest / smallest)
});

fn compute(shared: &Shared) -> Result<Results> {
    let singular = &shared.singular()?.centred;
    let reason = match singular.values.first() {
        Some(&largest) if largest > 0.0 => {
            "the embeddings do not fill min(N − 1, D) dimensions: the smallest singular value is 0"
        }
        _ => NO_VARIANCE,
    };
    Ok(score(RATIO, singular, [0.0, f64::MAX], reason, shared).into())
}
