// SPDX-License-Identifier: MIT
//! The plane that shows most of the variance: the first two principal components, and where each row lies on it.
//!
//! Found by subspace iteration, which needs a few passes over the rows and no D × D matrix: a block of random directions
//! is multiplied with the covariance and made orthonormal again until the variance it captures stands still. The random
//! start is fixed, so a space always gives the same plane.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::Rng;

use super::moments::{centered, column_means, rounding_floor};
use crate::data::Space;
use crate::random;
use crate::run::Driver;

/// Rows per task.
const ROWS: usize = 512;
/// Directions in the block: more than two make the first two settle sooner.
const BLOCK: usize = 8;
/// Steps after which the plane is taken as it is.
const MOST_STEPS: usize = 60;
/// The block has settled when the variance of its first two directions changes by less than this share.
const TOLERANCE: f64 = 1e-9;

/// Where rows lie on the plane of the first two principal components.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plane {
    /// Along the first component, centered. The coordinate that weighs most in a component counts as positive.
    pub x: Vec<f64>,
    /// Along the second component; 0 where there is only one column.
    pub y: Vec<f64>,
    /// The share of the whole variance along each; 0 where all rows are equal.
    pub shares: [f64; 2],
}

/// The plane that shows most of the variance of a space.
pub(crate) fn principal_plane(space: &Space, driver: &Driver) -> Plane {
    let (n, d) = (space.rows(), space.columns());
    let mean = column_means(space, driver);
    let width = BLOCK.min(d);
    let mut rng = random::stream(0, "plane", 0);
    let uniform = |_: usize, _: usize| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let mut block = orthonormal(Mat::from_fn(d, width, uniform));
    let mut last = 0.0;
    let mut total = 0.0;
    driver.progress().begin("map", MOST_STEPS as u64);
    for _ in 0..MOST_STEPS {
        let (product, squares) = multiply(space, &mean, &block, driver);
        total = if squares > rounding_floor(n, &mean) {
            squares
        } else {
            0.0
        };
        if total == 0.0 {
            break;
        }
        // The eigenvectors of the small matrix Vᵀ S V turn the block to its principal directions.
        let (captured, turn) = principal(&(block.transpose() * &product));
        block = orthonormal(&product * &turn);
        driver.progress().advance(1);
        let plane: f64 = captured.iter().take(2).sum();
        if (plane - last).abs() <= TOLERANCE * plane {
            break;
        }
        last = plane;
    }
    if total == 0.0 {
        return Plane {
            x: vec![0.0; n],
            y: vec![0.0; n],
            shares: [0.0; 2],
        };
    }
    let (product, _) = multiply(space, &mean, &block, driver);
    let (_, turn) = principal(&(block.transpose() * &product));
    block = &block * &turn;
    for c in 0..width {
        let heavier = |l: f64, &x: &f64| if x.abs() > l.abs() { x } else { l };
        let heaviest = block.col(c).iter().fold(0.0, heavier);
        let sign = if heaviest < 0.0 { -1.0 } else { 1.0 };
        block.col_mut(c).iter_mut().for_each(|x| *x *= sign);
    }
    let parts = driver.blocks(n, ROWS, |rows| {
        let mut values = vec![0.0; rows.len() * d];
        centered(space, None, &mean, rows.clone(), 0..d, &mut values);
        let along = |c: usize| -> Vec<f64> {
            let direction = block.col(c);
            let dot = |row: &[f64]| row.iter().zip(direction.iter()).map(|(x, v)| x * v).sum();
            values.chunks_exact(d).map(dot).collect()
        };
        (along(0), if width > 1 { along(1) } else { vec![0.0; rows.len()] })
    });
    let (x, y): (Vec<Vec<f64>>, Vec<Vec<f64>>) = parts.into_iter().unzip();
    let (x, y) = (x.concat(), y.concat());
    let share = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>() / total;
    let shares = [share(&x), share(&y)];
    Plane { x, y, shares }
}

/// The scatter matrix times a block of directions, and the trace of the scatter matrix.
fn multiply(space: &Space, mean: &[f64], block: &Mat<f64>, driver: &Driver) -> (Mat<f64>, f64) {
    let (n, d, width) = (space.rows(), space.columns(), block.ncols());
    driver.fold(
        n.div_ceil(ROWS),
        |task| {
            let rows = task * ROWS..n.min((task + 1) * ROWS);
            let count = rows.len();
            let mut values = vec![0.0; count * d];
            centered(space, None, mean, rows, 0..d, &mut values);
            let rows = MatRef::from_row_major_slice(&values, count, d);
            let mut along = Mat::zeros(count, width);
            matmul(along.as_mut(), Accum::Replace, rows, block.as_ref(), 1.0, Par::Seq);
            let mut product = vec![0.0; d * width];
            let out = MatMut::from_column_major_slice_mut(&mut product, d, width);
            matmul(out, Accum::Replace, rows.transpose(), along.as_ref(), 1.0, Par::Seq);
            (product, values.iter().map(|x| x * x).sum::<f64>())
        },
        (Mat::zeros(d, width), 0.0),
        |(mut sum, squares), (product, more)| {
            sum += MatRef::from_column_major_slice(&product, d, width);
            (sum, squares + more)
        },
    )
}

/// Columns made orthonormal by Gram and Schmidt, twice for the sake of rounding; one that is spent becomes 0.
fn orthonormal(mut block: Mat<f64>) -> Mat<f64> {
    for c in 0..block.ncols() {
        let before = block.col(c).norm_l2();
        for _ in 0..2 {
            for earlier in 0..c {
                let overlap = block.col(earlier).transpose() * block.col(c);
                for i in 0..block.nrows() {
                    block[(i, c)] -= overlap * block[(i, earlier)];
                }
            }
        }
        let length = block.col(c).norm_l2();
        let factor = if length > 1e-12 * before { 1.0 / length } else { 0.0 };
        for i in 0..block.nrows() {
            block[(i, c)] *= factor;
        }
    }
    block
}

/// Eigenvalues of a small symmetric matrix, largest first, and its eigenvectors.
fn principal(small: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let size = small.nrows();
    let symmetric = Mat::from_fn(size, size, |i, j| (small[(i, j)] + small[(j, i)]) / 2.0);
    let found = symmetric
        .self_adjoint_eigen(faer::Side::Lower)
        .expect("the eigenvalues of a finite symmetric matrix are found");
    let values: Vec<f64> = found.S().column_vector().iter().rev().copied().collect();
    let vectors = found.U();
    (values, Mat::from_fn(size, size, |i, j| vectors[(i, size - 1 - j)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn of(space: &Space) -> Plane {
        principal_plane(space, &Driver::silent(Order::Parallel))
    }

    #[test]
    fn rows_in_a_plane_keep_their_distances() {
        // Points (3a, b) turned into five dimensions by two orthonormal directions.
        let mut rows = Vec::new();
        let mut flat = Vec::new();
        for i in 0..60 {
            let (a, b) = (f64::from(i * 7 % 60) - 29.5, f64::from(i * 11 % 13) - 6.0);
            flat.push((a, b));
            rows.extend([0.6 * a, 0.8 * a, 0.0, b, 0.0].map(|x| x + 100.0));
        }
        let plane = of(&Space::from_f64("z", 60, 5, rows).unwrap());
        assert!((plane.shares[0] + plane.shares[1] - 1.0).abs() < 1e-9);
        for i in 0..60 {
            for j in 0..60 {
                let expected = (flat[i].0 - flat[j].0).hypot(flat[i].1 - flat[j].1);
                let got = (plane.x[i] - plane.x[j]).hypot(plane.y[i] - plane.y[j]);
                assert!((expected - got).abs() < 1e-6, "{expected} {got}");
            }
        }
    }

    #[test]
    fn the_shares_are_those_of_the_largest_eigenvalues() {
        // Rows ±a_i e_i: the scatter matrix is diagonal with 2 a_i².
        let sides = [5.0, 4.0, 3.0, 2.0, 1.0];
        let mut rows = Vec::new();
        for (i, side) in sides.iter().enumerate() {
            for sign in [1.0, -1.0] {
                let mut row = [0.0; 5];
                row[i] = sign * side;
                rows.extend(row);
            }
        }
        let plane = of(&Space::from_f64("z", 10, 5, rows).unwrap());
        let total: f64 = sides.iter().map(|s| s * s).sum();
        assert!((plane.shares[0] - 25.0 / total).abs() < 1e-6 && (plane.shares[1] - 16.0 / total).abs() < 1e-6);
        assert!(
            (plane.x[0] - 5.0).abs() < 1e-3 && (plane.x[1] + 5.0).abs() < 1e-3,
            "{:?}",
            plane.x
        );
    }

    #[test]
    fn one_column_and_equal_rows_have_a_flat_map() {
        let line = of(&Space::from_f64("z", 3, 1, vec![1.0, 2.0, 6.0]).unwrap());
        assert_eq!((line.y, line.shares[1]), (vec![0.0; 3], 0.0));
        assert!((line.shares[0] - 1.0).abs() < 1e-12);
        let equal = of(&Space::from_f64("z", 3, 2, vec![1.0; 6]).unwrap());
        assert_eq!((equal.x, equal.y, equal.shares), (vec![0.0; 3], vec![0.0; 3], [0.0; 2]));
    }

    #[test]
    fn any_number_of_threads_draws_the_same_map() {
        let rows: Vec<f64> = (0..3000 * 9).map(|i| f64::from(i * 7919 % 1009).sin()).collect();
        let space = Space::from_f64("z", 3000, 9, rows).unwrap();
        assert_eq!(of(&space), principal_plane(&space, &Driver::silent(Order::Serial)));
    }
}
