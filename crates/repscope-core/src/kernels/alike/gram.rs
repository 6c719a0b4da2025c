// SPDX-License-Identifier: MIT
//! The unbiased estimate of HSIC (Song et al. 2012) of two Gram matrices, and what it is without each row.
//!
//! With K̃ and L̃ the Gram matrices with zeros on their diagonals, r and s their row sums,
//!
//! HSIC₁ = [Σ K̃∘L̃ + Σr Σs / ((n−1)(n−2)) − 2 Σ r_i s_i / (n−2)] / (n (n−3)).
//!
//! It does not change where K̃_ij + a_i + a_j stands for K̃_ij, so leaving a row out needs no new centering. Of linear kernels
//! everything follows from XᵀY and a few products of vectors.

use faer::Mat;

use super::cross::{Centered, forms, squared_norm};
use crate::run::Driver;

/// Fewer rows leave nothing to average over when one is left out.
pub(crate) const FEWEST: usize = 6;

/// What the estimate is made of.
pub(crate) struct Sums {
    n: usize,
    /// Σ_ij K̃_ij L̃_ij.
    products: f64,
    /// Σ_j K̃_ij L̃_ij of each row.
    own: Vec<f64>,
    /// The row sums.
    left: Vec<f64>,
    right: Vec<f64>,
    /// L̃ r and K̃ s.
    of_left: Vec<f64>,
    of_right: Vec<f64>,
}

impl Sums {
    /// Of linear kernels, from the product of the centered rows: each row of a Gram matrix then adds up to zero.
    pub(crate) fn linear(x: &Centered, y: &Centered, product: &Mat<f64>, driver: &Driver) -> Self {
        let (k, l) = (&x.squares, &y.squares);
        let diagonal: Vec<f64> = k.iter().zip(l).map(|(k, l)| k * l).collect();
        let own = forms(x, y, product, driver);
        let of_left = y.along(&y.weighted(k, driver), driver);
        let of_right = x.along(&x.weighted(l, driver), driver);
        let less = |values: Vec<f64>, sign: f64| -> Vec<f64> {
            values.iter().zip(&diagonal).map(|(v, d)| sign * (v - d)).collect()
        };
        Sums {
            n: x.rows(),
            products: squared_norm(product) - diagonal.iter().sum::<f64>(),
            own: less(own, 1.0),
            left: k.iter().map(|k| -k).collect(),
            right: l.iter().map(|l| -l).collect(),
            of_left: less(of_left, -1.0),
            of_right: less(of_right, -1.0),
        }
    }

    /// Of two matrices whose rows add up to zero, diagonals being zero.
    pub(crate) fn of_doubly_centered(a: &[f64], b: &[f64], n: usize) -> Self {
        let rows = a.chunks_exact(n).zip(b.chunks_exact(n));
        let own: Vec<f64> = rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum()).collect();
        let zeros = vec![0.0; n];
        Sums {
            n,
            products: own.iter().sum(),
            own,
            left: zeros.clone(),
            right: zeros.clone(),
            of_left: zeros.clone(),
            of_right: zeros,
        }
    }

    /// The estimate.
    pub(crate) fn hsic(&self) -> f64 {
        let both = self.left.iter().zip(&self.right).map(|(r, s)| r * s).sum::<f64>();
        let sums = self.left.iter().sum::<f64>() * self.right.iter().sum::<f64>();
        estimate(self.n, self.products, sums, both)
    }

    /// The estimate without each row.
    fn without(&self) -> Vec<f64> {
        let (left, right) = (self.left.iter().sum::<f64>(), self.right.iter().sum::<f64>());
        let both = self.left.iter().zip(&self.right).map(|(r, s)| r * s).sum::<f64>();
        let of_row = |i: usize| {
            let (r, s, t) = (self.left[i], self.right[i], self.own[i]);
            let both = both - r * s - self.of_left[i] - self.of_right[i] + t;
            estimate(
                self.n - 1,
                self.products - 2.0 * t,
                (left - 2.0 * r) * (right - 2.0 * s),
                both,
            )
        };
        (0..self.n).map(of_row).collect()
    }

    /// How large the sum of squares is that the estimate of a matrix with itself leaves of all of them.
    fn is_nothing(&self) -> bool {
        let n = self.n as f64;
        self.hsic() * n * (n - 3.0) <= 1e-12 * self.products
    }
}

fn estimate(n: usize, products: f64, sums: f64, both: f64) -> f64 {
    let n = n as f64;
    (products + sums / ((n - 1.0) * (n - 2.0)) - 2.0 / (n - 2.0) * both) / (n * (n - 3.0))
}

/// Debiased CKA, and what it is without each row; none where one of the matrices has no structure at all.
pub(crate) fn cka(both: &Sums, a: &Sums, b: &Sums) -> Option<(f64, Vec<f64>)> {
    if a.is_nothing() || b.is_nothing() {
        return None;
    }
    let ratio = |(both, (a, b)): (f64, (f64, f64))| both / (a * b).sqrt();
    let without = a.without().into_iter().zip(b.without());
    let replicates: Vec<f64> = both.without().into_iter().zip(without).map(ratio).collect();
    Some((ratio((both.hsic(), (a.hsic(), b.hsic()))).clamp(-1.0, 1.0), replicates))
}

/// U-centers a symmetric matrix in place, with zeros on its diagonal: all its rows then add up to zero.
pub(crate) fn doubly_center(matrix: &mut [f64], n: usize) {
    (0..n).for_each(|i| matrix[i * n + i] = 0.0);
    let sums: Vec<f64> = matrix.chunks_exact(n).map(|row| row.iter().sum()).collect();
    let (rows, all) = (n as f64 - 2.0, sums.iter().sum::<f64>());
    let shift = all / ((n as f64 - 1.0) * rows);
    for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = if i == j {
                0.0
            } else {
                *x - (sums[i] + sums[j]) / rows + shift
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Space;
    use crate::kernels::alike::cross::product;
    use crate::random::stream;
    use crate::run::Order;
    use rand::RngExt;

    fn space(name: &str, rows: usize, columns: usize, seed: u64) -> Space {
        let mut rng = stream(seed, name, 0);
        let values = (0..rows * columns).map(|_| rng.random_range(-1.0..1.0) + 3.0).collect();
        Space::from_f64(name, rows, columns, values).unwrap()
    }

    fn linear(a: &Space, b: &Space) -> Option<(f64, Vec<f64>)> {
        let driver = Driver::silent(Order::Serial);
        let (x, y) = (Centered::new(a, &driver), Centered::new(b, &driver));
        let sums = |x: &Centered, y: &Centered| Sums::linear(x, y, &product(x, y, None, &driver), &driver);
        cka(&sums(&x, &y), &sums(&x, &x), &sums(&y, &y))
    }

    #[test]
    fn without_a_row_it_is_the_estimate_of_the_other_rows() {
        let (a, b) = (space("a", 12, 3, 1), space("b", 12, 5, 2));
        let (_, replicates) = linear(&a, &b).unwrap();
        for row in [0, 7, 11] {
            let others: Vec<usize> = (0..12).filter(|&i| i != row).collect();
            let (value, _) = linear(&a.select(&others).unwrap(), &b.select(&others).unwrap()).unwrap();
            assert!((replicates[row] - value).abs() < 1e-12, "{} {value}", replicates[row]);
        }
    }

    #[test]
    fn doubly_centered_matrices_give_what_products_of_columns_give() {
        let (a, b) = (space("a", 15, 4, 3), space("b", 15, 2, 4));
        let gram = |space: &Space| {
            let mut rows = vec![vec![0.0; space.columns()]; 15];
            rows.iter_mut().enumerate().for_each(|(i, row)| space.read_row(i, row));
            let dot = |p: usize| rows[p / 15].iter().zip(&rows[p % 15]).map(|(x, y)| x * y).sum();
            let mut matrix: Vec<f64> = (0..225).map(dot).collect();
            doubly_center(&mut matrix, 15);
            matrix
        };
        let (x, y) = (gram(&a), gram(&b));
        let sums = Sums::of_doubly_centered;
        let (value, replicates) = cka(&sums(&x, &y, 15), &sums(&x, &x, 15), &sums(&y, &y, 15)).unwrap();
        let (expected, others) = linear(&a, &b).unwrap();
        assert!((value - expected).abs() < 1e-12);
        assert!(replicates.iter().zip(&others).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn rows_that_are_all_equally_far_from_each_other_have_no_value() {
        let unit: Vec<f64> = (0..64).map(|p| f64::from(u8::from(p / 8 == p % 8))).collect();
        let unit = Space::from_f64("unit", 8, 8, unit).unwrap();
        assert!(linear(&unit, &space("b", 8, 3, 5)).is_none());
    }
}
