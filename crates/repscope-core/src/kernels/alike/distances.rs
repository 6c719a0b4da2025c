// SPDX-License-Identifier: MIT
//! The distances between some rows of a model: their ranks, for RSA, and their Gaussian kernel, for CKA.
//!
//! All pairs of a sample of m rows are m × m numbers, whatever the number of rows.

use super::gram::doubly_center;
use crate::data::Space;
use crate::run::Driver;

/// Rows per task.
const ROWS: usize = 16;

/// How rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    /// By the length of their difference.
    Euclidean,
    /// By 1 − the correlation of their coordinates.
    Correlation,
}

/// The distances of every two of some rows: a full symmetric matrix. None where a row has no correlation, which is then named.
pub(crate) fn distances(space: &Space, rows: &[u32], apart: Apart, driver: &Driver) -> Result<Vec<f64>, String> {
    let (m, d) = (rows.len(), space.columns());
    let mut values = vec![0.0; m * d];
    for (&row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
        space.read_row(row as usize, out);
        if apart == Apart::Correlation {
            let mean = out.iter().sum::<f64>() / d as f64;
            out.iter_mut().for_each(|x| *x -= mean);
            let length = crate::kernels::prepared::length(out);
            if length <= 4.0 * f64::EPSILON * mean.abs() * (d as f64).sqrt() {
                return Err(format!(
                    "all coordinates of row {row} are the same, so it has no correlation"
                ));
            }
            out.iter_mut().for_each(|x| *x /= length);
        }
    }
    let row = |i: usize| &values[i * d..(i + 1) * d];
    let between = |i: usize, j: usize| {
        let pairs = row(i).iter().zip(row(j));
        match apart {
            Apart::Euclidean => pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
            Apart::Correlation => 1.0 - pairs.map(|(a, b)| a * b).sum::<f64>(),
        }
    };
    let parts = driver.blocks(m, ROWS, |block| {
        let of_row = |i: usize| (0..m).map(move |j| if i == j { 0.0 } else { between(i.min(j), i.max(j)) });
        block.flat_map(of_row).collect::<Vec<f64>>()
    });
    Ok(parts.concat())
}

/// exp(−d² / 2σ²) with σ a multiple of the median distance, U-centered; none where the median is zero.
pub(crate) fn gaussian(mut distances: Vec<f64>, rows: usize, bandwidth: f64) -> Option<Vec<f64>> {
    let mut all: Vec<f64> = upper(rows).map(|(i, j)| distances[i * rows + j]).collect();
    let (count, half) = (all.len(), all.len() / 2);
    let (below, middle, _) = all.select_nth_unstable_by(half, f64::total_cmp);
    // Of an even number, the mean of both in the middle.
    let median = if count % 2 == 1 {
        *middle
    } else {
        f64::midpoint(*middle, below.iter().copied().fold(0.0, f64::max))
    };
    let sigma = bandwidth * median;
    if sigma <= 0.0 {
        return None;
    }
    distances
        .iter_mut()
        .for_each(|d| *d = (-0.5 * (*d / sigma).powi(2)).exp());
    doubly_center(&mut distances, rows);
    Some(distances)
}

/// Every two rows once.
fn upper(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |i| (i + 1..rows).map(move |j| (i, j)))
}

/// The ranks of the distances of all pairs of rows.
pub(crate) struct Ranks {
    rows: usize,
    /// Ranks less their mean, ties sharing theirs: a full symmetric matrix with zeros on its diagonal. Halves up to 2²³ are exact.
    centered: Vec<f32>,
    /// The pairs by distance, and where each run of equal distances ends.
    order: Vec<u32>,
    ends: Vec<u32>,
    /// Σ over pairs of the squared ranks.
    squares: f64,
}

impl Ranks {
    pub(crate) fn new(distances: &[f64], rows: usize) -> Self {
        let flat: Vec<f64> = upper(rows).map(|(i, j)| distances[i * rows + j]).collect();
        let mut order: Vec<u32> = (0..flat.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| flat[a as usize].total_cmp(&flat[b as usize]).then(a.cmp(&b)));
        let middle = (flat.len() as f64 - 1.0) / 2.0;
        let (mut ranks, mut ends) = (vec![0.0f32; flat.len()], Vec::new());
        let mut start = 0;
        while start < order.len() {
            let value = flat[order[start] as usize];
            let run = order[start..]
                .iter()
                .take_while(|&&pair| flat[pair as usize] == value)
                .count();
            let rank = start as f64 + (run as f64 - 1.0) / 2.0 - middle;
            order[start..start + run]
                .iter()
                .for_each(|&pair| ranks[pair as usize] = rank as f32);
            start += run;
            ends.push(start as u32);
        }
        let mut centered = vec![0.0; rows * rows];
        for ((i, j), rank) in upper(rows).zip(&ranks) {
            centered[i * rows + j] = *rank;
            centered[j * rows + i] = *rank;
        }
        Ranks {
            rows,
            squares: ranks.iter().map(|&r| f64::from(r).powi(2)).sum(),
            centered,
            order,
            ends,
        }
    }

    /// Whether all distances are the same.
    pub(crate) fn are_tied(&self) -> bool {
        self.squares == 0.0
    }

    /// Spearman's correlation of the distances, with row i of the other model being row `order[i]`.
    pub(crate) fn correlation(&self, other: &Ranks, order: Option<&[u32]>) -> f64 {
        let m = self.rows;
        let of_row = |i: usize| -> f64 {
            let own = &self.centered[i * m..(i + 1) * m];
            match order {
                None => {
                    let pairs = own.iter().zip(&other.centered[i * m..(i + 1) * m]);
                    pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
                }
                Some(order) => {
                    let row = order[i] as usize;
                    let theirs = &other.centered[row * m..(row + 1) * m];
                    let pairs = own.iter().zip(order);
                    pairs.map(|(a, &j)| f64::from(*a) * f64::from(theirs[j as usize])).sum()
                }
            }
        };
        let products: f64 = (0..m).map(of_row).sum();
        products / 2.0 / (self.squares * other.squares).sqrt()
    }

    /// What each row does to the correlation, as the derivative by its weight: that of its pairs, each of which counts with its own ranks
    /// and moves those of all others.
    pub(crate) fn effects(&self, other: &Ranks) -> Vec<f64> {
        let m = self.rows;
        let (own, theirs) = (self.flat(), other.flat());
        let (moved, pushed) = (self.above(&theirs), other.above(&own));
        let scale = 1.0 / (self.squares * other.squares).sqrt();
        let count = own.len() as f64;
        let effect = |pair: usize| scale * (own[pair] * theirs[pair] + moved[pair] + pushed[pair]);
        let all: Vec<f64> = (0..own.len()).map(effect).collect();
        let center = all.iter().sum::<f64>() / count;
        let mut sums = vec![0.0; m];
        for ((i, j), effect) in upper(m).zip(&all) {
            sums[i] += effect - center;
            sums[j] += effect - center;
        }
        sums
    }

    fn flat(&self) -> Vec<f64> {
        upper(self.rows)
            .map(|(i, j)| f64::from(self.centered[i * self.rows + j]))
            .collect()
    }

    /// For each pair, the sum of these values over the pairs that are farther apart; those as far count half.
    fn above(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; values.len()];
        let (mut start, mut left) = (0, values.iter().sum::<f64>());
        for &end in &self.ends {
            let run = &self.order[start..end as usize];
            let own: f64 = run.iter().map(|&pair| values[pair as usize]).sum();
            left -= own;
            run.iter().for_each(|&pair| sums[pair as usize] = left + own / 2.0);
            start = end as usize;
        }
        sums
    }
}

/// The correlation of two U-centered matrices, with row i of the second being row `order[i]`.
pub(crate) fn shuffled_correlation(a: &[f64], b: &[f64], order: &[u32], norm: f64) -> f64 {
    let m = order.len();
    let of_row = |i: usize| -> f64 {
        let (own, row) = (&a[i * m..(i + 1) * m], order[i] as usize);
        let theirs = &b[row * m..(row + 1) * m];
        own.iter().zip(order).map(|(a, &j)| a * theirs[j as usize]).sum()
    };
    (0..m).map(of_row).sum::<f64>() / norm
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::run::Order;
    use rand::RngExt;

    fn ranks(columns: usize, seed: u64) -> Ranks {
        let mut rng = stream(seed, "distances", 0);
        let values = (0..12 * columns).map(|_| rng.random_range(-1.0..1.0)).collect();
        let space = Space::from_f64("z", 12, columns, values).unwrap();
        let rows: Vec<u32> = (0..12).collect();
        let found = distances(&space, &rows, Apart::Euclidean, &Driver::silent(Order::Serial)).unwrap();
        Ranks::new(&found, 12)
    }

    #[test]
    fn ties_share_their_ranks() {
        // Distances 1, 1, 2 of three points on a line.
        let space = Space::from_f64("z", 3, 1, vec![0.0, 1.0, 2.0]).unwrap();
        let found = distances(&space, &[0, 1, 2], Apart::Euclidean, &Driver::silent(Order::Serial)).unwrap();
        let ranks = Ranks::new(&found, 3);
        assert_eq!(ranks.flat(), [-0.5, 1.0, -0.5]);
        assert!(!ranks.are_tied() && Ranks::new(&[0.0; 9], 3).are_tied());
    }

    #[test]
    fn a_row_does_what_more_weight_on_its_pairs_does() {
        // Spearman's correlation where pairs of a row count a little more: ranks are weighted shares of pairs below.
        let (a, b) = (ranks(2, 1), ranks(3, 2));
        let (x, y) = (a.flat(), b.flat());
        let weighted = |row: usize, weight: f64| {
            let of_pair: Vec<f64> = upper(12)
                .map(|(i, j)| if i == row || j == row { weight } else { 1.0 })
                .collect();
            let total: f64 = of_pair.iter().sum();
            let share = |values: &[f64]| -> Vec<f64> {
                let below = |v: f64| {
                    let counted = values.iter().zip(&of_pair);
                    counted
                        .map(|(u, w)| {
                            if *u < v {
                                *w
                            } else if *u == v {
                                w / 2.0
                            } else {
                                0.0
                            }
                        })
                        .sum::<f64>()
                        / total
                };
                values.iter().map(|v| below(*v) - 0.5).collect()
            };
            let (f, g) = (share(&x), share(&y));
            let products = f.iter().zip(&g).zip(&of_pair);
            products.map(|((f, g), w)| w * f * g).sum::<f64>() / total
        };
        let effects = a.effects(&b);
        let scale = (a.squares * b.squares).sqrt() / (x.len() as f64).powi(3);
        for row in [0, 5, 11] {
            let step = 1e-4;
            let slope = (weighted(row, 1.0 + step) - weighted(row, 1.0 - step)) / (2.0 * step);
            // The weighted form keeps the variance of ranks as it is, up to the ties of a pair with itself.
            assert!(
                (effects[row] * scale - slope).abs() < 0.02 * scale,
                "{} {}",
                effects[row] * scale,
                slope
            );
        }
        assert!(effects.iter().sum::<f64>().abs() < 1e-9);
    }

    #[test]
    fn rows_of_a_copy_correlate_wherever_they_stand() {
        let a = ranks(3, 4);
        assert!((a.correlation(&a, None) - 1.0).abs() < 1e-12);
        let same: Vec<u32> = (0..12).collect();
        assert!((a.correlation(&a, Some(&same)) - 1.0).abs() < 1e-12);
    }
}
