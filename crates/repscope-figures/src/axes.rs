// SPDX-License-Identifier: MIT
//! Axes around a plot: how much room they need, and how they are drawn once the plot has its place.

use crate::content::Weight;
use crate::names::{NAMES, NamesBelow, names_below, names_beside};
use crate::palette::hex;
use crate::plan::{AxisPlan, ColorBar, Frame, Plan, Scene};
use crate::svg::{Anchor, Rect, Short, Stroke, Svg};
use crate::text::{CAPITAL, LINE, clean, widest, width, wrap};
use crate::ticks::{End, Range, Tick};
use std::fmt::Write;

/// Length of a tick and its distance from its label, in units of the letters' size.
const TICK: f64 = 0.35;
const GAP: f64 = 0.35;

/// The left axis, laid out.
#[derive(Default)]
pub(crate) struct Beside {
    ticks: Vec<Tick>,
    names: Option<(Vec<Vec<String>>, usize)>,
    widest: f64,
    label: Vec<String>,
    /// Room it takes left of the plot.
    pub room: f64,
    /// Whether the axis itself names the series.
    pub names_series: bool,
}

pub(crate) fn lay_beside(plan: &Plan, scene: &Scene, height: f64, cell: f64) -> Beside {
    let em = scene.em;
    let mut beside = Beside::default();
    let Some(axis) = &plan.y else { return beside };
    beside.label = wrap(&clean(axis.label()), height, em, Weight::Regular);
    match axis {
        AxisPlan::Numbers { range, .. } => {
            beside.ticks = range.ticks(((height / (2.0 * em)) as usize).clamp(2, 7));
            beside
                .ticks
                .retain(|tick| is_clear(axis, range.share(tick.at), height, em));
            beside.widest = widest_of(&beside.ticks, em);
            beside.room += (TICK + GAP) * em + beside.widest;
        }
        AxisPlan::Names { elsewhere: true, .. } => beside.names_series = true,
        AxisPlan::Names { names, of_series, .. } => {
            let slot = height / names.len().max(1) as f64;
            let most = plan.names_room.unwrap_or(NAMES * cell);
            beside.names = names_beside(names, slot, most, em, *of_series);
            if let Some((names, every)) = &beside.names {
                beside.widest = widest(
                    names.iter().step_by(*every).flatten().map(String::as_str),
                    em,
                    Weight::Regular,
                );
                beside.room += (TICK + GAP) * em + beside.widest;
            }
            beside.names_series = *of_series && beside.names.is_some();
        }
        AxisPlan::Bare { .. } => {}
    }
    if !beside.label.is_empty() {
        beside.room += (0.55 + LINE * (beside.label.len() - 1) as f64 + 0.98) * em;
    }
    beside
}

/// The lower axis, laid out.
#[derive(Default)]
pub(crate) struct Below {
    ticks: Vec<Tick>,
    names: Option<NamesBelow>,
    label: Vec<String>,
    /// Room it takes below the plot.
    pub room: f64,
    pub names_series: bool,
}

/// `left` and `right` are how far labels may reach beyond the plot.
pub(crate) fn lay_below(plan: &Plan, scene: &Scene, wide: f64, left: f64, right: f64) -> Below {
    let em = scene.em;
    let mut below = Below::default();
    let Some(axis) = &plan.x else { return below };
    below.label = wrap(&clean(axis.label()), wide + left.min(right), em, Weight::Regular);
    match axis {
        AxisPlan::Numbers { range, .. } => {
            // Marks at the data if their labels have room, else round numbers.
            let wished = (!plan.x_ticks.is_empty()).then(|| (plan.x_ticks.len(), plan.x_ticks.clone()));
            let round = (2..=7).rev().map(|most| (most, range.ticks(most)));
            for (most, ticks) in wished.into_iter().chain(round) {
                below.ticks = ticks;
                below
                    .ticks
                    .retain(|tick| is_clear(axis, range.share(tick.at), wide, em));
                let place = |tick: &Tick| {
                    let half = width(&tick.label, em, Weight::Regular) / 2.0;
                    (range.share(tick.at) * wide - half, range.share(tick.at) * wide + half)
                };
                let places: Vec<(f64, f64)> = below.ticks.iter().map(place).collect();
                let apart = places.windows(2).all(|pair| pair[0].1 + 0.9 * em <= pair[1].0);
                if apart || most <= 2 {
                    let mut end = f64::NEG_INFINITY;
                    for (tick, (from, to)) in below.ticks.iter_mut().zip(places) {
                        // A label that would leave the panel or touch its neighbor goes; its tick stays.
                        if from < -left || to > wide + right || from < end + 0.4 * em {
                            tick.label.clear();
                        } else {
                            end = to;
                        }
                    }
                    break;
                }
            }
            below.room += (TICK + GAP + 0.95) * em;
        }
        AxisPlan::Names { names, of_series, .. } => {
            let slot = wide / names.len().max(1) as f64;
            let names = names_below(names, slot, em, *of_series);
            below.names_series = *of_series && names != NamesBelow::Dropped;
            below.room += (TICK + GAP) * em * f64::from(u8::from(names != NamesBelow::Dropped)) + names.height(em);
            below.names = Some(names);
        }
        AxisPlan::Bare { .. } => {}
    }
    if !below.label.is_empty() {
        below.room += (0.5 + LINE * (below.label.len() - 1) as f64 + 0.98) * em;
    }
    below
}

/// How far the last label of the lower axis reaches beyond the plot.
pub(crate) fn overhang(plan: &Plan, scene: &Scene, wide: f64) -> f64 {
    let Some(AxisPlan::Numbers { range, .. }) = &plan.x else {
        return 0.0;
    };
    let reach = |tick: &Tick| range.share(tick.at) * wide + width(&tick.label, scene.em, Weight::Regular) / 2.0 - wide;
    range.ticks(5).iter().map(reach).fold(0.0, f64::max)
}

pub(crate) fn draw_grid(plan: &Plan, beside: &Beside, below: &Below, frame: &Frame, svg: &mut Svg) {
    let (em, plot) = (frame.scene.em, frame.plot);
    let stroke = Stroke::solid(frame.scene.ink.grid, 0.075 * em);
    let mut d = String::new();
    for tick in beside.ticks.iter().filter(|_| plan.grid_y) {
        straight(&mut d, (plot.x, frame.py(tick.at)), 'H', plot.right());
    }
    for tick in below.ticks.iter().filter(|_| plan.grid_x) {
        straight(&mut d, (frame.px(tick.at), plot.y), 'V', plot.bottom());
    }
    if !d.is_empty() {
        svg.path(&d, "none", 1.0, Some(&stroke), "");
    }
}

pub(crate) fn draw_axes(plan: &Plan, beside: &Beside, below: &Below, frame: &Frame, svg: &mut Svg) {
    let Frame { plot, scene, .. } = frame;
    let em = scene.em;
    let stroke = Stroke::solid(scene.ink.axis, 0.09 * em);
    let mut d = String::new();
    if plan.spines {
        straight(&mut d, (plot.x, plot.y), 'V', plot.bottom());
        let _ = write!(d, "H{}", Short(plot.right()));
    }
    for tick in &beside.ticks {
        straight(&mut d, (plot.x, frame.py(tick.at)), 'h', -TICK * em);
    }
    for tick in &below.ticks {
        straight(&mut d, (frame.px(tick.at), plot.bottom()), 'v', TICK * em);
    }
    for minor in frame.y.iter().flat_map(Range::minor) {
        straight(&mut d, (plot.x, frame.py(minor)), 'h', -0.55 * TICK * em);
    }
    for minor in frame.x.iter().flat_map(Range::minor) {
        straight(&mut d, (frame.px(minor), plot.bottom()), 'v', 0.55 * TICK * em);
    }
    if !d.is_empty() {
        svg.path(&d, "none", 1.0, Some(&stroke), "");
    }
    for (axis, is_lower) in [(&plan.x, true), (&plan.y, false)] {
        if let Some(end) = axis.as_ref().and_then(AxisPlan::cut) {
            draw_cut(end, is_lower, frame, svg);
        }
    }
    draw_beside(beside, frame, svg);
    draw_below(below, frame, svg);
}

/// Length of the piece of an axis that shows that it is cut, from its end on.
const CUT: f64 = 1.3;

/// Whether a tick at this share of an axis does not stand where the axis is cut.
fn is_clear(axis: &AxisPlan, share: f64, length: f64, em: f64) -> bool {
    match axis.cut() {
        None => true,
        Some(End::Low) => share * length >= CUT * em,
        Some(End::High) => (1.0 - share) * length >= CUT * em,
    }
}

/// Two strokes across a gap in an axis, where it does not reach zero.
fn draw_cut(end: End, is_lower: bool, frame: &Frame, svg: &mut Svg) {
    let Frame { plot, scene, .. } = frame;
    let em = scene.em;
    // Distances along the axis and across it, as a point of the page.
    let at = |along: f64, across: f64| match (is_lower, end) {
        (true, End::Low) => (plot.x + along * em, plot.bottom() + across * em),
        (true, End::High) => (plot.right() - along * em, plot.bottom() + across * em),
        (false, End::Low) => (plot.x + across * em, plot.bottom() - along * em),
        (false, End::High) => (plot.x + across * em, plot.y + along * em),
    };
    svg.open("class=\"cut\"");
    svg.line(at(0.55, 0.0), at(0.85, 0.0), &Stroke::solid(scene.ink.paper, 0.3 * em));
    for along in [0.5, 0.9] {
        let stroke = Stroke::solid(scene.ink.axis, 0.09 * em);
        svg.line(at(along - 0.14, 0.38), at(along + 0.14, -0.38), &stroke);
    }
    svg.close_group();
}

/// Adds a line along an axis to a path: up to (`H`, `V`) or as long as (`h`, `v`) this.
fn straight(d: &mut String, (x, y): (f64, f64), along: char, to: f64) {
    let _ = write!(d, "M{} {}{along}{}", Short(x), Short(y), Short(to));
}

fn draw_beside(beside: &Beside, frame: &Frame, svg: &mut Svg) {
    let Frame { plot, scene, .. } = frame;
    let em = scene.em;
    let right = plot.x - (TICK + GAP) * em;
    let letters = scene.letters().anchored(Anchor::End);
    for tick in &beside.ticks {
        svg.text(right, frame.py(tick.at) + CAPITAL * em / 2.0, &tick.label, letters);
    }
    if let Some((names, every)) = &beside.names {
        let slot = plot.height / names.len() as f64;
        for (index, lines) in names.iter().enumerate().step_by(*every) {
            let first = plot.y + (index as f64 + 0.5) * slot - (lines.len() as f64 - 1.0) / 2.0 * LINE * em;
            for (row, line) in lines.iter().enumerate() {
                let y = first + row as f64 * LINE * em + CAPITAL * em / 2.0;
                svg.text(right, y, line, letters);
            }
        }
    }
    let ticks = if beside.widest > 0.0 {
        (TICK + GAP) * em + beside.widest
    } else {
        0.0
    };
    let middle = plot.y + plot.height / 2.0;
    let letters = scene.letters().anchored(Anchor::Middle).upright();
    for (index, line) in beside.label.iter().rev().enumerate() {
        let x = plot.x - ticks - (0.55 + 0.22 + LINE * index as f64) * em;
        svg.text(x, middle, line, letters);
    }
}

fn draw_below(below: &Below, frame: &Frame, svg: &mut Svg) {
    let Frame { plot, scene, .. } = frame;
    let em = scene.em;
    let letters = scene.letters().anchored(Anchor::Middle);
    let baseline = plot.bottom() + (TICK + GAP + CAPITAL) * em;
    for tick in &below.ticks {
        svg.text(frame.px(tick.at), baseline, &tick.label, letters);
    }
    let slot = |names: usize, index: usize| plot.x + (index as f64 + 0.5) * (plot.width / names as f64);
    match &below.names {
        Some(NamesBelow::Flat { names, every }) => {
            for (index, lines) in names.iter().enumerate().step_by(*every) {
                for (row, line) in lines.iter().enumerate() {
                    let y = baseline + row as f64 * LINE * em;
                    svg.text(slot(names.len(), index), y, line, letters);
                }
            }
        }
        Some(NamesBelow::Up { names, every }) => {
            let letters = scene.letters().anchored(Anchor::End).upright();
            for (index, name) in names.iter().enumerate().step_by(*every) {
                let x = slot(names.len(), index) + CAPITAL * em / 2.0;
                svg.text(x, plot.bottom() + (TICK + GAP) * em, name, letters);
            }
        }
        _ => {}
    }
    for (index, line) in below.label.iter().rev().enumerate() {
        let y = plot.bottom() + below.room - (0.22 + LINE * index as f64) * em;
        svg.text(plot.x + plot.width / 2.0, y, line, letters);
    }
}

/// A color bar, laid out.
pub(crate) struct BarBeside {
    ticks: Vec<Tick>,
    widest: f64,
    label: Vec<String>,
    /// Room it takes right of the plot.
    pub room: f64,
}

pub(crate) fn lay_color_bar(bar: &ColorBar, scene: &Scene, height: f64) -> BarBeside {
    let em = scene.em;
    let ticks = bar.range.ticks(((height / (2.6 * em)) as usize).clamp(2, 6));
    let widest = widest_of(&ticks, em);
    let label = wrap(&clean(&bar.label), height, em, Weight::Regular);
    let mut room = (0.9 + 0.9 + 0.2 + GAP) * em + widest;
    if !label.is_empty() {
        room += (0.5 + LINE * (label.len() - 1) as f64 + 1.0) * em;
    }
    BarBeside {
        ticks,
        widest,
        label,
        room,
    }
}

pub(crate) fn draw_color_bar(bar: &ColorBar, laid: &BarBeside, frame: &Frame, svg: &mut Svg) {
    let Frame { plot, scene, .. } = frame;
    let em = scene.em;
    let id = format!("{}bar", frame.id);
    let _ = write!(
        svg.defs,
        "<linearGradient id=\"{id}\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">"
    );
    let last = (bar.colors.len().max(2) - 1) as f64;
    for (index, color) in bar.colors.iter().enumerate() {
        let (offset, color) = (index as f64 / last, hex(*color));
        let _ = write!(svg.defs, "<stop offset=\"{offset:.4}\" stop-color=\"{color}\"/>");
    }
    svg.defs.push_str("</linearGradient>\n");
    let place = Rect::new(plot.right() + 0.9 * em, plot.y, 0.9 * em, plot.height);
    svg.rect(place, &format!("url(#{id})"), None, "");
    let stroke = Stroke::solid(scene.ink.axis, 0.08 * em);
    for tick in &laid.ticks {
        let y = place.bottom() - bar.range.share(tick.at) * place.height;
        svg.line((place.right(), y), (place.right() + 0.2 * em, y), &stroke);
        let x = place.right() + (0.2 + GAP) * em;
        svg.text(x, y + CAPITAL * em / 2.0, &tick.label, scene.letters());
    }
    let letters = scene.letters().anchored(Anchor::Middle).upright();
    for (index, line) in laid.label.iter().enumerate() {
        let x = place.right() + (0.2 + GAP + 0.5 + 0.78 + LINE * index as f64) * em + laid.widest;
        svg.text(x, plot.y + plot.height / 2.0, line, letters);
    }
}

fn widest_of(ticks: &[Tick], em: f64) -> f64 {
    widest(ticks.iter().map(|tick| tick.label.as_str()), em, Weight::Regular)
}
