// SPDX-License-Identifier: MIT
//! The two kinds of numbers that rows are multiplied in.

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
