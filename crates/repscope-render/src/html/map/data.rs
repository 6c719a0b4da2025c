// SPDX-License-Identifier: MIT
//! The numbers of maps for the script: 16 bits each, as base64. What has no value is the largest number.

use super::coloring::Coloring;
use super::{Kind, Plane, SIZE, about};
use serde_json::{Value, json};

/// Steps of a unit of the drawing; the largest number, 1000 units, stays below that for no value.
const STEPS_OF_A_UNIT: f64 = 64.0;
const NOTHING: u16 = u16::MAX;

pub(super) fn of(planes: &[Plane], kinds: &[Kind], colorings: &[Coloring], kept: &[usize], count: usize) -> Value {
    let rows = if kept.len() == count { Value::Null } else { json!(kept) };
    let along = |points: &[Option<[f64; 2]>], axis: usize| {
        let step =
            |point: &Option<[f64; 2]>| point.map_or(NOTHING, |point| (point[axis] * STEPS_OF_A_UNIT).round() as u16);
        base64(points.iter().map(step))
    };
    let map = |plane: &Plane, kind: Kind| {
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
        "colorings": colorings.iter().map(coloring).collect::<Vec<Value>>(),
    })
}

fn coloring(coloring: &Coloring) -> Value {
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
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = numbers.flat_map(u16::to_le_bytes).collect();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(*chunk.get(i).unwrap_or(&0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_used = digit <= chunk.len();
            text.push(if is_used {
                DIGITS[(word >> (18 - 6 * digit)) as usize & 63] as char
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_base64() {
        // Bytes 01 00 02 03 ff ff, by Python's base64.b64encode.
        assert_eq!(base64([1, 0x0302, 0xffff].into_iter()), "AQACA///");
        assert_eq!(base64([1].into_iter()), "AQA=");
    }
}
