// SPDX-License-Identifier: MIT
//! What figures say in words: why a value is missing, what an interval is, and the main numbers for those who cannot
//! see them.

use super::models::{Models, titled};
use crate::numbers::written;
use crate::scores::{by_model, distinct, grouped, only_scores, scores, scores_with};
use crate::table::{Column, Emphasis, Kind, Row, Table as Scores, direction, in_words, reason};
use crate::text::join;
use repscope_core::{Analysis, Better, MetricId, Results, Score};
use repscope_figures::{Cell, Content, Panel, Table, Weight};

/// More models than this are described by the range of their values.
const MOST_NAMED: usize = 6;
/// With more models than this, a table has a row for each.
const MOST_COLUMNS: usize = 3;
/// More remarks than this are left to the table of the scores.
const MOST_REMARKS: usize = 6;

/// Why values are missing, by reason: `No value for a, b: all rows are the same.` Empty where none is.
pub(super) fn reasons(models: &Models, found: &[(String, Vec<(usize, &Score)>)]) -> String {
    let asked: usize = found.iter().map(|(_, scores)| scores.len()).sum();
    let missing = found.iter().flat_map(|(group, scores)| {
        let missing = scores.iter().filter(|(_, score)| score.value.is_none());
        missing.map(move |(series, score)| {
            let name = models.name(*series);
            let who = if found.len() == 1 {
                name
            } else {
                format!("{name} ({group})")
            };
            (reason(score), who)
        })
    });
    let sentence = |(reason, who): (String, Vec<String>)| match who.len() {
        all if all == asked => format!("No value: {reason}."),
        _ => format!("No value for {}: {reason}.", who.join(", ")),
    };
    join(grouped(missing).into_iter().map(sentence), " ")
}

/// What stands below a figure of these metrics: how many units, which way is better, what the intervals are, and what a
/// reader must know of single metrics.
pub(super) fn notes(results: &Results, is_drawn: impl Fn(&MetricId) -> bool) -> Vec<String> {
    let table = scores(&only_scores(results, is_drawn));
    let mut notes = facts(&table);
    notes.extend(
        table
            .legend
            .iter()
            .map(|how| format!("Error bars and bands are {how}.")),
    );
    let remarks = remarks(&table);
    let more = remarks.len().saturating_sub(MOST_REMARKS);
    notes.extend(remarks.into_iter().take(MOST_REMARKS));
    if more > 0 {
        notes.push(format!("{more} more remarks are below the table of the scores."));
    }
    notes
}

/// How many units, and which way is better.
pub(super) fn facts(table: &Scores) -> Vec<String> {
    let mut notes: Vec<String> = counts(table).into_iter().collect();
    let is_shown = |better: &Better| *better != Better::Neither;
    let arrows = table.directions().into_iter().filter(is_shown);
    let arrows = join(arrows.map(in_words), ", ");
    if !arrows.is_empty() {
        notes.push(format!("{arrows}."));
    }
    notes
}

/// Whether a score is one of an analysis.
pub(super) fn is_of(analysis: Analysis) -> impl Fn(&MetricId) -> bool + Copy {
    move |id| id.metric().is_some_and(|metric| metric.analysis == analysis)
}

/// Each of these scores in a sentence, under its own name.
pub(super) fn all_values(models: &Models, is_wanted: impl Fn(&MetricId) -> bool) -> Vec<String> {
    let ids = distinct(models.results.scores.iter().map(|score| &score.metric));
    let wanted = ids.into_iter().filter(|id| is_wanted(id));
    wanted.map(|id| values(models, id, id)).collect()
}

/// `N = 1797.`, or which metrics have which N.
fn counts(table: &Scores) -> Option<String> {
    let of = |row: &Row| {
        (
            row.cells.last().map_or("", |cell| &cell.text).to_string(),
            row.cells[0].text.clone(),
        )
    };
    let by_count = grouped(table.rows.iter().map(of).filter(|(n, _)| !n.is_empty()));
    let counts = match by_count.as_slice() {
        [] => return None,
        [(n, _)] => n.clone(),
        several => join(
            several
                .iter()
                .map(|(n, metrics)| format!("{n} ({})", metrics.join(", "))),
            "; ",
        ),
    };
    Some(format!("N = {counts}."))
}

/// The notes of the scores, each with the metrics, and the models if not all with a value, that it speaks of.
fn remarks(table: &Scores) -> Vec<String> {
    let remark = |(i, note): (usize, &String)| {
        let number = Some(i + 1);
        let mut who: Vec<String> = Vec::new();
        for row in &table.rows {
            let metric = &row.cells[0];
            let cells = row.cells.iter().zip(&table.columns);
            let values = || cells.clone().filter(|(_, column)| column.is_split);
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
    let write = |(series, score, value): &(usize, &Score, f64)| {
        format!("{} {}", models.name(*series), written(*value, score.interval))
    };
    if known.len() <= MOST_NAMED {
        return format!("{what}{better}: {}.", join(known.iter().map(write), ", "));
    }
    known.sort_by(|a, b| a.2.total_cmp(&b.2));
    let (low, high) = (write(&known[0]), write(&known[known.len() - 1]));
    format!("{what}{better}: {} models from {low} to {high}.", known.len())
}

/// A heading and sentences as one text, empty ones left out.
pub(super) fn description(head: impl Into<String>, sentences: impl IntoIterator<Item = String>) -> String {
    let all = std::iter::once(head.into()).chain(sentences);
    join(all.filter(|sentence| !sentence.is_empty()), " ")
}

/// The value of a score with its interval, as a figure sets numbers.
pub(super) fn of_score(score: &Score) -> Option<String> {
    Some(typeset(&written(score.value?, score.interval)))
}

/// The scores as a table: a row per metric and a column per model, or the other way round for many models. Where models
/// were compared, bold is what the differences call best, as on the page.
pub(super) fn table(results: &Results, is_wanted: impl Fn(&MetricId) -> bool) -> Option<Panel> {
    let table = scores_with(&only_scores(results, is_wanted), Some(results), [false; 2]);
    if table.rows.is_empty() {
        return None;
    }
    let note = if table.has(Emphasis::Best) {
        "Bold: better than every other model by the paired difference, p adjusted over all comparisons."
    } else {
        ""
    };
    let is_long = table.columns.iter().filter(|column| column.is_split).count() > MOST_COLUMNS;
    let table = if is_long { by_model(table) } else { table };
    let shown = || table.columns.iter().enumerate().filter(|(_, column)| column.is_split);
    let head = |column: &Column| titled(&column.head.text, column.better.unwrap_or(Better::Neither));
    let cell = |cell: &crate::table::Cell| {
        // Bars show the intervals; with many models there is room for the values alone.
        let interval = if is_long { "" } else { &cell.interval };
        let text = cell
            .value
            .map(|_| format!("{} {interval}", cell.text))
            .unwrap_or_default();
        Cell {
            text: typeset(text.trim_end()),
            weight: match cell.emphasis {
                Emphasis::Best => Weight::Bold,
                _ => Weight::Regular,
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
    fn differences_decide_what_is_bold() {
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
        assert_eq!(bold(&results), [""; 0]);
        results.differences = vec![Difference {
            interval: Some([-0.07, -0.03]),
            p: Some(0.001),
            p_adjusted: Some(0.001),
            is_paired: true,
            unit: Some("rows".to_string()),
            units: 100,
            winner: Some("b".to_string()),
            ..Difference::new("nmi", ["a", "b"], -0.05, Better::Higher, 0.95)
        }];
        assert_eq!(bold(&results), ["0.550 [0.500, 0.600]"]);
    }
}
