// SPDX-License-Identifier: MIT
//! Maps: the plane that shows most of the variance of each model's embeddings, and the t-SNE map of their neighborhoods,
//! colored by label and by what the embeddings preserve.

use super::models::{Models, column};
use super::words::description;
use super::{NamedFigure, middle, named};
use crate::numbers::number;
use crate::text::printable;
use crate::tsne_words::{TSNE_COLUMNS, about_tsne};
use repscope_core::{ClassColumn, Results};
use repscope_figures::{ColoredBy, Figure, Map, Panel};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Principal,
    Tsne,
}

/// Where the samples of a model lie.
struct Plane {
    kind: Kind,
    series: usize,
    /// `None` where a sample has no place.
    points: Vec<Option<[f64; 2]>>,
    /// Shares of the variance along both directions.
    shares: Vec<f64>,
}

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let of = |kind: Kind| figures_of(&models, kind);
    [Kind::Principal, Kind::Tsne].into_iter().flat_map(of).collect()
}

fn figures_of(models: &Models, kind: Kind) -> Vec<NamedFigure> {
    let results = models.results;
    let name = match kind {
        Kind::Principal => "map/map",
        Kind::Tsne => "map/tsne",
    };
    let planes: Vec<Plane> = (0..models.names.len())
        .filter_map(|series| plane(models, series, kind))
        .collect();
    if planes.is_empty() {
        return Vec::new();
    }
    let mut figures = Vec::new();
    if let Some(labels) = results.classes.iter().find(|column| column.name == "labels") {
        let colored = |plane: &Plane| by_label(labels, plane.points.len());
        figures.extend(figure(models, &planes, "label", &format!("{name}_by_label"), colored));
    }
    let levels = models.levels(&["trustworthiness"]);
    if let Some(k) = middle(&levels) {
        let label = format!("trustworthiness, k = {k}");
        let colored = |plane: &Plane| by_trust(models, plane, k, &label);
        figures.extend(figure(
            models,
            &planes,
            &label,
            &format!("{name}_by_trustworthiness"),
            colored,
        ));
    }
    if figures.is_empty() {
        figures.extend(figure(models, &planes, "nothing", name, |_| Some(ColoredBy::Nothing)));
    }
    figures
}

fn plane(models: &Models, series: usize, kind: Kind) -> Option<Plane> {
    let [x, y] = match kind {
        Kind::Principal => ["x", "y"],
        Kind::Tsne => TSNE_COLUMNS,
    };
    let (x, y) = (models.samples(series, "map", x)?, models.samples(series, "map", y)?);
    let point = |(x, y): (&Option<f64>, &Option<f64>)| {
        let point = [(*x)?, (*y)?];
        point.iter().all(|x| x.is_finite()).then_some(point)
    };
    let points: Vec<Option<[f64; 2]>> = x.iter().zip(y).map(point).collect();
    let mut curves = models.results.curves.iter().filter(|_| kind == Kind::Principal);
    let curve = curves.find(|curve| curve.metric == "map" && curve.model == models.names[series]);
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
        Some(rows) => {
            let mut of = vec![None; plane.points.len()];
            for (row, share) in rows.iter().zip(shares) {
                let place = row.filter(|row| *row >= 0.0).and_then(|row| of.get_mut(row as usize));
                if let Some(place) = place {
                    *place = *share;
                }
            }
            of
        }
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
    let drawn: Vec<(&Plane, ColoredBy)> = planes
        .iter()
        .filter_map(|plane| Some((plane, colored(plane)?)))
        .collect();
    if drawn.is_empty() {
        return Vec::new();
    }
    let range = common_range(&drawn);
    let share = |plane: &Plane, i: usize| plane.shares.get(i).copied().filter(|share| share.is_finite());
    let panel = |(plane, colored_by): &(&Plane, ColoredBy)| {
        let axis = |i: usize| match share(plane, i) {
            _ if plane.kind == Kind::Tsne => format!("t-SNE {}", i + 1),
            Some(share) => format!("PC {} ({:.0} % of variance)", i + 1, share * 100.0),
            None => format!("PC {}", i + 1),
        };
        let map = Map {
            x_label: axis(0),
            y_label: axis(1),
            points: plane.points.iter().flatten().copied().collect(),
            colored_by: at_points(colored_by, plane, range.map(|range| range.ends)),
        };
        Panel::new(models.name(plane.series), map)
    };
    let sentence = |(plane, _): &(&Plane, ColoredBy)| {
        let both = share(plane, 0).zip(share(plane, 1));
        both.map_or(String::new(), |(a, b)| {
            format!(
                "{}: the plane holds {} % of the variance.",
                models.name(plane.series),
                number((a + b) * 100.0)
            )
        })
    };
    let is_tsne = drawn.iter().any(|(plane, _)| plane.kind == Kind::Tsne);
    let on = if is_tsne {
        "a t-SNE map, which keeps neighbors together"
    } else {
        "the plane of their first two principal components"
    };
    let head = match what {
        "nothing" => format!("Each model's embeddings on {on}."),
        _ => format!("Each model's embeddings on {on}, colored by {what}."),
    };
    let samples = drawn
        .iter()
        .map(|(plane, _)| plane.points.iter().flatten().count())
        .max()
        .unwrap_or(0);
    let all = drawn.iter().map(|(plane, _)| plane.points.len()).max().unwrap_or(0);
    let mut notes = vec![if is_tsne {
        format!("N = {samples}. {}", about_tsne(samples, all))
    } else {
        format!("N = {samples}. A plane shows part of the variance only: points that are near in it may be far apart.")
    }];
    if drawn.len() > 1
        && drawn
            .iter()
            .any(|(_, colored)| matches!(colored, ColoredBy::Value { .. }))
    {
        notes.push("All panels have the same range of colors.".to_string());
    }
    if range.is_some_and(|range| range.is_cut) {
        notes.push(
            "The colors end at the 2nd and the 98th percentile of the values; what lies beyond has the color of the end."
                .to_string(),
        );
    }
    let figure = Figure {
        description: description(std::iter::once(head).chain(drawn.iter().map(sentence))),
        panels: drawn.iter().map(panel).collect(),
        columns: if matches!(drawn.len(), 1 | 2 | 4) { 2 } else { 3 },
        series: models.series(),
        notes,
        ..Figure::default()
    };
    named(path, figure)
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
    let is_placed = |i: usize| plane.points.get(i).is_some_and(Option::is_some);
    match colored {
        ColoredBy::Class { names, of } => ColoredBy::Class {
            names: names.clone(),
            of: of
                .iter()
                .enumerate()
                .filter(|(i, _)| is_placed(*i))
                .map(|(_, c)| *c)
                .collect(),
        },
        ColoredBy::Value { label, of, .. } => ColoredBy::Value {
            label: label.clone(),
            range,
            of: of
                .iter()
                .enumerate()
                .filter(|(i, _)| is_placed(*i))
                .map(|(_, x)| *x)
                .collect(),
        },
        other => other.clone(),
    }
}
