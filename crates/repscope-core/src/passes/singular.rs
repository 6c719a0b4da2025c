// SPDX-License-Identifier: MIT
//! The singular values of a space, centred and as it is.
//!
//! Eigenvalues of a scatter matrix are squares: a singular value below 10⁻⁸ of the largest drowns in their rounding, and
//! entropies of singular values see that. So the rows are reduced to a triangular matrix with the same singular
//! values, block by block (QR of each block, then of two triangles on top of each other), and its singular values are
//! taken directly.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, MatRef, Par};

use super::moments::{centered, column_means, rounding_floor};
use super::prepared::{length, power_of_two_near};
use crate::data::Space;
use crate::run::Driver;

/// Rows per block, as a multiple of the columns: merging two triangles then costs a quarter of making one.
const ROWS_PER_COLUMN: usize = 8;
/// And at least this many.
const FEWEST: usize = 1024;

/// Singular values, largest first, min(N, D) of them. Both lists are in units that depend on the data: only ratios
/// mean something.
pub(crate) struct Singular {
    /// Of the rows minus their mean. All 0 where all rows are equal.
    pub(crate) centred: Vec<f64>,
    /// Of the rows as they are.
    pub(crate) raw: Vec<f64>,
}

impl Singular {
    pub(crate) fn new(space: &Space, driver: &Driver) -> Self {
        let (n, d) = (space.rows(), space.columns());
        let mean = column_means(space, driver);
        let mut centred = values(space, &mean, driver);
        let squares: f64 = centred.1.iter().map(|s| (s / centred.0).powi(2)).sum();
        if squares <= rounding_floor(n, &mean) {
            centred.1 = vec![0.0; n.min(d)];
        }
        Singular {
            centred: centred.1,
            raw: values(space, &vec![0.0; d], driver).1,
        }
    }
}

/// A power of two that the rows were multiplied by, so that no square leaves the range of numbers, and their singular
/// values.
fn values(space: &Space, mean: &[f64], driver: &Driver) -> (f64, Vec<f64>) {
    let (n, d) = (space.rows(), space.columns());
    let at_once = (ROWS_PER_COLUMN * d).max(FEWEST);
    let tasks = n.div_ceil(at_once);
    let span = |task: usize| task * at_once..n.min((task + 1) * at_once);
    let longest = driver.map(tasks, |task| {
        let mut row = vec![0.0; d];
        let measure = |i: usize| {
            centered(space, None, mean, i..i + 1, 0..d, &mut row);
            length(&row)
        };
        span(task).map(measure).fold(0.0, f64::max)
    });
    let scale = power_of_two_near(longest.into_iter().fold(0.0, f64::max));
    let triangle = driver.fold(
        tasks,
        |task| {
            let rows = span(task);
            let mut block = vec![0.0; rows.len() * d];
            centered(space, None, mean, rows.clone(), 0..d, &mut block);
            block.iter_mut().for_each(|x| *x *= scale);
            triangle_of(MatRef::from_row_major_slice(&block, rows.len(), d).to_owned())
        },
        None,
        |above: Option<Mat<f64>>, below| match above {
            None => Some(below),
            Some(above) => Some(triangle_of(stacked(&above, &below))),
        },
    );
    let values = triangle.map_or_else(Vec::new, |triangle| singular_values(&triangle));
    (scale, values)
}

/// The upper triangle of a QR decomposition: as many rows as columns, or all rows where there are fewer.
fn triangle_of(mut rows: Mat<f64>) -> Mat<f64> {
    let (n, d) = (rows.nrows(), rows.ncols());
    if n <= d {
        return rows;
    }
    let block = recommended_block_size::<f64>(n, d);
    let mut coefficients = Mat::zeros(block, d);
    let scratch = qr_in_place_scratch::<f64>(n, d, block, Par::Seq, Default::default());
    qr_in_place(
        rows.as_mut(),
        coefficients.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    Mat::from_fn(d, d, |i, j| if i <= j { rows[(i, j)] } else { 0.0 })
}

fn stacked(above: &Mat<f64>, below: &Mat<f64>) -> Mat<f64> {
    let first = above.nrows();
    Mat::from_fn(first + below.nrows(), above.ncols(), |i, j| {
        if i < first {
            above[(i, j)]
        } else {
            below[(i - first, j)]
        }
    })
}

fn singular_values(matrix: &Mat<f64>) -> Vec<f64> {
    let (n, d) = (matrix.nrows(), matrix.ncols());
    let mut values = vec![0.0; n.min(d)];
    let none = ComputeSvdVectors::No;
    let scratch = svd_scratch::<f64>(n, d, none, none, Par::Seq, Default::default());
    svd(
        matrix.as_ref(),
        DiagMut::from_slice_mut(&mut values),
        None,
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .expect("the singular values of a finite matrix are found");
    values.iter_mut().for_each(|v| *v = v.max(0.0));
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::run::Order;
    use rand::RngExt;

    /// Rows on the axes, so that the singular values are known: √(rows of the axis) · length.
    #[test]
    fn singular_values_of_rows_on_the_axes_are_known_to_the_smallest() {
        let lengths = [1.0, 1e-4, 1e-9];
        let rows: Vec<f64> = (0..6000)
            .flat_map(|i| (0..3).map(move |c| if c == i % 3 { lengths[c] } else { 0.0 }))
            .collect();
        let space = Space::from_f64("axes", 6000, 3, rows).unwrap();
        let found = Singular::new(&space, &Driver::silent(Order::Parallel)).raw;
        for (value, length) in found.iter().zip(lengths) {
            assert!((value / found[0] / length - 1.0).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn blocks_and_one_piece_give_the_same_singular_values() {
        let mut rng = stream(1, "singular", 0);
        let rows: Vec<f64> = (0..5000 * 7)
            .map(|x| (rng.random::<f64>() - 0.3) * 10f64.powi(-(x % 7)))
            .collect();
        let space = Space::from_f64("x", 5000, 7, rows.clone()).unwrap();
        let found = Singular::new(&space, &Driver::silent(Order::Parallel)).raw;
        let whole = singular_values(&MatRef::from_row_major_slice(&rows, 5000, 7).to_owned());
        for (a, b) in found.iter().zip(&whole) {
            assert!((a / found[0] - b / whole[0]).abs() < 1e-14, "{found:?} {whole:?}");
        }
    }

    #[test]
    fn equal_rows_have_no_centred_singular_values() {
        let space = Space::from_f64("same", 50, 3, vec![0.1; 150]).unwrap();
        let found = Singular::new(&space, &Driver::silent(Order::Serial));
        assert_eq!(found.centred, [0.0; 3]);
        assert!(found.raw[0] > 0.0);
    }
}
