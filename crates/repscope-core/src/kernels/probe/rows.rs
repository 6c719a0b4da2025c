// SPDX-License-Identifier: MIT
//! The rows of a space, fold by fold, in units in which every column varies by about 1; and their sums over each fold.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::folds::{Folds, LeftOut};
use crate::data::{Slice, Space};
use crate::kernels::moments::column_means;
use crate::run::Driver;

/// Rows that are read at a time, rows of a task, and columns of a strip of products.
const TILE: usize = 256;
const TASK: usize = 2048;
const STRIP: usize = 128;

/// Rows of a space by fold: (x − mean) · scale of all of them.
pub(super) struct Rows<'a> {
    space: &'a Space,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The rows of the first fold, of the second, …, each ascending.
    order: Vec<u32>,
    starts: Vec<usize>,
}

/// Rows of one fold that make up a task.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) fold: u32,
    /// Places in the order of folds.
    pub(super) places: Range<usize>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(space: &'a Space, folds: &Folds, driver: &Driver) -> Self {
        let d = space.columns();
        let mean = column_means(space, driver);
        let squares = driver.fold(
            space.rows().div_ceil(TASK),
            |task| {
                let (mut row, mut sums) = (vec![0.0; d], vec![0.0; d]);
                for i in task * TASK..space.rows().min((task + 1) * TASK) {
                    space.read_row(i, &mut row);
                    for ((s, x), m) in sums.iter_mut().zip(&row).zip(&mean) {
                        *s += (x - m).powi(2);
                    }
                }
                sums
            },
            vec![0.0; d],
            |mut total, sums| {
                total.iter_mut().zip(&sums).for_each(|(t, s)| *t += s);
                total
            },
        );
        // A column that varies by no more than rounding is taken as constant.
        let scale = squares.iter().zip(&mean).map(|(square, m)| {
            let deviation = (square / space.rows() as f64).sqrt();
            if deviation <= 1e-13 * m.abs() || deviation < f64::MIN_POSITIVE {
                0.0
            } else {
                1.0 / deviation
            }
        });
        let scale = scale.collect();
        Rows::of_known(space, mean, scale, folds)
    }

    /// The same rows in other folds; those of a fold beyond the count are left away.
    pub(super) fn in_folds(&self, folds: &Folds) -> Self {
        Rows::of_known(self.space, self.mean.clone(), self.scale.clone(), folds)
    }

    fn of_known(space: &'a Space, mean: Vec<f64>, scale: Vec<f64>, folds: &Folds) -> Self {
        let mut lists = vec![Vec::new(); folds.count];
        for (row, &fold) in folds.of.iter().enumerate() {
            if let Some(list) = lists.get_mut(fold as usize) {
                list.push(row as u32);
            }
        }
        let mut starts = vec![0];
        for list in &lists {
            starts.push(starts[starts.len() - 1] + list.len());
        }
        Rows {
            space,
            mean,
            scale,
            order: lists.concat(),
            starts,
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.space.columns()
    }

    /// How many rows are in a fold.
    pub(super) fn count(&self, fold: u32) -> usize {
        self.places(fold).len()
    }

    pub(super) fn folds(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    fn places(&self, fold: u32) -> Range<usize> {
        self.starts[fold as usize]..self.starts[fold as usize + 1]
    }

    /// The rows at some places.
    pub(super) fn named(&self, places: Range<usize>) -> &[u32] {
        &self.order[places]
    }

    /// The tasks of some folds.
    pub(super) fn tasks(&self, wanted: impl Fn(u32) -> bool) -> Vec<Task> {
        let folds = (0..self.folds()).filter(|fold| wanted(*fold));
        let of_fold = |fold| {
            let places = self.places(fold);
            let starts = places.clone().step_by(TASK);
            starts.map(move |start| Task {
                fold,
                places: start..places.end.min(start + TASK),
            })
        };
        folds.flat_map(of_fold).collect()
    }

    /// The tiles of a task.
    pub(super) fn tiles(task: &Task) -> impl Iterator<Item = Range<usize>> + use<> {
        let places = task.places.clone();
        places
            .clone()
            .step_by(TILE)
            .map(move |start| start..places.end.min(start + TILE))
    }

    /// Some columns of the rows at some places, row by row.
    pub(super) fn read(&self, places: Range<usize>, columns: Range<usize>, out: &mut Vec<f64>) {
        out.clear();
        let (mean, scale) = (&self.mean[columns.clone()], &self.scale[columns.clone()]);
        let d = self.space.columns();
        for &row in &self.order[places] {
            let span = row as usize * d + columns.start..row as usize * d + columns.end;
            match self.space.slice() {
                Slice::F32(all) => {
                    let row = all[span].iter().zip(mean).zip(scale);
                    out.extend(row.map(|((x, m), s)| (f64::from(*x) - m) * s));
                }
                Slice::F64(all) => {
                    let row = all[span].iter().zip(mean).zip(scale);
                    out.extend(row.map(|((x, m), s)| (x - m) * s));
                }
            }
        }
    }

    /// Numbers, mean and scale of the rows that are not left out, from sums by fold.
    pub(super) fn scaled(&self, sums: &[Sums], left: LeftOut) -> Scaled {
        let d = self.columns();
        let (mut n, mut mean, mut squares) = (0.0, vec![0.0; d], vec![0.0; d]);
        for (fold, own) in sums.iter().enumerate().filter(|(fold, _)| !left.holds(*fold as u32)) {
            n += self.count(fold as u32) as f64;
            mean.iter_mut().zip(&own.columns).for_each(|(m, s)| *m += s);
            squares.iter_mut().zip(&own.squares).for_each(|(q, s)| *q += s);
        }
        mean.iter_mut().for_each(|m| *m /= n);
        let inverse = squares.iter().zip(&mean).map(|(square, m)| {
            let variance = square / n - m * m;
            // Columns that vary in other folds only.
            if variance <= 1e-13 * (square / n).max(f64::MIN_POSITIVE) {
                0.0
            } else {
                1.0 / variance.sqrt()
            }
        });
        Scaled {
            rows: n,
            inverse: inverse.collect(),
            mean,
        }
    }
}

/// How columns are brought to mean 0 and variance 1 by the rows that train.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    pub(super) rows: f64,
    pub(super) mean: Vec<f64>,
    /// 1 / standard deviation; 0 where a column is constant.
    pub(super) inverse: Vec<f64>,
}

/// Sums over the rows of a fold.
pub(super) struct Sums {
    /// Σ u and Σ u² of each column.
    pub(super) columns: Vec<f64>,
    pub(super) squares: Vec<f64>,
}

impl Sums {
    /// Of each fold.
    pub(super) fn of(rows: &Rows, driver: &Driver) -> Vec<Sums> {
        let d = rows.columns();
        let tasks = rows.tasks(|_| true);
        let empty = || Sums {
            columns: vec![0.0; d],
            squares: vec![0.0; d],
        };
        driver.fold(
            tasks.len(),
            |task| {
                let (mut own, mut tile) = (empty(), Vec::new());
                for places in Rows::tiles(&tasks[task]) {
                    rows.read(places, 0..d, &mut tile);
                    for row in tile.chunks_exact(d) {
                        own.columns.iter_mut().zip(row).for_each(|(s, u)| *s += u);
                        own.squares.iter_mut().zip(row).for_each(|(s, u)| *s += u * u);
                    }
                }
                (tasks[task].fold, own)
            },
            (0..rows.folds()).map(|_| empty()).collect(),
            |mut all: Vec<Sums>, (fold, own)| {
                let total = &mut all[fold as usize];
                total.columns.iter_mut().zip(own.columns).for_each(|(t, s)| *t += s);
                total.squares.iter_mut().zip(own.squares).for_each(|(t, s)| *t += s);
                all
            },
        )
    }
}

/// UᵀU of each fold: the lower triangle.
pub(super) fn grams(rows: &Rows, driver: &Driver) -> Vec<Mat<f64>> {
    let (d, folds) = (rows.columns(), rows.folds() as usize);
    let strips = d.div_ceil(STRIP);
    let parts = driver.map(folds * strips, |task| {
        let (fold, first) = ((task / strips) as u32, task % strips * STRIP);
        let width = STRIP.min(d - first);
        let mut sums = Mat::<f64>::zeros(d - first, width);
        let mut tile = Vec::new();
        for task in rows.tasks(|own| own == fold) {
            for places in Rows::tiles(&task) {
                rows.read(places.clone(), first..d, &mut tile);
                let left = MatRef::from_row_major_slice(&tile, places.len(), d - first);
                let right = left.subcols(0, width);
                matmul(sums.as_mut(), Accum::Add, left.transpose(), right, 1.0, Par::Seq);
            }
        }
        sums
    });
    let whole = |fold: usize| {
        let parts = &parts[fold * strips..(fold + 1) * strips];
        Mat::from_fn(d, d, |i, j| {
            let first = j / STRIP * STRIP;
            if i >= first {
                parts[j / STRIP][(i - first, j - first)]
            } else {
                0.0
            }
        })
    };
    (0..folds).map(whole).collect()
}

/// A Aᵀ of row-major A: the lower triangle.
pub(super) fn of_rows(values: &[f64], rows: usize, columns: usize) -> Mat<f64> {
    let mut out = Mat::zeros(rows, rows);
    let a = MatRef::from_row_major_slice(values, rows, columns);
    triangular(
        out.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        a,
        BlockStructure::Rectangular,
        a.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    out
}

/// rows · weights of row-major rows.
pub(super) fn times(values: &[f64], rows: usize, weights: &Mat<f64>) -> Vec<f64> {
    let mut out = vec![0.0; rows * weights.ncols()];
    let left = MatRef::from_row_major_slice(values, rows, weights.nrows());
    let product = MatMut::from_row_major_slice_mut(&mut out, rows, weights.ncols());
    matmul(product, Accum::Replace, left, weights.as_ref(), 1.0, Par::Seq);
    out
}
