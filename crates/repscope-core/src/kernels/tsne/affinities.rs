// SPDX-License-Identifier: MIT
//! How much each row of a t-SNE map belongs to each of its neighbors.
//!
//! Row i gives its neighbors shares exp(−β d²), with β such that their entropy is the logarithm of the perplexity. A
//! pair has the mean of the shares that its two rows give each other; all pairs together have 1.

use crate::run::Driver;

/// Rows per task.
const ROWS: usize = 256;
/// The entropy is met when it differs by less than this.
const TOLERANCE: f64 = 1e-5;
/// Halvings after which β is taken as it is: among many equal rows no β meets the entropy.
const MOST_STEPS: usize = 64;

/// The shares of all pairs, row by row; a pair stands in both of its rows.
pub(super) struct Affinities {
    /// Where the pairs of each row start; one more for the end.
    starts: Vec<usize>,
    pairs: Vec<(u32, f64)>,
}

impl Affinities {
    /// From the `k` nearest rows of each row and their distances.
    pub(super) fn new(k: usize, rows: &[u32], distances: &[f64], perplexity: f64, driver: &Driver) -> Self {
        let n = rows.len() / k;
        let given = driver.map(n.div_ceil(ROWS), |task| {
            let members = task * ROWS..n.min((task + 1) * ROWS);
            let given = members.flat_map(|i| shares(&distances[i * k..(i + 1) * k], perplexity));
            given.collect::<Vec<f64>>()
        });
        let mut lists: Vec<Vec<(u32, f64)>> = vec![Vec::with_capacity(2 * k); n];
        for (slot, (&j, share)) in rows.iter().zip(given.into_iter().flatten()).enumerate() {
            let half = share / (2.0 * n as f64);
            lists[slot / k].push((j, half));
            lists[j as usize].push(((slot / k) as u32, half));
        }
        let mut affinities = Affinities {
            starts: vec![0],
            pairs: Vec::with_capacity(2 * rows.len()),
        };
        for mut list in lists {
            list.sort_by_key(|(j, _)| *j);
            list.dedup_by(|second, first| {
                let is_same = second.0 == first.0;
                if is_same {
                    first.1 += second.1;
                }
                is_same
            });
            affinities.pairs.extend(list);
            affinities.starts.push(affinities.pairs.len());
        }
        affinities
    }

    /// The other rows of the pairs of row `i`, and their shares.
    pub(super) fn of(&self, i: usize) -> &[(u32, f64)] {
        &self.pairs[self.starts[i]..self.starts[i + 1]]
    }
}

/// The shares of the neighbors at these distances, nearest first. They sum to 1.
fn shares(distances: &[f64], perplexity: f64) -> Vec<f64> {
    let (nearest, farthest) = (distances[0], distances[distances.len() - 1]);
    if farthest <= nearest {
        return vec![1.0 / distances.len() as f64; distances.len()];
    }
    // In units of the farthest, so that squares of any distances are finite; less that of the nearest, so that the
    // largest share is 1 before division.
    let squares = distances
        .iter()
        .map(|d| (d / farthest).powi(2) - (nearest / farthest).powi(2));
    let squares: Vec<f64> = squares.collect();
    let wanted = perplexity.ln();
    let (mut low, mut high, mut beta) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..MOST_STEPS {
        let weights = || squares.iter().map(|s| (-beta * s).exp());
        let sum: f64 = weights().sum();
        let mean = weights().zip(&squares).map(|(w, s)| w * s).sum::<f64>() / sum;
        let excess = sum.ln() + beta * mean - wanted;
        if excess.abs() < TOLERANCE {
            break;
        }
        // A larger β means fewer neighbors.
        if excess > 0.0 {
            low = beta;
            beta = if high.is_finite() {
                (low + high) / 2.0
            } else {
                2.0 * beta
            };
        } else {
            high = beta;
            beta = (low + high) / 2.0;
        }
    }
    let mut shares: Vec<f64> = squares.iter().map(|s| (-beta * s).exp()).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    #[test]
    fn the_entropy_of_the_shares_is_that_of_the_perplexity() {
        for unit in [1e-200, 1.0, 1e200] {
            let distances: Vec<f64> = (1..=90).map(|i| unit * f64::from(i).sqrt()).collect();
            let shares = shares(&distances, 30.0);
            let entropy: f64 = shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
            assert!((entropy.exp() - 30.0).abs() < 1e-3, "{}", entropy.exp());
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_distances_have_equal_shares_and_more_duplicates_than_the_perplexity_share_alike() {
        assert_eq!(shares(&[2.0; 4], 1.5), [0.25; 4]);
        let with_duplicates = shares(&[0.0, 0.0, 0.0, 5.0], 2.0);
        assert!((with_duplicates[0] - 1.0 / 3.0).abs() < 1e-6 && with_duplicates[3] < 1e-6);
    }

    #[test]
    fn a_pair_has_one_share_in_both_rows_and_all_have_1() {
        // Rows at 0, 1, 3 and 7 on a line, two neighbors each.
        let rows = [1, 2, 0, 2, 1, 0, 2, 1];
        let distances = [1.0, 3.0, 1.0, 2.0, 2.0, 3.0, 4.0, 6.0];
        let affinities = Affinities::new(2, &rows, &distances, 1.5, &Driver::silent(Order::Serial));
        let share = |i: usize, j: u32| {
            affinities
                .of(i)
                .iter()
                .find(|(other, _)| *other == j)
                .map(|pair| pair.1)
        };
        for i in 0..4u32 {
            for j in 0..4 {
                assert_eq!(share(i as usize, j), share(j as usize, i), "{i} {j}");
            }
        }
        let total: f64 = (0..4).flat_map(|i| affinities.of(i)).map(|pair| pair.1).sum();
        assert!((total - 1.0).abs() < 1e-12 && share(0, 3).is_none());
    }
}
