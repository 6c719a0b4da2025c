// SPDX-License-Identifier: MIT
//! Some rows of a space, divided by their length, and the products between them.
//!
//! With Z the n × D matrix of these rows, ZᵀZ (D × D) and ZZᵀ (n × n) have the same eigenvalues but zeros: the smaller of
//! the two is made. Tasks are blocks of its lower triangle, and beside the result only a few blocks and strips of rows are in
//! memory. Nothing is centered unless a mean is given, and the rows need not stand together.

use std::ops::Range;

use faer::linalg::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use super::moments::{Side, add, centered};
use crate::data::Space;
use crate::run::Driver;

/// Products per task that are summed into one entry of a block.
const TERMS: usize = 4096;
/// Products summed by one call of the matrix product: keeps the copies of the rows in the cache.
const STRIP: usize = 256;
/// Largest side of a block of the result.
const BLOCK: usize = 512;

/// Some rows of a space, each multiplied by its factor, 1 / ‖x‖.
pub(crate) struct UnitRows<'a> {
    pub(crate) space: &'a Space,
    /// A factor for every row of the space.
    pub(crate) factors: &'a [f64],
    /// Which rows.
    pub(crate) members: &'a [u32],
    /// What is subtracted from each row after that, if anything.
    pub(crate) mean: Option<&'a [f64]>,
}

/// A symmetric matrix whose lower triangle is set, column by column.
pub(crate) struct Triangle {
    pub(crate) size: usize,
    pub(crate) values: Vec<f64>,
}

/// How the entries of a matrix of products lie: line by line, or column by column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    ByRow,
    ByColumn,
}

/// The lower triangle of ZᵀZ (columns) or ZZᵀ (rows). `copy` writes a rectangle of Z, row by row.
pub(crate) fn products(
    (rows, columns): (usize, usize),
    side: Side,
    layout: Layout,
    copy: impl Fn(Range<usize>, Range<usize>, &mut [f64]) + Sync,
    driver: &Driver,
) -> Triangle {
    let is_of_columns = side == Side::Columns;
    let (size, terms) = if is_of_columns {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let block = size.div_ceil(size.div_ceil(BLOCK));
    let blocks = size.div_ceil(block);
    let pairs: Vec<(usize, usize)> = (0..blocks).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
    let span = |b: usize| b * block..size.min((b + 1) * block);
    // One side of a block: a row per index of the result, a column per term.
    let strip = |span: Range<usize>, terms: Range<usize>, out: &mut [f64]| {
        if is_of_columns {
            copy(terms, span, out)
        } else {
            copy(span, terms, out)
        }
    };
    let values = driver.fold(
        terms.div_ceil(TERMS) * pairs.len(),
        |task| {
            let (a, b) = pairs[task % pairs.len()];
            let first = task / pairs.len() * TERMS;
            let part = first..terms.min(first + TERMS);
            (
                a,
                b,
                products_of_block(span(a), span(b), part, is_of_columns, layout, strip),
            )
        },
        vec![0.0; size * size],
        |mut values, (a, b, products)| {
            let (outer, inner) = if layout == Layout::ByRow { (a, b) } else { (b, a) };
            for (i, line) in span(outer).zip(products.chunks_exact(span(inner).len())) {
                add(&mut values[i * size..][span(inner)], line);
            }
            values
        },
    );
    Triangle { size, values }
}

/// The block (`a`, `b`) of the products, summed over the terms of one task.
fn products_of_block(
    a: Range<usize>,
    b: Range<usize>,
    terms: Range<usize>,
    is_transposed: bool,
    layout: Layout,
    strip: impl Fn(Range<usize>, Range<usize>, &mut [f64]),
) -> Vec<f64> {
    fn matrix(values: &[f64], span: usize, terms: usize, is_transposed: bool) -> MatRef<'_, f64> {
        if is_transposed {
            MatRef::from_row_major_slice(&values[..span * terms], terms, span).transpose()
        } else {
            MatRef::from_row_major_slice(&values[..span * terms], span, terms)
        }
    }
    let mut block = vec![0.0; a.len() * b.len()];
    let mut left = vec![0.0; a.len() * STRIP];
    let mut right = vec![0.0; if a == b { 0 } else { b.len() * STRIP }];
    for first in terms.clone().step_by(STRIP) {
        let terms = first..terms.end.min(first + STRIP);
        let out = match layout {
            Layout::ByRow => MatMut::from_row_major_slice_mut(&mut block, a.len(), b.len()),
            Layout::ByColumn => MatMut::from_column_major_slice_mut(&mut block, a.len(), b.len()),
        };
        strip(a.clone(), terms.clone(), &mut left[..a.len() * terms.len()]);
        let left = matrix(&left, a.len(), terms.len(), is_transposed);
        if a == b {
            triangular::matmul(
                out,
                BlockStructure::TriangularLower,
                Accum::Add,
                left,
                BlockStructure::Rectangular,
                left.transpose(),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        } else {
            strip(b.clone(), terms.clone(), &mut right[..b.len() * terms.len()]);
            let right = matrix(&right, b.len(), terms.len(), is_transposed);
            matmul::matmul(out, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
        }
    }
    block
}

impl UnitRows<'_> {
    /// ZᵀZ where there are at least as many rows as columns, else ZZᵀ.
    pub(crate) fn products(&self, driver: &Driver) -> Triangle {
        let shape = (self.members.len(), self.space.columns());
        let side = if shape.0 >= shape.1 { Side::Columns } else { Side::Rows };
        products(
            shape,
            side,
            Layout::ByColumn,
            |rows, columns, out| self.copy(rows, columns, out),
            driver,
        )
    }

    /// Copies a rectangle of Z into `out`, row by row.
    pub(crate) fn copy(&self, places: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        let zero = vec![0.0; if self.mean.is_some() { 0 } else { self.space.columns() }];
        let mean = self.mean.unwrap_or(&zero);
        for (&row, out) in self.members[places].iter().zip(out.chunks_exact_mut(columns.len())) {
            let row = row as usize;
            centered(self.space, Some(self.factors), mean, row..row + 1, columns.clone(), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    /// Numbers between 1 and 17 without a pattern.
    fn digit(i: usize, a: usize) -> f64 {
        ((i * 7919 + a * 104_729 + i * a * 31) % 17) as f64 + 1.0
    }

    #[test]
    fn products_agree_with_the_definition_on_both_sides() {
        // Sizes that need several blocks, several tasks and ragged ends; every third row is left out.
        for (n, d) in [(1, 1), (1, 4), (5, 3), (6200, 5), (3, 4100), (900, 530), (800, 700)] {
            let space = Space::from_f64("z", n, d, (0..n * d).map(|p| digit(p / d, p % d)).collect()).unwrap();
            let factors: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            let members: Vec<u32> = (0..n as u32).filter(|i| i % 3 != 2).collect();
            let rows = UnitRows {
                space: &space,
                factors: &factors,
                members: &members,
                mean: None,
            };
            let z = |i: usize, a: usize| digit(members[i] as usize, a) * factors[members[i] as usize];
            let found = rows.products(&Driver::silent(Order::Parallel));
            let size = members.len().min(d);
            assert_eq!((found.size, found.values.len()), (size, size * size));
            for (i, j) in (0..size).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                let expected: f64 = if members.len() >= d {
                    (0..members.len()).map(|r| z(r, i) * z(r, j)).sum()
                } else {
                    (0..d).map(|a| z(i, a) * z(j, a)).sum()
                };
                // Relative: a sum of up to 4200 positive products.
                let error = (found.values[j * size + i] / expected - 1.0).abs();
                assert!(error < 1e-12, "{error} at ({i}, {j}) of {n} × {d}");
            }
        }
    }
}
