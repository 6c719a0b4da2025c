// SPDX-License-Identifier: MIT
//! The rows as the search sees them: centered, scaled to a spread near 1, in single precision.

use std::ops::Range;

use super::Search;
use crate::data::Space;
use crate::kernels::moments::{centered, rounding_floor, scaled_column_means};
use crate::run::Driver;

/// Fewest rows per task.
const ROWS: usize = 1024;

/// The packed rows of one task.
pub(super) struct Chunk {
    /// Row after row.
    pub(super) values: Vec<f32>,
    /// ‖x‖² of each.
    pub(super) squared_lengths: Vec<f32>,
}

impl Chunk {
    pub(super) fn rows(&self) -> usize {
        self.squared_lengths.len()
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(space: &'a Space, scale: Option<&'a [f64]>, k: usize, driver: &'a Driver<'a>) -> Self {
        let (n, d) = (space.rows(), space.columns());
        let mut search = Search {
            space,
            scale,
            driver,
            k,
            d,
            // Each task returns k sums of rows: with at least 2k rows they take no more room than the packed rows.
            chunk: ROWS.max(2 * k),
            mean: scaled_column_means(space, scale, driver),
            total: 0.0,
            unit: 0.0,
            chunks: Vec::new(),
        };
        let totals = search.each_range(|search, rows| {
            let mut row = vec![0.0; d];
            let mut total = 0.0;
            for i in rows {
                search.read(i, &mut row);
                total += row.iter().map(|x| x * x).sum::<f64>();
            }
            total
        });
        search.total = totals.iter().sum();
        if search.total <= rounding_floor(n, &search.mean) {
            search.total = 0.0;
        } else {
            let spread = (search.total / (n as f64 * d as f64)).sqrt();
            search.unit = 2f64.powi(-spread.log2().round() as i32);
        }
        search.chunks = search.each_range(Self::pack);
        search
    }

    fn pack(&self, rows: Range<usize>) -> Chunk {
        let mut row = vec![0.0; self.d];
        let mut chunk = Chunk {
            values: Vec::with_capacity(rows.len() * self.d),
            squared_lengths: Vec::with_capacity(rows.len()),
        };
        for i in rows {
            self.read(i, &mut row);
            row.iter_mut().for_each(|x| *x *= self.unit);
            chunk.values.extend(row.iter().map(|x| *x as f32));
            let squared: f64 = row.iter().map(|x| x * x).sum();
            chunk.squared_lengths.push(squared as f32);
        }
        chunk
    }

    /// Runs a task for each range of rows.
    pub(super) fn each_range<T: Send>(&self, run: impl Fn(&Self, Range<usize>) -> T + Sync) -> Vec<T> {
        let n = self.space.rows();
        self.driver.map(n.div_ceil(self.chunk), |task| {
            let first = task * self.chunk;
            run(self, first..n.min(first + self.chunk))
        })
    }

    /// Runs a task for each chunk, with its number.
    pub(super) fn each_chunk<T: Send>(&self, run: impl Fn(usize, &Chunk) -> T + Sync) -> Vec<T> {
        self.driver.map(self.chunks.len(), |task| run(task, &self.chunks[task]))
    }

    /// The centered row `i` in double precision.
    pub(super) fn read(&self, i: usize, out: &mut [f64]) {
        centered(self.space, self.scale, &self.mean, i..i + 1, 0..self.d, out);
    }

    pub(super) fn packed_row(&self, i: usize) -> &[f32] {
        let at = i % self.chunk * self.d;
        &self.chunks[i / self.chunk].values[at..at + self.d]
    }
}

/// ‖x − y‖² by differences, so that it is 0 for equal rows; in 16 running sums, for vector instructions.
#[inline(always)]
pub(super) fn squared_distance(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (x, x_rest) = x.as_chunks::<16>();
    let (y, y_rest) = y.as_chunks::<16>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..16 {
            let difference = x[lane] - y[lane];
            sums[lane] += difference * difference;
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| (x - y) * (x - y)).sum();
    sums.iter().sum::<f32>() + rest
}
