// SPDX-License-Identifier: MIT
//! What is odd about a matrix of numbers.

use std::collections::HashMap;

use rayon::prelude::*;
use repscope_core::Values;
use serde::Serialize;

/// How many positions of a kind are kept.
const POSITIONS: usize = 5;

/// Counts and first places of what disturbs a metric. Rows and columns count from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberFacts {
    /// Values that are not a number.
    pub nan: usize,
    /// The first of them: (row, column), at most five.
    pub nan_at: Vec<(usize, usize)>,
    /// Values that are infinite.
    pub infinite: usize,
    /// The first of them: (row, column), at most five.
    pub infinite_at: Vec<(usize, usize)>,
    /// Rows that equal an earlier row in every value.
    pub duplicate_rows: usize,
    /// The first such row, after the earlier row it equals.
    pub first_duplicate: Option<(usize, usize)>,
    /// Rows of zeros only.
    pub zero_rows: usize,
    /// The first of them.
    pub first_zero_row: Option<usize>,
    /// Columns that have the same value in all of two or more rows.
    pub constant_columns: Vec<usize>,
    /// Smallest finite value.
    pub minimum: Option<f64>,
    /// Largest finite value.
    pub maximum: Option<f64>,
    /// Mean Euclidean length of the rows that are finite.
    pub mean_row_norm: Option<f64>,
}

/// Looks at `rows` × `columns` numbers, at least one of each.
pub(super) fn look(values: &Values, rows: usize, columns: usize) -> NumberFacts {
    match values {
        Values::F32(v) => look_at((**v).as_ref(), rows, columns),
        Values::F64(v) => look_at((**v).as_ref(), rows, columns),
        // None are here to look at; files are never elsewhere.
        Values::Elsewhere(_) => look_at::<f32>(&[], rows, columns),
    }
}

fn look_at<T: Copy + Into<f64> + Sync>(values: &[T], rows: usize, columns: usize) -> NumberFacts {
    let mut facts = scan(values, columns);
    if rows < 2 {
        facts.constant_columns.clear();
    }
    (facts.duplicate_rows, facts.first_duplicate) = duplicates(values, columns);
    facts
}

/// Everything that one pass over the rows shows.
fn scan<T: Copy + Into<f64>>(values: &[T], columns: usize) -> NumberFacts {
    let (mut nan, mut nan_at, mut infinite, mut infinite_at) = (0, Vec::new(), 0, Vec::new());
    let (mut zero_rows, mut first_zero_row) = (0, None);
    let (mut minimum, mut maximum) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut norms, mut finite_rows) = (0.0, 0_usize);
    let mut is_constant = vec![true; columns];
    for (row, x) in values.chunks_exact(columns).enumerate() {
        let mut squares = 0.0;
        for (column, &value) in x.iter().enumerate() {
            let value: f64 = value.into();
            squares += value * value;
            if value.is_finite() {
                minimum = minimum.min(value);
                maximum = maximum.max(value);
            } else {
                let (count, places) = if value.is_nan() {
                    (&mut nan, &mut nan_at)
                } else {
                    (&mut infinite, &mut infinite_at)
                };
                *count += 1;
                if places.len() < POSITIONS {
                    places.push((row, column));
                }
            }
            is_constant[column] &= value == values[column].into();
        }
        if x.iter().all(|&v| v.into() == 0.0) {
            zero_rows += 1;
            first_zero_row.get_or_insert(row);
        }
        if squares.is_finite() {
            norms += squares.sqrt();
            finite_rows += 1;
        }
    }
    let has_range = minimum <= maximum;
    NumberFacts {
        nan,
        nan_at,
        infinite,
        infinite_at,
        duplicate_rows: 0,
        first_duplicate: None,
        zero_rows,
        first_zero_row,
        constant_columns: (0..columns).filter(|&j| is_constant[j]).collect(),
        minimum: has_range.then_some(minimum),
        maximum: has_range.then_some(maximum),
        mean_row_norm: (finite_rows > 0).then(|| norms / finite_rows as f64),
    }
}

/// Rows that equal an earlier one. Rows are found by a 128-bit digest and then compared, so memory
/// grows with the number of rows and not with their length.
fn duplicates<T: Copy + Into<f64> + Sync>(values: &[T], columns: usize) -> (usize, Option<(usize, usize)>) {
    let digests: Vec<u128> = values.par_chunks_exact(columns).map(digest).collect();
    let row = |i: usize| &values[i * columns..(i + 1) * columns];
    let equal = |a: usize, b: usize| row(a).iter().zip(row(b)).all(|(&a, &b)| bits(a) == bits(b));
    let mut earlier: HashMap<u128, usize> = HashMap::with_capacity(digests.len());
    let (mut count, mut first) = (0, None);
    for (i, &digest) in digests.iter().enumerate() {
        let other = *earlier.entry(digest).or_insert(i);
        if other != i && equal(other, i) {
            count += 1;
            first.get_or_insert((other, i));
        }
    }
    (count, first)
}

fn digest<T: Copy + Into<f64>>(row: &[T]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    let mut block = [0; 512];
    for part in row.chunks(64) {
        for (bytes, &value) in block.chunks_exact_mut(8).zip(part) {
            bytes.copy_from_slice(&bits(value).to_le_bytes());
        }
        hasher.update(&block[..part.len() * 8]);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    u128::from_le_bytes(*digest.first_chunk().expect("a digest has 32 bytes"))
}

/// The bits of a number; 0 and -0 are the same number, and so are all NaN.
fn bits<T: Into<f64>>(value: T) -> u64 {
    let value: f64 = value.into();
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        (value + 0.0).to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_oddity_is_counted_and_placed() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let rows = [
            [3.0, 4.0, 7.0],
            [0.0, 0.0, 7.0],
            [nan, inf, 7.0],
            [3.0, 4.0, 7.0],
            [3.0, 4.0, 7.0],
        ];
        let facts = look_at(rows.as_flattened(), 5, 3);
        assert_eq!((facts.nan, facts.nan_at), (1, vec![(2, 0)]));
        assert_eq!((facts.infinite, facts.infinite_at), (1, vec![(2, 1)]));
        assert_eq!((facts.duplicate_rows, facts.first_duplicate), (2, Some((0, 3))));
        assert_eq!(facts.constant_columns, [2]);
        assert_eq!((facts.minimum, facts.maximum), (Some(0.0), Some(7.0)));
        // Lengths √74 (three times) and 7.
        let expected = (3.0 * 74.0_f64.sqrt() + 7.0) / 4.0;
        assert!((facts.mean_row_norm.unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn zero_rows_are_found_also_where_zeros_are_negative() {
        let facts = look_at(&[1.0_f32, 0.0, -0.0, 0.0], 2, 2);
        assert_eq!((facts.zero_rows, facts.first_zero_row), (1, Some(1)));
    }

    #[test]
    fn a_single_row_has_no_constant_columns() {
        assert!(look_at(&[1.0_f64, 2.0], 1, 2).constant_columns.is_empty());
    }
}
