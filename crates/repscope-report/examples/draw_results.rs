// SPDX-License-Identifier: MIT
//! Evaluates arrays and draws every figure of the results, to look at them:
//!
//!     cargo run -p repscope-report --example draw_results -- OUT [STATES LABELS NAME=CODES …]
//!
//! Without arrays it takes those of `examples/`: codes of handwritten digits, and a retrieval between their halves.

use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Direction, LabelSet, Labels, Pairs, Performance, Results, Retrieval, Space, Spec, Study, draw_maps,
    evaluate, relate, retrieve,
};
use repscope_figures::{Style, to_png, to_svg};
use repscope_io::{InputPath, Pool, read_array, write_whole};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = PathBuf::from(arguments.first().ok_or("where to? give a folder")?);
    let (results, searched) = match arguments.get(1..) {
        Some([states, labels, models @ ..]) if !models.is_empty() => (of_codes(states, Some(labels), models)?, None),
        _ => {
            let digits = |name: &str| format!("{}/../../examples/digits/{name}", env!("CARGO_MANIFEST_DIR"));
            let models = ["pca16", "tanh16", "noise16", "collapsed16"];
            let models = models.map(|name| format!("{name}={}", digits(&format!("{name}.npy"))));
            let results = of_codes(&digits("states.npy"), Some(&digits("labels.npy")), &models)?;
            (results, Some(of_halves()?))
        }
    };
    for results in std::iter::once(&results).chain(&searched) {
        for figure in repscope_report::figures(results, "evaluate") {
            let path = out.join(&figure.path);
            write_whole(
                &path.with_extension("svg"),
                to_svg(&figure.figure, &Style::default()).as_bytes(),
            )?;
            write_whole(&path.with_extension("png"), &to_png(&figure.figure, &Style::default())?)?;
            write_whole(&path.with_extension("txt"), figure.figure.description.as_bytes())?;
        }
    }
    Ok(())
}

fn space(path: &str, name: &str) -> Result<Space, Box<dyn Error>> {
    Ok(read_array(&InputPath::parse(path))?.into_space(name, Pool::Flatten)?)
}

fn labels(path: &str) -> Result<Arc<Labels>, Box<dyn Error>> {
    Ok(Arc::new(read_array(&InputPath::parse(path))?.into_labels("labels")?))
}

/// Every analysis of some models' codes; with three models or more, also how their scores go with a performance.
fn of_codes(states: &str, classes: Option<&str>, models: &[String]) -> Result<Results, Box<dyn Error>> {
    let input = Arc::new(space(states, "states")?);
    let classes = classes.map(labels).transpose()?;
    let pairs = Arc::new(Pairs::consecutive(input.rows(), None));
    let driver = Driver::silent(Order::Parallel);
    let mut studies = Vec::new();
    for model in models {
        let (name, path) = model.split_once('=').ok_or("a model is NAME=CODES")?;
        studies.push(Study {
            input: Some(input.clone()),
            labels: classes.clone(),
            pairs: Some(pairs.clone()),
            ..Study::new(name, space(path, name)?)
        });
    }
    let metrics: Vec<_> = repscope_core::METRICS
        .iter()
        .copied()
        .filter(|metric| metric.is_of_studies())
        .collect();
    // Alignment needs a second view of every sample.
    let metrics: Vec<_> = metrics.into_iter().filter(|metric| metric.id != "alignment").collect();
    let spec = Spec::default();
    let mut results = evaluate(&studies, &metrics, &spec, &driver)?;
    let accuracy = |study: &Study| {
        let score = results.score(&study.model, "knn_accuracy@5")?;
        Some((study.model.clone(), score.value?))
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
        relate(&mut results, &metrics.collect::<Vec<_>>(), &performance, &spec)?;
    }
    draw_maps(&mut results, &studies, &driver);
    Ok(results)
}

/// A retrieval between the left and the right halves of digits, and from prototypes.
fn of_halves() -> Result<Results, Box<dyn Error>> {
    let file = |name: &str| format!("{}/../../examples/halves/{name}.npy", env!("CARGO_MANIFEST_DIR"));
    let sets = [("digit", "digit"), ("parity", "parity")];
    let direction = |query, target| Direction { query, target };
    let spaces = ["left", "right"].map(|name| space(&file(name), name).map(Arc::new));
    let [left, right] = spaces;
    let retrieval = Retrieval {
        model: "embeddings".to_string(),
        spaces: vec![left?, right?],
        is_aligned: vec![true, true],
        label_sets: sets
            .iter()
            .map(|(name, path)| {
                let labels = labels(&file(path))?;
                Ok(LabelSet {
                    name: Some(name.to_string()),
                    of_space: vec![labels.clone(), labels],
                })
            })
            .collect::<Result<_, Box<dyn Error>>>()?,
        directions: vec![direction(0, 1), direction(1, 0), direction(0, 0), direction(1, 1)],
    };
    let spec = Spec {
        retrieval_k: vec![1, 5, 10, 50, 100],
        ..Spec::default()
    };
    let metrics = Analysis::Retrieval.metrics();
    Ok(retrieve(
        &[retrieval],
        &metrics,
        &spec,
        &Driver::silent(Order::Parallel),
    )?)
}
