// SPDX-License-Identifier: MIT
//! What is fed to an encoder: rows of numbers, read a batch at a time.

use std::ops::Range;

use repscope_io::{Array, Data};

use crate::error::{Error, Result};

/// Rows of one shape.
pub trait Rows {
    /// How many rows there are.
    fn count(&self) -> usize;
    /// The shape of one row; empty where a row is a single number.
    fn shape(&self) -> &[usize];
    /// Short name of the stored type: `u8`, `f32`.
    fn dtype(&self) -> &str;
    /// Puts the values of some rows behind those that `into` holds.
    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()>;
}

/// An array whose first axis counts rows. A mapped file stays mapped: only the rows of a batch are copied.
impl Rows for Array {
    fn count(&self) -> usize {
        self.rows()
    }

    fn shape(&self) -> &[usize] {
        &Array::shape(self)[1..]
    }

    fn dtype(&self) -> &str {
        Array::dtype(self)
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        let size: usize = Rows::shape(self).iter().product();
        let outside = || Error::Model(format!("rows {rows:?} were asked for, but there are {}", self.rows()));
        let values = rows.start.saturating_mul(size)..rows.end.saturating_mul(size);
        match self.data() {
            Data::F32(v) => into.extend((**v).as_ref().get(values).ok_or_else(outside)?),
            Data::F64(v) => into.extend(
                (**v)
                    .as_ref()
                    .get(values)
                    .ok_or_else(outside)?
                    .iter()
                    .map(|&x| x as f32),
            ),
            Data::I64(v) => into.extend(v.get(values).ok_or_else(outside)?.iter().map(|&x| x as f32)),
            Data::U64(v) => into.extend(v.get(values).ok_or_else(outside)?.iter().map(|&x| x as f32)),
            Data::Bool(v) => into.extend(
                v.get(values)
                    .ok_or_else(outside)?
                    .iter()
                    .map(|&b| f32::from(u8::from(b))),
            ),
            _ => {
                return Err(Error::Model(format!(
                    "the rows hold {}, not numbers, and cannot be fed to this encoder",
                    Array::dtype(self)
                )));
            }
        }
        Ok(())
    }
}

/// Rows whose first axis is time, seen as one row per frame: (N, T, …) as N·T rows of (…).
pub struct Frames<'a> {
    rows: &'a dyn Rows,
    per_row: usize,
}

impl<'a> Frames<'a> {
    /// The frames of rows, which must have an axis of time and one more.
    pub fn of(rows: &'a dyn Rows) -> Result<Self> {
        match rows.shape() {
            [time, _, ..] if *time > 0 => Ok(Frames { rows, per_row: *time }),
            other => Err(Error::Model(format!(
                "rows of shape {} have no frames; give an array (rows, time, …)",
                super::shape_text(other)
            ))),
        }
    }

    /// How many frames a row has: T.
    pub fn per_row(&self) -> usize {
        self.per_row
    }
}

impl Rows for Frames<'_> {
    fn count(&self) -> usize {
        self.rows.count() * self.per_row
    }

    fn shape(&self) -> &[usize] {
        &self.rows.shape()[1..]
    }

    fn dtype(&self) -> &str {
        self.rows.dtype()
    }

    fn read(&self, frames: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        // Whole rows are read, then the frames before and after are taken off.
        let size: usize = self.shape().iter().product();
        let rows = frames.start / self.per_row..frames.end.div_ceil(self.per_row);
        let before = into.len();
        let skipped = (frames.start - rows.start * self.per_row) * size;
        self.rows.read(rows, into)?;
        into.drain(before..before + skipped);
        into.truncate(before + frames.len() * size);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn array(shape: &[usize]) -> Array {
        let values: Vec<f64> = (0..shape.iter().product::<usize>()).map(|i| i as f64).collect();
        Array::new(shape.to_vec(), "f64", Data::F64(Arc::new(values))).unwrap()
    }

    #[test]
    fn frames_across_rows_are_the_values_in_their_order() {
        let data = array(&[3, 4, 2]);
        let frames = Frames::of(&data).unwrap();
        assert_eq!((frames.count(), frames.shape(), frames.per_row()), (12, &[2][..], 4));
        let mut read = vec![-1.0];
        frames.read(3..9, &mut read).unwrap();
        let expected: Vec<f32> = std::iter::once(-1.0).chain((6..18).map(|i| i as f32)).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn rows_that_are_not_there_and_vectors_without_time_are_refused() {
        let data = array(&[3, 4]);
        assert!(data.read(2..4, &mut Vec::new()).is_err());
        assert!(Frames::of(&data).is_err());
    }
}
