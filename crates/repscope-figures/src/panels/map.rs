// SPDX-License-Identifier: MIT
//! A 2-D map of a space: both directions in the same unit, so that distances can be compared.

use super::scatter::left_out;
use super::words;
use crate::content::{ColoredBy, Map};
use crate::figure::{Axis, Scale};
use crate::legend::{KeyEntry, Sample};
use crate::palette::{CLASS_COLORS, Rgb, mix};
use crate::plan::{AxisPlan, ColorBar, Frame, Plan, Scene};
use crate::subsample::{drawn_of, thin};
use crate::svg::{Rect, Stroke, Svg};
use crate::ticks::{Range, drawable};

/// Classes with a color of their own.
const MOST_CLASSES: usize = CLASS_COLORS;

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, map: &'a Map, most: usize) -> Plan<'a> {
    let good: Vec<usize> = (0..map.points.len())
        .filter(|i| map.points[*i].iter().all(|x| drawable(*x, Scale::Linear)))
        .collect();
    if good.is_empty() {
        return words::plan(scene, "No points were given.".to_string());
    }
    let points: Vec<[f64; 2]> = good.iter().map(|i| map.points[*i]).collect();
    let kept = thin(&points, most);
    let (shown, total) = (kept.len(), points.len());
    let ends = |axis: usize| {
        let padding = [0.03, 0.03];
        Range::new(&Axis::default(), points.iter().map(|point| point[axis]), padding)
    };
    let (x, y) = (ends(0), ends(1));
    let paint = Paint::of(scene, map);
    let (key, color_bar) = (paint.key.clone(), paint.color_bar.clone());
    let drawn: Vec<([f64; 2], usize)> = kept.into_iter().map(|i| (points[i], good[i])).collect();
    let mut plan = Plan::new(
        AxisPlan::Bare {
            label: map.x_label.clone(),
        },
        AxisPlan::Bare {
            label: map.y_label.clone(),
        },
        Box::new(move |frame, svg| draw_points(&drawn, &paint, x, y, frame, svg)),
    );
    plan.spines = false;
    plan.key = key;
    plan.color_bar = color_bar;
    plan.height = Box::new(|wide| 0.85 * wide);
    plan.notes.extend(left_out(map.points.len() - total, false));
    plan.footnotes.extend(drawn_of(shown, total));
    plan
}

/// Shape and color of each point.
struct Paint {
    /// Shape and color by group.
    groups: Vec<(usize, Rgb)>,
    /// Name of each group, by which a page finds it.
    names: Vec<String>,
    /// Group of each point.
    of: Vec<usize>,
    key: Vec<KeyEntry>,
    color_bar: Option<ColorBar>,
}

impl Paint {
    fn of(scene: &Scene, map: &Map) -> Self {
        let gray = mix(scene.ink.muted, scene.ink.paper, 0.35);
        match &map.colored_by {
            ColoredBy::Nothing => Self {
                groups: vec![(0, scene.ink.series(0))],
                names: vec![String::new()],
                of: vec![0; map.points.len()],
                key: Vec::new(),
                color_bar: None,
            },
            ColoredBy::Class { names, of } => Self::by_class(scene, names, of, map.points.len(), gray),
            ColoredBy::Value { label, of, range } => {
                let values: Vec<Option<f64>> = (0..map.points.len()).map(|i| of.get(i).copied().flatten()).collect();
                Self::by_value(scene, label, &values, *range, gray)
            }
        }
    }

    fn by_class(scene: &Scene, names: &[String], of: &[Option<usize>], points: usize, gray: Rgb) -> Self {
        let class = |i: usize| of.get(i).copied().flatten().filter(|class| *class < names.len());
        let mut sizes = vec![0usize; names.len()];
        (0..points).filter_map(class).for_each(|class| sizes[class] += 1);
        let present: Vec<usize> = (0..names.len()).filter(|class| sizes[*class] > 0).collect();
        let mut own = present.clone();
        if own.len() > MOST_CLASSES {
            // The largest have colors; equal sizes go by their order.
            own.sort_by_key(|class| (usize::MAX - sizes[*class], *class));
            own.truncate(MOST_CLASSES - 1);
            own.sort_unstable();
        }
        let rest = present.len() - own.len();
        let colored = (0..own.len()).map(|i| (i, scene.ink.class(i)));
        let groups: Vec<(usize, Rgb)> = colored.chain([(0, gray)]).collect();
        let other = own.len();
        let place = |i: usize| class(i).and_then(|class| own.binary_search(&class).ok());
        let of: Vec<usize> = (0..points).map(|i| place(i).unwrap_or(other)).collect();
        let unlabeled = (0..points).any(|i| class(i).is_none());
        let mut labels: Vec<String> = own.iter().map(|class| names[*class].clone()).collect();
        labels.push(match (rest, unlabeled) {
            (0, _) => "no class".to_string(),
            (rest, false) => format!("{rest} other classes"),
            (rest, true) => format!("{rest} other classes, or none"),
        });
        let in_use = labels.len() - usize::from(rest == 0 && !unlabeled);
        let dot = |i: usize| Sample::Dot(groups[i].0, groups[i].1);
        let entry = |i: usize| KeyEntry::new(dot(i), &labels[i], Some(labels[i].clone()));
        let key = (0..in_use).map(entry).collect();
        Self {
            groups,
            names: labels,
            of,
            key,
            color_bar: None,
        }
    }

    fn by_value(scene: &Scene, label: &str, of: &[Option<f64>], ends: Option<(f64, f64)>, gray: Rgb) -> Self {
        const STEPS: usize = 48;
        let good = |x: &f64| drawable(*x, Scale::Linear);
        let ends: Vec<f64> = match ends.filter(|(low, high)| good(low) && good(high)) {
            Some((low, high)) => vec![low, high],
            None => of.iter().flatten().copied().collect(),
        };
        let range = Range::new(&Axis::default(), ends.into_iter(), [0.0, 0.0]);
        let colors: Vec<Rgb> = (0..STEPS)
            .map(|step| scene.ink.point(step as f64 / (STEPS - 1) as f64))
            .collect();
        let step = |x: f64| ((range.share(x) * STEPS as f64) as usize).min(STEPS - 1);
        let of: Vec<usize> = of.iter().map(|x| x.filter(good).map_or(STEPS, step)).collect();
        let missing = of
            .contains(&STEPS)
            .then(|| KeyEntry::new(Sample::Dot(0, gray), "no value", None));
        let groups = colors.iter().map(|color| (0, *color)).chain([(0, gray)]).collect();
        let color_bar = Some(ColorBar {
            range,
            label: label.to_string(),
            colors,
        });
        Self {
            groups,
            names: vec![String::new(); STEPS + 1],
            of,
            key: missing.into_iter().collect(),
            color_bar,
        }
    }
}

fn draw_points(drawn: &[([f64; 2], usize)], paint: &Paint, x: Range, y: Range, frame: &Frame, svg: &mut Svg) {
    let (scene, plot) = (frame.scene, frame.plot);
    let em = scene.em;
    svg.rect(plot, "none", Some(&Stroke::solid(scene.ink.grid, 0.1 * em)), "");
    // One unit is equally long in both directions; the map stands in the middle.
    let unit = (plot.width / (x.high - x.low)).min(plot.height / (y.high - y.low));
    let Rect { width, height, .. } = plot;
    let at = |[a, b]: [f64; 2]| {
        (
            plot.x + width / 2.0 + (a - (x.low + x.high) / 2.0) * unit,
            plot.y + height / 2.0 - (b - (y.low + y.high) / 2.0) * unit,
        )
    };
    let crowd = (drawn.len() as f64 / 150.0).max(1.0).sqrt();
    let (r, opacity) = (em * (0.32 / crowd.sqrt()).max(0.12), (0.9 / crowd.powf(0.25)).max(0.5));
    // The gray group lies below the others.
    for group in (0..paint.groups.len()).rev() {
        let members: Vec<&([f64; 2], usize)> = drawn.iter().filter(|(_, i)| paint.of[*i] == group).collect();
        if members.is_empty() {
            continue;
        }
        let (shape, color) = paint.groups[group];
        let id = scene.marker(&format!("{}m", frame.id), shape, r, color, opacity, svg);
        match paint.names[group].as_str() {
            "" => svg.open("class=\"points\""),
            name => svg.open_series("points", name),
        }
        for (point, _) in members {
            let (px, py) = at(*point);
            svg.mark(&id, px, py, "");
        }
        svg.close_group();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Figure, Panel};
    use crate::style::Style;

    #[test]
    fn maps_with_one_range_give_a_value_one_color() {
        let fills = |values: &[f64], range: Option<(f64, f64)>| {
            let map = Map {
                points: (0..values.len()).map(|i| [i as f64, 0.0]).collect(),
                colored_by: ColoredBy::Value {
                    label: String::new(),
                    of: values.iter().copied().map(Some).collect(),
                    range,
                },
                ..Map::default()
            };
            let figure = Figure {
                panels: vec![Panel::new("", map)],
                ..Figure::default()
            };
            let svg = crate::to_svg(&figure, &Style::default());
            let marks = svg.lines().filter(|line| line.starts_with("<path id="));
            let fill = |line: &str| line.split("fill=\"").nth(1).map(|rest| rest[..7].to_string());
            marks.filter_map(fill).collect::<Vec<_>>()
        };
        let color = |t: f64| crate::palette::hex(crate::palette::Ink::of(crate::Theme::Light).point(t));
        let common = Some((0.0, 1.0));
        // 0.5 is the middle of either map; without a common range it is the end of one and the start of the other.
        let (a, b) = (fills(&[0.0, 0.5], common), fills(&[0.5, 1.0], common));
        assert!(a.contains(&color(0.0)) && b.contains(&color(1.0)));
        assert_eq!(a.iter().filter(|fill| b.contains(fill)).count(), 1);
        assert!(fills(&[0.0, 0.5], None).contains(&color(1.0)));
        // Values beyond the range take the colors of its ends.
        assert_eq!(fills(&[-3.0, 7.0], common), [color(1.0), color(0.0)]);
        // A range that is none is that of the data.
        assert!(fills(&[0.0, 0.5], Some((f64::NAN, 1.0))).contains(&color(1.0)));
    }
}
