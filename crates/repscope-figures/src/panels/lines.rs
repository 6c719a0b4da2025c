// SPDX-License-Identifier: MIT
//! Curves with bands and markers. Curves of many points, such as spectra, get a few markers only.

use super::scatter::{left_out, nothing};
use super::{Room, words};
use crate::content::{Curve, CurveLook, CurvePoint, Lines, Orientation, Weight};
use crate::figure::Scale;
use crate::legend::{KeyEntry, Sample};
use crate::number::{fixed, number};
use crate::palette::hex;
use crate::plan::{AxisPlan, Frame, Plan, Scene, Shown, counted, reference_key, reference_values};
use crate::svg::{Stroke, Svg, polyline};
use crate::text::{CAPITAL, clean, shorten, widest};
use crate::ticks::{Range, Tick, drawable};

/// Up to so many points, each has a marker and says its value when pointed at.
const FEW: usize = 24;
/// Curves with more places than this have round numbers at their axis.
const MOST_MARKS: usize = 8;

/// Share of a cell that names at the ends of curves may take.
const MOST_NAMED: f64 = 0.4;

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, lines: &'a Lines, room: Room) -> Plan<'a> {
    let (x_scale, y_scale) = (lines.x.scale, lines.y.scale);
    let good = move |point: &CurvePoint| {
        point
            .y
            .filter(|y| drawable(*y, y_scale) && drawable(point.x, x_scale))
            .map(|y| (point.x, y))
    };
    let points = || lines.curves.iter().flat_map(|curve| &curve.points);
    let given = points().filter(|point| point.y.is_some()).count();
    let drawn = points().filter(|point| good(point).is_some()).count();
    let missing = points().count() - given;
    let log = x_scale == Scale::Log || y_scale == Scale::Log;
    if drawn == 0 {
        return words::plan(scene, nothing(given, log));
    }
    let padding = [0.04, 0.05];
    let xs = points().filter_map(good).map(|(x, _)| x);
    let x = Range::new(
        &lines.x,
        xs.chain(reference_values(&lines.references, Orientation::Horizontal)),
        [0.03, 0.03],
    );
    let ys = points().filter(|point| good(point).is_some()).flat_map(|point| {
        let (low, high) = point.band.unzip();
        [point.y, low, high].into_iter().flatten()
    });
    let y = Range::new(
        &lines.y,
        ys.chain(reference_values(&lines.references, Orientation::Vertical)),
        padding,
    );
    let faint = lines
        .curves
        .iter()
        .filter(|curve| curve.look == CurveLook::Faint)
        .count();
    let full = || lines.curves.iter().filter(|curve| curve.look == CurveLook::Full);
    let names: Vec<(usize, String)> = match faint {
        0 => Vec::new(),
        _ => full()
            .map(|curve| {
                let name = clean(scene.name(curve.series));
                (
                    curve.series,
                    shorten(&name, MOST_NAMED * room.width, SIZE * scene.em, Weight::Regular),
                )
            })
            .collect(),
    };
    let right = if names.is_empty() {
        0.0
    } else {
        let names = names.iter().map(|(_, name)| name.as_str());
        scene.em + widest(names, SIZE * scene.em, Weight::Regular)
    };
    let y_axis = AxisPlan::numbers(y, &lines.y).marked_if_cut();
    let is_cut = y_axis.cut().is_some();
    let mut plan = Plan::new(
        AxisPlan::numbers(x, &lines.x),
        y_axis,
        Box::new(move |frame, svg| {
            frame.open_clip(svg);
            frame.references(&lines.references, svg);
            for curve in full() {
                svg.open_series("series", scene.name(curve.series));
                draw_band(curve, &good, frame, svg);
                svg.close_group();
            }
            let mut curves: Vec<&Curve> = lines.curves.iter().collect();
            // Those that have a name lie over the others.
            curves.sort_by_key(|curve| curve.look == CurveLook::Full);
            for curve in curves {
                svg.open_series("series", scene.name(curve.series));
                let place = |point| good(point).map(|(x, y)| (frame.px(x), frame.py(y)));
                let places = curve.points.iter().map(place);
                let (stroke, title) = match curve.look {
                    CurveLook::Full => (crate::series_style::stroke(&scene.ink, curve.series, scene.line()), ""),
                    CurveLook::Faint => (faint_stroke(scene), scene.name(curve.series)),
                };
                svg.path(&polyline(places), "none", 1.0, Some(&stroke), title);
                svg.close_group();
            }
            svg.close_group();
            for curve in full() {
                draw_markers(curve, &good, frame, svg);
            }
            draw_names(lines, &names, &good, frame, svg);
        }),
    );
    if faint == 0 {
        plan = plan.with_series(lines.curves.iter().map(|curve| curve.series), Shown::LINE);
    }
    plan.right = right;
    plan.x_ticks = at_data(points().filter_map(good).map(|(x, _)| x));
    if faint > 0 {
        let others = format!("{faint} others");
        plan.key
            .push(KeyEntry::new(Sample::Line(faint_stroke(scene)), &others, None));
    }
    plan.key.extend(reference_key(scene, &lines.references));
    plan.footnotes.extend(is_cut.then(|| super::bars::CUT.to_string()));
    plan.notes.extend(left_out(given - drawn, log));
    plan.notes.extend(counted(
        missing,
        "value is missing and leaves a gap.",
        "values are missing and leave gaps.",
    ));
    plan
}

/// Size of names at the ends of curves, in units of the letters' size.
const SIZE: f64 = 0.9;

fn faint_stroke(scene: &Scene) -> Stroke {
    Stroke {
        opacity: 0.45,
        ..Stroke::solid(scene.ink.muted, 0.5 * scene.line())
    }
}

/// Names right of the last points of their curves. Where these lie close together names move apart, and thin lines lead to them.
fn draw_names(
    lines: &Lines,
    names: &[(usize, String)],
    good: &dyn Fn(&CurvePoint) -> Option<(f64, f64)>,
    frame: &Frame,
    svg: &mut Svg,
) {
    let (scene, plot) = (frame.scene, frame.plot);
    let (em, size) = (scene.em, SIZE * scene.em);
    let end = |series: usize| {
        let curve = lines.curves.iter().find(|curve| curve.series == series)?;
        let (x, y) = curve.points.iter().rev().find_map(good)?;
        Some((frame.px(x), frame.py(y)))
    };
    let mut ends: Vec<_> = names.iter().filter_map(|name| Some((end(name.0)?, name))).collect();
    ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
    // From the top down each name is at least a line below the one before; then from the bottom up, within the plot.
    let line = 1.15 * size;
    let mut places: Vec<f64> = ends.iter().map(|((_, y), _)| *y).collect();
    for i in 1..places.len() {
        places[i] = places[i].max(places[i - 1] + line);
    }
    let mut most = plot.bottom() - 0.5 * size;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - line;
    }
    for (((x, y), (series, name)), place) in ends.into_iter().zip(places) {
        svg.open_series("series", scene.name(*series));
        let left = plot.right() + 0.8 * em;
        let leader = Stroke::solid(scene.ink.series(*series), 0.07 * em);
        svg.line((x, y), (left - 0.2 * em, place), &leader);
        let letters = scene.letters().sized(size);
        svg.text(left, place + CAPITAL * size / 2.0, name, letters);
        svg.close_group();
    }
}

/// Marks at the places of the data, where these are few and short to write: levels of noise, numbers of neighbors.
pub(super) fn at_data(places: impl Iterator<Item = f64>) -> Vec<Tick> {
    let mut places: Vec<f64> = places.collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let decimals = |x: &f64| x.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    let most = places.iter().map(decimals).max().unwrap_or(0);
    if !(2..=MOST_MARKS).contains(&places.len()) || most > 3 || places.iter().any(|x| x.abs() >= 1e5) {
        return Vec::new();
    }
    let label = |x: f64| if x == 0.0 { "0".to_string() } else { fixed(x, most) };
    places.into_iter().map(|at| Tick { at, label: label(at) }).collect()
}

fn draw_band(curve: &Curve, good: &dyn Fn(&CurvePoint) -> Option<(f64, f64)>, frame: &Frame, svg: &mut Svg) {
    let Some(range) = frame.y else { return };
    // On a log axis a band that reaches zero goes down to the edge of the plot.
    let end = frame.plot.bottom() + 10.0;
    let at = |y: f64| {
        if drawable(y, range.scale) {
            frame.py(y).clamp(frame.plot.y - 10.0, end)
        } else {
            end
        }
    };
    let is_gap = |point: &CurvePoint| good(point).is_none() || point.band.is_none();
    for piece in curve.points.split(is_gap).filter(|piece| piece.len() > 1) {
        let bands = piece.iter().filter_map(|point| Some((frame.px(point.x), point.band?)));
        let upper = bands.clone().map(|(x, (_, high))| (x, at(high)));
        let lower = bands.rev().map(|(x, (low, _))| (x, at(low)));
        let d = polyline(upper.chain(lower).map(Some)) + "Z";
        svg.path(&d, &hex(frame.scene.ink.series(curve.series)), 0.16, None, "");
    }
}

fn draw_markers(curve: &Curve, good: &dyn Fn(&CurvePoint) -> Option<(f64, f64)>, frame: &Frame, svg: &mut Svg) {
    let scene = frame.scene;
    let drawn = |point| good(point).map(|(x, y)| (x, y, point));
    let points: Vec<(f64, f64, &CurvePoint)> = curve.points.iter().filter_map(drawn).collect();
    let (kind, color) = (format!("{}l", frame.id), scene.ink.series(curve.series));
    let id = scene.marker(&kind, curve.series, 0.3 * scene.em, color, 1.0, svg);
    svg.open_series("series", scene.name(curve.series));
    // Markers of crowded curves are a stretch of the page apart and start at different places, so that each is seen.
    let apart = 0.16 * frame.plot.width;
    let mut next = frame.plot.x + apart * (0.15 + 0.618 * curve.series as f64).fract();
    for (x, y, point) in &points {
        let px = frame.px(*x);
        if points.len() > FEW {
            if px < next {
                continue;
            }
            while next <= px {
                next += apart;
            }
        }
        let band = point
            .band
            .map(|(low, high)| format!(" [{}, {}]", number(low), number(high)));
        let (name, band) = (scene.name(curve.series), band.unwrap_or_default());
        let title = format!("{name}: {} at {}{band}", number(*y), number(*x));
        svg.mark(&id, px, frame.py(*y), &title);
    }
    svg.close_group();
}
