// SPDX-License-Identifier: MIT
//! Principal axes of two models and the correlations between them: what SVCCA, PWCCA and Procrustes are made of.
//!
//! With X = U Σ Vᵀ the canonical correlations of some principal components are the singular values of U_xᵀ U_y =
//! Σ_x⁻¹ V_xᵀ (XᵀY) V_y Σ_y⁻¹, so nothing beside XᵀX, YᵀY and XᵀY is needed.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, Par};

/// The principal axes of centered rows.
pub(crate) struct Axes {
    /// One per column, the longest first.
    vectors: Mat<f64>,
    /// The singular value of each; those that rounding could have made are left out.
    sizes: Vec<f64>,
}

impl Axes {
    /// From XᵀX of so many rows.
    pub(crate) fn of_scatter(scatter: &Mat<f64>, rows: usize) -> Self {
        let d = scatter.nrows();
        let (mut values, mut vectors) = (vec![0.0; d], Mat::zeros(d, d));
        let scratch = self_adjoint_evd_scratch::<f64>(d, ComputeEigenvectors::Yes, Par::Seq, Default::default());
        self_adjoint_evd(
            scatter.as_ref(),
            DiagMut::from_slice_mut(&mut values),
            Some(vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        )
        .expect("the eigenvalues of a finite symmetric matrix are found");
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        let largest = order.first().map_or(0.0, |&first| values[first].max(0.0));
        let floor = 8.0 * rows.max(d) as f64 * f64::EPSILON * largest;
        order.retain(|&axis| values[axis] > floor);
        Axes {
            sizes: order.iter().map(|&axis| values[axis].sqrt()).collect(),
            vectors: Mat::from_fn(d, order.len(), |i, j| vectors[(i, order[j])]),
        }
    }

    /// How many there are.
    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// How many of them hold this share of the variance.
    pub(crate) fn holding(&self, share: f64) -> usize {
        let total: f64 = self.sizes.iter().map(|s| s * s).sum();
        let mut sum = 0.0;
        let reached = self.sizes.iter().position(|s| {
            sum += s * s;
            // Rounding of the sum is not worth another axis.
            sum >= share * total * (1.0 - 1e-12)
        });
        reached.map_or(self.rank(), |last| last + 1)
    }

    /// The squared singular values.
    pub(crate) fn variances(&self) -> Vec<f64> {
        self.sizes.iter().map(|s| s * s).collect()
    }

    /// Another matrix in units of these axes: Σ⁻¹ Vᵀ M V Σ⁻¹.
    pub(crate) fn whiten(&self, matrix: &Mat<f64>) -> Mat<f64> {
        whitened([self, self], matrix, [self.rank(), self.rank()])
    }

    /// Σ^½ T^½ of two covariances, without the turns on its outside: it has the same singular values.
    pub(crate) fn root_product(&self, other: &Axes) -> Mat<f64> {
        let turned = self.vectors.transpose() * &other.vectors;
        Mat::from_fn(self.rank(), other.rank(), |i, j| {
            self.sizes[i] * turned[(i, j)] * other.sizes[j]
        })
    }

    /// Σ^−½ (Σ^½ T Σ^½)^½ Σ^−½ of two covariances: the map that carries a normal distribution with the first to one with the second.
    /// Directions in which the first has no variance stay behind.
    pub(crate) fn transport(&self, other: &Axes) -> Mat<f64> {
        let (rank, d) = (self.rank(), self.vectors.nrows());
        if rank == 0 || other.rank() == 0 {
            return Mat::zeros(d, d);
        }
        let product = self.root_product(other);
        let inner = &product * product.transpose();
        let root = Axes::of_scatter(&inner, d);
        // V Σ^−½ U, whose columns carry the roots of the eigenvalues.
        let scaled = Mat::from_fn(d, rank, |i, j| self.vectors[(i, j)] / self.sizes[j]);
        let carried = &scaled * &root.vectors;
        let weighted = Mat::from_fn(d, root.rank(), |i, j| carried[(i, j)] * root.sizes[j]);
        &weighted * carried.transpose()
    }

    /// Canonical correlations of the first axes of two models, largest first.
    pub(crate) fn correlations(&self, other: &Axes, product: &Mat<f64>, counts: [usize; 2]) -> Vec<f64> {
        let mut values = singular_values(&whitened([self, other], product, counts));
        values.iter_mut().for_each(|v| *v = v.min(1.0));
        values
    }

    /// The canonical correlations of all axes, weighted by how much of the columns of this model each canonical variable accounts
    /// for (Morcos et al. 2018).
    pub(crate) fn weighted_correlation(&self, other: &Axes, product: &Mat<f64>) -> f64 {
        let matrix = whitened([self, other], product, [self.rank(), other.rank()]);
        let (values, left) = with_left_vectors(&matrix);
        let columns = self.vectors.nrows();
        // ⟨h_i, x_j⟩ = (Pᵀ Σ Vᵀ)_ij.
        let weight = |variable: usize| -> f64 {
            let column = |j: usize| {
                let along = |axis: usize| left[(axis, variable)] * self.sizes[axis] * self.vectors[(j, axis)];
                (0..self.rank()).map(along).sum::<f64>().abs()
            };
            (0..columns).map(column).sum()
        };
        let weights: Vec<f64> = (0..values.len()).map(weight).collect();
        let total: f64 = weights.iter().sum();
        values.iter().zip(&weights).map(|(v, w)| v.min(1.0) * w / total).sum()
    }
}

/// U_xᵀ U_y of the first axes of each.
fn whitened([x, y]: [&Axes; 2], product: &Mat<f64>, [first, second]: [usize; 2]) -> Mat<f64> {
    let turned = x.vectors.as_ref().subcols(0, first).transpose() * product * y.vectors.as_ref().subcols(0, second);
    Mat::from_fn(first, second, |i, j| turned[(i, j)] / x.sizes[i] / y.sizes[j])
}

/// The singular values, largest first.
pub(crate) fn singular_values(matrix: &Mat<f64>) -> Vec<f64> {
    decompose(matrix, None)
}

fn with_left_vectors(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let rank = matrix.nrows().min(matrix.ncols());
    let mut left = Mat::zeros(matrix.nrows(), rank);
    let values = decompose(matrix, Some(&mut left));
    (values, left)
}

/// The singular values and, where wanted, the left singular vectors, in the order in which they are found: largest first.
fn decompose(matrix: &Mat<f64>, left: Option<&mut Mat<f64>>) -> Vec<f64> {
    let (n, d) = (matrix.nrows(), matrix.ncols());
    let mut values = vec![0.0; n.min(d)];
    let wanted = if left.is_some() {
        ComputeSvdVectors::Thin
    } else {
        ComputeSvdVectors::No
    };
    let scratch = svd_scratch::<f64>(n, d, wanted, ComputeSvdVectors::No, Par::Seq, Default::default());
    svd(
        matrix.as_ref(),
        DiagMut::from_slice_mut(&mut values),
        left.map(|left| left.as_mut()),
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .expect("the singular values of a finite matrix are found");
    values.iter_mut().for_each(|v| *v = v.max(0.0));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, seed: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| {
            (((i * 7919 + j * 104_729 + i * j * 31 + seed) % 17) as f64).sin()
        })
    }

    #[test]
    fn a_turned_copy_has_canonical_correlations_of_one() {
        let x = matrix(20, 3, 1);
        let turn = matrix(3, 3, 5);
        let y = &x * &turn;
        let axes = |z: &Mat<f64>| Axes::of_scatter(&(z.transpose() * z), 20);
        let product = x.transpose() * &y;
        let found = axes(&x).correlations(&axes(&y), &product, [3, 3]);
        assert!(found.iter().all(|v| (v - 1.0).abs() < 1e-9), "{found:?}");
        let weighted = axes(&x).weighted_correlation(&axes(&y), &product);
        assert!((weighted - 1.0).abs() < 1e-9);
    }

    #[test]
    fn axes_of_which_there_are_none_are_left_out() {
        let x = Mat::from_fn(10, 3, |i, j| if j < 2 { ((i + j * 3) % 4) as f64 - 1.5 } else { 0.0 });
        let axes = Axes::of_scatter(&(x.transpose() * &x), 10);
        assert_eq!((axes.rank(), axes.holding(1.0)), (2, 2));
        assert_eq!(axes.holding(0.01), 1);
    }
}
