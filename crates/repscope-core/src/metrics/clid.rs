// SPDX-License-Identifier: MIT
//! CLID: cluster learnability and intrinsic dimension, together. See the page.

use super::two_nn;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Result, counted, refuse_if};
use crate::kernels::learnability::{Learnability, Run};
use crate::plan::{Key, Need, Shared};
use crate::score::{Breakdown, Interval, Score};
use crate::spec::{IdNorm, Spec, UnitLength};
use crate::stats::interval;

/// The options that are steps of CLID.
pub(super) static STEPS: &[&str] = &[
    "preset",
    "standardize",
    "unit-length",
    "clusters",
    "restarts",
    "k",
    "repeats",
    "splits",
    "id-norm",
];

const CL: Output = Output::higher("clid.cl", "0 to 1")
    .about("cluster learnability: share of one half whose k-means cluster the other half votes for")
    .column("CL");
const CL_STD: Output = Output::neither("clid.cl_std", "0 to 0.5")
    .about("standard deviation of the cluster learnability over seeds and splits")
    .column("CL_std");
const ID: Output = Output::neither("clid.id", "above 0")
    .about("intrinsic dimension by TwoNN")
    .column("ID");
const ID_NORMALIZED: Output = Output::neither("clid.id_normalized", "0 to 1, or any number")
    .about("intrinsic dimension on a common scale: divided by D, or standardized over the models")
    .column("ID_normalized");
const CLID: Output = Output::higher("clid", "0 to 2, or any number")
    .about("cluster learnability plus normalized intrinsic dimension")
    .column("CLID");

pub(super) static METRIC: Metric = Metric {
    id: "clid",
    title: "CLID",
    analysis: Analysis::Clid,
    outputs: &[CL, CL_STD, ID, ID_NORMALIZED, CLID],
    page: include_str!("clid.md"),
    // The CLID / RankMe analysis standardizes single columns, so turning the space changes it; halves go by row number.
    invariances: &[Invariance::Shift, Invariance::Scale],
    takes: &[Takes::Embeddings],
    options: STEPS,
    work: Work::Pool { needs, compute, across },
};

/// Why there is no cluster learnability, as far as the sizes show.
fn missing(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.embeddings.rows();
    let clusters = spec.clid.clusters.of(rows);
    if clusters < 2 {
        return Some(format!(
            "{rows} rows give {clusters} cluster by the square root; at least 2 clusters are needed"
        ));
    }
    if clusters >= rows {
        return Some(format!(
            "{clusters} clusters of {rows} rows leave no cluster to learn; use fewer clusters"
        ));
    }
    let (k, training) = (spec.clid.k, rows / 2);
    (k > training).then(|| format!("k = {k} voters are more than the {training} rows of one half; use a smaller k"))
}

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let steps = &spec.clid;
    let [k, splits, repeats, restarts] = [steps.k, steps.splits, steps.repeats, steps.restarts];
    refuse_if([k, splits, repeats, restarts].contains(&0), || {
        format!(
            "CLID with k = {k}, {splits} splits, {repeats} repeats and {restarts} restarts: at least one of each is needed"
        )
    })?;
    let mut needs = Vec::new();
    if missing(spec, study).is_none() {
        needs.push(Need::Learnability);
    }
    if steps.unit_length != UnitLength::All && study.embeddings.rows() >= 3 {
        needs.push(Need::Neighbors { of: Key::RAW, k: 2 });
    }
    Ok(needs)
}

fn compute(shared: &Shared) -> Result<Results> {
    let (spec, study) = (shared.spec, shared.study);
    let rows = study.embeddings.rows();
    let (learned, learnability, runs) = match missing(spec, study) {
        None => {
            let found = shared.learnability()?;
            (learn(found, shared), Some(found), found.runs.as_slice())
        }
        Some(reason) => (Err(reason), None, &[][..]),
    };
    let cl = match &learned {
        Ok(score) => score.clone(),
        Err(reason) => Score::undefined(&CL, reason, rows),
    };
    let id = dimension(shared, learnability)?;
    let mut scores = vec![cl.clone(), spread(runs, &cl), id.clone()];
    scores.extend(together(&cl, &id, study.embeddings.columns(), spec));
    Ok(Results {
        scores,
        breakdowns: (!runs.is_empty()).then(|| by_run(runs)).into_iter().collect(),
        ..Results::default()
    })
}

fn accuracy(run: &Run) -> f64 {
    run.right as f64 / run.tested as f64
}

/// The mean accuracy over all clusterings and halves, or why there is none.
fn learn(found: &Learnability, shared: &Shared) -> std::result::Result<Score, String> {
    let (runs, rows) = (&found.runs, shared.study.embeddings.rows());
    let spec = shared.spec;
    if let Some(run) = runs.iter().find(|run| run.clusters < 2 || run.tested == 0) {
        let (seed, found) = (run.seed, counted(run.clusters, "cluster"));
        return Err(format!(
            "k-means with seed {seed} found {found} of at least two rows; two are needed"
        ));
    }
    let fewest = runs.iter().map(|run| rows - run.lone - run.tested).min().unwrap_or(0);
    let k = spec.clid.k;
    if fewest < k {
        return Err(format!(
            "k = {k} voters are more than the {fewest} rows that train once lone rows are left out; use a smaller k"
        ));
    }
    let accuracies: Vec<f64> = runs.iter().map(accuracy).collect();
    let tested = runs.iter().map(|run| run.tested).min().unwrap_or(0);
    let value = interval::mean(&accuracies);
    let largest = interval::mean(&runs.iter().map(|run| run.largest).collect::<Vec<f64>>());
    let is_grouped = shared.study.episodes.is_some();
    let asked = if is_grouped {
        runs.iter().map(|run| run.tested_units).min().unwrap_or(0)
    } else {
        tested
    };
    let between = between_repeats(runs, spec);
    let interval = interval::of_accuracy(value, &found.without, asked, is_grouped, spec.level);
    let interval = interval.map(|i| i.with_between(value, between.as_deref()).on_share_scale(value));
    let score = Score::number(&CL, value, tested)
        .with_interval(interval)
        .with_between(between);
    Ok(score.with_chance(largest).with_note(note(found, shared)))
}

/// How many clusters there were, and which rows and clusters need a word.
fn note(found: &Learnability, shared: &Shared) -> String {
    let steps = &shared.spec.clid;
    let most = |count: fn(&Run) -> usize| found.runs.iter().map(count).max().unwrap_or(0);
    let mut note = format!("{} clusters", steps.clusters.of(shared.study.embeddings.rows()));
    if steps.repeats > 1 || steps.splits > 1 {
        let [seeds, splits] = [counted(steps.repeats, "seed"), counted(steps.splits, "split")];
        note += &format!(", mean over {seeds} with {splits} each");
    }
    let lone = most(|run| run.lone);
    if lone > 0 {
        note += &format!("; clusters of a single row, which is left out: up to {lone}");
    }
    let small = most(|run| run.small);
    if small > 0 {
        let k = steps.k;
        note += &format!("; clusters with fewer than k = {k} rows to vote for them: up to {small}");
    }
    if found.zero_rows > 0 {
        note += &format!("; {} rows have length zero and stay so", found.zero_rows);
    }
    note
}

/// What each clustering does to the mean over them; none of a single one.
fn between_repeats(runs: &[Run], spec: &Spec) -> Option<Vec<f64>> {
    let of_repeat = |runs: &[Run]| interval::mean(&runs.iter().map(accuracy).collect::<Vec<f64>>());
    let means: Vec<f64> = runs.chunks(spec.clid.splits).map(of_repeat).collect();
    let (count, mean) = (means.len() as f64, interval::mean(&means));
    let weight = (count * (count - 1.0)).sqrt();
    (means.len() > 1).then(|| means.iter().map(|m| (m - mean) / weight).collect())
}

fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

fn spread(runs: &[Run], cl: &Score) -> Score {
    match cl.value {
        None => Score::undefined(&CL_STD, cl.reason.clone().unwrap_or_default(), cl.n),
        Some(_) if runs.len() < 2 => Score::undefined(
            &CL_STD,
            "one run has no spread; repeat the clustering, or split more often",
            1,
        ),
        Some(mean) => {
            let accuracies: Vec<f64> = runs.iter().map(accuracy).collect();
            Score::number(&CL_STD, variance(&accuracies, mean).sqrt(), runs.len())
        }
    }
}

/// TwoNN on the embeddings as they are, or on the rows of length 1 that voted.
fn dimension(shared: &Shared, learnability: Option<&Learnability>) -> Result<Score> {
    let rows = shared.study.embeddings.rows();
    let undefined = |reason: &str, n: usize| Ok(Score::undefined(&ID, reason, n));
    if rows < 3 {
        return undefined("two neighbors need at least 3 rows", rows);
    }
    let is_unit = shared.spec.clid.unit_length == UnitLength::All;
    let found = match (is_unit, learnability) {
        (false, _) => two_nn::ratios(shared.neighbors(Key::RAW, 2)?, shared.anchors().count(rows)),
        (true, Some(learnability)) => two_nn::ratios(&learnability.neighbors, rows),
        (true, None) => return undefined("without clusters the rows of length 1 were not compared", rows),
    };
    let ratios = match found {
        Ok(ratios) => ratios,
        Err((reason, n)) => return undefined(reason, n),
    };
    let (value, interval) = two_nn::fit_with_interval(&ratios, shared);
    let Some(value) = value else {
        return undefined("too few distinct ratios for a fit", ratios.logs.len());
    };
    let score = Score::number(&ID, value, ratios.logs.len()).with_interval(interval);
    Ok(match ratios.near.note("first distance") {
        None => score,
        Some(note) => score.with_note(note),
    })
}

/// Why there is no common scale.
const NO_POOL: &str =
    "a common scale needs at least two models; give more, or divide the dimension by the number of columns";

/// The normalized dimension and the sum, by the CLID / RankMe analysis; for a common scale over models they come later.
fn together(cl: &Score, id: &Score, columns: usize, spec: &Spec) -> [Score; 2] {
    let reason = match (cl.value, id.value) {
        (Some(_), Some(_)) if spec.clid.id_norm == IdNorm::Dim => None,
        (_, None) => id.reason.clone(),
        (None, _) => cl.reason.clone(),
        _ => Some(NO_POOL.to_string()),
    };
    let undefined = |output: &Output| Score::undefined(output, reason.clone().unwrap_or_default(), cl.n);
    let [mut normalized, mut sum] = [undefined(&ID_NORMALIZED), undefined(&CLID)];
    if spec.clid.id_norm == IdNorm::Dim {
        let share = |x: f64| (x / columns as f64).min(1.0);
        if let Some(dimension) = id.value {
            normalized = on_scale(id, dimension, share, columns as f64);
            if dimension > columns as f64 {
                let note = format!("{dimension:.4} / {columns} is more than 1 and counts as 1");
                normalized = normalized.with_note(note);
            }
        }
        if let (Some(a), Some(b)) = (cl.value, normalized.value) {
            let interval = interval_of_sum(cl, &normalized, 1.0, 1.0, a + b, spec.level);
            sum = Score::number(&CLID, a + b, cl.n).with_interval(interval.map(|i| i.within(0.0, 2.0)));
            sum.between = cl.between.clone();
        }
    }
    [normalized, sum]
}

/// The normalized dimension: value and interval brought to a scale with this unit.
fn on_scale(id: &Score, value: f64, scale: impl Fn(f64) -> f64 + Copy, unit: f64) -> Score {
    Score {
        interval: id.interval.map(|ends| ends.map(scale)),
        level: id.level,
        standard_error: id.standard_error.map(|e| e / unit),
        unit: id.unit.clone(),
        method: id.method.clone(),
        effects: scaled(id, unit).map(Into::into),
        ..Score::number(&ID_NORMALIZED, scale(value), id.n)
    }
}

/// The interval of a sum of independent parts from the intervals of the parts (Zou and Donner 2008, "MOVER"): their
/// errors come from splits and from neighbors.
fn interval_of_sum(cl: &Score, id: &Score, cl_unit: f64, id_unit: f64, sum: f64, level: f64) -> Option<Interval> {
    let reach = |score: &Score, end: usize| Some((score.interval?[end] - score.value?).abs());
    let both = |end| Some((reach(cl, end)? / cl_unit).hypot(reach(id, end)? / id_unit));
    // Unit by unit, unless only some rows have a ratio.
    let add = |(a, b): (Vec<f64>, Vec<f64>)| {
        if a.len() == b.len() {
            a.iter().zip(&b).map(|(a, b)| a + b).collect()
        } else {
            [a, b].concat()
        }
    };
    let both_effects = scaled(cl, cl_unit).zip(scaled(id, id_unit)).map(add);
    Some(Interval {
        low: sum - both(0)?,
        high: sum + both(1)?,
        level,
        standard_error: Some((cl.standard_error? / cl_unit).hypot(id.standard_error? / id_unit)),
        unit: if cl.unit.as_deref() == Some("episodes") {
            "episodes"
        } else {
            "rows"
        },
        method: "MOVER",
        effects: both_effects.map(Into::into),
    })
}

/// The effects of a score divided by a unit.
fn scaled(score: &Score, unit: f64) -> Option<Vec<f64>> {
    let effects = score.effects.as_ref()?;
    Some(effects.iter().map(|e| e / unit).collect())
}

/// Brings both parts to mean 0 and variance 1 over the models, and adds them.
fn across(spec: &Spec, results: &mut Results) {
    if spec.clid.id_norm != IdNorm::Pool {
        return;
    }
    let all = |output: &'static Output| results.scores.iter().filter(|s| s.metric == output.id).cloned();
    let parts: Vec<(Score, Score)> = all(&CL).zip(all(&ID)).collect();
    let known: Vec<(f64, f64)> = parts.iter().filter_map(|(cl, id)| cl.value.zip(id.value)).collect();
    if known.len() < 2 {
        return;
    }
    let cl_scale = Scale::of(known.iter().map(|k| k.0));
    let id_scale = Scale::of(known.iter().map(|k| k.1));
    for (cl, id) in parts {
        let (Some(a), Some(b)) = (cl.value, id.value) else {
            continue;
        };
        for score in results.scores.iter_mut().filter(|s| s.model == cl.model) {
            let of_pool = match score.metric.as_str() {
                "clid.id_normalized" => on_scale(&id, b, |x| id_scale.apply(x), id_scale.unit),
                "clid" => {
                    let sum = cl_scale.apply(a) + id_scale.apply(b);
                    let interval = interval_of_sum(&cl, &id, cl_scale.unit, id_scale.unit, sum, spec.level);
                    let between = cl
                        .between
                        .as_ref()
                        .map(|b| b.iter().map(|e| e / cl_scale.unit).collect());
                    Score {
                        between,
                        ..Score::number(&CLID, sum, cl.n).with_interval(interval)
                    }
                }
                _ => continue,
            };
            let model = cl.model.clone();
            let note = format!("standardized over {} models: 0 is their mean", known.len());
            *score = Score { model, ..of_pool }.with_note(note);
        }
    }
}

/// The mean and the population standard deviation of some numbers; a spread of 0 counts as 1.
pub(super) struct Scale {
    mean: f64,
    pub(super) unit: f64,
}

impl Scale {
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let mean = interval::mean(&values);
        let unit = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        // Equal numbers have a mean that may be off by rounding.
        let is_constant = unit <= 1e-13 * mean.abs();
        Scale {
            mean,
            unit: if is_constant { 1.0 } else { unit },
        }
    }

    pub(super) fn apply(&self, value: f64) -> f64 {
        (value - self.mean) / self.unit
    }
}

/// Every clustering and split.
fn by_run(runs: &[Run]) -> Breakdown {
    Breakdown::of(&CL, runs)
        .key("seed", |run| run.seed.to_string())
        .key("split", |run| run.split.to_string())
        .column("cl", |run| Some(accuracy(run)))
        .column("tested", |run| Some(run.tested as f64))
        .column("clusters", |run| Some(run.clusters as f64))
        .column("lone", |run| Some(run.lone as f64))
        .column("small", |run| Some(run.small as f64))
        .column("largest", |run| Some(run.largest))
        .table
}
