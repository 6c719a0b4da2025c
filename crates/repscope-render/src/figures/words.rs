// SPDX-License-Identifier: MIT
//! What figures say in words: why a value is missing, what an interval is, and the main numbers for those who cannot
//! see them.

use super::models::{Group, Models, titled};
use crate::numbers::{number, number_with_interval};
use crate::summary::{Summary, direction, distinct};
use crate::text::printable;
use crate::winners::best;
use repscope_core::{Better, Results, Score};
use repscope_figures::{Cell, Content, Panel, Table, Weight};

/// More models than this are described by the range of their values.
const MOST_NAMED: usize = 6;
/// With more models than this, a table has a row for each.
const MOST_COLUMNS: usize = 3;
/// More remarks than this are left to the table of the scores.
const MOST_REMARKS: usize = 6;

/// Why values are missing, by reason: `No value for a, b: all rows are the same.` Empty where none is.
pub(super) fn reasons(models: &Models, found: &[(&Group, Vec<(usize, &Score)>)]) -> String {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    let asked: usize = found.iter().map(|(_, scores)| scores.len()).sum();
    for (group, scores) in found {
        for (series, score) in scores.iter().filter(|(_, score)| score.value.is_none()) {
            let reason = score.reason.as_deref().filter(|reason| !reason.is_empty());
            let reason = printable(reason.unwrap_or("no reason was recorded"));
            let who = match found {
                [_] => models.name(*series),
                _ => format!("{} ({})", models.name(*series), group.name),
            };
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, members)) => members.push(who),
                None => by_reason.push((reason, vec![who])),
            }
        }
    }
    let sentence = |(reason, who): &(String, Vec<String>)| {
        if who.len() == asked {
            format!("No value: {reason}.")
        } else {
            format!("No value for {}: {reason}.", who.join(", "))
        }
    };
    by_reason.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// What stands below a figure of these metrics: how many units, which way is better, what the intervals are, and what a
/// reader must know of single metrics.
pub(super) fn notes(results: &Results, is_drawn: impl Fn(&str) -> bool) -> Vec<String> {
    let summary = Summary::new(&only(results, is_drawn));
    let mut notes = facts(&summary);
    notes.extend(
        summary
            .intervals
            .iter()
            .map(|how| format!("Error bars and bands are {how}.")),
    );
    let remarks = remarks(&summary);
    notes.extend(remarks.iter().take(MOST_REMARKS).cloned());
    if remarks.len() > MOST_REMARKS {
        notes.push(format!(
            "{} more remarks are below the table of the scores.",
            remarks.len() - MOST_REMARKS
        ));
    }
    notes
}

/// How many units, and which way is better.
pub(super) fn facts(summary: &Summary) -> Vec<String> {
    let mut notes: Vec<String> = counts(summary).into_iter().collect();
    let arrows: Vec<String> = [Better::Higher, Better::Lower]
        .into_iter()
        .filter(|better| summary.has_direction(*better))
        .map(|better| {
            let (arrow, words) = direction(better);
            format!("{arrow} {words}")
        })
        .collect();
    if !arrows.is_empty() {
        notes.push(format!("{}.", arrows.join(", ")));
    }
    notes
}

/// The results with these scores alone, and what was compared of them.
pub(super) fn only(results: &Results, is_wanted: impl Fn(&str) -> bool) -> Results {
    let scores = results.scores.iter().filter(|score| is_wanted(&score.metric));
    let differences = results
        .differences
        .iter()
        .filter(|difference| is_wanted(&difference.metric));
    Results {
        scores: scores.cloned().collect(),
        differences: differences.cloned().collect(),
        ..Results::default()
    }
}

/// `N = 1797.`, or which metrics have which N.
fn counts(summary: &Summary) -> Option<String> {
    let mut by_count: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &summary.rows {
        let n = row.n(0..row.cells.len());
        match by_count.iter_mut().find(|(known, _)| *known == n) {
            _ if n.is_empty() => {}
            Some((_, metrics)) => metrics.push(&row.metric),
            None => by_count.push((n, vec![&row.metric])),
        }
    }
    match by_count.as_slice() {
        [] => None,
        [(n, _)] => Some(format!("N = {n}.")),
        several => {
            let parts = several
                .iter()
                .map(|(n, metrics)| format!("{n} ({})", metrics.join(", ")));
            Some(format!("N = {}.", parts.collect::<Vec<_>>().join("; ")))
        }
    }
}

/// The notes of the scores, each with the metrics, and the models if not all with a value, that it speaks of.
fn remarks(summary: &Summary) -> Vec<String> {
    let remark = |(i, note): (usize, &String)| {
        let number = Some(i + 1);
        let mut who: Vec<String> = Vec::new();
        for row in &summary.rows {
            let marked = row.cells.iter().zip(&summary.models);
            let marked = marked.filter(|(cell, _)| cell.as_ref().is_some_and(|cell| cell.note == number));
            let names: Vec<&str> = marked.map(|(_, model)| model.as_str()).collect();
            let known = row.cells.iter().flatten().filter(|cell| cell.value.is_some()).count();
            if row.note == number || (!names.is_empty() && names.len() == known) {
                who.push(row.metric.clone());
            } else if !names.is_empty() {
                who.push(format!("{} of {}", row.metric, names.join(", ")));
            }
        }
        format!("{}: {note}.", who.join("; "))
    };
    summary.notes.iter().enumerate().map(remark).collect()
}

/// A metric in a sentence: `Trustworthiness, k = 10 (higher is better): jepa 0.78 [0.77, 0.79], mae 0.91 [0.90, 0.92].`
/// Empty where no model has a value.
pub(super) fn values(models: &Models, what: &str, metric: &str) -> String {
    let scores = models.scores(metric);
    let known = scores
        .iter()
        .filter_map(|(series, score)| Some((*series, *score, score.value?)));
    let mut known: Vec<(usize, &Score, f64)> = known.collect();
    let Some((_, first, _)) = known.first() else {
        return String::new();
    };
    let better = match first.better {
        Better::Neither => String::new(),
        better => format!(" ({})", direction(better).1),
    };
    let write = |(series, score, value): &(usize, &Score, f64)| match score.interval {
        Some(interval) => {
            let (value, interval) = number_with_interval(*value, interval);
            format!("{} {value} {interval}", models.name(*series))
        }
        None => format!("{} {}", models.name(*series), number(*value)),
    };
    if known.len() <= MOST_NAMED {
        let list: Vec<String> = known.iter().map(write).collect();
        return format!("{what}{better}: {}.", list.join(", "));
    }
    known.sort_by(|a, b| a.2.total_cmp(&b.2));
    let (low, high) = (&known[0], &known[known.len() - 1]);
    format!(
        "{what}{better}: {} models from {} to {}.",
        known.len(),
        write(low),
        write(high)
    )
}

/// Sentences as one text, empty ones left out.
pub(super) fn description(sentences: impl IntoIterator<Item = String>) -> String {
    let sentences = sentences.into_iter().filter(|sentence| !sentence.is_empty());
    sentences.collect::<Vec<_>>().join(" ")
}

/// The scores as a table: a row per metric and a column per model, or the other way round for many models. Where models
/// were compared, bold is what the differences call best, as on the page; else what has an interval apart from all others.
pub(super) fn table(results: &Results, is_wanted: impl Fn(&str) -> bool) -> Option<Panel> {
    let results = &only(results, is_wanted);
    let summary = Summary::new(results);
    if summary.rows.is_empty() {
        return None;
    }
    let many = summary.models.len() > MOST_COLUMNS;
    let models = distinct(results.scores.iter().map(|score| score.model.as_str()));
    let is_compared = !results.differences.is_empty();
    let winners = summary.rows.iter().map(|row| best(results, &row.metric));
    let winners: Vec<Option<&str>> = winners.collect();
    let is_best = |metric: usize, model: usize, cell: &crate::summary::Cell| {
        if is_compared {
            winners[metric].is_some_and(|winner| models.get(model) == Some(&winner))
        } else {
            cell.is_best
        }
    };
    let cell = |metric: usize, model: usize| {
        let Some(cell) = &summary.rows[metric].cells[model] else {
            return Cell::default();
        };
        // Bars show the intervals; with many models there is room for the values alone.
        let interval = cell.interval.as_deref().filter(|_| !many);
        let parts = [cell.value.as_deref(), interval];
        Cell {
            text: typeset(&parts.into_iter().flatten().collect::<Vec<_>>().join(" ")),
            weight: if is_best(metric, model, cell) {
                Weight::Bold
            } else {
                Weight::Regular
            },
        }
    };
    let metrics: Vec<String> = summary.rows.iter().map(|row| titled(&row.metric, row.better)).collect();
    let header = |first: &str, others: &[String]| [&[first.to_string()], others].concat();
    let row = |first: &String, cells: &mut dyn Iterator<Item = Cell>| -> Vec<Cell> {
        std::iter::once(Cell::from(first.as_str())).chain(cells).collect()
    };
    let table = if many {
        Table {
            header: header("model", &metrics),
            rows: (summary.models.iter().enumerate())
                .map(|(i, model)| row(model, &mut (0..summary.rows.len()).map(|metric| cell(metric, i))))
                .collect(),
        }
    } else {
        Table {
            header: header("metric", &summary.models),
            rows: (metrics.iter().enumerate())
                .map(|(i, metric)| row(metric, &mut (0..summary.models.len()).map(|model| cell(i, model))))
                .collect(),
        }
    };
    let note = match is_compared {
        true if winners.iter().any(Option::is_some) => {
            "Bold: better than every other model by the paired difference, p adjusted over all comparisons."
        }
        false if summary.has_best() => "Bold: the best, with an interval apart from all others.",
        _ => "",
    };
    Some(Panel::new("Summary", Content::Table(table)).note(note))
}

/// Numbers as a figure sets them: `−1.15×10⁻⁴` for `-1.15e-4`.
pub(super) fn typeset(numbers: &str) -> String {
    let mut text = String::new();
    let mut is_exponent = false;
    for c in numbers.chars() {
        match c {
            'e' => text.push_str("×10"),
            '-' if is_exponent => text.push('⁻'),
            '-' => text.push('−'),
            '0'..='9' if is_exponent => text.extend("⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize)),
            other => text.push(other),
        }
        is_exponent = c == 'e' || (is_exponent && (c == '-' || c.is_ascii_digit()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::score;
    use repscope_core::Difference;

    fn bold(results: &Results) -> Vec<String> {
        let Content::Table(table) = table(results, |_| true).expect("a table").content else {
            panic!("a table")
        };
        let cells = table
            .rows
            .into_iter()
            .flatten()
            .filter(|cell| cell.weight == Weight::Bold);
        cells.map(|cell| cell.text).collect()
    }

    #[test]
    fn differences_decide_what_is_bold_and_intervals_only_without_them() {
        // The intervals overlap, yet unit by unit b is better.
        let about = |x: f64| Some((x - 0.05, x + 0.05, "rows", "jackknife"));
        let mut results = Results {
            scores: vec![
                score("a", "nmi", 0.5, about(0.5), Better::Higher),
                score("b", "nmi", 0.55, about(0.55), Better::Higher),
                score("a", "ami", 0.2, about(0.2), Better::Higher),
                score("b", "ami", 0.9, about(0.9), Better::Higher),
            ],
            ..Results::default()
        };
        assert_eq!(bold(&results), ["0.900 [0.850, 0.950]"]);
        results.differences = vec![Difference {
            metric: "nmi".into(),
            a: "a".to_string(),
            b: "b".to_string(),
            value: -0.05,
            interval: Some([-0.07, -0.03]),
            level: 0.95,
            p: Some(0.001),
            p_adjusted: Some(0.001),
            better: Better::Higher,
            is_paired: true,
            unit: Some("rows".to_string()),
            units: 100,
            method: None,
            note: None,
            winner: Some("b".to_string()),
        }];
        assert_eq!(bold(&results), ["0.550 [0.500, 0.600]"]);
    }
}
