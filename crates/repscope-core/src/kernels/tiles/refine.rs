// SPDX-License-Identifier: MIT
//! The coordinates of rows one row after the other, for the pairs that the stages of a tile leave undecided.

use std::ops::Range;

use pulp::Simd;

use super::prefix::{Prefix, STAGES};

/// Room for the lengths of what is behind each stage.
const LENGTHS: usize = STAGES.len();

/// Packed rows, row by row.
pub(super) struct Rest {
    /// Where in `between` the coordinates of each stage but the first are.
    stages: Vec<Range<usize>>,
    columns: usize,
    /// Of each row the lengths of what is behind each stage, and the coordinates of all stages but the first.
    between: Vec<f32>,
    between_width: usize,
    /// All coordinates, not turned.
    whole: Vec<f32>,
}

impl Rest {
    pub(super) fn with_room(prefix: &Prefix, rows: usize) -> Self {
        let stages: Vec<Range<usize>> = prefix.stages().skip(1).collect();
        let shift = |stage: &Range<usize>| stage.start + LENGTHS - STAGES[0]..stage.end + LENGTHS - STAGES[0];
        let between_width = LENGTHS + prefix.width() - STAGES[0];
        Rest {
            stages: stages.iter().map(shift).collect(),
            columns: prefix.columns(),
            between: Vec::with_capacity(rows * between_width),
            between_width,
            whole: Vec::with_capacity(rows * prefix.columns()),
        }
    }

    /// Adds a row. Returns the lengths of what is behind each stage.
    pub(super) fn push(&mut self, prefix: &Prefix, turned: &[f64], row: &[f64]) -> [f64; LENGTHS] {
        let squared = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
        let mut left = squared(row);
        let mut behind = [0.0; LENGTHS];
        for (stage, behind) in prefix.stages().zip(&mut behind) {
            left -= squared(&turned[stage]);
            *behind = left.max(0.0).sqrt();
        }
        self.between.extend(behind.iter().map(|&x| x as f32));
        self.between.extend(turned[STAGES[0]..].iter().map(|&x| x as f32));
        self.whole.extend(row.iter().map(|&x| x as f32));
        behind
    }

    /// Adds the coordinates of each stage to the products of pairs that the stages before left undecided, drops those that
    /// cannot reach their limit any more, and returns the others, which no stage decides, with their squared distances.
    /// `undecided` holds the pairs, of a row of these and a row of `targets`, that each stage left so.
    pub(super) fn sift(&self, targets: &Rest, undecided: &mut [Vec<Pair>]) -> Vec<(Pair, f32)> {
        pulp::Arch::new().dispatch(Sift {
            queries: self,
            targets,
            undecided,
        })
    }

    pub(super) fn bytes_of_row(&self) -> usize {
        self.columns * size_of::<f32>()
    }

    #[inline(always)]
    fn behind(&self, position: u32, stage: usize) -> f32 {
        self.between[position as usize * self.between_width + stage]
    }
}

/// Two rows of blocks, what is known of their product, and from where on it matters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) query: u32,
    pub(super) target: u32,
    pub(super) product: f32,
    pub(super) limit: f32,
}

struct Sift<'a> {
    queries: &'a Rest,
    targets: &'a Rest,
    undecided: &'a mut [Vec<Pair>],
}

impl pulp::WithSimd for Sift<'_> {
    type Output = Vec<(Pair, f32)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<(Pair, f32)> {
        let Sift {
            queries,
            targets,
            undecided,
        } = self;
        for (stage, coordinates) in queries.stages.iter().enumerate() {
            let (before, after) = undecided.split_at_mut(stage + 1);
            let (pairs, left) = (&mut before[stage], &mut after[0]);
            left.reserve(pairs.len() + 4);
            for first in (0..pairs.len()).step_by(4) {
                let some = Four::new(pairs, first);
                let sums = some.add::<S, false>(
                    simd,
                    [&queries.between, &targets.between],
                    queries.between_width,
                    coordinates,
                );
                for (pair, sum) in some.0.iter().zip(sums).take(pairs.len() - first) {
                    let product = pair.product + sum;
                    let behind = queries.behind(pair.query, stage + 1) * targets.behind(pair.target, stage + 1);
                    // Written in any case, so that nothing hangs on a guess.
                    left.push(Pair { product, ..*pair });
                    left.truncate(left.len() - usize::from(product + behind < pair.limit));
                }
            }
            pairs.clear();
        }
        let pairs = &mut undecided[queries.stages.len()];
        let mut measured = Vec::with_capacity(pairs.len() + 4);
        for first in (0..pairs.len()).step_by(4) {
            let some = Four::new(pairs, first);
            let columns = queries.columns;
            let squared = some.add::<S, true>(simd, [&queries.whole, &targets.whole], columns, &(0..columns));
            measured.extend(some.0.into_iter().zip(squared).take(pairs.len() - first));
        }
        pairs.clear();
        measured
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
        [of_queries, of_targets]: [&[f32]; 2],
        width: usize,
        coordinates: &Range<usize>,
    ) -> [f32; 4] {
        let (start, count) = (coordinates.start, coordinates.len());
        let zero = simd.splat_f32s(0.0);
        let (mut sums, mut rests) = ([zero; 4], [0.0; 4]);
        let empty: (&[S::f32s], &[f32]) = (&[], &[]);
        let (mut xs, mut ys) = ([empty; 4], [empty; 4]);
        for (p, pair) in self.0.iter().enumerate() {
            let (x, y) = (
                pair.query as usize * width + start,
                pair.target as usize * width + start,
            );
            (xs[p], ys[p]) = (
                S::as_simd_f32s(&of_queries[x..x + count]),
                S::as_simd_f32s(&of_targets[y..y + count]),
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
