// SPDX-License-Identifier: MIT
//! The rows as the search sees them: centered, scaled to a spread near 1, in single precision.

use std::ops::Range;
use std::sync::Arc;

use super::Search;
use super::line::fits_a_line;
use crate::blocks::{self, Elsewhere, SUPER_BLOCK};
use crate::data::Space;
use crate::error::Result;
use crate::kernels::moments::{TwoLevels, centered, rounding_floor, scaled_column_means};
use crate::run::Driver;

/// Fewest rows per task.
const ROWS: usize = 1024;

/// The packed rows of one task.
pub(crate) struct Chunk {
    /// Row after row.
    pub(super) values: Vec<f32>,
    /// ‖x‖² of each.
    pub(super) squared_lengths: Vec<f32>,
}

impl Chunk {
    pub(crate) fn bytes(&self) -> usize {
        size_of::<f32>() * (self.values.len() + self.squared_lengths.len())
    }

    pub(super) fn rows(&self) -> usize {
        self.squared_lengths.len()
    }
}

/// How rows are packed, and for how many clusters.
#[derive(Debug, Clone)]
pub(crate) struct Packing {
    pub(crate) k: usize,
    pub(crate) mean: Vec<f64>,
    pub(crate) unit: f64,
}

/// Where the rows are.
pub(super) enum Held<'a> {
    Here(&'a Space),
    /// One column that was brought here.
    Brought(Box<Space>),
    /// Packed alone: those that a worker kept.
    Packed,
    Elsewhere(&'a Elsewhere),
}

impl<'a> Search<'a> {
    pub(super) fn new(space: &'a Space, scale: Option<&'a [f64]>, k: usize, driver: &'a Driver<'a>) -> Result<Self> {
        let shape = (space.rows(), space.columns());
        let Some(matrix) = space.elsewhere() else {
            return Ok(Self::of_rows(Held::Here(space), shape, scale, k, driver));
        };
        if fits_a_line(shape.0, shape.1, k) {
            let brought = Box::new(blocks::fetch(matrix, space.name(), driver)?);
            return Ok(Self::of_rows(Held::Brought(brought), shape, None, k, driver));
        }
        let mean = blocks::clusters::mean(matrix, space.name(), driver)?;
        let mut search = Self::empty(Held::Elsewhere(matrix), shape, None, k, driver, mean);
        let totals = blocks::clusters::totals(&search, matrix)?;
        search.scale_to(&totals);
        Ok(search)
    }

    fn empty(
        held: Held<'a>,
        (n, d): (usize, usize),
        scale: Option<&'a [f64]>,
        k: usize,
        driver: &'a Driver<'a>,
        mean: Vec<f64>,
    ) -> Self {
        Search {
            held,
            scale,
            driver,
            n,
            k,
            d,
            // Each task returns k sums of rows: with at least 2k rows they take no more room than the packed rows.
            chunk: ROWS.max(2 * k),
            mean,
            total: 0.0,
            unit: 0.0,
            chunks: Arc::default(),
        }
    }

    fn of_rows(
        held: Held<'a>,
        shape: (usize, usize),
        scale: Option<&'a [f64]>,
        k: usize,
        driver: &'a Driver<'a>,
    ) -> Self {
        let mut search = Self::empty(held, shape, scale, k, driver, Vec::new());
        search.mean = search
            .space()
            .map_or(Vec::new(), |space| scaled_column_means(space, scale, driver));
        let totals = search.totals();
        search.scale_to(&totals);
        search.chunks = search.each_range(Self::pack).into();
        search
    }

    /// The rows of a block, packed as those of the whole: anew, or as they were kept.
    pub(crate) fn of_block(
        space: Option<&'a Space>,
        packing: &Packing,
        kept: Option<Arc<[Chunk]>>,
        driver: &'a Driver<'a>,
    ) -> Self {
        let rows = match (&kept, space) {
            (_, Some(space)) => space.rows(),
            (Some(chunks), None) => chunks.iter().map(Chunk::rows).sum(),
            (None, None) => 0,
        };
        let held = space.map_or(Held::Packed, Held::Here);
        let shape = (rows, packing.mean.len());
        let mut search = Self::empty(held, shape, None, packing.k, driver, packing.mean.clone());
        search.unit = packing.unit;
        search.chunks = kept.unwrap_or_else(|| search.each_range(Self::pack).into());
        search
    }

    /// The same search by other workers.
    pub(super) fn through<'b>(&self, matrix: &'b Elsewhere, driver: &'b Driver<'b>) -> Search<'b> {
        Search {
            total: self.total,
            unit: self.unit,
            ..Search::empty(
                Held::Elsewhere(matrix),
                (self.n, self.d),
                None,
                self.k,
                driver,
                self.mean.clone(),
            )
        }
    }

    pub(crate) fn packing(&self) -> Packing {
        Packing {
            k: self.k,
            mean: self.mean.clone(),
            unit: self.unit,
        }
    }

    pub(crate) fn driver(&self) -> &'a Driver<'a> {
        self.driver
    }

    pub(crate) fn columns(&self) -> usize {
        self.d
    }

    pub(crate) fn chunks(&self) -> &Arc<[Chunk]> {
        &self.chunks
    }

    pub(super) fn elsewhere(&self) -> Option<&'a Elsewhere> {
        match self.held {
            Held::Elsewhere(matrix) => Some(matrix),
            _ => None,
        }
    }

    fn space(&self) -> Option<&Space> {
        match &self.held {
            Held::Here(space) => Some(space),
            Held::Brought(space) => Some(space),
            Held::Packed | Held::Elsewhere(_) => None,
        }
    }

    /// Squared distances to the mean, added up over each chunk.
    pub(crate) fn totals(&self) -> Vec<f64> {
        self.each_range(|search, rows| {
            let mut row = vec![0.0; search.d];
            let mut total = 0.0;
            for i in rows {
                search.read(i, &mut row);
                total += row.iter().map(|x| x * x).sum::<f64>();
            }
            total
        })
    }

    fn scale_to(&mut self, totals: &[f64]) {
        self.total = totals.iter().sum();
        if self.total <= rounding_floor(self.n, &self.mean) {
            self.total = 0.0;
        } else {
            let spread = (self.total / (self.n as f64 * self.d as f64)).sqrt();
            self.unit = 2f64.powi(-spread.log2().round() as i32);
        }
    }

    /// Chunks of a block: sums are added up over the chunks of each, then over blocks, so that blocks may be elsewhere.
    pub(crate) fn chunks_of_block(&self) -> usize {
        SUPER_BLOCK.div_ceil(self.chunk)
    }

    /// The rows of each block.
    pub(crate) fn blocks(&self) -> Vec<Range<usize>> {
        let rows = self.chunks_of_block() * self.chunk;
        (0..self.n.div_ceil(rows))
            .map(|b| b * rows..self.n.min((b + 1) * rows))
            .collect()
    }

    /// Adds up what chunks give: within blocks, then over them.
    pub(super) fn in_two_levels(&self, size: usize, parts: impl IntoIterator<Item = Vec<f64>>) -> Vec<f64> {
        let mut total = TwoLevels::new(size);
        for (chunk, part) in parts.into_iter().enumerate() {
            if chunk > 0 && chunk % self.chunks_of_block() == 0 {
                total.settle();
            }
            total.add(&part);
        }
        total.finish()
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
        let n = self.n;
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
        let space = self.space().expect("the rows themselves are read where they are");
        centered(space, self.scale, &self.mean, i..i + 1, 0..self.d, out);
    }

    /// The row `i` as it is.
    pub(super) fn read_as_it_is(&self, i: usize, out: &mut [f64]) {
        let space = self.space().expect("the rows themselves are read where they are");
        space.read_row(i, out);
    }

    pub(super) fn squared_length(&self, i: usize) -> f32 {
        self.chunks[i / self.chunk].squared_lengths[i % self.chunk]
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
