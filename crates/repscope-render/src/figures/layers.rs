// SPDX-License-Identifier: MIT
//! Scores over the depth of models whose layers were measured: a panel for each score that answers, a line for each model.

use super::models::{point, titled};
use super::words::description;
use super::{NamedFigure, named};
use crate::numbers::written;
use crate::scores::distinct;
use crate::text::printable;
use crate::verdict::is_shown;
use repscope_core::{Better, MetricId, ModelLayer, Results};
use repscope_figures::{Axis, Curve, CurveLook, Figure, Lines, Panel, Reference, ReferenceAt};

/// More panels than this are no figure.
const MOST_PANELS: usize = 24;
/// More names of layers than this are not listed.
const MOST_NAMED: usize = 16;

/// The figure of all layers; none where no model has several.
pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    of_path(results, "layers/layers")
}

/// The same in the folder of an analysis.
pub(super) fn of_path(results: &Results, path: &str) -> Vec<NamedFigure> {
    if results.layers.is_empty() {
        return Vec::new();
    }
    let models = distinct(results.layers.iter().map(|layer| layer.of.as_str()));
    let scores = results.scores.iter().filter(|score| score.other.is_none());
    let ids = distinct(scores.map(|score| &score.metric));
    let ids: Vec<&MetricId> = ids.into_iter().filter(|id| is_shown(results, id)).collect();
    let panels: Vec<Panel> = ids
        .iter()
        .filter_map(|id| panel(results, &models, id))
        .take(MOST_PANELS)
        .collect();
    let mut notes = vec!["Bands: intervals. Depth 0 is the first layer.".to_string()];
    notes.extend(models.iter().filter_map(|model| layers_of(results, model)));
    let figure = Figure {
        description: description(
            "Scores over depth.",
            models
                .iter()
                .flat_map(|model| ids.iter().map(|id| in_words(results, model, id))),
        ),
        columns: panels.len().clamp(1, 3),
        panels,
        series: models.iter().map(|name| printable(name)).collect(),
        notes,
        ..Figure::default()
    };
    named(path, figure)
}

fn panel(results: &Results, models: &[&str], id: &MetricId) -> Option<Panel> {
    let curve = |(series, model): (usize, &&str)| {
        let at = |layer: &ModelLayer| Some(point(layer.depth as f64, results.score(&layer.model, id)?));
        let own = results.layers.iter().filter(|layer| layer.of == **model);
        let points: Vec<_> = own.filter_map(at).collect();
        let is_known = points.iter().any(|point| point.y.is_some());
        is_known.then_some(Curve {
            series,
            points,
            look: CurveLook::Full,
        })
    };
    let curves: Vec<Curve> = models.iter().enumerate().filter_map(curve).collect();
    // Models without layers are lines to compare with.
    let is_layer = |model: &str| results.layers.iter().any(|layer| layer.model == model);
    let others = results
        .scores
        .iter()
        .filter(|score| score.metric == *id && !is_layer(&score.model));
    let mut references: Vec<Reference> = others
        .filter_map(|score| Some((score.value?, printable(&score.model))))
        .map(|(value, name)| Reference::new(ReferenceAt::Horizontal(value), name))
        .collect();
    let chances = distinct(
        results
            .scores
            .iter()
            .filter(|score| score.metric == *id)
            .map(|score| score.chance),
    );
    if let [Some(chance)] = chances[..] {
        references.push(Reference::new(ReferenceAt::Horizontal(chance), "chance"));
    }
    let better = id.output().map_or(Better::Neither, |output| output.better);
    (!curves.is_empty()).then(|| {
        let lines = Lines {
            x: Axis::linear("depth"),
            y: Axis::linear(id.to_string()),
            curves,
            references,
        };
        Panel::new(titled(id, better), lines)
    })
}

/// The names of the layers of a model, from the first to the last.
fn layers_of(results: &Results, model: &str) -> Option<String> {
    let own = results.layers.iter().filter(|layer| layer.of == model);
    let short = |name: &str| printable(name.strip_prefix(&format!("{model}/")).unwrap_or(name));
    let names: Vec<String> = own.map(|layer| short(&layer.model)).collect();
    (names.len() <= MOST_NAMED).then(|| format!("Layers of {}: {}.", printable(model), names.join(", ")))
}

/// The largest and the smallest value in a sentence.
fn in_words(results: &Results, model: &str, id: &MetricId) -> String {
    let own = results.layers.iter().filter(|layer| layer.of == model);
    let scores = own.filter_map(|layer| results.score(&layer.model, id));
    let mut known: Vec<_> = scores.filter_map(|score| Some((score.value?, score))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (known.first(), known.last()) {
        (Some((low, least)), Some((high, most))) => format!(
            "{id} of the layers of {model}: from {} ({}) to {} ({}).",
            written(*low, least.interval),
            least.model,
            written(*high, most.interval),
            most.model
        ),
        _ => String::new(),
    }
}
