// SPDX-License-Identifier: MIT
//! Lists of nearest neighbors in two spaces: how much they have in common, and what that is without each row.
//!
//! Each list holds one neighbor more than k: where a row is left out, it takes the place of the one that is lost.

use crate::kernels::neighbors::Neighbors;
use crate::run::Driver;

/// Rows per task.
const ROWS: usize = 1024;

/// A value for each row, and the mean of all values without each row.
pub(crate) struct Agreement {
    pub(crate) values: Vec<f64>,
    pub(crate) replicates: Vec<f64>,
}

impl Agreement {
    /// From values, and the pairs of a row that is left out and of what that changes in the sum of the others.
    fn new(values: Vec<f64>, changes: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let (count, total) = (values.len(), values.iter().sum::<f64>());
        let mut sums: Vec<f64> = values.iter().map(|value| total - value).collect();
        for (row, change) in changes {
            sums[row as usize] += change;
        }
        Agreement {
            replicates: sums.iter().map(|sum| sum / (count as f64 - 1.0)).collect(),
            values,
        }
    }
}

/// The k nearest of a row where another one is left out.
fn list(of: &Neighbors, row: usize, without: u32) -> impl Iterator<Item = u32> + Clone + '_ {
    let k = of.k - 1;
    of.of(row)
        .iter()
        .copied()
        .filter(move |&other| other != without)
        .take(k)
}

/// No row has this number.
const NOBODY: u32 = u32::MAX;

/// The share of the k nearest of each row that both spaces agree on.
pub(crate) fn mutual(a: &Neighbors, b: &Neighbors, driver: &Driver) -> Agreement {
    let k = a.k - 1;
    let rows = a.rows.len() / a.k;
    let share = |row: usize, without: u32| {
        let shared = list(a, row, without).filter(|other| list(b, row, without).any(|own| own == *other));
        shared.count() as f64 / k as f64
    };
    let parts = driver.blocks(rows, ROWS, |block| {
        let (mut values, mut changes) = (Vec::new(), Vec::new());
        for row in block {
            let value = share(row, NOBODY);
            values.push(value);
            let mut met: Vec<u32> = a.of(row)[..k].iter().chain(&b.of(row)[..k]).copied().collect();
            met.sort_unstable();
            met.dedup();
            changes.extend(met.into_iter().map(|other| (other, share(row, other) - value)));
        }
        (values, changes)
    });
    let (values, changes): (Vec<Vec<f64>>, Vec<Vec<(u32, f64)>>) = parts.into_iter().unzip();
    Agreement::new(values.concat(), changes.into_iter().flatten())
}

/// Σ over rows of what mutual neighbors share, where row i of `b` is row `order[i]`.
pub(crate) fn mutual_of_shuffled(a: &Neighbors, b: &Neighbors, order: &[u32]) -> f64 {
    let k = a.k - 1;
    let of_row = |row: usize| {
        let theirs = &b.of(order[row] as usize)[..k];
        let own = a.of(row)[..k].iter();
        own.filter(|&&other| theirs.contains(&order[other as usize])).count()
    };
    (0..order.len()).map(of_row).sum::<usize>() as f64 / (k * order.len()) as f64
}

/// Whether each row is among the neighbors in `a` of one of its own neighbors in `b`.
pub(crate) fn cycle(a: &Neighbors, b: &Neighbors, driver: &Driver) -> Vec<f64> {
    let k = a.k - 1;
    let comes_back = |row: usize| {
        let mut there = b.of(row)[..k].iter();
        let is_back = there.any(|&other| a.of(other as usize)[..k].contains(&(row as u32)));
        f64::from(u8::from(is_back))
    };
    let parts = driver.blocks(a.rows.len() / a.k, ROWS, |rows| {
        rows.map(comes_back).collect::<Vec<f64>>()
    });
    parts.concat()
}

/// The share of rows that come back, where row i of `b` is row `order[i]`, and `places` is the inverse of that.
pub(crate) fn cycle_of_shuffled(a: &Neighbors, b: &Neighbors, order: &[u32], places: &[u32]) -> f64 {
    let k = a.k - 1;
    let comes_back = |row: &usize| {
        let there = b.of(order[*row] as usize)[..k].iter();
        let mut there = there.map(|&other| places[other as usize] as usize);
        there.any(|other| a.of(other)[..k].contains(&(*row as u32)))
    };
    (0..order.len()).filter(comes_back).count() as f64 / order.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Space;
    use crate::kernels::prepared::{Preparation, Prepared};
    use crate::kernels::tiles::{Anchors, Ask, sweep};
    use crate::random::stream;
    use crate::run::Order;
    use rand::RngExt;

    fn neighbors(space: &Space, k: usize) -> Neighbors {
        let driver = Driver::silent(Order::Serial);
        let prepared = Prepared::new(space, Preparation::Raw, &driver).unwrap();
        let ask = Ask { k, ..Ask::default() };
        sweep(&prepared, Anchors::All, &ask, &driver).neighbors.unwrap()
    }

    #[test]
    fn without_a_row_they_are_what_the_other_rows_have_in_common() {
        let driver = Driver::silent(Order::Serial);
        let mut rng = stream(5, "lists", 0);
        let mut space = |columns: usize| {
            let values = (0..40 * columns).map(|_| rng.random_range(-1.0..1.0)).collect();
            Space::from_f64("z", 40, columns, values).unwrap()
        };
        let (a, b) = (space(2), space(3));
        let both = mutual(&neighbors(&a, 4), &neighbors(&b, 4), &driver);
        for row in 0..40 {
            let others: Vec<usize> = (0..40).filter(|&i| i != row).collect();
            let left = |space: &Space| neighbors(&space.select(&others).unwrap(), 4);
            let found = mutual(&left(&a), &left(&b), &driver).values;
            let expected = found.iter().sum::<f64>() / 39.0;
            assert!((both.replicates[row] - expected).abs() < 1e-12, "{row}");
        }
    }

    #[test]
    fn shuffled_rows_count_as_if_they_had_been_stored_so() {
        let driver = Driver::silent(Order::Serial);
        let mut rng = stream(6, "lists", 0);
        let values = (0..90).map(|_| rng.random_range(-1.0..1.0)).collect();
        let a = Space::from_f64("z", 30, 3, values).unwrap();
        let order = crate::random::permutation(30, &mut rng);
        let mut places = vec![0; 30];
        order
            .iter()
            .enumerate()
            .for_each(|(i, &row)| places[row as usize] = i as u32);
        let moved: Vec<usize> = order.iter().map(|&row| row as usize).collect();
        let (own, stored) = (neighbors(&a, 4), neighbors(&a.select(&moved).unwrap(), 4));
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / 30.0;
        let found = mutual_of_shuffled(&own, &own, &order);
        assert!((found - mean(mutual(&own, &stored, &driver).values)).abs() < 1e-12);
        let found = cycle_of_shuffled(&own, &own, &order, &places);
        assert!((found - mean(cycle(&own, &stored, &driver))).abs() < 1e-12);
    }
}
