// SPDX-License-Identifier: MIT
//! Scores by label, by run, by other scores: the breakdowns of several models as one table, for the page and for CSV files.

use crate::scores::distinct;
use crate::table::html::alike;
use crate::table::{Cell, Column, Kind, Row, Table, csv};
use repscope_core::{Breakdown, Results};

/// Columns that count; CSV writes them as integers.
const COUNTS: [&str; 21] = [
    "batches",
    "clusters",
    "count",
    "draws",
    "gained",
    "hits",
    "lone",
    "lost",
    "models",
    "new",
    "permutations",
    "predicted",
    "queries",
    "reference",
    "relevant",
    "right",
    "rows",
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
    let (keys, numbers) = columns(breakdowns);
    let mut table = Table::default();
    table.columns.extend(keys.iter().map(|name| Column::text(*name)));
    table.columns.extend(has_models.then(|| Column::text("model")));
    table.columns.extend(numbers.iter().map(|name| Column::number(*name)));
    let of_column = |name: &&str| {
        let values = |breakdown: &&Breakdown| {
            (0..lines(breakdown))
                .map(|line| cell(breakdown, name, line))
                .collect::<Vec<_>>()
        };
        alike(&breakdowns.iter().flat_map(values).collect::<Vec<_>>())
    };
    let values: Vec<Vec<Cell>> = numbers.iter().map(of_column).collect();
    for breakdown in breakdowns {
        for line in 0..lines(breakdown) {
            let at = table.rows.len();
            let mut cells: Vec<Cell> = keys.iter().map(|key| key_of(breakdown, key, line)).collect();
            cells.extend(has_models.then(|| Cell::model(&breakdown.model)));
            cells.extend(values.iter().map(|column| column[at].clone()));
            let models = Some(breakdown.model.clone()).filter(|name| !name.is_empty());
            table.rows.push(Row {
                cells,
                models: models.into_iter().collect(),
                ..Row::default()
            });
        }
    }
    table
}

/// A CSV file of breakdowns below each other: `own` columns that are the same for all lines of one, then its keys and numbers.
pub(crate) fn write(own: &[&str], breakdowns: &[(Vec<String>, &Breakdown)]) -> String {
    let (keys, numbers) = columns(&breakdowns.iter().map(|(_, breakdown)| *breakdown).collect::<Vec<_>>());
    let mut table = Table::default();
    table
        .columns
        .extend(own.iter().chain(&keys).chain(&numbers).map(|name| Column::text(*name)));
    for (of_table, breakdown) in breakdowns {
        for line in 0..first_key(breakdown).len() {
            let mut cells: Vec<Cell> = of_table.iter().map(|text| raw(text)).collect();
            cells.extend(keys.iter().map(|key| key_of(breakdown, key, line)));
            cells.extend(numbers.iter().map(|name| Cell {
                kind: if COUNTS.contains(name) {
                    Kind::Count
                } else {
                    Kind::Number
                },
                ..Cell::written("", cell(breakdown, name, line))
            }));
            table.push(cells);
        }
    }
    csv::render(&table)
}

/// The names of all keys and of all numbers.
fn columns<'a>(breakdowns: &[&'a Breakdown]) -> (Vec<&'a str>, Vec<&'a str>) {
    let keys = breakdowns.iter().flat_map(|breakdown| &breakdown.keys);
    let numbers = breakdowns.iter().flat_map(|breakdown| &breakdown.columns);
    let numbers = distinct(numbers.map(|column| column.name.as_str()));
    (distinct(keys.map(|column| column.name.as_str())), numbers)
}

fn key_of(breakdown: &Breakdown, name: &str, line: usize) -> Cell {
    raw(names(breakdown, name).get(line).map_or("", String::as_str))
}

/// The breakdown of a metric for a model; those of all models together have no name.
pub(crate) fn find<'a>(results: &'a Results, model: &str, metric: &str) -> Option<&'a Breakdown> {
    let mut all = results.breakdowns.iter();
    all.find(|breakdown| breakdown.model == model && breakdown.metric == metric)
}

/// A column of names; empty where there is none.
pub(crate) fn names<'a>(breakdown: &'a Breakdown, name: &str) -> &'a [String] {
    let key = breakdown.keys.iter().find(|key| key.name == name);
    key.map_or(&[], |key| &key.values)
}

/// What the lines speak of first.
pub(crate) fn first_key(breakdown: &Breakdown) -> &[String] {
    breakdown.keys.first().map_or(&[], |key| &key.values)
}

/// A finite number of a column.
pub(crate) fn cell(breakdown: &Breakdown, column: &str, line: usize) -> Option<f64> {
    let column = breakdown.columns.iter().find(|own| own.name == column)?;
    column.values.get(line).copied().flatten().filter(|x| x.is_finite())
}

/// Text with every character, as a file keeps it.
fn raw(text: &str) -> Cell {
    let text = text.to_string();
    Cell {
        text,
        ..Cell::default()
    }
}
