// SPDX-License-Identifier: MIT
//! What is fed to an encoder: rows of numbers, read a batch at a time.

use std::ops::Range;

use repscope_io::{Array, Data, Images};

use crate::error::{Result, bail, wrong};

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

/// Rows that are made of others as they are read: as many as `count` says, of their shape.
pub struct Made<'a, F> {
    /// What they are made of.
    pub rows: &'a dyn Rows,
    /// How many there are.
    pub count: usize,
    /// Reads some of them, as [`Rows::read`] does.
    pub read: F,
}

impl<F: Fn(Range<usize>, &mut Vec<f32>) -> Result<()>> Rows for Made<'_, F> {
    fn count(&self) -> usize {
        self.count
    }

    fn shape(&self) -> &[usize] {
        self.rows.shape()
    }

    fn dtype(&self) -> &str {
        self.rows.dtype()
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        (self.read)(rows, into)
    }
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
        let values = rows.start.saturating_mul(size)..rows.end.saturating_mul(size);
        fn take<T: Copy>(all: &[T], rows: Range<usize>, number: impl Fn(T) -> f32, into: &mut Vec<f32>) -> Option<()> {
            into.extend(all.get(rows)?.iter().map(|&value| number(value)));
            Some(())
        }
        let taken = match self.data() {
            Data::F32(v) => take((**v).as_ref(), values, |x| x, into),
            Data::F64(v) => take((**v).as_ref(), values, |x| x as f32, into),
            Data::U8(v) => take((**v).as_ref(), values, f32::from, into),
            Data::I64(v) => take(v, values, |x| x as f32, into),
            Data::U64(v) => take(v, values, |x| x as f32, into),
            Data::Bool(v) => take(v, values, |x| f32::from(u8::from(x)), into),
            _ => bail!(
                "the rows hold {}, not numbers, and cannot be fed to this encoder",
                Array::dtype(self)
            ),
        };
        taken.ok_or_else(|| wrong!("rows {rows:?} were requested, but there are {}", self.rows()))
    }
}

/// A folder of images, of which only those of a batch are decoded.
impl Rows for Images {
    fn count(&self) -> usize {
        Images::count(self)
    }

    fn shape(&self) -> &[usize] {
        Images::shape(self)
    }

    fn dtype(&self) -> &str {
        Images::dtype(self)
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        Ok(Images::read(self, rows, into)?)
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
    fn bytes_are_fed_as_numbers() {
        let bytes = Array::new(vec![3, 2], "u8", Data::U8(Arc::new(vec![0_u8, 1, 2, 255, 4, 5]))).unwrap();
        let mut read = Vec::new();
        bytes.read(1..3, &mut read).unwrap();
        assert_eq!(read, [2.0, 255.0, 4.0, 5.0]);
        assert!(bytes.read(2..4, &mut read).is_err());
    }

    #[test]
    fn rows_that_are_not_there_are_refused() {
        let data = array(&[3, 4]);
        assert!(data.read(2..4, &mut Vec::new()).is_err());
    }
}
