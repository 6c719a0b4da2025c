// SPDX-License-Identifier: MIT
//! Maps: the plane that shows most of the variance of each model's embeddings, and the t-SNE map of their neighborhoods. The
//! page holds a drawing of some points of the plane, for paper and for readers without the script, and the numbers from
//! which the script draws all points of either map, recolors them, and says which sample is where.

mod coloring;

use super::Models;
use super::figures::STEPS;
use super::safe::{escape, json, of_model};
use super::samples::{column, rows, table};
use super::worst::listed;
use crate::numbers::number;
use crate::tsne_words::{TSNE_COLUMNS, about_tsne, is_placed};
use coloring::{Coloring, colorings};
use repscope_core::{Results, SampleTable};

/// Size of a map in units of its drawing.
const SIZE: [f64; 2] = [1000.0, 800.0];
/// Points of one map in the page; more are thinned, the same rows for all models.
const MOST_POINTS: usize = 20_000;
/// Points of all maps together.
const MOST_IN_ALL: usize = 120_000;
/// Points of the drawing that needs no script.
const MOST_DRAWN: usize = 2000;

/// The two maps of a model.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Principal,
    Tsne,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Principal => "principal components",
            Kind::Tsne => "t-SNE",
        }
    }
}

impl Plane<'_> {
    /// The places on one of the maps.
    fn on(&self, kind: Kind) -> &[Option<[f64; 2]>] {
        match kind {
            Kind::Principal => &self.points,
            Kind::Tsne => &self.tsne,
        }
    }

    /// What an axis of a map shows.
    fn axis(&self, kind: Kind, i: usize) -> String {
        match self.shares.get(i).filter(|share| share.is_finite()) {
            _ if kind == Kind::Tsne => format!("t-SNE {}", i + 1),
            Some(share) => format!("PC {} ({:.0} % of variance)", i + 1, share * 100.0),
            None => format!("PC {}", i + 1),
        }
    }
}

/// What a map shows, but for its colors.
fn about(plane: &Plane, kind: Kind) -> String {
    let [right, up] = [0, 1].map(|i| plane.axis(kind, i));
    format!("Map of {}: {right} to the right, {up} upwards", plane.model)
}

/// Whether any model has a map.
pub(super) fn has_maps(results: &Results) -> bool {
    let is_known = |value: &Option<f64>| value.is_some_and(f64::is_finite);
    let mut maps = results.samples.iter().filter(|table| table.metric == "map");
    maps.any(|map| match (column(map, "x"), column(map, "y")) {
        (Some(x), Some(y)) => x.iter().zip(y).any(|(x, y)| is_known(x) && is_known(y)),
        _ => false,
    })
}

pub(super) fn section(results: &Results, models: &Models) -> String {
    let Some(count) = rows(results).filter(|_| has_maps(results)) else {
        return String::new();
    };
    let maps_of = || results.samples.iter().filter(|table| table.metric == "map");
    let maps = maps_of().count().max(1);
    let most = MOST_POINTS.min(MOST_IN_ALL / maps);
    // A t-SNE map has places for a sample of many rows: those come first.
    let sampled: Vec<bool> = if count > most {
        (0..count).map(|row| maps_of().any(|map| is_placed(map, row))).collect()
    } else {
        Vec::new()
    };
    let kept = kept(count, most, &sampled, || {
        listed(results, models, count).into_iter().collect()
    });
    let planes: Vec<Plane> = models
        .names
        .iter()
        .enumerate()
        .filter_map(|(i, model)| plane(results, model, i, &kept))
        .collect();
    if planes.is_empty() {
        return String::new();
    }
    let colorings = colorings(results, &planes, count, &kept);
    let thinned = if kept.len() < count {
        format!(
            " {} of {count} samples are shown, chosen at random, the same in every map.",
            kept.len()
        )
    } else {
        String::new()
    };
    let several = if planes.len() > 1 {
        " Point at a sample to find it in every map."
    } else {
        ""
    };
    // All rows, not those that are kept: the page says how the map was made.
    let placed = |map| (0..count).filter(|row| is_placed(map, *row)).count();
    let on_tsne = maps_of().map(placed).max().unwrap_or(0);
    let (kinds, tsne): (&[Kind], String) = match on_tsne {
        0 => (&[Kind::Principal], String::new()),
        _ => (
            &[Kind::Principal, Kind::Tsne],
            format!(
                "<p class=\"map-about\" data-kind=\"1\" hidden>{}</p>\n",
                about_tsne(on_tsne, count)
            ),
        ),
    };
    let figures: String = planes
        .iter()
        .enumerate()
        .map(|(i, plane)| figure(plane, i, models, kinds, colorings.first()))
        .collect();
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
fn kept(count: usize, most: usize, first: &[bool], needed: impl Fn() -> Vec<usize>) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by_key(|row| (first.get(*row) != Some(&true), scramble(*row as u64)));
    order.truncate(most);
    order.extend(needed());
    order.sort_unstable();
    order.dedup();
    order
}

/// SplitMix64: neighboring rows get unrelated numbers.
fn scramble(row: u64) -> u64 {
    let mut z = row.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn figure(plane: &Plane, number: usize, models: &Models, kinds: &[Kind], coloring: Option<&Coloring>) -> String {
    let colored = coloring
        .map(|coloring| format!(", colored by {}", coloring.name()))
        .unwrap_or_default();
    let about = format!("{}{colored}.", about(plane, Kind::Principal));
    let axes = |(i, kind): (usize, &Kind)| {
        let hidden = if i > 0 { " hidden" } else { "" };
        let [right, up] = [0, 1].map(|axis| plane.axis(*kind, axis));
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
    let mut paths: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    for i in order {
        let color = match coloring {
            Some(coloring) => coloring.color(number, i),
            None => format!("var(--s{})", plane.series),
        };
        if let Some([x, y]) = plane.points[i] {
            *paths.entry(color).or_default() += &format!("M{x:.1} {y:.1}h0");
        }
    }
    paths
        .iter()
        .map(|(color, d)| format!("<path stroke=\"{color}\" d=\"{d}\"/>"))
        .collect()
}

/// Which map is shown, what the points are colored by, and a box to find a row.
fn controls(kinds: &[Kind], colorings: &[Coloring], count: usize) -> String {
    let option =
        |(i, coloring): (usize, &Coloring)| format!("<option value=\"{i}\">{}</option>", escape(coloring.name()));
    let options: String = colorings.iter().enumerate().map(option).collect();
    let kind = |(i, kind): (usize, &Kind)| format!("<option value=\"{i}\">{}</option>", kind.name());
    let kinds = match kinds.len() {
        0 | 1 => String::new(),
        _ => {
            let options: String = kinds.iter().enumerate().map(kind).collect();
            format!("<label>Map <select id=\"map-kind\">{options}</select></label>\n")
        }
    };
    let choice = match colorings.len() {
        0 | 1 => String::new(),
        _ => format!("<label>Color by <select id=\"color-by\">{options}</select></label>\n"),
    };
    format!(
        "<div class=\"control map-controls\">\n{kinds}{choice}<label>Find row <input type=\"number\" id=\"find-row\" min=\"0\" max=\"{}\" \
         step=\"1\" inputmode=\"numeric\"></label>\n<output id=\"found-row\"></output>\n</div>\n",
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
            let mut items: String = own
                .map(|(color, name)| entry(&format!("var(--c{color})"), &escape(name)))
                .collect();
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
            format!(
                "<p>{}: {scale}{}. Each color stands for as many samples as the others.</p>",
                escape(name),
                number(edges[STEPS])
            )
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
    let curve = results
        .curves
        .iter()
        .find(|curve| curve.metric == "map" && curve.model == model);
    Some(Plane {
        model,
        series,
        points: placed(map, ["x", "y"], kept)?,
        tsne: placed(map, TSNE_COLUMNS, kept).unwrap_or(vec![None; kept.len()]),
        shares: curve.map(|curve| curve.y.clone()).unwrap_or_default(),
    })
}

/// The places of the rows that are kept, in units of the drawing; `None` where no row has one.
fn placed(map: &SampleTable, names: [&str; 2], kept: &[usize]) -> Option<Vec<Option<[f64; 2]>>> {
    let (x, y) = (column(map, names[0])?, column(map, names[1])?);
    let at = |row: usize| {
        let point = [(*x.get(row)?)?, (*y.get(row)?)?];
        point.iter().all(|x| x.is_finite()).then_some(point)
    };
    let points: Vec<Option<[f64; 2]>> = kept.iter().map(|row| at(*row)).collect();
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
mod tests_of_map {
    use super::*;

    #[test]
    fn thinned_rows_hold_those_that_are_needed() {
        let rows = kept(100_000, 1000, &[], || vec![77_777, 3]);
        assert!((1000..=1002).contains(&rows.len()) && rows.contains(&77_777) && rows.contains(&3));
        assert!(rows.is_sorted());
        assert_eq!(kept(3, 1000, &[], Vec::new), [0, 1, 2]);
    }

    #[test]
    fn thinned_rows_hold_those_of_the_tsne_map_first() {
        let sampled: Vec<bool> = (0..5000).map(|row| row % 7 == 2).collect();
        let rows = kept(5000, 1000, &sampled, Vec::new);
        let of_map = rows.iter().filter(|row| sampled[**row]).count();
        // 5000 rows have 714 with remainder 2, and the other 286 are any.
        assert_eq!((rows.len(), of_map), (1000, 714));
    }
}

#[cfg(test)]
mod tests_of_plane {
    use super::*;

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
