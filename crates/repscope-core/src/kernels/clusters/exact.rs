// SPDX-License-Identifier: MIT
//! Centers, labels and costs in double precision, from the original values.

use super::lloyd::Partition;
use super::scorer::{STRIP, Scorer};
use super::{Clusters, Search};
use crate::blocks;
use crate::error::Result;
use crate::kernels::moments::add;

/// Rows by their nearest center.
pub(crate) struct Given {
    pub(crate) labels: Vec<u32>,
    /// The squared distance of each to that center.
    pub(crate) costs: Vec<f64>,
    /// For each cluster the sum of what its rows are away from its center, where that was asked for.
    pub(crate) away: Vec<f64>,
}

impl Search<'_> {
    /// The means of the rows of a partition, and labels and costs with respect to them, all in double precision.
    pub(super) fn finish(&self, found: &Partition, restart: usize) -> Result<Clusters> {
        let Some(matrix) = self.elsewhere() else {
            return self.exact(&found.labels, found.iterations, restart);
        };
        let sums = blocks::clusters::sums(self, matrix, &found.assigned)?;
        let members = found.counts().into_iter().map(|count| count as usize).collect();
        self.around_means(sums, members, found.iterations, restart)
    }

    /// The same of labels of rows that are here.
    pub(super) fn exact(&self, labels: &[u32], iterations: usize, restart: usize) -> Result<Clusters> {
        let mut members = vec![0usize; self.k];
        for &label in labels {
            members[label as usize] += 1;
        }
        self.around_means(self.sums_of(labels), members, iterations, restart)
    }

    /// The sums of the rows of each label.
    pub(crate) fn sums_of(&self, labels: &[u32]) -> Vec<f64> {
        let (k, d) = (self.k, self.d);
        let sums = self.each_range(|search, rows| {
            let mut row = vec![0.0; d];
            let mut sums = vec![0.0; k * d];
            for i in rows {
                search.read(i, &mut row);
                for (s, x) in sums[labels[i] as usize * d..].iter_mut().zip(&row) {
                    *s += x;
                }
            }
            sums
        });
        self.in_two_levels(k * d, sums)
    }

    fn around_means(&self, sums: Vec<f64>, members: Vec<usize>, iterations: usize, restart: usize) -> Result<Clusters> {
        let mut centers = sums;
        for (center, members) in centers.chunks_exact_mut(self.d).zip(&members) {
            center.iter_mut().for_each(|c| *c /= (*members).max(1) as f64);
        }
        let given = self.nearest(&centers, &members, None)?;
        let mut counts = vec![0; self.k];
        given.labels.iter().for_each(|l| counts[*l as usize] += 1);
        Ok(Clusters {
            k: self.k,
            centers,
            counts,
            inertia: self.inertia(&given.costs),
            labels: given.labels,
            costs: given.costs,
            total: self.total,
            iterations,
            restart,
        })
    }

    /// The sum of the costs of all rows.
    pub(super) fn inertia(&self, costs: &[f64]) -> f64 {
        let mut inertia = 0.0;
        for costs in costs.chunks(self.chunk) {
            inertia += costs.iter().sum::<f64>();
        }
        inertia
    }

    /// The nearest center with members and the squared distance to it, for each row; and how far rows are away from the center of
    /// their cluster among those in `from`, which are not centered.
    pub(super) fn nearest(&self, centers: &[f64], members: &[usize], from: Option<&[f64]>) -> Result<Given> {
        match self.elsewhere() {
            Some(matrix) => blocks::clusters::nearest(self, matrix, centers, members, from),
            None => Ok(self.nearest_here(centers, members, from)),
        }
    }

    /// The same of rows that are here.
    ///
    /// Single precision picks the centers that may be the nearest, with a margin for its error; double
    /// precision decides among them.
    pub(crate) fn nearest_here(&self, centers: &[f64], members: &[usize], from: Option<&[f64]>) -> Given {
        let d = self.d;
        let mut scorer = Scorer::new(centers, self.unit, d);
        for (center, _) in members.iter().enumerate().filter(|(_, members)| **members == 0) {
            scorer.forget(center);
        }
        let parts = self.each_chunk(|task, chunk| {
            let mut row = vec![0.0; d];
            let mut labels = Vec::with_capacity(chunk.rows());
            let mut costs = Vec::with_capacity(chunk.rows());
            let mut scores = Vec::new();
            let rows: Vec<u32> = (0..chunk.rows() as u32).collect();
            for rows in rows.chunks(STRIP) {
                scorer.score(chunk, rows, &mut scores);
                for (&i, scores) in rows.iter().zip(scores.chunks_exact(scorer.stride())) {
                    self.read(task * self.chunk + i as usize, &mut row);
                    let lowest = scores.iter().copied().fold(f32::INFINITY, f32::min);
                    let limit = lowest + scorer.error(chunk.squared_lengths[i as usize]);
                    let mut best = (0, f64::INFINITY);
                    for (c, (center, score)) in centers.chunks_exact(d).zip(scores).enumerate() {
                        if *score <= limit {
                            let cost: f64 = row.iter().zip(center).map(|(x, c)| (x - c).powi(2)).sum();
                            if cost < best.1 {
                                best = (c as u32, cost);
                            }
                        }
                    }
                    labels.push(best.0);
                    costs.push(best.1);
                }
            }
            (labels, costs)
        });
        let (labels, costs): (Vec<Vec<u32>>, Vec<Vec<f64>>) = parts.into_iter().unzip();
        let labels = labels.concat();
        Given {
            away: from.map_or(Vec::new(), |from| self.away_from(from, &labels)),
            labels,
            costs: costs.concat(),
        }
    }

    /// For each cluster the sum of what its rows are away from its center.
    fn away_from(&self, centers: &[f64], labels: &[u32]) -> Vec<f64> {
        let mut total = vec![0.0; self.k * self.d];
        let mut row = vec![0.0; self.d];
        for block in self.blocks() {
            let mut sums = vec![0.0; self.k * self.d];
            for i in block {
                self.read_as_it_is(i, &mut row);
                let from = labels[i] as usize * self.d;
                let parts = sums[from..].iter_mut().zip(&row).zip(&centers[from..]);
                parts.for_each(|((sum, x), center)| *sum += x - center);
            }
            add(&mut total, &sums);
        }
        total
    }
}
