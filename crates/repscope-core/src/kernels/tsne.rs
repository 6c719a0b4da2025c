// SPDX-License-Identifier: MIT
//! A t-SNE map (van der Maaten and Hinton 2008; Barnes-Hut, van der Maaten 2014): rows that are neighbors stand together.
//!
//! It starts from the plane of the first two principal components, made small, so nothing is random and the sides of the
//! map are those of the plane (Kobak and Berens 2019). Each step is one pass over the points, cut into tasks by the tree
//! alone: any number of threads draws the same map.

mod affinities;
mod tree;

use super::tiles::nearest_neighbors;
use crate::data::Space;
use crate::error::Result;
use crate::run::Driver;
use affinities::Affinities;
use tree::{Pushing, Tree};

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

/// Places the rows of a space, of which there are at least [`FEWEST_ROWS`], from their places on the principal plane.
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
    let mut motions = vec![
        Motion {
            speed: [0.0; 2],
            gain: [1.0; 2]
        };
        n
    ];
    driver.progress().begin("map", TSNE_STEPS as u64);
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
            let gain = if turns {
                self.gain[axis] * 0.8
            } else {
                self.gain[axis] + 0.2
            };
            self.gain[axis] = gain.max(0.01);
            self.speed[axis] = momentum * self.speed[axis] - rate * self.gain[axis] * slope[axis];
            point[axis] += self.speed[axis];
        }
    }
}

/// The gradient of the Kullback-Leibler divergence at each point: 4 (Σ p w d − Σ w² d / Σ w), with w = 1 / (1 + |d|²).
fn slopes(points: &[[f64; 2]], affinities: &Affinities, pull: f64, driver: &Driver) -> Vec<[f64; 2]> {
    let tree = Tree::new(points);
    let parts = driver.map(tree.leaves().div_ceil(LEAVES), |task| {
        let mut pushing = Pushing::default();
        let mut pushes = Vec::new();
        for leaf in task * LEAVES..tree.leaves().min((task + 1) * LEAVES) {
            tree.push(leaf, &mut pushing, &mut pushes);
        }
        let pulled = |point: u32| {
            let [x, y] = points[point as usize];
            affinities
                .of(point as usize)
                .iter()
                .fold([0.0; 2], |sum, (other, share)| {
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

#[cfg(test)]
mod tests;
