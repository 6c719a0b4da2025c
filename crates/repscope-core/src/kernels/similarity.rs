// SPDX-License-Identifier: MIT
//! Two spaces made ready for inner products: exact ones in f64, fast ones in f32, and a bound between the two.
//!
//! Each row is multiplied by a factor: 1 / ‖row‖ for the cosine (0 for a row of length zero), else one power of two for
//! the whole space, which brings its longest row to about 1 and changes no order.
//!
//! The fast copies of both sides are centered. With the means m and n, ⟨a, b⟩ = ⟨a − m, b − n⟩ + ⟨a − m, n⟩ + ⟨m, b − n⟩ +
//! ⟨m, n⟩. The rows (a − m, ⟨a − m, n⟩, 1) and (b − n, 1, ⟨m, b − n⟩) have the first three as their product, and the fourth
//! is the same for all pairs, so the order of the products is that of the similarities, while rounding errors shrink with the
//! lengths of a − m and b − n. Either side may be the queries: the two extra coordinates stand in the same order then, so the
//! product of two rows has the same bits in both directions.
//!
//! **Error bound.** With u = 2⁻²⁴ and γ(k) = k·u / (1 − k·u), the f32 product differs from the exact one by at most
//! γ(D + 16)·‖a − m‖·‖b − n‖ + γ(4)·(|⟨a − m, n⟩| + |⟨m, b − n⟩|): the kernel sums in the order of the coordinates, so the
//! two extra ones, which come last, are rounded three times at most, and the others D + 4 times. The f64 value of ⟨a, b⟩, the
//! centering and the extra coordinates in f64 add 6·(D + 16)·2⁻⁵³·A·B, where A and B are the longest rows of the sides.

use super::microkernel::Panels;
use super::moments::scaled_column_means;
use super::prepared::{BLOCK, lanes, length, power_of_two_near};
use super::repeats::{Repeat, firsts};
use crate::data::{Slice, Space};
use crate::random;
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
    /// For each row, the first row that has the same similarity to everything: it equals it or, for the cosine, points in the same
    /// direction. Such rows are measured as that one.
    pub(crate) firsts: Vec<u32>,
}

impl<'a> Side<'a> {
    pub(crate) fn new(space: &'a Space, similarity: Similarity, driver: &Driver) -> Self {
        let n = space.rows();
        let lengths = driver.blocks(n, BLOCK, |rows| {
            let mut row = vec![0.0; space.columns()];
            let measure = |i: usize| {
                space.read_row(i, &mut row);
                length(&row)
            };
            rows.map(measure).collect::<Vec<f64>>()
        });
        let lengths = lengths.concat();
        // A subnormal length has no inverse in f64: it counts as zero.
        let is_zero = |l: &&f64| **l < f64::MIN_POSITIVE;
        let inverse = |l: &f64| if is_zero(&l) { 0.0 } else { 1.0 / l };
        let zeros = lengths.iter().filter(is_zero).count();
        let (factors, repeat): (Vec<f64>, Repeat) = match similarity {
            Similarity::Cosine => (lengths.iter().map(inverse).collect(), Repeat::Direction),
            Similarity::Dot => {
                let longest = lengths.iter().copied().fold(0.0, f64::max);
                (vec![power_of_two_near(longest); n], Repeat::Row)
            }
        };
        Side {
            longest: lengths.iter().zip(&factors).map(|(l, f)| l * f).fold(0.0, f64::max),
            firsts: firsts(space, repeat, driver),
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

    /// How many rows have the similarities of an earlier one.
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

impl<'a> Products<'a> {
    pub(crate) fn new(query: &'a Side<'a>, target: &'a Side<'a>) -> Self {
        Products { query, target }
    }

    /// The product of row i of the queries and row j of the targets, in f64; the same on every machine and the same for rows that
    /// are equal or, for the cosine, have one direction: sixteen lanes in a fixed order, no fused operations.
    #[inline]
    pub(crate) fn exact(&self, i: usize, j: usize) -> f64 {
        let d = self.query.space.columns();
        let (i, j) = (self.query.firsts[i] as usize, self.target.firsts[j] as usize);
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

/// Unit roundoff of f32 and of f64.
const U32: f64 = f32::EPSILON as f64 / 2.0;
const U64: f64 = f64::EPSILON / 2.0;

/// In which order the sides of a pair stand: both directions of a pair pack their rows alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The queries are the first side.
    There,
    /// The targets are.
    Back,
}

/// Whether rows are queries or are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Query,
    Target,
}

/// What the error bound of a row depends on: its length after centering, and the size of its extra coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Size {
    length: f64,
    extra: f64,
}

impl Size {
    fn max(self, other: Size) -> Size {
        Size {
            length: self.length.max(other.length),
            extra: self.extra.max(other.extra),
        }
    }
}

/// Some rows as the kernel multiplies them.
pub(crate) struct Packed {
    pub(crate) panels: Panels,
    /// Which row stands at each place.
    pub(crate) rows: Vec<u32>,
    pub(crate) sizes: Vec<Size>,
}

impl Packed {
    /// The largest sizes among the rows of a side.
    pub(crate) fn largest(side: &[Packed]) -> Size {
        let sizes = side.iter().flat_map(|packed| &packed.sizes);
        sizes.fold(Size::default(), |largest, &size| largest.max(size))
    }
}

/// How the rows of two sides are packed.
pub(crate) struct Centering<'a> {
    products: Products<'a>,
    way: Way,
    of_queries: Vec<f64>,
    of_targets: Vec<f64>,
    /// By how much a similarity exceeds the product of the packed rows.
    pub(crate) shared: f64,
}

impl<'a> Centering<'a> {
    pub(crate) fn new(products: &Products<'a>, way: Way, driver: &Driver) -> Self {
        let (of_queries, of_targets) = (products.query.mean(driver), products.target.mean(driver));
        Centering {
            products: *products,
            way,
            shared: inner(&of_queries, &of_targets),
            of_queries,
            of_targets,
        }
    }

    /// Packs some rows.
    pub(crate) fn pack(&self, role: Role, rows: &[u32]) -> Packed {
        let d = self.columns();
        let is_first = (role == Role::Query) == (self.way == Way::There);
        let mut panels = match role {
            Role::Query => Panels::of_queries(d + 2, rows.len()),
            Role::Target => Panels::of_targets(d + 2, rows.len()),
        };
        let mut row = vec![1.0; d + 2];
        let mut sizes = Vec::with_capacity(rows.len());
        for &i in rows {
            let extra = self.read(role, i, &mut row[..d]);
            sizes.push(Size {
                length: length(&row[..d]),
                extra: extra.abs(),
            });
            row[if is_first { d } else { d + 1 }] = extra;
            panels.push(&row);
        }
        Packed {
            panels,
            rows: rows.to_vec(),
            sizes,
        }
    }

    /// How many columns the rows have.
    pub(crate) fn columns(&self) -> usize {
        self.of_queries.len()
    }

    /// Writes a centered row, and returns its extra coordinate: the product of two packed rows is that of the centered ones and both
    /// extra coordinates.
    pub(crate) fn read(&self, role: Role, i: u32, row: &mut [f64]) -> f64 {
        let (side, mean, other) = match role {
            Role::Query => (self.products.query, &self.of_queries, &self.of_targets),
            Role::Target => (self.products.target, &self.of_targets, &self.of_queries),
        };
        side.read(i as usize, row);
        row.iter_mut().zip(mean).for_each(|(x, m)| *x -= m);
        inner(row, other)
    }

    /// Packs all rows in a fixed random order, so many at a time: the first ones are a fair sample of all.
    pub(crate) fn pack_all(&self, role: Role, at_once: usize, driver: &Driver) -> Vec<Packed> {
        let (side, stream) = match role {
            Role::Query => (self.products.query, "query order"),
            Role::Target => (self.products.target, "target order"),
        };
        let order = random::permutation(side.space.rows(), &mut random::stream(0, stream, 0));
        let blocks: Vec<&[u32]> = order.chunks(at_once).collect();
        driver.map(blocks.len(), |b| self.pack(role, blocks[b]))
    }

    /// The error bounds of some packed rows, where no row of the other side is larger than `others`.
    pub(crate) fn errors(&self, packed: &Packed, others: Size) -> Vec<f64> {
        let bounds = packed.sizes.iter().map(|&size| self.error_bound(size, others));
        bounds.collect()
    }

    /// How far the f32 product of a row of this size with a row of at most the size `others` can be from the exact one.
    fn error_bound(&self, size: Size, others: Size) -> f64 {
        let d = self.of_queries.len() as f64 + 16.0;
        let gamma = |k: f64| k * U32 / (1.0 - (k * U32).min(0.5));
        let in_f32 = gamma(d) * size.length * others.length + gamma(4.0) * (size.extra + others.extra);
        let in_f64 = 6.0 * d * U64 * self.products.query.longest * self.products.target.longest;
        (in_f32 + in_f64) * 1.01 + f64::from(f32::MIN_POSITIVE)
    }
}

/// Targets packed together; whole panels, however wide they are.
const TARGETS: usize = 480;

/// All targets, for queries that come some at a time.
pub(crate) struct PackedTargets<'a> {
    pub(crate) centering: Centering<'a>,
    pub(crate) blocks: Vec<Packed>,
    largest: Size,
}

impl<'a> PackedTargets<'a> {
    pub(crate) fn new(products: &Products<'a>, way: Way, driver: &Driver) -> Self {
        let centering = Centering::new(products, way, driver);
        let blocks = centering.pack_all(Role::Target, TARGETS, driver);
        PackedTargets {
            largest: Packed::largest(&blocks),
            blocks,
            centering,
        }
    }

    /// Some queries, and the error bound of each.
    pub(crate) fn queries(&self, rows: &[u32]) -> (Packed, Vec<f64>) {
        let packed = self.centering.pack(Role::Query, rows);
        let errors = self.centering.errors(&packed, self.largest);
        (packed, errors)
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    lanes(a, b, |x, y| x * y)
}
