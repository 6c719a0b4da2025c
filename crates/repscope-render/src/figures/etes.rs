// SPDX-License-Identifier: MIT
//! Energies of generated texts: matched against shuffled pairs, generated against reference texts, bands, systems and groups.
//! Matched and shuffled pairs have the same two colors in all of them.

mod bands;
mod gap;
mod groups;
mod pairs;
mod systems;

use super::words::{notes, typeset};
use super::{NamedFigure, named};
use crate::etes::System;
use crate::numbers::{number, number_with_interval};
use crate::text::printable;
use repscope_core::{MetricId, Results, Score};
use repscope_figures::Figure;

const ENERGY: &str = "energy −cos (lower is better)";
/// The series of figures that set matched pairs against shuffled ones.
const MATCHED: usize = 0;
const SHUFFLED: usize = 1;
/// More systems than this are shown by the best.
const MOST_SYSTEMS: usize = 12;

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let run = Run::new(results);
    [
        pairs::figure(&run),
        gap::figure(&run),
        bands::figure(&run),
        systems::figure(&run),
        groups::figure(&run),
    ]
    .concat()
}

/// What the figures have in common.
struct Run<'a> {
    results: &'a Results,
    /// All systems; the place is the series, so that a system has one color everywhere.
    all: Vec<System<'a>>,
    /// Those that are drawn, with their places: all in the order given, or the best of many.
    shown: Vec<(usize, System<'a>)>,
}

impl<'a> Run<'a> {
    fn new(results: &'a Results) -> Self {
        let all = System::all(results);
        let energy = |system: &System| system.value("alignment").unwrap_or(f64::INFINITY);
        let mut shown: Vec<(usize, System)> = all.iter().copied().enumerate().collect();
        if shown.len() > MOST_SYSTEMS {
            shown.sort_by(|a, b| energy(&a.1).total_cmp(&energy(&b.1)));
            shown.truncate(MOST_SYSTEMS);
            shown.sort_by_key(|(place, _)| *place);
        }
        Run { results, all, shown }
    }

    fn named(&self, name: &str, figure: Figure) -> Vec<NamedFigure> {
        named(&format!("etes_analysis/{name}"), figure)
    }

    fn pairs(&self) -> Vec<String> {
        vec!["matched pairs".to_string(), "shuffled pairs".to_string()]
    }

    fn systems(&self) -> Vec<String> {
        self.all.iter().map(|system| printable(system.name)).collect()
    }

    /// The name of a system above its panel, or what the panel shows where there is only one.
    fn title(&self, system: &System, alone: &str) -> String {
        match self.all.len() {
            1 => alone.to_string(),
            _ => printable(system.name),
        }
    }

    /// Panels side by side.
    fn columns(&self, panels: usize) -> usize {
        // Four make a square.
        if panels == 4 { 2 } else { panels.min(3) }
    }

    /// How many samples have an energy: `300`, or `280, 300` where systems differ.
    fn counts(&self) -> String {
        let mut counts: Vec<usize> = self.shown.iter().map(|(_, system)| system.count()).collect();
        counts.sort_unstable();
        counts.dedup();
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        counts.join(", ")
    }

    /// What stands below a figure of these scores, and which systems are left out.
    fn notes(&self, is_drawn: impl Fn(&MetricId) -> bool) -> Vec<String> {
        self.with_left_out(notes(self.results, is_drawn))
    }

    fn with_left_out(&self, mut notes: Vec<String>) -> Vec<String> {
        if self.shown.len() < self.all.len() {
            notes.push(format!(
                "The {} systems with the lowest energy, of {}.",
                self.shown.len(),
                self.all.len()
            ));
        }
        notes
    }
}

/// A value with its interval, as a figure sets numbers.
fn written(score: &Score) -> Option<String> {
    Some(match (score.value?, score.interval) {
        (value, Some(interval)) => {
            let (value, interval) = number_with_interval(value, interval);
            typeset(&format!("{value} {interval}"))
        }
        (value, None) => typeset(&number(value)),
    })
}

/// The name of the line at a mean, with the digits of an energy.
fn mean_label(mean: f64) -> String {
    format!("mean {}", typeset(&format!("{mean:.3}")))
}
