// SPDX-License-Identifier: MIT
//! Rows that occur twice: in two sets, such as test rows that are training rows, or within one.
//!
//! Copies are equal in every coordinate. Near copies are closer to a row than a share of the distance at which rows usually have their
//! nearest neighbor; how often rows of the reference are as close to each other says what that is worth.

use std::collections::HashSet;

use crate::data::Space;
use crate::error::{Error, Result, refuse_if};
use crate::findings::digest;
use crate::kernels::moments::column_means;
use crate::kernels::rankings::{Job, rank};
use crate::kernels::repeats::{Repeat, firsts};
use crate::kernels::similarity::{Products, Side, Way};
use crate::kernels::tiles::{nearest_neighbors, nearest_neighbors_of};
use crate::random;
use crate::run::Driver;
use crate::spec::Similarity;

/// Rows whose nearest neighbors show how far apart neighbors usually are.
const LOOKED_AT: usize = 2000;

/// A row, a row that it is near, and how far that is; 0 for a copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twin {
    /// The row.
    pub row: usize,
    /// The other row, of the reference or of the same set.
    pub of: usize,
    /// Their distance.
    pub distance: f64,
}

/// Rows that occur twice.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leaks {
    /// Rows that equal another one, which comes first.
    pub exact: Vec<Twin>,
    /// Rows that equal none and are near one: the nearest.
    pub near: Vec<Twin>,
    /// The median distance of rows of the reference to their nearest neighbor, copies aside; none where there is none.
    pub typical: Option<f64>,
    /// Up to which distance rows are near.
    pub threshold: Option<f64>,
    /// The share of the reference rows that are as near to another one, copies aside.
    pub usual: f64,
}

/// The rows that a reference holds, too. `near` is a share of the usual distance to the nearest neighbor; with 0, only copies are found.
pub fn leaks(space: &Space, reference: &Space, near: f64, driver: &Driver) -> Result<Leaks> {
    let (columns, others) = (space.columns(), reference.columns());
    refuse_if(columns != others, || {
        format!(
            "`{}` has {columns} columns and `{}` has {others}; rows are compared column by column",
            space.name(),
            reference.name()
        )
    })?;
    check(near)?;
    let pool = reference.below(space)?;
    let before = reference.rows();
    let repeats = firsts(&pool, Repeat::Row, driver);
    let is_copy = |row: usize| (repeats[before + row] as usize) < before;
    let twin = |row: usize| Twin {
        row,
        of: repeats[before + row] as usize,
        distance: 0.0,
    };
    let mut found = Leaks {
        exact: (0..space.rows()).filter(|&row| is_copy(row)).map(twin).collect(),
        ..usual(reference, near, driver)?
    };
    if let Some(threshold) = found.threshold {
        let nearest = nearest_of(space, reference, driver)?;
        let is_near = |twin: &Twin| !is_copy(twin.row) && twin.distance <= threshold;
        found.near = nearest.into_iter().filter(is_near).collect();
    }
    Ok(found)
}

/// How many rows equal one of a reference.
pub(crate) fn equal_rows(space: &Space, reference: &Space) -> usize {
    if space.columns() != reference.columns() || space.elsewhere().or(reference.elsewhere()).is_some() {
        return 0;
    }
    let known: HashSet<[u64; 2]> = whole_digests(reference).collect();
    whole_digests(space).filter(|own| known.contains(own)).count()
}

/// Digests of all rows as double precision, so that both precisions have the same.
fn whole_digests(space: &Space) -> impl Iterator<Item = [u64; 2]> + '_ {
    let mut row = vec![0.0; space.columns()];
    (0..space.rows()).map(move |i| {
        space.read_row(i, &mut row);
        // Adding 0 turns −0 into 0.
        digest(row.iter().map(|x| (x + 0.0).to_bits()))
    })
}

/// The rows that occur twice in one set.
pub fn repeats(space: &Space, near: f64, driver: &Driver) -> Result<Leaks> {
    check(near)?;
    let firsts = firsts(space, Repeat::Row, driver);
    let is_copy = |row: usize| firsts[row] as usize != row;
    let twin = |row: usize| Twin {
        row,
        of: firsts[row] as usize,
        distance: 0.0,
    };
    let mut found = Leaks {
        exact: (0..space.rows()).filter(|&row| is_copy(row)).map(twin).collect(),
        ..usual(space, near, driver)?
    };
    if let Some(threshold) = found.threshold {
        let (rows, distances) = nearest_neighbors(space, 1, driver)?;
        let twins = rows.iter().zip(distances).enumerate();
        let twins = twins.map(|(row, (&of, distance))| Twin {
            row,
            of: of as usize,
            distance,
        });
        // Each pair once, at its second row, where both are the nearest of each other.
        let is_second = |twin: &Twin| twin.of < twin.row || rows[twin.of] as usize != twin.row;
        let is_near = |twin: &Twin| twin.distance > 0.0 && twin.distance <= threshold && !is_copy(twin.row);
        found.near = twins.filter(|twin| is_near(twin) && is_second(twin)).collect();
    }
    Ok(found)
}

fn check(near: f64) -> Result<()> {
    refuse_if(!(0.0..1.0).contains(&near), || {
        format!(
            "near = {near}: rows are near below a share of the usual distance, from 0 (copies only) to below 1 (0.1 is usual)"
        )
    })
}

/// How far apart neighbors usually are, from a random sample of rows.
fn usual(space: &Space, near: f64, driver: &Driver) -> Result<Leaks> {
    if near == 0.0 || space.rows() < 2 {
        return Ok(Leaks::default());
    }
    let mut rows = random::permutation(space.rows(), &mut random::stream(0, "usual distance", 0));
    rows.truncate(LOOKED_AT);
    rows.sort_unstable();
    let (_, mut distances) = nearest_neighbors_of(space, 1, &rows, driver)?;
    distances.retain(|distance| *distance > 0.0);
    distances.sort_unstable_by(f64::total_cmp);
    let Some(&typical) = distances.get(distances.len() / 2) else {
        return Ok(Leaks::default());
    };
    let threshold = near * typical;
    let as_near = distances.partition_point(|distance| *distance <= threshold);
    Ok(Leaks {
        typical: Some(typical),
        threshold: Some(threshold),
        usual: as_near as f64 / rows.len() as f64,
        ..Leaks::default()
    })
}

/// The nearest reference row of each row. Of all y the largest x·y − ‖y‖² / 2 is that of the nearest one, so a search by inner products
/// finds it; the distance is measured afterwards.
fn nearest_of(space: &Space, reference: &Space, driver: &Driver) -> Result<Vec<Twin>> {
    let (d, mean) = (space.columns(), column_means(reference, driver));
    // In units in which rows are about 1 long: the last coordinate is a square.
    let mut row = vec![0.0; d];
    let mut longest = 0.0f64;
    for of in [space, reference] {
        for i in 0..of.rows() {
            of.read_row(i, &mut row);
            let square: f64 = row.iter().zip(&mean).map(|(x, m)| (x - m) * (x - m)).sum();
            longest = longest.max(square);
        }
    }
    let scale = if longest > 0.0 { longest.sqrt().recip() } else { 1.0 };
    let with_last = |of: &Space, last: fn(&[f64]) -> f64| {
        let mut values = vec![0.0; of.rows() * (d + 1)];
        for (i, out) in values.chunks_exact_mut(d + 1).enumerate() {
            of.read_row(i, &mut out[..d]);
            out[..d].iter_mut().zip(&mean).for_each(|(x, m)| *x = (*x - m) * scale);
            out[d] = last(&out[..d]);
        }
        Space::from_f64(of.name(), of.rows(), d + 1, values)
    };
    let queries = with_last(space, |_| 1.0)?;
    let targets = with_last(reference, |row| -0.5 * row.iter().map(|x| x * x).sum::<f64>())?;
    let [query, target] = [&queries, &targets].map(|space| Side::new(space, Similarity::Dot, driver));
    let job = Job {
        products: Products::new(&query, &target),
        way: Way::There,
        relevances: &[],
        is_self: false,
        depth: 1,
        influence: None,
    };
    let found = rank(&job, driver);
    let mut other = vec![0.0; d];
    let twin = |row_number: usize| {
        let of = found
            .of(row_number)
            .first()
            .copied()
            .ok_or_else(|| Error::Internal("a search that found nothing".to_string()))?;
        space.read_row(row_number, &mut row);
        reference.read_row(of as usize, &mut other);
        let squares = row.iter().zip(&other).map(|(a, b)| (a - b) * (a - b));
        Ok(Twin {
            row: row_number,
            of: of as usize,
            distance: squares.sum::<f64>().sqrt(),
        })
    };
    (0..space.rows()).map(twin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;
    use rand::RngExt;

    fn rows(count: usize, columns: usize, seed: u64) -> Vec<f64> {
        let mut rng = random::stream(seed, "leaks", 0);
        (0..count * columns)
            .map(|_| rng.random_range(-1.0..1.0) + 1000.0)
            .collect()
    }

    fn space(columns: usize, values: Vec<f64>) -> Space {
        Space::from_f64("z", values.len() / columns, columns, values).unwrap()
    }

    #[test]
    fn planted_copies_and_near_copies_are_found_and_nothing_else() {
        let (train, mut test) = (rows(700, 8, 1), rows(200, 8, 2));
        // Copies of rows 5 and 600, and a near copy of row 33.
        for (row, of) in [(0, 5), (150, 600), (77, 33)] {
            test[row * 8..(row + 1) * 8].copy_from_slice(&train[of * 8..(of + 1) * 8]);
        }
        test[77 * 8] += 1e-3;
        let driver = Driver::silent(Order::Parallel);
        let found = leaks(&space(8, test), &space(8, train), 0.1, &driver).unwrap();
        let pairs = |twins: &[Twin]| twins.iter().map(|twin| (twin.row, twin.of)).collect::<Vec<_>>();
        assert_eq!(pairs(&found.exact), [(0, 5), (150, 600)]);
        assert_eq!(pairs(&found.near), [(77, 33)]);
        assert!((found.near[0].distance - 1e-3).abs() < 1e-9 && found.usual == 0.0);
    }

    #[test]
    fn the_nearest_row_is_that_of_a_search_by_distance() {
        let (a, b) = (space(3, rows(90, 3, 3)), space(3, rows(110, 3, 4)));
        let driver = Driver::silent(Order::Serial);
        let row = |of: &Space, i: usize| {
            let mut out = vec![0.0; 3];
            of.read_row(i, &mut out);
            out
        };
        for twin in nearest_of(&a, &b, &driver).unwrap() {
            let distance = |j: usize| -> f64 {
                let (x, y) = (row(&a, twin.row), row(&b, j));
                x.iter().zip(&y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
            };
            let least = (0..110).map(distance).fold(f64::INFINITY, f64::min);
            assert!((twin.distance - least).abs() < 1e-12 * least.max(1.0));
        }
    }

    #[test]
    fn within_one_set_each_pair_is_said_once() {
        let mut values = rows(100, 4, 5);
        values.copy_within(0..4, 40);
        values.copy_within(4..8, 80);
        values[80] += 1e-4;
        let found = repeats(&space(4, values), 0.1, &Driver::silent(Order::Serial)).unwrap();
        assert_eq!(
            found.exact,
            [Twin {
                row: 10,
                of: 0,
                distance: 0.0
            }]
        );
        let near: Vec<(usize, usize)> = found.near.iter().map(|twin| (twin.row, twin.of)).collect();
        assert_eq!(near, [(20, 1)]);
    }

    #[test]
    fn rows_that_are_all_the_same_have_no_usual_distance() {
        let same = space(2, vec![1.0; 20]);
        let found = leaks(&same, &same, 0.1, &Driver::silent(Order::Serial)).unwrap();
        assert_eq!((found.exact.len(), found.near.len(), found.threshold), (10, 0, None));
        assert!(leaks(&same, &space(1, vec![1.0; 3]), 0.1, &Driver::silent(Order::Serial)).is_err());
        assert!(repeats(&same, 1.5, &Driver::silent(Order::Serial)).is_err());
    }
}
