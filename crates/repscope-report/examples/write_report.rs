// SPDX-License-Identifier: MIT
//! Evaluates arrays and writes `report.html`, to look at it:
//!
//!     cargo run -p repscope-report --example write_report -- OUT.html [STATES LABELS NAME=CODES …]
//!
//! Without arrays it takes the digits of `examples/`; with the word `halves`, a retrieval between halves of digits.

use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Direction, LabelSet, Labels, Pairs, Performance, Results, Retrieval, Space, Spec, Study, compare,
    draw_maps, evaluate, relate, retrieve,
};
use repscope_io::{InputPath, InputRecord, Pool, read_array, write_whole};
use repscope_report::{InputLine, Page, figures, report_html};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Reads arrays and remembers which.
#[derive(Default)]
struct Files {
    read: Vec<InputLine>,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = arguments.first().ok_or("where to? give the name of an HTML file")?;
    let mut files = Files::default();
    let spec = Spec {
        retrieval_k: vec![1, 5, 10, 50],
        ..Spec::default()
    };
    let mut results = match arguments.get(1..) {
        Some([states, labels, models @ ..]) if !models.is_empty() => {
            of_codes(&mut files, states, labels, models, &spec)?
        }
        Some([word]) if word == "halves" => of_halves(&mut files, &spec)?,
        _ => {
            let digits = |name: &str| format!("{}/../../examples/digits/{name}.npy", env!("CARGO_MANIFEST_DIR"));
            let models = ["pca16", "tanh16", "noise16", "collapsed16"].map(|name| format!("{name}={}", digits(name)));
            of_codes(&mut files, &digits("states"), &digits("labels"), &models, &spec)?
        }
    };
    compare(&mut results, &spec);
    let html = report_html(&Page {
        title: "Representations of images",
        command: "repscope evaluate --states states.npy --labels labels.npy",
        version: env!("CARGO_PKG_VERSION"),
        spec: &serde_json::to_value(&spec)?,
        inputs: &files.read,
        results: &results,
        figures: &figures(&results, "evaluate"),
    });
    write_whole(Path::new(out), html.as_bytes())?;
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

/// Every analysis of some models' codes; with three models or more, also how their scores go with a performance.
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

/// A retrieval between the left and the right halves of digits.
fn of_halves(files: &mut Files, spec: &Spec) -> Outcome<Results> {
    let file = |name: &str| format!("{}/../../examples/halves/{name}.npy", env!("CARGO_MANIFEST_DIR"));
    let labels = files.labels(&file("digit"))?;
    let spaces = ["left", "right"].map(|name| files.space(&file(name), name).map(Arc::new));
    let [left, right] = spaces;
    let retrieval = Retrieval {
        model: "embeddings".to_string(),
        spaces: vec![left?, right?],
        is_aligned: vec![true, true],
        label_sets: vec![LabelSet {
            name: None,
            of_space: vec![labels.clone(), labels],
        }],
        directions: vec![Direction { query: 0, target: 1 }, Direction { query: 1, target: 0 }],
    };
    let metrics = Analysis::Retrieval.metrics();
    Ok(retrieve(
        &[retrieval],
        &metrics,
        spec,
        &Driver::silent(Order::Parallel),
    )?)
}
