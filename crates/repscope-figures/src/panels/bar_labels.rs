// SPDX-License-Identifier: MIT
//! The numbers at bars: beyond the end of a bar, within it or, for a short one, on the other side of zero. All bars of
//! a panel have their number, or none has.

use super::slots::Slots;
use crate::content::{BarsLook, Measured, Orientation, Weight};
use crate::figure::{Axis, Scale};
use crate::number::Alike;
use crate::palette::{hex, text_on};
use crate::plan::Scene;
use crate::svg::{Anchor, Letters, Rect, Svg};
use crate::text::{CAPITAL, width};
use crate::ticks::{Range, drawable};

/// Distance of a number from its bar, in units of the letters' size.
const GAP: f64 = 0.35;
/// Size of the numbers, in the same units.
const SIZE: f64 = 0.9;

/// Which way the numbers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    Flat,
    Up,
}

/// A bar and its number.
pub(super) struct Bar {
    pub row: usize,
    pub series: usize,
    /// Middle of its place along the groups.
    pub middle: f64,
    pub value: f64,
    /// The value as it is written.
    pub text: String,
    /// The interval, or the value twice.
    pub ends: (f64, f64),
}

/// Position of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spot {
    /// Beyond the bar and its interval, away from zero.
    Beyond,
    /// In the bar, below its interval.
    Within,
    /// On the other side of zero, which looks right for short bars.
    Across,
}

/// A number with its place: where it starts, along the values, and whether it grows up (1) or down (−1) from there.
struct Label<'a> {
    bar: &'a Bar,
    text: String,
    spot: Spot,
    run: Run,
    at: f64,
    grows: f64,
}

/// The end of a bar and its interval that is farther from zero.
fn far_end(value: f64, (low, high): (f64, f64)) -> f64 {
    if value < 0.0 { value.min(low) } else { value.max(high) }
}

/// Length of a number along the values.
fn extent(text: &str, run: Run, orientation: Orientation, em: f64) -> f64 {
    match (orientation, run) {
        (Orientation::Vertical, Run::Flat) => CAPITAL * SIZE * em,
        _ => label_width(text, em),
    }
}

pub(super) fn label_width(text: &str, em: f64) -> f64 {
    width(text, SIZE * em, Weight::Regular)
}

/// Moves the ends of an axis of this length on the page until numbers fit beyond their bars. Where that takes too much
/// of the plot the end stays, and numbers have to go elsewhere. A requested scale, such as 0 to 1, hardly grows.
pub(super) fn make_room<'a>(
    range: Range,
    axis: &Axis,
    bars: impl Iterator<Item = &'a Measured>,
    (run, orientation, length): (Run, Orientation, f64),
    written: Alike,
    em: f64,
) -> Range {
    let log = range.scale == Scale::Log;
    let to = |x: f64| if log { x.ln() } else { x };
    let from = |x: f64| if log { x.exp() } else { x };
    let (low, high) = (to(range.low), to(range.high));
    let is_scale = axis.covers.iter().any(|x| *x != axis.covers[0]);
    let most = if is_scale { 0.125 } else { 0.4 } * (high - low);
    // The end of each bar, the share of the axis its number takes, and whether it points down.
    let far: Vec<(f64, f64, bool)> = bars
        .filter_map(|bar| {
            let value = bar.value.filter(|value| drawable(*value, range.scale))?;
            let at = far_end(value, bar.interval.unwrap_or((value, value)));
            let need = (extent(&written.text(value), run, orientation, em) + (GAP + 0.25) * em) / length;
            (drawable(at, range.scale) && need < 0.9).then(|| (to(at), need, !log && value < 0.0))
        })
        .collect();
    let grown = |with_down: bool, with_up: bool| {
        let (mut new_low, mut new_high) = (low, high);
        // Both ends pull at each other when bars point both ways; a few rounds settle it.
        for _ in 0..4 {
            for (at, need, down) in &far {
                if *down && with_down {
                    new_low = new_low.min(new_high - (new_high - at) / (1.0 - need));
                } else if !*down && with_up {
                    new_high = new_high.max(new_low + (at - new_low) / (1.0 - need));
                }
            }
        }
        let good = low - new_low <= most && new_high - high <= most;
        good.then_some((new_low, new_high))
    };
    let ends = [(true, true), (false, true), (true, false)]
        .into_iter()
        .find_map(|(down, up)| grown(down, up));
    let (low, high) = ends.unwrap_or((low, high));
    Range {
        low: from(low),
        high: from(high),
        ..range
    }
}

/// Draws the numbers of all bars, or none.
pub(super) fn draw_labels(
    scene: &Scene,
    bars: &[Bar],
    slots: &Slots,
    (range, run, look): (Range, Run, BarsLook),
    svg: &mut Svg,
) {
    let labels = place(bars, slots, (range, run, look), scene.em).unwrap_or_default();
    for row in labels.chunk_by(|a, b| a.bar.row == b.bar.row) {
        svg.open_series("series", scene.name(row[0].bar.series));
        for label in row {
            draw_label(scene, label, slots, svg);
        }
        svg.close_group();
    }
}

fn place<'a>(
    bars: &'a [Bar],
    slots: &Slots,
    (range, run, look): (Range, Run, BarsLook),
    em: f64,
) -> Option<Vec<Label<'a>>> {
    let runs: &[Run] = match (slots.orientation, run) {
        (Orientation::Vertical, Run::Flat) => &[Run::Flat, Run::Up],
        _ => &[run],
    };
    // Numbers of a panel stand alike if they can.
    let all: [&[Spot]; 3] = [
        &[Spot::Beyond],
        &[Spot::Within],
        &[Spot::Beyond, Spot::Within, Spot::Across],
    ];
    // There is no bar to write in behind a point.
    let kinds = match look {
        BarsLook::Bars => &all[..],
        BarsLook::Points => &all[..1],
    };
    let mut choices = runs
        .iter()
        .flat_map(|run| kinds.iter().map(move |spots| (*run, *spots)));
    choices.find_map(|(run, spots)| {
        let one = |bar| spots.iter().find_map(|spot| fit(bar, *spot, slots, range, run, em));
        bars.iter().map(one).collect()
    })
}

/// The number at this spot, if there is room for it.
fn fit<'a>(bar: &'a Bar, spot: Spot, slots: &Slots, range: Range, run: Run, em: f64) -> Option<Label<'a>> {
    let text = bar.text.clone();
    let long = extent(&text, run, slots.orientation, em);
    let along = |value: f64| {
        let (x, y) = slots.point(bar.middle, value);
        match slots.orientation {
            Orientation::Vertical => -y,
            Orientation::Horizontal => x,
        }
    };
    let plot = slots.frame.plot;
    // Half a letter is free above a plot, and a little at its right.
    let (first, last) = match slots.orientation {
        Orientation::Vertical => (-plot.bottom(), -plot.y + 0.3 * em),
        Orientation::Horizontal => (plot.x, plot.right() + 0.2 * em),
    };
    let points_down = bar.value < 0.0 && range.scale == Scale::Linear;
    let sign = if points_down { -1.0 } else { 1.0 };
    let foot = along(super::bars::base(range));
    let seen = |value: f64| drawable(value, range.scale).then(|| along(value));
    let tips = [Some(along(bar.value)), seen(bar.ends.0), seen(bar.ends.1)];
    // The bar and its interval, measured away from zero.
    let tips = || tips.iter().flatten().map(|tip| sign * tip);
    let nearest = sign * tips().fold(f64::INFINITY, f64::min);
    let farthest = sign * tips().fold(f64::NEG_INFINITY, f64::max);
    let (start, grows) = match spot {
        Spot::Beyond => (farthest, sign),
        Spot::Within => (nearest, -sign),
        Spot::Across => (sign * (sign * nearest).min(sign * foot), -sign),
    };
    let at = start + grows * GAP * em;
    let end = at + grows * long;
    let thickness = slots.thickness();
    // The bar itself is 0.92 of its place.
    let (across, free) = match (slots.orientation, run, spot) {
        (Orientation::Vertical, Run::Flat, Spot::Within) => (label_width(&text, em) + 0.2 * em, 0.92 * thickness),
        (Orientation::Vertical, Run::Flat, _) if slots.members == 1 => {
            (label_width(&text, em) + 0.3 * em, slots.slot())
        }
        (Orientation::Vertical, Run::Flat, _) => (label_width(&text, em) + 0.3 * em, thickness),
        _ => (SIZE * em, thickness),
    };
    let fits = across <= free
        && match spot {
            Spot::Within => sign * (end - foot) >= 0.2 * em,
            Spot::Beyond | Spot::Across => at.min(end) >= first && at.max(end) <= last,
        };
    fits.then_some(Label {
        bar,
        text,
        spot,
        run,
        at,
        grows,
    })
}

fn draw_label(scene: &Scene, label: &Label, slots: &Slots, svg: &mut Svg) {
    let em = scene.em;
    let size = SIZE * em;
    let upright = slots.orientation == Orientation::Vertical;
    let turned = upright && label.run == Run::Up;
    let long = extent(&label.text, label.run, slots.orientation, em);
    let wide = label_width(&label.text, em);
    let (x, y) = slots.point(label.bar.middle, label.bar.value);
    // Grid, lines of comparison and hatches end around the number.
    let ground = match label.spot {
        Spot::Within => scene.ink.series(label.bar.series),
        Spot::Beyond | Spot::Across => scene.ink.paper,
    };
    let (start, rim) = (label.at.min(label.at + label.grows * long), 0.25 * em);
    let across = match (upright, turned) {
        (true, false) => wide + rim,
        _ => (CAPITAL * size + 2.0 * rim).min(0.92 * slots.thickness()),
    };
    let halo = if upright {
        Rect::new(x - across / 2.0, -start - long - rim, across, long + 2.0 * rim)
    } else {
        Rect::new(start - rim, y - across / 2.0, long + 2.0 * rim, across)
    };
    svg.rect(halo, &hex(ground), None, "");
    let letters = Letters {
        size,
        color: match label.spot {
            Spot::Within => text_on(ground),
            Spot::Beyond | Spot::Across => scene.ink.text,
        },
        anchor: if label.grows > 0.0 { Anchor::Start } else { Anchor::End },
        ..scene.letters()
    };
    match (upright, turned) {
        (false, _) => svg.text(label.at, y + CAPITAL * size / 2.0, &label.text, letters),
        (true, true) => svg.text(x + CAPITAL * size / 2.0, -label.at, &label.text, letters.upright()),
        (true, false) => svg.text(x, -start, &label.text, letters.anchored(Anchor::Middle)),
    }
}

#[cfg(test)]
mod tests;
