// SPDX-License-Identifier: MIT
//! Neighborhood preservation: trustworthiness and continuity over the number of neighbors.

use super::models::{Models, highlighted};
use super::words::{description, notes, table, values};
use super::{NamedFigure, middle, spread};
use repscope_core::{Better, MetricId, Results};
use repscope_figures::{Axis, Curve, Lines, Panel};

const FAMILIES: [(&str, &str); 2] = [("trustworthiness", "Trustworthiness"), ("continuity", "Continuity")];

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = |id: &MetricId| FAMILIES.iter().any(|(family, _)| *family == id.measure()) && id.at().is_some();
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let levels = models.levels(&FAMILIES.map(|(family, _)| family));
    let mut panels: Vec<Panel> = Vec::new();
    let mut sentences = Vec::new();
    for (family, title) in FAMILIES {
        let axis = Axis::linear(family).covering(&[0.0, 1.0]);
        let title_of_all = match levels.as_slice() {
            [k] => format!("{title}, k = {k}"),
            _ => title.to_string(),
        };
        let mut panel = models.bars_at(&title_of_all, axis, "neighbors k", family, &levels);
        // Over several k curves show both the level and the trend; those of many epochs are lines over the epochs.
        if let (Some(panel), Some(lines), false) =
            (&mut panel, curves(&models, family, &levels), models.are_a_long_series())
        {
            panel.content = lines.into();
        }
        panels.extend(panel);
        let sentence = |k: &String| values(&models, &format!("{title}, k = {k}"), &format!("{family}@{k}"));
        sentences.extend(levels.iter().map(sentence));
    }
    // One number of neighbors says enough about single samples.
    for ((family, title), k) in FAMILIES.iter().zip(middle(&levels).into_iter().cycle()) {
        let content = spread::of_models(&models, &format!("{family}@{k}"), &format!("{family} of a sample"));
        panels.extend(content.map(|content| Panel::new(format!("{title} of single samples, k = {k}"), content)));
    }
    panels.extend(table(results, is_drawn).map(|panel| panel.span(2)));
    let words = description(
        "Whether neighbors among the inputs are neighbors among the embeddings.",
        sentences,
    );
    let path = "neighborhood_preservation/neighborhood_preservation";
    models.figure(path, 2, panels, words, notes(results, is_drawn))
}

/// The scores as curves on an axis that need not start at zero. `None` where there is one number of neighbors.
fn curves(models: &Models, family: &str, levels: &[String]) -> Option<Lines> {
    let curves = models.curves(family, levels);
    let is_known = |curve: &Curve| curve.points.iter().any(|point| point.y.is_some());
    (levels.len() > 1 && curves.iter().any(is_known)).then(|| Lines {
        x: Axis::linear("neighbors k"),
        y: Axis::linear(family),
        curves: highlighted(curves, Better::Higher),
        ..Lines::default()
    })
}
