// SPDX-License-Identifier: MIT
//! Batches among the neighbors of each row, beside batches that are assigned at random.

use super::NamedFigure;
use super::models::Models;
use super::words::{all_values, description, facts, is_of};
use crate::scores::{only_scores, scores};
use repscope_core::{Analysis, Results};
use repscope_figures::{Axis, Bars, Content, Panel};

/// What stands below the figure.
const BELOW: &str = "Higher is better mixed; short lines: batches assigned at random. Whether rows of different batches should be \
                     mixed is not for these numbers to say: batches that hold different things are apart for a reason.";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = is_of(Analysis::Mixing);
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let share = |label: &str| Axis::linear(label).covering(&[0.0, 1.0]);
    let levels = models.levels(&["kbet"]);
    let kbet = levels.first().map(|k| format!("kbet@{k}"));
    // Without the chance level nobody sees whether a value is much.
    let bar = |title: &str, axis: Axis, id: &str| {
        let panel = models.bar(title, axis, id)?;
        Some(match panel.content {
            Content::Bars(bars) => Panel {
                content: Content::Bars(Bars {
                    reaches_chance: true,
                    ..bars
                }),
                ..panel
            },
            _ => panel,
        })
    };
    let panels = [
        bar(
            "Batches in a neighborhood (iLISI)",
            Axis::linear("batches in effect").covering(&[1.0]),
            "ilisi",
        ),
        bar(
            "Mixing of batches, 0 to 1 (iLISI)",
            share("from one batch to all alike"),
            "ilisi.scaled",
        ),
        bar(
            "Mixing within classes (CiLISI)",
            share("from one batch to all alike"),
            "cilisi",
        ),
        kbet.and_then(|id| bar("Neighborhoods like the whole (kBET)", share("share of rows"), &id)),
    ];
    let words = description(
        "How well neighborhoods mix the batches of the rows.",
        all_values(&models, is_drawn),
    );
    let mut below = facts(&scores(&only_scores(results, is_drawn)));
    below.push(BELOW.to_string());
    models.figure("mixing/mixing_analysis", 2, panels, words, below)
}
