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

use std::ops::Range;

use pulp::Simd;

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

/// Who is told of the large products of some queries and some targets, both counted from 0.
pub(crate) trait Meets {
    /// Whether targets have limits of their own.
    const BOTH: bool;
    /// Whether any product is to be told at all; else they are only written.
    fn is_told(&self) -> bool {
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
    /// A product that is not below one of its limits.
    fn found(&mut self, query: usize, target: usize, product: f32);
    /// All products of six queries and a panel's width of targets, one query after the other, of which many are not below their
    /// limits. False where they shall be told one by one.
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
const FEW: u32 = 4;
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
        let of_target = targets.columns * size_of::<f32>() + self.meets.bytes_of_target();
        let at_once = (CACHED / (targets.width * of_target)).max(1);
        for start in self.targets.1.clone().step_by(at_once) {
            for q in self.queries.1.clone() {
                let rows = queries.panel(q).as_chunks::<QUERIES>().0;
                let query = (q - first_query) * QUERIES;
                for t in start..self.targets.1.end.min(start + at_once) {
                    let columns: &[S::f32s] = pulp::bytemuck::cast_slice(targets.panel(t));
                    let columns = columns.as_chunks::<2>().0;
                    self.meet(simd, query, (t - first_target) * targets.width, rows, columns);
                }
            }
        }
    }
}

impl<M: Meets> Meeting<'_, M> {
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
            if !self.meets.is_told() || !self.hand_out(simd, query, target, &sums, &bounds, (stage, is_last)) {
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
        let width = 2 * S::F32_LANES;
        let limits = &self.meets.query_limits(query)[..QUERIES];
        let mut of_targets = [simd.splat_f32s(f32::INFINITY); 2];
        if M::BOTH {
            of_targets = read::<S>(&self.meets.target_limits(target)[..width]);
        }
        let mut lower = [[of_targets[0]; 2]; QUERIES];
        let mut is_any = simd.less_than_f32s(of_targets[0], of_targets[0]);
        for ((bounds, lower), &limit) in bounds.iter().zip(&mut lower).zip(limits) {
            let limit = simd.splat_f32s(limit);
            for half in 0..2 {
                lower[half] = simd.min_f32s(limit, of_targets[half]);
                is_any = simd.or_m32s(is_any, simd.greater_than_or_equal_f32s(bounds[half], lower[half]));
            }
        }
        if simd.first_true_m32s(is_any) >= S::F32_LANES {
            return false;
        }
        let mut reached = [0u32; QUERIES];
        let mut count = 0;
        for ((bounds, lower), reached) in bounds.iter().zip(&lower).zip(&mut reached) {
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
                match is_last {
                    true => self.meets.found(query + row, target + lane, values[lane]),
                    false => self.meets.undecided(query + row, target + lane, stage, values[lane]),
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
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    /// Keeps every product, by query and target.
    struct Keep(Vec<(usize, usize, f32)>, [f32; 64]);

    impl Meets for Keep {
        const BOTH: bool = true;

        fn query_limits(&self, first: usize) -> &[f32] {
            &self.1[first..]
        }

        fn target_limits(&self, first: usize) -> &[f32] {
            &self.1[first..]
        }

        fn found(&mut self, query: usize, target: usize, product: f32) {
            self.0.push((query, target, product));
        }
    }

    #[test]
    fn products_are_fused_sums_in_the_order_of_the_coordinates() {
        // What a machine without vectors computes: so all machines report the same bits.
        for columns in [1, 3, 4, 7, 64, 130] {
            let mut rng = stream(1, "panels", columns as u64);
            let mut draw = |rows: usize| -> Vec<Vec<f64>> {
                let mut row = || (0..columns).map(|_| rng.random::<f64>() - 0.5).collect();
                (0..rows).map(|_| row()).collect()
            };
            let (queries, targets) = (draw(8), draw(33));
            let (mut left, mut right) = (Panels::of_queries(columns, 8), Panels::of_targets(columns, 33));
            queries.iter().for_each(|row| left.push(row));
            targets.iter().for_each(|row| right.push(row));
            let mut keep = Keep(Vec::new(), [f32::NEG_INFINITY; 64]);
            let (panels, stride) = (right.count(), right.count() * right.width);
            let mut products = vec![0.0; 12 * stride];
            Meeting {
                queries: (&left, 0..2),
                targets: (&right, 0..panels),
                meets: &mut keep,
                products: (&mut products, stride),
            }
            .run();
            let mut found = 0;
            for (q, t, product) in keep.0.into_iter().filter(|(q, t, _)| *q < 8 && *t < 33) {
                let pairs = queries[q].iter().zip(&targets[t]);
                let expected = pairs.fold(0.0f32, |sum, (&x, &y)| (x as f32).mul_add(y as f32, sum));
                assert_eq!(product.to_bits(), expected.to_bits(), "{columns}: {q} {t}");
                assert_eq!(products[q * stride + t].to_bits(), expected.to_bits());
                found += 1;
            }
            assert_eq!(found, 8 * 33);
        }
    }

    /// What is told of some rows, in panels of the width that suits the instructions it is asked with.
    #[derive(Clone, Copy)]
    struct Told<'a> {
        rows: [&'a [Vec<f64>]; 2],
        /// Limits of queries and of targets, beyond the last row, too.
        limits: [&'a [f32]; 2],
    }

    impl pulp::WithSimd for Told<'_> {
        /// Queries, targets and the bits of their products, in ascending order, and the bits of all products.
        type Output = (Vec<(usize, usize, u32)>, Vec<Vec<u32>>);

        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let [queries, targets] = self.rows;
            let mut left = Panels::new(QUERIES, queries[0].len(), queries.len());
            let mut right = Panels::new(2 * S::F32_LANES, targets[0].len(), targets.len());
            queries.iter().for_each(|row| left.push(row));
            targets.iter().for_each(|row| right.push(row));
            let stride = right.count() * right.width;
            let mut products = vec![0.0; left.count() * QUERIES * stride];
            let mut keep = Limited {
                limits: self.limits,
                found: Vec::new(),
            };
            let meeting = Meeting {
                queries: (&left, 0..left.count()),
                targets: (&right, 0..right.count()),
                meets: &mut keep,
                products: (&mut products, stride),
            };
            simd.vectorize(meeting);
            keep.found.retain(|&(q, t, _)| q < queries.len() && t < targets.len());
            keep.found.sort_unstable();
            let bits = |row: &[f32]| row[..targets.len()].iter().map(|x| x.to_bits()).collect();
            let products = products.chunks_exact(stride).take(queries.len()).map(bits);
            (keep.found, products.collect())
        }
    }

    struct Limited<'a> {
        limits: [&'a [f32]; 2],
        found: Vec<(usize, usize, u32)>,
    }

    impl Meets for Limited<'_> {
        const BOTH: bool = true;

        fn query_limits(&self, first: usize) -> &[f32] {
            &self.limits[0][first..]
        }

        fn target_limits(&self, first: usize) -> &[f32] {
            &self.limits[1][first..]
        }

        fn found(&mut self, query: usize, target: usize, product: f32) {
            self.found.push((query, target, product.to_bits()));
        }
    }

    #[test]
    fn one_number_at_a_time_tells_the_same_as_vectors_of_every_width() {
        for columns in [1, 3, 34, 130] {
            let mut rng = stream(2, "panels", columns as u64);
            let mut draw = |rows: usize| -> Vec<Vec<f64>> {
                let mut row = || (0..columns).map(|_| rng.random::<f64>() - 0.5).collect();
                (0..rows).map(|_| row()).collect()
            };
            let (queries, targets) = (draw(17), draw(77));
            let mut limits = |count: usize| -> Vec<f32> {
                let scale = (columns as f32).sqrt() / 4.0;
                (0..count).map(|_| rng.random::<f32>() * scale).collect()
            };
            let (of_queries, of_targets) = (limits(18), limits(96));
            let told = Told {
                rows: [&queries, &targets],
                limits: [&of_queries, &of_targets],
            };
            let scalar = pulp::Scalar.vectorize(told);
            assert!(
                (17..17 * 77 / 2).contains(&scalar.0.len()),
                "{columns}: {}",
                scalar.0.len()
            );
            assert!(pulp::Arch::new().dispatch(told) == scalar, "{columns} columns");
            #[cfg(target_arch = "x86_64")]
            {
                let avx2 = pulp::x86::V3::try_new().map(|simd| Simd::vectorize(simd, told));
                assert!(avx2.is_none_or(|told| told == scalar), "AVX2, {columns} columns");
                let avx512 = pulp::x86::V4::try_new().map(|simd| Simd::vectorize(simd, told));
                assert!(avx512.is_none_or(|told| told == scalar), "AVX-512, {columns} columns");
            }
        }
    }

    #[test]
    fn only_products_that_reach_a_limit_of_either_side_are_told() {
        let (mut left, mut right) = (Panels::of_queries(1, 6), Panels::of_targets(1, 40));
        (0..6).for_each(|q| left.push(&[f64::from(q)]));
        (0..40).for_each(|t| right.push(&[f64::from(t)]));
        struct Some40(Vec<(usize, usize)>, Vec<f32>, Vec<f32>);
        impl Meets for Some40 {
            const BOTH: bool = true;
            fn query_limits(&self, first: usize) -> &[f32] {
                &self.1[first..]
            }
            fn target_limits(&self, first: usize) -> &[f32] {
                &self.2[first..]
            }
            fn found(&mut self, query: usize, target: usize, _: f32) {
                self.0.push((query, target));
            }
        }
        let mut of_targets = vec![f32::INFINITY; 64];
        of_targets[7] = 14.0;
        let mut keep = Some40(
            Vec::new(),
            vec![f32::INFINITY, 30.0, f32::INFINITY, 110.0, 999.0, 190.0],
            of_targets,
        );
        Meeting {
            queries: (&left, 0..1),
            targets: (&right, 0..right.count()),
            meets: &mut keep,
            products: (&mut [], 0),
        }
        .run();
        keep.0.sort_unstable();
        let of_queries = [1usize, 3, 5].into_iter().zip([30, 110, 190]);
        let expected = of_queries.flat_map(|(q, limit)| (0..40).filter(move |t| q * t >= limit).map(move |t| (q, t)));
        let mut expected: Vec<(usize, usize)> = expected.chain((2..6).map(|q| (q, 7))).collect();
        expected.sort_unstable();
        assert_eq!(keep.0, expected);
    }
}
