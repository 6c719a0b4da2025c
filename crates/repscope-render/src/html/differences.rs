// SPDX-License-Identifier: MIT
//! Models against each other, two by two.

use super::models::{Models, shown};
use super::safe::{breakable, escape};
use super::table::{Cell, Column, Row, Table};
use crate::numbers::{number, number_with_interval, percent};
use crate::summary::distinct;
use repscope_core::{Better, Difference, Results};

/// More lines than this are folded away.
const MOST_OPEN: usize = 40;
/// Where there are more lines than this, only scores with a direction are shown.
const MOST_LINES: usize = 1000;

pub(super) fn section(results: &Results, models: &Models) -> String {
    let differences = &results.differences;
    let Some(first) = differences.first() else {
        return String::new();
    };
    let is_listed = |d: &&Difference| differences.len() <= MOST_LINES || d.better != Better::Neither;
    let listed: Vec<&Difference> = differences.iter().filter(is_listed).collect();
    let columns = vec![
        Column::text("metric"),
        Column::text("model A"),
        Column::text("model B"),
        Column::number("A − B"),
        Column::number("p"),
        Column::number("adjusted p"),
        Column::text("better"),
        Column::text("how"),
    ];
    let table = Table {
        caption: "Differences between models".to_string(),
        columns,
        rows: listed.iter().map(|d| row(d)).collect(),
        class: "differences",
        ..Table::default()
    };
    let left_out = match differences.len() - listed.len() {
        0 => String::new(),
        count => format!(
            "<p class=\"quiet\">{count} comparisons of scores without a direction are in results.json only.</p>\n"
        ),
    };
    let all = table.render() + &left_out + &notes(&listed);
    let all = if listed.len() > MOST_OPEN {
        format!(
            "<details>\n<summary>{} comparisons</summary>\n{all}</details>\n",
            listed.len()
        )
    } else {
        all
    };
    format!(
        "<p>Two models on the same samples, with {} intervals of the difference. The p-values are adjusted for all {} \
         comparisons by Holm’s method; a model is called better only by its adjusted p-value.</p>\n{}{all}",
        percent(first.level),
        differences.len(),
        wins(differences, models),
    )
}

/// In how many scores each model is better than each other. Of two models the lead of the page says it.
fn wins(differences: &[Difference], models: &Models) -> String {
    let compared = distinct(differences.iter().flat_map(|d| [d.a.as_str(), d.b.as_str()]));
    let graded = distinct(
        differences
            .iter()
            .filter(|d| d.better != Better::Neither)
            .map(|d| d.metric.as_str()),
    );
    if compared.len() < 3 || graded.is_empty() {
        return String::new();
    }
    let count = |winner: &str, other: &str| {
        let of_both = |d: &&Difference| (d.a == winner && d.b == other) || (d.a == other && d.b == winner);
        differences
            .iter()
            .filter(of_both)
            .filter(|d| d.winner.as_deref() == Some(winner))
            .count()
    };
    let mut columns = vec![Column::text("better")];
    columns.extend(compared.iter().map(|model| Column {
        html: format!("than {}", shown(model)),
        is_number: true,
        model: Some(model.to_string()),
        ..Column::default()
    }));
    let rows = compared.iter().map(|model| {
        let mut cells = vec![Cell::html(models.swatch(model))];
        cells.extend(compared.iter().map(|other| match count(model, other) {
            _ if model == other => Cell::default(),
            count => Cell {
                html: count.to_string(),
                key: Some(count as f64),
                class: "",
            },
        }));
        Row {
            cells,
            models: vec![model.to_string()],
        }
    });
    let table = Table {
        caption: "Scores in which one model is better than another".to_string(),
        rows: rows.collect(),
        columns,
        class: "wins",
        ..Table::default()
    };
    format!(
        "<p>In how many of the {} scores with a direction the model of the row is better than that of the column:</p>\n{}",
        graded.len(),
        table.render()
    )
}

fn row(difference: &Difference) -> Row {
    let d = difference;
    let value = match d.interval {
        Some(interval) => {
            let (value, interval) = number_with_interval(d.value, interval);
            format!("<b>{value}</b><small>{interval}</small>")
        }
        None => format!("<b>{}</b>", number(d.value)),
    };
    let better = match d.winner.as_deref() {
        Some(winner) => Cell {
            html: shown(winner),
            key: None,
            class: "best",
        },
        None => Cell::html("—"),
    };
    let units = match (&d.unit, d.units) {
        (Some(unit), 1..) => format!(", {} {unit}", d.units),
        _ => String::new(),
    };
    let how = d
        .method
        .as_deref()
        .map(|method| escape(&format!("{method}{units}")))
        .unwrap_or("—".to_string());
    Row {
        cells: vec![
            Cell::html(format!("<code>{}</code>", breakable(&d.metric))),
            Cell::html(shown(&d.a)),
            Cell::html(shown(&d.b)),
            Cell {
                html: value,
                key: Some(d.value),
                class: "",
            },
            probability(d.p),
            probability(d.p_adjusted),
            better,
            Cell {
                html: how,
                key: None,
                class: "quiet",
            },
        ],
        models: vec![d.a.clone(), d.b.clone()],
    }
}

/// Smaller ones differ in nothing a reader could use.
fn probability(p: Option<f64>) -> Cell {
    let html = match p {
        None => "—".to_string(),
        Some(p) if p < 1e-4 => "&lt; 0.0001".to_string(),
        Some(p) => format!("{p:.4}"),
    };
    Cell {
        html,
        key: p,
        class: "",
    }
}

/// Remarks, each with the metrics it speaks of.
fn notes(differences: &[&Difference]) -> String {
    let notes = distinct(differences.iter().filter_map(|d| d.note.as_deref()));
    let items = notes.iter().map(|note| {
        let of = distinct(
            differences
                .iter()
                .filter(|d| d.note.as_deref() == Some(note))
                .map(|d| d.metric.as_str()),
        );
        format!("<li>{}: {}</li>\n", escape(&of.join(", ")), escape(note))
    });
    match items.collect::<String>().as_str() {
        "" => String::new(),
        items => format!("<ul class=\"notes\">\n{items}</ul>\n"),
    }
}
