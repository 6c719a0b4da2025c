// SPDX-License-Identifier: MIT
//! The scatter matrix of centered rows, by the fastest way whose digits are known to be enough.
//!
//! Many rows of many columns are multiplied strip by strip. f32 products cost half as much as f64 ones, but their rounding
//! errors E are of the size of the large eigenvalues, and a small one drowns in them. So f32 is used only where it is shown
//! that none is small:
//!
//! - The error is measured, not assumed: for a vector v of random signs, S v is computed in f64 as well, and the mean of
//!   ‖E v‖² over such vectors is ‖E‖²_F, which bounds the error of every eigenvalue.
//! - Each row adds a positive semi-definite matrix, so the smallest eigenvalue of all rows is not below that of some of them.
//!   A Cholesky decomposition of what some rows spread over the space add up to shows that it is above a floor.
//!
//! Where the floor is not 10⁴ times the error, all products are made again in f64; few rows were looked at.

mod strips;

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par};
use rand::Rng;

pub(crate) use self::strips::{PER_SUPER, ROWS};
use self::strips::{Strips, dot};
use super::moments::{add, centered};
use super::unit_rows::{Layout, Triangle, products};
use crate::blocks::{SUPER_BLOCK, super_blocks};
use crate::data::{Slice, Space};
use crate::random::stream;
use crate::run::{Driver, Order};

/// What the indices of a scatter matrix count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// D × D: entry (a, b) is Σ_i δ_ia δ_ib.
    Columns,
    /// N × N: entry (i, j) is δ_i·δ_j.
    Rows,
}

/// With fewer columns there is too little for a strip's tasks to do.
const FEWEST_COLUMNS: usize = 64;
/// Below so many products f64 takes a moment only.
const MANY_PRODUCTS: f64 = 4e9;
/// How many times the error of f32 products the smallest eigenvalue has to be.
const DIGITS: f64 = 1e4;
/// Rows that are looked at, as a multiple of the columns: fewer have much smaller eigenvalues than all.
const LOOK: usize = 6;
/// And at least this part of all rows, because errors grow with them.
const LEAST_PART: usize = 16;
/// Errors grow like the root of the rows, or a little faster.
const MARGIN: f64 = 1.5;
/// Threads for one decomposition. A constant, so that sums are cut in the same way on every machine.
pub(super) const TOGETHER: usize = 4;

/// The scatter matrix, full and symmetric.
pub(super) fn scatter(space: &Space, mean: &[f64], side: Side, driver: &Driver) -> Vec<f64> {
    let is_single = matches!(space.slice(), Slice::F32(_));
    let found = match way((space.rows(), space.columns()), side, is_single) {
        Way::Blocks => return by_blocks(space, mean, side, driver),
        Way::Single => single(space, mean, driver),
        Way::Double => None,
    };
    found.unwrap_or_else(|| double(space, mean, driver))
}

/// How a scatter matrix is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// For few columns, and for the Gram matrix of few rows.
    Blocks,
    /// By f32 products, where they turn out to be enough.
    Single,
    /// By f64 products.
    Double,
}

/// The way for a matrix of this shape.
pub(crate) fn way((n, d): (usize, usize), side: Side, is_single: bool) -> Way {
    if side == Side::Rows || d < FEWEST_COLUMNS {
        return Way::Blocks;
    }
    let is_worth_a_look = n >= 2 * LOOK * d && (n * d) as f64 * d as f64 >= MANY_PRODUCTS;
    if is_single && is_worth_a_look {
        Way::Single
    } else {
        Way::Double
    }
}

/// Block by block: for few columns, and for the Gram matrix of few rows. Super-blocks of rows are added up in their order.
fn by_blocks(space: &Space, mean: &[f64], side: Side, driver: &Driver) -> Vec<f64> {
    let (n, d) = (space.rows(), space.columns());
    let of_rows = |rows: Range<usize>, driver: &Driver| {
        let copy = |own: Range<usize>, columns, out: &mut [f64]| {
            centered(
                space,
                None,
                mean,
                rows.start + own.start..rows.start + own.end,
                columns,
                out,
            );
        };
        products((rows.len(), d), side, Layout::ByRow, copy, driver)
    };
    let Triangle { size, mut values } = if side == Side::Rows || n <= SUPER_BLOCK {
        of_rows(0..n, driver)
    } else {
        let supers: Vec<Range<usize>> = super_blocks(n).collect();
        let alone = Driver::silent(Order::Serial);
        let values = driver.fold(
            supers.len(),
            |block| of_rows(supers[block].clone(), &alone).values,
            vec![0.0; d * d],
            |mut total, values| {
                add(&mut total, &values);
                total
            },
        );
        Triangle { size: d, values }
    };
    for i in 0..size {
        for j in 0..i {
            values[j * size + i] = values[i * size + j];
        }
    }
    values
}

/// By f64 products.
fn double(space: &Space, mean: &[f64], driver: &Driver) -> Vec<f64> {
    let mut strips = Strips::<f64>::new(space, mean, &[]);
    let all: Vec<usize> = (0..strips.count()).collect();
    strips.add(&all, driver);
    strips.matrix()
}

/// By f32 products; none where that would cost an eigenvalue its digits.
fn single(space: &Space, mean: &[f64], driver: &Driver) -> Option<Vec<f64>> {
    let first = FirstLook::new(space.rows(), space.columns());
    let mut strips = Strips::<f32>::new(space, mean, &first.signs);
    let (look, rest): (Vec<usize>, Vec<usize>) = (0..strips.count()).partition(|strip| first.takes(*strip));
    strips.add(&look, driver);
    let expected = first.error_to_expect(strips.matrix(), &strips.probed())?;
    strips.add(&rest, driver);
    let matrix = strips.matrix();
    first.confirms(&matrix, &strips.probed(), expected).then_some(matrix)
}

/// The strips by which it is decided whether f32 products are enough.
pub(crate) struct FirstLook {
    n: usize,
    d: usize,
    every: usize,
    /// What the matrix is multiplied by to see its errors.
    pub(crate) signs: Vec<f64>,
}

impl FirstLook {
    pub(crate) fn new(n: usize, d: usize) -> Self {
        let mut rng = stream(0, "scatter", 0);
        let mut sign = |_| if rng.next_u32() & 1 == 0 { 1.0 } else { -1.0 };
        FirstLook {
            n,
            d,
            every: (n / (LOOK * d).max(n / LEAST_PART)).max(1),
            signs: (0..d).map(&mut sign).collect(),
        }
    }

    /// Whether a strip is among them.
    pub(crate) fn takes(&self, strip: usize) -> bool {
        strip.is_multiple_of(self.every)
    }

    /// The error that is expected of all strips, from the sum of these; none where it is too large.
    pub(crate) fn error_to_expect(&self, mut matrix: Vec<f64>, probed: &[f64]) -> Option<f64> {
        let looked_at = self.n.div_ceil(ROWS).div_ceil(self.every);
        let all_of_look = self.n as f64 / (looked_at * ROWS) as f64;
        let expected = MARGIN * all_of_look.sqrt() * error(&matrix, &self.signs, probed);
        let floor = DIGITS * expected;
        (floor.is_finite() && is_above(&mut matrix, self.d, floor)).then_some(expected)
    }

    /// Whether the sum of all strips has no larger error. Not so where rows that were not looked at are much longer, or where a square has
    /// left the range of f32.
    pub(crate) fn confirms(&self, matrix: &[f64], probed: &[f64], expected: f64) -> bool {
        error(matrix, &self.signs, probed) <= expected
    }
}

/// What the strips of one super-block that are chosen add up to, by f32 products where signs are given; and that times the signs.
pub(crate) fn of_super_block(
    space: &Space,
    mean: &[f64],
    signs: Option<&[f64]>,
    is_chosen: impl Fn(usize) -> bool,
    driver: &Driver,
) -> (Vec<f64>, Vec<f64>) {
    let chosen: Vec<usize> = (0..space.rows().div_ceil(ROWS))
        .filter(|strip| is_chosen(*strip))
        .collect();
    match signs {
        Some(signs) => {
            let mut strips = Strips::<f32>::new(space, mean, signs);
            strips.add(&chosen, driver);
            (strips.matrix(), strips.probed())
        }
        None => {
            let mut strips = Strips::<f64>::new(space, mean, &[]);
            strips.add(&chosen, driver);
            (strips.matrix(), Vec::new())
        }
    }
}

/// The same of few columns.
pub(crate) fn of_small_super_block(space: &Space, mean: &[f64], driver: &Driver) -> Vec<f64> {
    by_blocks(space, mean, Side::Columns, driver)
}

/// ‖S v − what it should be‖.
fn error(matrix: &[f64], v: &[f64], expected: &[f64]) -> f64 {
    let rows = matrix.chunks_exact(v.len());
    let squares = rows.zip(expected).map(|(row, e)| (dot(row, v) - e).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Whether all eigenvalues are above `floor`; the matrix is lost.
fn is_above(matrix: &mut [f64], d: usize, floor: f64) -> bool {
    matrix.iter_mut().step_by(d + 1).for_each(|x| *x -= floor);
    let par = Par::rayon(TOGETHER);
    let scratch = cholesky_in_place_scratch::<f64>(d, par, Default::default());
    cholesky_in_place(
        MatMut::from_column_major_slice_mut(matrix, d, d),
        Default::default(),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .is_ok()
}

#[cfg(test)]
mod tests;
