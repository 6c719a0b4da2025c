// SPDX-License-Identifier: MIT
//! Every cluster cut in two: where another center would help most.

use pulp::Arch;
use rand_chacha::ChaCha8Rng;

use super::Search;
use super::lloyd::{Partition, add_row};
use super::rows::Chunk;
use super::seeding::uniform;
use crate::blocks;
use crate::error::Result;

/// Steps of 2-means within each cluster. The halves need not stand still: Lloyd's steps follow.
const STEPS: usize = 10;

/// The two halves of a cluster.
pub(super) struct Halves {
    pub(super) centers: [Vec<f64>; 2],
    /// By how much the inertia of the cluster falls with a center for each half.
    pub(super) gain: f64,
}

/// A plane between the halves of each cluster: a row is beyond it if x·normal > offset.
pub(crate) struct Planes {
    pub(crate) normals: Vec<f32>,
    pub(crate) offsets: Vec<f32>,
}

impl Search<'_> {
    /// Cuts each cluster in two by steps of 2-means, beginning with a plane through its center, across the way to one
    /// of its rows at random.
    pub(super) fn halves(&self, found: &Partition, rng: &mut ChaCha8Rng) -> Result<Vec<Halves>> {
        let (k, d) = (self.k, self.d);
        let members = found.counts();
        let mut drawn = Vec::new();
        for (cluster, &count) in (0u32..).zip(&members).filter(|(_, count)| **count > 0) {
            let number = (uniform(rng) * count as f64) as usize;
            drawn.push((cluster, number.min(count as usize - 1)));
        }
        let mut ends = found.centers.clone();
        for ((cluster, _), row) in drawn.iter().zip(self.members(found, &drawn)?) {
            let end = ends.chunks_exact_mut(d).nth(*cluster as usize).into_iter().flatten();
            // As far on the one side as the row is on the other.
            for (x, row) in end.zip(row) {
                *x += *x - f64::from(row);
            }
        }
        let mut beyond: Vec<f64> = (0..k)
            .flat_map(|c| {
                let (center, end) = (&found.centers[c * d..(c + 1) * d], &ends[c * d..(c + 1) * d]);
                center.iter().zip(end).map(|(c, e)| 2.0 * c - e).collect::<Vec<f64>>()
            })
            .collect();
        let mut counts = vec![[0.0; 2]; k];
        for _ in 0..STEPS {
            let planes = Planes::between(&ends, &beyond, d);
            let (sums, totals) = match self.elsewhere() {
                Some(matrix) => blocks::clusters::beyond(self, matrix, &found.assigned, &planes)?,
                None => self.beyond(&planes, &found.labels),
            };
            for c in 0..k {
                let (all, far) = (members[c] as f64, totals[c] as f64);
                counts[c] = [all - far, far];
                if far == 0.0 || far == all {
                    continue;
                }
                for j in c * d..(c + 1) * d {
                    beyond[j] = sums[j] / far;
                    ends[j] = (found.centers[j] * all - sums[j]) / (all - far);
                }
            }
        }
        let halves = |c: usize| {
            let centers = [ends[c * d..(c + 1) * d].to_vec(), beyond[c * d..(c + 1) * d].to_vec()];
            let apart: f64 = centers[0].iter().zip(&centers[1]).map(|(x, y)| (x - y).powi(2)).sum();
            let [near, far] = counts[c];
            Halves {
                centers,
                gain: apart * near * far / (near + far).max(1.0),
            }
        };
        Ok((0..k).map(halves).collect())
    }

    /// The sums of the rows beyond the plane of their cluster, and their numbers.
    pub(crate) fn beyond(&self, planes: &Planes, labels: &[u32]) -> (Vec<f64>, Vec<usize>) {
        let parts = self.each_chunk(|task, chunk| {
            let labels = &labels[task * self.chunk..][..chunk.rows()];
            planes.beyond(chunk, labels)
        });
        let mut totals = vec![0usize; self.k];
        for (_, count) in &parts {
            totals.iter_mut().zip(count).for_each(|(t, x)| *t += x);
        }
        let sums = parts.into_iter().map(|(part, _)| part);
        (self.in_two_levels(self.k * self.d, sums), totals)
    }

    /// Packed rows: of some clusters the one with this number among its members.
    fn members(&self, found: &Partition, wanted: &[(u32, usize)]) -> Result<Vec<Vec<f32>>> {
        match self.elsewhere() {
            Some(matrix) => blocks::clusters::members(self, matrix, &found.assigned, &found.counts, wanted),
            None => Ok(self.members_here(&found.labels, wanted)),
        }
    }

    /// The same of rows that are here.
    pub(crate) fn members_here(&self, labels: &[u32], wanted: &[(u32, usize)]) -> Vec<Vec<f32>> {
        let mut passed = vec![0; self.k];
        let mut rows = vec![Vec::new(); wanted.len()];
        let mut places = vec![Vec::new(); self.k];
        for (at, (cluster, number)) in wanted.iter().enumerate() {
            places[*cluster as usize].push((*number, at));
        }
        for (row, label) in labels.iter().map(|label| *label as usize).enumerate() {
            for (number, at) in &places[label] {
                if *number == passed[label] {
                    rows[*at] = self.packed_row(row).to_vec();
                }
            }
            passed[label] += 1;
        }
        rows
    }
}

impl Planes {
    /// Half way between two points of each cluster.
    fn between(ends: &[f64], beyond: &[f64], d: usize) -> Self {
        let squared = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let pairs = ends.chunks_exact(d).zip(beyond.chunks_exact(d));
        Planes {
            normals: ends.iter().zip(beyond).map(|(e, b)| (b - e) as f32).collect(),
            offsets: pairs.map(|(e, b)| ((squared(b) - squared(e)) / 2.0) as f32).collect(),
        }
    }

    /// For each cluster, the sum of the rows beyond the plane and their number.
    fn beyond(&self, chunk: &Chunk, labels: &[u32]) -> (Vec<f64>, Vec<usize>) {
        let k = self.offsets.len();
        let d = self.normals.len() / k;
        let (mut sums, mut counts) = (vec![0.0; k * d], vec![0; k]);
        Arch::new().dispatch(|| {
            for (row, &label) in chunk.values.chunks_exact(d).zip(labels) {
                let c = label as usize;
                if product(row, &self.normals[c * d..(c + 1) * d]) > self.offsets[c] {
                    add_row(&mut sums[c * d..], row, 1.0);
                    counts[c] += 1;
                }
            }
        });
        (sums, counts)
    }
}

/// x·y in 16 running sums, for vector instructions.
#[inline(always)]
fn product(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (x, x_rest) = x.as_chunks::<16>();
    let (y, y_rest) = y.as_chunks::<16>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..16 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}
