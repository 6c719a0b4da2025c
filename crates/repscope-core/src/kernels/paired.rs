// SPDX-License-Identifier: MIT
//! Distances between given pairs of rows.

use super::prepared::length;
use crate::data::Space;
use crate::run::Driver;

/// Pairs per task.
const CHUNK: usize = 1024;

/// The Euclidean distance of each pair of rows, each row multiplied by its factor where factors are given.
pub(crate) fn distances(space: &Space, factors: Option<&[f64]>, pairs: &[(u32, u32)], driver: &Driver) -> Vec<f64> {
    let d = space.columns();
    let read = |row: u32, out: &mut [f64]| {
        space.read_row(row as usize, out);
        if let Some(factors) = factors {
            for x in out.iter_mut() {
                *x *= factors[row as usize];
            }
        }
    };
    let chunks = driver.map(pairs.len().div_ceil(CHUNK), |c| {
        let (mut from, mut to) = (vec![0.0; d], vec![0.0; d]);
        let members = &pairs[c * CHUNK..pairs.len().min((c + 1) * CHUNK)];
        let mut found = Vec::with_capacity(members.len());
        for &(i, j) in members {
            read(i, &mut from);
            read(j, &mut to);
            for (x, y) in from.iter_mut().zip(&to) {
                *x -= y;
            }
            found.push(length(&from));
        }
        found
    });
    chunks.concat()
}
