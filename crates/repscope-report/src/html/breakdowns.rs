// SPDX-License-Identifier: MIT
//! Scores by label, by run, by other scores: one table for each metric, with all models.

use super::models::shown;
use super::safe::escape;
use super::table::{Cell, Column, Row, Table};
use crate::summary::distinct;
use repscope_core::{Breakdown, Results};

/// Lines of a table; all of them are in the results document.
const MOST_LINES: usize = 1000;
/// More tables than this are folded away.
const MOST_OPEN: usize = 2;

pub(super) fn section(results: &Results) -> String {
    let metrics = distinct(results.breakdowns.iter().map(|breakdown| breakdown.metric.as_str()));
    let open = if metrics.len() <= MOST_OPEN { " open" } else { "" };
    let details = |metric: &&str| {
        let of_metric: Vec<&Breakdown> = results.breakdowns.iter().filter(|b| b.metric == *metric).collect();
        let lines: usize = of_metric.iter().map(|breakdown| lines(breakdown)).sum();
        let cut = match lines > MOST_LINES {
            true => format!("<p class=\"quiet\">The first {MOST_LINES} of {lines} lines; results.json has all.</p>\n"),
            false => String::new(),
        };
        format!(
            "<details{open}>\n<summary><h3><code>{}</code></h3></summary>\n{}{cut}</details>\n",
            escape(metric),
            table(metric, &of_metric).render()
        )
    };
    metrics.iter().map(details).collect()
}

fn lines(breakdown: &Breakdown) -> usize {
    let keys = breakdown.keys.iter().map(|column| column.values.len());
    keys.chain(breakdown.columns.iter().map(|column| column.values.len()))
        .min()
        .unwrap_or(0)
}

fn table(metric: &str, breakdowns: &[&Breakdown]) -> Table {
    let keys = distinct(
        breakdowns
            .iter()
            .flat_map(|b| b.keys.iter().map(|column| column.name.as_str())),
    );
    let numbers = distinct(
        breakdowns
            .iter()
            .flat_map(|b| b.columns.iter().map(|column| column.name.as_str())),
    );
    let has_models = breakdowns.iter().any(|breakdown| !breakdown.model.is_empty());
    let mut columns: Vec<Column> = keys.iter().map(|name| Column::text(name)).collect();
    columns.extend(has_models.then(|| Column::text("model")));
    columns.extend(numbers.iter().map(|name| Column::number(name)));
    let of_column = |name: &&str| {
        let values = breakdowns.iter().flat_map(|breakdown| {
            let column = breakdown.columns.iter().find(|column| column.name == *name);
            (0..lines(breakdown)).map(move |line| column.and_then(|column| column.values[line]))
        });
        Cell::numbers(&values.collect::<Vec<_>>()).into_iter()
    };
    let mut values: Vec<_> = numbers.iter().map(of_column).collect();
    let mut rows = Vec::new();
    for breakdown in breakdowns {
        for line in 0..lines(breakdown) {
            let key = |name: &&str| {
                let column = breakdown.keys.iter().find(|column| column.name == *name);
                Cell::html(column.map_or("—".to_string(), |column| escape(&column.values[line])))
            };
            let mut cells: Vec<Cell> = keys.iter().map(key).collect();
            cells.extend(has_models.then(|| Cell::html(shown(&breakdown.model))));
            cells.extend(values.iter_mut().filter_map(Iterator::next));
            rows.push(Row {
                cells,
                models: Some(breakdown.model.clone())
                    .into_iter()
                    .filter(|name| !name.is_empty())
                    .collect(),
            });
        }
    }
    rows.truncate(MOST_LINES);
    Table {
        caption: format!("Breakdown of {metric}"),
        columns,
        rows,
        class: "breakdown",
        ..Table::default()
    }
}
