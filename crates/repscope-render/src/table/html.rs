// SPDX-License-Identifier: MIT
//! Tables of the report page: the first column names the row, the script sorts by every column whose values are alike, wide ones
//! scroll.

use super::{Align, Cell, Column, Emphasis, Kind, NONE, Row, Table, direction, in_words};
use crate::html::Models;
use crate::html::safe::{breakable, escape, of_model, prose};
use crate::numbers::number;
use repscope_core::{Better, metrics};

/// Longer tables scroll by themselves, below a header that stays.
const TALL: usize = 40;
/// Longer notes are folded away.
const LONG: usize = 260;

/// The numbers.
pub(crate) fn numbers(table: &Table, models: &Models) -> String {
    let head: String = table.columns.iter().map(|column| head(column, models)).collect();
    let body: String = table.rows.iter().map(|row| line(table, row, models)).collect();
    let caption = escape(table.name());
    let tall = if table.rows.len() > TALL { " tall" } else { "" };
    let count = table.columns.iter().filter(|column| column.is_split).count();
    format!(
        "<div class=\"scroll{tall}\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n\
         <table class=\"data {}\" style=\"--count:{count}\">\n<caption class=\"unseen\">{caption}</caption>\n\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n",
        table.label
    )
}

/// The numbers, and below them footnotes, why values are missing, how to read the numbers, and remarks.
pub(crate) fn render(table: &Table, models: &Models) -> String {
    let notes = table.notes.iter().enumerate();
    let notes = notes.map(|(i, note)| {
        let class = if is_minor(table, i + 1) { " class=\"minor\"" } else { "" };
        format!("<li{class}><sup>{}</sup> {}</li>\n", i + 1, prose(note))
    });
    let missing = table.undefined.iter();
    let missing = missing.map(|(who, reason)| format!("<li>— {}: {}</li>\n", escape(who), prose(reason)));
    let said = table.legend.iter().chain(&table.remarks).map(|text| match prose(text) {
        text if text.len() > LONG && text.contains("intervals: ") => {
            format!("<li><details><summary>How the intervals were computed</summary>{text}</details></li>\n")
        }
        text => format!("<li>{text}</li>\n"),
    });
    let items: String = notes.chain(missing).chain(said).collect();
    let below = match items.as_str() {
        "" => String::new(),
        items => format!("<ul class=\"notes\">\n{items}</ul>\n"),
    };
    numbers(table, models) + &below
}

/// Whether a footnote belongs only to what is shown where all scores are wanted.
fn is_minor(table: &Table, number: usize) -> bool {
    let heads = table.columns.iter().map(|column| (&column.head, column.is_minor));
    let rows = table.rows.iter().flat_map(|row| {
        let cells = row.cells.iter().zip(&table.columns);
        cells.map(|(cell, column)| (cell, row.is_minor || column.is_minor))
    });
    heads
        .chain(rows)
        .all(|(cell, is_minor)| is_minor || cell.note != Some(number))
}

/// The numbers of a column, written alike: integers as such, others with the decimals that give the largest four digits. A
/// dash where there is none.
pub(crate) fn alike(values: &[Option<f64>]) -> Vec<Cell> {
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
    let cell = |value: &Option<f64>| Cell::optional(finite(value), write);
    values.iter().map(cell).collect()
}

fn head(column: &Column, models: &Models) -> String {
    let class = match column.align {
        Align::Left => "",
        Align::Center => "plain",
        Align::Right if column.is_mixed && column.is_quiet => "num fact mixed",
        Align::Right if column.is_mixed => "num mixed",
        Align::Right if column.is_quiet => "num fact",
        Align::Right if column.is_minor => "num minor",
        Align::Right => "num",
    };
    let html = match column.head.kind {
        // A column of one arrow needs no name to see, but one to hear.
        _ if column.align == Align::Center => "<span class=\"unseen\">direction</span>".to_string(),
        Kind::Model if !column.is_split => escape(&column.head.text),
        _ => content(&column.head, column, models),
    };
    let better = column.better.map(|better| format!(" {}", arrow(better)));
    let better = better.unwrap_or_default();
    let fact = |fact: &String| format!("<small>{}</small>", escape(fact));
    let facts: String = column.facts.iter().map(fact).collect();
    let (class, owner) = (attribute(class), owner(column));
    format!("<th scope=\"col\"{class}{owner}>{html}{better}{facts}</th>")
}

fn line(table: &Table, row: &Row, models: &Models) -> String {
    let cells = row.cells.iter().zip(&table.columns).enumerate();
    let cells = cells.map(|(i, (cell, column))| {
        let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
        let classes = [
            if column.align == Align::Right { "num" } else { "" },
            if column.is_quiet { "quiet" } else { "" },
            if column.is_minor { "minor" } else { "" },
            match (cell.kind, cell.emphasis) {
                (Kind::Direction(_), _) => "direction",
                (_, Emphasis::Best | Emphasis::Winner) => "best",
                (_, Emphasis::Alarm) => "low",
                _ => "",
            },
        ];
        let classes: Vec<&str> = classes.into_iter().filter(|class| !class.is_empty()).collect();
        let key = cell.value.map(|key| format!(" data-v=\"{key:e}\"")).unwrap_or_default();
        let label = match column.head.kind {
            Kind::Metric => format!(" data-label=\"{}\"", escape(&column.head.text)),
            _ => String::new(),
        };
        let (html, class, owner) = (
            content(cell, column, models),
            attribute(&classes.join(" ")),
            owner(column),
        );
        format!("<{tag}{scope}{class}{key}{label}{owner}>{html}</{tag}>")
    });
    let model = match row.models.as_slice() {
        [] => String::new(),
        [one] => of_model(one),
        // A row of two models goes with either.
        [one, other, ..] => of_model(one) + &of_model(other).replace("data-model", "data-other"),
    };
    let minor = if row.is_minor { " class=\"minor\"" } else { "" };
    format!("<tr{model}{minor}>{}</tr>\n", cells.collect::<String>())
}

fn content(cell: &Cell, column: &Column, models: &Models) -> String {
    let text = escape(&cell.text);
    let note = cell.note.map(|number| format!("<sup>{number}</sup>"));
    let note = note.unwrap_or_default();
    let html = match cell.kind {
        Kind::Text => text,
        Kind::Code => format!("<code>{text}</code>"),
        Kind::Metric => metric(&cell.text),
        Kind::Model => models.swatch(&cell.text),
        Kind::Row => format!("{}<span class=\"row\" data-row=\"{text}\">{text}</span>", picture(cell)),
        Kind::Direction(better) => arrow(better),
        Kind::Number | Kind::Count => match &cell.reason {
            Some(reason) if cell.text == NONE => {
                let reason = escape(reason);
                format!("<span class=\"none\" title=\"{reason}\">—</span><span class=\"unseen\">{reason}</span>")
            }
            _ if column.is_split || !cell.interval.is_empty() => format!("<b>{text}</b>"),
            _ => text,
        },
    };
    let best = match cell.emphasis {
        Emphasis::Best => "<span class=\"unseen\">best: </span>",
        Emphasis::Better => "<span title=\"better\">▲</span> ",
        Emphasis::Worse => "<span title=\"worse\">▼</span> ",
        _ => "",
    };
    let small = [&cell.interval, &cell.about].map(|text| match text.as_str() {
        "" => String::new(),
        text => format!("<small>{}</small>", escape(text)),
    });
    format!("{best}{html}{note}{}", small.concat())
}

/// The picture of a row, which the style of the page holds once for all tables.
fn picture(cell: &Cell) -> String {
    match (cell.is_pictured, cell.value) {
        (true, Some(row)) => {
            format!("<span class=\"thumb p{row}\" role=\"img\" aria-label=\"input of row {row}\"></span>")
        }
        _ => String::new(),
    }
}

/// The id of a metric, as a link to its definition where there is one.
fn metric(id: &str) -> String {
    match metrics::find(id) {
        Some((found, _)) => format!("<a href=\"#about-{}\"><code>{}</code></a>", found.id, breakable(id)),
        None => format!("<code>{}</code>", breakable(id)),
    }
}

/// A direction in words.
pub(crate) fn described(better: Better) -> String {
    match better {
        Better::Neither => "· a description".to_string(),
        _ => in_words(better),
    }
}

fn arrow(better: Better) -> String {
    let (arrow, words) = direction(better);
    let words = match better {
        Better::Neither => "a description, neither way is better",
        _ => words,
    };
    format!(
        "<span class=\"arrow\" title=\"{words}\" aria-hidden=\"true\">{arrow}</span><span class=\"unseen\">{words}</span>"
    )
}

fn attribute(class: &str) -> String {
    if !class.is_empty() {
        format!(" class=\"{class}\"")
    } else {
        String::new()
    }
}

/// A column of a model is hidden with it.
fn owner(column: &Column) -> String {
    match column.head.kind {
        Kind::Model if !column.head.text.is_empty() => of_model(&column.head.text),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_column_are_written_alike() {
        let write = |values: &[f64]| {
            let cells = alike(&values.iter().copied().map(Some).collect::<Vec<_>>());
            cells.into_iter().map(|cell| cell.text).collect::<Vec<_>>().join(" ")
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
    fn only_columns_whose_values_are_alike_can_be_sorted() {
        let results = crate::testdata::two_models();
        let models = Models::of(&results);
        let by_metric = crate::scores::scores(&results);
        let html = numbers(&by_metric, &models);
        // Both models, the chance level and n: a slope and an accuracy do not belong into one order.
        assert_eq!(
            html.matches("<th scope=\"col\" class=\"num mixed\"").count(),
            2,
            "{html}"
        );
        assert_eq!(
            html.matches("<th scope=\"col\" class=\"num fact mixed\"").count(),
            2,
            "{html}"
        );
        let html = numbers(&crate::scores::by_model(by_metric), &models);
        assert!(!html.contains("mixed"), "{html}");
    }

    #[test]
    fn what_is_no_number_is_a_dash_and_sorts_last() {
        let cells = alike(&[None, Some(f64::NAN), Some(2.0)]);
        let shown: Vec<(&str, Option<f64>)> = cells.iter().map(|cell| (cell.text.as_str(), cell.value)).collect();
        assert_eq!(shown, [("—", None), ("—", None), ("2", Some(2.0))]);
    }
}
