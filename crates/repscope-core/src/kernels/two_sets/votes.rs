// SPDX-License-Identifier: MIT
//! Whose rows the neighbors of a row are: of its own set, or of the other.

use super::Pool;
use crate::kernels::neighbors::Neighbors;
use crate::kernels::together::Together;
use crate::run::Driver;

/// Rows of a task.
const ROWS: usize = 1024;

/// The statistics of marks on a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Votes {
    /// The share of all neighbors that are of the set of their row (Schilling 1986).
    pub(crate) own: f64,
    /// How surely neighbors tell the set of their row, as if both sets had the same size: mean over both sets.
    pub(crate) balanced: f64,
}

/// What a row with so many of `k` neighbors of its own set says for its own set: each neighbor counts with the inverse size of its set.
fn balanced(own: f64, k: usize, [mine, theirs]: [f64; 2]) -> f64 {
    let (for_own, for_other) = (own / (mine - 1.0), (k as f64 - own) / theirs);
    for_own / (for_own + for_other)
}

/// The sizes of the set of a row and of the other.
fn sizes(marks: &[bool]) -> [f64; 2] {
    let new = marks.iter().filter(|is_new| **is_new).count() as f64;
    [new, marks.len() as f64 - new]
}

/// The statistics under these marks; none where a set has fewer than two rows.
pub(crate) fn votes(neighbors: &Neighbors, k: usize, marks: &[bool]) -> Option<Votes> {
    let [new, old] = sizes(marks);
    if new < 2.0 || old < 2.0 {
        return None;
    }
    let (mut own, mut sums) = (0, [0.0; 2]);
    for (row, &is_new) in marks.iter().enumerate() {
        let list = &neighbors.of(row)[..k];
        let alike = list.iter().filter(|&&other| marks[other as usize] == is_new).count();
        own += alike;
        let (set, sizes) = if is_new { (0, [new, old]) } else { (1, [old, new]) };
        sums[set] += balanced(alike as f64, k, sizes);
    }
    Some(Votes {
        own: own as f64 / (marks.len() * k) as f64,
        balanced: f64::midpoint(sums[0] / new, sums[1] / old),
    })
}

/// What rows do to a statistic: by their own value, and together with those whose neighbors they are.
pub(crate) struct Effects {
    pub(crate) of_rows: Vec<f64>,
    pub(crate) together: Together,
}

/// What each row does to both statistics.
///
/// Where a neighbor is missing, the list takes one more row, which is of the own set about as often as the others. So a neighbor of the own
/// set does (1 − share) / k to the share, and another −share / k: the neighbors of a row together do nothing.
pub(crate) fn effects(neighbors: &Neighbors, k: usize, pool: &Pool, driver: &Driver) -> [Effects; 2] {
    let marks = pool.marks();
    let rows = marks.len();
    let sizes = [pool.new as f64, pool.old() as f64];
    let set = |row: usize| usize::from(!marks[row]);
    let both = |row: usize| [sizes[set(row)], sizes[1 - set(row)]];
    let parts = driver.blocks(rows, ROWS, |block| {
        let (mut values, mut changes) = (Vec::new(), Vec::new());
        for row in block {
            let list = &neighbors.of(row)[..k];
            let is_own = |other: &u32| f64::from(u8::from(marks[*other as usize] == marks[row]));
            let own: f64 = list.iter().map(is_own).sum();
            let share = own / k as f64;
            let value = [share, balanced(own, k, both(row))];
            values.push(value);
            let without = |other: &u32| own - is_own(other) + share;
            let change = |other: &u32| {
                let kept = without(other);
                [share - kept / k as f64, value[1] - balanced(kept, k, both(row))]
            };
            let each: Vec<[f64; 2]> = list.iter().map(change).collect();
            let mean = [0, 1].map(|of| each.iter().map(|change| change[of]).sum::<f64>() / k as f64);
            let centered = |change: [f64; 2]| [change[0] - mean[0], change[1] - mean[1]];
            changes.extend(
                list.iter()
                    .zip(each)
                    .map(|(&other, own)| (row as u32, other, centered(own))),
            );
        }
        (values, changes)
    });
    let (values, changes): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let values: Vec<[f64; 2]> = values.concat();
    // The share is a mean over rows; the balanced one is the mean of two means, each over a set.
    let weight = |row: usize| [1.0 / rows as f64, 0.5 / sizes[set(row)]];
    let mean = |of: usize, rows: std::ops::Range<usize>| {
        let count = rows.len() as f64;
        values[rows].iter().map(|value| value[of]).sum::<f64>() / count
    };
    let all = mean(0, 0..rows);
    let of_set = [mean(1, 0..pool.new), mean(1, pool.new..rows)];
    let units = pool.units();
    [0, 1].map(|of| {
        let center = |row: usize| if of == 0 { all } else { of_set[set(row)] };
        let own = |(row, value): (usize, &[f64; 2])| weight(row)[of] * (value[of] - center(row));
        let mut of_rows: Vec<f64> = values.iter().enumerate().map(own).collect();
        let mut together = Together::new(rows);
        for (row, other, change) in changes.iter().flatten() {
            together.add(units, *row, *other, weight(*row as usize)[of] * change[of]);
        }
        together.add_to(&mut of_rows);
        Effects { of_rows, together }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rows_against_two_by_hand() {
        // On a line: new 0, 1, 10; reference 11, 12. Nearest: 1, 0, 11, 10 and 12 tie (10 has the smaller number), 11.
        let neighbors = Neighbors {
            k: 1,
            rows: vec![1, 0, 3, 2, 3],
            distances: vec![1.0; 5],
        };
        let found = votes(&neighbors, 1, &[true, true, true, false, false]).unwrap();
        assert_eq!(found.own, 3.0 / 5.0);
        // New: two of three agree; reference: one of two.
        assert_eq!(found.balanced, f64::midpoint(2.0 / 3.0, 0.5));
    }

    #[test]
    fn sets_of_unlike_size_weigh_the_same() {
        // 3 of 4 neighbors of the own set, which has 10 more rows beside this one while the other has 10: 3/10 against 1/10.
        assert!((balanced(3.0, 4, [11.0, 10.0]) - 0.75).abs() < 1e-15);
        assert!((balanced(3.0, 4, [31.0, 10.0]) - 0.5).abs() < 1e-15);
    }
}
