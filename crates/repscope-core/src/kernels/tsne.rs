// SPDX-License-Identifier: MIT
//! A t-SNE map (van der Maaten and Hinton 2008; Barnes-Hut, van der Maaten 2014): rows that are neighbors stand together.
//!
//! It starts from the plane of the first two principal components, made small, so nothing is random and the sides of the
//! map are those of the plane (Kobak and Berens 2019). Each step is one pass over the points, cut into tasks by the tree
//! alone: any number of threads draws the same map.

mod tree;

use self::tree::{Pushing, Tree};
use super::tiles::nearest_neighbors;
use crate::data::Space;
use crate::error::Result;
use crate::run::Driver;

/// About how many neighbors each row should have; fewer where there are few rows.
const PERPLEXITY: f64 = 30.0;
/// Neighbors that are looked at for each of these.
const NEIGHBORS_PER_PERPLEXITY: f64 = 3.0;
/// Fewer rows have no neighborhoods to show.
pub(crate) const FEWEST_ROWS: usize = 4;
/// Steps in which neighbors pull harder, so that groups can pass through each other.
const EARLY_STEPS: usize = 250;
/// How much harder.
const EXAGGERATION: f64 = 12.0;
/// All steps.
pub const TSNE_STEPS: usize = 750;
/// The width of the start: its standard deviation to the right.
const START: f64 = 1e-4;
/// Leaves of the tree per task.
const LEAVES: usize = 32;

/// The perplexity of a map of so many rows.
pub fn tsne_perplexity(rows: usize) -> f64 {
    PERPLEXITY.min(rows.saturating_sub(1) as f64 / NEIGHBORS_PER_PERPLEXITY)
}

/// A point on its way.
#[derive(Clone, Copy)]
struct Motion {
    speed: [f64; 2],
    gain: [f64; 2],
}

/// Places the rows of a space, of which there are at least [`FEWEST_ROWS`], from their places on the principal plane. Each step is one
/// of progress.
pub(crate) fn tsne(space: &Space, start: &[[f64; 2]], driver: &Driver) -> Result<Vec<[f64; 2]>> {
    let n = space.rows();
    let longest = start.iter().map(|[x, _]| x.abs()).fold(0.0, f64::max);
    if longest == 0.0 {
        return Ok(vec![[0.0; 2]; n]);
    }
    let width = longest * (start.iter().map(|[x, _]| (x / longest).powi(2)).sum::<f64>() / n as f64).sqrt();
    let k = ((NEIGHBORS_PER_PERPLEXITY * PERPLEXITY) as usize).min(n - 1);
    let perplexity = tsne_perplexity(n);
    let (rows, distances) = nearest_neighbors(space, k, driver)?;
    let affinities = Affinities::new(k, &rows, &distances, perplexity, driver);
    let mut points: Vec<[f64; 2]> = start.iter().map(|point| point.map(|x| x / width * START)).collect();
    let (speed, gain) = ([0.0; 2], [1.0; 2]);
    let mut motions = vec![Motion { speed, gain }; n];
    for step in 0..TSNE_STEPS {
        let is_early = step < EARLY_STEPS;
        let pull = if is_early { EXAGGERATION } else { 1.0 };
        let slopes = slopes(&points, &affinities, pull, driver);
        // Belkina et al. 2019: a rate that grows with the rows.
        let rate = (n as f64 / EXAGGERATION / 4.0).max(50.0);
        let momentum = if is_early { 0.5 } else { 0.8 };
        for ((point, motion), slope) in points.iter_mut().zip(&mut motions).zip(slopes) {
            motion.advance(point, slope, rate, momentum);
        }
        driver.progress().advance(1);
    }
    Ok(points)
}

impl Motion {
    /// Against the slope, faster where the direction stays and slower where it turns (Jacobs 1988).
    fn advance(&mut self, point: &mut [f64; 2], slope: [f64; 2], rate: f64, momentum: f64) {
        for axis in 0..2 {
            let turns = self.speed[axis] * slope[axis] > 0.0;
            let gain = self.gain[axis];
            self.gain[axis] = if turns { gain * 0.8 } else { gain + 0.2 }.max(0.01);
            self.speed[axis] = momentum * self.speed[axis] - rate * self.gain[axis] * slope[axis];
            point[axis] += self.speed[axis];
        }
    }
}

/// The gradient of the Kullback-Leibler divergence at each point: 4 (Σ p w d − Σ w² d / Σ w), with w = 1 / (1 + |d|²).
fn slopes(points: &[[f64; 2]], affinities: &Affinities, pull: f64, driver: &Driver) -> Vec<[f64; 2]> {
    let tree = Tree::new(points);
    let parts = driver.blocks(tree.leaves(), LEAVES, |leaves| {
        let mut pushing = Pushing::default();
        let mut pushes = Vec::new();
        for leaf in leaves {
            tree.push(leaf, &mut pushing, &mut pushes);
        }
        let pulled = |point: u32| {
            let [x, y] = points[point as usize];
            let neighbors = affinities.of(point as usize).iter();
            neighbors.fold([0.0; 2], |sum, (other, share)| {
                let (dx, dy) = (x - points[*other as usize][0], y - points[*other as usize][1]);
                let force = share / (1.0 + dx * dx + dy * dy);
                [sum[0] + force * dx, sum[1] + force * dy]
            })
        };
        let both = pushes.into_iter().map(|push| (push, pulled(push.point)));
        both.collect::<Vec<_>>()
    });
    // Each point met itself with a weight of 1.
    let weight: f64 = parts.iter().flatten().map(|(push, _)| push.weight - 1.0).sum();
    let mut slopes = vec![[0.0; 2]; points.len()];
    for (push, pulled) in parts.iter().flatten() {
        slopes[push.point as usize] = [0, 1].map(|axis| 4.0 * (pull * pulled[axis] - push.force[axis] / weight));
    }
    slopes
}

/// Rows per task.
const ROWS: usize = 256;
/// The entropy is met when it differs by less than this.
const TOLERANCE: f64 = 1e-5;
/// Halvings after which β is taken as it is: among many equal rows no β meets the entropy.
const MOST_STEPS: usize = 64;

/// The shares of all pairs, row by row; a pair stands in both of its rows. Row i gives its neighbors shares exp(−β d²), with β
/// such that their entropy is the logarithm of the perplexity. A pair has the mean of the shares that its two rows give each
/// other; all pairs together have 1.
struct Affinities {
    /// Where the pairs of each row start; one more for the end.
    starts: Vec<usize>,
    pairs: Vec<(u32, f64)>,
}

impl Affinities {
    /// From the `k` nearest rows of each row and their distances.
    fn new(k: usize, rows: &[u32], distances: &[f64], perplexity: f64, driver: &Driver) -> Self {
        let n = rows.len() / k;
        let given = driver.blocks(n, ROWS, |members| {
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
    fn of(&self, i: usize) -> &[(u32, f64)] {
        &self.pairs[self.starts[i]..self.starts[i + 1]]
    }
}

/// The shares of the neighbors at these distances, nearest first. They sum to 1.
fn shares(distances: &[f64], perplexity: f64) -> Vec<f64> {
    let (nearest, farthest) = (distances[0], distances[distances.len() - 1]);
    if farthest <= nearest {
        return vec![1.0 / distances.len() as f64; distances.len()];
    }
    // In units of the farthest, so that squares are finite; less that of the nearest, so that the largest share is 1.
    let square = |d: &f64| (d / farthest).powi(2) - (nearest / farthest).powi(2);
    let squares: Vec<f64> = distances.iter().map(square).collect();
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
