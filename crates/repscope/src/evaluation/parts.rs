// SPDX-License-Identifier: MIT
//! Results of a run in parts, one for each analysis, and the parts together.

use repscope_core::metrics::find;
use repscope_core::{Analysis, ClassColumn, Labels, Metric, Results, Study, adjust};

use crate::analysis::{clid_metrics, declared, rankme_metrics};

/// What the results say of some metrics, model by model. `classes` are the names of the classes to keep.
pub fn pick(results: &Results, metrics: &[&'static Metric], classes: &[&str]) -> Results {
    let models = models(results);
    let ids: Vec<&str> = metrics.iter().map(|metric| metric.id).collect();
    Results {
        scores: picked(&results.scores, &models, &ids, |s| (&s.model, &s.metric)),
        curves: picked(&results.curves, &models, &ids, |c| (&c.model, &c.metric)),
        breakdowns: picked(&results.breakdowns, &models, &ids, |b| (&b.model, &b.metric)),
        samples: picked(&results.samples, &models, &ids, |t| (&t.model, &t.metric)),
        differences: {
            let is_wanted = |metric: &str| owner(metric).is_some_and(|id| ids.contains(&id));
            let wanted = results.differences.iter().filter(|d| is_wanted(&d.metric));
            wanted.cloned().collect()
        },
        classes: results
            .classes
            .iter()
            .filter(|class| classes.contains(&class.name.as_str()))
            .cloned()
            .collect(),
        warnings: results.warnings.clone(),
    }
}

/// What the results of several analyses say of one of them; nothing where they say nothing.
pub fn of_analysis(results: &Results, analysis: Analysis) -> Option<Results> {
    let own = |id: &str| find(id).is_some_and(|(metric, _)| metric.analysis == analysis);
    if !results.scores.iter().any(|score| own(&score.metric)) {
        return None;
    }
    let has_performance = results.breakdowns.iter().any(|b| b.metric == "performance");
    let metrics = match analysis {
        Analysis::Clid => {
            let (mut of_studies, of_performance) = clid_metrics(true, has_performance);
            of_studies.extend(of_performance);
            of_studies
        }
        Analysis::Rankme => rankme_metrics(),
        analysis => analysis.metrics(),
    };
    let mut part = pick(results, &metrics, declared(analysis).classes);
    if analysis == Analysis::Clid {
        let shapes = results.breakdowns.iter().filter(|b| b.metric == SHAPE);
        part.breakdowns.extend(shapes.cloned());
    }
    part.warnings.clear();
    Some(part)
}

/// All analyses in one. What two of them computed is taken from the first.
pub fn together(parts: &[&Results]) -> Results {
    let mut all = Results::default();
    for part in parts {
        let known = |model: &str, metric: &str| all.scores.iter().any(|s| s.model == model && s.metric == metric);
        let new: Vec<_> = part
            .scores
            .iter()
            .filter(|s| !known(&s.model, &s.metric))
            .cloned()
            .collect();
        let is_new = |metric: &str| !all.differences.iter().any(|d| d.metric == metric);
        let differences: Vec<_> = part.differences.iter().filter(|d| is_new(&d.metric)).cloned().collect();
        all.scores.extend(new);
        all.differences.extend(differences);
        extend(&mut all.curves, &part.curves, |a, b| {
            a.model == b.model && a.metric == b.metric
        });
        extend(&mut all.breakdowns, &part.breakdowns, |a, b| {
            a.model == b.model && a.metric == b.metric
        });
        extend(&mut all.samples, &part.samples, |a, b| {
            a.model == b.model && a.metric == b.metric
        });
        extend(&mut all.classes, &part.classes, |a, b| a.name == b.name);
        extend(&mut all.warnings, &part.warnings, |a, b| a == b);
    }
    let models: Vec<String> = models(&all).into_iter().map(str::to_string).collect();
    all.scores
        .sort_by_key(|score| models.iter().position(|model| *model == score.model));
    adjust(&mut all.differences);
    all
}

/// Adds the labels and episodes of the rows, which maps are coloured by, where no analysis has brought them.
pub fn add_classes(results: &mut Results, studies: &[Study]) {
    let Some(study) = studies.first() else { return };
    let column = |name: &str, labels: &Labels| ClassColumn {
        name: name.to_string(),
        names: labels.names().to_vec(),
        codes: labels.codes().to_vec(),
    };
    let known = [("labels", &study.labels), ("episodes", &study.episodes)];
    results.classes = known
        .into_iter()
        .filter_map(|(name, labels)| Some(column(name, labels.as_deref()?)))
        .collect();
}

/// The size of the codes, which no metric owns.
const SHAPE: &str = "shape";

/// The metric that a score, curve, table or breakdown belongs to.
fn owner(name: &str) -> Option<&'static str> {
    let stem = || name.split(['.', '@', '(']).next().and_then(find);
    find(name).or_else(stem).map(|(metric, _)| metric.id)
}

fn models(results: &Results) -> Vec<&str> {
    let mut models: Vec<&str> = Vec::new();
    for score in &results.scores {
        if !models.contains(&score.model.as_str()) {
            models.push(&score.model);
        }
    }
    models
}

/// The items of these metrics: by model, then in the order of the metrics. What speaks of no single model comes last.
fn picked<T: Clone>(items: &[T], models: &[&str], ids: &[&str], names: impl Fn(&T) -> (&String, &String)) -> Vec<T> {
    let mut ranked: Vec<((usize, usize), &T)> = Vec::new();
    for item in items {
        let (model, metric) = names(item);
        let model = models.iter().position(|name| name == model).unwrap_or(models.len());
        if let Some(metric) = owner(metric).and_then(|own| ids.iter().position(|id| *id == own)) {
            ranked.push(((model, metric), item));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, item)| item.clone()).collect()
}

/// Adds what is not there yet; items of one part may be alike.
fn extend<T: Clone>(all: &mut Vec<T>, part: &[T], is_same: impl Fn(&T, &T) -> bool) {
    let known = all.len();
    for item in part {
        if !all[..known].iter().any(|other| is_same(other, item)) {
            all.push(item.clone());
        }
    }
}
