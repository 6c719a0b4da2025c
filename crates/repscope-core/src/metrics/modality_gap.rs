// SPDX-License-Identifier: MIT
//! Modality gap: how far the two spaces of a direction lie apart on the sphere. See the page.

use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::Ranked;
use crate::score::Score;

pub(super) static METRIC: Metric = Metric {
    id: "modality_gap",
    title: "Modality gap",
    analysis: Analysis::Retrieval,
    outputs: &[Output::neither("modality_gap.DIRECTION", "0 to 2")
        .about("distance between the mean unit vectors of queries and targets")],
    page: include_str!("modality_gap.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets],
    options: &[],
    work: Work::Ranking(Part::First, compute),
};

fn compute(ranked: &Ranked) -> Results {
    if ranked.is_self {
        return Results::default();
    }
    let id = ranked.id("modality_gap", "", None);
    Score::number(id, ranked.gap, ranked.queries + ranked.targets).into()
}
