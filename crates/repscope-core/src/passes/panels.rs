// SPDX-License-Identifier: MIT
//! Inner products of many rows with many others, of which only the large ones are wanted: a fused kernel.
//!
//! Rows are packed in panels, coordinate by coordinate. The kernel takes six queries and two vectors' width of targets,
//! sums all their products in registers, compares the sums with each query's limit, and hands out what is large enough.
//! No matrix of similarities is ever written. Width and instructions are those of the machine, by `pulp`.

use std::ops::Range;

use pulp::Simd;

/// Queries in a panel: with two vectors of targets, twelve sums fit into the registers of AVX2.
const QUERIES: usize = 6;
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

    /// Adds panels packed elsewhere; all but the last must be full.
    pub(crate) fn append(&mut self, other: &Panels) {
        for number in 0..other.count() {
            let panel = self.panel_mut(self.rows / self.width + number);
            panel.copy_from_slice(other.panel(number));
        }
        self.rows += other.rows;
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

/// Lets all queries meet the targets of some panels. `found` gets the numbers of a query and a target, and their product,
/// where it is at least the query's limit.
pub(crate) fn meet(
    queries: &Panels,
    targets: &Panels,
    panels: Range<usize>,
    limits: &[f32],
    found: impl FnMut(usize, usize, f32),
) {
    pulp::Arch::new().dispatch(Meeting {
        queries,
        targets,
        panels,
        limits,
        found,
    });
}

struct Meeting<'a, F> {
    queries: &'a Panels,
    targets: &'a Panels,
    panels: Range<usize>,
    limits: &'a [f32],
    found: F,
}

impl<F: FnMut(usize, usize, f32)> pulp::WithSimd for Meeting<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for t in self.panels.clone() {
            let columns: &[S::f32s] = pulp::bytemuck::cast_slice(self.targets.panel(t));
            let columns = columns.as_chunks::<2>().0;
            for q in 0..self.queries.count() {
                let rows = self.queries.panel(q).as_chunks::<QUERIES>().0;
                let sums = multiply(simd, rows, columns);
                self.hand_out(simd, q * QUERIES, t * self.targets.width, &sums);
            }
        }
    }
}

impl<F: FnMut(usize, usize, f32)> Meeting<'_, F> {
    #[inline(always)]
    fn hand_out<S: Simd>(&mut self, simd: S, query: usize, target: usize, sums: &Sums<S>) {
        let limits = &self.limits[query..self.limits.len().min(query + QUERIES)];
        for (row, (sums, &limit)) in sums.iter().zip(limits).enumerate() {
            let mut hits = hits(simd, sums[0], limit) | hits(simd, sums[1], limit) << S::F32_LANES;
            if hits != 0 {
                let values: &[f32] = pulp::bytemuck::cast_slice(sums);
                while hits != 0 {
                    let lane = hits.trailing_zeros() as usize;
                    if target + lane < self.targets.rows {
                        (self.found)(query + row, target + lane, values[lane]);
                    }
                    hits &= hits - 1;
                }
            }
        }
    }
}

/// A bit for each value of a vector that is at least `limit`.
#[inline(always)]
fn hits<S: Simd>(simd: S, values: S::f32s, limit: f32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V3>()
        && let Ok(values) = pulp::bytemuck::try_cast::<_, pulp::f32x8>(values)
    {
        // The compiler finds this instruction for four values, but not for eight.
        let is_hit = avx2.cmp_ge_f32x8(values, avx2.splat_f32x8(limit));
        return avx2.avx._mm256_movemask_ps(pulp::cast(is_hit)) as u32;
    }
    let values: &[f32] = pulp::bytemuck::cast_slice(std::slice::from_ref(&values));
    values
        .iter()
        .enumerate()
        .fold(0, |bits, (lane, &v)| bits | u32::from(v >= limit) << lane)
}

/// The sums of twelve vectors of products.
type Sums<S> = [[<S as Simd>::f32s; 2]; QUERIES];

/// Six queries times two vectors of targets, over all coordinates.
#[inline(always)]
fn multiply<S: Simd>(simd: S, rows: &[[f32; QUERIES]], columns: &[[S::f32s; 2]]) -> Sums<S> {
    let mut sums = [[simd.splat_f32s(0.0); 2]; QUERIES];
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
fn add_products<S: Simd>(simd: S, row: &[f32; QUERIES], column: &[S::f32s; 2], sums: &mut Sums<S>) {
    for (sum, &x) in sums.iter_mut().zip(row) {
        let x = simd.splat_f32s(x);
        sum[0] = simd.mul_add_e_f32s(x, column[0], sum[0]);
        sum[1] = simd.mul_add_e_f32s(x, column[1], sum[1]);
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
