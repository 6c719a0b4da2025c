// SPDX-License-Identifier: MIT
//! Rows that repeat an earlier one, so that what is equal on paper is equal in numbers.
//!
//! A row and its positive multiples have one direction, but f64 does not see it: 1/‖x‖ is rounded, and so is each product with it. Where
//! only the direction counts, each row is therefore measured as the first row of its direction. Rows have the same direction where their
//! coordinates have the same ratios to the largest one. A quotient is the nearest number to a ratio that a multiple does not
//! change, so exact multiples are always found; rows that are found and are no multiples differ by less than rounding.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::prepared::BLOCK;
use crate::data::Space;
use crate::run::Driver;

/// When a row repeats another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It equals it in every coordinate.
    Row,
    /// It points in the same direction.
    Direction,
}

/// For each row, the first row that it repeats; itself where there is none before it.
pub(crate) fn firsts(space: &Space, repeat: Repeat, driver: &Driver) -> Vec<u32> {
    let (n, d) = (space.rows(), space.columns());
    let hashes = driver.blocks(n, BLOCK, |rows| {
        let mut row = vec![0.0; d];
        let hash = |i: usize| {
            read(space, i, repeat, &mut row);
            let mut hasher = DefaultHasher::new();
            // Adding 0 turns −0 into 0.
            row.iter().for_each(|x| hasher.write_u64((x + 0.0).to_bits()));
            hasher.finish()
        };
        rows.map(hash).collect::<Vec<u64>>()
    });
    let (mut row, mut other) = (vec![0.0; d], vec![0.0; d]);
    // Rows by their hash; looked up only, so its order reaches no result.
    let mut seen: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut firsts = Vec::with_capacity(n);
    for (i, hash) in hashes.concat().into_iter().enumerate() {
        let alike = seen.entry(hash).or_default();
        let first = alike.iter().copied().find(|&j| {
            read(space, i, repeat, &mut row);
            read(space, j as usize, repeat, &mut other);
            row == other
        });
        if first.is_none() {
            alike.push(i as u32);
        }
        firsts.push(first.unwrap_or(i as u32));
    }
    firsts
}

/// What two rows are compared by.
pub(crate) fn read(space: &Space, i: usize, repeat: Repeat, row: &mut [f64]) {
    space.read_row(i, row);
    let largest = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    // A row of length zero, but for what has no inverse in f64, has no direction.
    if repeat == Repeat::Direction && largest >= f64::MIN_POSITIVE {
        row.iter_mut().for_each(|x| *x /= largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    #[test]
    fn multiples_have_the_direction_of_the_first() {
        let a = [0.1, -0.7, 0.3];
        let times = |c: f64| a.map(|x| c * x);
        // Integers up to 2⁵³, so that multiples are exact.
        let b = [3.0, 7.0, -11.0];
        let rows = [
            b,
            b.map(|x| 3.0 * x),
            b.map(|x| -x),
            b.map(|x| 1e7 * x),
            b,
            a,
            times(0.25),
            [0.0; 3],
            [0.0; 3],
        ];
        let space = Space::from_f64("z", rows.len(), 3, rows.concat()).unwrap();
        let driver = Driver::silent(Order::Serial);
        assert_eq!(firsts(&space, Repeat::Direction, &driver), [0, 0, 2, 0, 0, 5, 5, 7, 7]);
        assert_eq!(firsts(&space, Repeat::Row, &driver), [0, 1, 2, 3, 0, 5, 6, 7, 7]);
    }
}
