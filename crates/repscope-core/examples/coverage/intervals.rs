// SPDX-License-Identifier: MIT
//! How often intervals hold the expectation of their score, and how wide they are.

use rayon::prelude::*;
use repscope_core::coverage::Cell;
use repscope_core::metrics::find;
use repscope_core::run::{Driver, Order};
use repscope_core::{
    METRICS, Metric, Performance, Results, Score, Spec, etes, evaluate, perturb, random, relate, retrieve, similarity,
};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::designs::{DESIGNS, Design, SEED, World, normal};

const MODEL: &str = "model";
/// Models of the design in which scores are related to performance.
const MODELS: usize = 15;
/// The name of this design.
const OF_MODELS: &str = "15 models";
/// No interval may hold the expectation less often.
pub const LEAST: f64 = 0.9;
/// With this probability, a cell whose true coverage is [`LEAST`] is called too low.
pub const FALSE_ALARM: f64 = 0.01;

/// A score of one draw.
struct Seen {
    score: String,
    value: f64,
    interval: Option<[f64; 2]>,
}

/// The options of the study: one K where there are several, and nothing at random that has no interval.
pub fn spec() -> Spec {
    let mut spec = Spec {
        k: vec![10],
        retrieval_k: vec![10],
        ..Spec::default()
    };
    spec.etes.k = vec![5];
    spec.etes.permutations = 0;
    spec.alike.permutations = 0;
    // Nested folds change what is estimated, not how well.
    spec.probe.penalties = vec![1.0];
    spec.probe.shots = Vec::new();
    spec.drift.permutations = 0;
    spec.mixing.permutations = 0;
    spec
}

/// The metrics of studies among these.
pub fn of_studies(metrics: &[&'static Metric]) -> Vec<&'static Metric> {
    metrics
        .iter()
        .copied()
        .filter(|metric| metric.is_of_studies())
        .collect()
}

/// The cells of all designs, from this many draws of each. Every draw is one task, so that threads change no count.
pub fn measure(metrics: &[&'static Metric], replicates: usize) -> Vec<Cell> {
    let mut cells = Vec::new();
    for design in DESIGNS {
        let draw = |replicate| {
            let is_due = |metric: &&&'static Metric| replicate < draws_of(metric, replicates);
            let due: Vec<&'static Metric> = metrics.iter().filter(is_due).copied().collect();
            of_world(design, replicate, &due)
        };
        cells.extend(summarize(design.name, &in_parallel(replicates, draw)));
    }
    let is_asked = |id: &str| metrics.iter().any(|metric| metric.id == id);
    if is_asked("performance") || is_asked("weighted_clid") {
        cells.extend(summarize(OF_MODELS, &in_parallel(replicates, of_models)));
    }
    cells
}

/// In how many draws a metric is evaluated. Clusterings, and distances of all pairs of rows in two models, take as much time as all other
/// metrics together, so they are in a third of them.
fn draws_of(metric: &Metric, replicates: usize) -> usize {
    let is_slow = ["clusterings", "repeats", "shots"]
        .iter()
        .any(|option| metric.options.contains(option));
    if is_slow || metric.analysis.is_of_pairs() {
        replicates.div_ceil(3)
    } else {
        replicates
    }
}

fn in_parallel(replicates: usize, draw: impl Fn(usize) -> Vec<Seen> + Sync + Send) -> Vec<Vec<Seen>> {
    (0..replicates).into_par_iter().with_max_len(1).map(draw).collect()
}

/// All scores of one draw.
fn of_world(design: Design, replicate: usize, metrics: &[&'static Metric]) -> Vec<Seen> {
    let (spec, driver) = (spec(), Driver::silent(Order::Serial));
    let chosen = |ids: &[&str]| -> Vec<&'static Metric> {
        let commands = metrics.iter().filter(|metric| ids.contains(&metric.analysis.name()));
        commands.copied().filter(|metric| !metric.is_of_studies()).collect()
    };
    let mut world = World::new(design, replicate);
    let embeddings = world.embed();
    let study = world.study(MODEL, &embeddings);
    let mut all = evaluate(&[study], &of_studies(metrics), &spec, &driver).expect("a valid study");
    let retrieval = world.retrieval(MODEL, &embeddings);
    all.absorb(retrieve(&[retrieval], &chosen(&["retrieval"]), &spec, &driver).expect("a valid retrieval"));
    let perturbation = world.perturbation();
    all.absorb(perturb(MODEL, &perturbation, &chosen(&["perturb"]), &spec, &driver).expect("a valid perturbation"));
    let decoding = world.decoding(MODEL, &embeddings);
    all.absorb(etes(&decoding, &chosen(&["etes"]), &spec, &driver).expect("a valid decoding"));
    // Undefined with the few columns of the other embeddings.
    let of_tail: Vec<&'static Metric> = metrics
        .iter()
        .copied()
        .filter(|metric| metric.id == "alpha_req")
        .collect();
    all.absorb(evaluate(&[world.wide(MODEL)], &of_tail, &spec, &driver).expect("a valid study"));
    // A second model of the same inputs, drawn behind everything else.
    let of_pairs = chosen(&["similarity"]);
    if !of_pairs.is_empty() {
        let other = world.embed();
        let pair = [world.study(MODEL, &embeddings), world.study("other", &other)];
        all.absorb(similarity(&pair, &of_pairs, &spec, &driver).expect("two valid studies"));
    }
    all.scores.into_iter().filter_map(seen).collect()
}

fn seen(score: Score) -> Option<Seen> {
    Some(Seen {
        score: score.metric.to_string(),
        value: score.value?,
        interval: score.interval,
    })
}

/// Models whose performance follows from CL and ID, but for noise. The models are the same in all draws: intervals of the weights
/// take CL and ID as known.
fn of_models(replicate: usize) -> Vec<Seen> {
    let spec = spec();
    let (mut fixed, mut stream) = (
        random::stream(SEED, "models", 0),
        random::stream(SEED, OF_MODELS, replicate as u64),
    );
    let (mut scores, mut correlated) = (Vec::new(), Results::default());
    let (mut performance, mut drawn) = (Vec::new(), Vec::new());
    for m in 0..MODELS {
        let model = format!("m{m}");
        let (cl, id) = (0.6 + 0.1 * normal(&mut fixed), 0.4 + 0.1 * normal(&mut fixed));
        performance.push((model.clone(), cl + 0.5 * id + 0.05 * normal(&mut stream)));
        let of_model = |metric: &str, value: f64| Score {
            model: model.clone(),
            ..Score::number(metric, value, 100)
        };
        scores.extend([of_model("clid.cl", cl), of_model("clid.id", id)]);
        // A score and a performance with a correlation of 0.5.
        let score = normal(&mut stream);
        correlated.scores.push(of_model("stable_rank", score));
        drawn.push((model, 0.5 * score + 0.75f64.sqrt() * normal(&mut stream)));
    }
    let named = |of_model| Performance {
        name: "accuracy".to_string(),
        of_model,
    };
    let metric = |id: &str| {
        *METRICS
            .iter()
            .find(|metric| metric.id == id)
            .expect("a registered metric")
    };
    let mut fitted = Results::from(scores);
    relate(&mut fitted, &[metric("weighted_clid")], &named(performance), &spec).expect("finite numbers");
    relate(&mut correlated, &[metric("performance")], &named(drawn), &spec).expect("finite numbers");
    // The value of one model, as the others are alike. Its prediction has an interval for a performance, not for an expectation.
    let is_one = |score: &Score| score.model == "m0" && score.metric.as_str() == "weighted_clid";
    let mut all: Vec<Seen> = fitted.scores.into_iter().filter(is_one).filter_map(seen).collect();
    let table = &correlated.breakdowns[0];
    let column = |name: String| table.columns.iter().find(|c| c.name == name).and_then(|c| c.values[0]);
    for kind in ["spearman", "kendall"] {
        let ends = column(format!("{kind}_low")).zip(column(format!("{kind}_high")));
        all.push(Seen {
            score: format!("performance.{kind}"),
            value: column(kind.to_string()).expect("a correlation"),
            interval: ends.map(|(low, high)| [low, high]),
        });
    }
    all
}

/// One cell for every score that has an interval in at least half of the draws.
fn summarize(design: &str, draws: &[Vec<Seen>]) -> Vec<Cell> {
    let mut names: Vec<&str> = Vec::new();
    for seen in draws.iter().flatten() {
        if !names.contains(&seen.score.as_str()) {
            names.push(&seen.score);
        }
    }
    let cell = |name: &&str| {
        let own: Vec<&Seen> = draws.iter().flatten().filter(|seen| seen.score == **name).collect();
        let values: Vec<f64> = own.iter().map(|seen| seen.value).collect();
        let (expectation, deviation) = mean_and_deviation(&values);
        let intervals: Vec<[f64; 2]> = own.iter().filter_map(|seen| seen.interval).collect();
        // But for rounding: a score without variance has none around its mean.
        let slack = 1e-12 * (1.0 + expectation.abs());
        let holds = |[low, high]: &&[f64; 2]| (low - slack..=high + slack).contains(&expectation);
        let width = intervals.iter().map(|[low, high]| high - low).sum::<f64>() / intervals.len() as f64;
        let asked = find(name).map_or(draws.len(), |(metric, _)| draws_of(metric, draws.len()));
        (2 * intervals.len() >= asked && deviation > slack).then(|| Cell {
            score: name.to_string(),
            design: design.to_string(),
            replicates: intervals.len(),
            covered: intervals.iter().filter(holds).count(),
            width_ratio: width / (2.0 * 1.959_964 * deviation),
        })
    };
    names.iter().filter_map(cell).collect()
}

/// Mean and standard deviation.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// Whether so few intervals hold the expectation that chance does not explain it: a cell of [`LEAST`] would have as few with a
/// probability below [`FALSE_ALARM`].
pub fn is_too_low(cell: &Cell) -> bool {
    let binomial = Binomial::new(LEAST, cell.replicates as u64).expect("a probability");
    binomial.cdf(cell.covered as u64) < FALSE_ALARM
}
