// SPDX-License-Identifier: MIT
//! Principal axes of a sample of rows: directions in the order of their variance.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

use crate::passes::prepared::Prepared;

/// Orthonormal directions.
pub(super) struct Axes {
    /// D × `width`, row by row.
    values: Vec<f64>,
    pub(super) columns: usize,
    /// How many.
    pub(super) width: usize,
    /// ‖QᵀQ − 1‖.
    pub(super) skew: f64,
}

impl Axes {
    /// The first `width` axes of some rows, by subspace iteration.
    pub(super) fn of_sample(prepared: &Prepared, rows: &[u32], width: usize) -> Axes {
        let d = prepared.columns();
        let mut row = vec![0.0; d];
        let mut sample = Mat::<f64>::zeros(rows.len(), d);
        for (place, &i) in rows.iter().enumerate() {
            prepared.read(i as usize, &mut row);
            row.iter().enumerate().for_each(|(k, x)| sample[(place, k)] = *x);
        }
        let mut axes = sample.subrows(0, width).transpose().to_owned();
        for _ in 0..2 {
            axes = (sample.transpose() * (&sample * &axes)).qr().compute_thin_Q();
        }
        let scores = &sample * &axes;
        if let Ok(found) = (scores.transpose() * &scores).self_adjoint_eigen(Side::Lower) {
            // Ascending: the last is the largest.
            axes = (&axes * found.U()).reverse_cols().to_owned();
        }
        let product = axes.transpose() * &axes;
        let skew = (0..width).flat_map(|a| (0..width).map(move |b| (a, b)));
        let skew = skew.map(|(a, b)| (product[(a, b)] - f64::from(u8::from(a == b))).powi(2));
        Axes {
            values: (0..d)
                .flat_map(|k| (0..width).map(move |a| (k, a)))
                .map(|at| axes[at])
                .collect(),
            columns: d,
            width,
            skew: skew.sum::<f64>().sqrt(),
        }
    }

    /// The coordinates of some rows along the axes, row by row.
    pub(super) fn turn(&self, rows: &[f64]) -> Vec<f64> {
        let count = rows.len() / self.columns;
        let mut turned = vec![0.0; count * self.width];
        matmul(
            MatMut::from_row_major_slice_mut(&mut turned, count, self.width),
            Accum::Replace,
            MatRef::from_row_major_slice(rows, count, self.columns),
            MatRef::from_row_major_slice(&self.values, self.columns, self.width),
            1.0,
            Par::Seq,
        );
        turned
    }

    /// Only the first so many.
    pub(super) fn truncate(&mut self, width: usize) {
        let axes = self.values.chunks_exact(self.width).flat_map(|axes| &axes[..width]);
        self.values = axes.copied().collect();
        self.width = width;
    }
}
