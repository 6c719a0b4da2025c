// SPDX-License-Identifier: MIT
//! `repscope bench`: what the scripts in benches/ call. Hidden, because users have no need of it.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use repscope_core::masking::show_all;
use repscope_core::metrics::find;
use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Direction, LabelSet, Labels, Retrieval, Score, Space, Spec, Study, compare, evaluate, nearest_neighbors,
    random, retrieve, similarity,
};
use repscope_io::{Data, InputPath, Pool, read_array, write_indices};
use serde_json::{Map, Value, json};

use repscope::encoding::{Model, Seen};
use repscope::inputs::{Distances, Inputs, Needs};
use repscope::options::{Data as Sources, Machine, Settings};
use repscope::reader::Reader;
use repscope::source::Place;
use repscope::{Problems, Session};

use crate::args::{self, BenchJob, Comparisons, Knn, Masks};
use crate::progress::Bars;
use crate::{outputs, session, start_threads};

pub fn run(job: &BenchJob) -> Result<ExitCode> {
    let (machine, bench): (&Machine, Box<dyn Fn() -> Result<Value>>) = match job {
        BenchJob::Knn(options) => (&options.machine, Box::new(|| knn(options))),
        BenchJob::Metric(options) => (&options.machine, Box::new(|| metrics(options))),
        BenchJob::Encode(options) => (&options.machine, Box::new(|| encode(options))),
        BenchJob::Masks(options) => (&options.machine, Box::new(|| masks(options))),
        BenchJob::Comparisons(options) => (&options.machine, Box::new(|| comparisons(options))),
        BenchJob::Retrieval(options) => (&options.machine, Box::new(|| retrieval(options))),
    };
    start_threads(machine)?;
    outputs::print(&bench()?.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn knn(options: &Knn) -> Result<Value> {
    let (path, k) = (&options.path, options.k);
    let space = read_array(&InputPath::parse(path))?.into_space(path, Pool::Flatten)?;
    let start = Instant::now();
    let (rows, distances) = nearest_neighbors(&space, k, &session(&Bars::new(true)).driver())?;
    let seconds = start.elapsed().as_secs_f64();
    let farthest: f64 = distances.iter().skip(k - 1).step_by(k).sum();
    if let Some(output) = &options.output {
        write_indices(output, &[space.rows(), k], &rows)?;
    }
    Ok(json!({
        "case": "knn", "n": space.rows(), "d": space.columns(), "k": k, "seconds": seconds,
        "answer": {"mean k-th distance": farthest / space.rows() as f64},
    }))
}

fn metrics(options: &args::Metric) -> Result<Value> {
    let data = Sources {
        states: options.states.clone(),
        labels: options.labels.clone(),
        targets: options.targets.clone(),
        ..options.models.data()
    };
    let needs = Needs {
        models: true,
        distances: Distances::Required,
    };
    let mut problems = Problems::default();
    let inputs = Inputs::read(&data, needs, &options.machine, &Session::silent(), &mut problems);
    problems.refuse()?;
    let inputs = inputs.unwrap_or_default();
    let mut found = Vec::new();
    for metric in &options.metrics {
        let Some((metric, _)) = find(metric) else {
            bail!("there is no metric `{metric}`");
        };
        found.push(metric);
    }
    let settings = Settings {
        machine: options.machine.clone(),
        ..Settings::default()
    };
    let spec = Spec {
        k: options.k.clone(),
        clusters: options.clusters,
        restarts: options.restarts,
        sample: options.sample,
        ..settings.spec()?
    };
    let start = Instant::now();
    let bars = Bars::new(false);
    let are_of_pairs = found.iter().all(|metric| metric.analysis.is_of_pairs());
    let compute = if are_of_pairs { similarity } else { evaluate };
    let results = compute(&inputs.studies, &found, &spec, &session(&bars).driver())?;
    let seconds = start.elapsed().as_secs_f64();
    // Of several pairs the first answers.
    let first = results.scores.first().map(|score| &score.model);
    let shown = results.scores.iter();
    let answer = answer(shown.filter(|score| !are_of_pairs || Some(&score.model) == first));
    Ok(json!({"case": options.metrics.join("+"), "seconds": seconds, "answer": answer}))
}

/// The values of scores by their names.
fn answer<'a>(scores: impl Iterator<Item = &'a Score>) -> Map<String, Value> {
    scores
        .map(|score| (score.metric.to_string(), json!(score.value)))
        .collect()
}

fn encode(options: &args::BenchEncode) -> Result<Value> {
    let mut reader = Reader::new(&[]);
    let seen = Seen::open(&Place::File(InputPath::parse(&options.input)), false, &mut reader)?;
    let mut model = Model::open(&InputPath::parse(&options.encoder), &options.options, &options.machine)?;
    let driver = Driver::silent(Order::Parallel);
    let (mut values, mut sum) = (0, 0.0);
    let start = Instant::now();
    model.run(&seen, 0, &options.encoder, &driver, &mut |batch| {
        for output in batch.outputs {
            values += output.values.len();
            sum += output.values.iter().map(|x| f64::from(x.abs())).sum::<f64>();
        }
        Ok(())
    })?;
    Ok(json!({
        "case": "encode", "n": seen.rows(), "seconds": start.elapsed().as_secs_f64(),
        "answer": {"mean abs": sum / values.max(1) as f64},
    }))
}

/// Times the metrics of geometry and manifold for models that differ by noise, and then the comparisons of all pairs of them.
fn comparisons(options: &Comparisons) -> Result<Value> {
    let Comparisons {
        models,
        rows,
        columns,
        metrics_only,
        ..
    } = *options;
    let count = rows * columns;
    let uniform = |name: &str, index: usize| {
        let order = random::permutation(count, &mut random::stream(42, name, index as u64));
        order.into_iter().map(move |place| place as f32 / count as f32 - 0.5)
    };
    // Five classes that overlap.
    let class = |i: usize| ((i / columns) % 5) as f32 * 0.1;
    let base: Vec<f32> = uniform("base", 0).enumerate().map(|(i, x)| x + class(i)).collect();
    let labels: Vec<String> = (0..rows).map(|row| (row % 5).to_string()).collect();
    let labels = Arc::new(Labels::new(&labels));
    let mut studies = Vec::new();
    for model in 0..models {
        let values = base
            .iter()
            .zip(uniform("noise", model))
            .map(|(x, noise)| x + 0.3 * noise)
            .collect();
        let mut study = Study::new(
            &format!("model{model}"),
            Space::from_f32("embeddings", rows, columns, values)?,
        );
        study.labels = Some(Arc::clone(&labels));
        studies.push(study);
    }
    let metrics = [Analysis::Geometry.metrics(), Analysis::Manifold.metrics()].concat();
    let (spec, driver) = (Spec::default(), Driver::silent(Order::Parallel));
    let start = Instant::now();
    let mut results = evaluate(&studies, &metrics, &spec, &driver)?;
    let of_metrics = start.elapsed().as_secs_f64();
    let start = Instant::now();
    if !metrics_only {
        compare(&mut results, &spec, &driver);
    }
    let of_comparisons = start.elapsed().as_secs_f64();
    Ok(json!({
        "case": "comparisons", "models": models, "n": rows, "d": columns,
        "seconds": if metrics_only { of_metrics } else { of_comparisons },
        "seconds of metrics": of_metrics,
        "answer": {"differences": results.differences.len()},
    }))
}

/// Times masks on one thread, without reading.
fn masks(options: &Masks) -> Result<Value> {
    let path = &options.path;
    let images = read_array(&InputPath::parse(path))?;
    let &[count, height, width] = images.shape() else {
        let shape = images.shape();
        bail!("{path} has the shape {shape:?}; images are (N, height, width)");
    };
    let Data::U8(bytes) = images.data() else {
        bail!("{path} holds {}; bytes are needed", images.dtype());
    };
    let maskings = options.masks.maskings(42);
    let mut masked_lit = vec![0; maskings.len()];
    let mut lit = 0;
    let start = Instant::now();
    for (key, image) in (**bytes).as_ref().chunks_exact(height * width).enumerate() {
        let mut sums = masked_lit.iter_mut();
        let mut lit_of_image = 0;
        show_all(&maskings, image, (height, width), key as u64, |masked| {
            lit_of_image = masked.lit;
            sums.next().into_iter().for_each(|sum| *sum += masked.masked_lit);
        })?;
        lit += lit_of_image;
    }
    let seconds = start.elapsed().as_secs_f64();
    let shares = maskings.iter().zip(&masked_lit);
    let shares = shares.map(|(masking, sum)| (masking.name(), json!(*sum as f64 / lit as f64)));
    let wanted = ["top5", "bottom5", "random5"];
    let answer: Map<_, _> = shares.filter(|(name, _)| wanted.contains(&name.as_str())).collect();
    Ok(json!({"case": "masks", "n": count, "seconds": seconds, "answer": answer}))
}

/// Times the search from texts to sensors, from sensors to texts or both, without reading.
fn retrieval(options: &args::Retrieval) -> Result<Value> {
    let mut metrics = Analysis::Retrieval.metrics();
    metrics.retain(|m| !(options.first_only && m.reads_whole_ranking()));
    let (there, back) = (Direction { query: 0, target: 1 }, Direction { query: 1, target: 0 });
    let directions = if options.both { vec![there, back] } else { vec![there] };
    let k = &options.k;
    let space = |path: &str, name: &str| -> Result<Arc<Space>> {
        let array = read_array(&InputPath::parse(path))?;
        Ok(Arc::new(array.into_space(name, Pool::Flatten)?))
    };
    let spaces = vec![space(&options.queries, "text")?, space(&options.targets, "sensor")?];
    let labels = read_array(&InputPath::parse(&options.labels))?.into_labels(&options.labels)?;
    let labels = Arc::new(labels);
    let (n, d) = (spaces[0].rows(), spaces[0].columns());
    let retrieval = Retrieval {
        model: "bench".to_string(),
        spaces,
        is_aligned: vec![true, true],
        groups: Vec::new(),
        label_sets: vec![LabelSet {
            name: None,
            of_space: vec![labels.clone(), labels],
        }],
        directions,
    };
    let spec = Spec {
        retrieval_k: k.to_vec(),
        ..Spec::default()
    };
    let start = Instant::now();
    let results = retrieve(&[retrieval], &metrics, &spec, &Driver::silent(Order::Parallel))?;
    let seconds = start.elapsed().as_secs_f64();
    // Not its ceiling and lift, which have a second dot.
    let is_precision = |id: &str| id.starts_with("label_precision.") && id.matches('.').count() == 1;
    let precisions = results.scores.iter().filter(|score| is_precision(&score.metric));
    let answer = answer(precisions);
    Ok(json!({
        "case": "retrieval", "n": n, "d": d, "k": k, "seconds": seconds, "answer": answer,
    }))
}
