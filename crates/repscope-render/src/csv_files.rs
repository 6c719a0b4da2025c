// SPDX-License-Identifier: MIT
//! The CSV files of the analyses. The columns of a summary follow from the metrics of its analysis, which declare them.

#[cfg(test)]
mod tests;

use crate::breakdowns::{self, cell, find};
use crate::etes::{System, etes_samples, is_of_etes};
use crate::numbers::exact;
use crate::perturb::Run;
use crate::retrieval::direction;
use crate::samples::{column, spectrum, table};
use crate::scores::{distinct, sorted};
use crate::table::csv::write;
use repscope_core::metrics::Output;
use repscope_core::{
    self as core, Better, Breakdown, Difference, METRICS, Metric, MetricId, RANKING, Results, SampleTable, Score,
    Versioned,
};

/// A path relative to the output folder, and the contents.
type File = (String, String);
type Analysis = fn(&Results) -> Vec<(&'static str, String)>;
type Column = (&'static str, &'static Output);
/// A column of a file with a line per `T`: its name, and its field.
type Field<T> = (&'static str, fn(&T) -> String);

/// The analyses that have files, by command, and their folders.
const ANALYSES: [(&str, &str, Analysis); 15] = [
    ("smoothness", "smoothness_analysis", smoothness),
    ("robustness", "robustness_analysis", robustness),
    ("neighborhood", "neighborhood_preservation", neighborhood),
    ("manifold", "manifold_dimension", manifold),
    ("geometry", "geometry_analysis", geometry),
    ("rankme", "rankme", rankme),
    ("clid", "clid", clid),
    ("similarity", "similarity", similarity),
    ("probe", "probe", probe),
    ("drift", "drift", drift),
    ("mixing", "mixing", mixing),
    ("retrieval", "retrieval", retrieval),
    ("perturb", "perturbation_analysis", perturb),
    ("etes", "etes_analysis", etes),
    ("compare", "compare", compare),
];

/// The CSV files that belong to a command: of its own analysis, or of all that have results for any other
/// command (`evaluate`, say). A file without rows is left out; a value that does not exist is an empty field.
pub fn document_files(command: &str, results: &Results) -> Vec<File> {
    let is_one = ANALYSES.iter().any(|(name, ..)| *name == command);
    let wanted = ANALYSES.iter().filter(|(name, ..)| !is_one || *name == command);
    let files = wanted.flat_map(|(_, folder, files)| files(results).into_iter().map(move |file| (*folder, file)));
    let files = files.chain(of_versions(command, results));
    let with_rows = files.filter(|(_, (_, contents))| contents.lines().nth(1).is_some());
    with_rows
        .map(|(folder, (name, contents))| (format!("{folder}/{name}"), contents))
        .collect()
}

/// The folder of an analysis.
pub(crate) fn folder(command: &str) -> Option<&'static str> {
    ANALYSES
        .iter()
        .find(|(name, ..)| *name == command)
        .map(|(_, folder, _)| *folder)
}

/// What shorter and quantized embeddings score, by analysis.
fn of_versions<'a>(command: &'a str, results: &'a Results) -> Vec<(&'static str, (&'static str, String))> {
    let is_one = ANALYSES.iter().any(|(name, ..)| *name == command);
    let wanted = ANALYSES.iter().filter(|(name, ..)| !is_one || *name == command);
    let file = |(name, folder, _): &(&'static str, &'static str, Analysis)| {
        let is_own = |id: &MetricId| id.metric().is_some_and(|metric| metric.analysis.name() == *name);
        let rows = results.versions.iter().flat_map(|own| {
            let scores = own.results.scores.iter().filter(|score| is_own(&score.metric));
            scores.map(|score| version_row(own, score))
        });
        let header = VERSION.into_iter().chain(long_header()).chain(CHANGE);
        (*folder, ("versions.csv", write(&header.collect::<Vec<_>>(), rows)))
    };
    wanted.map(file).collect()
}

/// What stands before a score of a version, and how it changes behind it.
const VERSION: [&str; 2] = ["columns", "stored_as"];
const CHANGE: [&str; 5] = ["change", "change_low", "change_high", "change_p", "change_p_adjusted"];

fn version_row(own: &Versioned, score: &Score) -> Vec<String> {
    let columns = own.columns_of(&score.model);
    let change = own.change(&score.model, &score.metric);
    let mut row = vec![
        columns.map(|d| d.to_string()).unwrap_or_default(),
        own.version.precision.name().to_string(),
    ];
    row.extend(long_row(score));
    row.extend([
        number(change.map(|own| own.value)),
        end(change.and_then(|own| own.interval), 0),
        end(change.and_then(|own| own.interval), 1),
        number(change.and_then(|own| own.p)),
        number(change.and_then(|own| own.p_adjusted)),
    ]);
    row
}

/// The long form: one line per model and metric, with every digit, for spreadsheets and data frames.
const LONG: [Field<Score>; 13] = [
    ("model", |score| score.model.clone()),
    ("metric", |score| score.metric.to_string()),
    ("value", |score| number(score.value)),
    ("low", |score| end(score.interval, 0)),
    ("high", |score| end(score.interval, 1)),
    ("level", |score| number(score.level)),
    ("n", |score| score.n.to_string()),
    ("better", |score| score.better.name().to_string()),
    ("chance", |score| number(score.chance)),
    ("reason", |score| text(&score.reason)),
    ("unit", |score| text(&score.unit)),
    ("method", |score| text(&score.method)),
    ("runs", |score| score.runs.to_string()),
];

/// All scores, and what else is known of all models together.
pub(crate) fn long(results: &Results, others: Vec<Vec<String>>) -> String {
    write(&long_header(), results.scores.iter().map(long_row).chain(others))
}

fn long_header() -> [&'static str; LONG.len()] {
    LONG.map(|(name, _)| name)
}

/// The line of a number that no single model has.
pub(crate) fn long_row_of_all(
    identity: String,
    value: Option<f64>,
    interval: Option<[f64; 2]>,
    level: f64,
    n: Option<f64>,
) -> Vec<String> {
    let [low, high] = [0, 1].map(|i| end(interval, i));
    let level = number(interval.map(|_| level));
    let n = n.map(|n| n.to_string()).unwrap_or_default();
    let better = Better::Neither.name().to_string();
    let mut row = vec![String::new(), identity, number(value), low, high, level, n, better];
    row.resize(LONG.len(), String::new());
    row
}

/// The line of a score.
fn long_row(score: &Score) -> Vec<String> {
    LONG.iter().map(|(_, field)| field(score)).collect()
}

/// A direction in a file.
pub(crate) fn word(better: Better) -> &'static str {
    better.name()
}

/// The outputs of these metrics that have a column, with its name.
fn columns(is_wanted: impl Fn(&Metric) -> bool) -> Vec<Column> {
    let wanted = METRICS.iter().filter(|metric| is_wanted(metric));
    let outputs = wanted.flat_map(|metric| metric.outputs);
    outputs.filter_map(|output| Some((output.column?, output))).collect()
}

/// The score of a model that is this output, whatever its K.
fn score_of<'a>(results: &'a Results, model: &str, output: &Output) -> Option<&'a Score> {
    let mut scores = results.scores.iter();
    scores.find(|score| score.model == model && is_output(&score.metric, output))
}

fn is_output(id: &MetricId, output: &Output) -> bool {
    id.output().is_some_and(|own| own.id == output.id)
}

/// The models that have one of these scores.
fn models_with(results: &Results, is_own: impl Fn(&MetricId) -> bool) -> Vec<&str> {
    let own = results.scores.iter().filter(|score| is_own(&score.metric));
    distinct(own.map(|score| score.model.as_str()))
}

/// The summary of an analysis: a line for each model, its columns as the metrics declare them, how many units they come from,
/// and behind them the ends of the intervals where these belong to the file.
fn summary(results: &Results, analysis: core::Analysis, has_intervals: bool) -> String {
    let columns = columns(|metric| metric.analysis == analysis);
    let mut header = vec!["Model".to_string()];
    header.extend(columns.iter().map(|(name, _)| name.to_string()));
    header.push("Sample_Count".to_string());
    let with_ends = columns.iter().filter(|_| has_intervals);
    header.extend(with_ends.flat_map(|(name, _)| [format!("{name}_Low"), format!("{name}_High")]));
    let row = |model: &str| {
        let scores = columns.iter().map(|(_, output)| score_of(results, model, output));
        let scores: Vec<Option<&Score>> = scores.collect();
        let mut row = vec![model.to_string()];
        row.extend(scores.iter().map(|score| value(*score)));
        row.push(count(scores.iter().copied().flatten()));
        let with_ends = scores.iter().filter(|_| has_intervals);
        let interval = |score: &Option<&Score>| score.and_then(|score| score.interval);
        row.extend(with_ends.flat_map(|score| [0, 1].map(|i| end(interval(score), i))));
        row
    };
    let models = models_with(results, |id| columns.iter().any(|(_, output)| is_output(id, output)));
    write(&header, models.into_iter().map(row))
}

fn smoothness(results: &Results) -> Vec<(&'static str, String)> {
    const COLUMNS: [&str; 3] = ["input_distance", "latent_distance", "ratio"];
    const HEADER: [&str; 5] = [
        "Model",
        "Sample_ID",
        "Pixel_Distance",
        "Latent_Distance",
        "Smoothness_Ratio",
    ];
    let pairs = tables(results, "smoothness").flat_map(|table| {
        let columns = COLUMNS.map(|name| column(table, name).unwrap_or(&[]));
        let count = columns.iter().map(|values| values.len()).fold(0, usize::max);
        (0..count).map(move |i| {
            let numbers = columns.map(|values| number(values.get(i).copied().flatten()));
            [vec![table.model.clone(), i.to_string()], numbers.to_vec()].concat()
        })
    });
    vec![
        (
            "smoothness_summary.csv",
            summary(results, core::Analysis::Smoothness, false),
        ),
        ("smoothness_raw_data.csv", write(&HEADER, pairs)),
    ]
}

fn tables<'a>(results: &'a Results, metric: &'static str) -> impl Iterator<Item = &'a SampleTable> {
    results.samples.iter().filter(move |table| table.metric == metric)
}

/// Distances of the embeddings as they are; those of unit-length and scaled embeddings in further columns.
fn robustness(results: &Results) -> Vec<(&'static str, String)> {
    /// What the file says of the distances at a level, and the columns of the breakdown that hold it.
    const STATISTICS: [(&str, &str); 6] = [
        ("Mean_Distance", "mean"),
        ("Std_Error", "standard_error"),
        ("Std_Dev", "std"),
        ("Min_Distance", "min"),
        ("Max_Distance", "max"),
        ("Median_Distance", "median"),
    ];
    let others = columns(|metric| metric.analysis == core::Analysis::Robustness);
    let mut header = vec!["Model", "Noise_Level"];
    header.extend(STATISTICS.map(|(name, _)| name));
    header.push("Sample_Count");
    header.extend(others.iter().map(|(name, _)| *name));
    let mut summary = Vec::new();
    for table in results.breakdowns.iter().filter(|table| table.metric == "robustness") {
        let [kinds, levels] = &table.keys[..] else { continue };
        let lines = levels.values.iter().enumerate();
        for (line, level) in lines.filter(|(line, _)| kinds.values[*line] == "robustness") {
            let samples = cell(table, "samples", line).map(|samples| format!("{samples:.0}"));
            let of_level = |(_, output): &Column| {
                let id = output.id.replace("@SIGMA", &format!("@{level}"));
                value(results.score(&table.model, &id))
            };
            let mut row = vec![table.model.clone(), level.clone()];
            row.extend(STATISTICS.map(|(_, name)| number(cell(table, name, line))));
            row.push(samples.unwrap_or_default());
            row.extend(others.iter().map(of_level));
            summary.push(row);
        }
    }
    let mut raw = Vec::new();
    for table in tables(results, "robustness") {
        for (name, values) in &table.columns {
            let id = MetricId::from(name);
            let Some(level) = id.at().filter(|_| id.measure() == "robustness") else {
                continue;
            };
            let unit = column(table, &format!("robustness.unit@{level}")).unwrap_or(&[]);
            raw.extend(values.iter().enumerate().map(|(sample, distance)| {
                let on_unit = number(unit.get(sample).copied().flatten());
                let (model, level) = (table.model.clone(), level.to_string());
                vec![model, level, sample.to_string(), number(*distance), on_unit]
            }));
        }
    }
    let of_samples = ["Model", "Noise_Level", "Sample_ID", "Distance", "Unit_Distance"];
    vec![
        ("robustness_summary.csv", write(&header, summary)),
        ("robustness_raw_data.csv", write(&of_samples, raw)),
    ]
}

/// A line for each model and K, with the value and the standard error of each score.
fn neighborhood(results: &Results) -> Vec<(&'static str, String)> {
    let columns = columns(|metric| metric.analysis == core::Analysis::Neighborhood);
    let is_own = |id: &MetricId| columns.iter().any(|(_, output)| is_output(id, output));
    let own = results.scores.iter().filter(|score| is_own(&score.metric));
    let ks = sorted(own.filter_map(|score| score.metric.k()));
    let mut header = vec!["Model".to_string(), "k".to_string()];
    header.extend(
        columns
            .iter()
            .flat_map(|(name, _)| [format!("{name}_mean"), format!("{name}_std")]),
    );
    let mut rows = Vec::new();
    for model in models_with(results, is_own) {
        for k in &ks {
            let at_k = |output: &Output| results.score(model, &output.id.replace("@K", &format!("@{k}")));
            let fields = columns.iter().map(|(_, output)| at_k(output));
            let fields = fields.flat_map(|score| [value(score), standard_error(score)]);
            rows.push([model.to_string(), k.to_string()].into_iter().chain(fields).collect());
        }
    }
    vec![("neighborhood_preservation_summary.csv", write(&header, rows))]
}

/// The scores of the analysis, and what the original scripts report beside them.
fn manifold(results: &Results) -> Vec<(&'static str, String)> {
    const BESIDE: [&str; 6] = [
        "Dimension_Error",
        "Usage_Efficiency_Percent",
        "Max_Eigenvalue",
        "Min_Eigenvalue",
        "Eigenvalue_Count",
        "Sample_Count",
    ];
    let columns = columns(|metric| metric.analysis == core::Analysis::Manifold);
    let mut header = vec!["Model", "Nominal_Dimension"];
    header.extend(columns.iter().map(|(name, _)| *name));
    header.extend(BESIDE);
    let models = models_with(results, |id| {
        id == "dimension_usage" || columns.iter().any(|(_, output)| is_output(id, output))
    });
    let row = |model: &&str| {
        let scores: Vec<Option<&Score>> = columns
            .iter()
            .map(|(_, output)| score_of(results, model, output))
            .collect();
        let usage = results.score(model, "dimension_usage");
        let spectrum = spectrum(results, model);
        let eigenvalues = Some(spectrum.len()).filter(|count| *count > 0);
        let mut row = vec![
            model.to_string(),
            dimension(model, results).map(|d| d.to_string()).unwrap_or_default(),
        ];
        row.extend(scores.iter().map(|score| value(*score)));
        row.extend([
            standard_error(results.score(model, "two_nn")),
            number(usage.and_then(|score| score.value).map(|share| share * 100.0)),
            number(spectrum.first().copied()),
            number(spectrum.last().copied()),
            eigenvalues.map(|count| count.to_string()).unwrap_or_default(),
            count(
                scores
                    .into_iter()
                    .chain([usage])
                    .flatten()
                    .collect::<Vec<_>>()
                    .into_iter(),
            ),
        ]);
        row
    };
    let spectra = models.iter().flat_map(|model| {
        let eigenvalues = spectrum(results, model).into_iter().enumerate();
        eigenvalues.map(|(i, eigenvalue)| vec![model.to_string(), (i + 1).to_string(), exact(eigenvalue)])
    });
    let of_spectra = ["Model", "Eigenvalue_Index", "Eigenvalue"];
    let mut files = vec![
        ("manifold_dimension_summary.csv", write(&header, models.iter().map(row))),
        ("manifold_eigenvalues.csv", write(&of_spectra, spectra)),
    ];
    let around: Vec<Vec<String>> = models.iter().flat_map(|model| around_samples(results, model)).collect();
    if !around.is_empty() {
        let header = ["Model", "Sample_ID", "k", "Intrinsic_Dimension"];
        files.push(("manifold_local_dimensions.csv", write(&header, around)));
    }
    files
}

/// The dimension around each sample of a model, for each number of neighbors.
fn around_samples(results: &Results, model: &str) -> Vec<Vec<String>> {
    let Some(table) = table(results, model, "mle_id") else {
        return Vec::new();
    };
    let rows = column(table, "row");
    let sample = |at: usize| {
        rows.and_then(|rows| rows[at])
            .map_or(at.to_string(), |row| row.to_string())
    };
    let own = table
        .columns
        .iter()
        .filter_map(|(name, values)| Some((MetricId::from(name).k()?, values)));
    let lines = own.flat_map(|(k, values)| {
        let line = move |(at, value): (usize, &Option<f64>)| {
            vec![model.to_string(), sample(at), k.to_string(), number(*value)]
        };
        values.iter().enumerate().map(line)
    });
    lines.collect()
}

/// The number of columns of the embeddings: its own score, or the participation ratio over the share of dimensions it uses.
fn dimension(model: &str, results: &Results) -> Option<usize> {
    let value = |id| results.score(model, id).and_then(|score| score.value);
    let ratio = || Some(value("participation_ratio")? / value("dimension_usage")?);
    let dimension = value("dimension").or_else(ratio)?;
    dimension.is_finite().then_some(dimension.round() as usize)
}

fn geometry(results: &Results) -> Vec<(&'static str, String)> {
    vec![("geometry_summary.csv", summary(results, core::Analysis::Geometry, true))]
}

fn rankme(results: &Results) -> Vec<(&'static str, String)> {
    vec![("rankme_summary.csv", summary(results, core::Analysis::Rankme, false))]
}

/// The names that the reference scripts of CLID and RankMe write, and the scores they stand for: the first that is there.
const OF_SCRIPTS: [(&str, &[&str]); 12] = [
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

fn clid(results: &Results) -> Vec<(&'static str, String)> {
    let own = columns(|metric| metric.id == "clid");
    let models = models_with(results, |id| own.iter().any(|(_, output)| is_output(id, output)));
    // Of what is computed beside it, uniformity belongs to alignment and stands before it.
    let mut beside = columns(|metric| metric.analysis == core::Analysis::Clid && metric.id != "clid");
    let place = beside
        .iter()
        .position(|(_, output)| output.id == "alignment")
        .unwrap_or(0);
    beside.splice(place..place, columns(|metric| metric.id == "uniformity"));
    let names = |columns: &[Column]| columns.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let header = [vec!["Model"], names(&own), vec!["N", "D"], names(&beside)].concat();
    let row = |model: &&str| {
        let field = |(_, output): &Column| value(score_of(results, model, output));
        let side = |side: &str| cell(find(results, model, "shape")?, side, 0).map(|x| x.to_string());
        let mut row = vec![model.to_string()];
        row.extend(own.iter().map(field));
        row.extend(["rows", "columns"].map(|name| side(name).unwrap_or_default()));
        row.extend(beside.iter().map(field));
        row
    };
    // A line per model and score, under the names of the reference scripts; what was not computed is left out.
    let long = models.iter().flat_map(|model| {
        OF_SCRIPTS.iter().filter_map(move |(name, ids)| {
            let score = ids.iter().find_map(|id| results.score(model, id))?;
            Some(vec![model.to_string(), name.to_string(), value(Some(score))])
        })
    });
    let of = |own: &[&str], metric: &'static str| {
        let model = |table: &Breakdown| own.iter().map(|_| table.model.clone()).collect();
        below_each_other(results, own, |table| (table.metric == metric).then(|| model(table)))
    };
    vec![
        ("clid_summary.csv", write(&header, models.iter().map(row))),
        ("clid_runs.csv", of(&["Model"], "clid.cl")),
        ("clid_metrics.csv", write(&["model", "metric", "value"], long)),
        ("performance_correlation.csv", of(&[], "performance")),
        ("weighted_clid.csv", of(&[], "weighted_clid")),
    ]
}

/// The breakdowns that have these fields of their own, below each other.
fn below_each_other(results: &Results, own: &[&str], of: impl Fn(&Breakdown) -> Option<Vec<String>>) -> String {
    let tables = results.breakdowns.iter().filter_map(|table| Some((of(table)?, table)));
    breakdowns::write(own, &tables.collect::<Vec<_>>())
}

/// Every score with the parts of its identity in columns of their own, every label, and which labels are retrieved for which.
fn retrieval(results: &Results) -> Vec<(&'static str, String)> {
    let optional = |k: Option<usize>| k.map(|k| k.to_string()).unwrap_or_default();
    let mut header = vec!["model", "metric", "labels", "direction", "measure", "k", "effective_k"];
    header.extend(&long_header()[2..]);
    let rows = results.scores.iter().filter_map(|score| {
        let id = &score.metric;
        let direction = direction(id)?;
        let mut row = long_row(score);
        let numbers = row.split_off(2);
        row.extend([id.labels().unwrap_or(""), direction, id.measure()].map(str::to_string));
        row.extend([optional(id.k()), optional(score.effective_k)]);
        row.extend(numbers);
        Some(row)
    });
    let of = |measure: &str| {
        let own = |table: &Breakdown| {
            let id = &table.metric;
            let direction = direction(id).filter(|_| id.measure() == measure)?;
            let names = [&table.model, id.labels().unwrap_or(""), direction].map(str::to_string);
            Some([names.to_vec(), vec![optional(id.k())]].concat())
        };
        below_each_other(results, &["model", "labels", "direction", "k"], own)
    };
    vec![
        ("scores.csv", write(&header, rows)),
        ("per_label.csv", of("label_precision")),
        ("confusion.csv", of("label_precision.confusion")),
    ]
}

/// Every head and set, what each set does to each class, and how well each class is recognized.
fn perturb(results: &Results) -> Vec<(&'static str, String)> {
    let runs = Run::all(results);
    let model = |table: &Breakdown| {
        runs.iter()
            .any(|run| run.model == table.model)
            .then(|| table.model.clone())
    };
    let whole = |table: &Breakdown| model(table).filter(|_| table.metric == "pis").map(|model| vec![model]);
    let by = |measure: &str| {
        // Model, head and set of a table `MEASURE.HEAD@SET`.
        let own = |table: &Breakdown| {
            let id = &table.metric;
            let (head, set) = id.head().zip(id.at()).filter(|_| id.measure() == measure)?;
            Some(vec![model(table)?, head.to_string(), set.to_string()])
        };
        below_each_other(results, &["model", "scored", "set"], own)
    };
    vec![
        ("pis.csv", below_each_other(results, &["model"], whole)),
        ("pis_per_class.csv", by("pis")),
        ("accuracy_per_class.csv", by("accuracy")),
    ]
}

/// Every score, the groups of all factors, the bands, and the numbers of single samples without texts.
fn etes(results: &Results) -> Vec<(&'static str, String)> {
    let scores = results.scores.iter().filter(|score| is_of_etes(&score.metric));
    // `factor` says which groups they are, `group` whose line it is.
    let of_factor = |table: &Breakdown| {
        let mut table = table.clone();
        let factor = std::mem::replace(&mut table.keys.first_mut()?.name, "group".to_string());
        Some((vec![table.model.clone(), factor], table))
    };
    let factors = results.breakdowns.iter().filter(|table| table.metric == "etes");
    let factors: Vec<(Vec<String>, Breakdown)> = factors.filter_map(of_factor).collect();
    let groups: Vec<_> = factors.iter().map(|(own, table)| (own.clone(), table)).collect();
    let of_bands = |table: &Breakdown| (table.metric == "etes.bands").then(|| vec![table.model.clone()]);
    let systems = System::all(results);
    let tables = systems
        .iter()
        .map(|system| etes_samples(results, system.name, None, None));
    let tables: Vec<_> = tables.collect();
    let columns = tables.iter().flat_map(|table| &table.columns);
    let columns = distinct(columns.map(|column| column.name.as_str()));
    let rows = tables
        .iter()
        .flat_map(|table| (0..table.rows()).map(move |i| (table, i)));
    let rows = rows.map(|(table, i)| {
        let fields = columns.iter().map(|name| table.field(name, i));
        std::iter::once(table.system.clone()).chain(fields).collect()
    });
    let files = vec![
        ("scores.csv", write(&long_header(), scores.map(long_row))),
        ("groups.csv", breakdowns::write(&["model", "factor"], &groups)),
        ("bands.csv", below_each_other(results, &["model"], of_bands)),
        ("samples.csv", write(&[vec!["model"], columns.clone()].concat(), rows)),
    ];
    files.into_iter().filter(|_| !systems.is_empty()).collect()
}

/// A line for each measure and pair of models, with what shuffled rows give.
fn similarity(results: &Results) -> Vec<(&'static str, String)> {
    let of = |table: &Breakdown| {
        let owner = table.metric.metric()?;
        owner.analysis.is_of_pairs().then(|| vec![table.metric.to_string()])
    };
    vec![("similarity.csv", below_each_other(results, &["measure"], of))]
}

/// A line for each statistic and model, with what rows that change their sets at random give.
fn drift(results: &Results) -> Vec<(&'static str, String)> {
    let of = |table: &Breakdown| {
        let owner = table.metric.metric()?;
        (owner.analysis == core::Analysis::Drift).then(|| vec![table.metric.to_string(), table.model.clone()])
    };
    vec![("drift.csv", below_each_other(results, &["measure", "model"], of))]
}

/// Every score, and CiLISI by class.
fn mixing(results: &Results) -> Vec<(&'static str, String)> {
    let is_own = |id: &MetricId| id.metric().is_some_and(|own| own.analysis == core::Analysis::Mixing);
    let scores = results.scores.iter().filter(|score| is_own(&score.metric));
    let of = |table: &Breakdown| is_own(&table.metric).then(|| vec![table.model.clone()]);
    vec![
        ("mixing.csv", write(&long_header(), scores.map(long_row))),
        ("mixing_classes.csv", below_each_other(results, &["model"], of)),
    ]
}

/// All scores in the long form, because their names depend on the data; and probes of few rows.
fn probe(results: &Results) -> Vec<(&'static str, String)> {
    let is_own = |score: &&Score| {
        score
            .metric
            .metric()
            .is_some_and(|own| own.analysis == core::Analysis::Probe)
    };
    let scores = results.scores.iter().filter(is_own).map(long_row);
    let of = |name: &'static str| {
        move |table: &Breakdown| {
            let is_it = table.metric.split('(').next() == Some(name);
            let set = || {
                [table.model.as_str(), table.metric.labels().unwrap_or_default()]
                    .map(str::to_string)
                    .to_vec()
            };
            is_it.then(set)
        }
    };
    vec![
        ("probe_summary.csv", write(&long_header(), scores)),
        (
            "probe_few_shot.csv",
            below_each_other(results, &["model", "labels"], of("probe.few_shot")),
        ),
        (
            "probe_penalties.csv",
            below_each_other(results, &["model", "labels"], of("probe.penalties")),
        ),
        (
            "probe_penalties_targets.csv",
            below_each_other(results, &["model", "labels"], of("probe.penalties.targets")),
        ),
    ]
}

fn compare(results: &Results) -> Vec<(&'static str, String)> {
    let is_ranking = |table: &&Breakdown| table.metric == RANKING;
    let ranking = results.breakdowns.iter().find(is_ranking);
    let ranking = ranking.map(|table| ("ranking.csv", breakdowns::write(&[], &[(Vec::new(), table)])));
    std::iter::once(("differences.csv", differences(results)))
        .chain(ranking)
        .collect()
}

/// One line per metric and pair of models.
pub(crate) fn differences(results: &Results) -> String {
    /// A column, and what it says of a difference.
    type Field = (&'static str, fn(&Results, &Difference) -> String);
    const FIELDS: [Field; 27] = [
        ("metric", |_, d| d.metric.to_string()),
        ("a", |_, d| d.a.clone()),
        ("b", |_, d| d.b.clone()),
        ("value_a", |all, d| value(all.score(&d.a, &d.metric))),
        ("value_b", |all, d| value(all.score(&d.b, &d.metric))),
        ("difference", |_, d| exact(d.value)),
        ("low", |_, d| end(d.interval, 0)),
        ("high", |_, d| end(d.interval, 1)),
        ("level", |_, d| exact(d.level)),
        ("p", |_, d| number(d.p)),
        ("p_adjusted", |_, d| number(d.p_adjusted)),
        ("better", |_, d| d.better.name().to_string()),
        ("winner", |_, d| text(&d.winner)),
        ("paired", |_, d| yes_no(d.is_paired)),
        ("unit", |_, d| text(&d.unit)),
        ("units", |_, d| d.units.to_string()),
        ("method", |_, d| text(&d.method)),
        ("note", |_, d| text(&d.note)),
        ("standard_error", |_, d| number(d.standard_error)),
        ("freedom", |_, d| number(d.freedom)),
        ("effect_size", |_, d| number(d.effect_size)),
        ("runs_a", |_, d| d.runs[0].to_string()),
        ("runs_b", |_, d| d.runs[1].to_string()),
        ("equivalent_within", |_, d| number(d.equivalent.map(|own| own.within))),
        ("equivalent_p", |_, d| number(d.equivalent.map(|own| own.p))),
        ("equivalent_p_adjusted", |_, d| {
            number(d.equivalent.map(|own| own.p_adjusted))
        }),
        ("equivalent", |_, d| {
            d.equivalent.map(|own| yes_no(own.holds)).unwrap_or_default()
        }),
    ];
    let row = |d: &Difference| FIELDS.map(|(_, field)| field(results, d)).to_vec();
    write(&FIELDS.map(|(name, _)| name), results.differences.iter().map(row))
}

/// How many units the first score with a value was computed from, or else the first of all.
fn count<'a>(scores: impl Iterator<Item = &'a Score> + Clone) -> String {
    let with_value = scores.clone().find(|score| score.value.is_some());
    let first = with_value.or_else(|| scores.clone().next());
    first.map(|score| score.n.to_string()).unwrap_or_default()
}

fn value(score: Option<&Score>) -> String {
    number(score.and_then(|score| score.value))
}

fn standard_error(score: Option<&Score>) -> String {
    number(score.and_then(|score| score.standard_error))
}

/// An end of an interval.
fn end(interval: Option<[f64; 2]>, i: usize) -> String {
    number(interval.map(|ends| ends[i]))
}

fn text(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}

fn yes_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_string()
}

pub(crate) fn number(x: Option<f64>) -> String {
    x.map(exact).unwrap_or_default()
}
