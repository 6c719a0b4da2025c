// SPDX-License-Identifier: MIT
//! The squared distances of all rows to a few of them, by one matrix product per strip of rows.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;

use super::Search;
use super::rows::{Chunk, squared_distance};
use super::scorer::STRIP;

/// Below this share of ‖x‖² + ‖y‖² rounding is seen in ‖x‖² + ‖y‖² − 2 x·y, and differences are taken instead.
const NEAR: f32 = 1e-3;

/// Rows that the others are compared with.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    d: usize,
    values: Vec<f32>,
    squared_lengths: Vec<f32>,
}

impl Candidates {
    pub(super) fn new(search: &Search, rows: impl Iterator<Item = usize>) -> Self {
        let mut found = Candidates::of_parts(search.d, Vec::new(), Vec::new());
        for i in rows {
            found.values.extend(search.packed_row(i));
            found.squared_lengths.push(search.squared_length(i));
        }
        found
    }

    pub(crate) fn of_parts(d: usize, values: Vec<f32>, squared_lengths: Vec<f32>) -> Self {
        Candidates {
            d,
            values,
            squared_lengths,
        }
    }

    /// The packed rows, and ‖x‖² of each.
    pub(crate) fn parts(&self) -> (&[f32], &[f32]) {
        (&self.values, &self.squared_lengths)
    }

    pub(crate) fn count(&self) -> usize {
        self.squared_lengths.len()
    }

    /// The squared distances of all rows of a chunk to each candidate, with room for their sum.
    pub(super) fn distances(&self, chunk: &Chunk) -> Vec<(Vec<f32>, f64)> {
        let (d, m) = (self.d, self.squared_lengths.len());
        let mut found = vec![(Vec::with_capacity(chunk.rows()), 0.0); m];
        let mut products = Vec::new();
        let strips = chunk.values.chunks(STRIP * d).zip(chunk.squared_lengths.chunks(STRIP));
        for (values, squared_lengths) in strips {
            let count = squared_lengths.len();
            products.resize(count * m, 0.0);
            matmul(
                MatMut::from_column_major_slice_mut(&mut products, count, m),
                Accum::Replace,
                MatRef::from_row_major_slice(values, count, d),
                MatRef::from_row_major_slice(&self.values, m, d).transpose(),
                1.0f32,
                Par::Seq,
            );
            let columns = products.chunks_exact_mut(count).zip(&self.squared_lengths);
            for ((c, (products, own)), found) in columns.enumerate().zip(&mut found) {
                let center = &self.values[c * d..(c + 1) * d];
                Arch::new().dispatch(|| to_distances(products, squared_lengths, *own, values, center));
                found.0.extend_from_slice(products);
            }
        }
        found
    }
}

/// Replaces products x·y by ‖x − y‖².
#[inline(always)]
fn to_distances(products: &mut [f32], squared_lengths: &[f32], own: f32, rows: &[f32], center: &[f32]) {
    let mut near = 0u32;
    for (product, squared) in products.iter_mut().zip(squared_lengths) {
        let both = squared + own;
        *product = both - 2.0 * *product;
        near |= u32::from(*product <= NEAR * both);
    }
    if near == 0 {
        return;
    }
    let rows = rows.chunks_exact(center.len());
    for ((distance, squared), row) in products.iter_mut().zip(squared_lengths).zip(rows) {
        if *distance <= NEAR * (squared + own) {
            *distance = squared_distance(row, center);
        }
    }
}
