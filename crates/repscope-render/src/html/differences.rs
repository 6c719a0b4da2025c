// SPDX-License-Identifier: MIT
//! Models against each other, two by two.

use super::Models;
use crate::compare::probability::probability;
use crate::compare::same;
use crate::numbers::percent;
use crate::scores::grouped;
use crate::table::html::render;
use crate::table::{Cell, Column, Emphasis, NONE, Row, Table};
use repscope_core::{Better, Difference, Results};

/// More lines than this are folded away.
const MOST_OPEN: usize = 12;
/// Where there are more lines than this, only scores with a direction are shown.
const MOST_LINES: usize = 1000;

pub(super) fn section(results: &Results, models: &Models) -> String {
    let differences = &results.differences;
    let Some(first) = differences.first() else {
        return String::new();
    };
    let is_listed = |d: &&Difference| differences.len() <= MOST_LINES || d.better != Better::Neither;
    let listed: Vec<&Difference> = differences.iter().filter(is_listed).collect();
    let mut table = Table::captioned("Differences between models", "differences");
    table.columns = vec![
        Column::text("metric"),
        Column::text("model A"),
        Column::text("model B"),
        Column::number("A − B").mixed(),
        Column::number("effect size"),
        Column::number("p"),
        Column::number("adjusted p"),
        Column::text("better"),
        Column::text("how").quiet(),
    ];
    table.rows = listed.iter().map(|d| row(d)).collect();
    if listed.iter().any(|d| d.equivalent.is_some()) {
        let at = table.columns.len() - 1;
        table.columns.insert(at, Column::text("the same"));
        for (row, d) in table.rows.iter_mut().zip(&listed) {
            row.cells.insert(at, same(d.equivalent));
        }
    }
    table.remarks = notes(&listed);
    let left_out = match differences.len() - listed.len() {
        0 => String::new(),
        count => format!(
            "<p class=\"quiet\">{count} comparisons of scores without a direction are in results.json only.</p>\n"
        ),
    };
    let all = render(&table, models) + &left_out;
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
         comparisons in scores with a direction by Holm’s method; a model is called better only by its adjusted p-value. The effect \
         size is the difference in standard deviations of the differences of single units.</p>\n{all}",
        percent(first.level),
        differences.iter().filter(|d| d.p_adjusted.is_some()).count(),
    )
}

fn row(d: &Difference) -> Row {
    let better = match d.winner.as_deref() {
        Some(winner) => Cell::model(winner).emphasized(Emphasis::Winner, true),
        None => Cell::text(NONE),
    };
    let units = match (&d.unit, d.units) {
        (Some(unit), 1..) => format!(", {} {unit}", d.units),
        _ => String::new(),
    };
    let how = d.method.as_deref();
    let how = how.map_or(NONE.to_string(), |method| format!("{method}{units}"));
    Row {
        cells: vec![
            Cell::metric(d.metric.as_str()),
            Cell::model(&d.a),
            Cell::model(&d.b),
            Cell::with_interval(d.value, d.interval),
            Cell::written(
                d.effect_size.map_or(NONE.to_string(), |size| format!("{size:.2}")),
                d.effect_size,
            ),
            Cell::written(probability(d.p), d.p),
            Cell::written(probability(d.p_adjusted), d.p_adjusted),
            better,
            Cell::text(how),
        ],
        models: vec![d.a.clone(), d.b.clone()],
        ..Row::default()
    }
}

/// Remarks, each with the metrics it speaks of.
fn notes(differences: &[&Difference]) -> Vec<String> {
    let noted = differences
        .iter()
        .filter_map(|d| Some((d.note.as_deref()?, d.metric.as_str())));
    let groups = grouped(noted);
    groups
        .iter()
        .map(|(note, of)| format!("{}: {note}", of.join(", ")))
        .collect()
}
