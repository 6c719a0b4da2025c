// SPDX-License-Identifier: MIT
//! The samples that a model treats worst, for looking at them.

use super::Models;
use super::samples::{Measure, beside_energies, classes, measures, rows, singular};
use crate::scores::sorted;
use crate::table::html::{alike, numbers};
use crate::table::{Cell, Column, Emphasis, Kind, NONE, Table};
use repscope_core::{Better, ClassColumn, Results};
use std::collections::{BTreeMap, BTreeSet};

/// Samples of each measure.
const WORST: usize = 8;
/// More models than this are folded away.
const MOST_OPEN: usize = 1;

/// The samples of one model.
struct Worst<'a> {
    model: &'a str,
    measures: Vec<Measure>,
    /// What else is known of these samples.
    beside: Vec<(&'static str, Vec<Option<f64>>)>,
    /// Rows among the worst of at least one measure, worst first by the first measure.
    rows: Vec<usize>,
}

pub(super) fn section(results: &Results, models: &Models, pictures: &BTreeMap<usize, String>) -> String {
    let Some(count) = rows(results) else {
        return String::new();
    };
    let found = all(results, models, count);
    if found.is_empty() {
        return String::new();
    }
    let classes = classes(results, count);
    let mut measures = found.iter().flat_map(|worst| &worst.measures);
    let has_energies = measures.clone().any(|measure| measure.better == Better::Lower);
    let mut html = "<p>".to_string();
    if measures.any(|measure| measure.better != Better::Lower) {
        html += &format!(
            "The {WORST} samples with the lowest value of each measure. A sample with low trustworthiness has neighbors among the \
             embeddings that are far in the input; with low continuity, it has lost neighbors; with low silhouette, it lies nearer \
             to another class. "
        );
    }
    if has_energies {
        html += &format!("The {WORST} samples with the highest energy: their texts fit their signals worst. ");
    }
    html += "Rows are counted from 0.</p>\n";
    for worst in &found {
        let table = numbers(&table(worst, &found, &classes, pictures), models);
        let open = if found.len() <= MOST_OPEN { " open" } else { "" };
        html += &format!(
            "<details{}{open}>\n<summary><h3>{}</h3></summary>\n{table}</details>\n",
            super::safe::of_model(worst.model),
            models.swatch(worst.model)
        );
    }
    html
}

/// The pictures as style, each once. What is not base64, as in a document that somebody else wrote, is left out.
pub(super) fn css(pictures: &BTreeMap<usize, String>) -> String {
    let is_base64 = |c: u8| c.is_ascii_alphanumeric() || b"+/=".contains(&c);
    let sound = pictures.iter().filter(|(_, png)| png.bytes().all(is_base64));
    sound
        .map(|(row, png)| format!(".p{row} {{ background-image: url(data:image/png;base64,{png}); }}\n"))
        .collect()
}

/// Rows of the embeddings that the page lists, those first that are worst for some model.
pub fn worst_samples(results: &Results) -> Vec<usize> {
    let (embeddings, _) = super::samples::apart(results);
    let Some(count) = rows(&embeddings) else {
        return Vec::new();
    };
    let found = all(&embeddings, &Models::of(&embeddings), count);
    let longest = found.iter().map(|worst| worst.rows.len()).max().unwrap_or(0);
    let by_rank = (0..longest).flat_map(|rank| found.iter().filter_map(move |worst| worst.rows.get(rank).copied()));
    let mut seen = BTreeSet::new();
    by_rank.filter(|row| seen.insert(*row)).collect()
}

/// Rows that the tables list, for any model.
pub(super) fn listed(results: &Results, models: &Models, count: usize) -> BTreeSet<usize> {
    all(results, models, count)
        .into_iter()
        .flat_map(|worst| worst.rows)
        .collect()
}

fn all<'a>(results: &Results, models: &Models<'a>, count: usize) -> Vec<Worst<'a>> {
    let of = |model: &&'a str| {
        let mut measures = measures(results, model, count);
        measures.retain(|measure| measure.better != Better::Neither);
        let mut rows = sorted(measures.iter().flat_map(worst_rows));
        let key = |row: usize| measures.first()?.goodness(row);
        let key = |row: &usize| key(*row).unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let beside = beside_energies(results, model, count);
        (!rows.is_empty()).then_some(Worst {
            model,
            measures,
            beside,
            rows,
        })
    };
    models.names.iter().filter_map(of).collect()
}

/// The rows with the worst values; of equal ones those that come first.
fn worst_rows(measure: &Measure) -> Vec<usize> {
    let known = (0..measure.values.len()).filter_map(|row| Some((measure.goodness(row)?, row)));
    let mut known: Vec<(f64, usize)> = known.collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    known.iter().take(WORST).map(|(_, row)| *row).collect()
}

fn table(worst: &Worst, found: &[Worst], classes: &[&ClassColumn], pictures: &BTreeMap<usize, String>) -> Table {
    let has_others = found.len() > 1;
    let mut table = Table::captioned(format!("Worst samples of {}", worst.model), "worst");
    table.columns = vec![Column::number("row")];
    let columns = &mut table.columns;
    columns.extend(classes.iter().map(|class| Column::text(singular(&class.name))));
    columns.extend(worst.measures.iter().map(|measure| Column::number(&measure.name)));
    columns.extend(worst.beside.iter().map(|(name, _)| Column::number(*name)));
    columns.extend(has_others.then(|| Column::text("also listed for").quiet()));
    let of_rows = |values: &[Option<f64>]| alike(&worst.rows.iter().map(|row| values[*row]).collect::<Vec<_>>());
    let measured = worst.measures.iter().map(|measure| {
        let marked = worst_rows(measure);
        let cells = of_rows(&measure.values).into_iter().zip(&worst.rows);
        cells
            .map(|(cell, row)| cell.emphasized(Emphasis::Alarm, marked.contains(row)))
            .collect()
    });
    let beside = worst.beside.iter().map(|(_, values)| of_rows(values));
    let values: Vec<Vec<Cell>> = measured.chain(beside).collect();
    for (i, row) in worst.rows.iter().enumerate() {
        let mut cells = vec![Cell {
            kind: Kind::Row,
            is_pictured: pictures.contains_key(row),
            ..Cell::count(*row)
        }];
        cells.extend(classes.iter().map(|class| {
            let name = class.names.get(class.codes[*row] as usize);
            Cell::text(name.map_or(NONE, String::as_str))
        }));
        cells.extend(values.iter().map(|column| column[i].clone()));
        if has_others {
            let others = found
                .iter()
                .filter(|other| other.model != worst.model && other.rows.contains(row));
            let others: Vec<&str> = others.map(|other| other.model).collect();
            cells.push(Cell::text(match others.len() {
                0 => NONE.to_string(),
                1..=2 => others.join(", "),
                count => format!("{count} models"),
            }));
        }
        table.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_go_by_row_and_missing_ones_are_left_out() {
        let mut values = vec![Some(1.0); 20];
        values[3] = None;
        values[15] = Some(-2.0);
        let mut measure = Measure {
            name: String::new(),
            values,
            better: Better::Higher,
        };
        assert_eq!(worst_rows(&measure), [15, 0, 1, 2, 4, 5, 6, 7]);
        measure.better = Better::Lower;
        assert_eq!(worst_rows(&measure), [0, 1, 2, 4, 5, 6, 7, 8]);
    }
}
