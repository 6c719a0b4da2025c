// SPDX-License-Identifier: MIT
//! Lists of nearest neighbors in two spaces: how much they have in common, and what each row does to that.

use crate::kernels::neighbors::Neighbors;
use crate::run::Driver;
use crate::stats::interval::Units;

/// Rows per task.
const ROWS: usize = 1024;

/// A value for each row, what each row does to the mean of all, and what pairs of units do together.
pub(crate) struct Agreement {
    pub(crate) values: Vec<f64>,
    /// Beside its own value a row moves those of the rows of other units that have it among their neighbors.
    pub(crate) effects: Vec<f64>,
    /// Σ over pairs of units of the square of what one does to the values of the other and the other to those of the one.
    pub(crate) of_pairs: f64,
}

/// Two units, the smaller number first, and what one does to the values of the other.
type Together = ([u32; 2], f64);

/// The share of the k nearest of each row that both spaces agree on, and what each neighbor does to it.
///
/// A neighbor that both lists of a row share adds 1 / k. Where it is missing, each list takes one more row, which is shared about half as
/// often as those before it, because the share hardly depends on how many rows there are. So a shared neighbor does (1 − share) / k to the
/// value of the row, and one that is in a single list −share / 2k: the neighbors of a row together do nothing.
pub(crate) fn shares(a: &Neighbors, b: &Neighbors, k: usize, driver: &Driver) -> (Vec<f64>, Vec<Vec<(u32, f64)>>) {
    let parts = driver.blocks(a.rows.len() / a.k, ROWS, |block| {
        let of_row = |row: usize| {
            let [first, second] = [a, b].map(|lists| &lists.of(row)[..k]);
            let [is_first, is_second] = [first, second].map(|list| {
                let mut sorted = list.to_vec();
                sorted.sort_unstable();
                move |row: u32| sorted.binary_search(&row).is_ok()
            });
            let shared = first.iter().filter(|other| is_second(**other)).count();
            let value = shared as f64 / k as f64;
            let of_first = first.iter().map(|&other| {
                if is_second(other) {
                    (other, (1.0 - value) / k as f64)
                } else {
                    (other, -value / 2.0 / k as f64)
                }
            });
            let single = second.iter().filter(|other| !is_first(**other));
            let of_second = single.map(|&other| (other, -value / 2.0 / k as f64));
            (value, of_first.chain(of_second).collect())
        };
        block.map(of_row).collect::<Vec<(f64, Vec<(u32, f64)>)>>()
    });
    parts.into_iter().flatten().unzip()
}

/// The share of the k nearest of each row that both spaces agree on, where all rows have lists.
pub(crate) fn mutual(a: &Neighbors, b: &Neighbors, k: usize, units: Units, driver: &Driver) -> Agreement {
    let rows = a.rows.len() / a.k;
    let (values, changes) = shares(a, b, k, driver);
    let changes = (0u32..).zip(changes);
    let changes = changes.flat_map(|(row, own)| own.into_iter().map(move |(other, change)| (row, other, change)));
    let (count, mean) = (rows as f64, values.iter().sum::<f64>() / rows as f64);
    let mut effects: Vec<f64> = values.iter().map(|value| (value - mean) / count).collect();
    let mut together: Vec<Together> = Vec::new();
    for (row, other, change) in changes {
        let [one, two] = [row, other].map(|row| match units {
            Units::Single(_) => row,
            Units::Groups(codes, _) => codes[row as usize],
        });
        // Without their unit, neither is there.
        if one != two {
            effects[other as usize] += change / count;
            together.push(([one.min(two), one.max(two)], change / count));
        }
    }
    // What is left out within units would be the mean effect otherwise.
    let left = effects.iter().sum::<f64>() / count;
    effects.iter_mut().for_each(|effect| *effect -= left);
    together.sort_by_key(|(pair, _)| *pair);
    let of_pairs = together.chunk_by(|a, b| a.0 == b.0);
    let square = |own: &[Together]| own.iter().map(|(_, change)| change).sum::<f64>().powi(2);
    Agreement {
        of_pairs: of_pairs.map(square).sum(),
        effects,
        values,
    }
}

/// Σ over rows of what mutual neighbors share, where row i of `b` is row `order[i]`.
pub(crate) fn mutual_of_shuffled(a: &Neighbors, b: &Neighbors, k: usize, order: &[u32]) -> f64 {
    let of_row = |row: usize| {
        let theirs = &b.of(order[row] as usize)[..k];
        let own = a.of(row)[..k].iter();
        own.filter(|&&other| theirs.contains(&order[other as usize])).count()
    };
    (0..order.len()).map(of_row).sum::<usize>() as f64 / (k * order.len()) as f64
}

/// Whether each row is among the neighbors in `a` of one of its own neighbors in `b`.
pub(crate) fn cycle(a: &Neighbors, b: &Neighbors, k: usize, driver: &Driver) -> Vec<f64> {
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
pub(crate) fn cycle_of_shuffled(a: &Neighbors, b: &Neighbors, k: usize, order: &[u32], places: &[u32]) -> f64 {
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

    const K: usize = 3;

    fn agreement(a: &Neighbors, b: &Neighbors, units: Units) -> Agreement {
        mutual(a, b, K, units, &Driver::silent(Order::Serial))
    }

    /// The 3 nearest of five rows in two spaces, of which the lists of row 0 share two, those of row 1 one, and those of row 2 all.
    fn five() -> [Neighbors; 2] {
        let of = |rows: [[u32; 3]; 5]| Neighbors {
            k: 3,
            rows: rows.concat(),
            distances: vec![1.0; 15],
        };
        let a = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]];
        let b = [[1, 2, 4], [0, 2, 4], [0, 1, 3], [4, 1, 2], [3, 1, 2]];
        [of(a), of(b)]
    }

    #[test]
    fn a_row_does_what_it_does_to_the_lists_that_have_it() {
        // All rows but row 2 share two of three neighbors: 2/3; row 2 shares all. A shared neighbor does 1/9, a single one −1/9, and a
        // neighbor of row 2 nothing.
        let [a, b] = five();
        let found = agreement(&a, &b, Units::Single("rows"));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-15;
        let values = [2.0, 2.0, 3.0, 2.0, 2.0].map(|shared| shared / 3.0);
        assert!(found.values.iter().zip(values).all(|(a, b)| close(*a, b)));
        // The mean is 11/15. Row 0 is shared by row 1, single for 3 and 4: its own (2/3 − 11/15) and −1/9, over 5 rows.
        let ninths = [-1.0, 3.0, 4.0, -3.0, -3.0];
        for (row, ninth) in ninths.into_iter().enumerate() {
            let own = values[row] - 11.0 / 15.0;
            assert!(close(found.effects[row], (own + ninth / 9.0) / 5.0), "{row}");
        }
        assert!(found.effects.iter().sum::<f64>().abs() < 1e-15);
        // Pairs, in units of 1/45: 01 two, 02 one, 03 −1 and −1, 04 −1 and −1, 12 one, 13 −1 + 1, 14 −1 + 1, 23 one, 24 one, 34 −1 and −1.
        let squares = 4.0 + 1.0 + 4.0 + 4.0 + 1.0 + 0.0 + 0.0 + 1.0 + 1.0 + 4.0;
        assert!(close(found.of_pairs, squares / 45.0 / 45.0));
        // Of rows 0 and 1 together, and 2 to 4: 02 12 03 04 13 14 add up to one −2.
        let of_groups = agreement(&a, &b, Units::Groups(&[0, 0, 1, 1, 1], "groups"));
        assert!(close(of_groups.of_pairs, 4.0 / 45.0 / 45.0));
        // Row 0 without what it does to row 1: −2; row 2 without what it does to rows 3 and 4: 2. All five add up to −2, which is taken off.
        for (row, ninth) in [(0, -1.6), (2, 2.4)] {
            let own = values[row] - 11.0 / 15.0;
            assert!(close(of_groups.effects[row], (own + ninth / 9.0) / 5.0), "{row}");
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
        let (own, stored) = (neighbors(&a, K), neighbors(&a.select(&moved).unwrap(), K));
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / 30.0;
        let found = mutual_of_shuffled(&own, &own, K, &order);
        assert!((found - mean(agreement(&own, &stored, Units::Single("rows")).values)).abs() < 1e-12);
        let found = cycle_of_shuffled(&own, &own, K, &order, &places);
        assert!((found - mean(cycle(&own, &stored, K, &driver))).abs() < 1e-12);
    }
}
