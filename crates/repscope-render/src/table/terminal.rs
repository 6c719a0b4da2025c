// SPDX-License-Identifier: MIT
//! Tables for a terminal. Columns that do not fit beside each other go into further tables below; numbers are never cut.

use super::layout::{Shown, columns_in, plan, space, value, width};
use super::{Align, Cell, Column, Emphasis, Row, Table};
use crate::Color;
use crate::text::{Style, break_name, columns, padding, wrap};

/// The title and the numbers.
pub(super) fn numbers(table: &Table, most: usize, color: Color) -> String {
    let mut text = String::new();
    if !table.title.is_empty() {
        text += &format!(
            "{}\n",
            Style::Bold.paint(wrap(&table.title, most, "").trim_end(), color)
        );
    }
    if table.rows.is_empty() {
        return text;
    }
    let plan = plan(table, most, |cell, column| mark(cell, column, color));
    let parts = plan.parts.iter().map(|part| {
        let mut text = header(part, plan.gap, color);
        text += &format!("{}\n", Style::Dim.paint(&"─".repeat(width(part, plan.gap)), color));
        let columns = columns_in(table, part);
        let within = |row: &Row| Row {
            cells: row.cells.iter().map(|cell| cell.within(&columns)).collect(),
            ..row.clone()
        };
        let rows = table.rows.iter().filter(|row| is_said(row, part));
        text.extend(rows.map(|row| line(&within(row), part, plan.gap, color)));
        text
    });
    text + &parts.collect::<Vec<_>>().join("\n")
}

/// Whether a part of a table has anything to say in a row: facts on other columns are not among its own.
fn is_said(row: &Row, part: &[Shown]) -> bool {
    let mut own = part.iter().filter(|shown| shown.column.is_split);
    !row.is_fact || own.any(|shown| !row.cells[shown.at].text.is_empty())
}

/// What the marks of these tables mean.
pub(super) fn legend(tables: &[&Table], most: usize, color: Color) -> String {
    let mut legend = Table::legend_of(tables);
    if let Some(table) = tables.iter().find(|table| table.has(Emphasis::Best)) {
        let mark = if color == Color::Yes { "bold" } else { "*" };
        legend.push(format!("{mark} {}", table.emphasis));
    }
    let is_graded = |table: &&&Table| table.has(Emphasis::Better) || table.has(Emphasis::Worse);
    let graded = tables.iter().find(is_graded);
    legend.extend(graded.map(|table| format!("▲ {}, ▼ worse", table.emphasis)));
    match legend.join("; ").as_str() {
        "" => String::new(),
        legend => wrap(legend, most, ""),
    }
}

/// Footnotes, and why values are missing.
pub(super) fn reasons(table: &Table, most: usize) -> String {
    let mut text = String::new();
    for (i, note) in table.notes.iter().enumerate() {
        text += &wrap(note, most, &format!("{} ", superscript(i + 1)));
    }
    for (who, reason) in &table.undefined {
        text += &wrap(&format!("{who}: {reason}"), most, "— ");
    }
    text
}

fn line(row: &Row, part: &[Shown], gap: usize, color: Color) -> String {
    let cells = part.iter().map(|shown| cell(&row.cells[shown.at], shown, gap, color));
    let cells: Vec<Vec<String>> = cells.collect();
    let height = cells.iter().map(Vec::len).fold(1, usize::max);
    let mut text = String::from(if row.opens_block { "\n" } else { "" });
    for at in 0..height {
        let mut line = String::new();
        for (i, (shown, lines)) in part.iter().zip(&cells).enumerate() {
            if i > 0 {
                line += &space(shown, gap);
            }
            let blank = || " ".repeat(shown.width() + shown.apart_width().map_or(0, |width| gap + width));
            line += &lines.get(at).cloned().unwrap_or_else(blank);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The lines of a cell, as wide as its column.
fn cell(cell: &Cell, shown: &Shown, gap: usize, color: Color) -> Vec<String> {
    let style = match cell.emphasis {
        Emphasis::Best | Emphasis::Winner => Style::Bold,
        Emphasis::Alarm => Style::Alarm,
        _ if shown.column.is_quiet => Style::Dim,
        _ => Style::Plain,
    };
    let (value, mark) = (value(cell), mark(cell, shown.column, color));
    let interval = Style::Dim.paint(&cell.interval, color);
    if shown.column.align == Align::Left {
        let lines = broken(&format!("{value}{mark}"), shown.width());
        return lines
            .iter()
            .map(|line| format!("{}{}", style.paint(line, color), padding(line, shown.width())))
            .collect();
    }
    let beside = || format!(" {interval}{}", padding(&cell.interval, shown.interval));
    let beside = if shown.is_beside() { beside() } else { String::new() };
    let used = shown.value + shown.mark + if beside.is_empty() { 0 } else { 1 + shown.interval };
    let mut text = " ".repeat(shown.width() - used);
    text += &format!(
        "{}{}{mark}{}{beside}",
        padding(&value, shown.value),
        style.paint(&value, color),
        padding(&mark, shown.mark)
    );
    if let Some(width) = shown.apart_width() {
        text += &format!("{}{}{interval}", " ".repeat(gap), padding(&cell.interval, width));
    }
    vec![text]
}

/// Lines of at most this width, broken at spaces; a word that is longer is cut.
fn broken(text: &str, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_string()];
    }
    let words: Vec<String> = text
        .split_whitespace()
        .flat_map(|word| break_name(word, width))
        .collect();
    wrap(&words.join(" "), width, "").lines().map(str::to_string).collect()
}

/// The names of the columns, on several lines where they are long.
fn header(part: &[Shown], gap: usize, color: Color) -> String {
    let height = part.iter().map(|shown| shown.head.len()).fold(1, usize::max);
    let mut text = String::new();
    for line in 0..height {
        let is_last = line + 1 == height;
        let mut row = String::new();
        for (i, shown) in part.iter().enumerate() {
            let name = (line + shown.head.len())
                .checked_sub(height)
                .map_or("", |at| &shown.head[at]);
            let style = if shown.column.is_split { Style::Bold } else { Style::Dim };
            let (name, space_around) = (style.paint(name, color), padding(name, shown.width()));
            if i > 0 {
                row += &space(shown, gap);
            }
            row += &match shown.column.align {
                Align::Left => format!("{name}{space_around}"),
                _ => format!("{space_around}{name}"),
            };
            if let Some(width) = shown.apart_width() {
                let name = shown.column.interval.as_deref().filter(|_| is_last).unwrap_or("");
                row += &(" ".repeat(gap) + &padding(name, width) + &Style::Dim.paint(name, color));
            }
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}

/// What follows the value: `*` for the best one where bold cannot be seen, marks of significance, and the footnote.
fn mark(cell: &Cell, column: &Column, color: Color) -> String {
    let is_starred = cell.emphasis == Emphasis::Best && color == Color::No;
    // A name and its footnote need space between them.
    let is_apart = column.align == Align::Left && cell.note.is_some();
    let (star, before) = (if is_starred { "*" } else { "" }, if is_apart { " " } else { "" });
    let note = cell.note.map(superscript).unwrap_or_default();
    format!("{star}{}{before}{note}", cell.marks)
}

pub(super) fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .bytes()
        .map(|digit| DIGITS[(digit - b'0') as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_cut_only_where_they_do_not_fit() {
        assert_eq!(broken("one two three", 20), ["one two three"]);
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        let cut = broken("incomprehensible", 6);
        assert!(cut.len() > 1 && cut.iter().all(|line| columns(line) <= 6), "{cut:?}");
        assert_eq!(cut.concat().replace(['-', '…'], ""), "incomprehensible");
    }
}
