// SPDX-License-Identifier: MIT
//! Box plots with outliers.

use super::slots::{Groups, Slots};
use super::{Room, words};
use crate::content::{BoxSummary, Boxes};
use crate::figure::Scale;
use crate::number::number;
use crate::palette::hex;
use crate::plan::{AxisPlan, Frame, Plan, Scene, counted, reference_key, reference_values};
use crate::svg::{Anchor, Short, Stroke, Svg};
use crate::ticks::{Range, drawable};
use std::collections::BTreeSet;

impl BoxSummary {
    /// Quartiles by linear interpolation, whiskers to the last values within 1.5 interquartile ranges of the box
    /// (Tukey). Values that are not finite are left out; without any other there is no summary.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let quantile = |share: f64| {
            let place = share * last as f64;
            let left = place as usize;
            let right = (left + 1).min(last);
            sorted[left] + (place - left as f64) * (sorted[right] - sorted[left])
        };
        let (q1, median, q3) = (quantile(0.25), quantile(0.5), quantile(0.75));
        let reach = 1.5 * (q3 - q1);
        let within = |x: &&f64| (q1 - reach..=q3 + reach).contains(*x);
        let low = sorted.iter().find(within).copied().unwrap_or(q1).min(q1);
        let high = sorted.iter().rev().find(within).copied().unwrap_or(q3).max(q3);
        let outliers = sorted.iter().copied().filter(|x| *x < low || *x > high).collect();
        Some(Self {
            q1,
            median,
            q3,
            low,
            high,
            outliers,
        })
    }

    fn values(&self) -> [f64; 5] {
        [self.low, self.q1, self.median, self.q3, self.high]
    }
}

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, boxes: &'a Boxes, room: Room) -> Plan<'a> {
    let em = scene.em;
    let scale = boxes.axis.scale;
    let all = || boxes.rows.iter().flat_map(|row| &row.boxes).flatten();
    // A box is drawn if its quartiles can be; a whisker or outlier that cannot is left out.
    let good = move |summary: &&BoxSummary| {
        [summary.q1, summary.median, summary.q3]
            .iter()
            .all(|x| drawable(*x, scale))
    };
    let drawn = all().filter(good).count();
    if drawn == 0 {
        let why = if all().next().is_none() {
            "No values were given."
        } else {
            "No box has positive quartiles to show on a log axis."
        };
        return words::plan(scene, why.to_string());
    }
    let series = boxes.rows.iter().map(|row| row.series).collect();
    let layout = Groups::new(scene, &boxes.categories, series, boxes.orientation);
    let (groups, members, by_series, vertical) =
        (layout.names.len(), layout.members, layout.by_series, layout.vertical);
    let of = |summary: &'a BoxSummary| summary.values().into_iter().chain(summary.outliers.iter().copied());
    let references = reference_values(&boxes.references, boxes.orientation);
    let values = all().filter(good).flat_map(of).chain(references);
    let range = Range::new(&boxes.axis, values, [0.05, 0.05]);
    let draw = move |frame: &Frame, svg: &mut Svg| {
        let slots = Slots {
            frame,
            orientation: boxes.orientation,
            groups,
            members,
            by_series,
            filled: 0.8,
            thickest: f64::INFINITY,
        };
        frame.open_clip(svg);
        frame.references(&boxes.references, svg);
        svg.close_group();
        for (index, row) in boxes.rows.iter().enumerate() {
            svg.open_series("series", scene.name(row.series));
            for (position, summary) in row.boxes.iter().enumerate() {
                let Some(middle) = slots.middle(index, position) else {
                    continue;
                };
                if let Some(summary) = summary.as_ref().filter(good) {
                    draw_box(scene, row.series, summary, &slots, middle, range, svg);
                    continue;
                }
                let (x, y) = slots.point(middle, range.low);
                let x = if vertical { x } else { x + 0.7 * em };
                let y = if vertical { y - 0.3 * em } else { y + 0.3 * em };
                let letters = scene.letters().colored(scene.ink.muted);
                svg.text(x, y, "–", letters.anchored(Anchor::Middle));
            }
            svg.close_group();
        }
    };
    let height = layout.height(1.9 * em, room.names(), em);
    let is_scarce = scene.columns.is_some();
    let close = is_scarce.then(|| layout.close_height(room.names(), em)).flatten();
    let height = move |wide: f64| close.unwrap_or_else(|| height(wide));
    let numbers = AxisPlan::numbers(range, &boxes.axis);
    let mut plan = layout.plan(numbers, &boxes.category_label, Box::new(draw));
    plan.height = Box::new(height);
    plan.key = reference_key(scene, &boxes.references);
    let hidden = all().flat_map(of).filter(|x| !drawable(*x, scale)).count();
    if scale == Scale::Log {
        plan.notes.extend(counted(
            hidden,
            "end or outlier at or below zero is left out of the log axis.",
            "ends or outliers at or below zero are left out of the log axis.",
        ));
    }
    plan
}

fn draw_box(
    scene: &Scene,
    series: usize,
    summary: &BoxSummary,
    slots: &Slots,
    middle: f64,
    range: Range,
    svg: &mut Svg,
) {
    let em = scene.em;
    let line = Stroke::solid(scene.ink.axis, 0.1 * em);
    let half = (0.4 * slots.thickness()).min(2.4 * em);
    let seen = |x: f64| drawable(x, range.scale);
    for (from, to) in [(summary.q1, summary.low), (summary.q3, summary.high)] {
        if seen(to) {
            svg.line(slots.point(middle, from), slots.point(middle, to), &line);
            svg.line(
                slots.point(middle - half / 2.0, to),
                slots.point(middle + half / 2.0, to),
                &line,
            );
        }
    }
    let title = format!(
        "{}: median {}, quartiles {} and {}, whiskers {} and {}",
        scene.name(series),
        number(summary.median),
        number(summary.q1),
        number(summary.q3),
        number(summary.low),
        number(summary.high)
    );
    let rect = slots.rect(middle - half, middle + half, summary.q1, summary.q3);
    slots.frame.area(rect, series, Some(&line), &title, svg);
    // The median is light on dark colors and dark on light ones, or it would vanish.
    let color = crate::palette::text_on(scene.ink.series(series));
    let (from, to) = (slots.point(middle, summary.q1), slots.point(middle, summary.q3));
    let length = (to.0 - from.0).abs() + (to.1 - from.1).abs();
    let median = Stroke::solid(color, (0.2 * em).min(0.3 * length).max(0.07 * em));
    let inset = 0.06 * em;
    svg.line(
        slots.point(middle - half + inset, summary.median),
        slots.point(middle + half - inset, summary.median),
        &median,
    );
    // Pale dots, which show by their depth where many lie; those on the same tenth of a letter are drawn once.
    let mut places = BTreeSet::new();
    let r = 0.17 * em;
    let mut d = String::new();
    for outlier in summary.outliers.iter().copied().filter(|x| seen(*x)) {
        let (x, y) = slots.point(middle, outlier);
        if places.insert(((x + y) / (0.1 * em)).round() as i64) {
            d.push_str(&format!(
                "M{} {}a{r} {r} 0 1 1 {} 0a{r} {r} 0 1 1 {} 0",
                Short(x - r),
                Short(y),
                Short(2.0 * r),
                Short(-2.0 * r),
                r = Short(r)
            ));
        }
    }
    if !d.is_empty() {
        svg.path(&d, &hex(scene.ink.series(series)), 0.55, None, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_by_hand() {
        // Sorted 1 2 3 4 5 6 7 8 100: places of the quartiles are 2, 4, 6, so 3, 5, 7; 1.5 · 4 = 6 reaches from −3 to
        // 13.
        let values = [100.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, f64::NAN];
        let wanted = BoxSummary {
            q1: 3.0,
            median: 5.0,
            q3: 7.0,
            low: 1.0,
            high: 8.0,
            outliers: vec![100.0],
        };
        assert_eq!(BoxSummary::of(&values), Some(wanted));
        assert_eq!(BoxSummary::of(&[f64::NAN]), None);
    }
}
