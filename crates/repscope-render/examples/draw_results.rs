// SPDX-License-Identifier: MIT
//! Evaluates arrays, draws every figure of the results for one column and for two, and writes `report.html`, to look at them:
//!
//!     cargo run -p repscope-render --example draw_results -- OUT [STATES LABELS NAME=CODES …]
//!
//! Without arrays it takes those of `examples/`: embeddings of handwritten digits and, in `OUT/halves`, a retrieval between their
//! halves.

use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Direction, LabelSet, Labels, Pairs, Performance, Results, Retrieval, Space, Spec, Study, compare,
    draw_maps, evaluate, relate, retrieve,
};
use repscope_figures::{Style, Width, to_png, to_svg};
use repscope_io::{InputPath, InputRecord, Pool, read_array, write_whole};
use repscope_render::{InputLine, NamedFigure, Page, figures, report_html};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Reads arrays and remembers which.
#[derive(Default)]
struct Files {
    read: Vec<InputLine>,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = PathBuf::from(arguments.first().ok_or("where to? give a folder")?);
    let spec = Spec {
        retrieval_k: vec![1, 5, 10, 50, 100],
        ..Spec::default()
    };
    let mut files = Files::default();
    if let Some([states, labels, models @ ..]) = arguments.get(1..)
        && !models.is_empty()
    {
        let results = of_codes(&mut files, states, labels, models, &spec)?;
        return deliver(&out, results, &files, &spec);
    }
    let digits = |name: &str| format!("{}/../../examples/digits/{name}.npy", env!("CARGO_MANIFEST_DIR"));
    let models = ["pca16", "tanh16", "noise16", "collapsed16"].map(|name| format!("{name}={}", digits(name)));
    let results = of_codes(&mut files, &digits("states"), &digits("labels"), &models, &spec)?;
    deliver(&out, results, &files, &spec)?;
    let mut files = Files::default();
    let results = of_halves(&mut files, &spec)?;
    deliver(&out.join("halves"), results, &files, &spec)
}

fn deliver(out: &Path, mut results: Results, files: &Files, spec: &Spec) -> Outcome<()> {
    compare(&mut results, spec, &Driver::silent(Order::Parallel));
    let figures = figures(&results, "evaluate");
    for NamedFigure { path, figure } in &figures {
        for (ending, width) in [("", Width::TwoColumns), ("_narrow", Width::OneColumn)] {
            let style = Style {
                width,
                ..Style::default()
            };
            let file = |extension: &str| out.join(format!("{path}{ending}.{extension}"));
            write_whole(&file("svg"), to_svg(figure, &style).as_bytes())?;
            write_whole(&file("png"), &to_png(figure, &style)?)?;
        }
        write_whole(&out.join(format!("{path}.txt")), figure.description.as_bytes())?;
    }
    let html = report_html(&Page {
        analysis: None,
        title: "Representations of images",
        command: "repscope evaluate --states states.npy --labels labels.npy",
        version: env!("CARGO_PKG_VERSION"),
        spec: &serde_json::to_value(spec)?,
        inputs: &files.read,
        results: &results,
        figures: &figures,
        pictures: &Default::default(),
    });
    write_whole(&out.join("report.html"), html.as_bytes())?;
    Ok(())
}

impl Files {
    fn array(&mut self, path: &str) -> Outcome<repscope_io::Array> {
        let input = InputPath::parse(path);
        let array = read_array(&input)?;
        let InputRecord {
            shape, dtype, digest, ..
        } = InputRecord::of(&input, &array)?;
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        self.read.push(InputLine {
            path: name.into_owned(),
            shape: shape.join(" × "),
            dtype,
            digest,
            about: String::new(),
        });
        Ok(array)
    }

    fn space(&mut self, path: &str, name: &str) -> Outcome<Space> {
        Ok(self.array(path)?.into_space(name, Pool::Flatten)?)
    }

    fn labels(&mut self, path: &str) -> Outcome<Arc<Labels>> {
        Ok(Arc::new(self.array(path)?.into_labels("labels")?))
    }
}

/// Every analysis of some models' embeddings; with three models or more, also how their scores go with a performance.
fn of_codes(files: &mut Files, states: &str, labels: &str, models: &[String], spec: &Spec) -> Outcome<Results> {
    let input = Arc::new(files.space(states, "states")?);
    let labels = files.labels(labels)?;
    let pairs = Arc::new(Pairs::consecutive(input.rows(), None));
    let driver = Driver::silent(Order::Parallel);
    let mut studies = Vec::new();
    for model in models {
        let (name, path) = model.split_once('=').ok_or("a model is NAME=CODES")?;
        studies.push(Study {
            input: Some(input.clone()),
            labels: Some(labels.clone()),
            pairs: Some(pairs.clone()),
            ..Study::new(name, files.space(path, name)?)
        });
    }
    // Alignment needs a second view of every sample.
    let metrics = repscope_core::METRICS.iter().copied();
    let metrics: Vec<_> = metrics
        .filter(|metric| metric.is_of_studies() && metric.id != "alignment")
        .collect();
    let mut results = evaluate(&studies, &metrics, spec, &driver)?;
    let accuracy = |study: &Study| {
        Some((
            study.model.clone(),
            results.score(&study.model, "knn_accuracy@5")?.value?,
        ))
    };
    let performance = Performance {
        name: "accuracy".to_string(),
        of_model: studies.iter().filter_map(accuracy).collect(),
    };
    if performance.of_model.len() > 2 {
        let metrics = Analysis::Clid
            .metrics()
            .into_iter()
            .filter(|metric| !metric.is_of_studies());
        relate(&mut results, &metrics.collect::<Vec<_>>(), &performance, spec)?;
    }
    draw_maps(&mut results, &studies, &driver);
    Ok(results)
}

/// A retrieval between the left and the right halves of digits, and within each.
fn of_halves(files: &mut Files, spec: &Spec) -> Outcome<Results> {
    let file = |name: &str| format!("{}/../../examples/halves/{name}.npy", env!("CARGO_MANIFEST_DIR"));
    let sets = [("digit", "digit"), ("parity", "parity")];
    let direction = |query, target| Direction { query, target };
    let spaces = ["left", "right"].map(|name| files.space(&file(name), name).map(Arc::new));
    let [left, right] = spaces;
    let retrieval = Retrieval {
        model: "embeddings".to_string(),
        spaces: vec![left?, right?],
        is_aligned: vec![true, true],
        groups: Vec::new(),
        label_sets: sets
            .iter()
            .map(|(name, path)| {
                let labels = files.labels(&file(path))?;
                Ok(LabelSet {
                    name: Some(name.to_string()),
                    of_space: vec![labels.clone(), labels],
                })
            })
            .collect::<Outcome<_>>()?,
        directions: vec![direction(0, 1), direction(1, 0), direction(0, 0), direction(1, 1)],
    };
    let metrics = Analysis::Retrieval.metrics();
    Ok(retrieve(
        &[retrieval],
        &metrics,
        spec,
        &Driver::silent(Order::Parallel),
    )?)
}
