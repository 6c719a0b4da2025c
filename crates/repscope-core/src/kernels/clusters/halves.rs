// SPDX-License-Identifier: MIT
//! Clusterings of random halves of the rows: how much the clusters depend on which rows were drawn, and on the search.
//!
//! The centers of half of the rows vary about those of all rows as those of all rows do about their expectation, because the
//! variance of half as many rows is twice as large. All rows are given to the centers of each half, so what differs from half to
//! half is the clustering alone. Where k-means has several minima that are about as good, halves end in different ones.

use rand::seq::SliceRandom;

use super::{Clusters, Search};
use crate::data::{Labels, Space};
use crate::random;
use crate::run::Driver;

/// A half has one start of its own for this many restarts, beside the centers of all rows.
const RESTARTS_PER_START: usize = 5;

/// All rows by the centers of a half of them.
pub(crate) struct OfHalf {
    pub(crate) labels: Vec<u32>,
    pub(crate) counts: Vec<usize>,
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
) -> Vec<OfHalf> {
    if count < 2 || found.total == 0.0 {
        return Vec::new();
    }
    let n = space.rows();
    let whole = Search::new(space, None, found.k, driver);
    driver.progress().begin("k-means of halves", count as u64);
    let mut halves = Vec::with_capacity(count);
    for half in 0..count {
        let rows = draw_half(n, groups, seed, half);
        if rows.len() < found.k {
            return Vec::new();
        }
        let Ok(part) = space.select(&rows) else {
            return Vec::new();
        };
        let search = Search::new(&part, None, found.k, driver);
        let best = search.of_half(found, restarts, seed, half);
        halves.push(whole.given_to(best));
        driver.progress().advance(1);
    }
    halves
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
    fn of_half(&self, found: &Clusters, restarts: usize, seed: u64, half: usize) -> Clusters {
        if let Some(labels) = self.on_a_line().filter(|_| restarts > 1) {
            return self.renumber(self.exact(&labels, 0, 0));
        }
        let fresh = restarts.div_ceil(RESTARTS_PER_START);
        let stream = |start: usize| random::stream(seed, "kmeans of a half", (half * fresh + start) as u64);
        let mut starts = self.seeds(&mut (0..fresh).map(stream).collect::<Vec<_>>());
        if restarts > 1 {
            let packed = found.centers.iter().zip(self.mean.iter().cycle());
            starts.push(packed.map(|(center, mean)| (center - mean) * self.unit).collect());
        }
        let (_, mut best) = self.best_of(starts);
        if restarts > 1 {
            best = self.improve(best, &mut random::stream(seed, "swaps of a half", half as u64));
        }
        self.renumber(self.exact(&best.labels, best.iterations, 0))
    }

    /// All rows by the centers of some of them.
    fn given_to(&self, found: Clusters) -> OfHalf {
        let centers = found.centers.iter().zip(self.mean.iter().cycle());
        let centers: Vec<f64> = centers.map(|(center, mean)| center - mean).collect();
        let mut of_half = OfHalf {
            labels: Vec::with_capacity(self.space.rows()),
            counts: vec![0; self.k],
            inertia: 0.0,
            own_counts: found.counts.clone(),
        };
        for (labels, costs) in self.nearest_exact(&centers, &found.counts) {
            labels.iter().for_each(|label| of_half.counts[*label as usize] += 1);
            of_half.inertia += costs.iter().sum::<f64>();
            of_half.labels.extend(labels);
        }
        of_half.inertia -= self.excess(&found.centers, &of_half);
        of_half
    }

    /// By how much the costs of the rows of clusters around these centers exceed those around their means: Σ n_c ‖mean − center‖².
    fn excess(&self, centers: &[f64], clusters: &OfHalf) -> f64 {
        let (mut row, mut sums) = (vec![0.0; self.d], vec![0.0; self.k * self.d]);
        for (i, &label) in clusters.labels.iter().enumerate() {
            self.space.read_row(i, &mut row);
            let from = label as usize * self.d;
            let parts = sums[from..].iter_mut().zip(&row).zip(&centers[from..]);
            parts.for_each(|((sum, x), center)| *sum += x - center);
        }
        let of_clusters = sums.chunks_exact(self.d).zip(&clusters.counts);
        let occupied = of_clusters.filter(|(_, count)| **count > 0);
        occupied
            .map(|(sum, &count)| sum.iter().map(|x| x * x).sum::<f64>() / count as f64)
            .sum()
    }
}
