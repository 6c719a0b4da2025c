// SPDX-License-Identifier: MIT
//! Tables: the first column names the row, every column can be sorted by the script, wide ones scroll by themselves.

use super::safe::{escape, of_model};
use crate::numbers::number;

/// Longer tables scroll by themselves, below a header that stays.
const TALL: usize = 40;

#[derive(Default)]
pub(super) struct Table {
    /// What a screen reader announces; shown by the heading above.
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// For the style sheet.
    pub(super) class: &'static str,
    /// For the style sheet too: how many models have a column.
    pub(super) count: usize,
}

#[derive(Default)]
pub(super) struct Column {
    pub(super) html: String,
    pub(super) is_number: bool,
    /// For the style sheet; a `plain` column is not sorted.
    pub(super) class: &'static str,
    /// Put before each cell where the head of the table has no place: on paper.
    pub(super) label: String,
    /// Hidden with this model.
    pub(super) model: Option<String>,
}

#[derive(Default)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    /// Hidden with these models.
    pub(super) models: Vec<String>,
}

#[derive(Default)]
pub(super) struct Cell {
    pub(super) html: String,
    /// What a column is sorted by, where it is not the text.
    pub(super) key: Option<f64>,
    pub(super) class: &'static str,
}

impl Column {
    /// A column of text.
    pub(super) fn text(name: &str) -> Self {
        Column {
            html: escape(name),
            ..Column::default()
        }
    }

    /// A column of numbers.
    pub(super) fn number(name: &str) -> Self {
        Column {
            html: escape(name),
            is_number: true,
            ..Column::default()
        }
    }
}

impl Cell {
    pub(super) fn html(html: impl Into<String>) -> Self {
        Cell {
            html: html.into(),
            ..Cell::default()
        }
    }

    /// The numbers of a column, written alike: whole ones as such, others with the decimals that give the largest four
    /// digits. A dash where there is none.
    pub(super) fn numbers(values: &[Option<f64>]) -> Vec<Cell> {
        let finite = |value: &Option<f64>| value.filter(|x| x.is_finite());
        let largest = values.iter().filter_map(finite).map(f64::abs).fold(0.0, f64::max);
        let is_whole = values.iter().filter_map(finite).all(|x| x.fract() == 0.0);
        let decimals = 3 - largest.log10().floor().clamp(-1.0, 3.0) as i32;
        let write = |x: f64| match largest {
            1e6.. => number(x),
            _ if is_whole => format!("{x}"),
            ..1e-2 => number(x),
            _ => format!("{x:.*}", decimals as usize),
        };
        let cell = |value: Option<f64>| Cell {
            html: value.map_or("—".to_string(), write),
            key: value,
            class: "",
        };
        values.iter().map(|value| cell(finite(value))).collect()
    }
}

impl Table {
    pub(super) fn render(&self) -> String {
        let head: String = self
            .columns
            .iter()
            .map(|column| {
                let class = class(if column.is_number { "num" } else { "" }, column.class);
                format!(
                    "<th scope=\"col\"{class}{}>{}</th>",
                    attribute(&column.model),
                    column.html
                )
            })
            .collect();
        let body: String = self.rows.iter().map(|row| self.row(row)).collect();
        let caption = escape(&self.caption);
        let tall = if self.rows.len() > TALL { " tall" } else { "" };
        format!(
            "<div class=\"scroll{tall}\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n\
             <table class=\"data {}\" style=\"--count:{}\">\n<caption class=\"unseen\">{caption}</caption>\n<thead><tr>{head}</tr></thead>\n\
             <tbody>\n{body}</tbody>\n</table>\n</div>\n",
            self.class, self.count
        )
    }

    fn row(&self, row: &Row) -> String {
        let cells = row
            .cells
            .iter()
            .zip(&self.columns)
            .enumerate()
            .map(|(i, (cell, column))| {
                let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                let number = if column.is_number { "num" } else { "" };
                let class = class(number, cell.class);
                let label = match column.label.as_str() {
                    "" => String::new(),
                    label => format!(" data-label=\"{}\"", escape(label)),
                };
                let key = cell.key.map(|key| format!(" data-v=\"{key:e}\"")).unwrap_or_default();
                format!(
                    "<{tag}{scope}{class}{key}{label}{}>{}</{tag}>",
                    attribute(&column.model),
                    cell.html
                )
            });
        let model = match row.models.as_slice() {
            [] => String::new(),
            [one] => of_model(one),
            // A row of two models goes with either.
            [one, other, ..] => of_model(one) + &of_model(other).replace("data-model", "data-other"),
        };
        format!("<tr{model}>{}</tr>\n", cells.collect::<String>())
    }
}

fn class(one: &str, other: &str) -> String {
    match [one, other].join(" ").trim() {
        "" => String::new(),
        both => format!(" class=\"{both}\""),
    }
}

fn attribute(model: &Option<String>) -> String {
    model.as_deref().map(of_model).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_column_are_written_alike() {
        let write = |values: &[f64]| {
            let cells = Cell::numbers(&values.iter().copied().map(Some).collect::<Vec<_>>());
            cells.into_iter().map(|cell| cell.html).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(write(&[1500.0, 0.0, 10.0]), "1500 0 10");
        assert_eq!(write(&[0.854, -0.09195, 0.9]), "0.8540 -0.0920 0.9000");
        assert_eq!(write(&[12.5, 3.256]), "12.50 3.26");
        assert_eq!(write(&[12345.5, 0.25]), "12346 0");
        assert_eq!(write(&[1e-5, 2.5e-3]), "1e-5 0.0025");
        assert_eq!(write(&[1e7, 0.5]), "1e7 0.5");
        assert_eq!(write(&[0.0, 0.0]), "0 0");
    }

    #[test]
    fn what_is_no_number_is_a_dash_and_sorts_last() {
        let cells = Cell::numbers(&[None, Some(f64::NAN), Some(2.0)]);
        let shown: Vec<(&str, Option<f64>)> = cells.iter().map(|cell| (cell.html.as_str(), cell.key)).collect();
        assert_eq!(shown, [("—", None), ("—", None), ("2", Some(2.0))]);
    }
}
