// SPDX-License-Identifier: MIT
//! Points, with fit lines. Labels of fits stand above the plot: inside they would cover points.

use super::words;
use crate::content::{Cloud, Fit, Orientation, Scatter};
use crate::figure::{Axis, Scale};
use crate::legend::{KeyEntry, Sample};
use crate::palette::mix;
use crate::plan::{AxisPlan, Frame, Plan, Scene, Shown, counted, reference_key, reference_values};
use crate::subsample::{MOST_PER_SERIES, drawn_of, share_out, thin};
use crate::svg::{Stroke, Svg, polyline};
use crate::ticks::{Range, drawable};

/// Rounds in which clouds that share a plot are drawn.
const TURNS: usize = 12;

/// Points each series would draw if it were alone.
pub(crate) fn points_wished(scatter: &Scatter) -> Vec<usize> {
    let clouds = scatter.clouds.iter();
    clouds.map(|cloud| cloud.points.len().min(MOST_PER_SERIES)).collect()
}

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, scatter: &'a Scatter, most: usize) -> Plan<'a> {
    let (x_scale, y_scale) = (scatter.x.scale, scatter.y.scale);
    let given: usize = scatter.clouds.iter().map(|cloud| cloud.points.len()).sum();
    let log = x_scale == Scale::Log || y_scale == Scale::Log;
    let is_drawn = |[x, y]: &&[f64; 2]| drawable(*x, x_scale) && drawable(*y, y_scale);
    let good = |cloud: &Cloud| (cloud.series, cloud.points.iter().filter(is_drawn).copied().collect());
    let clouds: Vec<(usize, Vec<[f64; 2]>)> = scatter.clouds.iter().map(good).collect();
    let total: usize = clouds.iter().map(|(_, points)| points.len()).sum();
    if total == 0 {
        return words::plan(scene, nothing(given, log));
    }
    let range = |axis: &Axis, at: usize, orientation: Orientation| {
        let points = clouds.iter().flat_map(|(_, points)| points);
        let references = reference_values(&scatter.references, orientation);
        Range::new(axis, points.map(|point| point[at]).chain(references), [0.04, 0.04])
    };
    let x = range(&scatter.x, 0, Orientation::Horizontal);
    let y = range(&scatter.y, 1, Orientation::Vertical);

    let drawn: Vec<(usize, Vec<[f64; 2]>)> = clouds
        .iter()
        .zip(share_out(&points_wished(scatter), most))
        .map(|((series, points), most)| (*series, thin(points, most).into_iter().map(|i| points[i]).collect()))
        .collect();
    let shown: usize = drawn.iter().map(|(_, points)| points.len()).sum();
    let named = scatter.fits.iter().filter(|fit| !fit.label.is_empty());
    let entry = |fit: &Fit| {
        let sample = Sample::Line(fit_stroke(scene, scatter, fit.series));
        KeyEntry::new(sample, &fit.label, Some(scene.name(fit.series).to_string()))
    };
    let mut key: Vec<KeyEntry> = named.map(entry).collect();
    key.extend(reference_key(scene, &scatter.references));

    let mut plan = Plan::new(
        AxisPlan::numbers(x, &scatter.x),
        AxisPlan::numbers(y, &scatter.y),
        Box::new(move |frame, svg| {
            frame.open_clip(svg);
            // Few points are large and firm, many are small and pale.
            let crowd = (shown as f64 / 100.0).max(1.0).sqrt();
            let r = scene.em * (0.36 / crowd.sqrt()).max(0.15);
            let opacity = (0.85 / crowd.powf(0.4)).max(0.35);
            // Clouds are drawn in turns, or the last would hide the others.
            let turns = if drawn.len() > 1 { TURNS } else { 1 };
            for turn in 0..turns {
                for (series, points) in &drawn {
                    let color = scene.ink.series(*series);
                    let id = scene.marker(&format!("{}s", frame.id), *series, r, color, opacity, svg);
                    svg.open_series("series", scene.name(*series));
                    for [x, y] in points.iter().skip(turn).step_by(turns) {
                        svg.mark(&id, frame.px(*x), frame.py(*y), "");
                    }
                    svg.close_group();
                }
            }
            for fit in &scatter.fits {
                draw_fit(fit, fit_stroke(scene, scatter, fit.series), &clouds, frame, svg);
            }
            frame.references(&scatter.references, svg);
            svg.close_group();
        }),
    )
    .with_series(
        scatter.clouds.iter().map(|cloud| cloud.series),
        Shown {
            marker: true,
            line: !scatter.fits.is_empty(),
            fill: false,
        },
    );
    plan.key = key;
    plan.notes.extend(left_out(given - total, log));
    plan.footnotes.extend(drawn_of(shown, total));
    plan
}

/// Much deeper than its points, so that it is seen without a rim that would hide them; dashed only where there is a second one.
fn fit_stroke(scene: &Scene, scatter: &Scatter, series: usize) -> Stroke {
    let width = 1.2 * scene.line();
    let color = mix(scene.ink.series(series), scene.ink.text, 0.65);
    match scatter.fits.len() {
        1 => Stroke::solid(color, width),
        _ => Stroke::dashed(color, width, &crate::series_style::dash(series, width)),
    }
}

fn draw_fit(fit: &Fit, stroke: Stroke, clouds: &[(usize, Vec<[f64; 2]>)], frame: &Frame, svg: &mut Svg) {
    let scene = frame.scene;
    let own = clouds.iter().filter(|(series, _)| *series == fit.series);
    let xs = || own.clone().flat_map(|(_, points)| points).map(|[x, _]| *x);
    let (low, high) = (
        xs().fold(f64::INFINITY, f64::min),
        xs().fold(f64::NEG_INFINITY, f64::max),
    );
    let (Some(range), Some(heights)) = (frame.x, frame.y) else {
        return;
    };
    if low >= high || !fit.slope.is_finite() || !fit.intercept.is_finite() {
        return;
    }
    let is_log = range.scale == Scale::Log || heights.scale == Scale::Log;
    let steps = if is_log { 64 } else { 1 };
    let points = (0..=steps).map(|step| {
        let t = f64::from(step) / f64::from(steps);
        let x = match range.scale {
            Scale::Linear => low + t * (high - low),
            Scale::Log => low * (high / low).powf(t),
        };
        let y = fit.intercept + fit.slope * x;
        // Far outside coordinates would not fit the formats; the clip hides the difference.
        let y_at = frame.py(y).clamp(frame.plot.y - 1e4, frame.plot.bottom() + 1e4);
        drawable(y, heights.scale).then_some((frame.px(x), y_at))
    });
    let d = polyline(points);
    svg.open_series("series", scene.name(fit.series));
    svg.path(&d, "none", 1.0, Some(&stroke), &fit.label);
    svg.close_group();
}

/// Why a plot is empty.
pub(crate) fn nothing(given: usize, log: bool) -> String {
    match left_out(given, log) {
        Some(reason) => format!("Nothing to show: {reason}"),
        None => "No values were given.".to_string(),
    }
}

/// What was left out, as a sentence.
pub(crate) fn left_out(count: usize, log: bool) -> Option<String> {
    let what = counted(count, "value", "values")?;
    let verb = if count == 1 { "is" } else { "are" };
    Some(if log {
        format!("{what} at or below zero or not finite {verb} left out of the log axis.")
    } else {
        format!("{what} {verb} not finite and left out.")
    })
}
