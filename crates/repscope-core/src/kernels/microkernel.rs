// SPDX-License-Identifier: MIT
//! Inner products of many rows with many others, of which only the large ones are wanted: a fused kernel.
//!
//! Rows are packed in panels, coordinate by coordinate. The kernel takes six queries and two vectors' width of targets,
//! sums all their products in registers, compares the sums with each query's limit, and hands out what is large enough.
//! No matrix of similarities is ever written. Width and instructions are those of the machine, by `pulp`.
//!
//! Panels may be cut into stages, each of which ends with a coordinate that makes the product so far an upper bound of the
//! whole one. Where no bound reaches its limit, the kernel goes on to the next targets; where few do, these are handed out as
//! undecided; else the next stage follows.
//!
//! Or rows are there in 8 bits as well ([`Coarse`]), and panels meet in these first: few pairs that may matter are handed out, many
//! are multiplied in full.

use std::ops::Range;

use pulp::Simd;

use super::coarse::Coarse;

/// Queries in a panel: with two vectors of targets, twelve sums fit into the registers of AVX2.
pub(crate) const QUERIES: usize = 6;
/// The most targets in a panel, those of AVX-512.
pub(crate) const MOST_TARGETS: usize = 32;
/// f32 in a line of the cache. Vectors that lie across two lines are read at half the speed.
const LINE: usize = 16;

/// Rows in panels of equal width; missing rows of the last panel are zero.
pub(crate) struct Panels {
    width: usize,
    columns: usize,
    rows: usize,
    values: Vec<f32>,
    /// Where the first panel begins: at the start of a line.
    start: usize,
}

impl Panels {
    /// Room for this many queries.
    pub(crate) fn of_queries(columns: usize, rows: usize) -> Self {
        Panels::new(QUERIES, columns, rows)
    }

    /// Room for this many targets, in panels of the width that suits this machine.
    pub(crate) fn of_targets(columns: usize, rows: usize) -> Self {
        Panels::new(Panels::targets_at_once(), columns, rows)
    }

    /// Targets in a panel.
    pub(crate) fn targets_at_once() -> usize {
        2 * pulp::Arch::new().dispatch(Lanes)
    }

    fn new(width: usize, columns: usize, rows: usize) -> Self {
        let values = vec![0.0f32; rows.div_ceil(width) * width * columns + LINE];
        Panels {
            width,
            columns,
            rows: 0,
            start: values.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE),
            values,
        }
    }

    pub(crate) fn push(&mut self, row: &[f64]) {
        let (width, place) = (self.width, self.rows % self.width);
        let panel = self.panel_mut(self.rows / width);
        for (k, &x) in row.iter().enumerate() {
            panel[k * width + place] = x as f32;
        }
        self.rows += 1;
    }

    /// The number of panels.
    pub(crate) fn count(&self) -> usize {
        self.rows.div_ceil(self.width)
    }

    fn span(&self, number: usize) -> Range<usize> {
        let size = self.columns * self.width;
        self.start + number * size..self.start + (number + 1) * size
    }

    fn panel(&self, number: usize) -> &[f32] {
        &self.values[self.span(number)]
    }

    fn panel_mut(&mut self, number: usize) -> &mut [f32] {
        let span = self.span(number);
        &mut self.values[span]
    }
}

/// Receives the large products of some queries and some targets, both counted from 0.
pub(crate) trait Meets {
    /// Whether targets have limits of their own.
    const BOTH: bool;
    /// Up to this many pairs of a micro-tile that 8 bits leave are handed out one by one, rather than that all are multiplied in full.
    const FEW_COARSE: u32 = FEW_COARSE;
    /// Whether any product is to be reported at all; else they are only written.
    fn is_reported(&self) -> bool {
        true
    }
    /// The limits of the queries from `first` on, six at least; they may rise on the way.
    fn query_limits(&self, first: usize) -> &[f32];
    /// The limits of the targets from `first` on, as many as a panel is wide; asked for where there are any.
    fn target_limits(&self, first: usize) -> &[f32];
    /// Bytes beside the panels that are read of a target that is found.
    fn bytes_of_target(&self) -> usize {
        0
    }
    /// Where stages end, counted in coordinates; none where all coordinates are one.
    fn stages(&self) -> &[usize] {
        &[]
    }
    /// The rows in 8 bits, where they are to meet first.
    fn coarse(&self) -> Option<&Coarse<'_>> {
        None
    }
    /// A pair of which 8 bits do not show that it is below its limits.
    fn found_coarsely(&mut self, _query: usize, _target: usize) {}
    /// A product that is not below one of its limits.
    fn found(&mut self, query: usize, target: usize, product: f32);
    /// All products of six queries and a panel's width of targets, one query after the other, of which many are not below their
    /// limits. False where they are to be reported one by one.
    fn found_many(&mut self, _query: usize, _target: usize, _products: &[f32]) -> bool {
        false
    }
    /// A pair that this stage, which is not the last, leaves undecided: its product without the coordinate that makes it a bound.
    fn undecided(&mut self, _query: usize, _target: usize, _stage: usize, _product: f32) {}
}

/// Some panels of queries and of targets that meet.
pub(crate) struct Meeting<'a, M> {
    pub(crate) queries: (&'a Panels, Range<usize>),
    pub(crate) targets: (&'a Panels, Range<usize>),
    pub(crate) meets: &'a mut M,
    /// Where all products go, a row of so many for each query; empty where they go nowhere.
    pub(crate) products: (&'a mut [f32], usize),
}

/// Up to this many undecided pairs of a micro-tile are handed out one by one, rather than that all see the next stage.
pub(crate) const FEW: u32 = 4;
/// So many where each is measured in f64.
pub(crate) const FEW_COARSE: u32 = 8;
/// From this many on, all pairs of a micro-tile are handed out at once.
const MANY: u32 = 16;
/// Bytes of targets that stay in a core's second-level cache while the queries pass by.
const CACHED: usize = 320 << 10;

impl<M: Meets> Meeting<'_, M> {
    /// Lets them meet, by the instructions of this machine. Each product is summed in the order of the coordinates by
    /// fused operations, so its bits are the same on every machine.
    pub(crate) fn run(self) {
        pulp::Arch::new().dispatch(self);
    }
}

impl<M: Meets> pulp::WithSimd for Meeting<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (queries, targets) = (self.queries.0, self.targets.0);
        let (first_query, first_target) = (self.queries.1.start, self.targets.1.start);
        let bytes = if self.meets.coarse().is_some() {
            1
        } else {
            size_of::<f32>()
        };
        let of_target = targets.columns * bytes + self.meets.bytes_of_target();
        let at_once = (CACHED / (targets.width * of_target)).max(1);
        for start in self.targets.1.clone().step_by(at_once) {
            for q in self.queries.1.clone() {
                let rows = queries.panel(q).as_chunks::<QUERIES>().0;
                let query = (q - first_query) * QUERIES;
                for t in start..self.targets.1.end.min(start + at_once) {
                    let columns: &[S::f32s] = pulp::bytemuck::cast_slice(targets.panel(t));
                    let columns = columns.as_chunks::<2>().0;
                    let target = (t - first_target) * targets.width;
                    if self.is_decided_coarsely((q, query), (t, target)) {
                        continue;
                    }
                    if !self.is_far(simd, query, target, rows, columns) {
                        self.meet(simd, query, target, rows, columns);
                    }
                }
            }
        }
    }
}

impl<M: Meets> Meeting<'_, M> {
    /// Whether 8 bits show that at most a few pairs of a panel of queries and one of targets matter; those are handed out. Both come with
    /// the number of the panel and of its first row.
    #[inline(always)]
    fn is_decided_coarsely(
        &mut self,
        (query_panel, query): (usize, usize),
        (target_panel, target): (usize, usize),
    ) -> bool {
        let Some(coarse) = self.meets.coarse() else {
            return false;
        };
        let target_limits = M::BOTH.then(|| self.meets.target_limits(target));
        let reached = coarse.reached(query_panel, target_panel, self.meets.query_limits(query), target_limits);
        let count: u32 = reached.iter().map(|bits| bits.count_ones()).sum();
        if count > M::FEW_COARSE {
            return false;
        }
        if count > 0 {
            for (row, mut bits) in reached.into_iter().enumerate() {
                while bits != 0 {
                    self.meets
                        .found_coarsely(query + row, target + bits.trailing_zeros() as usize);
                    bits &= bits - 1;
                }
            }
        }
        true
    }

    /// Whether the first stage shows that no pair of a panel of queries and one of targets matters. Most are, where there are
    /// stages, so this keeps nothing but what fits into registers; the others are multiplied again.
    #[inline(always)]
    fn is_far<S: Simd>(
        &self,
        simd: S,
        query: usize,
        target: usize,
        rows: &[[f32; QUERIES]],
        columns: &[[S::f32s; 2]],
    ) -> bool {
        let Some(&end) = self.meets.stages().first() else {
            return false;
        };
        let zero = [[simd.splat_f32s(0.0); 2]; QUERIES];
        let bounds = add_all(simd, &rows[..end], &columns[..end], zero);
        !self.is_any_reached(simd, query, target, &bounds)
    }

    /// Whether any bound reaches a limit.
    #[inline(always)]
    fn is_any_reached<S: Simd>(&self, simd: S, query: usize, target: usize, bounds: &Products<S>) -> bool {
        let limits = &self.meets.query_limits(query)[..QUERIES];
        let of_targets = self.target_limits(simd, target);
        let mut is_any = simd.less_than_f32s(of_targets[0], of_targets[0]);
        for (bounds, &limit) in bounds.iter().zip(limits) {
            let limit = simd.splat_f32s(limit);
            for half in 0..2 {
                let lower = simd.min_f32s(limit, of_targets[half]);
                is_any = simd.or_m32s(is_any, simd.greater_than_or_equal_f32s(bounds[half], lower));
            }
        }
        simd.first_true_m32s(is_any) < S::F32_LANES
    }

    /// The limits of a panel of targets; infinite where they have none.
    #[inline(always)]
    fn target_limits<S: Simd>(&self, simd: S, target: usize) -> [S::f32s; 2] {
        if M::BOTH {
            read::<S>(&self.meets.target_limits(target)[..2 * S::F32_LANES])
        } else {
            [simd.splat_f32s(f32::INFINITY); 2]
        }
    }

    /// A panel of queries and one of targets, stage by stage.
    #[inline(always)]
    fn meet<S: Simd>(
        &mut self,
        simd: S,
        query: usize,
        target: usize,
        rows: &[[f32; QUERIES]],
        columns: &[[S::f32s; 2]],
    ) {
        let mut sums = [[simd.splat_f32s(0.0); 2]; QUERIES];
        let stages = self.meets.stages().len().max(1);
        let mut start = 0;
        for stage in 0..stages {
            let end = self.meets.stages().get(stage).map_or(rows.len(), |end| *end);
            let (rows, columns) = (&rows[start..end], &columns[start..end]);
            let ((row, rows), (column, columns)) = match (rows.split_last(), columns.split_last()) {
                (Some(of_rows), Some(of_columns)) => (of_rows, of_columns),
                _ => return,
            };
            sums = add_all(simd, rows, columns, sums);
            let mut bounds = sums;
            add_products(simd, row, column, &mut bounds);
            if stage == 0 {
                self.write::<S>(query, target, &bounds);
            }
            let is_last = stage + 1 == stages;
            if !self.meets.is_reported() || !self.hand_out(simd, query, target, &sums, &bounds, (stage, is_last)) {
                return;
            }
            start = end;
        }
    }

    /// Writes products where they are wanted.
    #[inline(always)]
    fn write<S: Simd>(&mut self, query: usize, target: usize, products: &Products<S>) {
        let (out, stride) = (&mut *self.products.0, self.products.1);
        if !out.is_empty() {
            let rows = out[query * stride..].chunks_mut(stride);
            for (row, products) in rows.zip(products) {
                let places = S::as_mut_simd_f32s(&mut row[target..target + 2 * S::F32_LANES]).0;
                (places[0], places[1]) = (products[0], products[1]);
            }
        }
    }

    /// Hands out the pairs whose bounds reach a limit. Whether all of the micro-tile shall see the next stage instead.
    #[inline(always)]
    fn hand_out<S: Simd>(
        &mut self,
        simd: S,
        query: usize,
        target: usize,
        sums: &Products<S>,
        bounds: &Products<S>,
        (stage, is_last): (usize, bool),
    ) -> bool {
        if !self.is_any_reached(simd, query, target, bounds) {
            return false;
        }
        let of_targets = self.target_limits(simd, target);
        let mut reached = [0u32; QUERIES];
        let mut count = 0;
        let limits = &self.meets.query_limits(query)[..QUERIES];
        for ((bounds, &limit), reached) in bounds.iter().zip(limits).zip(&mut reached) {
            let lower = of_targets.map(|of_target| simd.min_f32s(simd.splat_f32s(limit), of_target));
            *reached = not_below(simd, bounds[0], lower[0]) | not_below(simd, bounds[1], lower[1]) << S::F32_LANES;
            count += reached.count_ones();
        }
        if !is_last && count > FEW {
            return true;
        }
        if is_last && count >= MANY && self.meets.found_many(query, target, pulp::bytemuck::cast_slice(bounds)) {
            return false;
        }
        for (row, mut reached) in reached.into_iter().enumerate() {
            let of_row = if is_last { &bounds[row] } else { &sums[row] };
            let values: &[f32] = pulp::bytemuck::cast_slice(of_row);
            while reached != 0 {
                let lane = reached.trailing_zeros() as usize;
                if is_last {
                    self.meets.found(query + row, target + lane, values[lane])
                } else {
                    self.meets.undecided(query + row, target + lane, stage, values[lane])
                }
                reached &= reached - 1;
            }
        }
        false
    }
}

/// Two vectors of values.
#[inline(always)]
fn read<S: Simd>(values: &[f32]) -> [S::f32s; 2] {
    let vectors = S::as_simd_f32s(values).0;
    [vectors[0], vectors[1]]
}

/// A bit for each value of a vector that is not below its limit.
#[inline(always)]
pub(crate) fn not_below<S: Simd>(simd: S, values: S::f32s, limits: S::f32s) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V4>()
        && let (Ok(values), Ok(limits)) = (pulp::bytemuck::try_cast(values), pulp::bytemuck::try_cast(limits))
    {
        // A comparison gives the bits.
        return u32::from(avx512.cmp_ge_f32x16(values, limits).0);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V3>()
        && let (Ok(values), Ok(limits)) = (pulp::bytemuck::try_cast(values), pulp::bytemuck::try_cast(limits))
    {
        // The compiler finds this instruction for four values, but not for eight.
        let is_hit = avx2.cmp_ge_f32x8(values, limits);
        return avx2.avx._mm256_movemask_ps(pulp::cast(is_hit)) as u32;
    }
    let (values, limits) = (std::slice::from_ref(&values), std::slice::from_ref(&limits));
    let (values, limits): (&[f32], &[f32]) = (pulp::bytemuck::cast_slice(values), pulp::bytemuck::cast_slice(limits));
    let pairs = values.iter().zip(limits).enumerate();
    pairs.fold(0, |bits, (lane, (v, l))| bits | u32::from(v >= l) << lane)
}

/// Lets all queries meet the targets of some panels. `found` gets the numbers of a query and a target, and their product,
/// where it is at least the query's limit.
pub(crate) fn meet(
    queries: &Panels,
    targets: &Panels,
    panels: Range<usize>,
    limits: &[f32],
    found: impl FnMut(usize, usize, f32),
) {
    let mut padded = limits.to_vec();
    padded.resize(queries.count() * QUERIES, f32::INFINITY);
    let first = panels.start * targets.width;
    let mut meets = OneSided {
        limits: padded,
        first,
        targets: targets.rows,
        found,
    };
    let meeting = Meeting {
        queries: (queries, 0..queries.count()),
        targets: (targets, panels),
        meets: &mut meets,
        products: (&mut [], 0),
    };
    meeting.run();
}

struct OneSided<F> {
    limits: Vec<f32>,
    first: usize,
    targets: usize,
    found: F,
}

impl<F: FnMut(usize, usize, f32)> Meets for OneSided<F> {
    const BOTH: bool = false;

    #[inline(always)]
    fn query_limits(&self, first: usize) -> &[f32] {
        &self.limits[first..]
    }

    #[inline(always)]
    fn target_limits(&self, _: usize) -> &[f32] {
        &[]
    }

    #[inline(always)]
    fn found(&mut self, query: usize, target: usize, product: f32) {
        if self.first + target < self.targets {
            (self.found)(query, self.first + target, product);
        }
    }
}

/// Six queries times two vectors of targets.
type Products<S> = [[<S as Simd>::f32s; 2]; QUERIES];

/// Adds the products of six queries and two vectors of targets over some coordinates. The sums go in and out by value, so that
/// they are in registers on the way.
#[inline(always)]
fn add_all<S: Simd>(simd: S, rows: &[[f32; QUERIES]], columns: &[[S::f32s; 2]], mut sums: Products<S>) -> Products<S> {
    // Four coordinates at a time keep the loop itself out of the way.
    let (rows, last_rows) = rows.as_chunks::<4>();
    let (columns, last_columns) = columns.as_chunks::<4>();
    for (rows, columns) in rows.iter().zip(columns) {
        for (row, column) in rows.iter().zip(columns) {
            add_products(simd, row, column, &mut sums);
        }
    }
    for (row, column) in last_rows.iter().zip(last_columns) {
        add_products(simd, row, column, &mut sums);
    }
    sums
}

#[inline(always)]
fn add_products<S: Simd>(simd: S, row: &[f32; QUERIES], column: &[S::f32s; 2], sums: &mut Products<S>) {
    for (sum, &x) in sums.iter_mut().zip(row) {
        let x = simd.splat_f32s(x);
        sum[0] = simd.mul_add_f32s(x, column[0], sum[0]);
        sum[1] = simd.mul_add_f32s(x, column[1], sum[1]);
    }
}

/// How many f32 a vector of this machine holds.
struct Lanes;

impl pulp::WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

#[cfg(test)]
mod tests;
