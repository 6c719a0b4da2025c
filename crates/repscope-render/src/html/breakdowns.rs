// SPDX-License-Identifier: MIT
//! Scores by label, by run, by other scores: one table for each metric, with all models.

use super::Models;
use super::safe::escape;
use crate::breakdowns::{below_each_other, lines};
use crate::scores::{distinct, grouped};
use crate::table::html::numbers;
use crate::table::{Kind, Table};
use repscope_core::{Breakdown, Results};

/// Lines of a table; all of them are in the results document.
const MOST_LINES: usize = 1000;
/// More tables than this are not even listed before they are asked for.
const MOST_LISTED: usize = 6;
/// More tables than this are folded away.
const MOST_OPEN: usize = 1;

pub(super) fn section(results: &Results, models: &Models) -> String {
    let tables = by_keys(results);
    let open = if tables.len() <= MOST_OPEN { " open" } else { "" };
    let details = |(metric, keys, of_metric): &Together| {
        let lines: usize = of_metric.iter().map(|breakdown| lines(breakdown)).sum();
        let cut = || format!("<p class=\"quiet\">The first {MOST_LINES} of {lines} lines; results.json has all.</p>\n");
        let cut = if lines > MOST_LINES { cut() } else { String::new() };
        // Where a metric is broken down in several ways, each says which.
        let is_alone = tables.iter().filter(|(own, ..)| own == metric).count() == 1;
        let by = if !is_alone {
            format!(" by {}", escape(&keys.join(", ")))
        } else {
            String::new()
        };
        let mut own = table(metric, of_metric);
        let same = without_repeats(metric, &mut own);
        format!(
            "<details{open}>\n<summary><h3><code>{}</code>{by}</h3></summary>\n{}{cut}</details>\n",
            escape(metric),
            numbers(&own, models) + &same
        )
    };
    let all: String = tables.iter().map(details).collect();
    match tables.len() {
        ..=MOST_LISTED => all,
        count => format!("<details>\n<summary>{count} tables</summary>\n{all}</details>\n"),
    }
}

/// A metric, what its lines speak of, and the breakdowns of all models.
type Together<'a> = (&'a str, Vec<String>, Vec<&'a Breakdown>);

/// Breakdowns that belong into one table: of one metric, and by the same keys.
fn by_keys(results: &Results) -> Vec<Together<'_>> {
    let key = |breakdown: &Breakdown| -> Vec<String> {
        let names = breakdown.keys.iter().map(|column| column.name.clone());
        names.collect()
    };
    let metrics = distinct(results.breakdowns.iter().map(|breakdown| breakdown.metric.as_str()));
    let of_metric = |metric| {
        let own = results.breakdowns.iter().filter(move |b| b.metric == metric);
        let by_key = grouped(own.map(|breakdown| (key(breakdown), breakdown)));
        by_key.into_iter().map(move |(keys, tables)| (metric, keys, tables))
    };
    metrics.into_iter().flat_map(of_metric).collect()
}

fn table(metric: &str, breakdowns: &[&Breakdown]) -> Table {
    let mut table = below_each_other(breakdowns);
    table.rows.truncate(MOST_LINES);
    Table {
        caption: format!("Breakdown of {metric}"),
        label: "breakdown".to_string(),
        ..table
    }
}

/// Drops columns that say nothing new: names that the heading says already, and what repeats another column exactly. Says which
/// numbers were the same.
fn without_repeats(metric: &str, table: &mut Table) -> String {
    let count = table.columns.len();
    if table.rows.len() < 2 {
        return String::new();
    }
    let rows = &table.rows;
    let is_number = |at: usize| rows.iter().any(|row| row.cells[at].value.is_some());
    let is_model = |at: usize| rows.iter().all(|row| row.cells[at].kind == Kind::Model);
    let is_same = |a: usize, b: usize| {
        let same = |row: &crate::table::Row| {
            let (a, b) = (&row.cells[a], &row.cells[b]);
            match (a.value, b.value) {
                (None, None) => a.text == b.text,
                (a, b) => a == b,
            }
        };
        rows.iter().all(same)
    };
    // The models stay as such, with their colors: a name of a line that repeats them goes.
    let first_of =
        |at: usize| (0..count).find(|&other| other != at && is_same(other, at) && (other < at || is_model(other)));
    let is_said = |at: usize| {
        let text = &rows[0].cells[at].text;
        let is_constant = rows.iter().all(|row| row.cells[at].text == *text);
        let mut parts = metric.split(['.', '@', '(', ')', ',', '=']);
        is_constant && !is_number(at) && !is_model(at) && (metric == text || parts.any(|part| part == text))
    };
    let (mut kept, mut same) = (Vec::new(), Vec::new());
    for at in 0..count {
        match first_of(at) {
            _ if is_said(at) => {}
            Some(_) if is_model(at) => kept.push(at),
            Some(first) if is_number(at) => {
                let names = [at, first].map(|at| escape(&table.columns[at].head.text));
                same.push(format!("{} is the same as {}", names[0], names[1]));
            }
            Some(_) => {}
            None => kept.push(at),
        }
    }
    if kept.first().is_none_or(|&at| is_number(at)) {
        // Lines need a name.
        kept.insert(0, 0);
    }
    table.columns = kept.iter().map(|&at| table.columns[at].clone()).collect();
    for row in &mut table.rows {
        row.cells = kept.iter().map(|&at| row.cells[at].clone()).collect();
    }
    match same.join("; ").as_str() {
        "" => String::new(),
        same => format!("<p class=\"quiet\">{same}.</p>\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etes::testdata::two_systems;

    #[test]
    fn columns_that_say_nothing_new_are_dropped() {
        let column = |values: [f64; 3]| crate::table::html::alike(&values.map(Some));
        let mut table = Table::default();
        for name in ["head", "class", "label"] {
            table.columns.push(crate::table::Column::text(name));
        }
        for name in ["right", "hits", "share"] {
            table.columns.push(crate::table::Column::number(name));
        }
        let numbers = [
            column([3.0, 4.0, 5.0]),
            column([3.0, 4.0, 5.0]),
            column([3.0, 4.0, 5.5]),
        ];
        for (line, class) in ["a", "b", "c"].into_iter().enumerate() {
            let names = ["snr", class, class].map(crate::table::Cell::text);
            let numbers = numbers.iter().map(|column| column[line].clone());
            table.push(names.into_iter().chain(numbers).collect());
        }
        let heads =
            |table: &Table| -> Vec<String> { table.columns.iter().map(|column| column.head.text.clone()).collect() };
        let mut own = table.clone();
        let same = without_repeats("accuracy.snr@top1", &mut own);
        assert_eq!(heads(&own), ["class", "right", "share"]);
        assert!(own.rows.iter().all(|row| row.cells.len() == 3));
        assert_eq!(same, "<p class=\"quiet\">hits is the same as right.</p>\n");
        // A heading that does not say it leaves the name where it is.
        without_repeats("accuracy.other", &mut table);
        assert_eq!(heads(&table), ["head", "class", "right", "share"]);
    }

    #[test]
    fn ways_to_break_a_metric_down_have_tables_of_their_own() {
        let mut results = two_systems();
        let mut by_task = results.breakdowns.last().expect("by subject").clone();
        by_task.keys[0].name = "task".to_string();
        by_task.keys[0].values = ["NR", "SR", "TSR"].map(str::to_string).to_vec();
        results.breakdowns.push(by_task);
        let html = section(&results, &Models::of(&results));
        assert_eq!(html.matches("<details").count(), 3);
        for heading in [
            "<code>etes.bands</code></h3>",
            "<code>etes</code> by subject</h3>",
            "<code>etes</code> by task</h3>",
        ] {
            assert!(html.contains(heading), "{heading}: {html}");
        }
        // Both systems stand in the table of the bands.
        assert_eq!(html.matches("nucleus 0.95</td>").count(), 5, "{html}");
    }
}
