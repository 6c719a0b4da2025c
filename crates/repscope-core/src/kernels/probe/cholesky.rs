// SPDX-License-Identifier: MIT
//! Solving with a symmetric matrix whose diagonal is raised.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par};

/// The Cholesky factor of A + αI.
pub(super) struct Factor(Mat<f64>);

impl Factor {
    /// Of the lower triangle of A; none where rounding leaves the matrix without a factor.
    pub(super) fn new(matrix: &Mat<f64>, raised: f64) -> Option<Self> {
        let size = matrix.nrows();
        let mut factor = matrix.clone();
        (0..size).for_each(|i| factor[(i, i)] += raised);
        let scratch = cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
        cholesky_in_place(
            factor.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        )
        .ok()?;
        Some(Factor(factor))
    }

    /// (A + αI)⁻¹ B.
    pub(super) fn solve(&self, right: &Mat<f64>) -> Mat<f64> {
        let mut solved = right.clone();
        solve_lower_triangular_in_place(self.0.as_ref(), solved.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.0.transpose(), solved.as_mut(), Par::Seq);
        solved
    }
}
