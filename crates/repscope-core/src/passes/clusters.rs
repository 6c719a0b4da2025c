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

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::moments::{centered, rounding_floor, scaled_column_means};
use crate::data::Space;
use crate::random;
use crate::run::Driver;

/// Fewest rows per task.
const ROWS: usize = 1024;
/// Rows per matrix product: keeps the scores of a few centres in the cache.
const STRIP: usize = 256;
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
    for restart in 0..restarts {
        let seeds = search.seeds(&mut random::stream(seed, "kmeans", restart as u64));
        let (labels, iterations) = search.lloyd(seeds);
        let found = search.exact(&labels, iterations, restart);
        if best.as_ref().is_none_or(|b| found.inertia < b.inertia) {
            best = Some(found);
        }
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

    /// Greedy k-means++: each next centre is a row drawn with probability proportional to its squared
    /// distance from the nearest centre so far; of a few such draws the one that helps most is kept.
    fn seeds(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let n = self.space.rows();
        let trials = 2 + (self.k as f64).ln() as usize;
        let mut chosen = vec![((uniform(rng) * n as f64) as usize).min(n - 1)];
        let mut closest = vec![f32::INFINITY; n];
        let mut totals = self.try_seeds(&chosen, &mut closest).1;
        while chosen.len() < self.k {
            let potential: f64 = totals.iter().sum();
            if potential == 0.0 {
                // Every row is a centre already: the clusters left over will be empty.
                chosen.resize(self.k, chosen[0]);
                break;
            }
            let mut candidates = Vec::with_capacity(trials);
            for _ in 0..trials {
                candidates.push(self.draw(&closest, &totals, uniform(rng) * potential));
            }
            let (best, new_totals) = self.try_seeds(&candidates, &mut closest);
            chosen.push(candidates[best]);
            totals = new_totals;
        }
        let rows = chosen.iter().flat_map(|&i| self.packed_row(i));
        rows.map(|x| f64::from(*x)).collect()
    }

    /// Chooses the candidate that lowers the sum of `closest` most, updates `closest` with it, and returns its
    /// number and the new sum of each chunk.
    fn try_seeds(&self, candidates: &[usize], closest: &mut [f32]) -> (usize, Vec<f64>) {
        let old: &[f32] = closest;
        let parts = self.each_chunk(|search, rows| {
            let mut tried = Vec::with_capacity(candidates.len());
            for &candidate in candidates {
                let center = search.packed_row(candidate);
                let mut distances = old[rows.clone()].to_vec();
                let x = &search.packed[rows.start * search.d..rows.end * search.d];
                Arch::new().dispatch(|| shorten(&mut distances, x, center));
                let sum: f64 = distances.iter().map(|x| f64::from(*x)).sum();
                tried.push((sum, distances));
            }
            tried
        });
        let potential = |c: usize| parts.iter().map(|tried| tried[c].0).sum::<f64>();
        let mut best = (0, potential(0));
        for c in 1..candidates.len() {
            let p = potential(c);
            if p < best.1 {
                best = (c, p);
            }
        }
        for (closest, tried) in closest.chunks_mut(self.chunk).zip(&parts) {
            closest.copy_from_slice(&tried[best.0].1);
        }
        (best.0, parts.iter().map(|tried| tried[best.0].0).collect())
    }

    /// The row at which the running sum of `closest` passes `target`.
    fn draw(&self, closest: &[f32], totals: &[f64], target: f64) -> usize {
        let mut left = target;
        for (c, total) in totals.iter().enumerate() {
            if left >= *total {
                left -= total;
                continue;
            }
            let first = c * self.chunk;
            for (i, distance) in closest.iter().enumerate().skip(first).take(self.chunk) {
                left -= f64::from(*distance);
                if left < 0.0 {
                    return i;
                }
            }
        }
        // Rounding carried the sum past the end.
        closest.len() - 1
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

/// Scores ‖c‖²/2 − x·c of rows against centres: smallest at the nearest centre.
struct Scorer {
    centers: Vec<f32>,
    half_lengths: Vec<f32>,
    d: usize,
}

impl Scorer {
    fn new(centers: &[f64], unit: f64, d: usize) -> Self {
        let half = |c: &[f64]| (c.iter().map(|x| (x * unit).powi(2)).sum::<f64>() / 2.0) as f32;
        Scorer {
            centers: centers.iter().map(|c| (c * unit) as f32).collect(),
            half_lengths: centers.chunks_exact(d).map(half).collect(),
            d,
        }
    }

    /// Calls `take` with the first row and the scores of each strip of the range.
    fn each_strip(&self, search: &Search, rows: Range<usize>, mut take: impl FnMut(usize, &Strip)) {
        let (k, d) = (self.half_lengths.len(), self.d);
        let centers = MatRef::from_row_major_slice(&self.centers, k, d);
        let mut strip = Strip::default();
        for first in rows.clone().step_by(STRIP) {
            let count = STRIP.min(rows.end - first);
            strip.scores.resize(count * k, 0.0);
            let x = MatRef::from_row_major_slice(&search.packed[first * d..(first + count) * d], count, d);
            let out = MatMut::from_column_major_slice_mut(&mut strip.scores, count, k);
            matmul(out, Accum::Replace, x, centers.transpose(), -1.0f32, Par::Seq);
            strip.lowest.clear();
            strip.lowest.resize(count, f32::INFINITY);
            strip.nearest.clear();
            strip.nearest.resize(count, 0);
            Arch::new().dispatch(|| strip.finish(&self.half_lengths));
            take(first, &strip);
        }
    }
}

/// The scores of a few rows.
#[derive(Default)]
struct Strip {
    /// All rows against the first centre, then against the second, and so on.
    scores: Vec<f32>,
    /// The lowest score of each row.
    lowest: Vec<f32>,
    /// The centre it belongs to, the smaller number if there are several.
    nearest: Vec<u32>,
}

impl Strip {
    /// Adds ‖c‖²/2 to the products and finds the lowest score of each row. Written without branches and with
    /// rows innermost, for vector instructions.
    #[inline(always)]
    fn finish(&mut self, half_lengths: &[f32]) {
        let scores = self.scores.chunks_exact_mut(self.lowest.len());
        for ((c, scores), half) in (0u32..).zip(scores).zip(half_lengths) {
            for ((score, lowest), nearest) in scores.iter_mut().zip(&mut self.lowest).zip(&mut self.nearest) {
                *score += half;
                let lower = *score < *lowest;
                *lowest = if lower { *score } else { *lowest };
                *nearest = if lower { c } else { *nearest };
            }
        }
    }
}

fn add_row(sums: &mut [f64], row: &[f32], sign: f64) {
    for (s, x) in sums.iter_mut().zip(row) {
        *s += sign * f64::from(*x);
    }
}

/// Replaces each distance by that to `center` if it is smaller; `rows` are packed one after the other.
#[inline(always)]
fn shorten(distances: &mut [f32], rows: &[f32], center: &[f32]) {
    for (distance, row) in distances.iter_mut().zip(rows.chunks_exact(center.len())) {
        *distance = distance.min(squared_distance(row, center));
    }
}

/// ‖x − y‖² by differences, so that it is 0 for equal rows; in 16 running sums, for vector instructions.
#[inline(always)]
fn squared_distance(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (x, x_rest) = x.as_chunks::<16>();
    let (y, y_rest) = y.as_chunks::<16>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..16 {
            let difference = x[lane] - y[lane];
            sums[lane] += difference * difference;
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| (x - y) * (x - y)).sum();
    sums.iter().sum::<f32>() + rest
}

/// A number in 0..1 with 53 random bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn cluster(n: usize, d: usize, values: Vec<f64>, k: usize) -> Clusters {
        let space = Space::from_f64("z", n, d, values).unwrap();
        kmeans(&space, None, k, 10, 42, &Driver::silent(Order::Serial))
    }

    /// `n` rows around `k` far corners, in turn; offset by `offset`.
    fn blobs(n: usize, d: usize, k: usize, offset: f64) -> Vec<f64> {
        let mut rng = random::stream(5, "test", 0);
        let corners: Vec<f64> = (0..k * d).map(|_| 20.0 * uniform(&mut rng)).collect();
        let mut values = Vec::with_capacity(n * d);
        for i in 0..n {
            let corner = &corners[i % k * d..][..d];
            values.extend(corner.iter().map(|c| offset + c + uniform(&mut rng)));
        }
        values
    }

    /// Labels, costs and inertia from the centres, by the definition.
    fn check_against_definition(c: &Clusters, values: &[f64], d: usize) {
        for (i, row) in values.chunks_exact(d).enumerate() {
            let cost = |j: usize| -> f64 {
                let center = &c.centers[j * d..(j + 1) * d];
                row.iter().zip(center).map(|(x, y)| (x - y).powi(2)).sum()
            };
            let own = cost(c.labels[i] as usize);
            assert!((own - c.costs[i]).abs() <= 1e-9 * c.total.max(1.0));
            for j in (0..c.k).filter(|j| c.counts[*j] > 0) {
                assert!(own <= cost(j) + 1e-9 * c.total.max(1.0), "row {i}");
            }
        }
        let sum: f64 = c.costs.iter().sum();
        assert!((sum - c.inertia).abs() <= 1e-12 * sum.max(1e-300));
        assert_eq!(c.counts.iter().sum::<usize>(), c.labels.len());
    }

    #[test]
    fn two_pairs_on_a_line_are_found() {
        // Means 0.5 and 10.5, each row 0.5 away: inertia 4 · 0.25; total 2 · (5.5² + 4.5²).
        let c = cluster(4, 1, vec![0.0, 10.0, 1.0, 11.0], 2);
        assert_eq!(c.labels, [0, 1, 0, 1]);
        assert_eq!(c.centers, [0.5, 10.5]);
        assert_eq!(c.counts, [2, 2]);
        assert_eq!((c.inertia, c.total), (1.0, 101.0));
    }

    #[test]
    fn separate_blobs_are_found_and_numbered_by_their_first_row() {
        let values = blobs(3000, 20, 7, 0.0);
        let c = cluster(3000, 20, values.clone(), 7);
        let expected: Vec<u32> = (0..3000).map(|i| i % 7).collect();
        assert_eq!(c.labels, expected);
        check_against_definition(&c, &values, 20);
    }

    #[test]
    fn overlapping_data_give_a_stable_partition() {
        let values = blobs(2500, 3, 1, 0.0);
        let c = cluster(2500, 3, values.clone(), 8);
        check_against_definition(&c, &values, 3);
        assert!(c.counts.iter().all(|n| *n > 0) && c.iterations > 2);
    }

    #[test]
    fn the_inertia_is_as_low_as_that_of_scikit_learn() {
        // x = np.array([[(i * 37 % 101), (i * 53 % 89)] for i in range(500)], float)
        // KMeans(6, n_init=50, random_state=0, tol=0).fit(x).inertia_, scikit-learn 1.9.1:
        // 129853.10999878586; a single start may end in a worse minimum, ten should come close.
        let values = (0..500u32).flat_map(|i| [f64::from(i * 37 % 101), f64::from(i * 53 % 89)]);
        let c = cluster(500, 2, values.collect(), 6);
        assert!(c.inertia <= 129853.11 * 1.001, "{}", c.inertia);
    }

    #[test]
    fn a_large_offset_changes_no_label() {
        // Numbers near 1e6 are spaced by 1.2e-10: costs agree to about 1e-9.
        let near = cluster(500, 5, blobs(500, 5, 4, 0.0), 4);
        let far = cluster(500, 5, blobs(500, 5, 4, 1e6), 4);
        assert_eq!(near.labels, far.labels);
        assert!((near.inertia - far.inertia).abs() < 1e-8 * near.inertia);
        assert!((near.total - far.total).abs() < 1e-8 * near.total);
    }

    #[test]
    fn the_unit_of_the_data_changes_no_label() {
        let values = blobs(500, 5, 4, 0.0);
        let plain = cluster(500, 5, values.clone(), 6);
        for unit in [1e-40, 1e40] {
            let scaled = cluster(500, 5, values.iter().map(|x| x * unit).collect(), 6);
            assert_eq!(plain.labels, scaled.labels);
        }
    }

    #[test]
    fn one_cluster_is_the_mean() {
        let c = cluster(3, 2, vec![0.0, 0.0, 3.0, 0.0, 0.0, 3.0], 1);
        assert_eq!(c.centers, [1.0, 1.0]);
        assert_eq!((c.inertia, c.total), (12.0, 12.0));
    }

    #[test]
    fn as_many_clusters_as_rows_cost_nothing() {
        let c = cluster(40, 3, blobs(40, 3, 1, 0.0), 40);
        assert_eq!(c.labels, (0..40).collect::<Vec<u32>>());
        assert!(c.inertia <= 1e-25, "{}", c.inertia);
    }

    #[test]
    fn too_few_distinct_rows_leave_clusters_empty() {
        let values = [[1.0, 2.0], [5.0, 5.0], [1.0, 2.0]].concat();
        let c = cluster(3, 2, values, 5);
        assert_eq!(c.labels, [0, 1, 0]);
        assert_eq!(c.counts, [2, 1, 0, 0, 0]);
        assert!(c.inertia < 1e-25 && c.centers.iter().all(|x| x.is_finite()));
        assert_eq!(c.centers[..4], [1.0, 2.0, 5.0, 5.0]);
    }

    #[test]
    fn equal_rows_are_one_cluster() {
        for value in [0.0, 0.1, 1e6 + 0.1] {
            let c = cluster(2000, 3, vec![value; 6000], 3);
            assert_eq!((c.counts, c.inertia, c.total), (vec![2000, 0, 0], 0.0, 0.0));
        }
    }

    #[test]
    fn one_row_and_two_rows_are_clustered() {
        let one = cluster(1, 2, vec![3.0, 4.0], 1);
        assert_eq!((one.labels, one.centers, one.total), (vec![0], vec![3.0, 4.0], 0.0));
        let two = cluster(2, 1, vec![3.0, 5.0], 2);
        assert_eq!(
            (two.labels, two.centers, two.inertia),
            (vec![0, 1], vec![3.0, 5.0], 0.0)
        );
    }

    #[test]
    fn a_scale_multiplies_the_rows() {
        let space = Space::from_f64("z", 4, 2, vec![1.0, 0.0, 0.0, 8.0, 4.0, 0.0, 0.0, 2.0]).unwrap();
        let scale = [1.0, 0.125, 0.25, 0.5];
        let c = kmeans(&space, Some(&scale), 2, 3, 42, &Driver::silent(Order::Serial));
        assert_eq!(c.labels, [0, 1, 0, 1]);
        assert_eq!(c.centers, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(c.total, 2.0);
    }

    #[test]
    fn an_empty_cluster_takes_the_farthest_row() {
        // All centres start at one place, so all but one are empty after the first step.
        let space = Space::from_f64("z", 5, 1, vec![0.0, 1.0, 2.0, 3.0, 100.0]).unwrap();
        let driver = Driver::silent(Order::Serial);
        let search = Search::new(&space, None, 2, &driver);
        let (labels, _) = search.lloyd(vec![0.0, 0.0]);
        assert_eq!(labels, [0, 0, 0, 0, 1]);
    }

    #[test]
    fn the_driver_does_not_change_a_bit() {
        let space = Space::from_f64("z", 5000, 6, blobs(5000, 6, 2, 0.0)).unwrap();
        let one = kmeans(&space, None, 9, 3, 1, &Driver::silent(Order::Serial));
        for order in [Order::Parallel, Order::Shuffled(3)] {
            let other = kmeans(&space, None, 9, 3, 1, &Driver::silent(order));
            assert_eq!(one, other, "{order:?}");
            assert_eq!(one.inertia.to_bits(), other.inertia.to_bits(), "{order:?}");
        }
    }
}
