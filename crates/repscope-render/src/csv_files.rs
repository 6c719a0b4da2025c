// SPDX-License-Identifier: MIT
//! The CSV files of the analyses. The columns of a summary follow from the metrics of its analysis, which declare them.

use crate::clid;
use crate::compare;
use crate::etes;
use crate::numbers::exact;
use crate::perturb;
use crate::retrieval;
use crate::scores::distinct;
use crate::table::csv::write;
use repscope_core::metrics::Output;
use repscope_core::{self as core, METRICS, Metric, MetricId, Results, Score};

/// A path relative to the output folder, and the contents.
type File = (String, String);
type Analysis = fn(&Results) -> Vec<File>;

/// The analyses that have files, by command.
const ANALYSES: [(&str, Analysis); 11] = [
    ("smoothness", smoothness),
    ("robustness", robustness),
    ("neighborhood", neighborhood),
    ("manifold", manifold),
    ("geometry", geometry),
    ("rankme", rankme),
    ("clid", clid::files::files),
    ("retrieval", retrieval::files::files),
    ("perturb", perturb::files::files),
    ("etes", etes::files::files),
    ("compare", compare::files::files),
];

/// The CSV files that belong to a command: of its own analysis, or of all that have results for any other
/// command (`evaluate`, say). A file without rows is left out; a value that does not exist is an empty field.
pub fn document_files(command: &str, results: &Results) -> Vec<(String, String)> {
    let is_one = ANALYSES.iter().any(|(name, _)| *name == command);
    let wanted = ANALYSES.iter().filter(|(name, _)| !is_one || *name == command);
    wanted
        .flat_map(|(_, files)| files(results))
        .filter(|(_, contents)| contents.lines().nth(1).is_some())
        .collect()
}

/// The outputs of these metrics that have a column, with its name.
pub(crate) fn columns(is_wanted: impl Fn(&Metric) -> bool) -> Vec<(&'static str, &'static Output)> {
    let wanted = METRICS.iter().filter(|metric| is_wanted(metric));
    let outputs = wanted.flat_map(|metric| metric.outputs);
    outputs.filter_map(|output| Some((output.column?, output))).collect()
}

/// The score of a model that is this output, whatever its K.
pub(crate) fn score_of<'a>(results: &'a Results, model: &str, output: &Output) -> Option<&'a Score> {
    let is_own = |score: &&Score| score.model == model && is_output(&score.metric, output);
    results.scores.iter().find(is_own)
}

fn is_output(id: &MetricId, output: &Output) -> bool {
    id.output().is_some_and(|own| own.id == output.id)
}

/// The models that have one of these scores.
pub(crate) fn models_with<'a>(results: &'a Results, columns: &[(&str, &Output)]) -> Vec<&'a str> {
    let is_own = |score: &&Score| columns.iter().any(|(_, output)| is_output(&score.metric, output));
    distinct(results.scores.iter().filter(is_own).map(|score| score.model.as_str()))
}

/// The summary of an analysis: a line for each model, its columns as the metrics declare them, how many units they come from,
/// and behind them the ends of the intervals where these belong to the file.
fn summary(results: &Results, analysis: core::Analysis, intervals: Intervals) -> String {
    let columns = columns(|metric| metric.analysis == analysis);
    let mut header = vec!["Model".to_string()];
    header.extend(columns.iter().map(|(name, _)| name.to_string()));
    header.push("Sample_Count".to_string());
    if intervals == Intervals::Shown {
        header.extend(
            columns
                .iter()
                .flat_map(|(name, _)| [format!("{name}_Low"), format!("{name}_High")]),
        );
    }
    let row = |model: &str| {
        let scores: Vec<Option<&Score>> = columns
            .iter()
            .map(|(_, output)| score_of(results, model, output))
            .collect();
        let mut row = vec![model.to_string()];
        row.extend(scores.iter().map(|score| value(*score)));
        row.push(count(scores.iter().copied().flatten()));
        if intervals == Intervals::Shown {
            let ends = scores.iter().map(|score| score.and_then(|score| score.interval));
            row.extend(ends.flat_map(|ends| [number(ends.map(|[low, _]| low)), number(ends.map(|[_, high]| high))]));
        }
        row
    };
    write(&header, models_with(results, &columns).into_iter().map(row))
}

/// Whether a summary has the ends of the intervals.
#[derive(Clone, Copy, PartialEq)]
enum Intervals {
    Shown,
    Hidden,
}

fn smoothness(results: &Results) -> Vec<File> {
    let summary = summary(results, core::Analysis::Smoothness, Intervals::Hidden);
    let tables = results.samples.iter().filter(|table| table.metric == "smoothness");
    let pairs = tables.flat_map(|table| {
        let column = |name: &str| {
            table
                .columns
                .iter()
                .find(|(n, _)| n == name)
                .map_or(&[][..], |(_, values)| values)
        };
        let columns = ["input_distance", "latent_distance", "ratio"].map(column);
        let count = columns.iter().map(|values| values.len()).fold(0, usize::max);
        (0..count).map(move |i| {
            let mut row = vec![table.model.clone(), i.to_string()];
            row.extend(columns.map(|values| number(values.get(i).copied().flatten())));
            row
        })
    });
    let raw = write(
        &[
            "Model",
            "Sample_ID",
            "Pixel_Distance",
            "Latent_Distance",
            "Smoothness_Ratio",
        ],
        pairs,
    );
    let file = |name: &str, contents| (format!("smoothness_analysis/{name}"), contents);
    vec![
        file("smoothness_summary.csv", summary),
        file("smoothness_raw_data.csv", raw),
    ]
}

/// Distances of the embeddings as they are; those of unit-length and scaled embeddings in further columns.
fn robustness(results: &Results) -> Vec<File> {
    const COLUMNS: [&str; 6] = ["mean", "standard_error", "std", "min", "max", "median"];
    let mut rows = Vec::new();
    for table in results.breakdowns.iter().filter(|table| table.metric == "robustness") {
        let [kinds, levels] = &table.keys[..] else { continue };
        let column = |name: &str| table.columns.iter().find(|column| column.name == name);
        for (line, level) in levels.values.iter().enumerate() {
            if kinds.values[line] != "robustness" {
                continue;
            }
            let field = |name: &str| number(column(name).and_then(|column| column.values[line]));
            let mut row = vec![table.model.clone(), level.clone()];
            row.extend(COLUMNS.map(field));
            let samples = column("samples").and_then(|column| column.values[line]);
            row.push(samples.map_or_else(String::new, |samples| format!("{samples:.0}")));
            row.extend(
                ["unit", "scaled"]
                    .map(|kind| value(results.score(&table.model, &format!("robustness.{kind}@{level}")))),
            );
            rows.push(row);
        }
    }
    let summary = write(
        &[
            "Model",
            "Noise_Level",
            "Mean_Distance",
            "Std_Error",
            "Std_Dev",
            "Min_Distance",
            "Max_Distance",
            "Median_Distance",
            "Sample_Count",
            "Unit_Mean_Distance",
            "Scaled_Mean_Distance",
        ],
        rows,
    );
    let mut rows = Vec::new();
    for table in results.samples.iter().filter(|table| table.metric == "robustness") {
        for (name, values) in &table.columns {
            let Some(level) = name.strip_prefix("robustness@") else {
                continue;
            };
            let unit = table
                .columns
                .iter()
                .find(|(n, _)| *n == format!("robustness.unit@{level}"));
            for (sample, distance) in values.iter().enumerate() {
                let on_unit = unit.and_then(|(_, values)| values.get(sample).copied().flatten());
                rows.push(vec![
                    table.model.clone(),
                    level.to_string(),
                    sample.to_string(),
                    number(*distance),
                    number(on_unit),
                ]);
            }
        }
    }
    let raw = write(
        &["Model", "Noise_Level", "Sample_ID", "Distance", "Unit_Distance"],
        rows,
    );
    let file = |name: &str, contents| (format!("robustness_analysis/{name}"), contents);
    vec![
        file("robustness_summary.csv", summary),
        file("robustness_raw_data.csv", raw),
    ]
}

fn neighborhood(results: &Results) -> Vec<File> {
    let neighbors = |id: &MetricId| {
        let is_own = matches!(id.measure(), "trustworthiness" | "continuity");
        id.k().filter(|_| is_own)
    };
    let mut ks: Vec<usize> = results
        .scores
        .iter()
        .filter_map(|score| neighbors(&score.metric))
        .collect();
    ks.sort_unstable();
    ks.dedup();
    let mut rows = Vec::new();
    let own = results.scores.iter().filter(|score| neighbors(&score.metric).is_some());
    for model in distinct(own.map(|score| score.model.as_str())) {
        for k in &ks {
            let scores = ["trustworthiness", "continuity"].map(|name| results.score(model, &format!("{name}@{k}")));
            let mut row = vec![model.to_string(), k.to_string()];
            row.extend(scores.iter().flat_map(|score| [value(*score), standard_error(*score)]));
            rows.push(row);
        }
    }
    let contents = write(
        &["Model", "k", "Trust_mean", "Trust_std", "Cont_mean", "Cont_std"],
        rows,
    );
    vec![(
        "neighborhood_preservation/neighborhood_preservation_summary.csv".to_string(),
        contents,
    )]
}

fn manifold(results: &Results) -> Vec<File> {
    const HEADER: [&str; 10] = [
        "Model",
        "Nominal_Dimension",
        "Participation_Ratio",
        "Intrinsic_Dimension",
        "Dimension_Error",
        "Usage_Efficiency_Percent",
        "Max_Eigenvalue",
        "Min_Eigenvalue",
        "Eigenvalue_Count",
        "Sample_Count",
    ];
    const IDS: [&str; 3] = ["participation_ratio", "two_nn", "dimension_usage"];
    let mut summary = Vec::new();
    let mut spectra = Vec::new();
    let own = results
        .scores
        .iter()
        .filter(|score| IDS.contains(&score.metric.as_str()));
    for model in distinct(own.map(|score| score.model.as_str())) {
        let [ratio, two_nn, usage] = IDS.map(|id| results.score(model, id));
        let spectrum = spectrum(model, results);
        summary.push(vec![
            model.to_string(),
            dimension(model, results).map(|d| d.to_string()).unwrap_or_default(),
            value(ratio),
            value(two_nn),
            standard_error(two_nn),
            number(usage.and_then(|score| score.value).map(|share| share * 100.0)),
            number(spectrum.first().copied()),
            number(spectrum.last().copied()),
            if spectrum.is_empty() {
                String::new()
            } else {
                spectrum.len().to_string()
            },
            count([ratio, two_nn, usage].into_iter().flatten()),
        ]);
        for (i, eigenvalue) in spectrum.iter().enumerate() {
            spectra.push(vec![model.to_string(), (i + 1).to_string(), exact(*eigenvalue)]);
        }
    }
    let file = |name: &str, contents| (format!("manifold_dimension/{name}"), contents);
    vec![
        file("manifold_dimension_summary.csv", write(&HEADER, summary)),
        file(
            "manifold_eigenvalues.csv",
            write(&["Model", "Eigenvalue_Index", "Eigenvalue"], spectra),
        ),
    ]
}

/// The eigenvalues of a model, largest first.
fn spectrum(model: &str, results: &Results) -> Vec<f64> {
    let curve = results
        .curves
        .iter()
        .find(|curve| curve.model == model && curve.metric == "spectrum");
    let mut eigenvalues = curve.map(|curve| curve.y.clone()).unwrap_or_default();
    eigenvalues.sort_by(|a, b| b.total_cmp(a));
    eigenvalues
}

/// The number of latent dimensions: its own score, or the participation ratio over the share of dimensions it uses.
fn dimension(model: &str, results: &Results) -> Option<usize> {
    let value = |id| results.score(model, id).and_then(|score| score.value);
    let ratio = || Some(value("participation_ratio")? / value("dimension_usage")?);
    let dimension = value("dimension").or_else(ratio)?;
    dimension.is_finite().then_some(dimension.round() as usize)
}

fn geometry(results: &Results) -> Vec<File> {
    let summary = summary(results, core::Analysis::Geometry, Intervals::Shown);
    vec![("geometry_analysis/geometry_summary.csv".to_string(), summary)]
}

fn rankme(results: &Results) -> Vec<File> {
    let summary = summary(results, core::Analysis::Rankme, Intervals::Hidden);
    vec![("rankme/rankme_summary.csv".to_string(), summary)]
}

/// How many units the first score with a value was computed from, or else the first of all.
fn count<'a>(scores: impl Iterator<Item = &'a Score> + Clone) -> String {
    let first = scores
        .clone()
        .find(|score| score.value.is_some())
        .or_else(|| scores.clone().next());
    first.map(|score| score.n.to_string()).unwrap_or_default()
}

pub(crate) fn value(score: Option<&Score>) -> String {
    number(score.and_then(|score| score.value))
}

fn standard_error(score: Option<&Score>) -> String {
    number(score.and_then(|score| score.standard_error))
}

pub(crate) fn number(x: Option<f64>) -> String {
    x.map(exact).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{missing, score, two_models};
    use repscope_core::{Better, Curve, SampleTable};

    fn file(command: &str, results: &Results, path: &str) -> String {
        let files = document_files(command, results);
        files
            .into_iter()
            .find(|(p, _)| p == path)
            .expect("the file is written")
            .1
    }

    fn results(scores: Vec<Score>) -> Results {
        Results {
            scores,
            ..Results::default()
        }
    }

    #[test]
    fn smoothness_summary_has_the_columns_of_the_document() {
        let csv = file(
            "smoothness",
            &two_models(),
            "smoothness_analysis/smoothness_summary.csv",
        );
        let expected = "\
Model,Regression_Slope,Regression_Intercept,R_Value,R_Squared,P_Value,Std_Error,Mean_Smoothness_Ratio,\
Std_Smoothness_Ratio,Median_Smoothness_Ratio,Sample_Count
jepa,0.00011531,,,,0.0,,,,,36000
encoder-decoder,0.00011784,,,,3.21e-12,,,,,36000
";
        assert_eq!(csv, expected);
    }

    #[test]
    fn smoothness_raw_data_lists_every_pair_and_leaves_missing_ratios_empty() {
        let columns = vec![
            ("input_distance".to_string(), vec![Some(2.0), Some(0.0)]),
            ("latent_distance".to_string(), vec![Some(0.1), Some(0.3)]),
            ("ratio".to_string(), vec![Some(0.05), None]),
        ];
        let samples = vec![SampleTable {
            model: "jepa".to_string(),
            metric: "smoothness".into(),
            columns,
        }];
        let results = Results {
            samples,
            ..Results::default()
        };
        let expected = "\
Model,Sample_ID,Pixel_Distance,Latent_Distance,Smoothness_Ratio
jepa,0,2.0,0.1,0.05
jepa,1,0.0,0.3,
";
        assert_eq!(
            file("smoothness", &results, "smoothness_analysis/smoothness_raw_data.csv"),
            expected
        );
    }

    #[test]
    fn neighborhood_has_a_row_per_model_and_k() {
        let interval = Some((0.8, 0.8 + 3.92 * 0.25, "rows", "jackknife")); // a standard error of 0.25
        let results = results(vec![
            score("jepa", "trustworthiness@10", 0.9, interval, Better::Higher),
            score("jepa", "trustworthiness@5", 0.91, None, Better::Higher),
            score("jepa", "continuity@5", 0.92, None, Better::Higher),
        ]);
        let expected = "\
Model,k,Trust_mean,Trust_std,Cont_mean,Cont_std
jepa,5,0.91,,0.92,
jepa,10,0.9,0.25,,
";
        let path = "neighborhood_preservation/neighborhood_preservation_summary.csv";
        assert_eq!(file("neighborhood", &results, path), expected);
    }

    #[test]
    fn manifold_writes_dimensions_and_the_spectrum() {
        let mut results = results(vec![
            score("jepa", "participation_ratio", 16.0, None, Better::Neither),
            score("jepa", "dimension_usage", 0.25, None, Better::Neither),
            missing("jepa", "two_nn", "all rows are the same"),
        ]);
        results.curves.push(Curve {
            model: "jepa".to_string(),
            metric: "spectrum".into(),
            x_label: "index".to_string(),
            y_label: "eigenvalue".to_string(),
            x: vec![1.0, 2.0, 3.0],
            y: vec![4.0, 2.0, 0.5],
        });
        let summary = "\
Model,Nominal_Dimension,Participation_Ratio,Intrinsic_Dimension,Dimension_Error,Usage_Efficiency_Percent,\
Max_Eigenvalue,Min_Eigenvalue,Eigenvalue_Count,Sample_Count
jepa,64,16.0,,,25.0,4.0,0.5,3,1797
";
        assert_eq!(
            file(
                "manifold",
                &results,
                "manifold_dimension/manifold_dimension_summary.csv"
            ),
            summary
        );
        let spectrum = "Model,Eigenvalue_Index,Eigenvalue\njepa,1,4.0\njepa,2,2.0\njepa,3,0.5\n";
        assert_eq!(
            file("manifold", &results, "manifold_dimension/manifold_eigenvalues.csv"),
            spectrum
        );
    }

    #[test]
    fn the_dimension_has_its_own_score_where_there_is_one() {
        let results = results(vec![
            score("jepa", "participation_ratio", 16.0, None, Better::Neither),
            score("jepa", "dimension", 65.0, None, Better::Neither),
        ]);
        assert_eq!(dimension("jepa", &results), Some(65));
    }

    #[test]
    fn geometry_has_the_ends_of_the_intervals_after_the_values() {
        let csv = file("geometry", &two_models(), "geometry_analysis/geometry_summary.csv");
        let mut lines = csv.lines();
        let expected = "\
Model,Uniformity,Silhouette_Score,NMI,AMI,Clustering_Inertia,Inertia_Share,Cluster_Balance,KNN_Accuracy,Sample_Count,\
Uniformity_Low,Uniformity_High,Silhouette_Score_Low,Silhouette_Score_High,NMI_Low,NMI_High,AMI_Low,AMI_High,\
Clustering_Inertia_Low,Clustering_Inertia_High,Inertia_Share_Low,Inertia_Share_High,\
Cluster_Balance_Low,Cluster_Balance_High,KNN_Accuracy_Low,KNN_Accuracy_High";
        assert_eq!(lines.next(), Some(expected));
        let row = lines.next().expect("a row per model");
        assert!(
            row.starts_with("jepa,-2.88912,0.03812,,,,,,0.8612,1797,-2.901"),
            "{row}"
        );
        assert!(row.ends_with(",0.8491,0.873"), "{row}");
    }

    #[test]
    fn evaluate_writes_every_analysis_that_has_results() {
        let paths: Vec<String> = document_files("evaluate", &two_models())
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        let expected = [
            "smoothness_analysis/smoothness_summary.csv",
            "neighborhood_preservation/neighborhood_preservation_summary.csv",
            "manifold_dimension/manifold_dimension_summary.csv",
            "geometry_analysis/geometry_summary.csv",
        ];
        assert_eq!(paths, expected);
        assert_eq!(document_files("evaluate", &Results::default()), []);
    }
}
