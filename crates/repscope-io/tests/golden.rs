// SPDX-License-Identifier: MIT
//! The golden cases: inputs as NumPy wrote them, answers as scikit-learn, SciPy, scikit-dimension, ZADU, ranx and
//! NumPy gave them (see `golden/README.md`). Every tolerance is stored beside its value, with where it comes from.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use repscope_core::metrics::{self, accuracy_of_split, agreement};
use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Direction, Distance, Error, LabelSet, Labels, METRICS, Metric, Pairs, Results, Retrieval, Similarity,
    Space, Spec, Study, evaluate, retrieve,
};
use repscope_io::{Data, InputPath, Pool, list_arrays, read_array};
use serde::Deserialize;

/// What `generate.py` says it wrote: an empty or half-empty folder must not pass.
const CASES: usize = 118;
const VALUES: usize = 2721;
const UNDEFINED: usize = 92;

#[test]
fn every_golden_value_is_reproduced_within_its_tolerance() {
    let mut report = Report::default();
    for case in cases() {
        check(&case, &mut report);
    }
    let problems = &report.problems;
    assert!(
        problems.is_empty(),
        "{} mismatches:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert_eq!(
        (report.cases, report.values, report.undefined),
        (CASES, VALUES, UNDEFINED)
    );
}

#[test]
fn every_output_of_every_metric_has_a_golden_value() {
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    for case in cases() {
        for expected in case.document.expected.iter().filter(|e| e.of.part.is_none()) {
            match metrics::find(&expected.of.metric) {
                Some((_, Some(output))) => {
                    covered.insert(output.id);
                }
                // The curve `spectrum` begins with `spectrum.max` and ends with `spectrum.min`.
                Some((metric, None)) => covered.extend(metric.outputs.iter().map(|o| o.id)),
                None => panic!("{}: no metric is called {}", case.document.case, expected.of.metric),
            }
        }
    }
    let declared = METRICS.iter().flat_map(|m| m.outputs).map(|o| o.id);
    let bare: Vec<&str> = declared.filter(|id| !covered.contains(id)).collect();
    assert!(bare.is_empty(), "without a golden value: {bare:?}");
}

/// `expected.json`.
#[derive(Deserialize)]
struct Document {
    case: String,
    options: Options,
    expected: Vec<Expected>,
    undefined: Vec<Undefined>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    k: Option<Vec<usize>>,
    clusters: Option<usize>,
    knn_k: Option<usize>,
    t: Option<f64>,
    distance: Option<String>,
    directions: Option<Vec<String>>,
    similarity: Option<String>,
}

/// What a stored value is a value of: a score, or a part of it.
#[derive(Deserialize)]
struct Place {
    metric: String,
    part: Option<Part>,
    /// The names that lead a line of a breakdown.
    row: Option<Vec<String>>,
    column: Option<String>,
}

#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Part {
    Chance,
    N,
    EffectiveK,
    StandardError,
    /// A number of a breakdown.
    Cell,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(flatten)]
    of: Place,
    value: Value,
    tolerance: f64,
    kind: Kind,
    library: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Curve(Vec<f64>),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Absolute,
    Relative,
}

#[derive(Deserialize)]
struct Undefined {
    #[serde(flatten)]
    of: Place,
}

/// A case on disk.
struct Case {
    input: PathBuf,
    keys: BTreeSet<String>,
    document: Document,
}

#[derive(Default)]
struct Report {
    cases: usize,
    values: usize,
    undefined: usize,
    problems: Vec<String>,
}

/// What our side says of one metric.
enum Answer {
    Number(f64),
    Curve(Vec<f64>),
    /// No value, and why.
    None(String),
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/cases");
    let mut found = Vec::new();
    for family in folders(&root) {
        for folder in folders(&family) {
            let text = std::fs::read_to_string(folder.join("expected.json")).expect("every case has its answers");
            let input = folder.join("input.npz");
            let arrays = list_arrays(&input).expect("NumPy wrote it");
            found.push(Case {
                keys: arrays.into_iter().filter_map(|a| a.key).collect(),
                document: serde_json::from_str(&text).expect("the format of golden/README.md"),
                input,
            });
        }
    }
    found
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).expect("golden/cases is part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder").path()).collect();
    paths.retain(|p| p.is_dir());
    paths.sort();
    paths
}

fn check(case: &Case, report: &mut Report) {
    let name = &case.document.case;
    report.cases += 1;
    // One run answers everything that is asked of a retrieval.
    let found = case.document.options.directions.as_ref().map(|d| retrieved(case, d));
    let ask = |place: &Place| match &found {
        Some(results) => part_of(results, place, name),
        None => answer(case, &place.metric),
    };
    for expected in &case.document.expected {
        report.values += 1;
        let what = format!("{name}: {} ({})", expected.of, expected.library);
        match (&expected.value, ask(&expected.of)) {
            (Value::Number(wanted), Answer::Number(got)) => {
                compare(&what, *wanted, got, expected, &mut report.problems);
            }
            (Value::Curve(wanted), Answer::Curve(got)) if wanted.len() == got.len() => {
                for (place, (w, g)) in wanted.iter().zip(&got).enumerate() {
                    compare(&format!("{what} at {place}"), *w, *g, expected, &mut report.problems);
                }
            }
            (_, Answer::None(reason)) => report.problems.push(format!("{what}: no value, {reason}")),
            (_, Answer::Curve(got)) => report.problems.push(format!("{what}: a curve of {}", got.len())),
            (_, Answer::Number(got)) => report.problems.push(format!("{what}: a number, {got}")),
        }
    }
    for undefined in &case.document.undefined {
        report.undefined += 1;
        let what = format!("{name}: {}", undefined.of);
        match ask(&undefined.of) {
            Answer::None(reason) if !reason.is_empty() => {}
            Answer::None(_) => report.problems.push(format!("{what} has no reason")),
            Answer::Number(got) => report.problems.push(format!("{what} is {got} but must not exist")),
            Answer::Curve(_) => report.problems.push(format!("{what} is a curve")),
        }
    }
}

fn compare(what: &str, wanted: f64, got: f64, expected: &Expected, problems: &mut Vec<String>) {
    let allowed = match expected.kind {
        Kind::Absolute => expected.tolerance,
        Kind::Relative => expected.tolerance * wanted.abs(),
    };
    let difference = (got - wanted).abs();
    if difference.is_nan() || difference > allowed {
        problems.push(format!(
            "{what}: expected {wanted:e}, got {got:e}, difference {difference:.1e}, allowed {allowed:.1e}"
        ));
    }
}

/// Our answer, by the function that fits what the case holds.
fn answer(case: &Case, metric: &str) -> Answer {
    if case.keys.contains("a") {
        let (nmi, ami) = match agreement(&labels(case, "a"), &labels(case, "b")) {
            Some(both) => both,
            None => return Answer::None("a labeling has a single class".to_string()),
        };
        return Answer::Number(if metric == "nmi" { nmi } else { ami });
    }
    if case.keys.contains("train") {
        let k = case.document.options.knn_k.expect("a k-NN case says its k");
        let split = accuracy_of_split(&space(case, "latent"), &labels(case, "labels"), &train(case), k);
        return Answer::Number(split.expect("a valid split"));
    }
    let (asked, _) = metrics::find(metric).expect("a metric of ours");
    match evaluate(
        &[study(case)],
        &[asked],
        &spec(case, metric),
        &Driver::silent(Order::Parallel),
    ) {
        Ok(results) => read(&results, asked, metric),
        // A k that leaves nothing to rank is refused before any work, with both numbers.
        Err(Error::Input(reason)) => Answer::None(reason),
        Err(error) => panic!("{}: {error}", case.document.case),
    }
}

fn read(results: &Results, asked: &Metric, metric: &str) -> Answer {
    if metric == "spectrum" {
        let curve = &results.curves[0].y;
        let end = |id: &str| results.score("golden", id).expect("a declared output").value;
        assert_eq!(end("spectrum.max"), curve.first().copied());
        assert_eq!(end("spectrum.min"), curve.last().copied());
        return Answer::Curve(curve.clone());
    }
    let score = results.score("golden", metric);
    let score = score.unwrap_or_else(|| panic!("{} does not answer {metric}", asked.id));
    match score.value {
        Some(value) => Answer::Number(value),
        None => Answer::None(score.reason.clone().unwrap_or_default()),
    }
}

/// What the retrieval of a case answers, over all its directions and K.
fn retrieved(case: &Case, directions: &[String]) -> Results {
    let options = &case.document.options;
    let spec = Spec {
        retrieval_k: options.k.clone().expect("a retrieval case says its K"),
        similarity: match options.similarity.as_deref() {
            Some("dot") => Similarity::Dot,
            None => Similarity::Cosine,
            Some(other) => panic!("{}: unknown similarity {other}", case.document.case),
        },
        ..Spec::default()
    };
    let metrics = Analysis::Retrieval.metrics();
    let results = retrieve(
        &[retrieval(case, directions)],
        &metrics,
        &spec,
        &Driver::silent(Order::Parallel),
    );
    results.unwrap_or_else(|error| panic!("{}: {error}", case.document.case))
}

fn retrieval(case: &Case, directions: &[String]) -> Retrieval {
    let mut names: Vec<&str> = Vec::new();
    let mut number_of = |name| match names.iter().position(|n| *n == name) {
        Some(place) => place,
        None => {
            names.push(name);
            names.len() - 1
        }
    };
    let sides = directions.iter().map(|d| d.split_once('2').expect("two spaces"));
    let directions = sides.map(|(query, target)| Direction {
        query: number_of(query),
        target: number_of(target),
    });
    let directions: Vec<Direction> = directions.collect();
    // A space with labels of its own stands for other samples than the rest.
    let own_labels = |name: &str| Some(format!("{name}_labels")).filter(|key| case.keys.contains(key));
    let sets = case.keys.iter().filter(|k| *k == "labels" || k.starts_with("labels_"));
    let label_sets = sets.map(|key| LabelSet {
        name: key.strip_prefix("labels_").map(str::to_string),
        of_space: names
            .iter()
            .map(|name| Arc::new(labels(case, &own_labels(name).unwrap_or_else(|| key.clone()))))
            .collect(),
    });
    Retrieval {
        model: "golden".to_string(),
        label_sets: label_sets.collect(),
        spaces: names.iter().map(|name| Arc::new(space(case, name))).collect(),
        is_aligned: names.iter().map(|name| own_labels(name).is_none()).collect(),
        directions,
    }
}

/// A score of a retrieval, or what stands beside it.
fn part_of(results: &Results, place: &Place, case: &str) -> Answer {
    if let Some(Part::Cell) = place.part {
        return cell(results, place, case);
    }
    let score = results.score("golden", &place.metric);
    let score = score.unwrap_or_else(|| panic!("{case}: nothing answers {place}"));
    let number = match place.part {
        None => score.value,
        Some(Part::Chance) => score.chance,
        Some(Part::EffectiveK) => score.effective_k.map(|k| k as f64),
        Some(Part::StandardError) => score.standard_error,
        Some(Part::N | Part::Cell) => Some(score.n as f64),
    };
    match number {
        Some(number) => Answer::Number(number),
        None => Answer::None(score.reason.clone().unwrap_or_default()),
    }
}

/// A number of a breakdown. The line and the column must be there; the cell may be empty.
fn cell(results: &Results, place: &Place, case: &str) -> Answer {
    let missing = |what: &str| -> ! { panic!("{case}: no {what} for {place}") };
    let mut tables = results.breakdowns.iter();
    let table = tables.find(|b| b.metric == place.metric);
    let table = table.unwrap_or_else(|| missing("breakdown"));
    let wanted = place.row.as_deref().unwrap_or_else(|| missing("row"));
    let lines = table.keys.first().map_or(0, |key| key.values.len());
    let line = (0..lines).find(|&line| table.keys.iter().map(|k| &k.values[line]).eq(wanted));
    let line = line.unwrap_or_else(|| missing("line"));
    let column = table.columns.iter().find(|c| Some(&c.name) == place.column.as_ref());
    match column.unwrap_or_else(|| missing("column")).values[line] {
        Some(number) => Answer::Number(number),
        None => Answer::None("an empty cell".to_string()),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        if let Some(part) = self.part {
            write!(f, ", {part:?}")?;
        }
        if let (Some(row), Some(column)) = (&self.row, &self.column) {
            write!(f, " {column} of {}", row.join(", "))?;
        }
        Ok(())
    }
}

fn spec(case: &Case, metric: &str) -> Spec {
    let (options, default) = (&case.document.options, Spec::default());
    // One k at a time: a case may list some that must be refused.
    let k = metric
        .split_once('@')
        .map(|(_, k)| vec![k.parse().expect("a whole number")]);
    if let (Some(k), Some(listed)) = (&k, &options.k) {
        assert!(
            listed.contains(&k[0]),
            "{}: {metric} is not among its k",
            case.document.case
        );
    }
    Spec {
        k: k.unwrap_or(default.k),
        clusters: options.clusters.unwrap_or(default.clusters),
        t: options.t.unwrap_or(default.t),
        distance: match options.distance.as_deref() {
            Some("cosine") => Distance::Cosine,
            None => Distance::Euclidean,
            Some(other) => panic!("{}: unknown distance {other}", case.document.case),
        },
        ..Spec::default()
    }
}

fn study(case: &Case) -> Study {
    let has = |key: &str| case.keys.contains(key);
    if has("next_input") {
        let latent = stack(&space(case, "latent"), &space(case, "next_latent"));
        let input = stack(&space(case, "input"), &space(case, "next_input"));
        let pairs = Pairs::stacked(latent.rows() / 2, None);
        return Study {
            input: Some(Arc::new(input)),
            pairs: Some(Arc::new(pairs)),
            ..Study::new("golden", latent)
        };
    }
    let latent = space(case, "latent");
    let episodes = has("episodes").then(|| {
        let array = read_array(&at(case, "episodes")).expect("episodes of NumPy");
        array.into_episodes("episodes").expect("names or whole numbers")
    });
    Study {
        input: has("input").then(|| Arc::new(space(case, "input"))),
        labels: has("labels").then(|| Arc::new(labels(case, "labels"))),
        pairs: has("input").then(|| Arc::new(Pairs::consecutive(latent.rows(), episodes.as_ref()))),
        episodes: episodes.map(Arc::new),
        ..Study::new("golden", latent)
    }
}

/// The rows of one space above those of another.
fn stack(above: &Space, below: &Space) -> Space {
    let columns = above.columns();
    let mut values = vec![0.0; (above.rows() + below.rows()) * columns];
    let (first, second) = values.split_at_mut(above.rows() * columns);
    for (space, part) in [(above, first), (below, second)] {
        for (i, row) in part.chunks_exact_mut(columns).enumerate() {
            space.read_row(i, row);
        }
    }
    Space::from_f64(above.name(), above.rows() + below.rows(), columns, values).expect("finite numbers")
}

fn at(case: &Case, key: &str) -> InputPath {
    InputPath {
        path: case.input.clone(),
        key: Some(key.to_string()),
    }
}

fn space(case: &Case, key: &str) -> Space {
    let array = read_array(&at(case, key)).expect("an array of NumPy");
    array.into_space(key, Pool::Last).expect("finite numbers")
}

fn labels(case: &Case, key: &str) -> Labels {
    let array = read_array(&at(case, key)).expect("an array of NumPy");
    array.into_labels(key).expect("names or whole numbers")
}

fn train(case: &Case) -> Vec<bool> {
    match read_array(&at(case, "train")).expect("an array of NumPy").data() {
        Data::Bool(trains) => trains.clone(),
        other => panic!("{}: train is {other:?}", case.document.case),
    }
}
