// SPDX-License-Identifier: MIT
//! The scatter matrix block by block: for few columns, and for the Gram matrix of few rows.
//!
//! Only the lower triangle is computed; each task holds one block, so beside the result there are never more than a few
//! blocks in memory.

use std::ops::Range;

use faer::linalg::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use super::Side;
use crate::data::Space;
use crate::kernels::moments::{add, centered};
use crate::run::Driver;

/// Products per task that are summed into one entry of a block.
const TERMS: usize = 4096;
/// Products summed by one call of the matrix product: keeps the centered copies in the cache.
const STRIP: usize = 256;
/// Largest side of a block of the result.
const BLOCK: usize = 512;

pub(super) fn scatter(space: &Space, mean: &[f64], side: Side, driver: &Driver) -> Vec<f64> {
    let (size, terms) = match side {
        Side::Columns => (space.columns(), space.rows()),
        Side::Rows => (space.rows(), space.columns()),
    };
    let block = size.div_ceil(size.div_ceil(BLOCK));
    let blocks = size.div_ceil(block);
    let pairs: Vec<(usize, usize)> = (0..blocks).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
    let span = |b: usize| b * block..size.min((b + 1) * block);

    let mut scatter = driver.fold(
        terms.div_ceil(TERMS) * pairs.len(),
        |task| {
            let (a, b) = pairs[task % pairs.len()];
            let first = task / pairs.len() * TERMS;
            let part = first..terms.min(first + TERMS);
            (a, b, products(space, mean, side, span(a), span(b), part))
        },
        vec![0.0; size * size],
        |mut scatter, (a, b, products)| {
            for (i, row) in span(a).zip(products.chunks_exact(span(b).len())) {
                add(&mut scatter[i * size..][span(b)], row);
            }
            scatter
        },
    );
    for i in 0..size {
        for j in 0..i {
            scatter[j * size + i] = scatter[i * size + j];
        }
    }
    scatter
}

/// The block (`a`, `b`) of the scatter matrix, summed over the terms of one task.
fn products(
    space: &Space,
    mean: &[f64],
    side: Side,
    a: Range<usize>,
    b: Range<usize>,
    terms: Range<usize>,
) -> Vec<f64> {
    let mut block = vec![0.0; a.len() * b.len()];
    let mut left = vec![0.0; a.len() * STRIP];
    let mut right = vec![0.0; if a == b { 0 } else { b.len() * STRIP }];
    for first in terms.clone().step_by(STRIP) {
        let strip = first..terms.end.min(first + STRIP);
        let out = MatMut::from_row_major_slice_mut(&mut block, a.len(), b.len());
        let left = factor(space, mean, side, a.clone(), strip.clone(), &mut left);
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
            let right = factor(space, mean, side, b.clone(), strip, &mut right);
            matmul::matmul(out, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
        }
    }
    block
}

/// The centered numbers of one side of a block: one row per index of the scatter matrix, one column per term.
fn factor<'a>(
    space: &Space,
    mean: &[f64],
    side: Side,
    span: Range<usize>,
    terms: Range<usize>,
    out: &'a mut [f64],
) -> MatRef<'a, f64> {
    let out = &mut out[..span.len() * terms.len()];
    match side {
        Side::Columns => {
            centered(space, None, mean, terms.clone(), span.clone(), out);
            MatRef::from_row_major_slice(out, terms.len(), span.len()).transpose()
        }
        Side::Rows => {
            centered(space, None, mean, span.clone(), terms.clone(), out);
            MatRef::from_row_major_slice(out, span.len(), terms.len())
        }
    }
}
