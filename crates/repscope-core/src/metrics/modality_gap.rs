// SPDX-License-Identifier: MIT
//! Modality gap: how far the two spaces of a direction lie apart on the sphere. See the page.

use super::{Analysis, Answer, Invariance, Metric, Output, Part, Takes, Work};
use crate::retrieve::Ranked;
use crate::score::{Better, Score};

pub(super) static METRIC: Metric = Metric {
    id: "modality_gap",
    title: "Modality gap",
    analysis: Analysis::Retrieval,
    outputs: &[Output {
        id: "modality_gap.DIRECTION",
        about: "distance between the mean unit vectors of queries and targets",
        better: Better::Neither,
        range: "0 to 2",
    }],
    page: include_str!("modality_gap.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets],
    options: &[],
    work: Work::Ranking {
        part: Part::First,
        compute,
    },
};

fn compute(ranked: &Ranked) -> Answer {
    if ranked.is_self {
        return Answer::default();
    }
    let id = ranked.id("modality_gap", "", None);
    Score::number(id, ranked.gap, ranked.queries + ranked.targets, Better::Neither).into()
}
