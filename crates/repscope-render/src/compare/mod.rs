// SPDX-License-Identifier: MIT
//! Models against each other: who is better in what, by how much, and how sure that is.
//!
//! Two models have a table of metrics, with both values. Of more, each has a row with its differences to one of them, the first
//! unless another is requested. All pairs of models are in the CSV file.

mod comparison;
pub(crate) mod probability;

use crate::numbers::{number, percent};
use crate::table::{Cell, Column, Document, Emphasis, NONE, Row, Table};
use crate::text::printable;
use crate::{Color, Format};
use comparison::{Comparison, Verdict};
use probability::{LEGEND, limit, p_value as p_of, probability};
use repscope_core::{Equivalence, Results};

#[cfg(test)]
mod tests;

/// Writes the differences between models. They are taken to `reference`: where it is `None`, to the second of two models,
/// or to the first of more. `width` (terminal columns) and `color` matter to [`Format::Table`] only.
pub fn comparison(results: &Results, reference: Option<&str>, format: Format, width: usize, color: Color) -> String {
    if format == Format::Csv {
        return crate::csv_files::differences(results);
    }
    let Some(comparison) = Comparison::new(results, reference) else {
        let comment = if format == Format::Latex { "% " } else { "" };
        return format!("{comment}No differences.\n");
    };
    let mut tables = match comparison.only_other() {
        Some(other) => vec![two(&comparison, other)],
        None => vec![many(&comparison)],
    };
    if let Some(last) = tables.last_mut() {
        let words = &comparison.words;
        last.label = "compare".to_string();
        let limit = limit(comparison.level);
        last.legend.push(format!("{LEGEND}; better: adjusted p ≤ {limit}"));
        last.legend.extend(words.method.iter().cloned());
        last.remarks = words.remarks.clone();
    }
    Document::from(tables).render(format, width, color)
}

/// Two models beside each other.
fn two(comparison: &Comparison, other: usize) -> Table {
    let reference = comparison.reference;
    let (a, b) = (comparison.heading(other), comparison.heading(reference));
    let decides = format!("adjusted p ≤ {}", limit(comparison.level));
    let mut table = Table {
        title: comparison.title(),
        emphasis: format!("the better model, {decides}"),
        ..Table::default()
    };
    table.columns = vec![
        Column::text("metric"),
        Column::direction(),
        of_model(&a),
        of_model(&b),
        Column::number("difference").with_interval(format!("{} interval", percent(comparison.level))),
        Column::number("p").spare(1),
        Column::number("adjusted p"),
        Column::number("better").spare(2),
    ];
    let lines = || comparison.rows.iter().flat_map(|row| &row.lines).flatten();
    let has_effect_size = lines().any(|line| line.of.effect_size.is_some());
    let has_margin = lines().any(|line| line.of.equivalent.is_some());
    table
        .columns
        .extend(has_effect_size.then(|| Column::number("effect size").spare(0)));
    table.columns.extend(has_margin.then(|| Column::number("the same")));
    table.rows = rows(comparison, |row| {
        let line = row.lines[0].as_ref();
        let verdict = line.map(|l| l.verdict);
        let value = |model: usize, wins| {
            let value = row.values[model].clone();
            value.emphasized(Emphasis::Winner, verdict == Some(wins))
        };
        let mut cells = vec![
            value(other, Verdict::Better),
            value(reference, Verdict::Worse),
            line.map(|l| l.cell.clone()).unwrap_or_default(),
            p_value(line.and_then(|l| l.of.p)),
            p_value(line.and_then(|l| l.of.p_adjusted)),
            Cell::text(match verdict {
                Some(Verdict::Better) => &a,
                Some(Verdict::Worse) => &b,
                Some(Verdict::Open) => NONE,
                _ => "",
            }),
        ];
        let size = line.and_then(|l| Some(l.of.effect_size? * l.sign()));
        cells.extend(has_effect_size.then(|| effect_size(size)));
        cells.extend(has_margin.then(|| same(line.and_then(|l| l.of.equivalent))));
        cells
    });
    table
}

/// The values of the reference, and the differences of the others from it.
fn many(comparison: &Comparison) -> Table {
    let reference = comparison.reference;
    let mut table = Table {
        title: comparison.title(),
        emphasis: format!(
            "better than {}, adjusted p ≤ {}",
            comparison.models[reference],
            limit(comparison.level)
        ),
        legend: vec!["The CSV form has the interval and the p-value of every pair".to_string()],
        ..Table::default()
    };
    table.columns = vec![Column::text("model")];
    table.columns.extend(comparison.rows.iter().map(|row| Column {
        is_split: true,
        ..Column::metric(&row.metric, row.better)
    }));
    let values = comparison.rows.iter().map(|row| {
        let is_best = row.lines.iter().flatten().all(|line| line.verdict == Verdict::Worse);
        row.values[reference].clone().emphasized(Emphasis::Winner, is_best)
    });
    table.push(
        std::iter::once(Cell::model(&comparison.models[reference]))
            .chain(values)
            .collect(),
    );
    for (place, &other) in comparison.others.iter().enumerate() {
        let differences = comparison.rows.iter().map(|row| match &row.lines[place] {
            None => Cell::text(NONE),
            Some(line) => Cell {
                emphasis: match line.verdict {
                    Verdict::Better => Emphasis::Better,
                    Verdict::Worse => Emphasis::Worse,
                    _ => Emphasis::None,
                },
                ..line.cell.clone()
            },
        });
        table.push(
            std::iter::once(Cell::model(&comparison.models[other]))
                .chain(differences)
                .collect(),
        );
    }
    table
}

/// The rows of a table: metric and direction, and what follows them.
fn rows(comparison: &Comparison, cells: impl Fn(&comparison::Row) -> Vec<Cell>) -> Vec<Row> {
    let row = |(i, row): (usize, &comparison::Row)| {
        let metric = Cell {
            marks: if row.is_unpaired { "†" } else { "" },
            ..Cell::metric(&row.metric)
        };
        let lead = [metric, Cell::direction(row.better)];
        Row {
            cells: lead.into_iter().chain(cells(row)).collect(),
            opens_block: row.opens_block && i > 0,
            ..Row::default()
        }
    };
    comparison.rows.iter().enumerate().map(row).collect()
}

/// A column of the values of a model, which is in every part of a table.
fn of_model(name: &str) -> Column {
    Column {
        is_split: false,
        ..Column::model(name)
    }
}

fn effect_size(size: Option<f64>) -> Cell {
    Cell::written(size.map_or(NONE.to_string(), |size| format!("{size:.2}")), size)
}

/// Whether two models are the same within a margin.
pub(crate) fn same(tested: Option<Equivalence>) -> Cell {
    Cell::text(match tested {
        None => String::new(),
        Some(own) if own.holds => format!("within {} ({})", number(own.within), p_of(own.p_adjusted)),
        Some(own) => format!("not shown ({})", p_of(own.p_adjusted)),
    })
}

fn p_value(p: Option<f64>) -> Cell {
    Cell::written(probability(p), p)
}

/// A gate and how it went for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLine {
    /// What was asked: `trustworthiness@10 >= 0.95`.
    pub gate: String,
    /// The model it was asked of.
    pub model: String,
    /// What came out, in a few characters.
    pub got: String,
    /// The verdict.
    pub passed: bool,
    /// Why it failed, where the number alone does not say.
    pub why: Option<String>,
}

impl GateLine {
    /// A gate that is decided by what came out.
    pub fn new(gate: impl Into<String>, model: &str, got: impl Into<String>, passed: bool) -> Self {
        GateLine {
            gate: gate.into(),
            model: model.to_string(),
            got: got.into(),
            passed,
            why: None,
        }
    }

    /// A gate that fails for another reason than a number.
    pub fn failed(gate: impl Into<String>, model: &str, got: impl Into<String>, why: impl Into<String>) -> Self {
        GateLine {
            why: Some(why.into()),
            ..GateLine::new(gate, model, got, false)
        }
    }
}

/// The gates for a terminal.
pub fn gate_table(lines: &[GateLine], width: usize, color: Color) -> String {
    let failed = lines.iter().filter(|line| !line.passed).count();
    let title = match failed {
        0 => format!("Gates: all {} passed", lines.len()),
        _ => format!("Gates: {failed} of {} failed", lines.len()),
    };
    let mut table = Table::new(title, "gates");
    table.columns = vec![Column::text("gate")];
    table.columns.extend(["model", "got", "verdict"].map(Column::number));
    for line in lines {
        let verdict = Cell::text(if line.passed { "pass" } else { "FAIL" });
        table.push(vec![
            Cell::text(&line.gate),
            Cell::text(&line.model),
            Cell::text(&line.got),
            verdict.emphasized(Emphasis::Alarm, !line.passed),
        ]);
        let why = line.why.as_ref();
        table
            .remarks
            .extend(why.map(|why| printable(&format!("{}, {}: {why}", line.model, line.gate))));
    }
    Document::from(table).render(Format::Table, width, color)
}
