// SPDX-License-Identifier: MIT
//! Whose rows the neighbors of a row are: of its own set, or of the other.

use super::Pool;
use crate::kernels::neighbors::Neighbors;
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
fn balanced(own: usize, k: usize, [mine, theirs]: [f64; 2]) -> f64 {
    let (for_own, for_other) = (own as f64 / (mine - 1.0), (k - own) as f64 / theirs);
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
        sums[set] += balanced(alike, k, sizes);
    }
    Some(Votes {
        own: own as f64 / (marks.len() * k) as f64,
        balanced: f64::midpoint(sums[0] / new, sums[1] / old),
    })
}

/// What each row does to both statistics: what they would lose without it, lists taking the next neighbor for a row that is gone. The
/// lists hold one more neighbor than k.
pub(crate) fn effects(neighbors: &Neighbors, k: usize, pool: &Pool, driver: &Driver) -> [Vec<f64>; 2] {
    let marks = pool.marks();
    let rows = marks.len();
    let sizes = [pool.new as f64, pool.old() as f64];
    let set = |row: usize| usize::from(!marks[row]);
    let both = |row: usize| [sizes[set(row)], sizes[1 - set(row)]];
    let parts = driver.blocks(rows, ROWS, |block| {
        let (mut values, mut changes) = (Vec::new(), Vec::new());
        for row in block {
            let list = neighbors.of(row);
            let is_own = |other: &u32| marks[*other as usize] == marks[row];
            let own = list[..k].iter().filter(|other| is_own(other)).count();
            let value = [own as f64 / k as f64, balanced(own, k, both(row))];
            values.push(value);
            let next = list
                .get(k)
                .map_or(own as f64 / k as f64, |other| f64::from(u8::from(is_own(other))));
            for &other in &list[..k] {
                // A list that holds all rows has no next one: it stays as it is on average.
                let changed = own as f64 - f64::from(u8::from(is_own(&other))) + next;
                let without = [changed / k as f64, balanced(changed.round() as usize, k, both(row))];
                changes.push((row as u32, other, [value[0] - without[0], value[1] - without[1]]));
            }
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
    let mut effects = [vec![0.0; rows], vec![0.0; rows]];
    for (row, value) in values.iter().enumerate() {
        let weight = weight(row);
        effects[0][row] += weight[0] * (value[0] - all);
        effects[1][row] += weight[1] * (value[1] - of_set[set(row)]);
    }
    for (row, other, change) in changes.into_iter().flatten() {
        let weight = weight(row as usize);
        effects[0][other as usize] += weight[0] * change[0];
        effects[1][other as usize] += weight[1] * change[1];
    }
    effects.map(|own| {
        let center = own.iter().sum::<f64>() / rows as f64;
        own.into_iter().map(|effect| effect - center).collect()
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
        assert!((balanced(3, 4, [11.0, 10.0]) - 0.75).abs() < 1e-15);
        assert!((balanced(3, 4, [31.0, 10.0]) - 0.5).abs() < 1e-15);
    }
}
