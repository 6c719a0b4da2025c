// SPDX-License-Identifier: MIT
//! The precision of single labels, all of them or the best and the worst; and which labels are retrieved for which.

use super::Run;
use crate::breakdowns::{cell, first_key, names};
use crate::figures::NamedFigure;
use crate::numbers::number;
use crate::scores::{both_ends, distinct};
use crate::text::printable;
use repscope_core::Breakdown;
use repscope_figures::{
    Axis, BarRow, Bars, Figure, Heatmap, Legend, Measured, Orientation, Panel, Reference, ReferenceAt,
};

/// More labels than this are shown by this many of the best and the worst.
const MOST_LABELS: usize = 20;
/// More labels than this are shown by those that are confused most.
const MOST_CONFUSED: usize = 15;
/// Shares that are missing from a full list of labels add up to less than this.
const ROUNDING: f64 = 1e-6;

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
    let sentence = |(series, labels): &(usize, Vec<Label>)| {
        let of = |label: &Label| format!("{} {}", label.name, number(label.precision));
        let (best, worst) = (of(&labels[0]), of(&labels[labels.len() - 1]));
        format!("{}: best {best}, worst {worst}.", run.series[*series])
    };
    let figure = Figure {
        panels: known
            .iter()
            .map(|(series, labels)| panel(run, *series, labels))
            .collect(),
        columns: known.len().min(2),
        // Each panel is one direction and says so.
        legend: Legend::Hidden,
        notes: vec![format!(
            "K = {k}. Share of the first K targets that have the query's label, mean over the queries of the label; higher \
             is better. Short lines: chance level of the label."
        )],
        ..Figure::default()
    };
    let head = format!("Precision of each label among the first {k} targets.");
    run.named("per_label", &head, known.iter().map(sentence), figure)
}

/// The labels that have a precision, best first.
fn labels(breakdown: &Breakdown) -> Vec<Label> {
    let label = |(line, name): (usize, &String)| {
        Some(Label {
            name: printable(name),
            precision: cell(breakdown, "precision", line)?,
            chance: cell(breakdown, "chance", line),
        })
    };
    let mut labels: Vec<Label> = first_key(breakdown).iter().enumerate().filter_map(label).collect();
    labels.sort_by(|a, b| b.precision.total_cmp(&a.precision).then_with(|| a.name.cmp(&b.name)));
    labels
}

fn panel(run: &Run, series: usize, labels: &[Label]) -> Panel {
    let shown = both_ends(labels, MOST_LABELS);
    let mean = labels.iter().map(|label| label.precision).sum::<f64>() / labels.len() as f64;
    let bar = |label: &&Label| Measured {
        value: Some(label.precision),
        interval: None,
    };
    let label = format!("mean over labels {}", repscope_figures::number(mean));
    let bars = Bars {
        axis: Axis::linear("precision").covering(&[0.0, 1.0]),
        orientation: Orientation::Horizontal,
        categories: shown.iter().map(|label| label.name.clone()).collect(),
        rows: vec![BarRow {
            series,
            bars: shown.iter().map(bar).collect(),
        }],
        chance: shown.iter().map(|label| label.chance).collect(),
        references: vec![Reference::new(ReferenceAt::Vertical(mean), label)],
        ..Bars::default()
    };
    let (half, count) = (shown.len() / 2, labels.len());
    let cut = (shown.len() < count).then(|| format!("The {half} best and the {half} worst of {count} labels."));
    Panel::new(run.series[series].clone(), bars).note(cut.unwrap_or_default())
}

/// How often each label is retrieved for a label; not everything may be listed.
struct Shares<'a> {
    labels: Vec<&'a str>,
    /// Label asked for, label retrieved, share.
    lines: Vec<(usize, usize, f64)>,
}

/// A panel per direction.
pub(super) fn confusion(run: &Run) -> Vec<NamedFigure> {
    let Some((k, breakdowns)) = run.breakdowns("label_precision.confusion") else {
        return Vec::new();
    };
    let known = breakdowns.iter().filter_map(|(series, b)| Some((*series, shares(b)?)));
    let known: Vec<(usize, Shares)> = known.collect();
    let sentence = |(series, shares): &(usize, Shares)| {
        let confused = shares.lines.iter().filter(|(asked, got, _)| asked != got);
        let (asked, got, share) = confused.max_by(|a, b| a.2.total_cmp(&b.2))?;
        let [asked, got] = [asked, got].map(|label| printable(shares.labels[*label]));
        let (direction, share) = (&run.series[*series], number(*share));
        Some(format!(
            "{direction}: most often confused: {got} retrieved for {asked}, share {share}."
        ))
    };
    let panel = |(series, shares): &(usize, Shares)| confusion_panel(&run.series[*series], shares);
    let figure = Figure {
        panels: known.iter().map(panel).collect(),
        columns: known.len().min(2),
        notes: vec![format!(
            "K = {k}. Each row adds up to 1: the share of each label among the first K targets of the row's queries. All \
             queries count."
        )],
        ..Figure::default()
    };
    let head = format!("Labels of the first {k} targets, by the label of the query.");
    run.named("confusion", &head, known.iter().filter_map(sentence), figure)
}

fn shares(breakdown: &Breakdown) -> Option<Shares<'_>> {
    let (asked, got) = (names(breakdown, "label"), names(breakdown, "retrieved"));
    let labels = distinct(asked.iter().chain(got).map(String::as_str));
    let place = |name: &String| labels.iter().position(|label| label == name);
    let line = |(line, (asked, got)): (usize, (&String, &String))| {
        Some((place(asked)?, place(got)?, cell(breakdown, "share", line)?))
    };
    let lines: Vec<_> = asked.iter().zip(got).enumerate().filter_map(line).collect();
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
        let here: f64 = shown.iter().filter_map(of).sum();
        let others = is_cut.then(|| Some((1.0 - here).max(0.0)));
        shown.iter().map(|got| of(got).or(rest)).chain(others).collect()
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
    let (few, count) = (shown.len(), shares.labels.len());
    let cut = is_cut.then(|| format!("The {few} of {count} labels with the fewest hits."));
    Panel::new(title, heatmap).note(cut.unwrap_or_default())
}

/// The labels to show, in their own order: all, or those whose queries find themselves least.
fn chosen(shares: &Shares) -> Vec<usize> {
    let all = 0..shares.labels.len();
    if all.len() <= MOST_CONFUSED {
        return all.collect();
    }
    let own = |label: usize| {
        shares
            .lines
            .iter()
            .find(|(asked, got, _)| (*asked, *got) == (label, label))
    };
    let is_asked = |label: &usize| shares.lines.iter().any(|(asked, _, _)| asked == label);
    let hits = |label: usize| (own(label).map_or(0.0, |(_, _, share)| *share), label);
    let mut asked: Vec<(f64, usize)> = all.filter(is_asked).map(hits).collect();
    asked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    asked.truncate(MOST_CONFUSED);
    let mut labels: Vec<usize> = asked.into_iter().map(|(_, label)| label).collect();
    labels.sort_unstable();
    labels
}
