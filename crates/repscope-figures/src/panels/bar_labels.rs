// SPDX-License-Identifier: MIT
//! The numbers at bars: above upright ones (below those that point down), and in a column at the right of flat ones. All bars of a panel
//! have their number, or none has.

use super::slots::Slots;
use crate::content::{Measured, Weight};
use crate::figure::{Axis, Scale};
use crate::palette::hex;
use crate::plan::Scene;
use crate::svg::{Anchor, Rect, Svg};
use crate::text::{CAPITAL, width};
use crate::ticks::{Range, drawable};

/// Distance of a number from its bar, in units of the letters' size.
const GAP: f64 = 0.35;
/// The least distance from a point, which may reach beyond its interval.
const POINT_GAP: f64 = 0.18;
/// Size of the numbers, in the same units.
const SIZE: f64 = 0.9;

/// Where the numbers of a panel stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    None,
    /// Above upright bars.
    Above,
    /// Right of the plot, in a column of this width.
    Beside(f64),
}

/// A bar and its number.
pub(super) struct Bar {
    pub series: usize,
    /// Middle of its place along the groups.
    pub middle: f64,
    pub value: f64,
    /// The value as it is written.
    pub text: String,
    /// The interval, or the value twice.
    pub ends: (f64, f64),
    /// How far the point at the value reaches on the page; 0 for a bar.
    pub reach: f64,
}

/// The end of a bar and its interval that is farther from zero.
fn far_end(value: f64, (low, high): (f64, f64)) -> f64 {
    if value < 0.0 { value.min(low) } else { value.max(high) }
}

pub(super) fn label_width(text: &str, em: f64) -> f64 {
    width(text, SIZE * em, Weight::Regular)
}

/// Moves the ends of an upright axis of this length on the page until numbers fit above their bars. Where that takes too much of the
/// plot the end stays, and there are no numbers. A requested scale, such as 0 to 1, hardly grows.
pub(super) fn make_room<'a>(
    range: Range,
    axis: &Axis,
    bars: impl Iterator<Item = &'a Measured>,
    length: f64,
    em: f64,
) -> Range {
    let log = range.scale == Scale::Log;
    let to = |x: f64| if log { x.ln() } else { x };
    let from = |x: f64| if log { x.exp() } else { x };
    let (low, high) = (to(range.low), to(range.high));
    let is_scale = axis.covers.iter().any(|x| *x != axis.covers[0]);
    let most = if is_scale { 0.16 } else { 0.4 } * (high - low);
    let need = (CAPITAL * SIZE + GAP + 0.25) * em / length;
    // The end of each bar, and whether it points down.
    let far: Vec<(f64, bool)> = bars
        .filter_map(|bar| {
            let value = bar.value.filter(|value| drawable(*value, range.scale))?;
            let at = far_end(value, bar.interval.unwrap_or((value, value)));
            (drawable(at, range.scale) && need < 0.9).then(|| (to(at), !log && value < 0.0))
        })
        .collect();
    let (mut new_low, mut new_high) = (low, high);
    // Both ends pull at each other when bars point both ways; a few rounds settle it.
    for _ in 0..4 {
        for (at, down) in &far {
            if *down {
                new_low = new_low.min(new_high - (new_high - at) / (1.0 - need));
            } else {
                new_high = new_high.max(new_low + (at - new_low) / (1.0 - need));
            }
        }
    }
    if low - new_low > most || new_high - high > most {
        return range;
    }
    Range {
        low: from(new_low),
        high: from(new_high),
        ..range
    }
}

/// Draws the numbers of all bars, or none.
pub(super) fn draw_numbers(scene: &Scene, bars: &[Bar], slots: &Slots, numbers: Numbers, svg: &mut Svg) {
    let above: Vec<Option<f64>> = bars.iter().map(|bar| baseline(bar, slots, scene.em)).collect();
    if numbers == Numbers::None || (numbers == Numbers::Above && above.iter().any(Option::is_none)) {
        return;
    }
    let size = SIZE * scene.em;
    for (bar, above) in bars.iter().zip(above) {
        svg.open_series("series", scene.name(bar.series));
        match (numbers, above) {
            (Numbers::Beside(wide), _) => {
                let (_, y) = slots.point(bar.middle, bar.value);
                let letters = scene.letters().sized(size).anchored(Anchor::End);
                let right = slots.frame.plot.right() + 0.6 * scene.em + wide;
                svg.text(right, y + CAPITAL * size / 2.0, &bar.text, letters);
            }
            (_, Some(baseline)) => {
                let (x, _) = slots.point(bar.middle, bar.value);
                // Grid and lines of comparison end around the number.
                let (wide, rim) = (label_width(&bar.text, scene.em), 0.25 * scene.em);
                let top = baseline - CAPITAL * size - rim;
                let halo = Rect::new(x - wide / 2.0 - rim / 2.0, top, wide + rim, CAPITAL * size + 2.0 * rim);
                svg.rect(halo, &hex(scene.ink.paper), None, "");
                let letters = scene.letters().sized(size).anchored(Anchor::Middle);
                svg.text(x, baseline, &bar.text, letters);
            }
            _ => {}
        }
        svg.close_group();
    }
}

/// The baseline of a number beyond its upright bar and interval, away from zero; `None` where there is no room.
fn baseline(bar: &Bar, slots: &Slots, em: f64) -> Option<f64> {
    let plot = slots.frame.plot;
    let range = slots.frame.y?;
    let free = if slots.members == 1 {
        slots.slot()
    } else {
        slots.thickness()
    };
    let is_narrow = label_width(&bar.text, em) + 0.3 * em <= free;
    let end = far_end(bar.value, bar.ends);
    let tip = slots.frame.py(if drawable(end, range.scale) { end } else { bar.value });
    let (point, beyond) = (
        slots.frame.py(bar.value),
        if bar.reach > 0.0 {
            bar.reach + POINT_GAP * em
        } else {
            0.0
        },
    );
    let baseline = if bar.value < 0.0 {
        (tip + GAP * em).max(point + beyond) + CAPITAL * SIZE * em
    } else {
        (tip - GAP * em).min(point - beyond)
    };
    // Half a letter is free above a plot.
    let is_inside = baseline <= plot.bottom() && baseline - CAPITAL * SIZE * em >= plot.y - 0.3 * em;
    (is_narrow && is_inside).then_some(baseline)
}

#[cfg(test)]
mod tests;
