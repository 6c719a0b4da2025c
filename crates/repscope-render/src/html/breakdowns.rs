// SPDX-License-Identifier: MIT
//! Scores by label, by run, by other scores: one table for each metric, with all models.

use super::Models;
use super::safe::escape;
use crate::breakdowns::{below_each_other, lines};
use crate::scores::{distinct, grouped};
use crate::table::Table;
use crate::table::html::numbers;
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
        format!(
            "<details{open}>\n<summary><h3><code>{}</code>{by}</h3></summary>\n{}{cut}</details>\n",
            escape(metric),
            numbers(&table(metric, of_metric), models)
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
