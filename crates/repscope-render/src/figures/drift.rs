// SPDX-License-Identifier: MIT
//! Two sets of rows: what each statistic is, beside what it is where rows change their sets at random.

use super::NamedFigure;
use super::models::{MOST_UPRIGHT, Models};
use super::words::{all_values, description, facts, is_of};
use crate::compare::probability::p_value;
use crate::scores::{only_scores, scores};
use repscope_core::{Analysis, MetricId, Results};
use repscope_figures::{
    Axis, Bins, BinsLook, Content, Histogram, Panel, Reference, ReferenceAt, bin_edges, bin_shares,
};

/// What is drawn, in this order.
const DRAWN: [(&str, &str, &str); 4] = [
    ("mmd(kernel=rbf)", "MMD (Gaussian kernel)", "squared discrepancy"),
    ("energy_distance", "Energy distance", "energy distance"),
    ("frechet_distance", "Fréchet distance", "Fréchet distance"),
    ("knn_two_sample", "k-NN two-sample test", "neighbors of the own set"),
];
/// What stands below the figure.
const BELOW: &str =
    "Histograms: the values where rows, or whole groups, change their sets at random. Lines: the values of the data.";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = is_of(Analysis::Drift);
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let panels = DRAWN.iter().map(|(measure, title, label)| {
        let is_it =
            |id: &MetricId| id == measure || (id.at().is_some() && id.as_str().starts_with(&format!("{measure}@")));
        let found = results.scores.iter().find(|score| is_it(&score.metric));
        let id = found?.metric.to_string();
        // Histograms of many models hide each other.
        if models.names.len() > MOST_UPRIGHT {
            return models.bar(title, Axis::linear(*label), &id);
        }
        histogram(&models, &id, label)
            .map(|content| Panel::new(*title, content))
            .or_else(|| models.bar(title, Axis::linear(*label), &id))
    });
    let panels: Vec<Option<Panel>> = panels.collect();
    let words = description(
        "How far new rows are from reference rows, beside what rows that change their sets at random give.",
        all_values(&models, is_drawn),
    );
    let mut below = facts(&scores(&only_scores(results, is_drawn)));
    below.push(BELOW.to_string());
    models.figure("drift/drift_analysis", 2, panels, words, below)
}

/// The null of each model as a histogram, and its value as a line.
fn histogram(models: &Models, id: &str, label: &str) -> Option<Content> {
    let null = |series: usize| {
        let model = models.names.get(series)?;
        let curves = &models.results.curves;
        let own = curves
            .iter()
            .find(|curve| curve.model == *model && curve.metric == id)?;
        Some((series, own.y.clone()))
    };
    let known: Vec<(usize, Vec<f64>)> = models.known(null);
    if known.is_empty() {
        return None;
    }
    let edges = bin_edges(&known.iter().map(|(_, values)| values.as_slice()).collect::<Vec<_>>());
    let bins = |(series, values): &(usize, Vec<f64>)| Bins {
        series: *series,
        heights: bin_shares(&edges, values),
        edges: edges.clone(),
        look: BinsLook::default(),
    };
    let observed = models.known(|series| Some((series, models.value(series, id)?)));
    let line = |(series, value): &(usize, f64)| {
        let p = models.value(*series, &of_p(id)).map_or(String::new(), p_value);
        let name = if models.names.len() > 1 {
            format!("{} ", models.name(*series))
        } else {
            String::new()
        };
        Reference {
            series: Some(*series),
            ..Reference::new(ReferenceAt::Vertical(*value), format!("{name}{p}"))
        }
    };
    Some(Content::Histogram(Histogram {
        x: Axis::linear(label),
        y: Axis::linear("share of the permutations").covering(&[0.0]),
        series: known.iter().map(bins).collect(),
        references: observed.iter().map(line).collect(),
    }))
}

/// The p-value of a statistic: `mmd.p(kernel=rbf)` of `mmd(kernel=rbf)`.
pub(crate) fn of_p(id: &str) -> String {
    let end = id.find(['(', '@']).unwrap_or(id.len());
    format!("{}.p{}", &id[..end], &id[end..])
}
