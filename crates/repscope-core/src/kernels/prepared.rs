// SPDX-License-Identifier: MIT
//! A space made ready for pairwise work: exact distances in f64, rows for fast ones in f32, and a bound between the two.
//!
//! Fast rows are centered (distances do not change, lengths shrink) and multiplied by a power of two so that the
//! longest has a length of about 1 (no overflow or underflow whatever the units). All squared distances of the
//! passes are in these scaled units; [`Prepared::distance`] takes them back.
//!
//! **Error bound.** Let u = 2⁻²⁴, a and b such rows, and their squared distance be either
//! −2·(⟨a, b⟩ − ‖b‖²/2 − ‖a‖²/2), summed in f32 in this order by fused operations, or Σ (a − b)² in f32, in L
//! lanes. Rounding the coordinates moves it by at most 4u(‖a‖² + ‖b‖²). In the first form the lengths and
//! their two additions move it by 6u(‖a‖² + ‖b‖²) and the dot product by 2·γ·‖a‖‖b‖ with γ = Du / (1 − Du); in the
//! second, L sums of D/L squares move it by (D/L + 8)·u·2(‖a‖² + ‖b‖²). [`Prepared::error_bound`] is more than each of both.

use std::ops::Range;

use rayon::prelude::*;

use crate::data::{Slice, Space};
use crate::error::{Error, Result};
use crate::kernels::microkernel::Panels;
use crate::kernels::moments::scaled_column_means;
use crate::kernels::repeats::{Repeat, firsts};
use crate::run::Driver;

/// What is done to each row before distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Preparation {
    /// The row as it is.
    Raw,
    /// The row divided by its length: squared distance is 2 − 2·cosine.
    Unit,
}

/// Rows per block where rows are worked on one by one.
pub(crate) const BLOCK: usize = 256;

/// Unit roundoff of f32.
const U: f64 = f32::EPSILON as f64 / 2.0;

/// The center and the scale of a space, and the length of its longest row: what its blocks have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) mean: Vec<f64>,
    scale: f64,
    /// The length of the longest centered row, in scaled units.
    longest: f64,
}

impl Frame {
    /// From the mean and the length of the longest centered row.
    pub(crate) fn new(mean: Vec<f64>, longest: f64) -> Self {
        let scale = power_of_two_near(longest);
        Frame {
            mean,
            scale,
            longest: longest * scale,
        }
    }

    /// Mean, scale and longest row: what [`Frame::of_parts`] takes.
    pub(crate) fn parts(&self) -> (&[f64], f64, f64) {
        (&self.mean, self.scale, self.longest)
    }

    pub(crate) fn of_parts(mean: Vec<f64>, scale: f64, longest: f64) -> Self {
        Frame { mean, scale, longest }
    }

    /// The distance, in the space's own units, of a squared distance in scaled units.
    pub(crate) fn distance(&self, squared: f64) -> f64 {
        squared.sqrt() / self.scale
    }

    /// Squared distances in the space's own units per squared distance in scaled units.
    pub(crate) fn squared_unit(&self) -> f64 {
        1.0 / (self.scale * self.scale)
    }
}

/// A space ready for pairwise work.
pub(crate) struct Prepared<'a> {
    space: &'a Space,
    factors: Option<Vec<f64>>,
    /// For each row the first one of its direction, as which it is measured; none where lengths count.
    firsts: Option<Vec<u32>>,
    frame: Frame,
}

impl<'a> Prepared<'a> {
    /// Finds the center and the scale of a space.
    pub(crate) fn new(space: &'a Space, preparation: Preparation, driver: &Driver) -> Result<Self> {
        let factors = match preparation {
            Preparation::Raw => None,
            Preparation::Unit => Some(unit_factors(space)?),
        };
        let firsts = factors.is_some().then(|| firsts(space, Repeat::Direction, driver));
        let mut prepared = Prepared {
            firsts,
            frame: Frame::new(scaled_column_means(space, factors.as_deref(), driver), 0.0),
            space,
            factors,
        };
        let longest = prepared.longest_row(driver);
        prepared.frame = Frame::new(prepared.frame.mean, longest);
        Ok(prepared)
    }

    /// Some rows of a space whose frame is known. Rows of one direction are not looked for: exact distances of directions are not to be
    /// taken.
    pub(crate) fn within(space: &'a Space, preparation: Preparation, frame: &Frame) -> Result<Self> {
        Ok(Prepared {
            firsts: None,
            factors: match preparation {
                Preparation::Raw => None,
                Preparation::Unit => Some(unit_factors(space)?),
            },
            space,
            frame: frame.clone(),
        })
    }

    /// The length of the longest centered row.
    pub(crate) fn longest_row(&self, driver: &Driver) -> f64 {
        let longest = driver.blocks(self.rows(), BLOCK, |rows| self.longest_of(rows));
        longest.into_iter().fold(0.0, f64::max)
    }

    pub(crate) fn columns(&self) -> usize {
        self.space.columns()
    }

    pub(crate) fn rows(&self) -> usize {
        self.space.rows()
    }

    /// How far the f32 squared distance of a row of this squared length to any row can be from the exact one.
    pub(crate) fn error_bound(&self, squared_length: f64) -> f64 {
        self.error_of_products(squared_length, self.columns())
    }

    /// The squared length of the longest row.
    pub(crate) fn longest_squared(&self) -> f64 {
        self.frame.longest * self.frame.longest
    }

    /// The same for rows of so many coordinates whose lengths are no larger.
    pub(crate) fn error_of_products(&self, squared_length: f64, columns: usize) -> f64 {
        let d = columns as f64 + 16.0;
        let gamma = d * U / (1.0 - (d * U).min(0.5));
        let (a2, b) = (squared_length * (1.0 + 8.0 * U), self.frame.longest * (1.0 + 4.0 * U));
        let direct = 2.0 * d / (Panels::targets_at_once() / 2) as f64 + 32.0;
        2.0 * gamma * a2.sqrt() * b + (14.0 + direct) * U * (a2 + b * b) + f64::from(f32::MIN_POSITIVE)
    }

    /// Below this f32 squared distance rounding would be felt in a distance (its square root), so sums
    /// of distances take the exact one. Not a bound: rounding errors of a dot product grow with √D.
    pub(crate) fn near(&self, squared_length: f64) -> f32 {
        let spread = squared_length + self.frame.longest.powi(2);
        (4096.0 * U * (1.0 + (self.columns() as f64).sqrt() / 8.0) * spread) as f32
    }

    /// The exact squared distance of two rows, in scaled units. Symmetric to the last bit, and the same
    /// on every machine: sixteen lanes in a fixed order, no fused operations. Where only directions count, rows of one direction are
    /// equally far from everything.
    #[inline]
    pub(crate) fn squared_distance(&self, i: u32, j: u32) -> f64 {
        let d = self.space.columns();
        let (i, j) = match &self.firsts {
            None => (i as usize, j as usize),
            Some(firsts) => (firsts[i as usize] as usize, firsts[j as usize] as usize),
        };
        let (a, b) = (i * d..(i + 1) * d, j * d..(j + 1) * d);
        let scale = self.frame.scale;
        let square = |w: f64| (w * scale) * (w * scale);
        match (self.space.slice(), &self.factors) {
            // Squares of f32 are far from the ends of f64, so the scale, a power of two, can wait until they are added up.
            (Slice::F32(v), None) => {
                let square = |x: f32, y: f32| (f64::from(x) - f64::from(y)) * (f64::from(x) - f64::from(y));
                lanes(&v[a], &v[b], square) * (scale * scale)
            }
            (Slice::F64(v), None) => lanes(&v[a], &v[b], |x, y| square(x - y)),
            (Slice::F32(v), Some(f)) => {
                let (s, t) = (f[i], f[j]);
                lanes(&v[a], &v[b], |x, y| square(f64::from(x) * s - f64::from(y) * t))
            }
            (Slice::F64(v), Some(f)) => {
                let (s, t) = (f[i], f[j]);
                lanes(&v[a], &v[b], |x, y| square(x * s - y * t))
            }
        }
    }

    /// The same of one row and several others.
    pub(crate) fn squared_distances(&self, i: u32, others: impl Iterator<Item = u32>) -> Vec<f64> {
        let (Slice::F32(values), None) = (self.space.slice(), &self.factors) else {
            return others.map(|j| self.squared_distance(i, j)).collect();
        };
        let d = self.space.columns();
        let row = |i: u32| &values[i as usize * d..(i as usize + 1) * d];
        // Widened once, not once for each other.
        let own: Vec<f64> = row(i).iter().map(|&x| f64::from(x)).collect();
        let square = |x: f64, y: f32| (x - f64::from(y)) * (x - f64::from(y));
        let unit = self.frame.scale * self.frame.scale;
        others.map(|j| lanes(&own, row(j), square) * unit).collect()
    }

    /// The distance, in the space's own units, of a squared distance in scaled units.
    pub(crate) fn distance(&self, squared: f64) -> f64 {
        self.frame.distance(squared)
    }

    /// Squared distances in the space's own units per squared distance in scaled units.
    pub(crate) fn squared_unit(&self) -> f64 {
        self.frame.squared_unit()
    }

    /// Row `i`, centered and scaled.
    pub(crate) fn read(&self, i: usize, row: &mut [f64]) {
        self.read_centered(i, row);
        row.iter_mut().for_each(|x| *x *= self.frame.scale);
    }

    fn read_centered(&self, i: usize, row: &mut [f64]) {
        self.space.read_row(i, row);
        let factor = self.factors.as_ref().map_or(1.0, |f| f[i]);
        for (x, m) in row.iter_mut().zip(&self.frame.mean) {
            *x = *x * factor - m;
        }
    }

    fn longest_of(&self, rows: Range<usize>) -> f64 {
        let mut row = vec![0.0; self.space.columns()];
        let measure = |i: usize| {
            self.read_centered(i, &mut row);
            length(&row)
        };
        rows.map(measure).fold(0.0, f64::max)
    }
}

/// 1 / ‖x‖ of each row. A row of length zero has no direction.
pub(crate) fn unit_factors(space: &Space) -> Result<Vec<f64>> {
    factors_or_zero(space).map_err(|row| no_direction(space.name(), row))
}

/// 1 / ‖x‖ of each row, or the first row of length zero.
pub(crate) fn factors_or_zero(space: &Space) -> std::result::Result<Vec<f64>, usize> {
    let measure = |row: &mut Vec<f64>, i: usize| {
        space.read_row(i, row);
        length(row)
    };
    let start = || vec![0.0; space.columns()];
    let lengths: Vec<f64> = (0..space.rows()).into_par_iter().map_init(start, measure).collect();
    // A subnormal length has no inverse in f64: it counts as zero.
    match lengths.iter().position(|&l| l < f64::MIN_POSITIVE) {
        Some(row) => Err(row),
        None => Ok(lengths.into_iter().map(|l| 1.0 / l).collect()),
    }
}

/// What to say of a row of length zero.
pub(crate) fn no_direction(name: &str, row: usize) -> Error {
    Error::Input(format!(
        "row {row} of `{name}` has length zero, so it has no direction and no cosine distance; remove such rows, or \
         measure the embeddings as they are"
    ))
}

/// ‖row‖, without overflow or underflow.
pub(crate) fn length(row: &[f64]) -> f64 {
    let largest = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let scale = power_of_two_near(largest);
    row.iter().map(|x| (x * scale) * (x * scale)).sum::<f64>().sqrt() / scale
}

/// The power of two that brings `length` to between 1/2 and 1; 1 for a length of zero.
pub(crate) fn power_of_two_near(length: f64) -> f64 {
    if length == 0.0 {
        return 1.0;
    }
    // Kept within the exponents whose square and inverse exist, so that scaling stays exact.
    2f64.powi((-length.log2().ceil() as i32).clamp(-500, 500))
}

/// Σ term(x, y), in sixteen lanes.
#[inline(always)]
pub(crate) fn lanes<T: Copy, U: Copy>(a: &[T], b: &[U], term: impl Fn(T, U) -> f64 + Copy) -> f64 {
    pulp::Arch::new().dispatch(Lanes { a, b, term })
}

struct Lanes<'a, T, U, F> {
    a: &'a [T],
    b: &'a [U],
    term: F,
}

impl<T: Copy, U: Copy, F: Fn(T, U) -> f64 + Copy> pulp::WithSimd for Lanes<'_, T, U, F> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
        let (a16, b16) = (self.a.chunks_exact(16), self.b.chunks_exact(16));
        let mut rest = 0.0;
        for (&x, &y) in a16.remainder().iter().zip(b16.remainder()) {
            rest += (self.term)(x, y);
        }
        let mut sums = [0.0f64; 16];
        for (x, y) in a16.zip(b16) {
            for l in 0..16 {
                sums[l] += (self.term)(x[l], y[l]);
            }
        }
        rest + sums.iter().sum::<f64>()
    }
}
