// SPDX-License-Identifier: MIT
//! RankMe and its relatives: how many directions the embeddings really fill.

use super::NamedFigure;
use super::models::Models;
use super::words::{all_values, description, facts, is_of, table};
use crate::scores::{only_scores, scores};
use repscope_core::{Analysis, Results};
use repscope_figures::{Axis, Content, Orientation, Panel, Reference, ReferenceAt};

const RANKS: [(&str, &str); 4] = [
    ("spec", "rankme(variant=spec)"),
    ("paper", "rankme(variant=paper)"),
    ("numerical", "numerical_rank"),
    ("stable", "stable_rank"),
];
/// What stands below the figure.
const BELOW: [&str; 2] = [
    "RankMe (spec) is the entropy of squared singular values of the centered embeddings, RankMe (paper) that of \
     the singular values of the embeddings as they are. The numerical rank counts singular values above 1 % of the \
     largest; the stable rank is the sum of the eigenvalues over the largest. No rank exceeds min(N, D).",
    "Coordinates of embeddings that are spread evenly over the sphere have a standard deviation of about 1/√D; 0 is a \
     collapse.",
];

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = is_of(Analysis::Rankme);
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let from_zero = |label: &str| Axis::linear(label).covering(&[0.0]);
    let condition = Axis::log("largest / smallest singular value").covering(&[1.0]);
    let decay = models.bar("Decay of the eigenvalues", from_zero("exponent α"), "alpha_req");
    let spread = from_zero("mean std of unit-length embeddings");
    let panels = [
        models.bars("RankMe and other ranks", from_zero("directions"), "", &RANKS),
        decay.map(with_ideal),
        models.bar("Condition number", condition, "condition_number"),
        models.bar("Spread of the coordinates", spread, "std_collapse"),
        table(results, is_drawn).map(|panel| panel.span(2)),
    ];
    let words = description(
        "How many directions the embeddings fill.",
        all_values(&models, is_drawn),
    );
    let mut below = facts(&scores(&only_scores(results, is_drawn)));
    below.extend(BELOW.map(str::to_string));
    models.figure("rankme/rankme_analysis", 2, panels, words, below)
}

/// A line at 1, around which Agrawal et al. 2022 find the best representations.
fn with_ideal(mut panel: Panel) -> Panel {
    if let Content::Bars(bars) = &mut panel.content {
        let at = match bars.orientation {
            Orientation::Vertical => ReferenceAt::Horizontal(1.0),
            Orientation::Horizontal => ReferenceAt::Vertical(1.0),
        };
        bars.references.push(Reference::new(at, "α = 1"));
    }
    panel
}
