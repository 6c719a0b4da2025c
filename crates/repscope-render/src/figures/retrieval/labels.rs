// SPDX-License-Identifier: MIT
//! The precision of single labels: all of them, or the best and the worst.

use super::Run;
use crate::figures::words::description;
use crate::figures::{NamedFigure, named};
use crate::numbers::number;
use crate::text::printable;
use repscope_core::Breakdown;
use repscope_figures::{Axis, BarRow, Bars, Figure, Legend, Measured, Orientation, Panel, Reference, ReferenceAt};

/// More labels than this are shown by this many of the best and the worst.
const MOST_LABELS: usize = 20;

struct Label {
    name: String,
    precision: f64,
    chance: Option<f64>,
}

/// A panel per direction.
pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let Some((k, breakdowns)) = run.breakdowns("label_precision") else {
        return Vec::new();
    };
    let sorted = breakdowns
        .iter()
        .map(|(series, breakdown)| (*series, labels(breakdown)));
    let known: Vec<(usize, Vec<Label>)> = sorted.filter(|(_, labels)| !labels.is_empty()).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let sentence = |(series, labels): &(usize, Vec<Label>)| {
        let (best, worst) = (&labels[0], &labels[labels.len() - 1]);
        format!(
            "{}: best {} {}, worst {} {}.",
            run.series[*series],
            best.name,
            number(best.precision),
            worst.name,
            number(worst.precision)
        )
    };
    let head = run.titled(&format!("Precision of each label among the first {k} targets."));
    let figure = Figure {
        title: run.heading.clone(),
        description: description(std::iter::once(head).chain(known.iter().map(sentence))),
        panels: known
            .iter()
            .map(|(series, labels)| panel(run, *series, labels))
            .collect(),
        columns: known.len().min(2),
        series: run.series.to_vec(),
        // Each panel is one direction and says so.
        legend: Legend::Hidden,
        notes: vec![format!(
            "K = {k}. Share of the first K targets that have the query's label, mean over the queries of the label; higher \
             is better. Short lines: chance level of the label."
        )],
        ..Figure::default()
    };
    named(&format!("retrieval/per_label{}", run.suffix), figure)
}

/// The labels that have a precision, best first.
fn labels(breakdown: &Breakdown) -> Vec<Label> {
    let names = breakdown.keys.first().map_or(&[][..], |key| &key.values);
    let value = |column: &str, line: usize| {
        let column = breakdown.columns.iter().find(|c| c.name == column)?;
        column.values.get(line).copied().flatten().filter(|x| x.is_finite())
    };
    let label = |(line, name): (usize, &String)| {
        Some(Label {
            name: printable(name),
            precision: value("precision", line)?,
            chance: value("chance", line),
        })
    };
    let mut labels: Vec<Label> = names.iter().enumerate().filter_map(label).collect();
    labels.sort_by(|a, b| b.precision.total_cmp(&a.precision).then_with(|| a.name.cmp(&b.name)));
    labels
}

fn panel(run: &Run, series: usize, labels: &[Label]) -> Panel {
    let is_cut = labels.len() > MOST_LABELS;
    let half = MOST_LABELS / 2;
    let shown: Vec<&Label> = if is_cut {
        labels[..half].iter().chain(&labels[labels.len() - half..]).collect()
    } else {
        labels.iter().collect()
    };
    let mean = labels.iter().map(|label| label.precision).sum::<f64>() / labels.len() as f64;
    let bar = |label: &&Label| Measured {
        value: Some(label.precision),
        interval: None,
    };
    let bars = Bars {
        axis: Axis::linear("precision").covering(&[0.0, 1.0]),
        orientation: Orientation::Horizontal,
        categories: shown.iter().map(|label| label.name.clone()).collect(),
        rows: vec![BarRow {
            series,
            bars: shown.iter().map(bar).collect(),
        }],
        chance: shown.iter().map(|label| label.chance).collect(),
        references: vec![Reference {
            at: ReferenceAt::Vertical(mean),
            label: format!("mean over labels {}", repscope_figures::number(mean)),
            series: None,
        }],
        ..Bars::default()
    };
    Panel::new(run.series[series].clone(), bars).note(if is_cut {
        format!("The {half} best and the {half} worst of {} labels.", labels.len())
    } else {
        String::new()
    })
}
