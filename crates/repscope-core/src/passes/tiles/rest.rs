// SPDX-License-Identifier: MIT
//! What is left of rows behind their first coordinates, and the pairs that need it.

use pulp::Simd;

use super::prefix::{Prefix, STEP};

/// Room for the lengths of what is behind each step.
const LENGTHS: usize = 8;

/// What the first coordinates of packed rows leave out.
pub(super) struct Rest {
    steps: usize,
    columns: usize,
    /// Of each row the lengths of what is behind its first coordinates and behind each step, and the coordinates of the steps.
    between: Vec<f32>,
    /// All coordinates, not turned.
    whole: Vec<f32>,
}

impl Rest {
    pub(super) fn with_room(prefix: &Prefix, rows: usize) -> Self {
        let steps = (prefix.width() - prefix.first) / STEP;
        Rest {
            steps,
            columns: prefix.columns(),
            between: Vec::with_capacity(rows * (LENGTHS + steps * STEP)),
            whole: Vec::with_capacity(rows * prefix.columns()),
        }
    }

    /// Adds a row. Returns the length of what is behind its first coordinates.
    pub(super) fn push(&mut self, prefix: &Prefix, turned: &[f64], row: &[f64]) -> f64 {
        let (first, between) = turned.split_at(prefix.first);
        let squared = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
        let mut left = squared(row) - squared(first);
        let behind_first = left.max(0.0).sqrt();
        let mut behind = [0.0; LENGTHS];
        behind[0] = behind_first as f32;
        for (step, behind) in between.chunks_exact(STEP).zip(&mut behind[1..]) {
            left -= squared(step);
            *behind = left.max(0.0).sqrt() as f32;
        }
        self.between.extend(behind);
        self.between.extend(between.iter().map(|&x| x as f32));
        self.whole.extend(row.iter().map(|&x| x as f32));
        behind_first
    }

    pub(super) fn append(&mut self, other: Rest) {
        self.between.extend(other.between);
        self.whole.extend(other.whole);
    }

    /// Adds the coordinates of each step to the products of some pairs, drops those that cannot reach their limit any more,
    /// and returns the squared distances of the others.
    pub(super) fn sift(&self, pairs: &mut Vec<Pair>) -> Vec<f32> {
        pulp::Arch::new().dispatch(Sift { rest: self, pairs })
    }

    pub(super) fn bytes_of_row(&self) -> usize {
        (self.between_width() + self.columns) * size_of::<f32>()
    }

    #[inline(always)]
    fn between_width(&self) -> usize {
        LENGTHS + self.steps * STEP
    }

    #[inline(always)]
    fn between_of(&self, position: usize) -> &[f32] {
        let width = self.between_width();
        &self.between[position * width..(position + 1) * width]
    }
}

/// Two packed positions, what is known of their product, and from where on it matters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) query: usize,
    pub(super) target: usize,
    pub(super) product: f32,
    pub(super) limit: f32,
}

struct Sift<'a> {
    rest: &'a Rest,
    pairs: &'a mut Vec<Pair>,
}

impl pulp::WithSimd for Sift<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        let Sift { rest, pairs } = self;
        for pair in &mut *pairs {
            pair.product -= rest.between_of(pair.query)[0] * rest.between_of(pair.target)[0];
        }
        for step in 0..rest.steps {
            let (mut kept, mut first) = (0, 0);
            while first < pairs.len() {
                let some = Four::new(pairs, first);
                let sums = some.add::<S, false>(simd, &rest.between, rest.between_width(), LENGTHS + step * STEP, STEP);
                for (pair, sum) in some.0.iter().zip(sums).take(pairs.len() - first) {
                    let product = pair.product + sum;
                    let behind = rest.between_of(pair.query)[step + 1] * rest.between_of(pair.target)[step + 1];
                    // Written in any case, so that nothing hangs on a guess.
                    pairs[kept] = Pair { product, ..*pair };
                    kept += usize::from(product + behind >= pair.limit);
                }
                first += 4;
            }
            pairs.truncate(kept);
        }
        let mut squared = Vec::with_capacity(pairs.len() + 4);
        for first in (0..pairs.len()).step_by(4) {
            let some = Four::new(pairs, first);
            squared.extend(some.add::<S, true>(simd, &rest.whole, rest.columns, 0, rest.columns));
        }
        squared
    }
}

/// Four pairs: four sums do not wait for each other.
struct Four([Pair; 4]);

impl Four {
    /// The pairs from `first` on; beyond the last, the last.
    #[inline(always)]
    fn new(pairs: &[Pair], first: usize) -> Self {
        let last = pairs.len() - 1;
        let at = [first, last.min(first + 1), last.min(first + 2), last.min(first + 3)];
        Four([pairs[at[0]], pairs[at[1]], pairs[at[2]], pairs[at[3]]])
    }

    /// Of each pair the sum of the products, or of the squared differences, of some coordinates of rows of this width.
    #[inline(always)]
    fn add<S: Simd, const SQUARES: bool>(
        &self,
        simd: S,
        values: &[f32],
        width: usize,
        start: usize,
        count: usize,
    ) -> [f32; 4] {
        let zero = simd.splat_f32s(0.0);
        let (mut sums, mut rests) = ([zero; 4], [0.0; 4]);
        let empty: (&[S::f32s], &[f32]) = (&[], &[]);
        let (mut xs, mut ys) = ([empty; 4], [empty; 4]);
        for (p, pair) in self.0.iter().enumerate() {
            let (x, y) = (pair.query * width + start, pair.target * width + start);
            (xs[p], ys[p]) = (
                S::as_simd_f32s(&values[x..x + count]),
                S::as_simd_f32s(&values[y..y + count]),
            );
        }
        let vectors = count / S::F32_LANES;
        let (x, y) = (
            [
                &xs[0].0[..vectors],
                &xs[1].0[..vectors],
                &xs[2].0[..vectors],
                &xs[3].0[..vectors],
            ],
            [
                &ys[0].0[..vectors],
                &ys[1].0[..vectors],
                &ys[2].0[..vectors],
                &ys[3].0[..vectors],
            ],
        );
        for i in 0..vectors {
            for p in 0..4 {
                let (mut a, mut b) = (x[p][i], y[p][i]);
                if SQUARES {
                    a = simd.sub_f32s(a, b);
                    b = a;
                }
                sums[p] = simd.mul_add_f32s(a, b, sums[p]);
            }
        }
        for p in 0..4 {
            for (a, b) in xs[p].1.iter().zip(ys[p].1) {
                rests[p] += if SQUARES { (a - b) * (a - b) } else { a * b };
            }
            rests[p] += simd.reduce_sum_f32s(sums[p]);
        }
        rests
    }
}
