// SPDX-License-Identifier: MIT
//! Robustness: how far noise in the inputs moves the embeddings, level by level.

use super::models::{MOST_BARS, Models, highlighted, titled};
use super::spread::plain_box;
use super::words::{description, notes, values};
use super::{NamedFigure, middle};
use repscope_core::{Better, MetricId, Results};
use repscope_figures::{Axis, BoxRow, Boxes, Content, Lines, Orientation, Panel};

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
    let mut sentences = Vec::new();
    for (family, title) in FAMILIES {
        let levels = models.levels(&[family]);
        panels.extend(curve(&models, family, title, &levels));
        panels.extend(boxes(&models, family, title, &levels));
        let sentence = |level: &String| values(&models, &format!("{title}, σ = {level}"), &format!("{family}@{level}"));
        sentences.extend(levels.iter().map(sentence));
    }
    let words = description("Distance between embeddings of clean and noisy inputs.", sentences);
    let (columns, below) = (panels.len().min(2), notes(results, is_drawn));
    models.figure(
        "robustness_analysis/robustness_comparison",
        columns,
        panels,
        words,
        below,
    )
}

/// The mean distance against the noise; bars where there is one level.
fn curve(models: &Models, family: &str, title: &str, levels: &[String]) -> Option<Panel> {
    let axis = Axis::linear("mean distance from the clean embedding").covering(&[0.0]);
    let bars = models.bars_at(title, axis.clone(), NOISE, family, levels)?;
    // Without any value the bars are a sentence that says why.
    if levels.len() < 2 || models.are_a_long_series() || matches!(bars.content, Content::Text(_)) {
        return Some(bars);
    }
    let lines = Lines {
        x: Axis::linear(NOISE).covering(&[0.0]),
        y: axis,
        curves: highlighted(models.curves(family, levels), Better::Lower),
        ..Lines::default()
    };
    Some(Panel::new(titled(title, Better::Lower), lines).note(bars.note))
}

/// The distances of single samples, where they were kept.
fn boxes(models: &Models, family: &str, title: &str, levels: &[String]) -> Option<Panel> {
    // Boxes of many models at every level are a hedge: one level, a row for each.
    let is_many = models.names.len() > MOST_BARS;
    let levels = match middle(levels) {
        Some(level) if is_many => std::slice::from_ref(level),
        _ => levels,
    };
    let rows = models.known(|series| {
        let of = |level: &String| plain_box(&models.sampled(series, &format!("{family}@{level}")));
        let boxes: Vec<_> = levels.iter().map(of).collect();
        boxes.iter().any(Option::is_some).then_some(BoxRow { series, boxes })
    });
    let boxes = Boxes {
        axis: Axis::linear("distance from the clean embedding").covering(&[0.0]),
        categories: if is_many { Vec::new() } else { levels.to_vec() },
        category_label: if is_many { String::new() } else { NOISE.to_string() },
        orientation: if is_many {
            Orientation::Horizontal
        } else {
            Orientation::Vertical
        },
        rows,
        ..Boxes::default()
    };
    let at = if is_many {
        format!(", σ = {}", levels.concat())
    } else {
        String::new()
    };
    (!boxes.rows.is_empty()).then(|| Panel::new(format!("{title}, by sample{at}"), boxes))
}
