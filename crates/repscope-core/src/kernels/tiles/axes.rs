// SPDX-License-Identifier: MIT
//! Principal axes of a sample of rows: directions in the order of their variance.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

use crate::kernels::prepared::Prepared;
use crate::run::Driver;

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

/// Rows of the sample per task.
const ROWS: usize = 256;

impl Axes {
    /// The first `width` axes of some rows, by subspace iteration.
    pub(super) fn of_sample(prepared: &Prepared, rows: &[u32], width: usize, driver: &Driver) -> Axes {
        let d = prepared.columns();
        let mut row = vec![0.0; d];
        let mut axes = Mat::<f64>::zeros(d, width);
        for (a, &i) in rows[..width].iter().enumerate() {
            prepared.read(i as usize, &mut row);
            row.iter().enumerate().for_each(|(k, x)| axes[(k, a)] = *x);
        }
        for _ in 0..2 {
            axes = orthonormal(scattered(prepared, rows, &axes, driver));
        }
        let variance = product(axes.transpose(), scattered(prepared, rows, &axes, driver).as_ref());
        if let Some(turned) = eigenvectors(&variance) {
            axes = product(axes.as_ref(), turned.as_ref());
        }
        let square = product(axes.transpose(), axes.as_ref());
        let skew = (0..width).flat_map(|a| (0..width).map(move |b| (a, b)));
        let skew = skew.map(|(a, b)| (square[(a, b)] - f64::from(u8::from(a == b))).powi(2));
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

    /// All of this as numbers: the axes, then their skew.
    pub(super) fn numbers(&self) -> Vec<f64> {
        self.values.iter().copied().chain([self.skew]).collect()
    }

    /// From such numbers, if there are as many as axes of so many columns have.
    pub(super) fn of_numbers(mut values: Vec<f64>, columns: usize) -> Option<Axes> {
        let skew = values.pop()?;
        (columns > 0 && values.len().is_multiple_of(columns)).then(|| Axes {
            width: values.len() / columns,
            values,
            columns,
            skew,
        })
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

fn product(a: MatRef<f64>, b: MatRef<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// XᵀX·axes, X some rows.
fn scattered(prepared: &Prepared, rows: &[u32], axes: &Mat<f64>, driver: &Driver) -> Mat<f64> {
    let d = prepared.columns();
    driver.fold(
        rows.len().div_ceil(ROWS),
        |task| {
            let members = &rows[task * ROWS..rows.len().min((task + 1) * ROWS)];
            let mut values = vec![0.0; members.len() * d];
            let places = members.iter().zip(values.chunks_exact_mut(d));
            places.for_each(|(&i, row)| prepared.read(i as usize, row));
            let some = MatRef::from_row_major_slice(&values, members.len(), d);
            product(some.transpose(), product(some, axes.as_ref()).as_ref())
        },
        Mat::zeros(d, axes.ncols()),
        |sum, part| sum + part,
    )
}

/// An orthonormal basis of what the columns span, by Householder's reflections.
fn orthonormal(mut columns: Mat<f64>) -> Mat<f64> {
    let (d, width) = (columns.nrows(), columns.ncols());
    let block = recommended_block_size::<f64>(d, width);
    let mut factors = Mat::zeros(block, width);
    let scratch = qr_in_place_scratch::<f64>(d, width, block, Par::Seq, Default::default());
    qr_in_place(
        columns.as_mut(),
        factors.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    let mut basis = Mat::from_fn(d, width, |i, j| f64::from(u8::from(i == j)));
    let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(d, block, width);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        columns.as_ref(),
        factors.as_ref(),
        Conj::No,
        basis.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
    );
    basis
}

/// The eigenvectors of a symmetric matrix, that of the largest eigenvalue first.
fn eigenvectors(matrix: &Mat<f64>) -> Option<Mat<f64>> {
    let size = matrix.nrows();
    let (mut values, mut vectors) = (vec![0.0; size], Mat::zeros(size, size));
    let scratch = self_adjoint_evd_scratch::<f64>(size, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let found = self_adjoint_evd(
        matrix.as_ref(),
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    // Ascending: the last is the largest.
    found.ok().map(|()| vectors.reverse_cols().to_owned())
}
