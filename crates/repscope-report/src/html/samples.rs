// SPDX-License-Identifier: MIT
//! What the results know of single samples, each value at the row of its sample.

use repscope_core::{ClassColumn, Results, SampleTable};

/// Tables that have a value for each sample; the lower, the worse.
const MEASURES: [&str; 3] = ["trustworthiness", "continuity", "silhouette"];

/// A value for each sample of a model.
pub(super) struct Measure {
    /// `trustworthiness@10`.
    pub(super) name: String,
    /// `None` where a sample was not asked.
    pub(super) values: Vec<Option<f64>>,
}

/// How many samples there are.
pub(super) fn rows(results: &Results) -> Option<usize> {
    let classes = results.classes.iter().map(|column| column.codes.len());
    let maps = results.samples.iter().filter(|table| table.metric == "map").map(length);
    let asked = results
        .samples
        .iter()
        .filter(|table| MEASURES.contains(&table.metric.as_str()));
    let asked = asked.map(|table| match column(table, "row") {
        Some(rows) => rows.iter().flatten().fold(0.0, |last: f64, row| last.max(row + 1.0)) as usize,
        None => length(table),
    });
    classes.chain(maps).chain(asked).max().filter(|rows| *rows > 0)
}

/// Labels or episodes, where they stand for these samples.
pub(super) fn classes(results: &Results, rows: usize) -> Vec<&ClassColumn> {
    let fits = |column: &&ClassColumn| column.codes.len() == rows && !column.names.is_empty();
    results.classes.iter().filter(fits).collect()
}

/// What one of the `labels` is called.
pub(super) fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

/// A table of a model.
pub(super) fn table<'a>(results: &'a Results, model: &str, metric: &str) -> Option<&'a SampleTable> {
    results
        .samples
        .iter()
        .find(|table| table.model == model && table.metric == metric)
}

pub(super) fn column<'a>(table: &'a SampleTable, name: &str) -> Option<&'a [Option<f64>]> {
    table
        .columns
        .iter()
        .find(|(own, _)| own == name)
        .map(|(_, values)| values.as_slice())
}

fn length(table: &SampleTable) -> usize {
    table.columns.first().map_or(0, |(_, values)| values.len())
}

/// The measures of a model. Where there are several k, the one in the middle.
pub(super) fn measures(results: &Results, model: &str, rows: usize) -> Vec<Measure> {
    let of = |metric: &&str| {
        let table = table(results, model, metric)?;
        let k = |name: &str| {
            name.split_once('@')
                .and_then(|(_, k)| k.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        let mut own: Vec<&(String, Vec<Option<f64>>)> =
            table.columns.iter().filter(|(name, _)| name != "row").collect();
        own.sort_by(|a, b| k(&a.0).total_cmp(&k(&b.0)));
        let (name, values) = own.get(own.len().saturating_sub(1) / 2)?;
        let values = at_rows(values, column(table, "row"), rows)?;
        Some(Measure {
            name: name.clone(),
            values,
        })
    };
    MEASURES.iter().filter_map(of).collect()
}

/// Values brought to the rows of their samples. `None` where they do not stand for these rows.
fn at_rows(values: &[Option<f64>], asked: Option<&[Option<f64>]>, rows: usize) -> Option<Vec<Option<f64>>> {
    let finite = |value: &Option<f64>| value.filter(|x| x.is_finite());
    let Some(asked) = asked else {
        return (values.len() == rows).then(|| values.iter().map(finite).collect());
    };
    let mut placed = vec![None; rows];
    for (row, value) in asked.iter().zip(values) {
        let place = row
            .filter(|row| *row >= 0.0)
            .and_then(|row| placed.get_mut(row as usize));
        if let Some(place) = place {
            *place = finite(value);
        }
    }
    Some(placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_rows_stands_at_its_rows() {
        let values = [Some(0.5), Some(0.25), Some(f64::NAN)];
        let rows = [Some(3.0), Some(0.0), Some(9.0)];
        assert_eq!(
            at_rows(&values, Some(&rows), 4),
            Some(vec![Some(0.25), None, None, Some(0.5)])
        );
        assert_eq!(at_rows(&values, None, 4), None);
        assert_eq!(at_rows(&values, None, 3), Some(vec![Some(0.5), Some(0.25), None]));
    }

    #[test]
    fn the_middle_k_is_shown() {
        let column = |k: usize| (format!("trustworthiness@{k}"), vec![Some(k as f64)]);
        let results = Results {
            samples: vec![SampleTable {
                model: "m".to_string(),
                metric: "trustworthiness".to_string(),
                columns: vec![column(5), column(100), column(20)],
            }],
            ..Results::default()
        };
        assert_eq!(measures(&results, "m", 1)[0].name, "trustworthiness@20");
    }
}
