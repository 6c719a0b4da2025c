// SPDX-License-Identifier: MIT
//! The CSV files of `repscope clid`.

use crate::breakdowns;
use crate::csv_files::{columns, models_with, score_of, value};
use crate::table::csv::write;
use repscope_core::metrics::Output;
use repscope_core::{Analysis, Results};

/// The names that the reference scripts of CLID and RankMe write, and the scores they stand for: the first that is there.
const LONG: [(&str, &[&str]); 12] = [
    ("mcr2_total_loss", &["mcr2.total"]),
    ("mcr2_discrimn_empirical", &["mcr2.discriminative"]),
    ("mcr2_compress", &["mcr2.compressive"]),
    ("alignment", &["alignment"]),
    // With two views the mean of both, so that the total is the sum of two lines.
    ("uniformity", &["alignment.uniformity", "uniformity"]),
    ("align_uniform_total", &["alignment.total"]),
    ("cl", &["clid.cl"]),
    ("id", &["clid.id"]),
    ("id_normalized", &["clid.id_normalized"]),
    ("clid", &["clid"]),
    ("rankme_full", &["rankme(variant=spec)"]),
    ("rankme_simple", &["numerical_rank"]),
];

/// Paths relative to the output folder, and the contents.
pub(crate) fn files(results: &Results) -> Vec<(String, String)> {
    let file = |name: &str, contents| (format!("clid/{name}"), contents);
    vec![
        file("clid_summary.csv", summary(results)),
        file("clid_runs.csv", of_metric(results, "clid.cl", Some("Model"))),
        file("clid_metrics.csv", long(results)),
        file("performance_correlation.csv", of_metric(results, "performance", None)),
        file("weighted_clid.csv", of_metric(results, "weighted_clid", None)),
    ]
}

/// The columns of CLID itself.
fn own() -> Vec<(&'static str, &'static Output)> {
    columns(|metric| metric.id == "clid")
}

/// The columns of what is computed beside it. Uniformity belongs to alignment, and stands before it.
fn companions() -> Vec<(&'static str, &'static Output)> {
    let mut companions = columns(|metric| metric.analysis == Analysis::Clid && metric.id != "clid");
    let place = companions.iter().position(|(_, output)| output.id == "alignment");
    let uniformity = columns(|metric| metric.id == "uniformity");
    companions.splice(place.map_or(0..0, |place| place..place), uniformity);
    companions
}

fn models(results: &Results) -> Vec<&str> {
    models_with(results, &own())
}

fn summary(results: &Results) -> String {
    let (own, companions) = (own(), companions());
    let mut header = vec!["Model"];
    header.extend(own.iter().map(|(name, _)| name));
    header.extend(["N", "D"]);
    header.extend(companions.iter().map(|(name, _)| name));
    let row = |model: &str| {
        let field = |(_, output): &(&str, &Output)| value(score_of(results, model, output));
        let mut row = vec![model.to_string()];
        row.extend(own.iter().map(field));
        row.extend(["rows", "columns"].map(|side| shape(results, model, side)));
        row.extend(companions.iter().map(field));
        row
    };
    write(&header, models(results).into_iter().map(row))
}

/// A side of the matrix of embeddings, from the breakdown `shape`.
fn shape(results: &Results, model: &str, side: &str) -> String {
    let own = results
        .breakdowns
        .iter()
        .find(|b| b.metric == "shape" && b.model == model);
    let column = own.and_then(|b| b.columns.iter().find(|c| c.name == side));
    let size = column.and_then(|c| c.values.first().copied().flatten());
    size.map(|x| x.to_string()).unwrap_or_default()
}

/// A line per model and score, under the names of the reference scripts; what was not computed is left out.
fn long(results: &Results) -> String {
    let rows = models(results).into_iter().flat_map(|model| {
        LONG.iter().filter_map(move |(name, ids)| {
            let score = ids.iter().find_map(|id| results.score(model, id))?;
            Some(vec![model.to_string(), name.to_string(), value(Some(score))])
        })
    });
    write(&["model", "metric", "value"], rows)
}

/// All breakdowns of a metric below each other; those of a model with its name.
fn of_metric(results: &Results, metric: &str, model: Option<&str>) -> String {
    let own: Vec<&str> = model.into_iter().collect();
    let all = results.breakdowns.iter().filter(|b| b.metric == metric);
    let all = all.map(|b| (own.iter().map(|_| b.model.clone()).collect(), b));
    breakdowns::write(&own, &all.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document_files;
    use crate::testdata::{missing, score};
    use repscope_core::{Better, Breakdown, NameColumn, NumberColumn};

    fn breakdown(model: &str, metric: &str, key: (&str, &[&str]), columns: &[(&str, &[Option<f64>])]) -> Breakdown {
        let number = |(name, values): &(&str, &[Option<f64>])| NumberColumn {
            name: name.to_string(),
            values: values.to_vec(),
        };
        Breakdown {
            model: model.to_string(),
            metric: metric.into(),
            keys: vec![NameColumn {
                name: key.0.to_string(),
                values: key.1.iter().map(|v| v.to_string()).collect(),
            }],
            columns: columns.iter().map(number).collect(),
        }
    }

    fn file(results: &Results, name: &str) -> Option<String> {
        let mut files = document_files("clid", results).into_iter();
        files.find(|(path, _)| *path == format!("clid/{name}")).map(|f| f.1)
    }

    fn results() -> Results {
        let value = |metric, x| score("jepa", metric, x, None, Better::Neither);
        Results {
            scores: vec![
                value("clid.cl", 0.75),
                value("clid.id", 4.0),
                missing("jepa", "clid", "one model"),
                value("uniformity", -3.0),
                value("numerical_rank", 9.0),
            ],
            breakdowns: vec![
                breakdown(
                    "jepa",
                    "shape",
                    ("model", &["jepa"]),
                    &[("rows", &[Some(60.0)]), ("columns", &[Some(16.0)])],
                ),
                breakdown(
                    "jepa",
                    "clid.cl",
                    ("seed", &["42", "43"]),
                    &[("cl", &[Some(0.5), Some(1.0)]), ("tested", &[Some(30.0), None])],
                ),
            ],
            ..Results::default()
        }
    }

    #[test]
    fn the_summary_has_a_line_per_model_with_the_size_of_its_codes() {
        let text = file(&results(), "clid_summary.csv").expect("a summary");
        let mut lines = text.lines();
        let header = "Model,CL,CL_std,ID,ID_normalized,CLID,N,D,MCR2_total,";
        assert!(lines.next().is_some_and(|line| line.starts_with(header)), "{text}");
        assert_eq!(lines.next(), Some("jepa,0.75,,4.0,,,60,16,,,,-3.0,,,,,"));
    }

    #[test]
    fn the_long_file_has_the_names_of_the_reference_scripts() {
        let text = file(&results(), "clid_metrics.csv");
        let expected = "model,metric,value\njepa,uniformity,-3.0\njepa,cl,0.75\njepa,id,4.0\njepa,clid,\n\
                        jepa,rankme_simple,9.0\n";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn uniformity_beside_alignment_is_that_of_both_views() {
        let mut results = results();
        results
            .scores
            .push(score("jepa", "alignment.uniformity", -2.5, None, Better::Lower));
        let text = file(&results, "clid_metrics.csv").expect("a file");
        assert!(text.contains("jepa,uniformity,-2.5\n"), "{text}");
    }

    #[test]
    fn every_run_is_a_line_and_what_was_not_asked_for_has_no_file() {
        let text = file(&results(), "clid_runs.csv");
        assert_eq!(
            text.as_deref(),
            Some("Model,seed,cl,tested\njepa,42,0.5,30\njepa,43,1.0,\n")
        );
        assert_eq!(file(&results(), "performance_correlation.csv"), None);
        assert_eq!(file(&results(), "weighted_clid.csv"), None);
    }
}
