// SPDX-License-Identifier: MIT
//! Systems beside each other: the level of their energies with that of shuffled pairs, and what does not depend on the level.

use super::{ENERGY, MATCHED, Run, SHUFFLED};
use crate::etes::System;
use crate::figures::NamedFigure;
use crate::figures::models::{Models, measured};
use crate::figures::words::{description, values};
use crate::text::printable;
use repscope_figures::{Axis, BarRow, Bars, BarsLook, Figure, Legend, Measured, Orientation, Panel};

/// Standard deviations over random pairings that are drawn on each side of their mean.
const SPREADS: f64 = 2.0;

pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let known = run
        .shown
        .iter()
        .filter_map(|(_, system)| Some((system.value("alignment")?, *system)));
    let mut known: Vec<(f64, System)> = known.collect();
    if known.len() < 2 {
        return Vec::new();
    }
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let systems: Vec<System> = known.into_iter().map(|(_, system)| system).collect();
    let row = |series: usize, of: &dyn Fn(&System) -> Measured| BarRow {
        series,
        bars: systems.iter().map(of).collect(),
    };
    let score = |part: &'static str| move |system: &System| system.score(part).map(measured).unwrap_or_default();
    let shuffled = |system: &System| {
        let (value, spread) = (system.value("shuffled"), system.value("shuffled.std"));
        Measured {
            value,
            interval: value
                .zip(spread)
                .map(|(mean, sd)| (mean - SPREADS * sd, mean + SPREADS * sd)),
        }
    };
    let points = |axis: Axis, rows: Vec<BarRow>| Bars {
        axis,
        orientation: Orientation::Horizontal,
        categories: systems.iter().map(|system| printable(system.name)).collect(),
        rows,
        look: BarsLook::Points,
        ..Bars::default()
    };
    let mut rows = vec![row(MATCHED, &score("alignment"))];
    let has = |part: &str| systems.iter().any(|system| system.value(part).is_some());
    if has("shuffled") {
        rows.push(row(SHUFFLED, &shuffled));
    }
    let mut panels = vec![Panel::new("Alignment ↓", points(Axis::linear(ENERGY), rows))];
    if has("auc") {
        let axis = Axis::linear("AUC (higher is better)").covering(&[0.4, 1.0]);
        let bars = Bars {
            chance: vec![Some(0.5)],
            ..points(axis, vec![row(MATCHED, &score("auc"))])
        };
        panels.push(Panel::new("Matched nearer than shuffled ↑", bars));
    }
    let models = Models::of(run.results);
    let mut notes = run.notes(|id| ["etes.alignment", "etes.auc"].contains(&id.as_str()));
    notes.push("Best first by alignment. Levels depend on the space, the AUC does not.".to_string());
    if has("shuffled.std") {
        notes.push(
            "Shuffled pairs: mean over all pairings, with two standard deviations over pairings on each side."
                .to_string(),
        );
    }
    let figure = Figure {
        description: description([
            "Energies of the systems beside those of shuffled pairs.".to_string(),
            values(&models, "Alignment", "etes.alignment"),
            values(&models, "Shuffled pairs", "etes.shuffled"),
            values(&models, "AUC", "etes.auc"),
        ]),
        columns: panels.len(),
        panels,
        series: run.pairs(),
        legend: Legend::Below,
        notes,
        ..Figure::default()
    };
    run.named("systems", figure)
}
