// SPDX-License-Identifier: MIT
//! Clusterings of random halves of the rows: how much the clusters depend on which rows were drawn, and on the search.
//!
//! The centers of half of the rows vary about those of all rows as those of all rows do about their expectation, because the
//! variance of half as many rows is twice as large. All rows are given to the centers of each half, so what differs from half to
//! half is the clustering alone. Where k-means has several minima that are about as good, halves end in different ones.

use std::sync::Arc;

use rand::seq::SliceRandom;

use super::{Clusters, Search};
use crate::blocks;
use crate::data::{Labels, Space, Values};
use crate::error::Result;
use crate::random;
use crate::run::{Driver, Order};

/// A half has one start of its own for this many restarts, beside the centers of all rows.
const RESTARTS_PER_START: usize = 5;

/// All rows by the centers of a half of them.
pub(crate) struct OfHalf {
    pub(crate) labels: Vec<u32>,
    /// Around the means of these clusters, as one more step of Lloyd's would have it: the least inertia does not change with small moves
    /// of the centers, so those of a half would add an excess that the clusters of all rows do not have.
    pub(crate) inertia: f64,
    /// How many rows of the half are in each of its clusters.
    pub(crate) own_counts: Vec<usize>,
}

/// Clusters `count` random halves of the rows, or of the groups of rows; none where a half may have fewer rows than clusters.
pub(crate) fn kmeans_of_halves(
    space: &Space,
    found: &Clusters,
    groups: Option<&Labels>,
    restarts: usize,
    count: usize,
    seed: u64,
    driver: &Driver,
) -> Result<Vec<OfHalf>> {
    if count < 2 || found.total == 0.0 {
        return Ok(Vec::new());
    }
    let n = space.rows();
    let whole = Search::new(space, None, found.k, driver)?;
    driver.progress().begin("k-means of halves", count as u64);
    if let Some(matrix) = space.elsewhere() {
        // All at a time: a round of tasks serves all halves.
        let driver = Driver::new(Order::Serial, driver.progress());
        let halves = blocks::together(&matrix.workers, count, |half, workers| {
            let matrix = matrix.through(workers);
            let rows = draw_half(n, groups, seed, half);
            if rows.len() < found.k {
                return Ok(None);
            }
            let part = Values::Elsewhere(Arc::new(matrix.select(&rows)));
            let part = Space::new(space.name(), rows.len(), space.columns(), part)?;
            drop(rows);
            let best = Search::new(&part, None, found.k, &driver)?.of_half(found, restarts, seed, half)?;
            let given = match whole.elsewhere() {
                Some(_) => whole.through(&matrix, &driver).given_to(best),
                None => whole.given_to(best),
            };
            driver.progress().advance(1);
            given.map(Some)
        })?;
        return Ok(halves.into_iter().collect::<Option<Vec<OfHalf>>>().unwrap_or_default());
    }
    let mut halves = Vec::with_capacity(count);
    for half in 0..count {
        let rows = draw_half(n, groups, seed, half);
        if rows.len() < found.k {
            return Ok(Vec::new());
        }
        let Ok(part) = space.select(&rows) else {
            return Ok(Vec::new());
        };
        let search = Search::new(&part, None, found.k, driver)?;
        let best = search.of_half(found, restarts, seed, half)?;
        halves.push(whole.given_to(best)?);
        driver.progress().advance(1);
    }
    Ok(halves)
}

/// The rows of a random half, or of a random half of the groups, ascending.
pub(super) fn draw_half(n: usize, groups: Option<&Labels>, seed: u64, half: usize) -> Vec<usize> {
    let mut rng = random::stream(seed, "half of the rows", half as u64);
    let groups = groups.map(Labels::by_appearance);
    let units = groups.as_ref().map_or(n, Labels::classes);
    let mut order: Vec<usize> = (0..units).collect();
    order.shuffle(&mut rng);
    let mut is_in = vec![false; units];
    order[..units.div_ceil(2)].iter().for_each(|&unit| is_in[unit] = true);
    let unit = |row: usize| groups.as_ref().map_or(row, |groups| groups.codes()[row] as usize);
    (0..n).filter(|&row| is_in[unit(row)]).collect()
}

impl Search<'_> {
    /// The clusters of these rows: as of all rows, but with fewer starts, one of which begins at the centers of all rows. Where one
    /// start was asked for, clusters depend on it, and so they shall here.
    fn of_half(&self, found: &Clusters, restarts: usize, seed: u64, half: usize) -> Result<Clusters> {
        if let Some(labels) = self.on_a_line().filter(|_| restarts > 1) {
            return Ok(self.renumber(self.exact(&labels, 0, 0)?));
        }
        let fresh = restarts.div_ceil(RESTARTS_PER_START);
        let stream = |start: usize| random::stream(seed, "kmeans of a half", (half * fresh + start) as u64);
        let mut starts = self.seeds(&mut (0..fresh).map(stream).collect::<Vec<_>>())?;
        if restarts > 1 {
            let packed = found.centers.iter().zip(self.mean.iter().cycle());
            starts.push(packed.map(|(center, mean)| (center - mean) * self.unit).collect());
        }
        let (_, mut best) = self.best_of(starts)?;
        if restarts > 1 {
            best = self.improve(best, &mut random::stream(seed, "swaps of a half", half as u64))?;
        }
        Ok(self.renumber(self.finish(&best, 0)?))
    }

    /// All rows by the centers of some of them.
    fn given_to(&self, found: Clusters) -> Result<OfHalf> {
        let centers = found.centers.iter().zip(self.mean.iter().cycle());
        let centers: Vec<f64> = centers.map(|(center, mean)| center - mean).collect();
        let given = self.nearest(&centers, &found.counts, Some(&found.centers))?;
        let mut counts = vec![0; self.k];
        given.labels.iter().for_each(|label| counts[*label as usize] += 1);
        Ok(OfHalf {
            inertia: self.inertia(&given.costs) - excess(&given.away, &counts),
            labels: given.labels,
            own_counts: found.counts,
        })
    }
}

/// By how much the costs of the rows of clusters around these centers exceed those around their means: Σ n_c ‖mean − center‖².
fn excess(away: &[f64], counts: &[usize]) -> f64 {
    let of_clusters = away.chunks_exact(away.len() / counts.len()).zip(counts);
    let occupied = of_clusters.filter(|(_, count)| **count > 0);
    occupied
        .map(|(sum, &count)| sum.iter().map(|x| x * x).sum::<f64>() / count as f64)
        .sum()
}
