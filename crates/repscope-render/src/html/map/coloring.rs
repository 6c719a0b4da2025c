// SPDX-License-Identifier: MIT
//! What the points of maps can be colored by: classes, which all models share, and values, which each has of its own.

use super::super::figures::{MOST_CLASSES, STEPS};
use super::super::samples::{Measure, classes, measures, singular};
use super::{Plane, SIZE, about};
use crate::samples::MapKind;
use crate::scores::distinct;
use repscope_core::Results;
use serde_json::{Value, json};

pub(super) enum Coloring {
    Class {
        name: String,
        names: Vec<String>,
        /// The color of each class; `None` for small ones where there are many.
        colors: Vec<Option<usize>>,
        /// The class of each kept row.
        of: Vec<usize>,
    },
    Value {
        name: String,
        /// Where the colors begin, and where the last ends. Each stands for as many samples as the others: most samples of
        /// most models have values near the best, and equal steps would show them all in one color.
        edges: Vec<f64>,
        /// For each model the value of each kept row.
        of: Vec<Vec<Option<f64>>>,
    },
}

impl Coloring {
    pub(super) fn name(&self) -> &str {
        match self {
            Coloring::Class { name, .. } | Coloring::Value { name, .. } => name,
        }
    }

    /// The color of a point of a model.
    pub(super) fn color(&self, model: usize, point: usize) -> String {
        let color = match self {
            Coloring::Class { colors, of, .. } => {
                let color = of.get(point).and_then(|class| *colors.get(*class)?);
                color.map(|color| format!("var(--c{color})"))
            }
            Coloring::Value { edges, of, .. } => {
                let value = of.get(model).and_then(|values| *values.get(point)?);
                let step = |value: f64| edges[1..STEPS].partition_point(|edge| *edge <= value);
                value.map(|value| format!("var(--v{})", step(value)))
            }
        };
        color.unwrap_or("var(--other)".to_string())
    }
}

/// All that the results allow; the first is shown at first.
pub(super) fn colorings(results: &Results, planes: &[Plane], rows: usize, kept: &[usize]) -> Vec<Coloring> {
    let mut colorings: Vec<Coloring> = Vec::new();
    for column in classes(results, rows) {
        let of: Vec<usize> = kept.iter().map(|row| column.codes[*row] as usize).collect();
        colorings.push(Coloring::Class {
            name: singular(&column.name).to_string(),
            colors: class_colors(column.names.len(), &of),
            names: column.names.clone(),
            of,
        });
    }
    let by_model = planes.iter().map(|plane| measures(results, plane.model, rows));
    let by_model: Vec<Vec<Measure>> = by_model.collect();
    for name in distinct(by_model.iter().flatten().map(|measure| &measure.name)) {
        let values = |measures: &Vec<Measure>| {
            let own = measures.iter().find(|measure| measure.name == *name);
            own.map_or(Vec::new(), |own| kept.iter().map(|row| own.values[*row]).collect())
        };
        let of: Vec<Vec<Option<f64>>> = by_model.iter().map(values).collect();
        colorings.extend(edges(&of).map(|edges| Coloring::Value {
            name: name.to_string(),
            edges,
            of,
        }));
    }
    colorings
}

/// The largest classes have colors, in their own order; equal sizes go by it too.
fn class_colors(classes: usize, of: &[usize]) -> Vec<Option<usize>> {
    let mut sizes = vec![0usize; classes];
    for class in of {
        if let Some(size) = sizes.get_mut(*class) {
            *size += 1;
        }
    }
    let mut own: Vec<usize> = (0..classes).collect();
    if classes > MOST_CLASSES {
        own.sort_by_key(|class| (std::cmp::Reverse(sizes[*class]), *class));
        own.truncate(MOST_CLASSES - 1);
        own.sort_unstable();
    }
    (0..classes).map(|class| own.binary_search(&class).ok()).collect()
}

/// A scale for all models together; `None` where no sample has a value.
fn edges(of: &[Vec<Option<f64>>]) -> Option<Vec<f64>> {
    let mut values: Vec<f64> = of.iter().flatten().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((0..=STEPS).map(|step| values[(last * step).div_ceil(STEPS)]).collect())
}

/// Steps of a unit of the drawing; the largest number, 1000 units, stays below that for no value.
const STEPS_OF_A_UNIT: f64 = 64.0;
const NOTHING: u16 = u16::MAX;

pub(super) fn data(planes: &[Plane], kinds: &[MapKind], colorings: &[Coloring], kept: &[usize], count: usize) -> Value {
    let rows = if kept.len() == count { Value::Null } else { json!(kept) };
    let along = |points: &[Option<[f64; 2]>], axis: usize| {
        let step =
            |point: &Option<[f64; 2]>| point.map_or(NOTHING, |point| (point[axis] * STEPS_OF_A_UNIT).round() as u16);
        base64(points.iter().map(step))
    };
    let map = |plane: &Plane, kind: MapKind| {
        let points = plane.on(kind);
        json!({"about": about(plane, kind), "x": along(points, 0), "y": along(points, 1)})
    };
    let model = |plane: &Plane| {
        let maps = kinds.iter().map(|kind| map(plane, *kind)).collect::<Vec<Value>>();
        json!({"name": plane.model.trim(), "maps": maps})
    };
    json!({
        "rows": rows,
        "size": SIZE,
        "unit": STEPS_OF_A_UNIT,
        "models": planes.iter().map(model).collect::<Vec<Value>>(),
        "colorings": colorings.iter().map(written).collect::<Vec<Value>>(),
    })
}

fn written(coloring: &Coloring) -> Value {
    match coloring {
        Coloring::Class {
            name,
            names,
            colors,
            of,
        } => {
            let code = |class: &usize| u16::try_from(*class).unwrap_or(NOTHING);
            json!({"name": name, "names": names, "colors": colors, "of": base64(of.iter().map(code))})
        }
        Coloring::Value { name, edges, of } => {
            let known = || of.iter().flatten().flatten().copied();
            let low = known().min_by(f64::total_cmp).unwrap_or(0.0);
            let high = known().max_by(f64::total_cmp).unwrap_or(1.0);
            let share = |value: f64| if high > low { (value - low) / (high - low) } else { 0.0 };
            let step = |value: &Option<f64>| {
                value.map_or(NOTHING, |value| (share(value) * f64::from(NOTHING - 1)).round() as u16)
            };
            let of: Vec<String> = of.iter().map(|values| base64(values.iter().map(step))).collect();
            json!({"name": name, "edges": edges, "range": [low, high], "of": of})
        }
    }
}

/// Two bytes each, the lower one first.
fn base64(numbers: impl Iterator<Item = u16>) -> String {
    repscope_figures::base64(&numbers.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_many_classes_the_largest_have_colors() {
        let mut of: Vec<usize> = (0..30).collect();
        of.extend([25, 25, 27]);
        let colors = class_colors(30, &of);
        assert_eq!(colors.iter().flatten().count(), 19);
        // 25 and 27 are the largest; of the others the first 17 come before them.
        assert_eq!(
            (colors[0], colors[16], colors[17], colors[25], colors[27]),
            (Some(0), Some(16), None, Some(17), Some(18))
        );
        assert_eq!(class_colors(3, &[0, 1, 2]), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn each_color_stands_for_as_many_samples() {
        let mut values: Vec<Option<f64>> = (0..161).map(|i| Some(0.9 + f64::from(i) / 10000.0)).collect();
        values[50] = Some(-5.0);
        let edges = edges(&[values.clone(), vec![None]]).unwrap();
        assert_eq!((edges.len(), edges[0], edges[STEPS]), (STEPS + 1, -5.0, 0.916));
        let coloring = Coloring::Value {
            name: String::new(),
            edges,
            of: vec![values],
        };
        for step in 0..STEPS {
            let color = format!("var(--v{step})");
            let members = (0..161).filter(|point| coloring.color(0, *point) == color).count();
            assert_eq!(members, if step == STEPS - 1 { 11 } else { 10 }, "{color}");
        }
    }

    #[test]
    fn without_values_there_is_no_scale_and_equal_values_have_one_color() {
        assert_eq!(edges(&[vec![None]]), None);
        let equal = Coloring::Value {
            name: String::new(),
            edges: edges(&[vec![Some(1.0); 3]]).unwrap(),
            of: vec![vec![Some(1.0), None]],
        };
        assert_eq!(
            (equal.color(0, 0), equal.color(0, 1)),
            ("var(--v15)".to_string(), "var(--other)".to_string())
        );
    }

    #[test]
    fn numbers_are_little_endian_base64() {
        // Bytes 01 00 02 03 ff ff, by Python's base64.b64encode.
        assert_eq!(base64([1, 0x0302, 0xffff].into_iter()), "AQACA///");
        assert_eq!(base64([1].into_iter()), "AQA=");
    }
}
