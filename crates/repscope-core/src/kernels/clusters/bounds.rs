// SPDX-License-Identifier: MIT
//! What is known about the distances of rows to centers that have moved since they were measured.
//!
//! A center that moves by s changes no distance by more than s. So a row stays with its center as long as the
//! distance to it, plus the way it went, is less than the distance to every other, minus the way that one went
//! (Elkan 2003). Lower bounds are kept per group of centers (Ding et al. 2015), as many as a vector has lanes:
//! center c is in group c mod lanes, so all groups of a row are found and looked at by a few instructions.

use pulp::{Arch, Simd, WithSimd};

use super::rows::Chunk;
use super::scorer::{STRIP, Scorer, lanes};

/// More than what rounding takes from a sum or a root of single-precision numbers, relative to them.
const ROUNDING: f32 = 4.0 * f32::EPSILON;

/// How far the centers went since the first step.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    of_centers: Vec<f64>,
    /// The sum over the steps of the farthest way within each group, for 1, 2, 4, … groups: workers may have vectors of another
    /// length.
    of_groups: Vec<Vec<f64>>,
}

/// Vectors of 1, 2, 4, 8 and 16 numbers.
const WIDTHS: usize = 5;

impl Ways {
    pub(super) fn new(k: usize) -> Self {
        Ways {
            of_centers: vec![0.0; k],
            of_groups: (0..WIDTHS).map(|width| vec![0.0; 1 << width]).collect(),
        }
    }

    pub(crate) fn parts(&self) -> Vec<f64> {
        [&self.of_centers, &self.of_groups.concat()].map(Vec::as_slice).concat()
    }

    /// What [`Ways::parts`] gave, of so many centers; none if these are not as many numbers.
    pub(crate) fn of_parts(k: usize, parts: &[f64]) -> Option<Self> {
        let mut ways = Ways::new(k);
        let (of_centers, mut rest) = parts.split_at_checked(k)?;
        ways.of_centers.copy_from_slice(of_centers);
        for groups in &mut ways.of_groups {
            let (own, others) = rest.split_at_checked(groups.len())?;
            groups.copy_from_slice(own);
            rest = others;
        }
        rest.is_empty().then_some(ways)
    }

    /// Adds the way each center went in one step.
    pub(super) fn add(&mut self, steps: &[f64]) {
        for of_groups in &mut self.of_groups {
            let groups = of_groups.len();
            for (g, way) in of_groups.iter_mut().enumerate() {
                *way += steps.iter().skip(g).step_by(groups).copied().fold(0.0, f64::max);
            }
        }
        self.of_centers
            .iter_mut()
            .zip(steps)
            .for_each(|(way, step)| *way += step);
    }
}

/// A row of a chunk that left a cluster for another.
pub(super) struct Move {
    pub(super) row: u32,
    pub(super) old: u32,
    pub(super) new: u32,
}

/// The labels of the rows of a chunk, and bounds on their distances at the start of all ways.
pub(super) struct Bounds {
    pub(super) labels: Vec<u32>,
    /// The distance to the own center is at most this plus the way of that center.
    pub(super) upper: Vec<f32>,
    /// The distance to every other center of a group is at least this minus the way of the group; all groups of
    /// the first row, then of the second, and so on.
    lower: Vec<f32>,
}

impl Bounds {
    /// Nothing is known yet.
    pub(super) fn new(rows: usize, unassigned: u32) -> Self {
        Bounds {
            labels: vec![unassigned; rows],
            upper: vec![f32::INFINITY; rows],
            lower: vec![0.0; rows * lanes()],
        }
    }

    /// What it holds of each row.
    pub(super) fn bytes_of_row() -> usize {
        (2 + lanes()) * size_of::<f32>()
    }

    /// Gives a row another label than that of its nearest center, until the next step.
    pub(super) fn force(&mut self, row: usize, label: u32) {
        self.labels[row] = label;
        self.upper[row] = f32::INFINITY;
    }

    /// Gives each row the label of its nearest center and returns those whose label is another one now. Labels are those of the
    /// lowest scores, whatever is known: bounds save scores, and decide nothing that scores might decide otherwise.
    pub(super) fn assign(&mut self, chunk: &Chunk, scorer: &Scorer, ways: &Ways) -> Vec<Move> {
        let ways = SingleWays::new(ways);
        let open = Arch::new().dispatch(Undecided {
            bounds: self,
            ways: &ways,
            chunk,
            scorer,
        });
        let (mut scores, mut moves) = (Vec::new(), Vec::new());
        for rows in open.chunks(STRIP) {
            scorer.score(chunk, rows, &mut scores);
            Arch::new().dispatch(Renewal {
                bounds: self,
                ways: &ways,
                chunk,
                scorer,
                rows,
                scores: &scores,
                moves: &mut moves,
            });
        }
        moves
    }
}

/// The ways in the precision of the bounds.
struct SingleWays {
    of_centers: Vec<f32>,
    of_groups: Vec<f32>,
}

impl SingleWays {
    fn new(ways: &Ways) -> Self {
        SingleWays {
            of_centers: ways.of_centers.iter().map(|way| *way as f32).collect(),
            of_groups: ways.of_groups[lanes().ilog2() as usize]
                .iter()
                .map(|way| *way as f32)
                .collect(),
        }
    }
}

/// Finds the rows whose nearest center the bounds do not decide.
struct Undecided<'a> {
    bounds: &'a Bounds,
    ways: &'a SingleWays,
    chunk: &'a Chunk,
    scorer: &'a Scorer,
}

impl WithSimd for Undecided<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<u32> {
        let Undecided {
            bounds,
            ways,
            chunk,
            scorer,
        } = self;
        let of_groups = S::as_simd_f32s(&ways.of_groups).0[0];
        let of_groups = simd.mul_f32s(of_groups, simd.splat_f32s(1.0 + ROUNDING));
        let shrink = simd.splat_f32s(1.0 - ROUNDING);
        let rows = bounds
            .labels
            .iter()
            .zip(&bounds.upper)
            .zip(S::as_simd_f32s(&bounds.lower).0);
        let zero = simd.splat_f32s(0.0);
        // Where squares differ by less than their error, scores may order them otherwise.
        let slack = 2.0 * scorer.error(chunk.squared_lengths.iter().copied().fold(0.0, f32::max));
        // Every row is written down, and written over by the next one if it is decided: quicker than a jump that
        // nobody can foresee.
        let mut open = vec![0; bounds.labels.len()];
        let mut count = 0;
        for (row, ((&label, &upper), &lower)) in (0u32..).zip(rows) {
            let way = ways.of_centers.get(label as usize).copied().unwrap_or(0.0);
            let upper = upper + way + ROUNDING * (upper.abs() + way);
            let lower = simd.sub_f32s(simd.mul_f32s(lower, shrink), of_groups);
            let lower = simd.max_f32s(lower, zero);
            let limit = simd.splat_f32s(upper * upper + slack);
            let may_be_nearer = simd.less_than_or_equal_f32s(simd.mul_f32s(lower, lower), limit);
            open[count] = row;
            count += usize::from(simd.first_true_m32s(may_be_nearer) < S::F32_LANES);
        }
        open.truncate(count);
        open
    }
}

/// Takes labels and bounds of a few rows from their scores.
struct Renewal<'a> {
    bounds: &'a mut Bounds,
    ways: &'a SingleWays,
    chunk: &'a Chunk,
    scorer: &'a Scorer,
    rows: &'a [u32],
    scores: &'a [f32],
    moves: &'a mut Vec<Move>,
}

impl WithSimd for Renewal<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let of_groups = S::as_simd_f32s(&self.ways.of_groups).0[0];
        let lower = S::as_mut_simd_f32s(&mut self.bounds.lower).0;
        let zero = simd.splat_f32s(0.0);
        for (&number, scores) in self.rows.iter().zip(self.scores.chunks_exact(self.scorer.stride())) {
            let row = number as usize;
            let (nearest, lowest, others) = nearest(simd, S::as_simd_f32s(scores).0);
            let squared = self.chunk.squared_lengths[row];
            let error = self.scorer.error(squared);
            // ‖x − c‖² = ‖x‖² + 2 · score.
            let distance = (squared + 2.0 * lowest + error).max(0.0).sqrt();
            let old = std::mem::replace(&mut self.bounds.labels[row], nearest);
            if old != nearest {
                self.moves.push(Move {
                    row: number,
                    old,
                    new: nearest,
                });
            }
            self.bounds.upper[row] = distance - self.ways.of_centers[nearest as usize];
            let others = simd.mul_add_f32s(others, simd.splat_f32s(2.0), simd.splat_f32s(squared - error));
            lower[row] = simd.add_f32s(simd.sqrt_f32s(simd.max_f32s(others, zero)), of_groups);
        }
    }
}

/// The center of the lowest score, the smaller number if there are several; that score; and the lowest scores of the
/// others in each group.
#[inline(always)]
fn nearest<S: Simd>(simd: S, scores: &[S::f32s]) -> (u32, f32, S::f32s) {
    let infinity = simd.splat_f32s(f32::INFINITY);
    // Numbers of vectors and of centers are small enough to be exact in single precision.
    let (mut lowest, mut second, mut place) = (infinity, infinity, simd.splat_f32s(0.0));
    for (number, &score) in scores.iter().enumerate() {
        let is_lower = simd.less_than_f32s(score, lowest);
        second = simd.min_f32s(second, simd.max_f32s(score, lowest));
        place = simd.select_f32s(is_lower, simd.splat_f32s(number as f32), place);
        lowest = simd.min_f32s(score, lowest);
    }
    let least = simd.splat_f32s(simd.reduce_min_f32s(lowest));
    let (lanes, count) = (lane_numbers(simd), simd.splat_f32s(S::F32_LANES as f32));
    let centers = simd.mul_add_f32s(place, count, lanes);
    let is_least = simd.equal_f32s(lowest, least);
    let center = simd.reduce_min_f32s(simd.select_f32s(is_least, centers, infinity));
    let is_own = simd.equal_f32s(centers, simd.splat_f32s(center));
    let others = simd.select_f32s(is_own, second, lowest);
    (center as u32, simd.reduce_min_f32s(least), others)
}

/// 0, 1, 2 and so on.
#[inline(always)]
fn lane_numbers<S: Simd>(simd: S) -> S::f32s {
    let numbers: [f32; 64] = std::array::from_fn(|lane| lane as f32);
    simd.partial_load_f32s(&numbers[..S::F32_LANES])
}
