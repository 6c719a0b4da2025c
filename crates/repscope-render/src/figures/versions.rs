// SPDX-License-Identifier: MIT
//! Scores over the number of columns that are kept, and at each precision.

use super::models::{Models, measured, point, titled};
use super::words::description;
use super::{NamedFigure, named};
use crate::numbers::written;
use crate::scores::distinct;
use crate::text::printable;
use crate::verdict::is_shown;
use crate::versions::interval_note;
use repscope_core::{Better, MetricId, Precision, Results, Score};
use repscope_figures::{
    Axis, BarRow, Bars, Content, Curve, CurveLook, CurvePoint, Figure, Lines, Panel, Reference, ReferenceAt,
};

/// More panels than this are no figure.
const MOST_PANELS: usize = 8;
const NOTE: &str =
    "The right end of each line is the whole embedding. Prefixes have unit length where the whole rows have it.";
const QUANTIZED: &str =
    "int8: the nearest of 256 levels between the smallest and the largest value of each column; binary: signs.";

/// The figure of an analysis, in its folder; none where no versions were measured.
pub(super) fn figures(results: &Results, folder: &str, analysis: &str) -> Vec<NamedFigure> {
    let of_versions = results.versions.iter().flat_map(|own| &own.results.scores);
    let ids = distinct(of_versions.map(|score| &score.metric));
    let ids: Vec<&MetricId> = ids
        .into_iter()
        .filter(|id| id.metric().is_some_and(|own| own.analysis.name() == analysis) && is_shown(results, id))
        .take(MOST_PANELS)
        .collect();
    let models = Models::of(results);
    let has_prefixes = results.versions.iter().any(|own| own.version.columns.is_some());
    let precisions = distinct(results.versions.iter().map(|own| own.version.precision));
    let mut kept = vec![Precision::Float];
    kept.extend(precisions.into_iter().filter(|own| *own != Precision::Float));
    let panel = |id: &&MetricId| {
        if has_prefixes {
            lines(&models, id, &kept)
        } else {
            bars(&models, id, &kept)
        }
    };
    let panels: Vec<Panel> = ids.iter().filter_map(panel).collect();
    let series = if has_prefixes {
        series(&models, &kept)
    } else {
        models.names.iter().map(|name| printable(name)).collect()
    };
    let mut notes: Vec<String> = has_prefixes.then(|| NOTE.to_string()).into_iter().collect();
    notes.extend((kept.len() > 1).then(|| QUANTIZED.to_string()));
    notes.extend(interval_note(results));
    let figure = Figure {
        description: description(
            "What shorter and quantized embeddings score.",
            ids.iter().map(|id| in_words(results, id)),
        ),
        columns: panels.len().clamp(1, 2),
        panels,
        series,
        notes,
        ..Figure::default()
    };
    named(&format!("{folder}/{analysis}_versions"), figure)
}

/// A line for each model at each precision.
fn series(models: &Models, kept: &[Precision]) -> Vec<String> {
    let name = |model: usize, precision: &Precision| match precision {
        Precision::Float => models.name(model),
        other => format!("{} {}", models.name(model), other.name()),
    };
    // The models come first, so that they have the colors that they have elsewhere.
    let of = |precision: &Precision| {
        (0..models.names.len())
            .map(|model| name(model, precision))
            .collect::<Vec<_>>()
    };
    kept.iter().flat_map(of).collect()
}

fn lines(models: &Models, id: &MetricId, kept: &[Precision]) -> Option<Panel> {
    let results = models.results;
    let curve = |model: usize, at: usize, precision: Precision| {
        let name = models.names[model];
        let own = results.versions.iter().filter(|own| own.version.precision == precision);
        let mut points: Vec<CurvePoint> = own
            .filter_map(|own| Some(point(own.columns_of(name)? as f64, own.results.score(name, id)?)))
            .collect();
        if precision == Precision::Float {
            let all = results.versions.iter().find_map(|own| own.columns.get(name))?;
            points.extend(results.score(name, id).map(|whole| point(*all as f64, whole)));
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let is_known = points.iter().any(|point| point.y.is_some());
        is_known.then_some(Curve {
            series: at * models.names.len() + model,
            points,
            look: CurveLook::Full,
        })
    };
    let mut curves = Vec::new();
    for (at, precision) in kept.iter().enumerate() {
        curves.extend((0..models.names.len()).filter_map(|model| curve(model, at, *precision)));
    }
    let references = chance(models, id).map(|chance| Reference::new(ReferenceAt::Horizontal(chance), "chance"));
    (!curves.is_empty()).then(|| {
        let content = Lines {
            x: Axis::log("columns"),
            y: Axis::linear(id.to_string()),
            curves,
            references: references.into_iter().collect(),
        };
        Panel::new(titled(id, direction(id)), content)
    })
}

/// Without prefixes a precision is a group of bars.
fn bars(models: &Models, id: &MetricId, kept: &[Precision]) -> Option<Panel> {
    let results = models.results;
    let score = |model: &str, precision: Precision| -> Option<&Score> {
        if precision == Precision::Float {
            return results.score(model, id);
        }
        let own = results.versions.iter().find(|own| own.version.precision == precision);
        own.and_then(|own| own.results.score(model, id))
    };
    let rows = models.known(|series| {
        let name = models.names[series];
        let bars = kept.iter().map(|precision| measured(score(name, *precision)));
        results.score(name, id)?;
        Some(BarRow {
            series,
            bars: bars.collect(),
        })
    });
    (!rows.is_empty()).then(|| {
        let content = Bars {
            axis: Axis::linear(id.to_string()),
            categories: kept.iter().map(|own| own.name().to_string()).collect(),
            category_label: "stored as".to_string(),
            chance: chance(models, id).map(Some).into_iter().collect(),
            rows,
            ..Bars::default()
        };
        Panel::new(titled(id, direction(id)), Content::from(content))
    })
}

fn direction(id: &MetricId) -> Better {
    id.output().map_or(Better::Neither, |output| output.better)
}

/// The chance level where all whole embeddings share it.
fn chance(models: &Models, id: &MetricId) -> Option<f64> {
    let all: Vec<Option<f64>> = models.scores(id).iter().map(|(_, score)| score.chance).collect();
    let first = (*all.first()?)?;
    let is_same = |own: &Option<f64>| own.is_some_and(|own| (own - first).abs() <= 1e-9 * first.abs());
    all.iter().all(is_same).then_some(first)
}

/// A score of all versions in a sentence.
fn in_words(results: &Results, id: &MetricId) -> String {
    let of = results.versions.iter().flat_map(|own| {
        let scores = own.results.scores.iter().filter(|score| score.metric == *id);
        scores.filter_map(move |score| {
            let value = written(score.value?, score.interval);
            Some(format!("{} {} {value}", score.model, own.version))
        })
    });
    let of: Vec<String> = of.collect();
    match of.len() {
        0 => String::new(),
        _ => format!("{id}: {}.", of.join(", ")),
    }
}
