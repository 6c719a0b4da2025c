// SPDX-License-Identifier: MIT
//! Whether a signal's own text is nearer to it than the texts of others: energies of matched and of shuffled pairs.

use super::{ENERGY, MATCHED, Run, SHUFFLED, mean_label, written};
use crate::etes::System;
use crate::figures::NamedFigure;
use crate::figures::models::measured;
use crate::figures::words::{description, typeset};
use crate::text::printable;
use repscope_core::Score;
use repscope_figures::{Axis, BarRow, Bars, Bins, Figure, Histogram, Legend, Panel, Reference, ReferenceAt};
use std::ops::Range;

/// Most bins of a histogram.
const MOST_BINS: f64 = 60.0;
/// How far an axis reaches above the highest bin.
const HEADROOM: f64 = 1.05;

/// The stored histograms of a system: shares of matched and of shuffled pairs over the same bins.
struct Stored<'a> {
    /// Middles of the bins.
    x: &'a [f64],
    matched: &'a [f64],
    shuffled: &'a [f64],
}

impl<'a> Stored<'a> {
    fn of(system: &System<'a>) -> Option<Self> {
        let (matched, shuffled) = (
            system.curve("etes.histogram")?,
            system.curve("etes.shuffled.histogram")?,
        );
        let is_whole = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let lengths = [&matched.y, &shuffled.x, &shuffled.y].map(|values| values.len());
        let fits = matched.x.len() > 1 && lengths == [matched.x.len(); 3];
        (fits && is_whole(&matched.x) && is_whole(&matched.y) && is_whole(&shuffled.y)).then_some(Stored {
            x: &matched.x,
            matched: &matched.y,
            shuffled: &shuffled.y,
        })
    }

    fn width(&self) -> f64 {
        self.x[1] - self.x[0]
    }

    /// The bins that hold any pair.
    fn used(&self) -> Option<Range<usize>> {
        let is_used = |i: &usize| self.matched[*i] > 0.0 || self.shuffled[*i] > 0.0;
        let (first, last) = ((0..self.x.len()).find(is_used)?, (0..self.x.len()).rfind(is_used)?);
        Some(first..last + 1)
    }

    /// How many bins should be one, after Freedman and Diaconis: 2 · IQR / ∛n for the matched pairs, which are few.
    fn together(&self, samples: usize) -> f64 {
        let quantile = |share: f64| {
            let mut before = 0.0;
            let found = self.matched.iter().position(|height| {
                before += height;
                before >= share
            });
            found.map_or(0.0, |bin| self.x[bin])
        };
        let spread = quantile(0.75) - quantile(0.25);
        2.0 * spread / (samples.max(1) as f64).cbrt() / self.width()
    }
}

pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let known: Vec<(System, Stored)> = run
        .shown
        .iter()
        .filter_map(|(_, system)| Some((*system, Stored::of(system)?)))
        .collect();
    let used = known.iter().filter_map(|(_, stored)| stored.used());
    let Some(used) = used.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) else {
        return Vec::new();
    };
    // All panels have the same bins, or their heights could not be compared.
    let wanted = known.iter().map(|(system, stored)| stored.together(system.count()));
    let fewest = (used.len() as f64 / MOST_BINS).ceil().max(1.0);
    let together = wanted.fold(f64::INFINITY, f64::min).round().max(fewest) as usize;
    let drawn: Vec<(&System, Histogram)> = known
        .iter()
        .map(|(system, stored)| (system, histogram(system, stored, &used, together)))
        .collect();
    let heights = drawn.iter().flat_map(|(_, histogram)| &histogram.series);
    let highest = heights.flat_map(|bins| &bins.heights).copied().fold(0.0, f64::max);
    let panel = |(system, mut histogram): (&System, Histogram)| {
        histogram.y = histogram.y.covering(&[0.0, HEADROOM * highest]);
        Panel::new(run.title(system, "Matched and shuffled pairs"), histogram).note(told_apart(system))
    };
    let mut panels: Vec<Panel> = drawn.into_iter().map(panel).collect();
    if let [(system, _)] = known.as_slice() {
        panels.extend(nearest(system));
    }
    let sentence = |(system, _): &(System, Stored)| {
        let of = |part: &str| system.score(part).and_then(written);
        let (Some(matched), Some(shuffled)) = (of("alignment"), of("shuffled")) else {
            return String::new();
        };
        let name = printable(system.name);
        format!("{name}: matched {matched}, shuffled {shuffled}. {}", told_apart(system))
    };
    let head = "Energies of signals with their own texts and with those of others.".to_string();
    let notes = vec![
        format!(
            "N = {} signals, each with its own text (matched) and with the texts of all others (shuffled). Lines: means.",
            run.counts()
        ),
        "AUC: how often a matched pair is nearer than a shuffled one, 0.5 by chance. z: the mean less that of random pairings, in \
         their standard deviations."
            .to_string(),
    ];
    let figure = Figure {
        description: description(std::iter::once(head).chain(known.iter().map(sentence))),
        columns: run.columns(panels.len()),
        panels,
        series: run.pairs(),
        legend: Legend::Below,
        notes: run.with_left_out(notes),
        ..Figure::default()
    };
    run.named("matched_vs_shuffled", figure)
}

/// How often a signal's own text is among the nearest.
fn nearest(system: &System) -> Option<Panel> {
    let known: Vec<(&str, &Score)> = system
        .ks()
        .into_iter()
        .filter_map(|k| Some((k, system.score(&format!("top@{k}"))?)))
        .filter(|(_, score)| score.value.is_some())
        .collect();
    let bars = Bars {
        axis: Axis::linear("share of signals").covering(&[0.0]),
        categories: known.iter().map(|(k, _)| k.to_string()).collect(),
        category_label: "nearest texts K".to_string(),
        rows: vec![BarRow {
            series: MATCHED,
            bars: known.iter().map(|(_, score)| measured(score)).collect(),
        }],
        chance: known.iter().map(|(_, score)| score.chance).collect(),
        ..Bars::default()
    };
    (!known.is_empty()).then(|| Panel::new("Own text among the K nearest ↑", bars))
}

fn histogram(system: &System, stored: &Stored, used: &Range<usize>, together: usize) -> Histogram {
    let half = stored.width() / 2.0;
    let starts: Vec<usize> = used.clone().step_by(together).collect();
    let count = stored.x.len();
    let end = |start: usize| (start + together).min(count);
    let mut edges: Vec<f64> = starts.iter().map(|&start| stored.x[start] - half).collect();
    // The last bin is as wide as the others, even where it reaches beyond the stored ones.
    edges.extend(
        starts
            .last()
            .map(|&start| stored.x[start] - half + together as f64 * stored.width()),
    );
    let heights = |shares: &[f64]| {
        starts
            .iter()
            .map(|&start| shares[start..end(start)].iter().sum())
            .collect()
    };
    let bins = |series: usize, shares: &[f64]| Bins {
        series,
        heights: heights(shares),
        edges: edges.clone(),
        ..Bins::default()
    };
    let mean = |series: usize, part: &str| {
        let mean = system.value(part)?;
        Some(Reference {
            at: ReferenceAt::Vertical(mean),
            label: mean_label(mean),
            series: Some(series),
        })
    };
    Histogram {
        x: Axis::linear(ENERGY),
        y: Axis::linear("share of pairs"),
        // Matched pairs, which are the matter, lie on top.
        series: vec![bins(SHUFFLED, stored.shuffled), bins(MATCHED, stored.matched)],
        references: [mean(MATCHED, "alignment"), mean(SHUFFLED, "shuffled")]
            .into_iter()
            .flatten()
            .collect(),
    }
}

/// `AUC 0.634 [0.600, 0.668], z −8.48.`
fn told_apart(system: &System) -> String {
    let auc = system.score("auc").and_then(written).map(|auc| format!("AUC {auc}"));
    let z = system.value("z").map(|z| format!("z {}", typeset(&format!("{z:.2}"))));
    let parts: Vec<String> = [auc, z].into_iter().flatten().collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("{}.", parts.join(", "))
    }
}
