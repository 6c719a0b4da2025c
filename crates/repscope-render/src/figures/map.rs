// SPDX-License-Identifier: MIT
//! Maps: the plane that shows most of the variance of each model's embeddings, and the t-SNE map of their neighborhoods,
//! colored by label and by what the embeddings preserve.

use super::models::Models;
use super::words::description;
use super::{NamedFigure, middle};
use crate::numbers::number;
use crate::samples::{MapKind, about_tsne, at_rows, column, curve, table};
use crate::text::printable;
use repscope_core::{ClassColumn, Results};
use repscope_figures::{ColoredBy, Map, Panel};

/// Where the samples of a model lie.
struct Plane {
    kind: MapKind,
    series: usize,
    /// `None` where a sample has no place.
    points: Vec<Option<[f64; 2]>>,
    /// Shares of the variance along both directions.
    shares: Vec<f64>,
}

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    [
        figures_of(&models, MapKind::Principal),
        figures_of(&models, MapKind::Tsne),
    ]
    .concat()
}

fn figures_of(models: &Models, kind: MapKind) -> Vec<NamedFigure> {
    let name = match kind {
        MapKind::Principal => "map/map",
        MapKind::Tsne => "map/tsne",
    };
    let planes = models.known(|series| plane(models, series, kind));
    let mut figures = Vec::new();
    if let Some(labels) = models.results.classes.iter().find(|column| column.name == "labels") {
        let colored = |plane: &Plane| by_label(labels, plane.points.len());
        figures.extend(figure(models, &planes, "label", &format!("{name}_by_label"), colored));
    }
    if let Some(k) = middle(&models.levels(&["trustworthiness"])) {
        let (label, path) = (
            format!("trustworthiness, k = {k}"),
            format!("{name}_by_trustworthiness"),
        );
        let colored = |plane: &Plane| by_trust(models, plane, k, &label);
        figures.extend(figure(models, &planes, &label, &path, colored));
    }
    if figures.is_empty() {
        figures.extend(figure(models, &planes, "nothing", name, |_| Some(ColoredBy::Nothing)));
    }
    figures
}

fn plane(models: &Models, series: usize, kind: MapKind) -> Option<Plane> {
    let model = models.names[series];
    let map = table(models.results, model, "map")?;
    let rows = map.columns.first()?.1.len();
    let points: Vec<Option<[f64; 2]>> = (0..rows).map(|row| kind.place(map, row)).collect();
    let curve = curve(models.results, model, "map").filter(|_| kind == MapKind::Principal);
    points.iter().any(Option::is_some).then(|| Plane {
        kind,
        series,
        points,
        shares: curve.map(|curve| curve.y.clone()).unwrap_or_default(),
    })
}

/// Classes that do not stand for these samples color nothing.
fn by_label(labels: &ClassColumn, samples: usize) -> Option<ColoredBy> {
    (labels.codes.len() == samples).then(|| ColoredBy::Class {
        names: labels.names.iter().map(|name| printable(name)).collect(),
        of: labels.codes.iter().map(|code| Some(*code as usize)).collect(),
    })
}

/// Where only some rows were asked, the others have no value.
fn by_trust(models: &Models, plane: &Plane, k: &str, label: &str) -> Option<ColoredBy> {
    let metric = format!("trustworthiness@{k}");
    let table = models.table_with(plane.series, &metric)?;
    let shares = column(table, &metric)?;
    let of = match column(table, "row") {
        None if shares.len() == plane.points.len() => shares.to_vec(),
        None => return None,
        Some(rows) => at_rows(shares, rows, plane.points.len()),
    };
    Some(ColoredBy::Value {
        label: label.to_string(),
        of,
        range: None,
    })
}

/// A panel per model; `None` where no model can be colored this way.
fn figure(
    models: &Models,
    planes: &[Plane],
    what: &str,
    path: &str,
    colored: impl Fn(&Plane) -> Option<ColoredBy>,
) -> Vec<NamedFigure> {
    let drawn = planes.iter().filter_map(|plane| Some((plane, colored(plane)?)));
    let drawn: Vec<(&Plane, ColoredBy)> = drawn.collect();
    if drawn.is_empty() {
        return Vec::new();
    }
    let range = common_range(&drawn);
    let panel = |(plane, colored_by): &(&Plane, ColoredBy)| {
        let map = Map {
            x_label: plane.kind.axis(&plane.shares, 0),
            y_label: plane.kind.axis(&plane.shares, 1),
            points: plane.points.iter().flatten().copied().collect(),
            colored_by: at_points(colored_by, plane, range.map(|range| range.ends)),
        };
        Panel::new(models.name(plane.series), map)
    };
    let sentence = |(plane, _): &(&Plane, ColoredBy)| {
        let [a, b] = [0, 1].map(|i| plane.shares.get(i).copied().filter(|share| share.is_finite()));
        let (name, share) = (models.name(plane.series), number((a? + b?) * 100.0));
        Some(format!("{name}: the plane holds {share} % of the variance."))
    };
    let is_tsne = drawn.iter().any(|(plane, _)| plane.kind == MapKind::Tsne);
    let on = if is_tsne {
        "a t-SNE map, which keeps neighbors together"
    } else {
        "the plane of their first two principal components"
    };
    let colors = if what == "nothing" {
        String::new()
    } else {
        format!(", colored by {what}")
    };
    let most = |of: &dyn Fn(&Plane) -> usize| drawn.iter().map(|(plane, _)| of(plane)).max().unwrap_or(0);
    let samples = most(&|plane| plane.points.iter().flatten().count());
    let how = if is_tsne {
        about_tsne(samples, most(&|plane| plane.points.len()))
    } else {
        "A plane shows part of the variance only: points that are near in it may be far apart.".to_string()
    };
    let mut notes = vec![format!("N = {samples}. {how}")];
    if drawn.len() > 1 && range.is_some() {
        notes.push("All panels have the same range of colors.".to_string());
    }
    if range.is_some_and(|range| range.is_cut) {
        let ends = "The colors end at the 2nd and the 98th percentile of the values; what lies beyond has the color of the end.";
        notes.push(ends.to_string());
    }
    let columns = if matches!(drawn.len(), 1 | 2 | 4) { 2 } else { 3 };
    let head = format!("Each model's embeddings on {on}{colors}.");
    let words = description(head, drawn.iter().filter_map(sentence));
    models.figure(path, columns, drawn.iter().map(panel), words, notes)
}

/// Values that the scale of colors covers.
#[derive(Clone, Copy)]
struct ColorRange {
    ends: (f64, f64),
    /// Whether values lie beyond.
    is_cut: bool,
}

/// Nearly all values of all models, so that a color means the same in all panels. A few far away would leave one color to
/// the rest: most samples of most models have values near the best.
fn common_range(drawn: &[(&Plane, ColoredBy)]) -> Option<ColorRange> {
    let values = drawn.iter().flat_map(|(_, colored)| match colored {
        ColoredBy::Value { of, .. } => of.as_slice(),
        _ => &[],
    });
    let mut values: Vec<f64> = values.flatten().copied().filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let whole = (*values.first()?, *values.last()?);
    let cut = values.len() / 50;
    let most = (values[cut], values[values.len() - 1 - cut]);
    let ends = if most.0 < most.1 { most } else { whole };
    Some(ColorRange {
        ends,
        is_cut: ends != whole,
    })
}

/// The colors of the samples that have a place.
fn at_points(colored: &ColoredBy, plane: &Plane, range: Option<(f64, f64)>) -> ColoredBy {
    fn placed<T: Copy>(of: &[T], plane: &Plane) -> Vec<T> {
        let all = of.iter().zip(&plane.points);
        all.filter(|(_, point)| point.is_some())
            .map(|(value, _)| *value)
            .collect()
    }
    match colored {
        ColoredBy::Class { names, of } => ColoredBy::Class {
            names: names.clone(),
            of: placed(of, plane),
        },
        ColoredBy::Value { label, of, .. } => ColoredBy::Value {
            label: label.clone(),
            range,
            of: placed(of, plane),
        },
        other => other.clone(),
    }
}
