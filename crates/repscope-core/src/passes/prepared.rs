// SPDX-License-Identifier: MIT
//! A space made ready for pairwise work: exact distances in f64, fast ones in f32, and a proven bound
//! between the two.
//!
//! The fast copy holds centred rows (distances do not change, lengths shrink), multiplied by a power of
//! two so that the longest row has a length of about 1 (no overflow or underflow whatever the units),
//! in a fixed random order (so that no arrangement of the file is slow). All squared distances of the
//! passes are in these scaled units; [`Prepared::distance`] takes them back.
//!
//! **Error bound.** With u = 2⁻²⁴, packed rows a, b and the squared distance (‖a‖² + ‖b‖²) − 2⟨a, b⟩
//! evaluated in f32: rounding the coordinates moves it by at most 4u(‖a‖² + ‖b‖²), the lengths and the
//! two additions by 4u(‖a‖² + ‖b‖²), the dot product by 2·γ·‖a‖‖b‖ with γ = Du / (1 − Du), in any order
//! of summation. [`Prepared::error_bound`] is the sum of these, with slack.

use rayon::prelude::*;

use crate::data::{Slice, Space};
use crate::error::{Error, Result};
use crate::passes::moments::scaled_column_means;
use crate::random;
use crate::run::Driver;

/// What is done to each row before distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Preparation {
    /// The row as it is.
    Raw,
    /// The row divided by its length: squared distance is 2 − 2·cosine.
    Unit,
}

/// Rows per block of the tile grid. A tile of 256 × 256 f32 stays in a core's second-level cache.
pub(crate) const BLOCK: usize = 256;

/// Unit roundoff of f32.
const U: f64 = f32::EPSILON as f64 / 2.0;

/// A space ready for pairwise work.
pub(crate) struct Prepared<'a> {
    space: &'a Space,
    factors: Option<Vec<f64>>,
    scale: f64,
    mean: Vec<f64>,
    /// Which row stands at each packed position.
    pub(crate) order: Vec<u32>,
    /// The packed rows.
    pub(crate) packed: Packed,
}

/// Centred, scaled rows in f32, with their squared lengths.
pub(crate) struct Packed {
    pub(crate) columns: usize,
    pub(crate) values: Vec<f32>,
    pub(crate) squared_lengths: Vec<f32>,
    longest: f64,
}

impl Packed {
    /// The values of the packed rows `first..first + rows`.
    pub(crate) fn block(&self, first: usize, rows: usize) -> &[f32] {
        &self.values[first * self.columns..(first + rows) * self.columns]
    }
}

impl<'a> Prepared<'a> {
    /// Centres, scales, shuffles and packs a space. `group` sorts the rows of each block by that code,
    /// so that rows of one class stand together.
    pub(crate) fn new(
        space: &'a Space,
        preparation: Preparation,
        group: Option<&[u32]>,
        driver: &Driver,
    ) -> Result<Self> {
        let factors = match preparation {
            Preparation::Raw => None,
            Preparation::Unit => Some(unit_factors(space)?),
        };
        let mean = scaled_column_means(space, factors.as_deref(), driver);
        let mut prepared = Prepared {
            space,
            factors,
            scale: 1.0,
            mean,
            order: block_order(space.rows(), group),
            packed: Packed {
                columns: space.columns(),
                values: Vec::new(),
                squared_lengths: Vec::new(),
                longest: 0.0,
            },
        };
        let longest = driver
            .map(space.rows().div_ceil(BLOCK), |b| prepared.longest_of_block(b))
            .into_iter()
            .fold(0.0, f64::max);
        prepared.scale = power_of_two_near(longest);
        let order = std::mem::take(&mut prepared.order);
        prepared.packed = prepared.pack(&order, driver);
        prepared.order = order;
        Ok(prepared)
    }

    /// Packs the rows named by `rows`, in that order.
    pub(crate) fn pack(&self, rows: &[u32], driver: &Driver) -> Packed {
        let d = self.space.columns();
        let start = Packed {
            columns: d,
            values: Vec::with_capacity(rows.len() * d),
            squared_lengths: Vec::with_capacity(rows.len()),
            longest: 0.0,
        };
        driver.fold(
            rows.len().div_ceil(BLOCK),
            |b| {
                let members = &rows[b * BLOCK..rows.len().min((b + 1) * BLOCK)];
                let mut values: Vec<f32> = Vec::with_capacity(members.len() * d);
                let mut row = vec![0.0; d];
                for &i in members {
                    self.read_centred(i as usize, &mut row);
                    values.extend(row.iter().map(|x| (x * self.scale) as f32));
                }
                values
            },
            start,
            |mut packed, values| {
                for row in values.chunks_exact(d) {
                    let squared = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
                    packed.longest = packed.longest.max(squared.sqrt());
                    packed.squared_lengths.push(squared as f32);
                }
                packed.values.extend_from_slice(&values);
                packed
            },
        )
    }

    pub(crate) fn rows(&self) -> usize {
        self.space.rows()
    }

    /// How far the f32 squared distance of a packed row of this squared length to any packed row can be
    /// from the exact one.
    pub(crate) fn error_bound(&self, squared_length: f32) -> f64 {
        let d = self.space.columns() as f64 + 16.0;
        let gamma = d * U / (1.0 - (d * U).min(0.5));
        let (a2, b) = (f64::from(squared_length) * (1.0 + 4.0 * U), self.packed.longest);
        2.0 * gamma * a2.sqrt() * b + 10.0 * U * (a2 + b * b) + f64::from(f32::MIN_POSITIVE)
    }

    /// Below this f32 squared distance rounding would be felt in a distance (its square root), so sums
    /// of distances take the exact one. Not a bound: rounding errors of a dot product grow with √D.
    pub(crate) fn near(&self, squared_length: f32) -> f32 {
        let spread = f64::from(squared_length) + self.packed.longest.powi(2);
        (4096.0 * U * (1.0 + (self.space.columns() as f64).sqrt() / 8.0) * spread) as f32
    }

    /// The exact squared distance of two rows, in scaled units. Symmetric to the last bit, and the same
    /// on every machine: sixteen lanes in a fixed order, no fused operations.
    #[inline]
    pub(crate) fn squared_distance(&self, i: u32, j: u32) -> f64 {
        let d = self.space.columns();
        let (i, j) = (i as usize, j as usize);
        match (self.space.slice(), &self.factors) {
            (Slice::F32(v), None) => lanes(
                &v[i * d..(i + 1) * d],
                &v[j * d..(j + 1) * d],
                |x, y| f64::from(x) - f64::from(y),
                self.scale,
            ),
            (Slice::F64(v), None) => lanes(&v[i * d..(i + 1) * d], &v[j * d..(j + 1) * d], |x, y| x - y, self.scale),
            (Slice::F32(v), Some(f)) => {
                let (s, t) = (f[i], f[j]);
                let difference = |x: f32, y: f32| f64::from(x) * s - f64::from(y) * t;
                lanes(&v[i * d..(i + 1) * d], &v[j * d..(j + 1) * d], difference, self.scale)
            }
            (Slice::F64(v), Some(f)) => {
                let (s, t) = (f[i], f[j]);
                lanes(
                    &v[i * d..(i + 1) * d],
                    &v[j * d..(j + 1) * d],
                    |x, y| x * s - y * t,
                    self.scale,
                )
            }
        }
    }

    /// The distance, in the space's own units, of a squared distance in scaled units.
    pub(crate) fn distance(&self, squared: f64) -> f64 {
        squared.sqrt() / self.scale
    }

    /// Squared distances in the space's own units per squared distance in scaled units.
    pub(crate) fn squared_unit(&self) -> f64 {
        1.0 / (self.scale * self.scale)
    }

    fn read_centred(&self, i: usize, row: &mut [f64]) {
        self.space.read_row(i, row);
        let factor = self.factors.as_ref().map_or(1.0, |f| f[i]);
        for (x, m) in row.iter_mut().zip(&self.mean) {
            *x = *x * factor - m;
        }
    }

    fn longest_of_block(&self, block: usize) -> f64 {
        let n = self.space.rows();
        let mut row = vec![0.0; self.space.columns()];
        let mut longest = 0.0f64;
        for i in block * BLOCK..n.min((block + 1) * BLOCK) {
            self.read_centred(i, &mut row);
            longest = longest.max(length(&row));
        }
        longest
    }
}

/// 1 / ‖x‖ of each row. A row of length zero has no direction.
pub(crate) fn unit_factors(space: &Space) -> Result<Vec<f64>> {
    let measure = |row: &mut Vec<f64>, i: usize| {
        space.read_row(i, row);
        length(row)
    };
    let start = || vec![0.0; space.columns()];
    let lengths: Vec<f64> = (0..space.rows()).into_par_iter().map_init(start, measure).collect();
    // A subnormal length has no inverse in f64: it counts as zero.
    if let Some(i) = lengths.iter().position(|&l| l < f64::MIN_POSITIVE) {
        return Err(Error::Input(format!(
            "row {i} of `{}` has length zero, so it has no direction and no cosine distance; remove such rows, or \
             measure the codes as they are",
            space.name()
        )));
    }
    Ok(lengths.into_iter().map(|l| 1.0 / l).collect())
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

/// A fixed shuffle of the rows; rows of one block are ordered by `group`, then by row.
fn block_order(rows: usize, group: Option<&[u32]>) -> Vec<u32> {
    let mut order = random::permutation(rows, &mut random::stream(0, "block order", 0));
    for block in order.chunks_mut(BLOCK) {
        match group {
            None => block.sort_unstable(),
            Some(group) => block.sort_unstable_by_key(|&i| (group[i as usize], i)),
        }
    }
    order
}

/// Σ ((x − y)·scale)², in sixteen lanes.
#[inline(always)]
fn lanes<T: Copy>(a: &[T], b: &[T], difference: impl Fn(T, T) -> f64 + Copy, scale: f64) -> f64 {
    pulp::Arch::new().dispatch(Lanes {
        a,
        b,
        difference,
        scale,
    })
}

struct Lanes<'a, T, F> {
    a: &'a [T],
    b: &'a [T],
    difference: F,
    scale: f64,
}

impl<T: Copy, F: Fn(T, T) -> f64 + Copy> pulp::WithSimd for Lanes<'_, T, F> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
        let (a16, b16) = (self.a.chunks_exact(16), self.b.chunks_exact(16));
        let square = |x: T, y: T| {
            let w = (self.difference)(x, y) * self.scale;
            w * w
        };
        let mut rest = 0.0;
        for (&x, &y) in a16.remainder().iter().zip(b16.remainder()) {
            rest += square(x, y);
        }
        let mut sums = [0.0f64; 16];
        for (x, y) in a16.zip(b16) {
            for l in 0..16 {
                sums[l] += square(x[l], y[l]);
            }
        }
        rest + sums.iter().sum::<f64>()
    }
}
