// SPDX-License-Identifier: MIT
//! Two spaces made ready for inner products: exact ones in f64, fast ones in f32, and a bound between the two.
//!
//! Each row is multiplied by a factor: 1 / ‖row‖ for the cosine (0 for a row of length zero), else one power of two for
//! the whole space, which brings its longest row to about 1 and changes no order.

mod packed;

pub(crate) use packed::{Centring, Packed, PackedTargets, Role, Way};

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::moments::scaled_column_means;
use super::prepared::{BLOCK, lanes, length, power_of_two_near};
use crate::data::{Slice, Space};
use crate::run::Driver;
use crate::spec::Similarity;

/// A space with a factor for each row.
pub(crate) struct Side<'a> {
    pub(crate) space: &'a Space,
    factors: Vec<f64>,
    /// The length of the longest row, times its factor.
    longest: f64,
    /// How many rows have length zero, and so no direction.
    pub(crate) zeros: usize,
    /// For each row, the first row that equals it in every coordinate: equal targets are measured once.
    pub(crate) firsts: Vec<u32>,
}

impl<'a> Side<'a> {
    pub(crate) fn new(space: &'a Space, similarity: Similarity, driver: &Driver) -> Self {
        let n = space.rows();
        let lengths = driver.map(n.div_ceil(BLOCK), |b| {
            let mut row = vec![0.0; space.columns()];
            let measure = |i: usize| {
                space.read_row(i, &mut row);
                length(&row)
            };
            (b * BLOCK..n.min((b + 1) * BLOCK)).map(measure).collect::<Vec<f64>>()
        });
        let lengths = lengths.concat();
        // A subnormal length has no inverse in f64: it counts as zero.
        let is_zero = |l: &&f64| **l < f64::MIN_POSITIVE;
        let zeros = lengths.iter().filter(is_zero).count();
        let factors: Vec<f64> = match similarity {
            Similarity::Cosine => lengths
                .iter()
                .map(|l| if is_zero(&l) { 0.0 } else { 1.0 / l })
                .collect(),
            Similarity::Dot => vec![power_of_two_near(lengths.iter().copied().fold(0.0, f64::max)); n],
        };
        Side {
            longest: lengths.iter().zip(&factors).map(|(l, f)| l * f).fold(0.0, f64::max),
            firsts: firsts(space, driver),
            space,
            factors,
            zeros,
        }
    }

    fn read(&self, i: usize, row: &mut [f64]) {
        self.space.read_row(i, row);
        row.iter_mut().for_each(|x| *x *= self.factors[i]);
    }

    /// What each row is multiplied by.
    pub(crate) fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// The mean of the rows, each times its factor.
    pub(crate) fn mean(&self, driver: &Driver) -> Vec<f64> {
        scaled_column_means(self.space, Some(&self.factors), driver)
    }

    /// How many rows equal an earlier one.
    pub(crate) fn repeats(&self) -> usize {
        (0u32..).zip(&self.firsts).filter(|(i, first)| i != *first).count()
    }
}

/// Inner products of a query's row and a target's row, each times its factor.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a> {
    pub(crate) query: &'a Side<'a>,
    pub(crate) target: &'a Side<'a>,
}

impl Products<'_> {
    /// The product of row i of the queries and row j of the targets, in f64; the same on every machine and the same
    /// for equal rows: sixteen lanes in a fixed order, no fused operations.
    #[inline]
    pub(crate) fn exact(&self, i: usize, j: usize) -> f64 {
        let d = self.query.space.columns();
        let (s, t) = (self.query.factors[i], self.target.factors[j]);
        let (a, b) = (i * d..(i + 1) * d, j * d..(j + 1) * d);
        match (self.query.space.slice(), self.target.space.slice()) {
            // Products of f32 neither overflow nor vanish in f64, so the factors can wait.
            (Slice::F32(x), Slice::F32(y)) => lanes(&x[a], &y[b], |x, y| f64::from(x) * f64::from(y)) * s * t,
            (Slice::F32(x), Slice::F64(y)) => lanes(&x[a], &y[b], |x, y| (f64::from(x) * s) * (y * t)),
            (Slice::F64(x), Slice::F32(y)) => lanes(&x[a], &y[b], |x, y| (x * s) * (f64::from(y) * t)),
            (Slice::F64(x), Slice::F64(y)) => lanes(&x[a], &y[b], |x, y| (x * s) * (y * t)),
        }
    }
}

/// For each row, the first row that equals it in every coordinate.
fn firsts(space: &Space, driver: &Driver) -> Vec<u32> {
    let (n, d) = (space.rows(), space.columns());
    let hashes = driver.map(n.div_ceil(BLOCK), |b| {
        let mut row = vec![0.0; d];
        let hash = |i: usize| {
            space.read_row(i, &mut row);
            let mut hasher = DefaultHasher::new();
            // Adding 0 turns −0 into 0.
            row.iter().for_each(|x| hasher.write_u64((x + 0.0).to_bits()));
            hasher.finish()
        };
        (b * BLOCK..n.min((b + 1) * BLOCK)).map(hash).collect::<Vec<u64>>()
    });
    let (mut row, mut other) = (vec![0.0; d], vec![0.0; d]);
    // Rows by their hash; looked up only, so its order reaches no result.
    let mut seen: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut firsts = Vec::with_capacity(n);
    for (i, hash) in hashes.concat().into_iter().enumerate() {
        let alike = seen.entry(hash).or_default();
        let first = alike.iter().copied().find(|&j| {
            space.read_row(i, &mut row);
            space.read_row(j as usize, &mut other);
            row == other
        });
        if first.is_none() {
            alike.push(i as u32);
        }
        firsts.push(first.unwrap_or(i as u32));
    }
    firsts
}
