// SPDX-License-Identifier: MIT
//! Whether a signal's own text is nearer to it than the texts of others: energies of matched and of shuffled pairs.

use super::{ENERGY, MATCHED, Run, SHUFFLED, mean_label};
use crate::etes::System;
use crate::figures::NamedFigure;
use crate::figures::models::measured;
use crate::figures::words::{description, of_score, typeset};
use crate::text::{join, printable};
use repscope_core::Score;
use repscope_figures::{
    Axis, BarRow, Bars, Bins, Cloud, Figure, Histogram, Legend, Panel, Reference, ReferenceAt, Scatter, bin_edges,
    bin_shares,
};
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

pub(super) fn pairs(run: &Run) -> Vec<NamedFigure> {
    let known = run
        .shown
        .iter()
        .filter_map(|(_, system)| Some((*system, Stored::of(system)?)));
    let known: Vec<(System, Stored)> = known.collect();
    let used = known.iter().filter_map(|(_, stored)| stored.used());
    let Some(used) = used.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) else {
        return Vec::new();
    };
    // All panels have the same bins, or their heights could not be compared.
    let wanted = known.iter().map(|(system, stored)| stored.together(system.count()));
    let fewest = (used.len() as f64 / MOST_BINS).ceil().max(1.0);
    let together = wanted.fold(f64::INFINITY, f64::min).round().max(fewest) as usize;
    let draw = |(system, stored): &(System, Stored)| histogram(system, stored, &used, together);
    let drawn: Vec<Histogram> = known.iter().map(draw).collect();
    let heights = drawn
        .iter()
        .flat_map(|histogram| &histogram.series)
        .flat_map(|bins| &bins.heights);
    let highest = heights.copied().fold(0.0, f64::max);
    let panel = |((system, _), mut histogram): (&(System, Stored), Histogram)| {
        histogram.y = histogram.y.covering(&[0.0, HEADROOM * highest]);
        Panel::new(run.title(system, "Matched and shuffled pairs"), histogram).note(told_apart(system))
    };
    let mut panels: Vec<Panel> = known.iter().zip(drawn).map(panel).collect();
    if let [(system, _)] = known.as_slice() {
        panels.extend(nearest(system));
    }
    let sentence = |(system, _): &(System, Stored)| {
        let of = |part: &str| system.score(part).and_then(of_score);
        let (name, matched, shuffled) = (printable(system.name), of("alignment")?, of("shuffled")?);
        Some(format!(
            "{name}: matched {matched}, shuffled {shuffled}. {}",
            told_apart(system)
        ))
    };
    let notes = vec![
        format!(
            "N = {} signals, each with its own text (matched) and with the texts of all others (shuffled). Lines: means.",
            run.counts()
        ),
        "AUC: how often a matched pair is nearer than a shuffled one, 0.5 by chance. z: the mean less that of random pairings, in \
         their standard deviations."
            .to_string(),
    ];
    let head = "Energies of signals with their own texts and with those of others.";
    let figure = Figure {
        description: description(head, known.iter().filter_map(sentence)),
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
    let scores = system
        .ks()
        .into_iter()
        .filter_map(|k| Some((k, system.score(&format!("top@{k}"))?)));
    let known: Vec<(&str, &Score)> = scores.filter(|(_, score)| score.value.is_some()).collect();
    let bars = Bars {
        axis: Axis::linear("share of signals").covering(&[0.0]),
        categories: known.iter().map(|(k, _)| k.to_string()).collect(),
        category_label: "nearest texts K".to_string(),
        rows: vec![BarRow {
            series: MATCHED,
            bars: known.iter().map(|(_, score)| measured(Some(score))).collect(),
        }],
        chance: known.iter().map(|(_, score)| score.chance).collect(),
        ..Bars::default()
    };
    (!known.is_empty()).then(|| Panel::new("Own text among the K nearest ↑", bars))
}

fn histogram(system: &System, stored: &Stored, used: &Range<usize>, together: usize) -> Histogram {
    let left = |start: usize| stored.x[start] - stored.width() / 2.0;
    let starts: Vec<usize> = used.clone().step_by(together).collect();
    // The last bin is as wide as the others, even where it reaches beyond the stored ones.
    let last = starts
        .last()
        .map(|&start| left(start) + together as f64 * stored.width());
    let edges: Vec<f64> = starts.iter().map(|&start| left(start)).chain(last).collect();
    let bins = |series: usize, shares: &[f64]| {
        let height = |start: &usize| shares[*start..(start + together).min(shares.len())].iter().sum();
        Bins {
            series,
            heights: starts.iter().map(height).collect(),
            edges: edges.clone(),
            ..Bins::default()
        }
    };
    let mean = |(series, part): (usize, &str)| system.value(part).map(|mean| mean_line(mean).of(series));
    let means = [(MATCHED, "alignment"), (SHUFFLED, "shuffled")].map(mean);
    Histogram {
        x: Axis::linear(ENERGY),
        y: Axis::linear("share of pairs"),
        // Matched pairs, which are the matter, lie on top.
        series: vec![bins(SHUFFLED, stored.shuffled), bins(MATCHED, stored.matched)],
        references: means.into_iter().flatten().collect(),
    }
}

fn mean_line(mean: f64) -> Reference {
    Reference::new(ReferenceAt::Vertical(mean), mean_label(mean))
}

/// `AUC 0.634 [0.600, 0.668], z −8.48.`
fn told_apart(system: &System) -> String {
    let auc = system.score("auc").and_then(of_score).map(|auc| format!("AUC {auc}"));
    let z = system.value("z").map(|z| format!("z {}", typeset(&format!("{z:.2}"))));
    match join([auc, z].into_iter().flatten(), ", ").as_str() {
        "" => String::new(),
        parts => format!("{parts}."),
    }
}

/// How far axes reach beyond the outermost points, so that none is cut.
const BEYOND: f64 = 0.04;

pub(super) fn gap(run: &Run) -> Vec<NamedFigure> {
    type Known<'a> = (usize, System<'a>, Vec<[f64; 2]>);
    let known = run
        .shown
        .iter()
        .map(|(series, system)| (*series, *system, points(system)));
    let known: Vec<Known> = known.filter(|(_, _, points)| !points.is_empty()).collect();
    // Both axes of all panels reach as far, so that the line of equal energies is the diagonal.
    let all = || known.iter().flat_map(|(_, _, points)| points.iter().flatten().copied());
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let beyond = BEYOND * (high - low);
    let ends = [low - beyond, high + beyond];
    let panel = |(series, system, points): &Known| {
        let cloud = Cloud {
            series: *series,
            points: points.clone(),
        };
        let scatter = Scatter {
            x: Axis::linear("reference: energy −cos ↓").covering(&ends),
            y: Axis::linear("generated: energy −cos ↓").covering(&ends),
            clouds: vec![cloud],
            references: vec![Reference::new(ReferenceAt::Diagonal, "as near as the reference")],
            ..Scatter::default()
        };
        Panel::new(run.title(system, "Generated and reference texts"), scatter).note(below(points))
    };
    let mut panels: Vec<Panel> = known.iter().map(panel).collect();
    if let [(series, system, points)] = known.as_slice() {
        panels.push(gaps(*series, system, points));
    }
    let gap = |system: &System| system.score("gap").and_then(of_score);
    let sentence = |(_, system, points): &Known| {
        let gap = gap(system).map_or(String::new(), |gap| format!("gap {gap}. "));
        format!("{}: {gap}{}", printable(system.name), below(points))
    };
    let mut notes = vec![
        "↓ lower is better: below the line the generated text is nearer to the signal than the reference.".to_string(),
    ];
    let gaps = known.iter().filter_map(|(_, system, _)| match known.len() {
        1 => gap(system),
        _ => Some(format!("{} {}", printable(system.name), gap(system)?)),
    });
    let gaps = join(gaps, "; ");
    if !gaps.is_empty() {
        notes.push(format!("Gap, mean of generated less reference: {gaps}."));
    }
    let head = "Energy of each generated text against that of its reference text.";
    let figure = Figure {
        description: description(head, known.iter().map(sentence)),
        columns: run.columns(panels.len()),
        panels,
        series: run.systems(),
        // Each panel is one system and says so.
        legend: Legend::Hidden,
        notes,
        ..Figure::default()
    };
    run.named("gap_scatter", figure)
}

/// The gaps of one system, which points beside a diagonal show less well.
fn gaps(series: usize, system: &System, points: &[[f64; 2]]) -> Panel {
    let gaps: Vec<f64> = points
        .iter()
        .map(|[reference, generated]| generated - reference)
        .collect();
    let edges = bin_edges(&[&gaps]);
    let none = Reference::new(ReferenceAt::Vertical(0.0), "no gap");
    let mean = system.value("gap").map(|gap| mean_line(gap).of(series));
    let histogram = Histogram {
        x: Axis::linear("gap: generated less reference ↓"),
        y: Axis::linear("share of samples").covering(&[0.0]),
        series: vec![Bins {
            series,
            heights: bin_shares(&edges, &gaps),
            edges,
            ..Bins::default()
        }],
        references: std::iter::once(none).chain(mean).collect(),
    };
    Panel::new("Gap of each sample", histogram)
}

/// Energy of the reference and of the generated text of each sample that has both.
fn points(system: &System) -> Vec<[f64; 2]> {
    let pairs = system.column("reference_energy").iter().zip(system.column("energy"));
    let points = pairs.filter_map(|(reference, generated)| Some([(*reference)?, (*generated)?]));
    points.filter(|point| point.iter().all(|x| x.is_finite())).collect()
}

/// How many samples lie below the line.
fn below(points: &[[f64; 2]]) -> String {
    let count = |is: fn(&f64, &f64) -> bool| points.iter().filter(|[a, b]| is(b, a)).count();
    let (below, on) = (count(f64::lt), count(f64::eq));
    let share = 100.0 * below as f64 / points.len() as f64;
    // Few are not none.
    let decimals = usize::from(below > 0 && share < 9.95);
    let ties = if on == 0 {
        String::new()
    } else {
        format!(", {on} on it")
    };
    let count = points.len();
    format!("{below} of {count} samples ({share:.decimals$} %) lie below the line{ties}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_below_the_line_are_not_called_none() {
        let mut points = vec![[-0.5, -0.4]; 299];
        points.push([-0.4, -0.5]);
        assert_eq!(below(&points), "1 of 300 samples (0.3 %) lie below the line.");
        points[0] = [-0.5, -0.5];
        points.truncate(10);
        assert_eq!(below(&points), "0 of 10 samples (0 %) lie below the line, 1 on it.");
    }
}
