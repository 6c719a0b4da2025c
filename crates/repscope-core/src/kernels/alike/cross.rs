// SPDX-License-Identifier: MIT
//! Products of the centered rows of two spaces: XᵀY is D × D, and nothing of the size N × N exists.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::data::Space;
use crate::kernels::moments::{centered, column_means, rounding_floor};
use crate::kernels::prepared::{length, power_of_two_near};
use crate::run::Driver;

/// Rows that are multiplied at a time, and columns of a task.
const ROWS: usize = 1024;
const STRIP: usize = 128;

/// The rows of a space less their mean, in units in which no sum of products of products overflows.
pub(crate) struct Centered<'a> {
    space: &'a Space,
    /// What each row is multiplied by first, where rows are brought to length 1.
    factors: Option<Vec<f64>>,
    mean: Vec<f64>,
    scale: f64,
    /// The squared length of each row.
    pub(crate) squares: Vec<f64>,
    /// Whether all rows are the same, but for rounding.
    pub(crate) is_constant: bool,
}

impl<'a> Centered<'a> {
    pub(crate) fn new(space: &'a Space, driver: &Driver) -> Self {
        let (n, d) = (space.rows(), space.columns());
        let mean = column_means(space, driver);
        let lengths = driver.blocks(n, ROWS, |rows| {
            let mut row = vec![0.0; d];
            let measure = |i: usize| {
                centered(space, None, &mean, i..i + 1, 0..d, &mut row);
                length(&row)
            };
            rows.map(measure).collect::<Vec<f64>>()
        });
        let lengths = lengths.concat();
        let scale = power_of_two_near(lengths.iter().copied().fold(0.0, f64::max));
        let squares: Vec<f64> = lengths.iter().map(|l| (l * scale).powi(2)).collect();
        let floor = rounding_floor(n, &mean);
        let is_constant = lengths.iter().map(|l| l * l).sum::<f64>() <= floor;
        Centered {
            space,
            factors: None,
            mean,
            scale,
            squares,
            is_constant,
        }
    }

    /// Rows brought to length 1 by their factors, and not centered.
    pub(crate) fn unit(space: &'a Space, factors: Vec<f64>) -> Self {
        Centered {
            mean: vec![0.0; space.columns()],
            scale: 1.0,
            squares: vec![1.0; space.rows()],
            is_constant: false,
            factors: Some(factors),
            space,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.space.rows()
    }

    /// What entries are multiplied by.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    pub(crate) fn columns(&self) -> usize {
        self.space.columns()
    }

    /// Copies a rectangle row by row.
    pub(crate) fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        centered(self.space, self.factors.as_deref(), &self.mean, rows, columns, out);
        out.iter_mut().for_each(|x| *x *= self.scale);
    }

    /// Σ_i w_i x_i.
    pub(crate) fn weighted(&self, weights: &[f64], driver: &Driver) -> Vec<f64> {
        let (n, d) = (self.rows(), self.columns());
        let task = |task: usize| {
            let (mut sums, mut row) = (vec![0.0; d], vec![0.0; d]);
            for i in task * ROWS..n.min((task + 1) * ROWS) {
                self.block(i..i + 1, 0..d, &mut row);
                sums.iter_mut().zip(&row).for_each(|(s, x)| *s += weights[i] * x);
            }
            sums
        };
        let merge = |mut total: Vec<f64>, sums: Vec<f64>| {
            total.iter_mut().zip(sums).for_each(|(t, s)| *t += s);
            total
        };
        driver.fold(n.div_ceil(ROWS), task, vec![0.0; d], merge)
    }

    /// x_i · v of each row.
    pub(crate) fn along(&self, direction: &[f64], driver: &Driver) -> Vec<f64> {
        let d = self.columns();
        let parts = driver.blocks(self.rows(), ROWS, |rows| {
            let mut row = vec![0.0; d];
            let dot = |i: usize| {
                self.block(i..i + 1, 0..d, &mut row);
                row.iter().zip(direction).map(|(x, v)| x * v).sum::<f64>()
            };
            rows.map(dot).collect::<Vec<f64>>()
        });
        parts.concat()
    }
}

/// XᵀY; where an order is given, row i of X meets row `order[i]` of Y.
pub(crate) fn product(x: &Centered, y: &Centered, order: Option<&[u32]>, driver: &Driver) -> Mat<f64> {
    let (n, d, width) = (x.rows(), x.columns(), y.columns());
    let strips = driver.blocks(width, STRIP, |columns| {
        let mut sums = Mat::zeros(d, columns.len());
        let (mut left, mut right) = (vec![0.0; ROWS * d], vec![0.0; ROWS * columns.len()]);
        for first in (0..n).step_by(ROWS) {
            let rows = first..n.min(first + ROWS);
            let (left, right) = (&mut left[..rows.len() * d], &mut right[..rows.len() * columns.len()]);
            x.block(rows.clone(), 0..d, left);
            match order {
                None => y.block(rows.clone(), columns.clone(), right),
                Some(order) => {
                    for (i, out) in rows.clone().zip(right.chunks_exact_mut(columns.len())) {
                        let row = order[i] as usize;
                        y.block(row..row + 1, columns.clone(), out);
                    }
                }
            }
            let left = MatRef::from_row_major_slice(left, rows.len(), d);
            let right = MatRef::from_row_major_slice(right, rows.len(), columns.len());
            matmul(sums.as_mut(), Accum::Add, left.transpose(), right, 1.0, Par::Seq);
        }
        sums
    });
    Mat::from_fn(d, width, |i, j| strips[j / STRIP][(i, j % STRIP)])
}

/// x_iᵀ M y_i of each row.
pub(crate) fn forms(x: &Centered, y: &Centered, matrix: &Mat<f64>, driver: &Driver) -> Vec<f64> {
    let (d, width) = (x.columns(), y.columns());
    let parts = driver.blocks(x.rows(), ROWS, |rows| {
        let (mut left, mut right) = (vec![0.0; rows.len() * d], vec![0.0; rows.len() * width]);
        x.block(rows.clone(), 0..d, &mut left);
        y.block(rows.clone(), 0..width, &mut right);
        let mut turned = vec![0.0; rows.len() * width];
        let out = faer::MatMut::from_row_major_slice_mut(&mut turned, rows.len(), width);
        let left = MatRef::from_row_major_slice(&left, rows.len(), d);
        matmul(out, Accum::Replace, left, matrix.as_ref(), 1.0, Par::Seq);
        let pairs = turned.chunks_exact(width).zip(right.chunks_exact(width));
        pairs
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>())
            .collect::<Vec<f64>>()
    });
    parts.concat()
}

/// Σ m² over all entries.
pub(crate) fn squared_norm(matrix: &Mat<f64>) -> f64 {
    (0..matrix.ncols())
        .map(|j| (0..matrix.nrows()).map(|i| matrix[(i, j)].powi(2)).sum::<f64>())
        .sum()
}
