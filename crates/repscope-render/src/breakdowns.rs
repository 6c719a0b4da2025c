// SPDX-License-Identifier: MIT
//! Scores by label, by run, by other scores: the breakdowns of several models as one table, for the page and for CSV files.

use crate::scores::distinct;
use crate::table::html::alike;
use crate::table::{Cell, Column, Kind, Row, Table, csv};
use repscope_core::Breakdown;

/// Columns that count; CSV writes them as integers.
const COUNTS: [&str; 15] = [
    "clusters",
    "count",
    "gained",
    "hits",
    "lone",
    "lost",
    "models",
    "predicted",
    "queries",
    "relevant",
    "right",
    "samples",
    "small",
    "support",
    "tested",
];

/// How many lines a breakdown has.
pub(crate) fn lines(breakdown: &Breakdown) -> usize {
    let keys = breakdown.keys.iter().map(|column| column.values.len());
    keys.chain(breakdown.columns.iter().map(|column| column.values.len()))
        .min()
        .unwrap_or(0)
}

/// Breakdowns below each other: their keys, the model where there is one, and their numbers, written alike in each column.
pub(crate) fn below_each_other(breakdowns: &[&Breakdown]) -> Table {
    let has_models = breakdowns.iter().any(|breakdown| !breakdown.model.is_empty());
    let (keys, numbers) = names(breakdowns);
    let mut table = Table {
        columns: keys.iter().map(|name| Column::text(*name)).collect(),
        ..Table::default()
    };
    table.columns.extend(has_models.then(|| Column::text("model")));
    table.columns.extend(numbers.iter().map(|name| Column::number(*name)));
    let of_column = |name: &&str| {
        let values = breakdowns
            .iter()
            .flat_map(|breakdown| (0..lines(breakdown)).map(|line| value(breakdown, name, line)));
        alike(&values.collect::<Vec<_>>())
    };
    let values: Vec<Vec<Cell>> = numbers.iter().map(of_column).collect();
    for breakdown in breakdowns {
        for line in 0..lines(breakdown) {
            let at = table.rows.len();
            let mut cells: Vec<Cell> = keys.iter().map(|key| key_of(breakdown, key, line)).collect();
            cells.extend(has_models.then(|| Cell::model(&breakdown.model)));
            cells.extend(values.iter().map(|column| column[at].clone()));
            table.rows.push(Row {
                cells,
                opens_block: false,
                models: Some(breakdown.model.clone())
                    .into_iter()
                    .filter(|name| !name.is_empty())
                    .collect(),
            });
        }
    }
    table
}

/// A CSV file of breakdowns below each other: `own` columns that are the same for all lines of one, then its keys and numbers.
pub(crate) fn write(own: &[&str], breakdowns: &[(Vec<String>, &Breakdown)]) -> String {
    let (keys, numbers) = names(&breakdowns.iter().map(|(_, breakdown)| *breakdown).collect::<Vec<_>>());
    let columns = own.iter().chain(&keys).chain(&numbers).map(|name| Column::text(*name));
    let mut table = Table {
        columns: columns.collect(),
        ..Table::default()
    };
    for (of_table, breakdown) in breakdowns {
        for line in 0..breakdown.keys.first().map_or(0, |key| key.values.len()) {
            let mut cells: Vec<Cell> = of_table.iter().map(|text| raw(text)).collect();
            cells.extend(keys.iter().map(|key| key_of(breakdown, key, line)));
            cells.extend(numbers.iter().map(|name| Cell {
                kind: if COUNTS.contains(name) {
                    Kind::Count
                } else {
                    Kind::Number
                },
                ..Cell::written("", value(breakdown, name, line))
            }));
            table.push(cells);
        }
    }
    csv::render(&table)
}

/// The names of all keys and of all numbers.
fn names<'a>(breakdowns: &[&'a Breakdown]) -> (Vec<&'a str>, Vec<&'a str>) {
    let keys = breakdowns.iter().flat_map(|breakdown| &breakdown.keys);
    let numbers = breakdowns.iter().flat_map(|breakdown| &breakdown.columns);
    (
        distinct(keys.map(|column| column.name.as_str())),
        distinct(numbers.map(|column| column.name.as_str())),
    )
}

fn key_of(breakdown: &Breakdown, name: &str, line: usize) -> Cell {
    let column = breakdown.keys.iter().find(|column| column.name == name);
    raw(column
        .and_then(|column| column.values.get(line))
        .map_or("", String::as_str))
}

fn value(breakdown: &Breakdown, name: &str, line: usize) -> Option<f64> {
    let column = breakdown.columns.iter().find(|column| column.name == name)?;
    column.values.get(line).copied().flatten()
}

/// Text with every character, as a file keeps it.
fn raw(text: &str) -> Cell {
    Cell {
        text: text.to_string(),
        ..Cell::default()
    }
}
