// SPDX-License-Identifier: MIT
//! Grouped bars with intervals and chance levels. Bars start at zero; where that hides the differences, and on a log axis, they are
//! points. A missing value is a dash.

use super::bar_labels::{Bar, Numbers, draw_numbers, label_width, make_room};
use super::scatter::{left_out, nothing};
use super::slots::{Groups, Slots};
use super::{Names, Room, trend, words};
use crate::content::{Bars, BarsLook, Grouping, Measured, Orientation, Weight};
use crate::figure::{Axis, Scale};
use crate::legend::{KeyEntry, Sample};
use crate::number::{Alike, number};
use crate::palette::{Rgb, mix};
use crate::plan::{AxisPlan, Frame, Plan, Scene, reference_key, reference_values};
use crate::svg::{Anchor, Short, Stroke, Svg};
use crate::text::widest;
use crate::ticks::{Range, drawable};

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, bars: &'a Bars, room: Room) -> Plan<'a> {
    let em = scene.em;
    let scale = bars.axis.scale;
    let all = || bars.rows.iter().flat_map(|row| &row.bars);
    let given = all().filter(|bar| bar.value.is_some()).count();
    let drawn = all().filter(|bar| value(bar, scale).is_some()).count();
    if drawn == 0 {
        return words::plan(scene, nothing(given, scale == Scale::Log));
    }
    if let Some(along) = &bars.along {
        return trend::plan(scene, bars, along);
    }
    let is_near = is_near(bars);
    let look = if is_near || scale == Scale::Log {
        BarsLook::Points
    } else {
        bars.look
    };
    let series = bars.rows.iter().map(|row| row.series).collect();
    let is_by_series = bars.grouping == Grouping::Series && !bars.categories.is_empty();
    let mut layout = if is_by_series {
        Groups::new(scene, &[], series, bars.orientation)
    } else {
        Groups::new(scene, &bars.categories, series, bars.orientation)
    };
    if is_by_series {
        layout.members = bars.categories.len();
    }
    let (groups, members, by_series) = (layout.names.len(), layout.members, layout.by_series);
    let vertical = layout.vertical;
    let filled: f64 = match (groups * members, members) {
        (1, _) => 0.4,
        (_, 1) => 0.66,
        _ => 0.8,
    };
    let per_bar = if members == 1 { 1.9 } else { 1.25 };
    let height = layout.height(per_bar * em / filled.max(0.6), room.names(), em);
    // Many points lie close together, as long as each name still has a line of its own.
    let is_dense = look == BarsLook::Points;
    let dense = is_dense.then(|| layout.close_height(room.names(), em)).flatten();
    let height = move |wide: f64| dense.unwrap_or_else(|| height(wide));

    let written = match scale {
        Scale::Linear => Alike::of(all().filter_map(|bar| value(bar, scale))),
        Scale::Log => Alike::Significant,
    };
    let values = all().filter_map(|bar| value(bar, scale));
    let longest = values.map(|v| label_width(&written.text(v), em)).fold(0.0, f64::max);
    let plot = (room.width - margin(bars, &layout.names, room, em)).max(4.0 * em);
    let high = height(plot - room.beyond);
    let thickest = if vertical { 4.6 } else { 2.4 } * em;
    let slot = if vertical { plot } else { high } / groups as f64;
    let thickness = (filled * slot / members as f64).min(thickest);
    let free = if members == 1 { slot } else { thickness };
    let fits = if is_by_series {
        false
    } else if vertical {
        longest + 0.3 * em <= free
    } else {
        let is_high = if dense.is_some() {
            slot >= 1.3 * em
        } else {
            thickness >= em
        };
        is_high && plot >= longest + 8.0 * em
    };
    let numbers = match (fits, vertical) {
        (false, _) => Numbers::None,
        (true, true) => Numbers::Above,
        (true, false) => Numbers::Beside(longest),
    };

    let zero = (scale == Scale::Linear && !is_near).then_some(0.0);
    let reached = all().filter(|bar| value(bar, scale).is_some()).flat_map(|bar| {
        let (low, high) = bar.interval.unzip();
        [bar.value, low, high].into_iter().flatten()
    });
    let chance = bars.chance.iter().flatten().copied();
    let chance = chance.filter(|_| !is_near || bars.reaches_chance);
    let references = reference_values(&bars.references, bars.orientation);
    let reached = reached.chain(zero).chain(chance).chain(references);
    let mut range = if is_near {
        near_range(&bars.axis, reached)
    } else {
        Range::new(&bars.axis, reached, [0.05, 0.05])
    };
    let covers = &bars.axis.covers;
    let all_positive = all().filter_map(ends).all(|(low, _)| low >= 0.0) && covers.iter().all(|x| *x >= 0.0);
    let all_negative = all().filter_map(ends).all(|(_, high)| high <= 0.0) && covers.iter().all(|x| *x <= 0.0);
    if scale == Scale::Linear && !is_near && all_positive {
        range.low = 0.0;
    } else if scale == Scale::Linear && !is_near && all_negative {
        range.high = 0.0;
    }
    if numbers == Numbers::Above {
        let free = Axis::linear("");
        let axis = if is_near { &free } else { &bars.axis };
        range = make_room(range, axis, all(), high, em);
    }

    let draw = move |frame: &Frame, svg: &mut Svg| {
        let slots = Slots {
            frame,
            orientation: bars.orientation,
            groups,
            members,
            by_series,
            filled,
            thickest,
        };
        let marks = Marks {
            scene,
            bars,
            slots: &slots,
            range,
        };
        if look == BarsLook::Bars {
            marks.bars(svg);
        }
        marks.chance(svg);
        marks.references(svg);
        marks.zero(svg);
        marks.intervals(svg);
        let reach = if look == BarsLook::Points { marks.radius() } else { 0.0 };
        draw_numbers(scene, &marks.labeled(written, reach), &slots, numbers, svg);
        // Over the numbers, whose ground would cut into points.
        if look == BarsLook::Points {
            marks.points(svg);
        }
    };
    let axis = AxisPlan::numbers(range, &bars.axis).marked_if_cut();
    let is_cut = axis.cut().is_some();
    let label = if is_by_series { "" } else { &bars.category_label };
    let mut plan = layout.plan(axis, label, Box::new(draw));
    plan.height = Box::new(height);
    plan.right = match numbers {
        Numbers::Beside(wide) => wide + 0.6 * em,
        _ => 0.0,
    };
    if is_cut {
        plan.footnotes.push(CUT.to_string());
    }
    if is_by_series {
        plan.key = category_key(bars, |position| category_color(scene, bars, position));
        plan.notes.extend(order(bars));
    }
    plan.key.extend(chance_key(scene, bars, range));
    plan.key.extend(reference_key(scene, &bars.references));
    plan.notes.extend(left_out(given - drawn, scale == Scale::Log));
    plan
}

/// What stands below a figure with a cut axis.
pub(super) const CUT: &str = "The axis is cut: it does not start at 0.";

/// Whether all values lie so near each other, and so far from zero, that bars from zero would look alike. Points need not start at zero,
/// so their axis is cut earlier.
pub(super) fn is_near(bars: &Bars) -> bool {
    let scale = bars.axis.scale;
    let drawn = bars.rows.iter().flat_map(|row| &row.bars);
    let drawn = drawn.filter(|bar| value(bar, scale).is_some());
    let (least, most) = drawn.clone().filter_map(|bar| bar.value).fold(EMPTY, around);
    let of_bars = drawn.filter_map(ends).flat_map(|(low, high)| [low, high]);
    let references = reference_values(&bars.references, bars.orientation);
    let chance = bars.chance.iter().flatten().copied().filter(|_| bars.reaches_chance);
    let (low, high) = of_bars
        .chain(references)
        .chain(chance)
        .filter(|x| drawable(*x, scale))
        .fold(EMPTY, around);
    let share = match bars.look {
        BarsLook::Points => 0.35,
        BarsLook::Bars => 0.2,
    };
    let is_one_sided = low > 0.0 || high < 0.0;
    scale == Scale::Linear && is_one_sided && least < most && high - low <= share * low.abs().max(high.abs())
}

const EMPTY: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

fn around((low, high): (f64, f64), x: f64) -> (f64, f64) {
    (low.min(x), high.max(x))
}

/// From where to where a cut axis runs. The end that is cut has room for its mark, and a wished end such as 1 is not passed.
pub(super) fn near_range(axis: &Axis, values: impl Iterator<Item = f64>) -> Range {
    let (low, high) = values.fold(EMPTY, around);
    let (near, far) = (0.06 * (high - low), 0.16 * (high - low));
    let (mut low, mut high) = if low > 0.0 {
        ((low - far).max(0.5 * low), high + near)
    } else {
        (low - near, (high + far).min(0.5 * high))
    };
    let wished = axis.covers.iter().copied().fold(EMPTY, around);
    if wished.0 < wished.1 {
        (low, high) = (low.max(wished.0), high.min(wished.1));
    }
    Range {
        low,
        high,
        scale: Scale::Linear,
    }
}

/// The key of the categories; the first says what they are.
pub(super) fn category_key(bars: &Bars, color: impl Fn(usize) -> Rgb) -> Vec<KeyEntry> {
    let entry = |(position, name): (usize, &String)| {
        let label = match position {
            0 if !bars.category_label.is_empty() => format!("{}: {name}", bars.category_label),
            _ => name.clone(),
        };
        KeyEntry::new(Sample::Dot(position, color(position)), &label, None)
    };
    bars.categories.iter().enumerate().map(entry).collect()
}

/// What a pointer on a value shows behind its name.
pub(super) fn described(value: f64, interval: Option<(f64, f64)>) -> String {
    let interval = interval.map(|(low, high)| format!(" [{}, {}]", number(low), number(high)));
    format!("{}{}", number(value), interval.unwrap_or_default())
}

/// The key of the chance levels. Those that a cut axis does not reach are said in words.
pub(super) fn chance_key(scene: &Scene, bars: &Bars, range: Range) -> Option<KeyEntry> {
    let levels = || bars.chance.iter().flatten().copied();
    let (low, high) = levels().fold(EMPTY, around);
    let is_inside = |level: f64| (range.low..=range.high).contains(&level);
    let sample = Sample::Line(chance_stroke(scene));
    if levels().any(is_inside) {
        Some(KeyEntry::new(sample, "chance", None))
    } else if low < high || (low == high && low != 0.0) {
        let beyond = if low < high {
            format!("{} to {}", number(low), number(high))
        } else {
            number(low)
        };
        Some(KeyEntry::new(
            Sample::Blank(0.0),
            &format!("chance: {beyond}, not on the axis"),
            None,
        ))
    } else {
        None
    }
}

/// By which category the series are sorted, if they are.
fn order(bars: &Bars) -> Option<String> {
    let is_sorted = |category: &usize| {
        let values: Vec<f64> = bars
            .rows
            .iter()
            .filter_map(|row| row.bars.get(*category)?.value)
            .collect();
        let is_sorted = values.is_sorted() || values.is_sorted_by(|a, b| a >= b);
        values.len() > 2 && is_sorted && values.iter().any(|value| *value != values[0])
    };
    let name = &bars.categories[(0..bars.categories.len()).find(is_sorted)?];
    Some(match bars.category_label.as_str() {
        "" => format!("Sorted by {name}."),
        label => format!("Sorted by {label} = {name}."),
    })
}

/// The shade of a category where the series are groups.
fn category_color(scene: &Scene, bars: &Bars, position: usize) -> Rgb {
    let last = bars.categories.len().max(2) - 1;
    scene.ink.point(0.8 * position as f64 / last as f64)
}

/// Height of upright bars and boxes. Wide plots are flatter: long bars say no more than short ones.
pub(super) fn upright_height(wide: f64, em: f64) -> f64 {
    let narrow = 22.0 * em;
    0.72 * wide.min(narrow) + 0.42 * (wide - narrow).max(0.0)
}

/// The value, if it can be drawn.
fn value(bar: &Measured, scale: Scale) -> Option<f64> {
    bar.value.filter(|v| drawable(*v, scale))
}

/// The value and its interval from end to end.
fn ends(bar: &Measured) -> Option<(f64, f64)> {
    let value = bar.value?;
    let (low, high) = bar.interval.unwrap_or((value, value));
    Some((value.min(low), value.max(high)))
}

/// About the room the axes take beside the plot.
fn margin(bars: &Bars, names: &[String], room: Room, em: f64) -> f64 {
    let widest = widest(names.iter().map(String::as_str), em, Weight::Regular);
    match (bars.orientation, room.names) {
        (Orientation::Vertical, _) => 7.0 * em,
        (_, Names::Elsewhere) => em,
        (_, Names::Within(most)) if bars.category_label.is_empty() || bars.grouping == Grouping::Series => {
            widest.min(most) + 1.5 * em
        }
        (_, Names::Within(most)) => widest.min(most) + 3.2 * em,
    }
}

/// Where bars start.
pub(super) fn base(range: Range) -> f64 {
    if range.scale == Scale::Log {
        range.low
    } else {
        0.0f64.clamp(range.low, range.high)
    }
}

pub(super) fn chance_stroke(scene: &Scene) -> Stroke {
    let unit = scene.em / 7.0;
    let dash = format!("{} {}", Short(1.6 * unit), Short(1.0 * unit));
    Stroke::dashed(scene.ink.text, 0.14 * scene.em, &dash)
}

/// What is drawn of bars: the bars or points, chance levels, intervals and dashes for missing values.
struct Marks<'a> {
    scene: &'a Scene<'a>,
    bars: &'a Bars,
    slots: &'a Slots<'a>,
    range: Range,
}

impl Marks<'_> {
    /// Draws something for each bar that has a place, in the group of its series: row, position, middle of the place.
    fn each(&self, svg: &mut Svg, draw: impl Fn(usize, usize, f64, &Measured, &mut Svg)) {
        for (index, row) in self.bars.rows.iter().enumerate() {
            svg.open_series("series", self.scene.name(row.series));
            for (position, bar) in row.bars.iter().enumerate() {
                if let Some(middle) = self.slots.middle(index, position) {
                    draw(row.series, position, middle, bar, svg);
                }
            }
            svg.close_group();
        }
    }

    fn value(&self, bar: &Measured) -> Option<f64> {
        value(bar, self.range.scale)
    }

    fn bars(&self, svg: &mut Svg) {
        let half = 0.46 * self.slots.thickness();
        self.each(svg, |series, position, middle, bar, svg| {
            let Some(value) = self.value(bar) else { return };
            let title = self.title(series, position, value, bar.interval);
            let rect = self.slots.rect(middle - half, middle + half, base(self.range), value);
            self.slots.frame.area(rect, series, None, &title, svg);
        });
    }

    /// The size of points.
    fn radius(&self) -> f64 {
        let em = self.scene.em;
        let least = if self.is_by_series() { 0.24 * em } else { 0.0 };
        (0.3 * self.slots.thickness()).min(0.36 * em).max(least)
    }

    /// A point for each value, over its interval.
    fn points(&self, svg: &mut Svg) {
        let (scene, frame, r) = (self.scene, self.slots.frame, self.radius());
        let by_category = self.is_by_series();
        self.each(svg, |series, position, middle, bar, svg| {
            let (shape, color) = if by_category {
                (position, category_color(scene, self.bars, position))
            } else {
                (series, scene.ink.series(series))
            };
            let id = scene.marker(&format!("{}b", frame.id), shape, r, color, 1.0, svg);
            if let Some(value) = self.value(bar) {
                let (x, y) = self.slots.point(middle, value);
                svg.mark(&id, x, y, &self.title(series, position, value, bar.interval));
            }
        });
    }

    /// What a pointer on a bar shows.
    fn title(&self, series: usize, position: usize, value: f64, interval: Option<(f64, f64)>) -> String {
        let category = self.bars.categories.get(position).map(|name| format!(", {name}"));
        let (name, category) = (self.scene.name(series), category.unwrap_or_default());
        format!("{name}{category}: {}", described(value, interval))
    }

    /// A light line below dashes, by which they are seen on dark bars.
    fn rim(&self) -> Stroke {
        Stroke::solid(self.scene.ink.paper, 0.26 * self.scene.em)
    }

    /// Lines of comparison over the bars.
    fn references(&self, svg: &mut Svg) {
        let frame = self.slots.frame;
        frame.open_clip(svg);
        for reference in &self.bars.references {
            if let [from, .., to] = frame.along(reference.at)[..] {
                svg.line(from, to, &self.rim());
            }
        }
        frame.references(&self.bars.references, svg);
        svg.close_group();
    }

    /// Whether each series is a group with a mark for each category.
    fn is_by_series(&self) -> bool {
        self.bars.grouping == Grouping::Series && !self.bars.categories.is_empty()
    }

    fn chance(&self, svg: &mut Svg) {
        if self.is_by_series() {
            return self.chance_of_categories(svg);
        }
        for group in 0..self.slots.groups {
            let level = match self.bars.chance.as_slice() {
                [one] => *one,
                levels => levels.get(group).copied().flatten(),
            };
            if let Some(level) = level.filter(|level| drawable(*level, self.bars.axis.scale)) {
                let (from, to) = self.slots.group(group);
                let reach = 0.05 * (to - from);
                let (from, to) = (
                    self.slots.point(from - reach, level),
                    self.slots.point(to + reach, level),
                );
                // No bar crosses its own foot, where a rim would lift bars off the axis.
                if level != base(self.range) {
                    svg.line(from, to, &self.rim());
                }
                svg.line(from, to, &chance_stroke(self.scene));
            }
        }
    }

    /// A short line in the place of each category.
    fn chance_of_categories(&self, svg: &mut Svg) {
        let half = 0.5 * self.slots.thickness();
        for row in 0..self.slots.groups {
            for position in 0..self.slots.members {
                let level = match self.bars.chance.as_slice() {
                    [one] => *one,
                    levels => levels.get(position).copied().flatten(),
                };
                let level = level.filter(|level| (self.range.low..=self.range.high).contains(level));
                if let Some((middle, level)) = self.slots.middle(row, position).zip(level) {
                    let (from, to) = (middle - half, middle + half);
                    svg.line(
                        self.slots.point(from, level),
                        self.slots.point(to, level),
                        &chance_stroke(self.scene),
                    );
                }
            }
        }
    }

    fn zero(&self, svg: &mut Svg) {
        if self.range.scale == Scale::Linear && self.range.low < 0.0 && self.range.high > 0.0 {
            let (plot, frame) = (self.slots.frame.plot, self.slots.frame);
            let (from, to) = match self.slots.orientation {
                Orientation::Vertical => ((plot.x, frame.py(0.0)), (plot.right(), frame.py(0.0))),
                Orientation::Horizontal => ((frame.px(0.0), plot.y), (frame.px(0.0), plot.bottom())),
            };
            let stroke = Stroke::solid(self.scene.ink.axis, 0.09 * self.scene.em);
            svg.line(from, to, &stroke);
        }
    }

    fn intervals(&self, svg: &mut Svg) {
        let (ink, em) = (&self.scene.ink, self.scene.em);
        let whisker = Stroke::solid(mix(ink.text, ink.paper, 0.12), 0.11 * em);
        let cap = (0.22 * self.slots.thickness()).min(0.45 * em);
        self.each(svg, |_, _, middle, bar, svg| {
            if self.value(bar).is_none() {
                return self.missing(middle, svg);
            }
            let is_drawn =
                |(low, high): &(f64, f64)| low < high && [low, high].iter().all(|x| drawable(**x, self.range.scale));
            if let Some((low, high)) = bar.interval.filter(is_drawn) {
                let at = |along: f64, value: f64| self.slots.point(along, value);
                svg.line(at(middle, low), at(middle, high), &whisker);
                for end in [low, high] {
                    svg.line(at(middle - cap, end), at(middle + cap, end), &whisker);
                }
            }
        });
    }

    /// A dash at the foot of the place of a bar that has no value.
    fn missing(&self, middle: f64, svg: &mut Svg) {
        let (scene, em, thickness) = (self.scene, self.scene.em, self.slots.thickness());
        let (x, y) = self.slots.point(middle, base(self.range));
        let letters = scene.letters().colored(scene.ink.muted).anchored(Anchor::Middle);
        let stroke = Stroke::solid(scene.ink.muted, 0.12 * em);
        let half = 0.3 * thickness;
        match self.slots.orientation {
            Orientation::Vertical if thickness >= 0.7 * em => svg.text(x, y - 0.3 * em, "–", letters),
            Orientation::Horizontal if thickness >= em => svg.text(x + 0.7 * em, y + 0.3 * em, "–", letters),
            Orientation::Vertical => svg.line((x - half, y - 0.5 * em), (x + half, y - 0.5 * em), &stroke),
            Orientation::Horizontal => svg.line((x + 0.3 * em, y), (x + 0.8 * em, y), &stroke),
        }
    }

    /// Bars that are drawn, row by row.
    fn labeled(&self, written: Alike, reach: f64) -> Vec<Bar> {
        let mut labeled = Vec::new();
        for (index, row) in self.bars.rows.iter().enumerate() {
            for (position, bar) in row.bars.iter().enumerate() {
                if let Some((middle, value)) = self.slots.middle(index, position).zip(self.value(bar)) {
                    labeled.push(Bar {
                        series: row.series,
                        middle,
                        value,
                        text: written.text(value),
                        ends: bar.interval.unwrap_or((value, value)),
                        reach,
                    });
                }
            }
        }
        labeled
    }
}
