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
    let tables = by_keys(results);
    let open = if tables.len() <= MOST_OPEN { " open" } else { "" };
    let details = |(metric, keys, of_metric): &Together| {
        let lines: usize = of_metric.iter().map(|breakdown| lines(breakdown)).sum();
        let cut = if lines > MOST_LINES {
            format!("<p class=\"quiet\">The first {MOST_LINES} of {lines} lines; results.json has all.</p>\n")
        } else {
            String::new()
        };
        // Where a metric is broken down in several ways, each says which.
        let is_alone = tables.iter().filter(|(own, ..)| own == metric).count() == 1;
        let by = if is_alone {
            String::new()
        } else {
            format!(" by {}", escape(&keys.join(", ")))
        };
        format!(
            "<details{open}>\n<summary><h3><code>{}</code>{by}</h3></summary>\n{}{cut}</details>\n",
            escape(metric),
            table(metric, of_metric).render()
        )
    };
    tables.iter().map(details).collect()
}

/// A metric, what its lines speak of, and the breakdowns of all models.
type Together<'a> = (&'a str, Vec<&'a str>, Vec<&'a Breakdown>);

/// Breakdowns that belong into one table: of one metric, and by the same keys.
fn by_keys(results: &Results) -> Vec<Together<'_>> {
    let mut tables: Vec<Together> = Vec::new();
    let metrics = distinct(results.breakdowns.iter().map(|breakdown| breakdown.metric.as_str()));
    for metric in metrics {
        for breakdown in results.breakdowns.iter().filter(|b| b.metric == metric) {
            let keys: Vec<&str> = breakdown.keys.iter().map(|column| column.name.as_str()).collect();
            match tables
                .iter_mut()
                .find(|(own, known, _)| *own == metric && *known == keys)
            {
                Some((.., of_metric)) => of_metric.push(breakdown),
                None => tables.push((metric, keys, vec![breakdown])),
            }
        }
    }
    tables
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etes::testdata::two_systems;

    #[test]
    fn ways_to_break_a_metric_down_have_tables_of_their_own() {
        let mut results = two_systems();
        let mut by_task = results.breakdowns.last().expect("by subject").clone();
        by_task.keys[0].name = "task".to_string();
        by_task.keys[0].values = ["NR", "SR", "TSR"].map(str::to_string).to_vec();
        results.breakdowns.push(by_task);
        let html = section(&results);
        assert_eq!(html.matches("<details").count(), 3);
        for heading in [
            "<code>etes.bands</code></h3>",
            "<code>etes</code> by subject</h3>",
            "<code>etes</code> by task</h3>",
        ] {
            assert!(html.contains(heading), "{heading}: {html}");
        }
        // Both systems stand in the table of the bands.
        assert_eq!(html.matches("<td>nucleus 0.95").count(), 5, "{html}");
    }
}
