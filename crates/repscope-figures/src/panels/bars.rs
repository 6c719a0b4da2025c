// SPDX-License-Identifier: MIT
//! Grouped bars with intervals and chance levels. Bars start at zero; a missing value is a dash.

use super::bar_labels::{Bar, Run, draw_labels, label_width, make_room};
use super::bar_marks::{
    Place, chance_stroke, draw_bars, draw_chance, draw_intervals, draw_points, draw_references, draw_zero,
};
use super::scatter::{left_out, nothing};
use super::slots::Slots;
use super::{Room, words};
use crate::content::{Bars, BarsLook, Measured, Orientation, Weight};
use crate::figure::Scale;
use crate::legend::{KeyEntry, Sample};
use crate::names::{NAMES, slot_beside};
use crate::number::Alike;
use crate::plan::{AxisPlan, Plan, Scene, Shown, reference_key, reference_values};
use crate::text::width;
use crate::ticks::{Padding, Range, drawable};

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, bars: &'a Bars, room: Room) -> Plan<'a> {
    let em = scene.em;
    let scale = bars.axis.scale;
    let all = || bars.rows.iter().flat_map(|row| &row.bars);
    let given = all().filter(|bar| bar.value.is_some()).count();
    let drawn = all().filter(|bar| value(bar, scale).is_some()).count();
    if drawn == 0 {
        return words::plan(scene, nothing(given, scale == Scale::Log));
    }
    // Without categories, each series is a group of its own.
    let by_series = bars.categories.is_empty();
    let (groups, members) = if by_series {
        (bars.rows.len(), 1)
    } else {
        (bars.categories.len(), bars.rows.len())
    };
    let names: Vec<String> = if by_series {
        bars.rows.iter().map(|row| scene.name(row.series).to_string()).collect()
    } else {
        bars.categories.clone()
    };
    let vertical = bars.orientation == Orientation::Vertical;
    let filled: f64 = if groups * members == 1 {
        0.4
    } else if members == 1 {
        0.66
    } else {
        0.8
    };
    let per_bar = if members == 1 { 1.9 } else { 1.25 };
    let slot = (members as f64 * per_bar * em / filled.max(0.6)).max(slot_beside(&names, NAMES * room.width, em));
    let natural = groups as f64 * slot + 1.5 * em;
    let height = move |wide: f64| {
        if vertical {
            upright_height(wide, em)
        } else {
            natural.max(7.0 * em)
        }
    };

    let plot = (room.width - margin(bars, &names, room.width, em)).max(4.0 * em);
    let high = height(plot - room.beyond);
    let thickest = if vertical { 4.6 } else { 2.4 } * em;
    let slot = if vertical { plot } else { high } / groups as f64;
    let thickness = (filled * slot / members as f64).min(thickest);
    let written = match scale {
        Scale::Linear => Alike::of(all().filter_map(|bar| value(bar, scale))),
        Scale::Log => Alike::Significant,
    };
    let longest = all()
        .filter_map(|bar| value(bar, scale))
        .map(|v| label_width(&written.text(v), em))
        .fold(0.0, f64::max);
    let free = if members == 1 { slot } else { thickness };
    let run = if !vertical {
        (thickness >= em).then_some(Run::Flat)
    } else if longest + 0.3 * em <= free {
        Some(Run::Flat)
    } else {
        (thickness >= 0.95 * em && groups * members <= 40).then_some(Run::Up)
    };

    let zero = (scale == Scale::Linear).then_some(0.0);
    let reached = all()
        .filter_map(|bar| value(bar, scale).map(|v| (v, bar.interval)))
        .flat_map(|(v, interval)| {
            let (low, high) = interval.unzip();
            [Some(v), low, high].into_iter().flatten()
        });
    let chance = bars.chance.iter().flatten().copied();
    let references = reference_values(&bars.references, bars.orientation);
    let padding = Padding {
        below: 0.05,
        above: 0.05,
    };
    let mut range = Range::new(&bars.axis, reached.chain(zero).chain(chance).chain(references), padding);
    let all_positive = all().filter_map(ends).all(|(low, _)| low >= 0.0) && bars.axis.covers.iter().all(|x| *x >= 0.0);
    let all_negative =
        all().filter_map(ends).all(|(_, high)| high <= 0.0) && bars.axis.covers.iter().all(|x| *x <= 0.0);
    if scale == Scale::Linear && all_positive {
        range.low = 0.0;
    } else if scale == Scale::Linear && all_negative {
        range.high = 0.0;
    }
    if let Some(run) = run {
        let length = if vertical { high } else { plot };
        range = make_room(range, &bars.axis, all(), (run, bars.orientation, length), written, em);
    }

    let numbers = AxisPlan::Numbers {
        range,
        label: bars.axis.label.clone(),
    };
    let named = AxisPlan::Names {
        names,
        label: bars.category_label.clone(),
        of_series: by_series,
    };
    let (x, y) = if vertical { (named, numbers) } else { (numbers, named) };
    let mut plan = Plan::new(
        x,
        y,
        Box::new(move |frame, svg| {
            let slots = Slots {
                frame,
                orientation: bars.orientation,
                groups,
                members,
                filled,
                thickest,
            };
            let place = |row: usize, bar: usize| if by_series { (row, 0) } else { (bar, row) };
            if bars.look == BarsLook::Bars {
                draw_bars(scene, bars, &slots, &place, range, svg);
            }
            draw_chance(scene, bars, &slots, range, svg);
            draw_references(scene, bars, frame, svg);
            draw_zero(scene, range, &slots, svg);
            draw_intervals(scene, bars, &slots, &place, range, svg);
            if let Some(run) = run {
                draw_labels(
                    scene,
                    &labeled(bars, written, &slots, &place),
                    &slots,
                    (range, run, bars.look),
                    svg,
                );
            }
            // Over the numbers, whose ground would cut into points.
            if bars.look == BarsLook::Points {
                draw_points(scene, bars, &slots, &place, range, svg);
            }
        }),
    )
    .with_series(
        bars.rows.iter().map(|row| row.series),
        Shown {
            fill: true,
            ..Shown::default()
        },
    );
    (plan.grid_x, plan.grid_y) = (!vertical, vertical);
    plan.height = Box::new(height);
    if bars.chance.iter().any(Option::is_some) {
        plan.key
            .push(KeyEntry::new(Sample::Line(chance_stroke(scene)), "chance", None));
    }
    plan.key.extend(reference_key(scene, &bars.references));
    plan.notes.extend(left_out(given - drawn, scale == Scale::Log));
    plan
}

/// Height of upright bars and boxes. Wide plots are flatter: long bars say no more than short ones.
pub(super) fn upright_height(wide: f64, em: f64) -> f64 {
    let narrow = 22.0 * em;
    0.72 * wide.min(narrow) + 0.42 * (wide - narrow).max(0.0)
}

/// The value, if it can be drawn.
pub(super) fn value(bar: &Measured, scale: Scale) -> Option<f64> {
    bar.value.filter(|v| drawable(*v, scale))
}

/// The value and its interval from end to end.
fn ends(bar: &Measured) -> Option<(f64, f64)> {
    let value = bar.value?;
    let (low, high) = bar.interval.unwrap_or((value, value));
    Some((value.min(low), value.max(high)))
}

/// Bars that are drawn, row by row.
fn labeled(bars: &Bars, written: Alike, slots: &Slots, place: Place) -> Vec<Bar> {
    let mut labeled = Vec::new();
    for (index, row) in bars.rows.iter().enumerate() {
        for (position, bar) in row.bars.iter().enumerate() {
            let (group, member) = place(index, position);
            let Some(value) = value(bar, bars.axis.scale).filter(|_| group < slots.groups) else {
                continue;
            };
            labeled.push(Bar {
                row: index,
                series: row.series,
                middle: slots.middle(group, member),
                value,
                text: written.text(value),
                ends: bar.interval.unwrap_or((value, value)),
            });
        }
    }
    labeled
}

/// About the room the axes take beside the plot.
fn margin(bars: &Bars, names: &[String], cell: f64, em: f64) -> f64 {
    let widest = names
        .iter()
        .map(|name| width(name, em, Weight::Regular))
        .fold(0.0, f64::max);
    match bars.orientation {
        Orientation::Vertical => 7.0 * em,
        Orientation::Horizontal if bars.category_label.is_empty() => widest.min(NAMES * cell) + 1.5 * em,
        Orientation::Horizontal => widest.min(NAMES * cell) + 3.2 * em,
    }
}
