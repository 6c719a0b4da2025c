// SPDX-License-Identifier: MIT
//! Lists of nearest neighbors in two spaces: how much they have in common, and what that is without each row.
//!
//! Lists may hold up to two neighbors more than the k that count: where rows are left out, these take the places of those that are lost.

use crate::kernels::neighbors::Neighbors;
use crate::random;
use crate::run::Driver;
use crate::stats::interval::Units;

/// Rows per task.
const ROWS: usize = 1024;
/// So many rows show what pairs of rows do together.
const SHOWN: usize = 2000;

/// A value for each row, the mean of all values without each row, and what pairs of units do together.
pub(crate) struct Agreement {
    pub(crate) values: Vec<f64>,
    pub(crate) replicates: Vec<f64>,
    /// Σ over pairs of units of the square of what both do to the mean beyond what each does alone.
    pub(crate) of_pairs: f64,
}

/// The places of a row in the lists of another one, by both models; [`NOWHERE`] where it is not among them.
type Places = [u32; 2];
const NOWHERE: u32 = u32::MAX;
const NOBODY: Places = [NOWHERE; 2];

/// Both lists of one row.
struct Lists {
    /// The rows among them, and their places.
    members: Vec<(u32, Places)>,
    /// The places of those that are in both.
    common: Vec<Places>,
}

impl Lists {
    fn new(a: &[u32], b: &[u32]) -> Self {
        let place = |list: &[u32], row: u32| list.iter().position(|&own| own == row).map_or(NOWHERE, |at| at as u32);
        let mut rows: Vec<u32> = a.iter().chain(b).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let members: Vec<(u32, Places)> = rows
            .into_iter()
            .map(|row| (row, [place(a, row), place(b, row)]))
            .collect();
        let common = members.iter().map(|(_, places)| *places);
        let common = common.filter(|places| !places.contains(&NOWHERE)).collect();
        Lists { members, common }
    }

    /// How many rows both have among the first k where two rows are left out.
    fn shared(&self, k: usize, without: [Places; 2]) -> i32 {
        let is_first = |own: &&Places| {
            let at = |list: usize| {
                own[list]
                    - without
                        .iter()
                        .map(|gone| u32::from(gone[list] < own[list]))
                        .sum::<u32>()
            };
            !without.contains(own) && at(0) < k as u32 && at(1) < k as u32
        };
        self.common.iter().filter(is_first).count() as i32
    }
}

/// Two units of which the first was drawn, and what leaving out both does beyond leaving out each, in neighbors.
type Together = (u32, u32, i32);

/// The units whose pairs with all others are looked at: of so many rows that what pairs do is known well enough.
struct Drawn<'a> {
    codes: Option<&'a [u32]>,
    is_drawn: Vec<bool>,
    /// All units over those drawn.
    factor: f64,
}

impl<'a> Drawn<'a> {
    fn new(units: Units<'a>, rows: usize, seed: u64) -> Self {
        let (codes, sizes) = match units {
            Units::Single(_) => (None, vec![1.0; rows]),
            Units::Groups(codes, _) => {
                let groups = codes.iter().max().map_or(0, |&most| most as usize + 1);
                let mut sizes = vec![0.0; groups];
                codes.iter().for_each(|&code| sizes[code as usize] += 1.0);
                (Some(codes), sizes)
            }
        };
        let mut is_drawn = vec![false; sizes.len()];
        let (mut held, mut count) = (0.0, 0);
        for unit in random::permutation(sizes.len(), &mut random::stream(seed, "pairs of rows", 0)) {
            if held >= SHOWN as f64 {
                break;
            }
            is_drawn[unit as usize] = true;
            held += sizes[unit as usize];
            count += usize::from(sizes[unit as usize] > 0.0);
        }
        let all = sizes.iter().filter(|size| **size > 0.0).count();
        Drawn {
            codes,
            is_drawn,
            factor: all as f64 / count.max(1) as f64,
        }
    }

    fn unit(&self, row: u32) -> u32 {
        self.codes.map_or(row, |codes| codes[row as usize])
    }

    /// Passes on what two rows do together: to the pair of their units, or to both rows where they are of one unit.
    fn pass_on(
        &self,
        rows: [u32; 2],
        change: i32,
        together: &mut Vec<Together>,
        changes: &mut Vec<(u32, f64)>,
        k: usize,
    ) {
        let [one, other] = rows.map(|row| self.unit(row));
        if change == 0 {
            return;
        }
        if one == other {
            changes.extend(rows.map(|row| (row, 0.5 * f64::from(change) / k as f64)));
        } else {
            let pairs = [(one, other, change), (other, one, change)];
            together.extend(pairs.into_iter().filter(|pair| self.is_drawn[pair.0 as usize]));
        }
    }

    /// Σ over pairs of units of the square of what they do together.
    fn squares(&self, mut together: Vec<Together>) -> f64 {
        together.sort_unstable();
        let of_pairs = together.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let square = |own: &[Together]| own.iter().map(|pair| i64::from(pair.2)).sum::<i64>().pow(2);
        self.factor * 0.5 * of_pairs.map(square).sum::<i64>() as f64
    }
}

/// The share of the k nearest of each row that both spaces agree on.
pub(crate) fn mutual(a: &Neighbors, b: &Neighbors, k: usize, units: Units, seed: u64, driver: &Driver) -> Agreement {
    let rows = a.rows.len() / a.k;
    let drawn = Drawn::new(units, rows, seed);
    let parts = driver.blocks(rows, ROWS, |block| {
        let (mut values, mut changes, mut together) = (Vec::new(), Vec::new(), Vec::new());
        for row in block {
            let lists = Lists::new(a.of(row), b.of(row));
            let all = lists.shared(k, [NOBODY; 2]);
            let value = f64::from(all) / k as f64;
            values.push(value);
            let without = |own: &(u32, Places)| lists.shared(k, [own.1, NOBODY]);
            let alone: Vec<i32> = lists.members.iter().map(without).collect();
            for (at, (one, places)) in lists.members.iter().enumerate() {
                if places.iter().any(|place| (*place as usize) < k) {
                    changes.push((*one, f64::from(alone[at]) / k as f64 - value));
                }
                drawn.pass_on([row as u32, *one], all - alone[at], &mut together, &mut changes, k);
                for (behind, (other, of_other)) in lists.members.iter().enumerate().skip(at + 1) {
                    let [own, theirs] = [*one, *other].map(|row| drawn.unit(row));
                    if own == theirs || drawn.is_drawn[own as usize] || drawn.is_drawn[theirs as usize] {
                        let neither = lists.shared(k, [*places, *of_other]);
                        let change = all - alone[at] - alone[behind] + neither;
                        drawn.pass_on([*one, *other], change, &mut together, &mut changes, k);
                    }
                }
            }
        }
        (values, changes, together)
    });
    let (mut values, mut changes, mut together) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        values.extend(part.0);
        changes.extend(part.1);
        together.extend(part.2);
    }
    let (count, total) = (values.len() as f64, values.iter().sum::<f64>());
    let mut sums: Vec<f64> = values.iter().map(|value| total - value).collect();
    changes
        .into_iter()
        .for_each(|(row, change): (u32, f64)| sums[row as usize] += change);
    Agreement {
        of_pairs: drawn.squares(together) / (count * k as f64).powi(2),
        replicates: sums.iter().map(|sum| sum / (count - 1.0)).collect(),
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
        mutual(a, b, K, units, 1, &Driver::silent(Order::Serial))
    }

    #[test]
    fn without_rows_they_are_what_the_other_rows_have_in_common() {
        let mut rng = stream(5, "lists", 0);
        let mut space = |columns: usize| {
            let values = (0..40 * columns).map(|_| rng.random_range(-1.0..1.0)).collect();
            Space::from_f64("z", 40, columns, values).unwrap()
        };
        let (a, b) = (space(2), space(3));
        let both = agreement(&neighbors(&a, K + 2), &neighbors(&b, K + 2), Units::Single("rows"));
        // In neighbors: the sum of all shares of those that stay.
        let of_rest = |gone: &[usize]| {
            let others: Vec<usize> = (0..40).filter(|i| !gone.contains(i)).collect();
            let left = |space: &Space| neighbors(&space.select(&others).unwrap(), K + 2);
            let found = agreement(&left(&a), &left(&b), Units::Single("rows")).values;
            found.iter().sum::<f64>()
        };
        let total = of_rest(&[]);
        let single: Vec<f64> = (0..40).map(|row| of_rest(&[row])).collect();
        for row in 0..40 {
            assert!((both.replicates[row] - single[row] / 39.0).abs() < 1e-12, "{row}");
        }
        // What rows do together, of single rows and of groups of four.
        let mut together = vec![vec![0.0; 40]; 40];
        for i in 0..40 {
            for j in i + 1..40 {
                together[i][j] = total - single[i] - single[j] + of_rest(&[i, j]);
            }
        }
        let squares = |unit: fn(usize) -> usize, count: usize| {
            let mut of_units = vec![0.0; count * count];
            for i in 0..40 {
                for j in i + 1..40 {
                    let [a, b] = [unit(i).min(unit(j)), unit(i).max(unit(j))];
                    of_units[a * count + b] += together[i][j];
                }
            }
            let between = (0..count * count).filter(|at| at / count != at % count);
            between.map(|at| of_units[at] * of_units[at]).sum::<f64>() / 1600.0
        };
        assert!((both.of_pairs - squares(|row| row, 40)).abs() < 1e-12);
        let codes: Vec<u32> = (0..40).map(|row| row / 4).collect();
        let of_groups = agreement(
            &neighbors(&a, K + 2),
            &neighbors(&b, K + 2),
            Units::Groups(&codes, "groups"),
        );
        assert!((of_groups.of_pairs - squares(|row| row / 4, 10)).abs() < 1e-12);
        for group in 0..10 {
            let own = 4 * group..4 * group + 4;
            let of_rows: f64 = own.clone().map(|row| total - of_groups.replicates[row] * 39.0).sum();
            let pairs: f64 = own
                .clone()
                .flat_map(|i| own.clone().map(move |j| (i, j)))
                .map(|(i, j)| together[i][j])
                .sum();
            let expected = own.map(|row| total - single[row]).sum::<f64>() - pairs;
            assert!((of_rows - expected).abs() < 1e-12, "{group}");
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
        let (own, stored) = (neighbors(&a, K + 2), neighbors(&a.select(&moved).unwrap(), K + 2));
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / 30.0;
        let found = mutual_of_shuffled(&own, &own, K, &order);
        assert!((found - mean(agreement(&own, &stored, Units::Single("rows")).values)).abs() < 1e-12);
        let found = cycle_of_shuffled(&own, &own, K, &order, &places);
        assert!((found - mean(cycle(&own, &stored, K, &driver))).abs() < 1e-12);
    }
}
