// SPDX-License-Identifier: MIT
//! Maps: the plane that shows most of the variance of each model's embeddings, and the t-SNE map of their neighborhoods. The
//! page holds a drawing of some points of the plane, for paper and for readers without the script, and the numbers from
//! which the script draws all points of either map, recolors them, and says which sample is where.

mod coloring;

use super::Models;
use super::figures::STEPS;
use super::safe::{escape, json, of_model};
use super::samples::rows;
use super::worst::listed;
use crate::numbers::number;
use crate::samples::{MapKind, about_tsne, curve, table};
use coloring::{Coloring, colorings};
use repscope_core::{Results, SampleTable};
use repscope_figures::scramble;
use std::collections::BTreeMap;

/// The maps, in the order in which the page offers them.
const KINDS: [MapKind; 2] = [MapKind::Principal, MapKind::Tsne];
/// Size of a map in units of its drawing.
const SIZE: [f64; 2] = [1000.0, 800.0];
/// Points of one map in the page; more are thinned, the same rows for all models.
const MOST_POINTS: usize = 20_000;
/// Points of all maps together.
const MOST_IN_ALL: usize = 120_000;
/// Points of the drawing that needs no script.
const MOST_DRAWN: usize = 2000;

impl Plane<'_> {
    /// The places on one of the maps.
    fn on(&self, kind: MapKind) -> &[Option<[f64; 2]>] {
        match kind {
            MapKind::Principal => &self.points,
            MapKind::Tsne => &self.tsne,
        }
    }
}

/// What a map shows, but for its colors.
fn about(plane: &Plane, kind: MapKind) -> String {
    let [right, up] = [0, 1].map(|i| kind.axis(&plane.shares, i));
    format!("Map of {}: {right} to the right, {up} upwards", plane.model)
}

/// The tables with the places of the samples.
fn maps(results: &Results) -> impl Iterator<Item = &SampleTable> {
    results.samples.iter().filter(|table| table.metric == "map")
}

/// How many samples have a place on the map of this kind.
fn placed(map: &SampleTable, kind: MapKind) -> usize {
    let rows = map.columns.first().map_or(0, |(_, values)| values.len());
    (0..rows).filter(|row| kind.place(map, *row).is_some()).count()
}

/// Whether any model has a map.
pub(super) fn has_maps(results: &Results) -> bool {
    maps(results).any(|map| placed(map, MapKind::Principal) > 0)
}

pub(super) fn section(results: &Results, models: &Models) -> String {
    let Some(count) = rows(results).filter(|_| has_maps(results)) else {
        return String::new();
    };
    let most = MOST_POINTS.min(MOST_IN_ALL / maps(results).count().max(1));
    // A t-SNE map has places for a sample of many rows: those come first.
    let is_sampled = |row| maps(results).any(|map| MapKind::Tsne.place(map, row).is_some());
    let kept = kept(count, most, is_sampled, || {
        listed(results, models, count).into_iter().collect()
    });
    let planes = models
        .names
        .iter()
        .enumerate()
        .filter_map(|(i, model)| plane(results, model, i, &kept));
    let planes: Vec<Plane> = planes.collect();
    if planes.is_empty() {
        return String::new();
    }
    let colorings = colorings(results, &planes, count, &kept);
    let thinned = match kept.len() {
        shown if shown < count => {
            format!(" {shown} of {count} samples are shown, chosen at random, the same in every map.")
        }
        _ => String::new(),
    };
    let several = match planes.len() {
        1 => "",
        _ => " Point at a sample to find it in every map.",
    };
    // All rows, not those that are kept: the page says how the map was made.
    let on_tsne = maps(results).map(|map| placed(map, MapKind::Tsne)).max().unwrap_or(0);
    let (kinds, tsne) = match on_tsne {
        0 => (&KINDS[..1], String::new()),
        _ => {
            let about = about_tsne(on_tsne, count);
            (
                &KINDS[..],
                format!("<p class=\"map-about\" data-kind=\"1\" hidden>{about}</p>\n"),
            )
        }
    };
    let figure = |(i, plane)| figure(plane, i, models, kinds, colorings.first());
    let figures: String = planes.iter().enumerate().map(figure).collect();
    format!(
        "<p class=\"map-about\" data-kind=\"0\">Each model’s embeddings on the plane of their first two principal components. A \
         plane shows part of the variance only: points that are near in it may be far apart.</p>\n{tsne}\
         <p>{thinned}<span class=\"scripted\">{several} Drag to move, use the buttons or Ctrl and the wheel to zoom.</span>\
         </p>\n{}{}<div class=\"maps\">\n{figures}</div>\n\
         <script type=\"application/json\" id=\"map-data\">{}</script>\n",
        controls(kinds, &colorings, count),
        legends(&colorings),
        json(&coloring::data(&planes, kinds, &colorings, &kept, count)),
    )
}

/// The rows that are shown: all, or some at random (always the same ones), `first` ones before others, and those that must
/// be among them.
fn kept(count: usize, most: usize, first: impl Fn(usize) -> bool, needed: impl Fn() -> Vec<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if count > most {
        order.sort_by_cached_key(|row| (!first(*row), scramble(*row as u64)));
        order.truncate(most);
        order.extend(needed());
        order.sort_unstable();
        order.dedup();
    }
    order
}

fn figure(plane: &Plane, number: usize, models: &Models, kinds: &[MapKind], coloring: Option<&Coloring>) -> String {
    let colored = coloring.map(|coloring| format!(", colored by {}", coloring.name()));
    let about = format!("{}{}.", about(plane, MapKind::Principal), colored.unwrap_or_default());
    let axes = |(i, kind): (usize, &MapKind)| {
        let hidden = if i > 0 { " hidden" } else { "" };
        let [right, up] = [0, 1].map(|axis| kind.axis(&plane.shares, axis));
        format!("<span data-kind=\"{i}\"{hidden}>→ {right}<br>↑ {up}</span>")
    };
    let axes: String = kinds.iter().enumerate().map(axes).collect();
    let shown = plane.points.iter().flatten().count();
    // About as much ink for many points as for few.
    let dot = (5.0 * (500.0 / shown.max(1) as f64).powf(0.3)).clamp(1.8, 5.0);
    format!(
        "<figure class=\"map\"{}>\n<figcaption><h3>{}</h3></figcaption>\n\
         <svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" data-map=\"{number}\" style=\"--dot:{dot:.1}px\">\
         <g class=\"points\">{}</g><circle class=\"ring\" r=\"0\"/></svg>\n\
         <div class=\"under\">{axes}<span class=\"control zoom\">\
         <button type=\"button\" data-zoom=\"1.6\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" data-zoom=\"0.625\" aria-label=\"Zoom out\">−</button>\
         <button type=\"button\" data-zoom=\"0\">All</button></span></div>\n</figure>\n",
        of_model(plane.model),
        models.swatch(plane.model),
        SIZE[0],
        SIZE[1],
        escape(&about),
        drawing(plane, number, coloring),
    )
}

/// Some of the points, a path for each color. A point is a line of no length with a round end.
fn drawing(plane: &Plane, number: usize, coloring: Option<&Coloring>) -> String {
    let mut order: Vec<usize> = (0..plane.points.len()).filter(|i| plane.points[*i].is_some()).collect();
    if order.len() > MOST_DRAWN {
        order.sort_unstable_by_key(|i| scramble(*i as u64));
        order.truncate(MOST_DRAWN);
        order.sort_unstable();
    }
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for i in order {
        let color = match coloring {
            Some(coloring) => coloring.color(number, i),
            None => format!("var(--s{})", plane.series),
        };
        if let Some([x, y]) = plane.points[i] {
            *paths.entry(color).or_default() += &format!("M{x:.1} {y:.1}h0");
        }
    }
    let path = |(color, d): (&String, &String)| format!("<path stroke=\"{color}\" d=\"{d}\"/>");
    paths.iter().map(path).collect()
}

/// Which map is shown, what the points are colored by, and a box to find a row.
fn controls(kinds: &[MapKind], colorings: &[Coloring], count: usize) -> String {
    // One thing is no choice.
    let choice = |label: &str, id: &str, names: &[&str]| {
        let option = |(i, name): (usize, &&str)| format!("<option value=\"{i}\">{}</option>", escape(name));
        let options: String = names.iter().enumerate().map(option).collect();
        match names.len() {
            0 | 1 => String::new(),
            _ => format!("<label>{label} <select id=\"{id}\">{options}</select></label>\n"),
        }
    };
    let colored: Vec<&str> = colorings.iter().map(Coloring::name).collect();
    format!(
        "<div class=\"control map-controls\">\n{}{}<label>Find row <input type=\"number\" id=\"find-row\" min=\"0\" max=\"{}\" \
         step=\"1\" inputmode=\"numeric\"></label>\n<output id=\"found-row\"></output>\n</div>\n",
        choice("Map", "map-kind", &["principal components", "t-SNE"][..kinds.len()]),
        choice("Color by", "color-by", &colored),
        count.saturating_sub(1)
    )
}

/// What the colors mean. All but the first are hidden until the colors change.
fn legends(colorings: &[Coloring]) -> String {
    let legend = |(i, coloring): (usize, &Coloring)| {
        let hidden = if i > 0 { " hidden" } else { "" };
        format!(
            "<div class=\"map-legend\" data-coloring=\"{i}\"{hidden}>{}</div>\n",
            legend(coloring)
        )
    };
    colorings.iter().enumerate().map(legend).collect()
}

fn legend(coloring: &Coloring) -> String {
    match coloring {
        Coloring::Class { names, colors, .. } => {
            let own = colors
                .iter()
                .zip(names)
                .filter_map(|(color, name)| Some(((*color)?, name)));
            let own = own.map(|(color, name)| entry(&format!("var(--c{color})"), &escape(name)));
            let mut items: String = own.collect();
            if colors.contains(&None) {
                items += &entry("var(--other)", "other");
            }
            format!("<ul>{items}</ul>")
        }
        Coloring::Value { name, edges, .. } => {
            let patch = |i: usize| format!("<i style=\"background:var(--v{i})\"></i>");
            let quarter = |from: usize| {
                let patches: String = (from..from + STEPS / 4).map(patch).collect();
                format!("{} <span class=\"ramp\">{patches}</span> ", number(edges[from]))
            };
            let scale: String = (0..STEPS).step_by(STEPS / 4).map(quarter).collect();
            let (name, last) = (escape(name), number(edges[STEPS]));
            format!("<p>{name}: {scale}{last}. Each color stands for as many samples as the others.</p>")
        }
    }
}

fn entry(color: &str, name: &str) -> String {
    format!("<li><span class=\"swatch\" style=\"--swatch:{color}\"></span>{name}</li>")
}

/// Where the samples of a model lie.
pub(super) struct Plane<'a> {
    pub(super) model: &'a str,
    /// The number of the model among all, which gives its color.
    pub(super) series: usize,
    /// In units of the drawing, for the rows that are kept; `None` where a sample has no place.
    pub(super) points: Vec<Option<[f64; 2]>>,
    /// The same on the t-SNE map; all `None` where there is none.
    pub(super) tsne: Vec<Option<[f64; 2]>>,
    /// Shares of the variance along both directions.
    pub(super) shares: Vec<f64>,
}

/// The plane of a model; `None` where it has none.
pub(super) fn plane<'a>(results: &Results, model: &'a str, series: usize, kept: &[usize]) -> Option<Plane<'a>> {
    let map = table(results, model, "map")?;
    let curve = curve(results, model, "map");
    Some(Plane {
        model,
        series,
        points: places(map, MapKind::Principal, kept)?,
        tsne: places(map, MapKind::Tsne, kept).unwrap_or(vec![None; kept.len()]),
        shares: curve.map(|curve| curve.y.clone()).unwrap_or_default(),
    })
}

/// The places of the rows that are kept, in units of the drawing; `None` where no row has one.
fn places(map: &SampleTable, kind: MapKind, kept: &[usize]) -> Option<Vec<Option<[f64; 2]>>> {
    let points: Vec<Option<[f64; 2]>> = kept.iter().map(|row| kind.place(map, *row)).collect();
    let place = fit(points.iter().flatten())?;
    Some(points.iter().map(|point| point.map(&place)).collect())
}

/// Where a point stands in the drawing. One unit is equally long in both directions, and y grows upwards.
fn fit<'p>(points: impl Iterator<Item = &'p [f64; 2]> + Clone) -> Option<impl Fn([f64; 2]) -> [f64; 2]> {
    let ends = |axis: usize| {
        let low = points.clone().map(|point| point[axis]).min_by(f64::total_cmp)?;
        let high = points.clone().map(|point| point[axis]).max_by(f64::total_cmp)?;
        Some((low, high))
    };
    let (x, y) = (ends(0)?, ends(1)?);
    let middle = |(low, high): (f64, f64)| low / 2.0 + high / 2.0;
    let center = [middle(x), middle(y)];
    // Halves first: the width of very large numbers would not be finite.
    let reach = |(low, high): (f64, f64), size: f64| (high / 2.0 - low / 2.0) / (0.47 * size);
    let unit = reach(x, SIZE[0]).max(reach(y, SIZE[1]));
    let scaled = move |distance: f64| if unit > 0.0 { distance / unit } else { 0.0 };
    Some(move |[a, b]: [f64; 2]| {
        [
            SIZE[0] / 2.0 + scaled(a - center[0]),
            SIZE[1] / 2.0 - scaled(b - center[1]),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_rows_hold_those_that_are_needed() {
        let rows = kept(100_000, 1000, |_| false, || vec![77_777, 3]);
        assert!((1000..=1002).contains(&rows.len()) && rows.contains(&77_777) && rows.contains(&3));
        assert!(rows.is_sorted());
        assert_eq!(kept(3, 1000, |_| false, Vec::new), [0, 1, 2]);
    }

    #[test]
    fn thinned_rows_hold_those_of_the_tsne_map_first() {
        let sampled: Vec<bool> = (0..5000).map(|row| row % 7 == 2).collect();
        let rows = kept(5000, 1000, |row| sampled[row], Vec::new);
        let of_map = rows.iter().filter(|row| sampled[**row]).count();
        // 5000 rows have 714 with remainder 2, and the other 286 are any.
        assert_eq!((rows.len(), of_map), (1000, 714));
    }

    #[test]
    fn both_directions_have_one_unit_and_fill_the_drawing() {
        let points = [[-10.0, 0.0], [10.0, 4.0]];
        let place = fit(points.iter()).unwrap();
        // 20 wide: 940 units of the drawing, 47 for each.
        assert_eq!(place([-10.0, 0.0]), [30.0, 494.0]);
        assert_eq!(place([10.0, 4.0]), [970.0, 306.0]);
    }

    #[test]
    fn a_single_point_stands_in_the_middle() {
        let points = [[7.0, -3.0]];
        assert_eq!(fit(points.iter()).unwrap()([7.0, -3.0]), [500.0, 400.0]);
    }
}
