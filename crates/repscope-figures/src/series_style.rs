// SPDX-License-Identifier: MIT
//! How a series is recognized besides its color: marker, dash and hatch.

use crate::palette::{Ink, LOOKS, Rgb, hex, luminance};
use crate::svg::{Short, Stroke};
use std::fmt::Write;

/// Dashes in units of the stroke's width; the first series is solid.
const DASHES: [&[f64]; 6] = [
    &[],
    &[4.5, 1.6],
    &[1.3, 1.3],
    &[6.0, 1.5, 1.3, 1.5],
    &[8.0, 1.8],
    &[4.0, 1.3, 1.3, 1.3, 1.3, 1.3],
];

/// `stroke-dasharray` of a series for this width of line; empty for a solid one.
pub(crate) fn dash(series: usize, width: f64) -> String {
    let dash = DASHES[series % DASHES.len()]
        .iter()
        .map(|length| Short(length * width).to_string());
    dash.collect::<Vec<_>>().join(" ")
}

/// The line of a series.
pub(crate) fn stroke(ink: &Ink, series: usize, width: f64) -> Stroke {
    Stroke::dashed(ink.series(series), width, &dash(series, width))
}

/// Outline of the marker of a series around the origin; `r` is the radius of the disc of equal weight.
pub(crate) fn marker(series: usize, r: f64) -> String {
    let polygon = |corners: usize, radius: f64, turn: f64| {
        let corner = |i: usize| {
            let angle = std::f64::consts::TAU * (i as f64 / corners as f64 + turn);
            (radius * angle.sin(), -radius * angle.cos())
        };
        closed((0..corners).map(corner))
    };
    let cross = |turn: f64| {
        // A plus sign with arms of width 0.62 r.
        let (long, half) = (1.25 * r, 0.36 * r);
        let corners = [
            (half, -long),
            (half, -half),
            (long, -half),
            (long, half),
            (half, half),
            (half, long),
            (-half, long),
            (-half, half),
            (-long, half),
            (-long, -half),
            (-half, -half),
            (-half, -long),
        ];
        let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
        closed(corners.into_iter().map(|(x, y)| (x * cos - y * sin, x * sin + y * cos)))
    };
    let star = |i: usize| {
        let angle = std::f64::consts::TAU * i as f64 / 10.0;
        let radius = if i.is_multiple_of(2) { 1.45 * r } else { 0.6 * r };
        (radius * angle.sin(), -radius * angle.cos())
    };
    match series % LOOKS {
        0 => format!(
            "M{0} 0A{1} {1} 0 1 1 {2} 0A{1} {1} 0 1 1 {0} 0Z",
            Short(-r),
            Short(r),
            Short(r)
        ),
        1 => polygon(4, 1.25 * r, 0.125),
        2 => polygon(3, 1.3 * r, 0.0),
        3 => polygon(4, 1.3 * r, 0.0),
        4 => polygon(3, 1.3 * r, 0.5),
        5 => cross(0.0),
        6 => cross(0.125),
        7 => closed((0..10).map(star)),
        8 => polygon(5, 1.12 * r, 0.0),
        9 => polygon(3, 1.3 * r, 0.25),
        10 => polygon(3, 1.3 * r, 0.75),
        _ => polygon(6, 1.1 * r, 0.0),
    }
}

fn closed(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.enumerate() {
        let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, Short(x), Short(y));
    }
    d + "Z"
}

/// A pattern that lies over bars and boxes of a series; the first four differ in gray and need none. It has no ground
/// of its own: viewers leave hairs of light between the tiles of a ground.
pub(crate) fn hatch(id: &str, ink: &Ink, series: usize, em: f64) -> Option<String> {
    if series % LOOKS < 4 {
        return None;
    }
    let color = ink.series(series);
    let light: Rgb = if luminance(color) > 0.35 {
        [40, 40, 40]
    } else {
        [255, 255, 255]
    };
    let cell = 0.55 * em;
    let line = |d: &str| {
        format!(
            "<path d=\"{d}\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"0.42\" fill=\"none\"/>",
            hex(light),
            Short(0.07 * em)
        )
    };
    let (c, h) = (Short(cell), Short(cell / 2.0));
    let across = format!("M0 {h}H{c}");
    let down = format!("M{h} 0V{c}");
    let (marks, turn) = match series % LOOKS {
        4 => (line(&across), 45),
        5 => (line(&across), -45),
        6 => (line(&across), 0),
        7 => (line(&down), 0),
        8 => (line(&format!("{across}{down}")), 45),
        9 => (line(&format!("{across}{down}")), 0),
        10 => (
            format!(
                "<circle cx=\"{h}\" cy=\"{h}\" r=\"{}\" fill=\"{}\" fill-opacity=\"0.5\"/>",
                Short(0.1 * em),
                hex(light)
            ),
            45,
        ),
        _ => (line(&format!("M0 {h}H{h}")), 30),
    };
    Some(format!(
        "<pattern id=\"{id}\" width=\"{c}\" height=\"{c}\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate({turn})\">{marks}</pattern>\n"
    ))
}
