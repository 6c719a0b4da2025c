// SPDX-License-Identifier: MIT
//! The Fréchet distance of the normal distributions with the means and covariances of two sets.
//!
//! F = ‖μ − ν‖² + tr Σ + tr T − 2 tr (Σ T)^½, where tr (Σ T)^½ is the sum of the singular values of Σ^½ T^½. Its derivative by Σ is
//! I − A with A = Σ^−½ (Σ^½ T Σ^½)^½ Σ^−½, the map that carries one distribution to the other, so a row x does
//! 2 (μ − ν)·(x − μ) + (x − μ)ᵀ (I − A) (x − μ), less the mean of that.
//!
//! Covariances come from sums of the rows of the pool less its mean. Those of the reference are what is left of all, so other marks
//! cost one product of the new rows.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::Pool;
use super::relabel::Exchange;
use crate::data::Space;
use crate::kernels::alike::axes::{Axes, singular_values};
use crate::run::{Driver, Order};
use crate::spec::FEWEST_PERMUTATIONS;

/// Rows that are multiplied at a time.
const ROWS: usize = 512;
/// The work of all draws, in multiplications: about ten seconds of a core.
const WORK: f64 = 2e11;

/// Both sets as one pool, less its mean.
pub(crate) struct Rows<'a> {
    new: &'a Space,
    old: &'a Space,
    mean: Vec<f64>,
}

/// Sums of rows and of their products.
#[derive(Clone)]
pub(crate) struct Moments {
    rows: f64,
    sums: Vec<f64>,
    products: Mat<f64>,
}

impl Moments {
    fn mean(&self, column: usize) -> f64 {
        self.sums[column] / self.rows
    }

    /// With N − 1 below the sum, as `numpy.cov` has it.
    fn covariance(&self) -> Mat<f64> {
        let d = self.sums.len();
        let entry = |i, j| self.products[(i, j)] - self.sums[i] * self.mean(j);
        Mat::from_fn(d, d, |i, j| entry(i, j) / (self.rows - 1.0))
    }

    fn without(&self, part: &Moments) -> Moments {
        Moments {
            rows: self.rows - part.rows,
            sums: self.sums.iter().zip(&part.sums).map(|(all, own)| all - own).collect(),
            products: &self.products - &part.products,
        }
    }
}

/// A distance, and what it is made of.
pub(crate) struct Frechet {
    pub(crate) value: f64,
    /// ‖μ − ν‖².
    pub(crate) of_means: f64,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(new: &'a Space, old: &'a Space) -> Self {
        let mut rows = Rows {
            new,
            old,
            mean: vec![0.0; new.columns()],
        };
        let (mut row, mut mean) = (vec![0.0; new.columns()], vec![0.0; new.columns()]);
        let count = rows.count() as f64;
        for i in 0..rows.count() {
            rows.read(i, &mut row);
            mean.iter_mut().zip(&row).for_each(|(m, x)| *m += x / count);
        }
        rows.mean = mean;
        rows
    }

    fn count(&self) -> usize {
        self.new.rows() + self.old.rows()
    }

    /// A row of the pool less the mean.
    fn read(&self, i: usize, out: &mut [f64]) {
        match i.checked_sub(self.new.rows()) {
            None => self.new.read_row(i, out),
            Some(row) => self.old.read_row(row, out),
        }
        out.iter_mut().zip(&self.mean).for_each(|(x, m)| *x -= m);
    }

    /// The moments of the rows with these numbers.
    fn moments(&self, rows: &[u32], driver: &Driver) -> Moments {
        let d = self.mean.len();
        let none = || Moments {
            rows: rows.len() as f64,
            sums: vec![0.0; d],
            products: Mat::zeros(d, d),
        };
        let task = |task: usize| {
            let rows = &rows[task * ROWS..rows.len().min((task + 1) * ROWS)];
            let mut values = vec![0.0; rows.len() * d];
            let mut part = none();
            for (&row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
                self.read(row as usize, out);
                part.sums.iter_mut().zip(&*out).for_each(|(sum, x)| *sum += x);
            }
            let rows = MatRef::from_row_major_slice(&values, rows.len(), d);
            matmul(
                part.products.as_mut(),
                Accum::Replace,
                rows.transpose(),
                rows,
                1.0,
                Par::Seq,
            );
            part
        };
        driver.fold(rows.len().div_ceil(ROWS), task, none(), |mut all, part| {
            all.sums.iter_mut().zip(part.sums).for_each(|(sum, x)| *sum += x);
            all.products += part.products;
            all
        })
    }

    /// The moments of the new rows and of the others.
    pub(crate) fn of_sets(&self, driver: &Driver) -> [Moments; 2] {
        let first = self.new.rows() as u32;
        [(0..first), (first..self.count() as u32)].map(|rows| self.moments(&rows.collect::<Vec<u32>>(), driver))
    }

    /// The distance under other marks. How often, is less where rows and columns are many.
    pub(crate) fn draws(
        &self,
        [new, old]: &[Moments; 2],
        exchange: &Exchange,
        (seed, name): (u64, &str),
        count: usize,
        driver: &Driver,
    ) -> Vec<f64> {
        let mut all = new.clone();
        all.rows += old.rows;
        all.sums.iter_mut().zip(&old.sums).for_each(|(sum, x)| *sum += x);
        all.products += &old.products;
        let serial = Driver::silent(Order::Serial);
        let drawn = driver.map(self.affordable(count), |number| {
            let marks = exchange.draw(seed, name, number);
            let size = marks.iter().filter(|is_new| **is_new).count();
            // The smaller set is summed.
            let is_summed = 2 * size <= marks.len();
            let chosen: Vec<u32> = (0u32..)
                .zip(&marks)
                .filter(|m| *m.1 == is_summed)
                .map(|m| m.0)
                .collect();
            (size >= 2 && marks.len() - size >= 2).then(|| {
                let part = self.moments(&chosen, &serial);
                distance(&part, &all.without(&part)).value
            })
        });
        drawn.into_iter().flatten().collect()
    }

    /// So many draws of those wanted.
    pub(crate) fn affordable(&self, count: usize) -> usize {
        let d = self.mean.len() as f64;
        let smaller = self.new.rows().min(self.old.rows()) as f64;
        let each = smaller * d * d + 30.0 * d.powi(3) + 1000.0;
        count.min(((WORK / each) as usize).max(FEWEST_PERMUTATIONS))
    }

    /// What each row of the pool does to the distance.
    pub(crate) fn effects(&self, moments: &[Moments; 2], pool: &Pool, driver: &Driver) -> Vec<f64> {
        let d = self.mean.len();
        let [first, second] = moments;
        let [sigma, tau] = [first, second].map(|own| Axes::of_scatter(&own.covariance(), own.rows as usize));
        let maps = [sigma.transport(&tau), tau.transport(&sigma)];
        let effect_of = |set: usize| {
            let (own, other) = (&moments[set], &moments[1 - set]);
            let shift: Vec<f64> = (0..d).map(|j| own.mean(j) - other.mean(j)).collect();
            let rows = if set == 0 { 0..pool.new } else { pool.new..self.count() };
            let start = rows.start;
            let parts = driver.blocks(rows.len(), ROWS, |block| {
                let (mut row, count) = (vec![0.0; d], block.len());
                let mut values = vec![0.0; count * d];
                for (i, out) in block.zip(values.chunks_exact_mut(d)) {
                    self.read(start + i, &mut row);
                    out.iter_mut().enumerate().for_each(|(j, x)| *x = row[j] - own.mean(j));
                }
                let centered = MatRef::from_row_major_slice(&values, count, d);
                let moved = centered * &maps[set];
                let of_row = |i: usize| {
                    let x = &values[i * d..(i + 1) * d];
                    let along: f64 = x.iter().zip(&shift).map(|(x, s)| x * s).sum();
                    let form: f64 = (0..d).map(|j| x[j] * (x[j] - moved[(i, j)])).sum();
                    2.0 * along + form
                };
                (0..count).map(of_row).collect::<Vec<f64>>()
            });
            let values = parts.concat();
            let mean = values.iter().sum::<f64>() / own.rows;
            values
                .into_iter()
                .map(move |value| (value - mean) / own.rows)
                .collect::<Vec<f64>>()
        };
        [effect_of(0), effect_of(1)].concat()
    }
}

/// The distance of two sets.
pub(crate) fn distance(first: &Moments, second: &Moments) -> Frechet {
    let d = first.sums.len();
    let of_means = (0..d).map(|j| (first.mean(j) - second.mean(j)).powi(2)).sum::<f64>();
    let [sigma, tau] = [first, second].map(Moments::covariance);
    let trace = |matrix: &Mat<f64>| (0..d).map(|j| matrix[(j, j)]).sum::<f64>();
    let traces = trace(&sigma) + trace(&tau);
    let [a, b] = [(first, &sigma), (second, &tau)].map(|(own, matrix)| Axes::of_scatter(matrix, own.rows as usize));
    let common = if a.rank() == 0 || b.rank() == 0 {
        0.0
    } else {
        singular_values(&a.root_product(&b)).iter().sum::<f64>()
    };
    Frechet {
        value: (of_means + traces - 2.0 * common).max(0.0),
        of_means,
    }
}
