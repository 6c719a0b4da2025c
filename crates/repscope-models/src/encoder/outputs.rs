// SPDX-License-Identifier: MIT
//! What comes out of a graph, as embeddings.

use super::shape_text;
use crate::error::{Result, bail, wrong};
use crate::runtime::{Data, Port, Value};

/// The embeddings of some rows from one output of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name in the graph.
    pub name: String,
    /// The shape of one row's embedding: `[D]`, or `[T, D]` where the graph gives a sequence.
    pub shape: Vec<usize>,
    /// The values of all rows, last index fastest.
    pub values: Vec<f32>,
}

/// The requested names: those chosen, or all.
pub(super) fn choose(chosen: &[String], ports: &[Port]) -> Result<Vec<String>> {
    let there = || ports.iter().map(Port::to_string).collect::<Vec<_>>().join(", ");
    if let Some(missing) = chosen.iter().find(|name| ports.iter().all(|p| p.name != **name)) {
        bail!("the model has no output named {missing}; it has {}", there());
    }
    Ok(if chosen.is_empty() {
        ports.iter().map(|p| p.name.clone()).collect()
    } else {
        chosen.to_vec()
    })
}

/// The same with the axis that counts rows in front; as it is where there is no such axis, or another size on it.
pub(super) fn rows_first(value: Value, axis: usize, fed: usize) -> Value {
    if value.shape.get(axis) != Some(&fed) {
        return value;
    }
    let before: usize = value.shape[..axis].iter().product();
    let after: usize = value.shape[axis + 1..].iter().product();
    fn turn<T: Copy>(values: &[T], [before, rows, after]: [usize; 3]) -> Vec<T> {
        let mut turned = Vec::with_capacity(values.len());
        for row in 0..rows {
            for outer in 0..before {
                let at = (outer * rows + row) * after;
                turned.extend_from_slice(&values[at..at + after]);
            }
        }
        turned
    }
    let sizes = [before, fed, after];
    let mut shape = value.shape;
    shape.remove(axis);
    shape.insert(0, fed);
    let data = match value.data {
        Data::F32(values) => Data::F32(turn(&values, sizes)),
        Data::I64(values) => Data::I64(turn(&values, sizes)),
    };
    Value { shape, data }
}

/// Whether a value has one entry for each of the rows that were fed.
fn has_rows(value: &Value, fed: usize) -> bool {
    value.shape.first() == Some(&fed)
}

/// The first `count` rows of what `fed` rows gave.
pub(super) fn embeddings(name: &str, value: Value, fed: usize, count: usize) -> Result<Output> {
    if !has_rows(&value, fed) {
        bail!(
            "the output {name} has the shape {} for {fed} rows, so it has no embedding for each row; choose another output",
            shape_text(&value.shape)
        );
    }
    let mut values = match value.data {
        Data::F32(values) => values,
        Data::I64(values) => exact(&values, name)?,
    };
    let shape = match &value.shape[1..] {
        [] => vec![1],
        [one] => vec![*one],
        [time, size] => vec![*time, *size],
        map => vec![map.iter().product()],
    };
    let size: usize = shape.iter().product();
    if size == 0 {
        let shape = shape_text(&value.shape);
        bail!("the output {name} has the shape {shape}: its embeddings are empty");
    }
    values.truncate(count * size);
    Ok(Output {
        name: name.to_string(),
        shape,
        values,
    })
}

/// What is to be said about the shape of an output.
pub(super) fn note(name: &str, shape: &[usize]) -> Option<String> {
    match shape.get(1..) {
        Some(map) if map.len() > 2 => Some(format!(
            "the output {name} gives {} for each row; its embeddings are vectors of {}, last index fastest",
            shape_text(map),
            map.iter().product::<usize>()
        )),
        _ => None,
    }
}

/// The row of the first value that is not finite.
fn not_finite(values: &[f32], rows: usize) -> Option<usize> {
    let size = (values.len() / rows.max(1)).max(1);
    values.iter().position(|x| !x.is_finite()).map(|i| i / size)
}

fn exact(values: &[i64], name: &str) -> Result<Vec<f32>> {
    const LARGEST: i64 = 1 << f32::MANTISSA_DIGITS;
    let fits = |&x: &i64| (-LARGEST..=LARGEST).contains(&x).then_some(x as f32);
    values
        .iter()
        .map(fits)
        .collect::<Option<_>>()
        .ok_or_else(|| wrong!("the output {name} holds integers too large for embeddings; choose another output"))
}

/// Leaves out what has no entry per row, such as a learned temperature, unless nothing would remain.
pub(super) fn leave_out(names: &mut Vec<String>, values: &mut Vec<Value>, fed: usize, notes: &mut Vec<String>) {
    if !values.iter().any(|v| has_rows(v, fed)) {
        return;
    }
    let all = std::mem::take(names).into_iter().zip(std::mem::take(values));
    for (name, value) in all {
        if has_rows(&value, fed) {
            names.push(name);
            values.push(value);
        } else {
            notes.push(format!(
                "the output {name} of shape {} has no embedding for each row and is left out",
                shape_text(&value.shape)
            ));
        }
    }
}

/// Embeddings must be finite, and of one shape in all batches.
pub(super) fn check(
    outputs: &[Output],
    shapes: &[Vec<usize>],
    stored: &[f32],
    first: usize,
    count: usize,
) -> Result<()> {
    for (output, shape) in outputs.iter().zip(shapes) {
        let name = &output.name;
        if output.shape != *shape {
            bail!(
                "the output {name} gives embeddings of shape {} for the first rows, but {} from row {first} on",
                shape_text(shape),
                shape_text(&output.shape)
            );
        }
        let Some(row) = not_finite(&output.values, count) else {
            continue;
        };
        let size = stored.len() / count;
        let whose = if stored[row * size..(row + 1) * size].iter().all(|x| x.is_finite()) {
            "although its input is finite; the model or its normalization is not right for these data"
        } else {
            "because its input holds NaN or infinity; drop or fix this row"
        };
        bail!(
            "the output {name} is not finite for row {} (counted from 0), {whose}",
            first + row
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(shape: &[usize]) -> Value {
        let count: usize = shape.iter().product();
        Value {
            shape: shape.to_vec(),
            data: Data::F32((0..count).map(|i| i as f32).collect()),
        }
    }

    #[test]
    fn vectors_and_sequences_keep_their_shape_and_maps_become_vectors() {
        let shape = |s: &[usize]| embeddings("z", value(s), 2, 2).unwrap().shape;
        assert_eq!(shape(&[2, 5]), [5]);
        assert_eq!(shape(&[2, 3, 5]), [3, 5]);
        assert_eq!(shape(&[2, 3, 5, 7]), [105]);
        assert_eq!(shape(&[2]), [1]);
        assert!(note("z", &[2, 3, 5]).is_none() && note("z", &[2, 3, 5, 7]).is_some());
    }

    #[test]
    fn an_axis_of_rows_is_moved_to_the_front() {
        // (2, 3): rows on the second axis.
        let turned = rows_first(value(&[2, 3]), 1, 3);
        assert_eq!(turned.shape, [3, 2]);
        assert_eq!(turned.data, Data::F32(vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
        let turned = rows_first(value(&[2, 2, 2]), 1, 2);
        assert_eq!(turned.data, Data::F32(vec![0.0, 1.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0]));
        assert_eq!(rows_first(value(&[2, 3]), 1, 4), value(&[2, 3]));
    }

    #[test]
    fn padding_is_cut_and_an_output_without_rows_is_refused() {
        assert_eq!(
            embeddings("z", value(&[4, 2]), 4, 3).unwrap().values,
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        );
        for shape in [&[3, 2][..], &[]] {
            assert!(embeddings("z", value(shape), 4, 3).is_err());
        }
        assert!(embeddings("z", value(&[4, 0]), 4, 3).is_err());
    }

    #[test]
    fn integers_are_embeddings_only_where_they_are_exact() {
        let whole = |x| {
            embeddings(
                "z",
                Value {
                    shape: vec![1, 1],
                    data: Data::I64(vec![x]),
                },
                1,
                1,
            )
        };
        assert_eq!(whole(-7).unwrap().values, [-7.0]);
        assert!(whole((1 << 24) + 1).is_err());
    }
}
