// SPDX-License-Identifier: MIT
//! Statistics of all pairs of a sample: the unbiased estimate of the squared maximum mean discrepancy, and of the energy distance.
//!
//! With k̃ a kernel whose diagonal is left out, the U-statistic is
//!
//! Σ k(x, x′) / (m (m − 1)) + Σ k(y, y′) / (n (n − 1)) − 2 Σ k(x, y) / (m n).
//!
//! The energy distance is that of k = −‖x − y‖. Where other rows are new, it follows from two products of the kernel with their marks, so
//! many draws are one product of matrices.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::Pool;
use super::relabel::Exchange;
use crate::data::Space;
use crate::run::Driver;

/// Rows of a task, and draws that are multiplied at a time.
const ROWS: usize = 16;
const DRAWS: usize = 32;

/// The numbers of some rows, one below the other.
pub(crate) fn values(pool: &Pool, new: &Space, old: &Space) -> Vec<f64> {
    let (d, first) = (new.columns(), new.rows() as u32);
    let mut values = vec![0.0; pool.rows.len() * d];
    for (&row, out) in pool.rows.iter().zip(values.chunks_exact_mut(d)) {
        if row < first {
            new.read_row(row as usize, out);
        } else {
            old.read_row((row - first) as usize, out);
        }
    }
    values
}

/// A symmetric matrix of rows, from what two of them give; its diagonal is zero.
pub(crate) fn matrix(values: &[f64], d: usize, of: impl Fn(&[f64], &[f64]) -> f64 + Sync, driver: &Driver) -> Vec<f64> {
    let m = values.len() / d;
    let row = |i: usize| &values[i * d..(i + 1) * d];
    let of = &of;
    let parts = driver.blocks(m, ROWS, |block| {
        let of_row = |i: usize| (0..m).map(move |j| if i == j { 0.0 } else { of(row(i.min(j)), row(i.max(j))) });
        block.flat_map(of_row).collect::<Vec<f64>>()
    });
    parts.concat()
}

/// ‖x − y‖.
pub(crate) fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The median distance of two different rows of the pool; of an even number of pairs the mean of both in the middle.
pub(crate) fn median(distances: &[f64], rows: usize) -> f64 {
    let mut all: Vec<f64> = (0..rows)
        .flat_map(|i| &distances[i * rows + i + 1..(i + 1) * rows])
        .copied()
        .collect();
    let (count, half) = (all.len(), all.len() / 2);
    let (below, middle, _) = all.select_nth_unstable_by(half, f64::total_cmp);
    if count % 2 == 1 {
        *middle
    } else {
        f64::midpoint(*middle, below.iter().copied().fold(0.0, f64::max))
    }
}

/// A kernel of the rows of a pool.
pub(crate) struct Kernel {
    values: Vec<f64>,
    /// What each row has with itself, which the statistic leaves out.
    own: Vec<f64>,
    rows: usize,
    sums: Vec<f64>,
    total: f64,
}

/// A statistic, and what each row does to it.
pub(crate) struct Statistic {
    pub(crate) value: f64,
    pub(crate) effects: Vec<f64>,
    /// The least that the value can be: minus what rows paired with themselves would add, with which it would be a squared distance.
    pub(crate) least: f64,
}

impl Kernel {
    /// From a symmetric matrix whose diagonal is zero, and its true diagonal.
    pub(crate) fn new(values: Vec<f64>, own: Vec<f64>) -> Self {
        let rows = own.len();
        let sums: Vec<f64> = values.chunks_exact(rows).map(|row| row.iter().sum()).collect();
        Kernel {
            total: sums.iter().sum(),
            sums,
            values,
            own,
            rows,
        }
    }

    /// From the sums over new rows of all their pairs and of those among themselves.
    fn of_sums(&self, new: usize, [all, among]: [f64; 2]) -> Option<f64> {
        let (m, n) = (new as f64, (self.rows - new) as f64);
        let (cross, others) = (all - among, self.total - 2.0 * all + among);
        (m >= 2.0 && n >= 2.0).then(|| among / (m * (m - 1.0)) + others / (n * (n - 1.0)) - 2.0 * cross / (m * n))
    }

    /// The statistic under other marks, so many times; draws that leave a set with fewer than two rows are left out.
    pub(crate) fn draws(&self, exchange: &Exchange, seed: u64, name: &str, count: usize, driver: &Driver) -> Vec<f64> {
        let n = self.rows;
        let kernel = MatRef::from_row_major_slice(&self.values, n, n);
        let parts = driver.blocks(count, DRAWS, |draws| {
            let marks: Vec<Vec<bool>> = draws.map(|number| exchange.draw(seed, name, number)).collect();
            let columns = Mat::from_fn(n, marks.len(), |i, j| f64::from(u8::from(marks[j][i])));
            let mut sums = Mat::zeros(n, marks.len());
            matmul(sums.as_mut(), Accum::Replace, kernel, columns.as_ref(), 1.0, Par::Seq);
            let of_draw = |(j, own): (usize, &Vec<bool>)| {
                let new: Vec<usize> = (0..n).filter(|&i| own[i]).collect();
                let all: f64 = new.iter().map(|&i| self.sums[i]).sum();
                let among: f64 = new.iter().map(|&i| sums[(i, j)]).sum();
                self.of_sums(new.len(), [all, among])
            };
            marks.iter().enumerate().filter_map(of_draw).collect::<Vec<f64>>()
        });
        parts.concat()
    }

    /// The statistic of the pool.
    pub(crate) fn statistic(&self, pool: &Pool) -> Option<Statistic> {
        let (rows, new) = (self.rows, pool.new);
        let sizes = [new as f64, (rows - new) as f64];
        if sizes.iter().any(|size| *size < 2.0) {
            return None;
        }
        let set = |row: usize| usize::from(row >= new);
        let row = |i: usize| &self.values[i * rows..(i + 1) * rows];
        // Mean over the own set without the row itself, and over the other set.
        let (mut own, mut cross) = (vec![0.0; rows], vec![0.0; rows]);
        for i in 0..rows {
            let (first, second) = row(i).split_at(new);
            let sums = [first.iter().sum::<f64>(), second.iter().sum::<f64>()];
            let (mine, theirs) = (set(i), 1 - set(i));
            own[i] = sums[mine] / (sizes[mine] - 1.0);
            cross[i] = sums[theirs] / sizes[theirs];
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let within = [mean(&own[..new]), mean(&own[new..])];
        let between = mean(&cross[..new]);
        let value = within[0] + within[1] - 2.0 * between;
        let effect = |i: usize| 2.0 * ((own[i] - within[set(i)]) - (cross[i] - between)) / sizes[set(i)];
        let effects = (0..rows).map(effect).collect();
        let with_itself = [mean(&self.own[..new]), mean(&self.own[new..])];
        let more = |set: usize| (with_itself[set] - within[set]) / sizes[set];
        Some(Statistic {
            value,
            effects,
            least: -(more(0) + more(1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn pool(new: usize, rows: usize) -> Pool {
        Pool {
            equal: 0,
            rows: (0..rows as u32).collect(),
            new,
            groups: None,
        }
    }

    #[test]
    fn the_energy_distance_of_four_points_is_that_by_hand() {
        // New 0 and 2, reference 1 and 5: 2·(1 + 5 + 1 + 3)/4 − 2 − 4 = −1.
        let driver = Driver::silent(Order::Serial);
        let kernel = matrix(&[0.0, 2.0, 1.0, 5.0], 1, |x, y| -distance(x, y), &driver);
        let found = Kernel::new(kernel, vec![0.0; 4]).statistic(&pool(2, 4)).unwrap();
        assert!((found.value + 1.0).abs() < 1e-12, "{}", found.value);
        // With the zeros of the diagonal: 2·(1 + 5 + 1 + 3)/4 − 2/2 − 4/2 = 2, which is 3 more.
        assert!((found.least + 3.0).abs() < 1e-12, "{}", found.least);
        assert!(found.effects.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn draws_are_the_statistic_of_the_same_marks() {
        let values: Vec<f64> = (0..14).map(|i| f64::from(i * i % 17)).collect();
        let driver = Driver::silent(Order::Serial);
        let matrix = matrix(&values, 2, |x, y| (-distance(x, y)).exp(), &driver);
        let kernel = Kernel::new(matrix.clone(), vec![1.0; 7]);
        let exchange = Exchange::new(&pool(3, 7).marks(), None);
        let draws = kernel.draws(&exchange, 5, "test", 40, &driver);
        for (number, found) in draws.iter().enumerate() {
            let marks = exchange.draw(5, "test", number);
            let order: Vec<usize> = (0..7)
                .filter(|&i| marks[i])
                .chain((0..7).filter(|&i| !marks[i]))
                .collect();
            let moved = order.iter().flat_map(|&i| order.iter().map(move |&j| i * 7 + j));
            let moved = Kernel::new(moved.map(|at| matrix[at]).collect(), vec![1.0; 7]);
            let expected = moved.statistic(&pool(3, 7)).unwrap().value;
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn a_row_does_what_more_weight_on_it_does() {
        let values: Vec<f64> = (0..12).map(|i| (f64::from(i) * 1.7).sin()).collect();
        let driver = Driver::silent(Order::Serial);
        let matrix = matrix(&values, 1, |x, y| -distance(x, y), &driver);
        let found = Kernel::new(matrix.clone(), vec![0.0; 12])
            .statistic(&pool(5, 12))
            .unwrap();
        // Pairs weighted by the product of the weights of their rows.
        let weighted = |row: usize, by: f64| {
            let w = |i: usize| if i == row { 1.0 + by } else { 1.0 };
            let mean = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
                let pairs = a.flat_map(|i| b.clone().map(move |j| (i, j))).filter(|(i, j)| i != j);
                let (sum, total) = pairs.fold((0.0, 0.0), |(sum, total), (i, j)| {
                    (sum + w(i) * w(j) * matrix[i * 12 + j], total + w(i) * w(j))
                });
                sum / total
            };
            mean(0..5, 0..5) + mean(5..12, 5..12) - 2.0 * mean(0..5, 5..12)
        };
        for row in [0, 4, 5, 11] {
            let slope = (weighted(row, 1e-5) - weighted(row, -1e-5)) / 2e-5;
            assert!(
                (found.effects[row] - slope).abs() < 1e-8,
                "{} {slope}",
                found.effects[row]
            );
        }
    }
}
