// SPDX-License-Identifier: MIT
//! What figures say in words: why a value is missing, what an interval is, and the main numbers for those who cannot
//! see them.

use super::models::{Group, Models, titled};
use crate::numbers::{number, number_with_interval};
use crate::scores::{Best, add_to_group, by_model, scores, scores_with};
use crate::table::{Column, Emphasis, Kind, Row, Table as Scores, direction, reason};
use repscope_core::{Better, MetricId, Results, Score};
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
            let reason = reason(score);
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
pub(super) fn notes(results: &Results, is_drawn: impl Fn(&MetricId) -> bool) -> Vec<String> {
    let table = scores(&only(results, is_drawn));
    let mut notes = facts(&table);
    notes.extend(
        table
            .legend
            .iter()
            .map(|how| format!("Error bars and bands are {how}.")),
    );
    let remarks = remarks(&table);
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
pub(super) fn facts(table: &Scores) -> Vec<String> {
    let mut notes: Vec<String> = counts(table).into_iter().collect();
    let arrows: Vec<String> = [Better::Higher, Better::Lower]
        .into_iter()
        .filter(|better| table.directions().contains(better))
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
pub(super) fn only(results: &Results, is_wanted: impl Fn(&MetricId) -> bool) -> Results {
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
fn counts(table: &Scores) -> Option<String> {
    let mut by_count: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &table.rows {
        let n = row.cells.last().map(|cell| cell.text.clone()).unwrap_or_default();
        if !n.is_empty() {
            add_to_group(&mut by_count, n, &row.cells[0].text);
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
fn remarks(table: &Scores) -> Vec<String> {
    let remark = |(i, note): (usize, &String)| {
        let number = Some(i + 1);
        let mut who: Vec<String> = Vec::new();
        for row in &table.rows {
            let metric = &row.cells[0];
            let values = || {
                row.cells
                    .iter()
                    .zip(&table.columns)
                    .filter(|(_, column)| column.is_split)
            };
            let marked = values().filter(|(cell, _)| cell.note == number);
            let names: Vec<&str> = marked.map(|(_, column)| column.head.text.as_str()).collect();
            let known = values().filter(|(cell, _)| cell.value.is_some()).count();
            if metric.note == number || (!names.is_empty() && names.len() == known) {
                who.push(metric.text.clone());
            } else if !names.is_empty() {
                who.push(format!("{} of {}", metric.text, names.join(", ")));
            }
        }
        format!("{}: {note}.", who.join("; "))
    };
    table.notes.iter().enumerate().map(remark).collect()
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
pub(super) fn table(results: &Results, is_wanted: impl Fn(&MetricId) -> bool) -> Option<Panel> {
    let results = &only(results, is_wanted);
    let is_compared = !results.differences.is_empty();
    let best = if is_compared {
        Best::Tested(results)
    } else {
        Best::Apart
    };
    let table = scores_with(results, best, [false; 2]);
    if table.rows.is_empty() {
        return None;
    }
    let note = match is_compared {
        _ if !table.has(Emphasis::Best) => "",
        true => "Bold: better than every other model by the paired difference, p adjusted over all comparisons.",
        false => "Bold: the best, with an interval apart from all others.",
    };
    let is_long = table.columns.iter().filter(|column| column.is_split).count() > MOST_COLUMNS;
    let table = if is_long { by_model(table) } else { table };
    let shown = || table.columns.iter().enumerate().filter(|(_, column)| column.is_split);
    let head = |column: &Column| match column.better {
        Some(better) => titled(&column.head.text, better),
        None => column.head.text.clone(),
    };
    let cell = |cell: &crate::table::Cell| {
        // Bars show the intervals; with many models there is room for the values alone.
        let interval = if is_long { "" } else { &cell.interval };
        let text = if cell.value.is_some() {
            format!("{} {interval}", cell.text)
        } else {
            String::new()
        };
        Cell {
            text: typeset(text.trim_end()),
            weight: if cell.emphasis == Emphasis::Best {
                Weight::Bold
            } else {
                Weight::Regular
            },
        }
    };
    let row = |row: &Row| {
        let first = match row.cells[1].kind {
            Kind::Direction(better) => titled(&row.cells[0].text, better),
            _ => row.cells[0].text.clone(),
        };
        std::iter::once(Cell::from(first))
            .chain(shown().map(|(i, _)| cell(&row.cells[i])))
            .collect()
    };
    let drawn = Table {
        header: std::iter::once(table.columns[0].head.text.clone())
            .chain(shown().map(|(_, column)| head(column)))
            .collect(),
        rows: table.rows.iter().map(row).collect(),
    };
    Some(Panel::new("Summary", Content::Table(drawn)).note(note))
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
