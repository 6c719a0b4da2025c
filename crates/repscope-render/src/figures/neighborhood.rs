// SPDX-License-Identifier: MIT
//! Neighborhood preservation: trustworthiness and continuity over the number of neighbors.

use super::models::{Group, Models, titled};
use super::words::{description, notes, table, values};
use super::{NamedFigure, middle, named, spread};
use repscope_core::{Better, MetricId, Results};
use repscope_figures::{Axis, Curve, CurvePoint, Figure, Lines, Panel};

const FAMILIES: [(&str, &str); 2] = [("trustworthiness", "Trustworthiness"), ("continuity", "Continuity")];

/// More models than this are drawn as curves.
const MOST_GROUPED: usize = 6;

/// Bars that differ by less than this, from 0 to 1, look alike.
const LEAST_APART: f64 = 0.1;

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = |id: &MetricId| FAMILIES.iter().any(|(family, _)| *family == id.measure()) && id.at().is_some();
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let levels = models.levels(&FAMILIES.map(|(family, _)| family));
    let mut panels: Vec<Panel> = Vec::new();
    let mut sentences = vec!["Whether neighbors among the inputs are neighbors among the embeddings.".to_string()];
    for (family, title) in FAMILIES {
        let group = |k: &String| Group::new(k.as_str(), format!("{family}@{k}"));
        let groups: Vec<Group> = levels.iter().map(group).collect();
        let axis = Axis::linear(family).covering(&[0.0, 1.0]);
        let title_of_all = match levels.as_slice() {
            [k] => format!("{title}, k = {k}"),
            _ => title.to_string(),
        };
        // Groups of many bars of nearly the same height say nothing; curves do.
        let mut panel = models.bars(&title_of_all, axis, "neighbors k", &groups);
        let curves = curves(&models, family, &levels).filter(|_| models.names.len() > MOST_GROUPED);
        if let (Some(panel), Some(lines)) = (&mut panel, curves) {
            panel.content = lines.into();
        }
        panels.extend(panel);
        sentences.extend(groups.iter().map(|group| {
            let what = format!("{title}, k = {}", group.name);
            values(&models, &what, &group.metric)
        }));
    }
    if models.names.len() <= MOST_GROUPED {
        for (family, title) in FAMILIES {
            panels.extend(enlarged(&models, family, title, &levels));
        }
    }
    // One number of neighbors says enough about single samples.
    if let Some(k) = middle(&levels) {
        for (family, title) in FAMILIES {
            let label = format!("{family} of a sample");
            let content = spread::of_models(&models, &format!("{family}@{k}"), &label);
            panels.extend(content.map(|content| Panel::new(format!("{title} of single samples, k = {k}"), content)));
        }
    }
    panels.extend(table(results, is_drawn).map(|panel| panel.span(2)));
    let figure = Figure {
        description: description(sentences),
        panels,
        columns: 2,
        series: models.series(),
        notes: notes(results, is_drawn),
        ..Figure::default()
    };
    named("neighborhood_preservation/neighborhood_preservation", figure)
}

/// The scores as curves on an axis that need not start at zero. `None` where there is one number of neighbors.
fn curves(models: &Models, family: &str, levels: &[String]) -> Option<Lines> {
    let curve = |series: usize| {
        let point = |k: &String| {
            let score = models.results.score(models.names[series], &format!("{family}@{k}"))?;
            Some(CurvePoint {
                x: k.parse().ok()?,
                y: score.value,
                band: score.interval.map(|[low, high]| (low, high)),
            })
        };
        Curve {
            series,
            points: levels.iter().filter_map(point).collect(),
        }
    };
    let curves: Vec<Curve> = (0..models.names.len())
        .map(curve)
        .filter(|curve| !curve.points.is_empty())
        .collect();
    let is_known = |curve: &Curve| curve.points.iter().any(|point| point.y.is_some());
    (levels.len() > 1 && curves.iter().any(is_known)).then(|| Lines {
        x: Axis::linear("neighbors k"),
        y: Axis::linear(family),
        curves,
        ..Lines::default()
    })
}

/// The same scores as curves, where the bars of the models look alike.
fn enlarged(models: &Models, family: &str, title: &str, levels: &[String]) -> Option<Panel> {
    let lines = curves(models, family, levels)?;
    let known: Vec<f64> = lines
        .curves
        .iter()
        .flat_map(|curve| curve.points.iter().filter_map(|point| point.y))
        .collect();
    let (low, high) = known
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
    if known.len() < 2 || high - low >= LEAST_APART {
        return None;
    }
    Some(Panel::new(titled(&format!("{title}, enlarged"), Better::Higher), lines))
}
