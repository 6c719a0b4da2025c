// SPDX-License-Identifier: MIT
//! k-means: the rows cut into k clusters around their means.
//!
//! Minimises the inertia Σ_i ‖x_i − c(i)‖², with c(i) the nearest of k centers, by Lloyd's algorithm from
//! several greedy k-means++ starts (Arthur and Vassilvitskii 2007; 2 + ln k candidates per center, as in
//! scikit-learn), and keeps the best start. Where several starts were asked for because the lowest inertia is wanted,
//! [`Swaps::Tried`] improves it further: a center is moved to another cluster, Lloyd's steps follow, and the result is
//! kept if it is better, until none of the most promising moves is. With ten starts, ten seeds of ten then end within
//! 1e-5 of the best known minimum (10 clusters of 60,000 images of Fashion-MNIST or of their embeddings), which without swaps
//! takes luck. A single start is left as it is.
//!
//! The search runs on a packed copy of the rows in single precision, centered and scaled to a spread near 1,
//! so neither an offset nor the unit of the data does harm. Starts are compared by the inertia of the packed
//! rows. What is returned is exact: centers, labels and costs of the best start are recomputed from the original
//! values in double precision.
//!
//! The rows may be elsewhere: then each pass over them is a round of tasks (`blocks/clusters.rs`), and all starts take part in it. What
//! is added up over rows is added up over blocks of chunks, then over blocks, here as well.

mod bisect;
mod bounds;
mod candidates;
mod exact;
mod halves;
mod line;
mod lloyd;
mod rows;
mod scorer;
mod seeding;
mod swaps;

pub(crate) use bisect::Planes;
pub(crate) use bounds::Ways;
pub(crate) use candidates::Candidates;
pub(crate) use exact::Given;
pub(crate) use halves::{OfHalf, kmeans_of_halves};
pub(crate) use lloyd::{Assignment, Far, State, Step, Sums, Trail};
pub(crate) use rows::{Chunk, Packing};
pub(crate) use seeding::{PackedRow, Place, Round, Seeded};

use std::sync::Arc;

use crate::data::Space;
use crate::error::Result;
use crate::random;
use crate::run::Driver;

/// Lloyd steps after which a start is taken as it is.
const MOST_ITERATIONS: usize = 300;
/// A start has converged when the squared movement of all centers together is at most this share of the
/// mean variance of the columns (the default of scikit-learn).
const TOLERANCE: f64 = 1e-4;
/// On small problems, where a few rows make many minima, rounds of starts go on until this many find nothing better.
const IDLE_ROUNDS: usize = 12;
/// Products of a coordinate of a row with one of a center that one step of all these starts may take.
const MOST_PRODUCTS: usize = 1 << 22;
/// The label of a row that has none yet.
const UNASSIGNED: u32 = u32::MAX;

/// A partition of the rows around k centers.
///
/// Clusters are numbered by their first row. Where fewer than k rows are distinct, the last clusters are
/// empty: their count is 0 and their center, which no row belongs to, is the overall mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clusters {
    /// The number of clusters asked for.
    pub k: usize,
    /// The cluster of each row: that of its nearest center, the smaller number if two are equally near.
    pub labels: Vec<u32>,
    /// k × D: the means of the clusters in the last step (of the scaled rows, where a scale was given).
    pub centers: Vec<f64>,
    /// The number of rows of each cluster.
    pub counts: Vec<usize>,
    /// Squared distance of each row to its center.
    pub costs: Vec<f64>,
    /// The sum of the costs.
    pub inertia: f64,
    /// The sum of the squared distances to the overall mean; 0 if all rows are equal up to rounding.
    pub total: f64,
    /// Lloyd steps of the start that was kept.
    pub iterations: usize,
    /// Which start was kept.
    pub restart: usize,
}

/// Whether the best start is improved by swaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swaps {
    /// For the lowest inertia.
    Tried,
    /// For clusterings that vary with the seed.
    None,
}

/// Clusters the rows, each multiplied by its `scale` where one is given, and returns the best of `restarts`
/// starts (the earlier one if two are equally good).
pub(crate) fn kmeans(
    space: &Space,
    scale: Option<&[f64]>,
    k: usize,
    restarts: usize,
    swaps: Swaps,
    seed: u64,
    driver: &Driver,
) -> Result<Clusters> {
    assert!(k >= 1 && restarts >= 1, "k-means needs a cluster and a start");
    let search = Search::new(space, scale, k, driver)?;
    driver.progress().begin("k-means", restarts as u64);
    if swaps == Swaps::None || restarts == 1 {
        let (restart, best) = search.round(restarts, 0, seed)?;
        return Ok(search.renumber(search.finish(&best, restart)?));
    }
    if let Some(labels) = search.on_a_line() {
        return Ok(search.renumber(search.exact(&labels, 0, 0)?));
    }
    let improved = |round: usize| -> Result<(usize, lloyd::Partition)> {
        let (restart, found) = search.round(restarts, round, seed)?;
        let mut rng = random::stream(seed, "kmeans swaps", round as u64);
        Ok((restart, search.improve(found, &mut rng)?))
    };
    let (mut restart, mut best) = improved(0)?;
    let rounds = MOST_PRODUCTS / (restarts * space.rows() * k).saturating_mul(space.columns()).max(1);
    let mut idle = 0;
    for round in 1..rounds {
        let (number, found) = improved(round)?;
        idle += 1;
        if found.inertia < best.inertia * (1.0 - swaps::BETTER) {
            (restart, best, idle) = (number, found, 0);
        }
        if idle == IDLE_ROUNDS {
            break;
        }
    }
    Ok(search.renumber(search.finish(&best, restart)?))
}

/// The packed rows and what all starts share.
pub(crate) struct Search<'a> {
    held: rows::Held<'a>,
    scale: Option<&'a [f64]>,
    driver: &'a Driver<'a>,
    n: usize,
    k: usize,
    d: usize,
    /// Rows per task.
    chunk: usize,
    mean: Vec<f64>,
    total: f64,
    /// Packed = (value − mean) · unit, a power of two; 0 if all rows are equal.
    unit: f64,
    /// None where the rows are elsewhere.
    chunks: Arc<[Chunk]>,
}

impl Search<'_> {
    /// The best of some starts, and its number.
    fn round(&self, restarts: usize, round: usize, seed: u64) -> Result<(usize, lloyd::Partition)> {
        let numbers = round * restarts..(round + 1) * restarts;
        let streams = numbers.map(|number| random::stream(seed, "kmeans", number as u64));
        let (number, best) = self.best_of(self.seeds(&mut streams.collect::<Vec<_>>())?)?;
        Ok((round * restarts + number, best))
    }

    /// Numbers the clusters by their first row and moves the centers back to where the data are.
    fn renumber(&self, found: Clusters) -> Clusters {
        let (k, d) = (self.k, self.d);
        let mut order: Vec<usize> = Vec::with_capacity(k);
        let mut number = vec![UNASSIGNED; k];
        let occupied = found.labels.iter().map(|l| *l as usize);
        for c in occupied.chain(0..k) {
            if number[c] == UNASSIGNED {
                number[c] = order.len() as u32;
                order.push(c);
            }
        }
        let mut centers = Vec::with_capacity(k * d);
        for &c in &order {
            for (m, x) in self.mean.iter().zip(&found.centers[c * d..]) {
                centers.push(if found.counts[c] == 0 { *m } else { m + x });
            }
        }
        Clusters {
            labels: found.labels.iter().map(|l| number[*l as usize]).collect(),
            counts: order.iter().map(|c| found.counts[*c]).collect(),
            centers,
            ..found
        }
    }
}

#[cfg(test)]
mod tests;
