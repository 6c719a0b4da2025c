// SPDX-License-Identifier: MIT
//! Bars whose rows come in an order, such as epochs or layers: a line over these numbers for each category.

use super::bars::{CUT, category_key, chance_key, chance_stroke, described, is_near, near_range};
use super::lines::at_data;
use super::scatter::left_out;
use crate::content::{Along, Bars, BarsLook, Measured, Reference, ReferenceAt};
use crate::figure::{Axis, Scale};
use crate::palette::hex;
use crate::plan::{AxisPlan, Frame, Plan, Scene, reference_key};
use crate::svg::{Stroke, Svg, polyline};
use crate::ticks::{Range, drawable};

/// A value of a category at the number of its row.
struct Point<'a> {
    series: usize,
    at: f64,
    value: f64,
    bar: &'a Measured,
}

pub(super) fn plan<'a>(scene: &'a Scene<'a>, bars: &'a Bars, along: &'a Along) -> Plan<'a> {
    let scale = bars.axis.scale;
    let categories = bars.categories.len().max(1);
    let lines: Vec<Vec<Point>> = (0..categories).map(|category| points(bars, along, category)).collect();
    let drawn: usize = lines.iter().map(Vec::len).sum();
    let given = bars
        .rows
        .iter()
        .flat_map(|row| &row.bars)
        .filter(|bar| bar.value.is_some())
        .count();
    let references: Vec<Reference> = bars.references.iter().filter_map(upright).collect();
    let points = || Bars {
        look: BarsLook::Points,
        references: Vec::new(),
        ..bars.clone()
    };
    let is_near = references.is_empty() && is_near(&points());
    let ends = lines.iter().flatten().flat_map(|point| {
        let (low, high) = point.bar.interval.unzip();
        [Some(point.value), low, high]
    });
    let ends = ends.flatten().filter(|x| drawable(*x, scale));
    let chance = bars.chance.iter().flatten().copied();
    let y = if is_near {
        near_range(&bars.axis, ends.chain(chance.filter(|_| bars.reaches_chance)))
    } else {
        let level = |reference: &Reference| match reference.at {
            ReferenceAt::Horizontal(level) => Some(level),
            _ => None,
        };
        Range::new(
            &bars.axis,
            ends.chain(chance).chain(references.iter().filter_map(level)),
            [0.05, 0.05],
        )
    };
    let x = Range::new(
        &Axis::linear(""),
        lines.iter().flatten().map(|point| point.at),
        [0.04, 0.04],
    );
    let key = reference_key(scene, &references);
    let ticks = at_data(lines.iter().flatten().map(|point| point.at));
    let draw = move |frame: &Frame, svg: &mut Svg| {
        frame.open_clip(svg);
        let mut levels: Vec<f64> = bars.chance.iter().flatten().copied().collect();
        levels.dedup();
        for level in levels.into_iter().filter(|level| (y.low..=y.high).contains(level)) {
            let (from, to) = ((frame.plot.x, frame.py(level)), (frame.plot.right(), frame.py(level)));
            svg.line(from, to, &chance_stroke(scene));
        }
        frame.references(&references, svg);
        for (category, points) in lines.iter().enumerate() {
            draw_line(category, points, y, frame, svg);
        }
        svg.close_group();
        for (category, points) in lines.iter().enumerate() {
            draw_markers(category, bars, points, frame, svg);
        }
    };
    let x_axis = AxisPlan::numbers(x, &Axis::linear(along.label.as_str()));
    let y_axis = AxisPlan::numbers(y, &bars.axis);
    let y_axis = if is_near { y_axis.marked_if_cut() } else { y_axis };
    let is_cut = y_axis.cut().is_some();
    let mut plan = Plan::new(x_axis, y_axis, Box::new(draw));
    plan.x_ticks = ticks;
    if bars.categories.len() > 1 {
        plan.key = category_key(bars, |category| scene.ink.series(category));
    }
    plan.key.extend(chance_key(scene, bars, y));
    plan.key.extend(key);
    plan.notes.extend(left_out(given - drawn, scale == Scale::Log));
    plan.footnotes.extend(is_cut.then(|| CUT.to_string()));
    plan
}

/// A line of comparison across the plot, whichever way the bars would have pointed.
fn upright(reference: &Reference) -> Option<Reference> {
    let at = match reference.at {
        ReferenceAt::Horizontal(level) | ReferenceAt::Vertical(level) => ReferenceAt::Horizontal(level),
        ReferenceAt::Diagonal => return None,
    };
    Some(Reference {
        at,
        ..reference.clone()
    })
}

/// The values of a category, by their numbers.
fn points<'a>(bars: &'a Bars, along: &Along, category: usize) -> Vec<Point<'a>> {
    let rows = bars.rows.iter().zip(&along.at);
    let mut points: Vec<Point> = rows
        .filter_map(|(row, at)| {
            let bar = row.bars.get(category)?;
            let value = bar.value.filter(|value| drawable(*value, bars.axis.scale))?;
            let series = row.series;
            Some(Point {
                series,
                at: *at,
                value,
                bar,
            })
        })
        .collect();
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    points
}

/// The line of a category over the band of its intervals.
fn draw_line(category: usize, points: &[Point], y: Range, frame: &Frame, svg: &mut Svg) {
    let scene = frame.scene;
    let inside = |value: f64| {
        if drawable(value, y.scale) {
            value.clamp(y.low, y.high)
        } else {
            y.low
        }
    };
    let bands = points
        .iter()
        .filter_map(|point| Some((frame.px(point.at), point.bar.interval?)));
    let upper = bands.clone().map(|(x, (_, high))| (x, frame.py(inside(high))));
    let lower = bands.rev().map(|(x, (low, _))| (x, frame.py(inside(low))));
    let d = polyline(upper.chain(lower).map(Some));
    if !d.is_empty() {
        svg.path(&(d + "Z"), &hex(scene.ink.series(category)), 0.16, None, "");
    }
    let line = points
        .iter()
        .map(|point| Some((frame.px(point.at), frame.py(point.value))));
    let stroke = Stroke::solid(scene.ink.series(category), scene.line());
    svg.path(&polyline(line), "none", 1.0, Some(&stroke), "");
}

fn draw_markers(category: usize, bars: &Bars, points: &[Point], frame: &Frame, svg: &mut Svg) {
    let scene = frame.scene;
    // Markers of many rows are as small as their distance requires.
    let apart = frame.plot.width / points.len().max(1) as f64;
    let r = (0.3 * scene.em).min(0.4 * apart).max(0.14 * scene.em);
    let color = scene.ink.series(category);
    let id = scene.marker(&format!("{}t", frame.id), category, r, color, 1.0, svg);
    for point in points {
        let name = scene.name(point.series);
        let category = bars.categories.get(category).map(|name| format!(", {name}"));
        let (category, value) = (category.unwrap_or_default(), described(point.value, point.bar.interval));
        svg.open_series("series", name);
        let title = format!("{name}{category}: {value}");
        svg.mark(&id, frame.px(point.at), frame.py(point.value), &title);
        svg.close_group();
    }
}
