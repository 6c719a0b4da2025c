// SPDX-License-Identifier: MIT
//! A matrix of colored cells with numbers in them, as long as numbers can be read.

use super::words;
use crate::content::{Colors, Heatmap, Weight};
use crate::figure::Axis;
use crate::number::{fixed, number};
use crate::palette::{Rgb, hex, mix, text_on};
use crate::plan::{AxisPlan, ColorBar, Plan, Scene};
use crate::svg::{Anchor, Rect, Stroke, Svg};
use crate::text::{CAPITAL, widest};
use crate::ticks::{Range, drawable};

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, heatmap: &'a Heatmap, cell: f64) -> Plan<'a> {
    let (rows, columns) = (heatmap.rows.len(), heatmap.columns.len());
    if values(heatmap).next().is_none() {
        return words::plan(scene, "No values were given.".to_string());
    }
    let range = ends(heatmap);
    let colors = (0..=32)
        .map(|step| color(scene, heatmap, f64::from(step) / 32.0))
        .collect();
    let mut plan = Plan::new(
        AxisPlan::names(&heatmap.columns, &heatmap.column_label),
        AxisPlan::names(&heatmap.rows, &heatmap.row_label),
        Box::new(move |frame, svg| draw_cells(scene, heatmap, range, frame.plot, svg)),
    );
    plan.spines = false;
    plan.color_bar = Some(ColorBar {
        range,
        label: heatmap.value_label.clone(),
        colors,
    });
    let shape = (rows as f64 / columns as f64).clamp(0.35, 1.6);
    plan.height = Box::new(move |wide| (wide * shape).min(70.0 * scene.em).max(rows as f64 * 0.3 * scene.em));
    let guess = (cell - 16.0 * scene.em) / columns as f64;
    if many(heatmap) && size_of_numbers(scene, heatmap, guess, guess * shape * columns as f64 / rows as f64).is_some() {
        let least = fixed(0.5 * 0.1f64.powi(heatmap.decimals as i32), heatmap.decimals + 1);
        plan.notes.push(format!("Numbers below {least} are left out."));
    }
    plan
}

/// A page of zeros hides the other numbers: from so many cells on they are left out.
fn many(heatmap: &Heatmap) -> bool {
    heatmap.rows.len() * heatmap.columns.len() > 100
}

fn rounds_to_zero(value: f64, decimals: usize) -> bool {
    value.abs() < 0.5 * 0.1f64.powi(decimals as i32)
}

fn value(heatmap: &Heatmap, row: usize, column: usize) -> Option<f64> {
    let value = heatmap.values.get(row)?.get(column).copied().flatten()?;
    drawable(value, crate::figure::Scale::Linear).then_some(value)
}

/// All values that can be drawn.
fn values(heatmap: &Heatmap) -> impl Iterator<Item = f64> + '_ {
    let columns = heatmap.columns.len();
    (0..heatmap.rows.len() * columns).filter_map(move |at| value(heatmap, at / columns, at % columns))
}

/// Values of the first and the last color.
fn ends(heatmap: &Heatmap) -> Range {
    let wished = heatmap.range.map(|(low, high)| vec![low, high]).unwrap_or_default();
    let data = values(heatmap).filter(|_| heatmap.range.is_none());
    let mut range = Range::new(&Axis::linear("").covering(&wished), data, [0.0, 0.0]);
    if heatmap.colors == Colors::Diverging {
        range.high = range.high.abs().max(range.low.abs());
        range.low = -range.high;
    }
    range
}

fn color(scene: &Scene, heatmap: &Heatmap, t: f64) -> Rgb {
    match heatmap.colors {
        Colors::Sequential => scene.ink.sequential(t),
        Colors::Diverging => scene.ink.diverging(t),
    }
}

fn draw_cells(scene: &Scene, heatmap: &Heatmap, range: Range, plot: Rect, svg: &mut Svg) {
    let (rows, columns) = (heatmap.rows.len(), heatmap.columns.len());
    let (wide, high) = (plot.width / columns as f64, plot.height / rows as f64);
    let letters = size_of_numbers(scene, heatmap, wide, high);
    let few = rows * columns <= 1000;
    // Thin lines between large cells; small cells touch, and overlap a little so that no light shines through.
    let gap = if wide.min(high) > 1.2 * scene.em {
        0.04 * scene.em
    } else {
        -0.02 * scene.em
    };
    svg.open("class=\"cells\"");
    for row in 0..rows {
        for column in 0..columns {
            let (x, y) = (plot.x + column as f64 * wide, plot.y + row as f64 * high);
            let place = Rect::new(x + gap, y + gap, wide - 2.0 * gap, high - 2.0 * gap);
            let names = (&heatmap.rows[row], &heatmap.columns[column]);
            let value = value(heatmap, row, column);
            let what = value.map_or("no value".to_string(), number);
            let title = if few {
                format!("{} → {}: {what}", names.0, names.1)
            } else {
                String::new()
            };
            let Some(value) = value else {
                svg.rect(place, &hex(mix(scene.ink.grid, scene.ink.paper, 0.4)), None, &title);
                let stroke = Stroke::solid(scene.ink.muted, 0.08 * scene.em);
                let (mx, my, half) = (x + wide / 2.0, y + high / 2.0, 0.12 * wide);
                svg.line((mx - half, my), (mx + half, my), &stroke);
                continue;
            };
            let color = color(scene, heatmap, range.share(value));
            svg.rect(place, &hex(color), None, &title);
            if let Some((size, bare)) = letters {
                let text = shown(value, heatmap.decimals, bare);
                if many(heatmap) && rounds_to_zero(value, heatmap.decimals) {
                    continue;
                }
                let letters = scene
                    .letters()
                    .sized(size)
                    .colored(text_on(color))
                    .anchored(Anchor::Middle);
                svg.text(x + wide / 2.0, y + high / 2.0 + CAPITAL * size / 2.0, &text, letters);
            }
        }
    }
    svg.close_group();
}

/// Size of the numbers, and whether they go without the zero before the point; `None` if no legible size fits.
fn size_of_numbers(scene: &Scene, heatmap: &Heatmap, wide: f64, high: f64) -> Option<(f64, bool)> {
    for (share, bare) in [(0.95, false), (0.8, false), (0.8, true), (0.65, true)] {
        let size = share * scene.em;
        let written: Vec<String> = values(heatmap).map(|v| shown(v, heatmap.decimals, bare)).collect();
        let widest = widest(written.iter().map(String::as_str), size, Weight::Regular);
        if size >= 4.0 && widest <= 0.88 * wide && 1.2 * size <= high {
            return Some((size, bare));
        }
    }
    None
}

fn shown(value: f64, decimals: usize, bare: bool) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let text = if value.abs() >= 1e5 {
        number(value)
    } else {
        fixed(value, decimals)
    };
    match text.strip_prefix("0.").filter(|_| bare) {
        Some(fraction) => format!(".{fraction}"),
        None => text,
    }
}
