// SPDX-License-Identifier: MIT
//! The scatter matrix S = Σ_i δ_i δ_iᵀ, strip by strip of rows: products in f32 or f64, sums of strips in f64.
//!
//! A few strips at a time are centered and packed; then every panel of columns meets the panels at and below it. A task
//! owns its part of the matrix and takes the strips in order, so bits do not depend on the order of work. No task waits at a
//! lock, and a poisoned one does not matter: the panic ends the run.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use pulp::Simd;
use pulp::bytemuck::Pod;

use crate::blocks::SUPER_BLOCK;
use crate::data::Space;
use crate::kernels::moments::{TwoLevels, centered};
use crate::run::Driver;

/// f32 or f64, and the vectors that a machine has for it.
pub(super) trait Number: Pod + Send + Sync {
    /// A vector of them.
    type Vector<S: Simd>: Pod;
    /// How many a vector holds.
    fn lanes<S: Simd>() -> usize {
        size_of::<Self::Vector<S>>() / size_of::<Self>()
    }
    fn rounded(x: f64) -> Self;
    fn exact(self) -> f64;
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// `a · b + c`, rounded once.
    fn mul_add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>) -> Self::Vector<S>;
}

impl Number for f32 {
    type Vector<S: Simd> = S::f32s;

    #[inline(always)]
    fn rounded(x: f64) -> f32 {
        x as f32
    }

    #[inline(always)]
    fn exact(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn splat<S: Simd>(simd: S, x: f32) -> S::f32s {
        simd.splat_f32s(x)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        simd.mul_add_f32s(a, b, c)
    }
}

impl Number for f64 {
    type Vector<S: Simd> = S::f64s;

    #[inline(always)]
    fn rounded(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn exact(self) -> f64 {
        self
    }

    #[inline(always)]
    fn splat<S: Simd>(simd: S, x: f64) -> S::f64s {
        simd.splat_f64s(x)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
        simd.mul_add_f64s(a, b, c)
    }
}

/// Columns of a left panel: with two vectors on the right, twelve sums fit into the registers of AVX2.
pub(super) const LEFT: usize = 6;

/// Columns of a right panel: two vectors of this machine.
pub(super) fn right_columns<T: Number>() -> usize {
    pulp::Arch::new().dispatch(Width(std::marker::PhantomData::<T>))
}

struct Width<T>(std::marker::PhantomData<T>);

impl<T: Number> pulp::WithSimd for Width<T> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        2 * T::lanes::<S>()
    }
}

/// Left panels that meet one right panel over a strip of rows: six times two vectors of columns, summed in registers over the
/// rows in their order by fused operations, so the same bits on every machine, and added to a sum in f64 when the strip ends.
pub(super) struct Meeting<'a, T> {
    /// Panels of six columns, row by row.
    pub(super) left: &'a [T],
    /// Numbers from one left panel to the next.
    pub(super) stride: usize,
    /// One panel, row by row: as many rows as the strip has.
    pub(super) right: &'a [T],
    /// A tile for each left panel, to which the products are added: six rows as wide as the right panel.
    pub(super) tiles: &'a mut [f64],
}

impl<T: Number> Meeting<'_, T> {
    pub(super) fn run(self) {
        pulp::Arch::new().dispatch(self);
    }
}

impl<T: Number> pulp::WithSimd for Meeting<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let right: &[T::Vector<S>] = pulp::bytemuck::cast_slice(self.right);
        let right = right.as_chunks::<2>().0;
        let tiles = self.tiles.chunks_exact_mut(LEFT * 2 * T::lanes::<S>());
        for (left, tile) in self.left.chunks(self.stride).zip(tiles) {
            let sums = multiply::<T, S>(simd, left.as_chunks::<LEFT>().0, right);
            let sums: &[T] = pulp::bytemuck::cast_slice(sums.as_flattened());
            for (total, sum) in tile.iter_mut().zip(sums) {
                *total += sum.exact();
            }
        }
    }
}

type Sums<T, S> = [[<T as Number>::Vector<S>; 2]; LEFT];

#[inline(always)]
fn multiply<T: Number, S: Simd>(simd: S, left: &[[T; LEFT]], right: &[[T::Vector<S>; 2]]) -> Sums<T, S> {
    let mut sums = [[T::splat(simd, T::rounded(0.0)); 2]; LEFT];
    // Four rows at a time keep the loop itself out of the way.
    let (left, last_left) = left[..right.len()].as_chunks::<4>();
    let (right, last_right) = right.as_chunks::<4>();
    for (left, right) in left.iter().zip(right) {
        for (left, right) in left.iter().zip(right) {
            add_products::<T, S>(simd, left, right, &mut sums);
        }
    }
    for (left, right) in last_left.iter().zip(last_right) {
        add_products::<T, S>(simd, left, right, &mut sums);
    }
    sums
}

#[inline(always)]
fn add_products<T: Number, S: Simd>(simd: S, left: &[T; LEFT], right: &[T::Vector<S>; 2], sums: &mut Sums<T, S>) {
    for (sum, &x) in sums.iter_mut().zip(left) {
        let x = T::splat(simd, x);
        sum[0] = T::mul_add(simd, x, right[0], sum[0]);
        sum[1] = T::mul_add(simd, x, right[1], sum[1]);
    }
}

/// Bytes of a cache line. Vectors that lie across two lines are read at half the speed.
const LINE: usize = 64;
/// Rows of a strip: a right panel fills half of a first-level cache.
pub(crate) const ROWS: usize = 256;
/// Bytes of packed rows that wait for their products: they stay in the last-level cache.
const PACKED_BYTES: usize = 2 << 20;
/// And never fewer strips than this at a time, so that many threads have something to pack.
const FEWEST_AT_ONCE: usize = 4;

/// A sum over some of the strips of a space.
pub(super) struct Strips<'a, T> {
    space: &'a Space,
    mean: &'a [f64],
    /// A vector that the sum is multiplied by in f64, to compare with; empty where nothing is compared.
    probe: &'a [f64],
    /// Columns of a right panel.
    width: usize,
    packed: Vec<RwLock<Packed<T>>>,
    /// For each right panel, the tiles of the left panels that reach the diagonal or lie below it: of the current super-block, and of
    /// all before it.
    tiles: Vec<Mutex<Tiles>>,
    /// Σ_i δ_i (δ_i·probe) over the strips taken so far.
    probed: TwoLevels,
}

struct Tiles {
    current: Vec<f64>,
    total: Vec<f64>,
}

/// Strips of a super-block.
pub(crate) const PER_SUPER: usize = SUPER_BLOCK / ROWS;

/// The columns of a strip in panels, row by row; missing columns are zero.
struct Packed<T> {
    left: Vec<T>,
    right: Vec<T>,
    /// Where the first right panel begins: at the start of a line.
    start: usize,
}

impl<'a, T: Number> Strips<'a, T> {
    pub(super) fn new(space: &'a Space, mean: &'a [f64], probe: &'a [f64]) -> Self {
        let d = space.columns();
        let width = right_columns::<T>();
        let (left, right) = (d.div_ceil(LEFT), d.div_ceil(width));
        let line = LINE / size_of::<T>();
        let at_once = (PACKED_BYTES / (ROWS * d * size_of::<T>())).max(FEWEST_AT_ONCE);
        let count = at_once.min(space.rows().div_ceil(ROWS));
        let packed = |_| {
            let values = vec![T::rounded(0.0); right * width * ROWS + line];
            RwLock::new(Packed {
                left: vec![T::rounded(0.0); left * LEFT * ROWS],
                start: values.as_ptr().align_offset(LINE).min(line),
                right: values,
            })
        };
        let tiles = |panel| {
            let zeros = vec![0.0; (left - first_left(panel, width)) * LEFT * width];
            Mutex::new(Tiles {
                current: zeros.clone(),
                total: zeros,
            })
        };
        Strips {
            space,
            mean,
            probe,
            width,
            packed: (0..count).map(packed).collect(),
            tiles: (0..right).map(tiles).collect(),
            probed: TwoLevels::new(probe.len()),
        }
    }

    /// The number of strips of the space.
    pub(super) fn count(&self) -> usize {
        self.space.rows().div_ceil(ROWS)
    }

    /// Adds the strips of these numbers, which ascend: those of a super-block first, then their sum to those before it.
    pub(super) fn add(&mut self, numbers: &[usize], driver: &Driver) {
        for of_super in numbers.chunk_by(|a, b| a / PER_SUPER == b / PER_SUPER) {
            for numbers in of_super.chunks(self.packed.len()) {
                let probed = driver.map(numbers.len(), |place| self.pack(place, numbers[place]));
                probed.iter().for_each(|probed| self.probed.add(probed));
                driver.map(self.tiles.len(), |panel| self.multiply(panel, numbers));
            }
            self.probed.settle();
            driver.map(self.tiles.len(), |panel| {
                let Tiles { current, total } = &mut *locked(&self.tiles[panel]);
                for (total, current) in total.iter_mut().zip(current) {
                    *total += std::mem::take(current);
                }
            });
        }
    }

    /// S times the probe, in f64 throughout.
    pub(super) fn probed(&self) -> Vec<f64> {
        self.probed.clone().finish()
    }

    /// S, full and symmetric.
    pub(super) fn matrix(&self) -> Vec<f64> {
        let (d, width) = (self.space.columns(), self.width);
        let mut matrix = vec![0.0; d * d];
        for (panel, tiles) in self.tiles.iter().enumerate() {
            let first = first_left(panel, width) * LEFT;
            let columns = panel * width..d.min((panel + 1) * width);
            for (i, sums) in (first..d).zip(locked(tiles).total.chunks_exact(width)) {
                for (j, &sum) in columns.clone().zip(sums).filter(|(j, _)| *j <= i) {
                    matrix[i * d + j] = sum;
                    matrix[j * d + i] = sum;
                }
            }
        }
        matrix
    }

    fn span(&self, number: usize) -> std::ops::Range<usize> {
        number * ROWS..self.space.rows().min((number + 1) * ROWS)
    }

    /// Packs a strip and returns its share of `probed`.
    fn pack(&self, place: usize, number: usize) -> Vec<f64> {
        let d = self.space.columns();
        let packed = &mut *self.packed[place].write().unwrap_or_else(PoisonError::into_inner);
        let right = &mut packed.right[packed.start..];
        let mut probed = vec![0.0; self.probe.len()];
        let mut row = vec![0.0; d];
        for (i, of_space) in self.span(number).enumerate() {
            centered(self.space, None, self.mean, of_space..of_space + 1, 0..d, &mut row);
            spread(&row, LEFT, &mut packed.left[i * LEFT..]);
            spread(&row, self.width, &mut right[i * self.width..]);
            if !self.probe.is_empty() {
                let along = dot(&row, self.probe);
                probed.iter_mut().zip(&row).for_each(|(sum, x)| *sum += along * x);
            }
        }
        probed
    }

    /// Adds the products of a right panel with all left panels that reach the diagonal or lie below it.
    fn multiply(&self, panel: usize, numbers: &[usize]) {
        let tiles = &mut locked(&self.tiles[panel]).current;
        let stride = LEFT * ROWS;
        for (packed, &number) in self.packed.iter().zip(numbers) {
            let packed = &*packed.read().unwrap_or_else(PoisonError::into_inner);
            let right = &packed.right[packed.start + panel * self.width * ROWS..];
            let meeting = Meeting {
                left: &packed.left[first_left(panel, self.width) * stride..],
                stride,
                right: &right[..self.width * self.span(number).len()],
                tiles,
            };
            meeting.run();
        }
    }
}

/// The first left panel with a column at or behind the first one of a right panel.
fn first_left(panel: usize, width: usize) -> usize {
    panel * width / LEFT
}

/// Copies a row to its places in panels of this width, `to` being its place in the first one.
fn spread<T: Number>(row: &[f64], width: usize, to: &mut [T]) {
    for (place, columns) in to.chunks_mut(width * ROWS).zip(row.chunks(width)) {
        for (to, from) in place.iter_mut().zip(columns) {
            *to = T::rounded(*from);
        }
    }
}

/// In eight lanes, so that vectors are used.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let last: f64 = last_a.iter().zip(last_b).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + last
}

fn locked(tiles: &Mutex<Tiles>) -> MutexGuard<'_, Tiles> {
    tiles.lock().unwrap_or_else(PoisonError::into_inner)
}
