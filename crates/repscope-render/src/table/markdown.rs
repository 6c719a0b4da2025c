// SPDX-License-Identifier: MIT
//! Tables as GitHub Markdown.

use super::{Align, Cell, Column, Emphasis, Kind, Table};

/// The title and the numbers.
pub(super) fn numbers(table: &Table) -> String {
    let mut text = String::new();
    if !table.title.is_empty() {
        text += &format!("**{}**\n\n", escape(&table.title));
    }
    if table.rows.is_empty() {
        return text;
    }
    let mut heads = Vec::new();
    let mut rules = Vec::new();
    for column in &table.columns {
        let note = column.head.note.map(superscript).unwrap_or_default();
        heads.push(format!("{}{}{note}", value(&column.head), column.arrow()));
        rules.push(match column.align {
            Align::Left => ":--",
            Align::Right => "--:",
            Align::Center => ":-:",
        });
        if let Some(interval) = &column.interval {
            heads.push(escape(interval));
            rules.push("--:");
        }
    }
    text += &line(&heads);
    text += &format!("|{}|\n", rules.join("|"));
    for row in &table.rows {
        let cells = row.cells.iter().zip(&table.columns);
        text += &line(
            &cells
                .flat_map(|(cell, column)| fields(cell, column))
                .collect::<Vec<_>>(),
        );
    }
    text
}

/// What the marks of these tables mean.
pub(super) fn legend(tables: &[&Table]) -> Option<String> {
    let mut legend = Table::legend_of(tables);
    let marked = [Emphasis::Best, Emphasis::Winner, Emphasis::Better, Emphasis::Worse];
    let emphasized = tables
        .iter()
        .find(|table| marked.iter().any(|emphasis| table.has(*emphasis)));
    legend.extend(emphasized.map(|table| {
        let worse = if table.has(Emphasis::Worse) {
            ", _italic_ worse"
        } else {
            ""
        };
        format!("**bold** {}{worse}", escape(&table.emphasis))
    }));
    (!legend.is_empty()).then(|| legend.join("; "))
}

/// Footnotes, and why values are missing.
pub(super) fn reasons(table: &Table) -> Vec<String> {
    let notes = table.notes.iter().enumerate();
    let notes = notes.map(|(i, note)| format!("{} {}", superscript(i + 1), escape(note)));
    let undefined = table.undefined.iter();
    let undefined = undefined.map(|(who, reason)| format!("— {}: {}", escape(who), escape(reason)));
    notes.chain(undefined).collect()
}

/// A list of these items.
pub(super) fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect()
}

fn fields(cell: &Cell, column: &Column) -> Vec<String> {
    let emphasis = match cell.emphasis {
        Emphasis::None => "",
        Emphasis::Worse => "_",
        _ => "**",
    };
    let note = cell.note.map(superscript).unwrap_or_default();
    let written = format!("{emphasis}{}{emphasis}{}{note}", value(cell), escape(cell.marks));
    match &column.interval {
        Some(_) => vec![written, cell.interval.clone()],
        None if cell.interval.is_empty() => vec![written],
        None => vec![format!("{written} {}", cell.interval)],
    }
}

fn value(cell: &Cell) -> String {
    match cell.kind {
        Kind::Metric | Kind::Code => format!("`{}`", cell.text.replace('|', "\\|")),
        // Brackets of numbers are no links, and `<` before a number opens no tag.
        Kind::Number | Kind::Count => cell.text.replace('<', "\\<"),
        _ => escape(&cell.text),
    }
}

fn line(fields: &[String]) -> String {
    format!("| {} |\n", fields.join(" | "))
}

fn superscript(number: usize) -> String {
    format!("<sup>{number}</sup>")
}

/// Keeps characters that Markdown would take as its own, and breaks no line.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if "\\`*_[]<>|#~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}
