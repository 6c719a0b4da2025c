// SPDX-License-Identifier: MIT
//! The precision of single labels: all of them, or the best and the worst.

use super::Run;
use crate::figures::words::description;
use crate::figures::{NamedFigure, named};
use crate::numbers::number;
use crate::scores::distinct;
use crate::text::printable;
use repscope_core::Breakdown;
use repscope_figures::{
    Axis, BarRow, Bars, Figure, Heatmap, Legend, Measured, Orientation, Panel, Reference, ReferenceAt,
};

/// More labels than this are shown by this many of the best and the worst.
const MOST_LABELS: usize = 20;

struct Label {
    name: String,
    precision: f64,
    chance: Option<f64>,
}

/// A panel per direction.
pub(super) fn of_labels(run: &Run) -> Vec<NamedFigure> {
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

/// More labels than this are shown by those that are confused most.
const MOST_CONFUSED: usize = 15;
/// Shares that are missing from a full list of labels add up to less than this.
const ROUNDING: f64 = 1e-6;

/// How often each label is retrieved for a label; not everything may be listed.
struct Shares<'a> {
    labels: Vec<&'a str>,
    /// Label asked for, label retrieved, share.
    lines: Vec<(usize, usize, f64)>,
}

/// A confusion_panel per direction.
pub(super) fn confusion(run: &Run) -> Vec<NamedFigure> {
    let Some((k, breakdowns)) = run.breakdowns("label_precision.confusion") else {
        return Vec::new();
    };
    let known: Vec<(usize, Shares)> = breakdowns
        .iter()
        .filter_map(|(series, b)| Some((*series, shares(b)?)))
        .collect();
    if known.is_empty() {
        return Vec::new();
    }
    let sentence = |(series, shares): &(usize, Shares)| {
        let confused = shares.lines.iter().filter(|(asked, got, _)| asked != got);
        let worst = confused.max_by(|a, b| a.2.total_cmp(&b.2));
        worst.map_or(String::new(), |(asked, got, share)| {
            format!(
                "{}: most often confused: {} retrieved for {}, share {}.",
                run.series[*series],
                printable(shares.labels[*got]),
                printable(shares.labels[*asked]),
                number(*share)
            )
        })
    };
    let head = run.titled(&format!("Labels of the first {k} targets, by the label of the query."));
    let figure = Figure {
        title: run.heading.clone(),
        description: description(std::iter::once(head).chain(known.iter().map(sentence))),
        panels: known
            .iter()
            .map(|(series, shares)| confusion_panel(&run.series[*series], shares))
            .collect(),
        columns: known.len().min(2),
        series: run.series.to_vec(),
        notes: vec![format!(
            "K = {k}. Each row adds up to 1: the share of each label among the first K targets of the row's queries. All \
             queries count."
        )],
        ..Figure::default()
    };
    named(&format!("retrieval/confusion{}", run.suffix), figure)
}

fn shares(breakdown: &Breakdown) -> Option<Shares<'_>> {
    let key = |name: &str| {
        breakdown
            .keys
            .iter()
            .find(|key| key.name == name)
            .map(|key| &key.values)
    };
    let (asked, got) = (key("label")?, key("retrieved")?);
    let column = breakdown.columns.iter().find(|column| column.name == "share")?;
    let labels = distinct(asked.iter().chain(got).map(String::as_str));
    let place = |name: &String| labels.iter().position(|label| label == name);
    let line = |((asked, got), share): ((&String, &String), &Option<f64>)| {
        let share = share.filter(|share| share.is_finite())?;
        Some((place(asked)?, place(got)?, share))
    };
    let lines: Vec<_> = asked.iter().zip(got).zip(&column.values).filter_map(line).collect();
    (!lines.is_empty()).then_some(Shares { labels, lines })
}

fn confusion_panel(title: &str, shares: &Shares) -> Panel {
    let shown = chosen(shares);
    let is_cut = shown.len() < shares.labels.len();
    let row = |asked: &usize| -> Vec<Option<f64>> {
        let own: Vec<&(usize, usize, f64)> = shares.lines.iter().filter(|(a, _, _)| a == asked).collect();
        if own.is_empty() {
            return Vec::new();
        }
        let listed: f64 = own.iter().map(|(_, _, share)| share).sum();
        let rest = Some(0.0).filter(|_| (1.0 - listed).abs() < ROUNDING);
        let of = |got: &usize| own.iter().find(|(_, g, _)| g == got).map(|(_, _, share)| *share);
        let mut cells: Vec<Option<f64>> = shown.iter().map(|got| of(got).or(rest)).collect();
        if is_cut {
            let here: f64 = shown.iter().filter_map(of).sum();
            cells.push(Some((1.0 - here).max(0.0)));
        }
        cells
    };
    let names: Vec<String> = shown.iter().map(|label| printable(shares.labels[*label])).collect();
    let mut columns = names.clone();
    columns.extend(is_cut.then(|| "all others".to_string()));
    let heatmap = Heatmap {
        values: shown.iter().map(row).collect(),
        rows: names,
        columns,
        row_label: "label of the query".to_string(),
        column_label: "label retrieved".to_string(),
        value_label: "share of the first K".to_string(),
        range: Some((0.0, 1.0)),
        decimals: 2,
        ..Heatmap::default()
    };
    Panel::new(title, heatmap).note(if is_cut {
        format!(
            "The {} of {} labels with the fewest hits.",
            shown.len(),
            shares.labels.len()
        )
    } else {
        String::new()
    })
}

/// The labels to show, in their own order: all, or those whose queries find themselves least.
fn chosen(shares: &Shares) -> Vec<usize> {
    let own = |label: usize| {
        shares
            .lines
            .iter()
            .find(|(asked, got, _)| *asked == label && *got == label)
    };
    let is_asked = |label: &usize| shares.lines.iter().any(|(asked, _, _)| asked == label);
    let all = 0..shares.labels.len();
    if shares.labels.len() <= MOST_CONFUSED {
        return all.collect();
    }
    let mut asked: Vec<(f64, usize)> = all
        .filter(is_asked)
        .map(|label| (own(label).map_or(0.0, |(_, _, share)| *share), label))
        .collect();
    asked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    asked.truncate(MOST_CONFUSED);
    let mut labels: Vec<usize> = asked.into_iter().map(|(_, label)| label).collect();
    labels.sort_unstable();
    labels
}
