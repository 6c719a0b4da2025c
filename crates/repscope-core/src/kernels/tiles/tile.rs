// SPDX-License-Identifier: MIT
//! What happens inside a tile: a block of queries meets a block of targets, and every absorber takes its share.

use super::prefix::Prefix;
use super::refine::{Pair, Rest};
use super::{Ask, SIDE};
use crate::data::Labels;
use crate::kernels::coarse::Coarse;
use crate::kernels::microkernel::{MOST_TARGETS, Meets, QUERIES};
use crate::kernels::neighbors::Candidates;
use crate::kernels::pair_sums::{ClassSums, KernelSums, Run, runs};
use crate::kernels::prepared::Prepared;
use crate::kernels::ranks::{Counts, Thresholds};

/// A block of queries and a block of targets. `BOTH`: the targets ask, too, and are other rows.
pub(super) struct Tile<'t, const BOTH: bool> {
    pub(super) block: &'t mut Block,
    pub(super) other: Option<&'t mut Block>,
    /// The row number of each target.
    pub(super) targets: &'t [u32],
    /// Where the stages of a prefix end; none without one.
    pub(super) stages: &'t [usize],
    /// The queries and the targets row by row, under a prefix.
    pub(super) rest: Option<(&'t Rest, &'t Rest)>,
    /// The queries and the targets in 8 bits.
    pub(super) coarse: Option<Coarse<'t>>,
    pub(super) prepared: &'t Prepared<'t>,
    /// Pairs that each stage left undecided.
    pub(super) waiting: &'t mut [Vec<Pair>],
    /// Squared distances that sums shall use in place of those of the tile.
    pub(super) corrected: Vec<(usize, usize, f32)>,
}

impl<const BOTH: bool> Meets for Tile<'_, BOTH> {
    const BOTH: bool = BOTH;

    #[inline(always)]
    fn is_reported(&self) -> bool {
        let block = &self.block;
        block.candidates.is_some() || block.classes.is_some() || !block.counts.is_empty()
    }

    #[inline(always)]
    fn query_limits(&self, first: usize) -> &[f32] {
        &self.block.limits[first..]
    }

    #[inline(always)]
    fn target_limits(&self, first: usize) -> &[f32] {
        self.other.as_ref().map_or(&[], |other| &other.limits[first..])
    }

    #[inline(always)]
    fn bytes_of_target(&self) -> usize {
        self.rest.map_or(0, |(_, rest)| rest.bytes_of_row())
    }

    #[inline(always)]
    fn stages(&self) -> &[usize] {
        self.stages
    }

    #[inline(always)]
    fn coarse(&self) -> Option<&Coarse<'_>> {
        self.coarse.as_ref()
    }

    #[inline(always)]
    fn found_coarsely(&mut self, query: usize, target: usize) {
        if self.are_others(query, target) {
            let squared = self
                .prepared
                .squared_distance(self.block.rows[query], self.targets[target]);
            self.meet(query, target, squared as f32);
        }
    }

    #[inline(always)]
    fn found(&mut self, query: usize, target: usize, product: f32) {
        match self.rest {
            Some(_) => self.undecided(query, target, self.stages.len() - 1, product),
            None if self.are_others(query, target) => self.meet(query, target, (-2.0 * product).max(0.0)),
            None => {}
        }
    }

    #[inline(always)]
    fn found_many(&mut self, query: usize, target: usize, products: &[f32]) -> bool {
        self.meet_many(query, target, products).is_some()
    }

    #[inline(always)]
    fn undecided(&mut self, query: usize, target: usize, stage: usize, product: f32) {
        if !self.are_others(query, target) {
            return;
        }
        let of_other = self.other.as_ref().map_or(f32::INFINITY, |other| other.limits[target]);
        self.waiting[stage].push(Pair {
            query: query as u32,
            target: target as u32,
            product,
            limit: self.block.limits[query].min(of_other),
        });
    }
}

impl<const BOTH: bool> Tile<'_, BOTH> {
    /// A query and a target at this squared distance meet.
    #[inline(always)]
    fn meet(&mut self, query: usize, target: usize, squared: f32) {
        let (row, of_target) = (self.block.rows[query], self.targets[target]);
        let mut seen = squared;
        if squared <= self.block.reach[query] {
            seen = self.block.meet(query, of_target, squared, self.prepared);
        }
        if let Some(other) = self.other.as_deref_mut().filter(|other| squared <= other.reach[target]) {
            let by_other = other.meet(target, row, squared, self.prepared);
            seen = if by_other != squared { by_other } else { seen };
        }
        if seen != squared {
            self.corrected.push((query, target, seen));
        }
    }

    /// All pairs of six queries and a panel of targets meet, where that needs no look at each: all are rows whose ranks count.
    #[inline(always)]
    fn meet_many(&mut self, query: usize, target: usize, products: &[f32]) -> Option<()> {
        let width = products.len() / QUERIES;
        let is_simple = self.rest.is_none() && self.block.classes.is_none() && !self.block.counts.is_empty();
        let rows: [u32; QUERIES] = self.block.rows.get(query..query + QUERIES)?.try_into().ok()?;
        let targets = self.targets.get(target..target + width).filter(|_| is_simple)?;
        let mut squared = [[0.0f32; MOST_TARGETS]; QUERIES];
        for ((squared, products), row) in squared.iter_mut().zip(products.chunks_exact(width)).zip(rows) {
            for ((squared, product), of_target) in squared.iter_mut().zip(products).zip(targets) {
                let is_other = BOTH || row != *of_target;
                *squared = if is_other {
                    (-2.0 * product).max(0.0)
                } else {
                    f32::INFINITY
                };
            }
        }
        for (q, squared) in (query..).zip(&squared) {
            self.block.meet_many(q, targets, &squared[..width], self.prepared);
        }
        if let Some(other) = self.other.as_deref_mut() {
            let column = |t: usize| -> [f32; QUERIES] { std::array::from_fn(|q| squared[q][t]) };
            (0..width).for_each(|t| other.meet_many(target + t, &rows, &column(t), self.prepared));
        }
        Some(())
    }

    /// Whether both are rows, and not the same.
    #[inline(always)]
    fn are_others(&self, query: usize, target: usize) -> bool {
        match (self.block.rows.get(query), self.targets.get(target)) {
            (Some(row), Some(of_target)) => row != of_target,
            _ => false,
        }
    }

    /// Lets the pairs that the stages left undecided meet, as far as they are near enough.
    #[inline(always)]
    pub(super) fn finish_waiting(&mut self) {
        let Some((queries, targets)) = self.rest else {
            return;
        };
        for (pair, squared) in queries.sift(targets, self.waiting) {
            self.meet(pair.query as usize, pair.target as usize, squared);
        }
    }

    /// Adds a tile of products, `stride` per query, to the sums of both sides. Self adds nothing.
    #[inline(always)]
    fn add_sums(&mut self, products: &mut [f32], stride: usize, target_runs: &[Run]) {
        let width = self.targets.len();
        let products = &mut products[..self.block.rows.len() * stride];
        let own = if BOTH { Vec::new() } else { self.block.own(self.targets) };
        let other = &mut self.other;
        if let Some(kernel) = &mut self.block.kernel {
            own.iter()
                .for_each(|(q, t)| products[q * stride + t] = f32::NEG_INFINITY);
            let below = other.as_deref_mut().and_then(|o| o.kernel.as_mut());
            kernel.add(below, products, width, stride);
        }
        if let Some(classes) = &mut self.block.classes {
            for v in &mut *products {
                let squared = -2.0 * *v;
                *v = if squared > 0.0 { squared.sqrt() } else { 0.0 };
            }
            for (query, target, squared) in self.corrected.drain(..) {
                products[query * stride + target] = squared.sqrt();
            }
            own.iter().for_each(|(q, t)| products[q * stride + t] = 0.0);
            let below = other.as_deref_mut().and_then(|o| o.classes.as_mut());
            classes.add(below, products, (width, stride), &self.block.runs, target_runs);
        }
    }
}

/// A tile of products that is added to the sums of both sides, by the instructions of this machine.
pub(super) struct Sums<'s, 't, const BOTH: bool> {
    pub(super) tile: &'s mut Tile<'t, BOTH>,
    pub(super) products: &'s mut [f32],
    pub(super) stride: usize,
    /// The classes of the targets.
    pub(super) runs: &'s [Run],
}

impl<const BOTH: bool> pulp::WithSimd for Sums<'_, '_, BOTH> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.tile.add_sums(self.products, self.stride, self.runs);
    }
}

/// A block of queries and what its absorbers hold so far.
pub(super) struct Block {
    pub(super) rows: Vec<u32>,
    /// How many rows each query has met.
    met: usize,
    pub(super) runs: Vec<Run>,
    /// The largest f32 squared distance that any absorber of each query must see one by one.
    reach: Vec<f32>,
    /// The product from which on a pair may be within reach; infinite behind the last query.
    limits: Vec<f32>,
    /// How far a bound of a squared distance can be too large.
    slack: Vec<f32>,
    pub(super) candidates: Option<Candidates>,
    pub(super) counts: Vec<Counts>,
    /// Of the current super-block of targets.
    pub(super) kernel: Option<KernelSums>,
    pub(super) classes: Option<ClassSums>,
    /// Of the super-blocks before it.
    pub(super) kernel_total: Vec<f64>,
    pub(super) class_total: Vec<f64>,
}

impl Block {
    /// Rows that look for their `k` nearest, count rows before thresholds, and take the sums of `ask`.
    pub(super) fn new(
        rows: &[u32],
        squared_lengths: &[f64],
        (k, thresholds): (usize, Vec<Thresholds>),
        ask: &Ask,
        prefix: Option<&Prefix>,
        prepared: &Prepared,
    ) -> Self {
        let codes = |labels: &Labels| -> Vec<u32> { rows.iter().map(|&i| labels.codes()[i as usize]).collect() };
        let errors: Vec<f64> = squared_lengths.iter().map(|&l| prepared.error_bound(l)).collect();
        let slack = |&l: &f64| prefix.map_or(0.0, |p| (p.error_bound(prepared, l) as f32).next_up());
        let counts = thresholds.into_iter();
        let mut block = Block {
            rows: rows.to_vec(),
            met: 0,
            runs: ask.classes.map_or_else(Vec::new, |labels| runs(&codes(labels))),
            reach: vec![-1.0; rows.len()],
            limits: vec![f32::INFINITY; SIDE],
            slack: squared_lengths.iter().map(slack).collect(),
            counts: counts.map(|own| Counts::new(own, &errors, rows)).collect(),
            candidates: (k > 0).then(|| Candidates::new(k, errors)),
            kernel: ask
                .kernel
                .map(|t| KernelSums::new(rows.len(), -t * prepared.squared_unit())),
            classes: ask.classes.map(|labels| {
                let near = squared_lengths.iter().map(|&l| prepared.near(l)).collect();
                ClassSums::new(rows.len(), labels.classes(), near)
            }),
            kernel_total: vec![0.0; ask.kernel.map_or(0, |_| rows.len())],
            class_total: vec![0.0; ask.classes.map_or(0, |labels| rows.len() * labels.classes())],
        };
        for q in 0..rows.len() {
            block.update_reach(q);
        }
        block
    }

    /// From the start only rows up to these exact squared distances matter to the queries as neighbors.
    pub(super) fn start_within(&mut self, bounds: Vec<f64>) {
        if let Some(candidates) = &mut self.candidates {
            candidates.start_within(bounds);
        }
        for q in 0..self.rows.len() {
            self.update_reach(q);
        }
    }

    /// A super-block of targets ends: its sums go to the totals.
    pub(super) fn settle(&mut self) {
        let kernel = self
            .kernel
            .as_mut()
            .map(|kernel| (&mut self.kernel_total, &mut kernel.sums));
        let classes = self
            .classes
            .as_mut()
            .map(|classes| (&mut self.class_total, &mut classes.sums));
        for (total, sums) in [kernel, classes].into_iter().flatten() {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += std::mem::take(sum);
            }
        }
    }

    /// Announces to the absorbers that `more` of `all` rows are about to be met.
    pub(super) fn expect(&mut self, more: usize, all: usize) {
        self.met += more;
        if let Some(candidates) = &mut self.candidates {
            candidates.expect(self.met.min(all), all);
        }
    }

    /// From now on the rows met so far say nothing about those to come.
    pub(super) fn expect_no_more(&mut self, all: usize) {
        self.met = all;
    }

    /// Shrinks the reach of queries that hold many candidates more than they need.
    pub(super) fn tighten(&mut self, prepared: &Prepared) {
        for q in 0..self.rows.len() {
            if let Some(candidates) = self.candidates.as_mut().filter(|candidates| candidates.is_loose(q)) {
                candidates.drop_far(q, self.rows[q], prepared);
                self.update_reach(q);
            }
        }
    }

    #[inline(always)]
    fn update_reach(&mut self, q: usize) {
        let mut reach = self.candidates.as_ref().map_or(-1.0, |c| c.reach[q]);
        for counts in &self.counts {
            reach = reach.max(counts.reach[q]);
        }
        if let Some(classes) = &self.classes {
            reach = reach.max(classes.near[q]);
        }
        self.reach[q] = reach;
        self.limits[q] = match (reach < 0.0, self.slack[q] > 0.0) {
            (true, _) => f32::INFINITY,
            (_, false) => -0.5 * reach,
            (_, true) => -0.5 * (reach + self.slack[q]).next_up(),
        };
    }

    /// Query `q` meets a row within its reach. Returns the squared distance that sums shall use.
    #[inline(always)]
    fn meet(&mut self, q: usize, other: u32, squared: f32, prepared: &Prepared) -> f32 {
        if let Some(candidates) = &mut self.candidates {
            let before = candidates.reach[q];
            if squared <= before && candidates.take(q, self.rows[q], other, squared, prepared) != before {
                self.update_reach(q);
            }
        }
        for counts in &mut self.counts {
            if squared <= counts.reach[q] {
                counts.take(q, other, squared, prepared);
            }
        }
        match &self.classes {
            Some(classes) if squared <= classes.near[q] => prepared.squared_distance(self.rows[q], other) as f32,
            _ => squared,
        }
    }

    /// Query `q` meets several rows, near or not.
    #[inline(always)]
    fn meet_many(&mut self, q: usize, others: &[u32], squared: &[f32], prepared: &Prepared) {
        if let Some(candidates) = &mut self.candidates {
            let before = candidates.reach[q];
            if is_any_within(squared, before) {
                for (&other, &squared) in others.iter().zip(squared) {
                    if squared <= candidates.reach[q] {
                        candidates.take(q, self.rows[q], other, squared, prepared);
                    }
                }
                if candidates.reach[q] != before {
                    self.update_reach(q);
                }
            }
        }
        for counts in &mut self.counts {
            if is_any_within(squared, counts.reach[q]) {
                counts.take_many(q, others, squared, prepared);
            }
        }
    }

    /// Which query is which of these targets.
    fn own(&self, targets: &[u32]) -> Vec<(usize, usize)> {
        let mut places: Vec<(u32, usize)> = self.rows.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let place = |row: &u32| places.binary_search_by_key(row, |p| p.0).ok();
        let both = targets.iter().enumerate();
        both.filter_map(|(t, row)| Some((places[place(row)?].1, t))).collect()
    }
}

/// Looks at all of them, so that they can be compared together.
#[inline(always)]
fn is_any_within(squared: &[f32], reach: f32) -> bool {
    let mut is_any = false;
    for s in squared {
        is_any |= *s <= reach;
    }
    is_any
}
