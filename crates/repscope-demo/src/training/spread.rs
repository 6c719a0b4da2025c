// SPDX-License-Identifier: MIT
//! What keeps embeddings apart: the variance and covariance terms of VICReg (Bardes, Ponce and LeCun 2022).
//!
//! ```text
//! variance   = 1/D Σ_j max(0, 1 − √(var_j + 1e-4))
//! covariance = 1/D Σ_{i≠j} cov_ij²
//! ```

/// VICReg weighs variance, invariance and covariance 25 : 25 : 1; here the prediction, which stands for the invariance,
/// has the weight 1.
const VARIANCE: f64 = 1.0;
const COVARIANCE: f64 = 0.04;

/// Both terms with their weights, and their slopes, which are added to `slopes`.
pub(super) fn spread(embeddings: &[f32], width: usize, slopes: &mut [f32]) -> f64 {
    let count = embeddings.len() / width;
    let freedom = (count - 1) as f64;
    let mut means = vec![0.0; width];
    for row in embeddings.chunks_exact(width) {
        means
            .iter_mut()
            .zip(row)
            .for_each(|(mean, z)| *mean += f64::from(*z) / count as f64);
    }
    let centered: Vec<Vec<f64>> = embeddings
        .chunks_exact(width)
        .map(|row| row.iter().zip(&means).map(|(z, mean)| f64::from(*z) - mean).collect())
        .collect();
    let mut covariance = vec![vec![0.0; width]; width];
    for row in &centered {
        for (left, sums) in row.iter().zip(&mut covariance) {
            sums.iter_mut()
                .zip(row)
                .for_each(|(sum, right)| *sum += left * right / freedom);
        }
    }
    // The slope of an embedding is that of the terms by the covariances, times the centered embeddings.
    let mut by_covariance = vec![vec![0.0; width]; width];
    let mut loss = 0.0;
    for i in 0..width {
        let deviation = (covariance[i][i] + 1e-4).sqrt();
        if deviation < 1.0 {
            loss += VARIANCE * (1.0 - deviation) / width as f64;
            by_covariance[i][i] = -VARIANCE / (width as f64 * deviation * freedom);
        }
        for j in (0..width).filter(|&j| j != i) {
            loss += COVARIANCE * covariance[i][j].powi(2) / width as f64;
            by_covariance[i][j] = 4.0 * COVARIANCE * covariance[i][j] / (width as f64 * freedom);
        }
    }
    for (row, slopes) in centered.iter().zip(slopes.chunks_exact_mut(width)) {
        for (slope, factors) in slopes.iter_mut().zip(&by_covariance) {
            *slope += factors.iter().zip(row).map(|(factor, z)| factor * z).sum::<f64>() as f32;
        }
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::slopes::numbers;

    #[test]
    fn equal_embeddings_cost_almost_one_and_spread_embeddings_nothing() {
        let mut slopes = [0.0; 8];
        assert!((spread(&[0.5; 8], 2, &mut slopes) - 0.99).abs() < 1e-9);
        let apart = [2.0, 2.0, -2.0, 2.0, 2.0, -2.0, -2.0, -2.0];
        assert_eq!(spread(&apart, 2, &mut slopes), 0.0);
    }

    #[test]
    fn slopes_of_the_spread_are_those_of_finite_differences() {
        let embeddings = numbers(15);
        let mut slopes = vec![0.0; 15];
        spread(&embeddings, 3, &mut slopes);
        for at in 0..15 {
            let shifted = |by: f32| {
                let mut embeddings = embeddings.clone();
                embeddings[at] += by;
                spread(&embeddings, 3, &mut [0.0; 15])
            };
            let difference = (shifted(1e-3) - shifted(-1e-3)) / 2e-3;
            assert!(
                (f64::from(slopes[at]) - difference).abs() < 1e-4,
                "{at}: {} but {difference}",
                slopes[at]
            );
        }
    }
}
