// SPDX-License-Identifier: MIT
//! A space: a named matrix of N rows (samples) and D columns (features).

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::blocks::{self, Elsewhere, SUPER_BLOCK};
use crate::error::{Error, Result, refuse_if};
use crate::run::{Driver, Order};

/// Row-major numbers, owned by whoever provides them: a vector, a mapped file, a NumPy array.
///
/// Two types are enough: halves and small integers fit into `f32`, everything else into `f64`.
#[derive(Clone)]
pub enum Values {
    /// Single precision.
    F32(Arc<dyn AsRef<[f32]> + Send + Sync>),
    /// Double precision.
    F64(Arc<dyn AsRef<[f64]> + Send + Sync>),
    /// Not here: only workers can read them, block by block.
    Elsewhere(Arc<Elsewhere>),
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::F32(Arc::new(values))
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::F64(Arc::new(values))
    }
}

/// The largest magnitude whose square, summed over any data that fit into memory, is still a number.
pub(crate) const LARGEST: f64 = 1e150;

/// A borrowed view of [`Values`].
#[derive(Clone, Copy)]
pub(crate) enum Slice<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl Slice<'_> {
    fn to_f64(self) -> Vec<f64> {
        match self {
            Slice::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
            Slice::F64(v) => v.to_vec(),
        }
    }
}

/// A named matrix whose numbers are known to be finite and whose size is at least 1 × 1.
#[derive(Clone)]
pub struct Space {
    name: String,
    rows: usize,
    columns: usize,
    values: Values,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Space({} {}×{})", self.name, self.rows, self.columns)
    }
}

impl Space {
    /// Checks the shape and that every number is finite.
    pub fn new(name: &str, rows: usize, columns: usize, values: Values) -> Result<Self> {
        if let Values::Elsewhere(own) = &values
            && own.rows <= SUPER_BLOCK
        {
            // A single block is brought here.
            return blocks::fetch(own, name, &Driver::silent(Order::Serial));
        }
        let space = Space {
            name: name.to_string(),
            rows,
            columns,
            values,
        };
        let count = match (&space.values, space.slice()) {
            (Values::Elsewhere(own), _) => own.rows * own.columns,
            (_, Slice::F32(v)) => v.len(),
            (_, Slice::F64(v)) => v.len(),
        };
        refuse_if(rows == 0 || columns == 0, || {
            format!("`{name}` is empty ({rows} rows, {columns} columns); give at least one row and one column")
        })?;
        refuse_if(rows > u32::MAX as usize, || {
            let most = u32::MAX;
            format!("`{name}` has {rows} rows, more than the {most} that row numbers can count; split the data")
        })?;
        refuse_if(rows.checked_mul(columns) != Some(count), || {
            format!("`{name}` should hold {rows} × {columns} numbers but holds {count}")
        })?;
        space.check_finite()?;
        Ok(space)
    }

    /// A space over a vector of single-precision numbers.
    pub fn from_f32(name: &str, rows: usize, columns: usize, values: Vec<f32>) -> Result<Self> {
        Space::new(name, rows, columns, values.into())
    }

    /// A space over a vector of double-precision numbers.
    pub fn from_f64(name: &str, rows: usize, columns: usize, values: Vec<f64>) -> Result<Self> {
        Space::new(name, rows, columns, values.into())
    }

    /// What messages and results call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// N, the number of samples.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// D, the number of features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Copies row `i` into `out`, as double precision.
    pub fn read_row(&self, i: usize, out: &mut [f64]) {
        let span = i * self.columns..(i + 1) * self.columns;
        match self.slice() {
            Slice::F32(v) => {
                for (o, x) in out.iter_mut().zip(&v[span]) {
                    *o = f64::from(*x);
                }
            }
            Slice::F64(v) => out.copy_from_slice(&v[span]),
        }
    }

    /// The rows named by `order`, in that order, as a new space.
    pub fn select(&self, order: &[usize]) -> Result<Self> {
        let d = self.columns;
        if let Values::Elsewhere(own) = &self.values {
            return Space::new(
                &self.name,
                order.len(),
                d,
                Values::Elsewhere(Arc::new(own.select(order))),
            );
        }
        let values = match self.slice() {
            Slice::F32(v) => Values::F32(Arc::new(gather(v, d, order))),
            Slice::F64(v) => Values::F64(Arc::new(gather(v, d, order))),
        };
        Space::new(&self.name, order.len(), d, values)
    }

    /// Some rows that follow each other.
    pub(crate) fn part(&self, rows: Range<usize>) -> Result<Self> {
        let span = rows.start * self.columns..rows.end * self.columns;
        let values: Values = match self.slice() {
            Slice::F32(v) => v[span].to_vec().into(),
            Slice::F64(v) => v[span].to_vec().into(),
        };
        Space::new(&self.name, rows.len(), self.columns, values)
    }

    /// The rows of this space and those of another one, which has as many columns.
    pub fn below(&self, other: &Space) -> Result<Self> {
        if self.columns != other.columns || self.elsewhere().or(other.elsewhere()).is_some() {
            let (own, others) = (self.columns, other.columns);
            return Err(Error::Internal(format!("rows of {own} columns above rows of {others}")));
        }
        let values: Values = match (self.slice(), other.slice()) {
            (Slice::F32(a), Slice::F32(b)) => [a, b].concat().into(),
            (a, b) => [a.to_f64(), b.to_f64()].concat().into(),
        };
        // Both are finite.
        Ok(Space {
            name: self.name.clone(),
            rows: self.rows + other.rows,
            columns: self.columns,
            values,
        })
    }

    /// The rows of this space with the rows of another below them.
    pub fn stack(&self, below: &Space) -> Result<Self> {
        refuse_if(self.columns != below.columns || self.rows != below.rows, || {
            format!(
                "`{}` is {} × {} but what follows it, `{}`, is {} × {}; both must have the same shape",
                self.name, self.rows, self.columns, below.name, below.rows, below.columns
            )
        })?;
        let values = match (self.slice(), below.slice()) {
            (Slice::F32(a), Slice::F32(b)) => Values::F32(Arc::new([a, b].concat())),
            (a, b) => {
                let mut all = a.to_f64();
                all.extend(b.to_f64());
                Values::F64(Arc::new(all))
            }
        };
        Space::new(&self.name, 2 * self.rows, self.columns, values)
    }

    /// Who can read its numbers, where these are not here.
    pub fn elsewhere(&self) -> Option<&Elsewhere> {
        match &self.values {
            Values::Elsewhere(own) => Some(own),
            _ => None,
        }
    }

    /// The numbers, none where they are elsewhere.
    pub(crate) fn slice(&self) -> Slice<'_> {
        match &self.values {
            Values::Elsewhere(own) if own.is_single => Slice::F32(&[]),
            Values::Elsewhere(_) => Slice::F64(&[]),
            Values::F32(v) => Slice::F32((**v).as_ref()),
            Values::F64(v) => Slice::F64((**v).as_ref()),
        }
    }

    fn check_finite(&self) -> Result<()> {
        const CHUNK: usize = 1 << 16;
        fn first<T: Sync>(values: &[T], is_wrong: impl Fn(&T) -> bool + Sync) -> Option<usize> {
            let chunks = values.par_chunks(CHUNK).enumerate();
            chunks.find_map_first(|(c, chunk)| Some(c * CHUNK + chunk.iter().position(&is_wrong)?))
        }
        let position = match self.slice() {
            Slice::F32(v) => first(v, |x| !x.is_finite()),
            Slice::F64(v) => first(v, |x| x.is_nan() || x.abs() > LARGEST),
        };
        let Some(at) = position else {
            return Ok(());
        };
        let value = match self.slice() {
            Slice::F32(v) => f64::from(v[at]),
            Slice::F64(v) => v[at],
        };
        let (space, row, column) = (self.name.clone(), at / self.columns, at % self.columns);
        Err(if value.is_finite() {
            Error::TooLarge {
                space,
                row,
                column,
                value,
            }
        } else {
            Error::NotFinite {
                space,
                row,
                column,
                value,
            }
        })
    }
}

fn gather<T: Copy>(values: &[T], columns: usize, order: &[usize]) -> Vec<T> {
    let mut out = Vec::with_capacity(order.len() * columns);
    for &i in order {
        out.extend_from_slice(&values[i * columns..(i + 1) * columns]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_finite_is_named_by_row_and_column() {
        let error = Space::from_f32("z", 2, 3, vec![0.0, 1.0, 2.0, 3.0, f32::NAN, 5.0]).unwrap_err();
        assert!(error.to_string().contains("NaN at row 1, column 1"), "{error}");
    }

    #[test]
    fn a_shape_that_does_not_fit_the_numbers_is_refused_with_both() {
        let error = Space::from_f64("z", 2, 3, vec![0.0; 5]).unwrap_err();
        assert!(error.to_string().contains("2 × 3 numbers but holds 5"), "{error}");
    }

    #[test]
    fn selected_rows_come_in_the_asked_order() {
        let space = Space::from_f64("z", 3, 1, vec![10.0, 11.0, 12.0]).unwrap();
        let mut out = [0.0];
        space.select(&[2, 0]).unwrap().read_row(0, &mut out);
        assert_eq!(out, [12.0]);
    }
}
