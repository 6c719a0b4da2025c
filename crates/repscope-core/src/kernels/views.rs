// SPDX-License-Identifier: MIT
//! Two views of each sample: the distances of matching unit-length embeddings, of embeddings that do not match, and the kernel sums
//! of the second view; and the distances of any given pairs.

use super::moments::{centered, scaled_column_means};
use super::prepared::{Preparation, Prepared, length, unit_factors};
use super::tiles::{Anchors, Ask, sweep};
use crate::data::Space;
use crate::error::{Error, Result};
use crate::random;
use crate::run::Driver;
use crate::spec::Spec;

/// Rows per task.
const ROWS: usize = 1024;

/// What two views of the same samples have to do with each other.
pub(crate) struct Views {
    /// ‖x_i − y_i‖^α of each row.
    pub(crate) powers: Vec<f64>,
    /// The mean of ‖x_i − y_j‖^α over i ≠ j; none with one row.
    pub(crate) mismatched: Option<f64>,
    /// Kernel sums over the pairs of the second view, by query; empty with one row.
    pub(crate) kernel: Vec<f64>,
}

/// A space and 1 / ‖x‖ of each of its rows.
struct Unit<'a> {
    space: &'a Space,
    factors: Vec<f64>,
}

impl Views {
    pub(crate) fn new(
        embeddings: &Space,
        view: &Space,
        spec: &Spec,
        anchors: Anchors,
        driver: &Driver,
    ) -> Result<Self> {
        let x = Unit::new(embeddings)?;
        let y = Unit::new(view)?;
        let rows = embeddings.rows();
        let powers = powers(&x, &y, |i| i, spec.alpha, driver);
        if rows == 1 {
            return Ok(Views {
                powers,
                mismatched: None,
                kernel: Vec::new(),
            });
        }
        let mismatched = if spec.alpha == 2.0 {
            mismatched_squares(&x, &y, &powers, driver)
        } else {
            let partners = partners(rows, spec.seed);
            let drawn = self::powers(&x, &y, |i| partners[i] as usize, spec.alpha, driver);
            drawn.iter().sum::<f64>() / rows as f64
        };
        let prepared = Prepared::new(view, Preparation::Unit, driver)?;
        let ask = Ask {
            kernel: Some(spec.t),
            ..Ask::default()
        };
        let kernel = sweep(&prepared, anchors, &ask, driver).kernel;
        Ok(Views {
            powers,
            mismatched: Some(mismatched),
            kernel: kernel.ok_or_else(|| Error::Internal("a sweep without its kernel sums".to_string()))?,
        })
    }
}

impl<'a> Unit<'a> {
    fn new(space: &'a Space) -> Result<Self> {
        Ok(Unit {
            space,
            factors: unit_factors(space)?,
        })
    }

    /// Row `i` minus `center`.
    fn read(&self, i: usize, center: &[f64], out: &mut [f64]) {
        centered(self.space, Some(&self.factors), center, i..i + 1, 0..center.len(), out);
    }

    fn mean(&self, driver: &Driver) -> Vec<f64> {
        scaled_column_means(self.space, Some(&self.factors), driver)
    }

    /// The mean of ‖x_i − mean‖².
    fn variance(&self, mean: &[f64], driver: &Driver) -> f64 {
        let squares = by_row(self.space.rows(), mean.len(), driver, |i, row| {
            self.read(i, mean, row);
            row.iter().map(|v| v * v).sum()
        });
        squares.iter().sum::<f64>() / squares.len() as f64
    }
}

/// A number of each row, computed with `room` for so many numbers.
fn by_row(rows: usize, room: usize, driver: &Driver, of: impl Fn(usize, &mut [f64]) -> f64 + Sync) -> Vec<f64> {
    let parts = driver.blocks(rows, ROWS, |rows| {
        let mut room = vec![0.0; room];
        rows.map(|i| of(i, &mut room)).collect::<Vec<f64>>()
    });
    parts.concat()
}

/// ‖x_i − y_j‖^α of each row i and its partner j.
fn powers(x: &Unit, y: &Unit, partner: impl Fn(usize) -> usize + Sync, alpha: f64, driver: &Driver) -> Vec<f64> {
    let columns = x.space.columns();
    let zero = vec![0.0; columns];
    by_row(x.space.rows(), 2 * columns, driver, |i, room| {
        let (other, difference) = room.split_at_mut(columns);
        y.read(partner(i), &zero, other);
        x.read(i, other, difference);
        length(difference).powf(alpha)
    })
}

/// The mean of ‖x_i − y_j‖² over i ≠ j. Over all i and j it is var x + var y + ‖x̄ − ȳ‖²; the matching pairs are taken out.
fn mismatched_squares(x: &Unit, y: &Unit, matching: &[f64], driver: &Driver) -> f64 {
    let (x_mean, y_mean) = (x.mean(driver), y.mean(driver));
    let gap: f64 = x_mean.iter().zip(&y_mean).map(|(a, b)| (a - b).powi(2)).sum();
    let all = x.variance(&x_mean, driver) + y.variance(&y_mean, driver) + gap;
    let n = matching.len() as f64;
    ((n * all - matching.iter().sum::<f64>() / n) / (n - 1.0)).max(0.0)
}

/// The Euclidean distance of each pair of rows, each row multiplied by its factor where factors are given.
pub(crate) fn distances(space: &Space, factors: Option<&[f64]>, pairs: &[(u32, u32)], driver: &Driver) -> Vec<f64> {
    let columns = space.columns();
    let zero = vec![0.0; columns];
    by_row(pairs.len(), 2 * columns, driver, |pair, room| {
        let (to, difference) = room.split_at_mut(columns);
        let [i, j] = [pairs[pair].0 as usize, pairs[pair].1 as usize];
        centered(space, factors, &zero, j..j + 1, 0..columns, to);
        centered(space, factors, to, i..i + 1, 0..columns, difference);
        length(difference)
    })
}

/// A partner for each row that is another row: the next one around a circle in random order.
fn partners(rows: usize, seed: u64) -> Vec<u32> {
    let circle = random::permutation(rows, &mut random::stream(seed, "mismatched views", 0));
    let mut partners = vec![0; rows];
    for (place, &row) in circle.iter().enumerate() {
        partners[row as usize] = circle[(place + 1) % rows];
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;
    use rand::RngExt;

    #[test]
    fn no_row_is_its_own_partner_and_every_row_is_one() {
        for rows in [2, 3, 100] {
            let mut partners = partners(rows, 5);
            assert!(partners.iter().enumerate().all(|(i, &j)| i != j as usize));
            partners.sort_unstable();
            assert_eq!(partners, (0..rows as u32).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn mismatched_squares_are_the_mean_over_all_other_pairs() {
        let mut rng = random::stream(2, "views", 0);
        let mut draw = |offset: f64| {
            let values = (0..30 * 4).map(|_| rng.random::<f64>() + offset).collect();
            Space::from_f64("z", 30, 4, values).unwrap()
        };
        // Far from the origin all directions are nearly the same, and their differences must keep their digits.
        for offset in [-0.5, 1e6] {
            let (a, b) = (draw(offset), draw(offset));
            let (x, y) = (Unit::new(&a).unwrap(), Unit::new(&b).unwrap());
            let driver = Driver::silent(Order::Parallel);
            let matching = powers(&x, &y, |i| i, 2.0, &driver);
            let found = mismatched_squares(&x, &y, &matching, &driver);
            let shifted = (1..30).flat_map(|s| powers(&x, &y, |i| (i + s) % 30, 2.0, &driver));
            let expected = shifted.sum::<f64>() / (30.0 * 29.0);
            // Rounding moves a direction by 1e-16; at 1e6 the directions differ by 1e-6 only.
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }
}
