// SPDX-License-Identifier: MIT
//! What is drawn of bars: the bars, chance levels, intervals and dashes for missing values.

use super::bars::value;
use super::slots::Slots;
use crate::content::{Bars, Orientation};
use crate::figure::Scale;
use crate::number::number;
use crate::palette::mix;
use crate::plan::{Frame, Scene};
use crate::svg::{Anchor, Letters, Stroke, Svg};
use crate::ticks::{Range, drawable};

/// Group and member of a row's bar.
pub(super) type Place<'a> = &'a dyn Fn(usize, usize) -> (usize, usize);

/// Where bars start.
pub(super) fn base(range: Range) -> f64 {
    if range.scale == Scale::Log {
        range.low
    } else {
        0.0f64.clamp(range.low, range.high)
    }
}

pub(super) fn draw_bars(scene: &Scene, bars: &Bars, slots: &Slots, place: Place, range: Range, svg: &mut Svg) {
    for (index, row) in bars.rows.iter().enumerate() {
        let name = scene.name(row.series);
        svg.open_series("series", name);
        for (position, bar) in row.bars.iter().enumerate() {
            let (group, member) = place(index, position);
            let Some(value) = value(bar, range.scale) else { continue };
            if group >= slots.groups {
                continue;
            }
            let (middle, half) = (slots.middle(group, member), 0.46 * slots.thickness());
            let title = title(name, bars, position, value, bar.interval);
            let rect = slots.rect(middle - half, middle + half, base(range), value);
            if slots.frame.names_series {
                scene.plain_area(rect, row.series, None, &title, svg)
            } else {
                scene.area(rect, row.series, None, &title, svg)
            }
        }
        svg.close_group();
    }
}

/// A point for each value, over its interval.
pub(super) fn draw_points(scene: &Scene, bars: &Bars, slots: &Slots, place: Place, range: Range, svg: &mut Svg) {
    for (index, row) in bars.rows.iter().enumerate() {
        let (name, color) = (scene.name(row.series), scene.ink.series(row.series));
        let r = (0.3 * slots.thickness()).min(0.36 * scene.em);
        let id = scene.marker(&format!("{}b", slots.frame.id), row.series, r, color, 1.0, svg);
        svg.open_series("series", name);
        for (position, bar) in row.bars.iter().enumerate() {
            let (group, member) = place(index, position);
            if let Some(value) = value(bar, range.scale).filter(|_| group < slots.groups) {
                let (x, y) = slots.point(slots.middle(group, member), value);
                svg.mark(&id, x, y, &title(name, bars, position, value, bar.interval));
            }
        }
        svg.close_group();
    }
}

/// What a pointer on a bar shows.
fn title(name: &str, bars: &Bars, position: usize, value: f64, interval: Option<(f64, f64)>) -> String {
    let category = bars.categories.get(position).map(|name| format!(", {name}"));
    let interval = interval.map(|(low, high)| format!(" [{}, {}]", number(low), number(high)));
    format!(
        "{name}{}: {}{}",
        category.unwrap_or_default(),
        number(value),
        interval.unwrap_or_default()
    )
}

pub(super) fn chance_stroke(scene: &Scene) -> Stroke {
    let unit = scene.em / 7.0;
    let dash = format!("{} {}", crate::svg::Short(1.6 * unit), crate::svg::Short(1.0 * unit));
    Stroke::dashed(scene.ink.text, 0.14 * scene.em, &dash)
}

/// A light line below dashes, by which they are seen on dark bars.
fn rim(scene: &Scene) -> Stroke {
    Stroke::solid(scene.ink.paper, 0.26 * scene.em)
}

/// Lines of comparison over the bars.
pub(super) fn draw_references(scene: &Scene, bars: &Bars, frame: &Frame, svg: &mut Svg) {
    frame.open_clip(svg);
    for reference in &bars.references {
        if let [from, .., to] = frame.along(reference.at)[..] {
            svg.line(from, to, &rim(scene));
        }
    }
    frame.references(&bars.references, svg);
    svg.close_group();
}

pub(super) fn draw_chance(scene: &Scene, bars: &Bars, slots: &Slots, range: Range, svg: &mut Svg) {
    for group in 0..slots.groups {
        let level = if bars.chance.len() == 1 {
            bars.chance[0]
        } else {
            bars.chance.get(group).copied().flatten()
        };
        if let Some(level) = level.filter(|level| drawable(*level, bars.axis.scale)) {
            let (from, to) = slots.group(group);
            let reach = 0.05 * (to - from);
            let (from, to) = (slots.point(from - reach, level), slots.point(to + reach, level));
            // No bar crosses its own foot, where a rim would lift bars off the axis.
            if level != base(range) {
                svg.line(from, to, &rim(scene));
            }
            svg.line(from, to, &chance_stroke(scene));
        }
    }
}

pub(super) fn draw_zero(scene: &Scene, range: Range, slots: &Slots, svg: &mut Svg) {
    if range.scale == Scale::Linear && range.low < 0.0 && range.high > 0.0 {
        let plot = slots.frame.plot;
        let stroke = Stroke::solid(scene.ink.axis, 0.09 * scene.em);
        match slots.orientation {
            Orientation::Vertical => {
                let y = slots.frame.py(0.0);
                svg.line((plot.x, y), (plot.right(), y), &stroke);
            }
            Orientation::Horizontal => {
                let x = slots.frame.px(0.0);
                svg.line((x, plot.y), (x, plot.bottom()), &stroke);
            }
        }
    }
}

pub(super) fn draw_intervals(scene: &Scene, bars: &Bars, slots: &Slots, place: Place, range: Range, svg: &mut Svg) {
    let em = scene.em;
    let color = mix(scene.ink.text, scene.ink.paper, 0.12);
    let whisker = Stroke::solid(color, 0.11 * em);
    let cap = (0.22 * slots.thickness()).min(0.45 * em);
    for (index, row) in bars.rows.iter().enumerate() {
        svg.open_series("series", scene.name(row.series));
        for (position, bar) in row.bars.iter().enumerate() {
            let (group, member) = place(index, position);
            if group >= slots.groups {
                continue;
            }
            let middle = slots.middle(group, member);
            if value(bar, range.scale).is_none() {
                draw_missing(scene, slots, middle, base(range), svg);
                continue;
            }
            if let Some((low, high)) = bar
                .interval
                .filter(|(a, b)| a < b && drawable(*a, range.scale) && drawable(*b, range.scale))
            {
                svg.line(slots.point(middle, low), slots.point(middle, high), &whisker);
                for end in [low, high] {
                    svg.line(slots.point(middle - cap, end), slots.point(middle + cap, end), &whisker);
                }
            }
        }
        svg.close_group();
    }
}

/// A dash at the foot of the place of a bar that has no value.
fn draw_missing(scene: &Scene, slots: &Slots, middle: f64, foot: f64, svg: &mut Svg) {
    let em = scene.em;
    let (x, y) = slots.point(middle, foot);
    let letters = Letters {
        color: scene.ink.muted,
        anchor: Anchor::Middle,
        ..scene.letters()
    };
    match slots.orientation {
        Orientation::Vertical if slots.thickness() >= 0.7 * em => svg.text(x, y - 0.3 * em, "–", letters),
        Orientation::Horizontal if slots.thickness() >= em => svg.text(x + 0.7 * em, y + 0.3 * em, "–", letters),
        _ => {
            let stroke = Stroke::solid(scene.ink.muted, 0.12 * em);
            let half = 0.3 * slots.thickness();
            match slots.orientation {
                Orientation::Vertical => svg.line((x - half, y - 0.5 * em), (x + half, y - 0.5 * em), &stroke),
                Orientation::Horizontal => svg.line((x + 0.3 * em, y), (x + 0.8 * em, y), &stroke),
            }
        }
    }
}
