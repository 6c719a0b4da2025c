// SPDX-License-Identifier: MIT
//! Neighborhood preservation: trustworthiness and continuity over the number of neighbors, and R_NX over all sizes of neighborhoods.

use super::models::{Models, highlighted};
use super::words::{description, notes, table, values};
use super::{NamedFigure, middle, spread};
use crate::samples::curve;
use repscope_core::{Better, MetricId, Results};
use repscope_figures::{Axis, Curve, CurvePoint, Lines, Panel, Reference, ReferenceAt};

const FAMILIES: [(&str, &str); 2] = [("trustworthiness", "Trustworthiness"), ("continuity", "Continuity")];

/// The area under R_NX.
const AREA: &str = "r_nx.auc";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_of_family = |id: &MetricId| FAMILIES.iter().any(|(family, _)| *family == id.measure()) && id.at().is_some();
    let is_drawn = |id: &MetricId| is_of_family(id) || *id == AREA;
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
    panels.extend(above_chance(&models));
    panels.extend(models.bar(
        "Area under R_NX",
        Axis::linear("area over log K").covering(&[0.0]),
        AREA,
    ));
    sentences.extend(
        models
            .have(|id| *id == AREA)
            .then(|| values(&models, "Area under R_NX", AREA)),
    );
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

/// R_NX over the size of neighborhoods, from single neighbors to nearly all rows.
fn above_chance(models: &Models) -> Option<Panel> {
    let of_model = |series: usize| {
        let found = curve(models.results, models.names.get(series)?, "r_nx")?;
        let point = |(x, y): (&f64, &f64)| CurvePoint {
            x: *x,
            y: Some(*y).filter(|y| y.is_finite()),
            band: None,
        };
        Some(Curve {
            series,
            points: found.x.iter().zip(&found.y).map(point).collect(),
            ..Curve::default()
        })
    };
    let lines = Lines {
        x: Axis::log("neighbors K"),
        y: Axis::linear("R_NX").covering(&[0.0]),
        curves: highlighted(models.known(of_model), Better::Higher),
        references: vec![Reference::new(ReferenceAt::Horizontal(0.0), "chance")],
    };
    (!lines.curves.is_empty()).then(|| Panel::new("Neighborhoods of every size ↑", lines))
}
