// SPDX-License-Identifier: MIT
//! Products of some columns with some others over a strip of rows: six times two vectors of them, summed in registers.
//!
//! A sum goes over the rows in their order by fused operations, so it has the same bits on every machine. It is added to a
//! sum in f64 when the strip ends.

use pulp::Simd;
use pulp::bytemuck::Pod;

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

/// Left panels that meet one right panel over a strip of rows.
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
