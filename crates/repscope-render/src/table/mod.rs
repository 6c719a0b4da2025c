// SPDX-License-Identifier: MIT
//! One table for everything that is shown. An analysis builds [`Table`]s and puts them into a [`Document`]; `terminal`,
//! `markdown`, `latex`, `html` and `csv` each render the same value. Nothing else in this crate formats a table.

pub(crate) mod csv;
mod document;
pub(crate) mod html;
pub(crate) mod latex;
mod layout;
pub(crate) mod markdown;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;

use crate::numbers::{number, number_with_interval};
use crate::text::printable;
use repscope_core::{Better, Score};
use std::ops::Range;

pub use document::{Block, Check, Document, Item};
pub use markdown::escape as markdown_escape;

/// What stands for a value that does not exist.
pub(crate) const NONE: &str = "—";
/// The directions in the order in which legends list them.
pub(crate) const DIRECTIONS: [Better; 3] = [Better::Higher, Better::Lower, Better::Neither];

/// A table: columns, rows, and what a reader must know to use its numbers.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// What the table shows; empty where a heading above says it.
    pub title: String,
    /// What a table without a title is called where one is needed: in a paper, to a screen reader.
    pub caption: String,
    /// What follows `tab:` in LaTeX, and names the table for the style sheet of the page.
    pub label: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// Rows with a cell for each column.
    pub rows: Vec<Row>,
    /// What emphasis means: `best, its interval apart from all others`.
    pub emphasis: String,
    /// Footnotes; number 1 is the first.
    pub notes: Vec<String>,
    /// Rows without a value, and why.
    pub undefined: Vec<(String, String)>,
    /// How to read the numbers, such as how intervals were computed.
    pub legend: Vec<String>,
    /// What these numbers say.
    pub remarks: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// What stands above it.
    pub head: Cell,
    /// How its cells are aligned.
    pub align: Align,
    /// The head of a column of their own for the intervals; without it they stand beside the values.
    pub interval: Option<String>,
    /// Whether a table that is too wide continues below with further columns of this kind.
    pub is_split: bool,
    /// Where there is no room the column is left out; the smallest number goes first.
    pub spare: Option<u8>,
    /// The same for its intervals alone.
    pub spare_interval: Option<u8>,
    /// Whether its text may be broken into lines.
    pub wraps: bool,
    /// Whether it only describes the other columns.
    pub is_quiet: bool,
    /// The direction of a column that stands for a metric.
    pub better: Option<Better>,
    /// Further facts on it: its chance level, how many units it comes from.
    pub facts: Vec<String>,
    /// Whether the page shows it only where all scores are asked for.
    pub is_minor: bool,
    /// Whether values of different units stand below each other, so that sorting by them says nothing.
    pub is_mixed: bool,
}

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Flush left, for words.
    Left,
    /// Flush right, for numbers.
    #[default]
    Right,
    /// In the middle, for marks.
    Center,
}

/// A row of a table.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// A cell for each column.
    pub cells: Vec<Cell>,
    /// Whether the row opens a block, so that space goes before it.
    pub opens_block: bool,
    /// The models it belongs to; the page hides it with them.
    pub models: Vec<String>,
    /// Whether the page shows it only where all scores are asked for.
    pub is_minor: bool,
    /// Whether it only describes the columns; a part of a wide table in which it is empty goes without it.
    pub is_fact: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// Its text, or its value as written.
    pub text: String,
    /// What the text is.
    pub kind: Kind,
    /// The number itself, for sorting and for CSV.
    pub value: Option<f64>,
    /// Its interval as written.
    pub interval: String,
    /// Marks of significance.
    pub marks: &'static str,
    /// The number of its footnote.
    pub note: Option<usize>,
    /// Whether it stands out.
    pub emphasis: Emphasis,
    /// Why it has no value.
    pub reason: Option<String>,
    /// More about it, in small print on the page.
    pub about: String,
    /// Whether the page has a picture of its row.
    pub is_pictured: bool,
    /// For a cell that sums up its row: what it holds for each of the columns that a wide table is split by.
    pub each: Vec<Option<(f64, String)>>,
}

/// What the text of a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Words.
    #[default]
    Text,
    /// A number, or a range of numbers.
    Number,
    /// A count, which CSV writes as an integer.
    Count,
    /// The id of a metric.
    Metric,
    /// The name of a model.
    Model,
    /// A name of a program: an option, a file.
    Code,
    /// The number of a row in the data.
    Row,
    /// Which values are better.
    Direction(Better),
}

/// How a cell stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Emphasis {
    /// It does not.
    #[default]
    None,
    /// The best of its row.
    Best,
    /// The better of two, which a column of its own says too.
    Winner,
    /// Better than the reference.
    Better,
    /// Worse than the reference.
    Worse,
    /// Something is wrong.
    Alarm,
}

impl Table {
    /// A table with a title and a label.
    pub fn new(title: impl Into<String>, label: impl Into<String>) -> Self {
        Table {
            title: title.into(),
            label: label.into(),
            ..Table::default()
        }
    }

    /// A table below a heading that says what it shows, with what it is called where that is needed.
    pub fn captioned(caption: impl Into<String>, label: impl Into<String>) -> Self {
        Table {
            caption: caption.into(),
            ..Table::new("", label)
        }
    }

    /// Adds a row of cells.
    pub fn push(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row {
            cells,
            ..Row::default()
        });
    }

    /// Its title, or what it is called without one.
    fn name(&self) -> &str {
        if self.title.is_empty() {
            &self.caption
        } else {
            &self.title
        }
    }

    /// What marks and emphasis mean in these tables: the directions that occur.
    fn legend_of(tables: &[&Table]) -> Vec<String> {
        let has = |better: &Better| tables.iter().any(|table| table.directions().contains(better));
        DIRECTIONS.into_iter().filter(has).map(in_words).collect()
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|row| &row.cells)
    }

    pub(crate) fn has(&self, emphasis: Emphasis) -> bool {
        self.cells().any(|cell| cell.emphasis == emphasis)
    }

    pub(crate) fn directions(&self) -> Vec<Better> {
        let has = |better: &Better| {
            let is_column = self.columns.iter().any(|column| column.better == Some(*better));
            is_column || self.cells().any(|cell| cell.kind == Kind::Direction(*better))
        };
        DIRECTIONS.into_iter().filter(has).collect()
    }
}

impl Column {
    /// A column of words.
    pub fn text(head: impl Into<String>) -> Self {
        Column {
            head: Cell::text(head),
            align: Align::Left,
            ..Column::default()
        }
    }

    /// A column of numbers.
    pub fn number(head: impl Into<String>) -> Self {
        Column {
            head: Cell::text(head),
            ..Column::default()
        }
    }

    /// The column that says which values are better.
    pub fn direction() -> Self {
        Column {
            align: Align::Center,
            ..Column::default()
        }
    }

    /// A column of the values of a model; a table with too many of them continues below.
    pub fn model(name: impl Into<String>) -> Self {
        Column {
            head: Cell::model(name),
            is_split: true,
            ..Column::default()
        }
    }

    /// A column of the values of a metric, one row per model.
    pub fn metric(id: &str, better: Better) -> Self {
        Column {
            head: Cell::metric(id),
            better: Some(better),
            ..Column::default()
        }
    }

    /// With its intervals in a column of their own.
    pub fn with_interval(mut self, head: impl Into<String>) -> Self {
        self.interval = Some(head.into());
        self
    }

    /// Left out where there is no room.
    pub fn spare(mut self, order: u8) -> Self {
        self.spare = Some(order);
        self
    }

    /// With intervals that are left out where there is no room.
    pub fn spare_interval(mut self, order: u8) -> Self {
        self.spare_interval = Some(order);
        self
    }

    /// With text that may be broken into lines.
    pub fn wrapping(mut self) -> Self {
        self.wraps = true;
        self
    }

    /// The arrow of a column that stands for a metric, behind its name.
    pub(crate) fn arrow(&self) -> String {
        self.better
            .map_or(String::new(), |better| format!(" {}", direction(better).0))
    }

    /// With values of different units below each other.
    pub fn mixed(mut self) -> Self {
        self.is_mixed = true;
        self
    }

    /// Describing the other columns.
    pub fn quiet(mut self) -> Self {
        self.is_quiet = true;
        self
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell {
            text: printable(&text.into()),
            ..Cell::default()
        }
    }

    fn of_kind(text: impl Into<String>, kind: Kind) -> Self {
        Cell {
            kind,
            ..Cell::text(text)
        }
    }

    /// The id of a metric.
    pub fn metric(id: impl Into<String>) -> Self {
        Cell::of_kind(id, Kind::Metric)
    }

    /// The name of a model.
    pub fn model(name: impl Into<String>) -> Self {
        Cell::of_kind(name, Kind::Model)
    }

    /// A name of a program.
    pub fn code(text: impl Into<String>) -> Self {
        Cell::of_kind(text, Kind::Code)
    }

    /// A number that is already written.
    pub fn written(text: impl Into<String>, value: Option<f64>) -> Self {
        Cell {
            value,
            ..Cell::of_kind(text, Kind::Number)
        }
    }

    /// A number with the digits it deserves.
    pub fn number(value: f64) -> Self {
        Cell::optional(Some(value), number)
    }

    /// A number that may not exist, and how it is written.
    pub fn optional(value: Option<f64>, write: impl Fn(f64) -> String) -> Self {
        Cell::written(value.map_or(NONE.to_string(), write), value)
    }

    /// A count.
    pub fn count(count: usize) -> Self {
        Cell {
            kind: Kind::Count,
            ..Cell::written(count.to_string(), Some(count as f64))
        }
    }

    /// A number with its interval, cut at the same decimal place.
    pub fn with_interval(value: f64, interval: Option<[f64; 2]>) -> Self {
        let Some(interval) = interval else {
            return Cell::number(value);
        };
        let (text, interval) = number_with_interval(value, interval);
        Cell {
            interval,
            ..Cell::written(text, Some(value))
        }
    }

    /// The value of a score: a dash with the reason where it is undefined, nothing where it was not computed.
    pub fn score(score: Option<&Score>) -> Self {
        let Some(score) = score else {
            return Cell::default();
        };
        match score.value {
            Some(value) => Cell::with_interval(value, score.interval),
            None => Cell {
                reason: Some(reason(score)),
                ..Cell::written(NONE, None)
            },
        }
    }

    /// Which values are better.
    pub fn direction(better: Better) -> Self {
        Cell::of_kind(direction(better).0, Kind::Direction(better))
    }

    /// One number where these agree, otherwise their range.
    pub fn range(each: Vec<Option<(f64, String)>>) -> Self {
        Cell {
            value: each.iter().flatten().map(|(value, _)| *value).next(),
            text: range(&each),
            kind: Kind::Number,
            each,
            ..Cell::default()
        }
    }

    /// The cell in a part of a table that has these of the columns it is split by.
    pub(crate) fn within(&self, columns: &Range<usize>) -> Self {
        let mut cell = self.clone();
        if let Some(each) = self.each.get(columns.clone()).filter(|each| !each.is_empty()) {
            cell.text = range(each);
        }
        cell
    }

    /// Without its interval.
    pub fn alone(mut self) -> Self {
        self.interval.clear();
        self
    }

    /// Standing out where that is so.
    pub fn emphasized(mut self, emphasis: Emphasis, is_so: bool) -> Self {
        if is_so {
            self.emphasis = emphasis;
        }
        self
    }
}

fn range(each: &[Option<(f64, String)>]) -> String {
    let mut known: Vec<&(f64, String)> = each.iter().flatten().collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (known.first(), known.last()) {
        (Some((_, low)), Some((_, high))) if low == high => low.clone(),
        // A dash between negative numbers reads as one more minus.
        (Some((first, low)), Some((_, high))) if *first < 0.0 => format!("{low} to {high}"),
        (Some((_, low)), Some((_, high))) => format!("{low}–{high}"),
        _ => String::new(),
    }
}

/// The arrow of a direction, and what it means.
pub(crate) fn direction(better: Better) -> (&'static str, &'static str) {
    match better {
        Better::Higher => ("↑", "higher is better"),
        Better::Lower => ("↓", "lower is better"),
        Better::Neither => ("·", "neither"),
    }
}

/// A direction as legends have it: `↑ higher is better`.
pub(crate) fn in_words(better: Better) -> String {
    let (arrow, words) = direction(better);
    format!("{arrow} {words}")
}

/// Why a score has no value.
pub(crate) fn reason(score: &Score) -> String {
    let recorded = score.reason.as_deref().filter(|reason| !reason.is_empty());
    printable(recorded.unwrap_or("no reason was recorded"))
}
