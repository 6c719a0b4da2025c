// SPDX-License-Identifier: MIT
//! Robustness: how far noise in the inputs moves the embeddings, level by level.

use super::models::{Group, Models, titled};
use super::spread::plain_box;
use super::words::{description, notes, values};
use super::{NamedFigure, named};
use repscope_core::{Better, MetricId, Results};
use repscope_figures::{Axis, BoxRow, Boxes, Content, Curve, CurvePoint, Figure, Lines, Panel};

/// Unit-length embeddings first: they can be compared between models.
const FAMILIES: [(&str, &str); 2] = [
    ("robustness.unit", "Distance on unit-length embeddings"),
    ("robustness", "Distance of embeddings as they are"),
];
const NOISE: &str = "noise σ of the inputs";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = |id: &MetricId| FAMILIES.iter().any(|(family, _)| *family == id.measure()) && id.at().is_some();
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let mut panels: Vec<Panel> = Vec::new();
    let mut sentences = vec!["Distance between embeddings of clean and noisy inputs.".to_string()];
    for (family, title) in FAMILIES {
        let levels = models.levels(&[family]);
        panels.extend(curve(&models, family, title, &levels));
        panels.extend(boxes(&models, family, title, &levels));
        sentences.extend(levels.iter().map(|level| {
            let metric = format!("{family}@{level}");
            values(&models, &format!("{title}, σ = {level}"), &metric)
        }));
    }
    let figure = Figure {
        description: description(sentences),
        columns: panels.len().min(2),
        panels,
        series: models.series(),
        notes: notes(results, is_drawn),
        ..Figure::default()
    };
    named("robustness_analysis/robustness_comparison", figure)
}

/// The mean distance against the noise; bars where there is one level.
fn curve(models: &Models, family: &str, title: &str, levels: &[String]) -> Option<Panel> {
    let groups: Vec<Group> = levels
        .iter()
        .map(|level| Group::new(level.as_str(), format!("{family}@{level}")))
        .collect();
    let axis = Axis::linear("mean distance from the clean embedding").covering(&[0.0]);
    let bars = models.bars(title, axis.clone(), NOISE, &groups)?;
    // Without any value the bars are a sentence that says why.
    if levels.len() < 2 || matches!(bars.content, Content::Text(_)) {
        return Some(bars);
    }
    let curves = (0..models.names.len()).map(|series| {
        let point = |group: &Group| {
            let score = models.results.score(models.names[series], &group.metric)?;
            Some(CurvePoint {
                x: group.name.parse().ok()?,
                y: score.value,
                band: score.interval.map(|[low, high]| (low, high)),
            })
        };
        Curve {
            series,
            points: groups.iter().filter_map(point).collect(),
        }
    });
    let lines = Lines {
        x: Axis::linear(NOISE).covering(&[0.0]),
        y: axis,
        curves: curves.filter(|curve| !curve.points.is_empty()).collect(),
        ..Lines::default()
    };
    Some(Panel::new(titled(title, Better::Lower), lines).note(bars.note))
}

/// The distances of single samples, where they were kept.
fn boxes(models: &Models, family: &str, title: &str, levels: &[String]) -> Option<Panel> {
    let row = |series: usize| {
        let of = |level: &String| plain_box(&models.sampled(series, &format!("{family}@{level}")));
        let boxes: Vec<_> = levels.iter().map(of).collect();
        boxes.iter().any(Option::is_some).then_some(BoxRow { series, boxes })
    };
    let rows: Vec<BoxRow> = (0..models.names.len()).filter_map(row).collect();
    let boxes = Boxes {
        axis: Axis::linear("distance from the clean embedding").covering(&[0.0]),
        categories: levels.to_vec(),
        category_label: NOISE.to_string(),
        rows,
        ..Boxes::default()
    };
    (!boxes.rows.is_empty()).then(|| Panel::new(format!("{title}, by sample"), boxes))
}
