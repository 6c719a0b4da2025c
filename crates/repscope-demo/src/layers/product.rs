// SPDX-License-Identifier: MIT
//! Matrix products in f32 on one thread: threads share the samples of a batch, not a product.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// out = left · right, or out += left · right.
pub(super) fn product(out: MatMut<f32>, accum: Accum, left: MatRef<f32>, right: MatRef<f32>) {
    matmul(out, accum, left, right, 1.0, Par::Seq);
}

/// Values as a matrix whose rows have this width.
pub(super) fn rows(values: &[f32], width: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, values.len() / width, width)
}

/// The same, to be written.
pub(super) fn rows_mut(values: &mut [f32], width: usize) -> MatMut<'_, f32> {
    let height = values.len() / width;
    MatMut::from_row_major_slice_mut(values, height, width)
}
