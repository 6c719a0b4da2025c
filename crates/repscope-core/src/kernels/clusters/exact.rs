// SPDX-License-Identifier: MIT
//! Centers, labels and costs in double precision, from the original values.

use super::scorer::{STRIP, Scorer};
use super::{Clusters, Search};

impl Search<'_> {
    /// The means of the labeled rows, and labels and costs with respect to them, all in double precision.
    pub(super) fn exact(&self, labels: &[u32], iterations: usize, restart: usize) -> Clusters {
        let (k, d) = (self.k, self.d);
        let mut centers = vec![0.0; k * d];
        let mut members = vec![0usize; k];
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
        for sums in sums {
            centers.iter_mut().zip(&sums).for_each(|(c, s)| *c += s);
        }
        for &label in labels {
            members[label as usize] += 1;
        }
        for (center, members) in centers.chunks_exact_mut(d).zip(&members) {
            center.iter_mut().for_each(|c| *c /= (*members).max(1) as f64);
        }

        let parts = self.nearest_exact(&centers, &members);
        let mut found = Clusters {
            k,
            labels: Vec::with_capacity(labels.len()),
            centers,
            counts: vec![0; k],
            costs: Vec::with_capacity(labels.len()),
            inertia: 0.0,
            total: self.total,
            iterations,
            restart,
        };
        for (labels, costs) in parts {
            labels.iter().for_each(|l| found.counts[*l as usize] += 1);
            found.inertia += costs.iter().sum::<f64>();
            found.labels.extend(labels);
            found.costs.extend(costs);
        }
        found
    }

    /// The nearest center with members and the squared distance to it, for each row.
    ///
    /// Single precision picks the centers that may be the nearest, with a margin for its error; double
    /// precision decides among them.
    pub(super) fn nearest_exact(&self, centers: &[f64], members: &[usize]) -> Vec<(Vec<u32>, Vec<f64>)> {
        let d = self.d;
        let mut scorer = Scorer::new(centers, self.unit, d);
        for (center, _) in members.iter().enumerate().filter(|(_, members)| **members == 0) {
            scorer.forget(center);
        }
        self.each_chunk(|task, chunk| {
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
        })
    }
}
