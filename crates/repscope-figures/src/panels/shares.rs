// SPDX-License-Identifier: MIT
//! Stacked bars of shares, each bar 100 %.

use super::words;
use crate::content::{Shares, Weight};
use crate::figure::Axis;
use crate::legend::{KeyEntry, Sample};
use crate::number::fixed;
use crate::palette::{hex, text_on};
use crate::plan::{AxisPlan, Frame, Plan, Scene};
use crate::svg::{Anchor, Rect, Svg};
use crate::text::{CAPITAL, width};
use crate::ticks::Range;

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, shares: &'a Shares) -> Plan<'a> {
    let em = scene.em;
    if shares.names.is_empty() || shares.parts.is_empty() {
        return words::plan(scene, "No values were given.".to_string());
    }
    let axis = Axis::linear("share (%)").covering(&[0.0, 100.0]);
    let range = Range::new(&axis, std::iter::empty(), [0.0, 0.0]);
    let mut plan = Plan::new(
        AxisPlan::numbers(range, &axis),
        AxisPlan::names(&shares.names, ""),
        Box::new(move |frame, svg| {
            for (index, name) in shares.names.iter().enumerate() {
                svg.open_series("series", name);
                draw_bar(scene, shares, index, frame, svg);
                svg.close_group();
            }
        }),
    );
    (plan.grid_x, plan.grid_y) = (true, false);
    let count = shares.parts.len();
    plan.key = shares
        .parts
        .iter()
        .enumerate()
        .map(|(part, name)| KeyEntry::new(Sample::Patch(scene.ink.part(part, count)), name, None))
        .collect();
    // Long names take up to three lines.
    let long = shares
        .names
        .iter()
        .any(|name| width(name, em, Weight::Regular) > 9.0 * em);
    let natural = shares.names.len() as f64 * if long { 3.9 } else { 2.4 } * em + em;
    plan.height = Box::new(move |_| natural.max(6.0 * em));
    plan
}

/// The parts of one bar as shares of 1; `None` if a part is missing, negative, or all are zero.
fn parts(shares: &Shares, bar: usize) -> Option<Vec<f64>> {
    let values = shares.values.get(bar)?;
    let values: Option<Vec<f64>> = (0..shares.parts.len())
        .map(|part| values.get(part).copied().flatten())
        .collect();
    let values = values.filter(|values| values.iter().all(|value| value.is_finite() && *value >= 0.0))?;
    let total: f64 = values.iter().sum();
    (total > 0.0 && total.is_finite()).then(|| values.iter().map(|value| value / total).collect())
}

fn draw_bar(scene: &Scene, shares: &Shares, bar: usize, frame: &Frame, svg: &mut Svg) {
    let em = scene.em;
    let slot = frame.plot.height / shares.names.len() as f64;
    let high = (0.68 * slot).min(2.2 * em);
    let middle = frame.plot.y + (bar as f64 + 0.5) * slot;
    let Some(parts) = parts(shares, bar) else {
        let letters = scene.letters().colored(scene.ink.muted);
        svg.text(frame.plot.x + 0.5 * em, middle + CAPITAL * em / 2.0, "–", letters);
        return;
    };
    let mut before = 0.0;
    for (part, share) in parts.iter().enumerate() {
        let (from, to) = (frame.px(100.0 * before), frame.px(100.0 * (before + share)));
        before += share;
        let color = scene.ink.part(part, shares.parts.len());
        let gap = 0.05 * em;
        let percent = format!("{} %", fixed(100.0 * share, if *share < 0.0995 { 1 } else { 0 }));
        let title = format!("{}, {}: {percent}", shares.names[bar], shares.parts[part]);
        let place = Rect::new(from + gap, middle - high / 2.0, to - from - 2.0 * gap, high);
        svg.rect(place, &hex(color), None, &title);
        if width(&percent, 0.9 * em, Weight::Regular) + 0.6 * em <= to - from && high >= 1.1 * em {
            let letters = scene
                .letters()
                .sized(0.9 * em)
                .colored(text_on(color))
                .anchored(Anchor::Middle);
            svg.text((from + to) / 2.0, middle + CAPITAL * 0.45 * em, &percent, letters);
        }
    }
}
