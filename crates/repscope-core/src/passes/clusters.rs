// SPDX-License-Identifier: MIT
//! k-means: the rows cut into k clusters around their means.
//!
//! Minimises the inertia Σ_i ‖x_i − c(i)‖², with c(i) the nearest of k centres, by Lloyd's algorithm from
//! several greedy k-means++ starts (Arthur and Vassilvitskii 2007; 2 + ln k candidates per centre, as in
//! scikit-learn), and keeps the best start.
//!
//! The search runs on a packed copy of the rows in single precision, centred and scaled to a spread near 1,
//! so neither an offset nor the unit of the data does harm. What is returned is exact: centres, labels and
//! costs of each start are recomputed from the original values in double precision, and starts are
//! compared by that inertia.

mod scorer;
mod seeding;

use std::ops::Range;

use scorer::Scorer;
use seeding::squared_distance;

use super::moments::{centered, rounding_floor, scaled_column_means};
use crate::data::Space;
use crate::random;
use crate::run::Driver;

/// Fewest rows per task.
const ROWS: usize = 1024;
/// Lloyd steps after which a start is taken as it is.
const MOST_ITERATIONS: usize = 300;
/// A start has converged when the squared movement of all centres together is at most this share of the
/// mean variance of the columns (the default of scikit-learn).
const TOLERANCE: f64 = 1e-4;
/// The label of a row that has none yet.
const UNASSIGNED: u32 = u32::MAX;

/// A partition of the rows around k centres.
///
/// Clusters are numbered by their first row. Where fewer than k rows are distinct, the last clusters are
/// empty: their count is 0 and their centre, which no row belongs to, is the overall mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clusters {
    /// The number of clusters asked for.
    pub k: usize,
    /// The cluster of each row: that of its nearest centre, the smaller number if two are equally near.
    pub labels: Vec<u32>,
    /// k × D: the means of the clusters in the last step (of the scaled rows, where a scale was given).
    pub centers: Vec<f64>,
    /// The number of rows of each cluster.
    pub counts: Vec<usize>,
    /// Squared distance of each row to its centre.
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

/// Clusters the rows, each multiplied by its `scale` where one is given, and returns the best of `restarts`
/// starts (the earlier one if two are equally good).
pub(crate) fn kmeans(
    space: &Space,
    scale: Option<&[f64]>,
    k: usize,
    restarts: usize,
    seed: u64,
    driver: &Driver,
) -> Clusters {
    assert!(k >= 1 && restarts >= 1, "k-means needs a cluster and a start");
    let search = Search::new(space, scale, k, driver);
    let mut best: Option<Clusters> = None;
    driver.progress().begin("k-means", restarts as u64);
    for restart in 0..restarts {
        let seeds = search.seeds(&mut random::stream(seed, "kmeans", restart as u64));
        let (labels, iterations) = search.lloyd(seeds);
        let found = search.exact(&labels, iterations, restart);
        if best.as_ref().is_none_or(|b| found.inertia < b.inertia) {
            best = Some(found);
        }
        driver.progress().advance(1);
    }
    search.renumber(best.expect("there is at least one start"))
}

/// The packed rows and what all starts share.
struct Search<'a> {
    space: &'a Space,
    scale: Option<&'a [f64]>,
    driver: &'a Driver<'a>,
    k: usize,
    d: usize,
    /// Rows per task.
    chunk: usize,
    mean: Vec<f64>,
    total: f64,
    /// Packed = (value − mean) · unit, a power of two; 0 if all rows are equal.
    unit: f64,
    packed: Vec<f32>,
}

/// What a task of Lloyd's step found.
struct Step {
    labels: Vec<u32>,
    changed: usize,
    /// What the change of labels adds to the sums and counts of the clusters.
    sums: Vec<f64>,
    counts: Vec<i64>,
}

impl<'a> Search<'a> {
    fn new(space: &'a Space, scale: Option<&'a [f64]>, k: usize, driver: &'a Driver<'a>) -> Self {
        let (n, d) = (space.rows(), space.columns());
        let mean = scaled_column_means(space, scale, driver);
        let mut search = Search {
            space,
            scale,
            driver,
            k,
            d,
            // Each task returns k sums of rows: with at least 2k rows they take no more room than the packed rows.
            chunk: ROWS.max(2 * k),
            mean,
            total: 0.0,
            unit: 0.0,
            packed: Vec::new(),
        };
        let totals = search.each_chunk(|search, rows| {
            let mut row = vec![0.0; d];
            let mut total = 0.0;
            for i in rows {
                search.read(i, &mut row);
                total += row.iter().map(|x| x * x).sum::<f64>();
            }
            total
        });
        search.total = totals.iter().sum();
        if search.total <= rounding_floor(n, &search.mean) {
            search.total = 0.0;
        } else {
            let spread = (search.total / (n as f64 * d as f64)).sqrt();
            search.unit = 2f64.powi(-spread.log2().round() as i32);
        }
        search.packed = search
            .each_chunk(|search, rows| {
                let mut row = vec![0.0; d];
                let mut packed = Vec::with_capacity(rows.len() * d);
                for i in rows {
                    search.read(i, &mut row);
                    packed.extend(row.iter().map(|x| (x * search.unit) as f32));
                }
                packed
            })
            .concat();
        search
    }

    fn each_chunk<T: Send>(&self, run: impl Fn(&Self, Range<usize>) -> T + Sync) -> Vec<T> {
        let n = self.space.rows();
        self.driver.map(n.div_ceil(self.chunk), |task| {
            let first = task * self.chunk;
            run(self, first..n.min(first + self.chunk))
        })
    }

    /// The centred row `i` in double precision.
    fn read(&self, i: usize, out: &mut [f64]) {
        centered(self.space, self.scale, &self.mean, i..i + 1, 0..self.d, out);
    }

    fn packed_row(&self, i: usize) -> &[f32] {
        &self.packed[i * self.d..(i + 1) * self.d]
    }

    /// Lloyd's steps from the given centres until labels or centres stand still.
    fn lloyd(&self, mut centers: Vec<f64>) -> (Vec<u32>, usize) {
        let (n, d) = (self.space.rows(), self.d);
        let tolerance = TOLERANCE * self.total * self.unit * self.unit / (n as f64 * d as f64);
        let mut labels = vec![UNASSIGNED; n];
        let mut sums = vec![0.0; self.k * d];
        let mut counts = vec![0i64; self.k];
        for iteration in 1..=MOST_ITERATIONS {
            let mut changed = 0;
            let steps = self.step(&centers, &labels);
            for (old, step) in labels.chunks_mut(self.chunk).zip(steps) {
                old.copy_from_slice(&step.labels);
                changed += step.changed;
                sums.iter_mut().zip(&step.sums).for_each(|(s, x)| *s += x);
                counts.iter_mut().zip(&step.counts).for_each(|(s, x)| *s += x);
            }
            if changed == 0 {
                return (labels, iteration);
            }
            if counts.contains(&0) {
                self.fill_empty(&centers, &mut labels, &mut sums, &mut counts);
            }
            let mut shift = 0.0;
            for c in (0..self.k).filter(|c| counts[*c] > 0) {
                for (center, sum) in centers[c * d..(c + 1) * d].iter_mut().zip(&sums[c * d..]) {
                    let moved = sum / counts[c] as f64;
                    shift += (moved - *center).powi(2);
                    *center = moved;
                }
            }
            if shift <= tolerance {
                return (labels, iteration);
            }
        }
        (labels, MOST_ITERATIONS)
    }

    /// Labels by the nearest centre. Sums are returned as changes: most labels stay from step to step.
    fn step(&self, centers: &[f64], labels: &[u32]) -> Vec<Step> {
        let (k, d) = (self.k, self.d);
        let scorer = Scorer::new(centers, 1.0, d);
        self.each_chunk(|search, rows| {
            let mut step = Step {
                labels: labels[rows.clone()].to_vec(),
                changed: 0,
                sums: vec![0.0; k * d],
                counts: vec![0; k],
            };
            scorer.each_strip(search, rows.clone(), |first, strip| {
                for (i, &new) in (first..).zip(&strip.nearest) {
                    let old = std::mem::replace(&mut step.labels[i - rows.start], new);
                    if old == new {
                        continue;
                    }
                    step.changed += 1;
                    if old != UNASSIGNED {
                        add_row(&mut step.sums[old as usize * d..], search.packed_row(i), -1.0);
                        step.counts[old as usize] -= 1;
                    }
                    add_row(&mut step.sums[new as usize * d..], search.packed_row(i), 1.0);
                    step.counts[new as usize] += 1;
                }
            });
            step
        })
    }

    /// Gives each empty cluster the row farthest from its centre, the smaller index if two are equally far.
    ///
    /// A row that sits on its centre or is alone in its cluster is left there; if no other is found, the
    /// cluster stays empty.
    fn fill_empty(&self, centers: &[f64], labels: &mut [u32], sums: &mut [f64], counts: &mut [i64]) {
        let d = self.d;
        let centers: Vec<f32> = centers.iter().map(|c| *c as f32).collect();
        let own = |label: u32| label as usize * d..(label as usize + 1) * d;
        let old: &[u32] = labels;
        let mut distances = self
            .each_chunk(|search, rows| {
                let distance = |i: usize| squared_distance(search.packed_row(i), &centers[own(old[i])]);
                rows.map(distance).collect::<Vec<f32>>()
            })
            .concat();
        for empty in 0..self.k {
            if counts[empty] > 0 {
                continue;
            }
            let mut farthest: Option<usize> = None;
            for (i, distance) in distances.iter().enumerate() {
                let movable = *distance > 0.0 && counts[labels[i] as usize] > 1;
                if movable && farthest.is_none_or(|f| *distance > distances[f]) {
                    farthest = Some(i);
                }
            }
            let Some(i) = farthest else {
                return;
            };
            add_row(&mut sums[own(labels[i])], self.packed_row(i), -1.0);
            counts[labels[i] as usize] -= 1;
            labels[i] = empty as u32;
            add_row(&mut sums[own(labels[i])], self.packed_row(i), 1.0);
            counts[empty] = 1;
            distances[i] = 0.0;
        }
    }

    /// The means of the labelled rows, and labels and costs with respect to them, all in double precision.
    fn exact(&self, labels: &[u32], iterations: usize, restart: usize) -> Clusters {
        let (k, d) = (self.k, self.d);
        let mut centers = vec![0.0; k * d];
        let mut members = vec![0usize; k];
        let sums = self.each_chunk(|search, rows| {
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

    /// The nearest centre with members and the squared distance to it, for each row.
    ///
    /// Single precision picks the centres that may be the nearest, with a margin for its error; double
    /// precision decides among them.
    fn nearest_exact(&self, centers: &[f64], members: &[usize]) -> Vec<(Vec<u32>, Vec<f64>)> {
        let d = self.d;
        let mut scorer = Scorer::new(centers, self.unit, d);
        for (half, members) in scorer.half_lengths.iter_mut().zip(members) {
            if *members == 0 {
                *half = f32::INFINITY;
            }
        }
        let longest = centers.chunks_exact(d).map(|c| c.iter().map(|x| x * x).sum::<f64>());
        let longest = (longest.fold(0.0, f64::max)).sqrt() * self.unit;
        // A sum of d products of rounded factors is off by less than (d + 8) ε times the product of the
        // lengths, whatever the order of summation. Twice, because two scores are compared.
        let error = 2.0 * (d as f64 + 8.0) * f64::from(f32::EPSILON);
        self.each_chunk(|search, rows| {
            let mut row = vec![0.0; d];
            let mut labels = Vec::with_capacity(rows.len());
            let mut costs = Vec::with_capacity(rows.len());
            scorer.each_strip(search, rows, |first, strip| {
                let count = strip.nearest.len();
                for at in 0..count {
                    search.read(first + at, &mut row);
                    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt() * search.unit;
                    let limit = f64::from(strip.lowest[at]) + error * longest * (length + longest);
                    let mut best = (0, f64::INFINITY);
                    for (c, center) in centers.chunks_exact(d).enumerate() {
                        if f64::from(strip.scores[c * count + at]) <= limit {
                            let cost: f64 = row.iter().zip(center).map(|(x, c)| (x - c).powi(2)).sum();
                            if cost < best.1 {
                                best = (c as u32, cost);
                            }
                        }
                    }
                    labels.push(best.0);
                    costs.push(best.1);
                }
            });
            (labels, costs)
        })
    }

    /// Numbers the clusters by their first row and moves the centres back to where the data are.
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

fn add_row(sums: &mut [f64], row: &[f32], sign: f64) {
    for (s, x) in sums.iter_mut().zip(row) {
        *s += sign * f64::from(*x);
    }
}

#[cfg(test)]
mod tests;
