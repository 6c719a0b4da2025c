// SPDX-License-Identifier: MIT
//! What the results know of single samples, each value at the row of its sample.

use crate::samples::{self, column, table};
use repscope_core::{Better, ClassColumn, MetricId, Results, SampleTable};

/// Metrics that have a value for each sample.
const MEASURES: [&str; 5] = ["trustworthiness", "continuity", "mle_id", "silhouette", "etes"];
/// Of energies, one column is a measure; the others say more about it.
const ENERGY: &str = "energy";
const BESIDE_ENERGY: [&str; 3] = ["reference_energy", "gap", "rank"];

/// A value for each sample of a model; of those that are neither good nor bad, none is the worst.
pub(super) struct Measure {
    /// `trustworthiness@10`.
    pub(super) name: String,
    /// `None` where a sample was not asked.
    pub(super) values: Vec<Option<f64>>,
    pub(super) better: Better,
}

impl Measure {
    /// A value that is the lower, the worse.
    pub(super) fn goodness(&self, row: usize) -> Option<f64> {
        if self.better == Better::Neither {
            return None;
        }
        let value = self.values.get(row).copied().flatten()?;
        Some(if self.better == Better::Lower { -value } else { value })
    }
}

/// The samples of embeddings, and those of generated texts: in the results of several analyses these are other ones, with a count of
/// their own. Classes belong to the embeddings where there are any.
pub(super) fn apart(results: &Results) -> (Results, Results) {
    let of = |samples: Vec<SampleTable>, has_classes: bool| Results {
        samples,
        classes: results.classes.iter().filter(|_| has_classes).cloned().collect(),
        ..Results::default()
    };
    let all = results.samples.iter().cloned();
    let (energies, embeddings): (Vec<_>, Vec<_>) = all.partition(|table| table.metric == "etes");
    let has_embeddings = !embeddings.is_empty() || energies.is_empty();
    (of(embeddings, has_embeddings), of(energies, !has_embeddings))
}

/// How many samples there are.
pub(super) fn rows(results: &Results) -> Option<usize> {
    let classes = results.classes.iter().map(|column| column.codes.len());
    let maps = results.samples.iter().filter(|table| table.metric == "map").map(length);
    let is_asked = |table: &&SampleTable| MEASURES.iter().any(|metric| table.metric == *metric);
    let asked = results
        .samples
        .iter()
        .filter(is_asked)
        .map(|table| match row_numbers(table) {
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

/// The rows of the samples, where a table says them.
fn row_numbers(table: &SampleTable) -> Option<&[Option<f64>]> {
    column(table, "row").or_else(|| column(table, "sample"))
}

fn length(table: &SampleTable) -> usize {
    table.columns.first().map_or(0, |(_, values)| values.len())
}

/// The measures of a model. Where there are several k, the one in the middle.
pub(super) fn measures(results: &Results, model: &str, rows: usize) -> Vec<Measure> {
    let of = |metric: &&str| {
        let table = table(results, model, metric)?;
        let declared = table.metric.metric()?;
        let is_measure = |name: &str| match *metric {
            "etes" => name == ENERGY,
            _ => name != "row",
        };
        let k = |name: &str| MetricId::from(name).level().unwrap_or(0.0);
        let mut own: Vec<_> = table.columns.iter().filter(|(name, _)| is_measure(name)).collect();
        own.sort_by(|a, b| k(&a.0).total_cmp(&k(&b.0)));
        let (name, values) = own.get(own.len().saturating_sub(1) / 2)?;
        let values = at_rows(values, row_numbers(table), rows)?;
        Some(Measure {
            name: name.clone(),
            values,
            better: declared.outputs[0].better,
        })
    };
    MEASURES.iter().filter_map(of).collect()
}

/// What else is known of the energies of a model.
pub(super) fn beside_energies(results: &Results, model: &str, rows: usize) -> Vec<(&'static str, Vec<Option<f64>>)> {
    let of = |name: &'static str| {
        let table = table(results, model, "etes")?;
        let values = at_rows(column(table, name)?, row_numbers(table), rows)?;
        values.iter().any(Option::is_some).then_some((name, values))
    };
    BESIDE_ENERGY.into_iter().filter_map(of).collect()
}

/// Values brought to the rows of their samples. `None` where they do not stand for these rows.
fn at_rows(values: &[Option<f64>], asked: Option<&[Option<f64>]>, rows: usize) -> Option<Vec<Option<f64>>> {
    let values = values
        .iter()
        .map(|value| value.filter(|x| x.is_finite()))
        .collect::<Vec<_>>();
    match asked {
        None => (values.len() == rows).then_some(values),
        Some(asked) => Some(samples::at_rows(&values, asked, rows)),
    }
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
    fn of_energies_the_high_ones_are_bad() {
        let results = crate::etes::testdata::two_systems();
        assert_eq!(rows(&results), Some(4));
        let measures = measures(&results, "glim", 4);
        assert_eq!((measures.len(), measures[0].name.as_str()), (1, "energy"));
        assert_eq!(measures[0].values, [Some(-0.52), Some(-0.31), None, Some(0.015625)]);
        assert_eq!(measures[0].goodness(0), Some(0.52));
        assert_eq!(measures[0].goodness(2), None);
        let beside = beside_energies(&results, "glim", 4);
        assert_eq!(beside[2], ("rank", vec![Some(1.0), Some(3.5), None, Some(4.0)]));
        assert!(beside_energies(&results, "another", 4).is_empty());
    }

    #[test]
    fn the_middle_k_is_shown() {
        let column = |k: usize| (format!("trustworthiness@{k}"), vec![Some(k as f64)]);
        let results = Results {
            samples: vec![SampleTable {
                model: "m".to_string(),
                metric: "trustworthiness".into(),
                columns: vec![column(5), column(100), column(20)],
            }],
            ..Results::default()
        };
        assert_eq!(measures(&results, "m", 1)[0].name, "trustworthiness@20");
    }

    fn of(metric: &str, column: &str, rows: usize) -> SampleTable {
        SampleTable {
            model: "m".to_string(),
            metric: metric.into(),
            columns: vec![(column.to_string(), vec![Some(0.5); rows])],
        }
    }

    #[test]
    fn texts_of_other_samples_do_not_take_the_labels_of_codes() {
        let labels = ClassColumn {
            name: "labels".to_string(),
            names: vec!["cat".to_string()],
            codes: vec![0; 4],
        };
        let mut results = Results {
            samples: vec![of("silhouette", "silhouette", 4), of("etes", "energy", 9)],
            classes: vec![labels],
            ..Results::default()
        };
        let (embeddings, energies) = apart(&results);
        assert_eq!((rows(&embeddings), rows(&energies)), (Some(4), Some(9)));
        assert_eq!((classes(&embeddings, 4).len(), classes(&energies, 9).len()), (1, 0));
        // Alone, the groups of the texts are theirs.
        results.samples.remove(0);
        results.classes[0].codes = vec![0; 9];
        let (embeddings, energies) = apart(&results);
        assert_eq!((rows(&embeddings), classes(&energies, 9).len()), (None, 1));
    }
}
