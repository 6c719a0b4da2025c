// SPDX-License-Identifier: MIT
//! Ranks: how far down the list of this space a query's neighbors of another space stand.
//!
//! The rank of row j seen from query i is 1 + the number of rows that come before j, by distance and
//! then by row number, self excluded. Each query has k such rows, so k thresholds; every pair that may come before
//! one of them is compared with all, many pairs at a time. A pair whose f32 distance is within the error
//! bound of a threshold is measured in f64. Memory is O(N·k), never N × N.

use super::microkernel::not_below;
use super::prepared::Prepared;

/// The rank, in one space, of each query's k neighbors in another; k per query, nearest first there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranks {
    /// How many per query.
    pub(crate) k: usize,
    /// Ranks, counted from 1.
    pub(crate) ranks: Vec<u32>,
}

impl Ranks {
    /// The ranks of the neighbors of query `q`.
    pub(crate) fn of(&self, q: usize) -> &[u32] {
        &self.ranks[q * self.k..(q + 1) * self.k]
    }
}

/// What a block of queries counts rows before.
pub(crate) struct Thresholds {
    /// How many per query.
    pub(crate) k: usize,
    /// Exact squared distance and row of each, query by query.
    pub(crate) exact: Vec<(f64, u32)>,
}

/// Pairs that wait for a query until they are compared with its thresholds together: a bit of a u32 for each.
const WAITING: usize = 32;

/// The counts of one block of queries.
pub(crate) struct Counts {
    k: usize,
    rows: Vec<u32>,
    /// Thresholds of each query in ascending order: exact squared distance and row.
    exact: Vec<(f64, u32)>,
    /// For each threshold, which neighbor of the query it came from.
    slot: Vec<u32>,
    /// Below the first a pair is surely before the threshold, above the second surely after it.
    bands: Vec<[f32; 2]>,
    /// How many pairs come before each threshold.
    before: Vec<u32>,
    /// Up to which f32 squared distance a pair can matter to each query.
    pub(crate) reach: Vec<f32>,
    /// The pairs that wait, and how many of each query.
    squared: Vec<[f32; WAITING]>,
    others: Vec<[u32; WAITING]>,
    waiting: Vec<u32>,
    /// Room for thresholds that some pairs are too near to, with a bit for each of these.
    unclear: Vec<(usize, u32)>,
}

impl Counts {
    /// For the queries `rows` of one block, with as many thresholds for each, and their error bounds.
    pub(crate) fn new(thresholds: Thresholds, errors: &[f64], rows: &[u32]) -> Self {
        let k = thresholds.k;
        let mut counts = Counts {
            k,
            rows: rows.to_vec(),
            exact: Vec::with_capacity(rows.len() * k),
            slot: Vec::with_capacity(rows.len() * k),
            bands: Vec::with_capacity(rows.len() * k),
            before: vec![0; rows.len() * k],
            reach: Vec::with_capacity(rows.len()),
            squared: vec![[0.0; WAITING]; rows.len()],
            others: vec![[0; WAITING]; rows.len()],
            waiting: vec![0; rows.len()],
            unclear: Vec::new(),
        };
        for (of_query, error) in thresholds.exact.chunks_exact(k).zip(errors) {
            let mut list: Vec<((f64, u32), u32)> = of_query.iter().copied().zip(0u32..).collect();
            list.sort_unstable_by(|((d, j), _), ((e, l), _)| d.total_cmp(e).then(j.cmp(l)));
            let mut reach = -1.0;
            for (threshold, slot) in list {
                reach = ((threshold.0 + error) as f32).next_up();
                counts.bands.push([((threshold.0 - error) as f32).next_down(), reach]);
                counts.exact.push(threshold);
                counts.slot.push(slot);
            }
            counts.reach.push(reach);
        }
        counts
    }

    /// Query `q` of the block met row `other` at this f32 squared distance.
    #[inline(always)]
    pub(crate) fn take(&mut self, q: usize, other: u32, squared: f32, prepared: &Prepared) {
        let place = self.waiting[q] as usize;
        self.squared[q][place] = squared;
        self.others[q][place] = other;
        self.waiting[q] = place as u32 + 1;
        if place + 1 == WAITING {
            self.settle(q, prepared);
        }
    }

    /// Query `q` of the block met several rows, few enough to wait together; those beyond its reach may be among them.
    #[inline(always)]
    pub(crate) fn take_many(&mut self, q: usize, others: &[u32], squared: &[f32], prepared: &Prepared) {
        if self.waiting[q] as usize + others.len() > WAITING {
            self.settle(q, prepared);
        }
        let place = self.waiting[q] as usize;
        self.squared[q][place..place + others.len()].copy_from_slice(squared);
        self.others[q][place..place + others.len()].copy_from_slice(others);
        self.waiting[q] += others.len() as u32;
        if self.waiting[q] as usize == WAITING {
            self.settle(q, prepared);
        }
    }

    /// Compares the waiting pairs of a query with its thresholds.
    #[inline(never)]
    fn settle(&mut self, q: usize, prepared: &Prepared) {
        let waiting = std::mem::take(&mut self.waiting[q]) as usize;
        self.squared[q][waiting..].fill(f32::INFINITY);
        let thresholds = q * self.k..(q + 1) * self.k;
        self.unclear.clear();
        pulp::Arch::new().dispatch(Count {
            squared: &self.squared[q],
            bands: &self.bands[thresholds.clone()],
            before: &mut self.before[thresholds.clone()],
            unclear: &mut self.unclear,
        });
        if self.unclear.is_empty() {
            return;
        }
        let mut decide = Decide {
            row: self.rows[q],
            others: &self.others[q],
            measured: [f64::NAN; WAITING],
            prepared,
        };
        for &(threshold, mut places) in &self.unclear {
            let threshold = thresholds.start + threshold;
            while places != 0 {
                let is_before = decide.is_before(places.trailing_zeros() as usize, &self.exact[threshold]);
                self.before[threshold] += u32::from(is_before);
                places &= places - 1;
            }
        }
    }

    /// Writes the ranks of query `q` in the order of its neighbors.
    pub(crate) fn finish(&mut self, q: usize, out: &mut [u32], prepared: &Prepared) {
        self.settle(q, prepared);
        for threshold in q * self.k..(q + 1) * self.k {
            out[self.slot[threshold] as usize] = self.before[threshold] + 1;
        }
    }
}

/// Counts the pairs surely before each threshold, and lists thresholds before which others may be, with a bit for each.
struct Count<'a> {
    squared: &'a [f32; WAITING],
    bands: &'a [[f32; 2]],
    before: &'a mut [u32],
    unclear: &'a mut Vec<(usize, u32)>,
}

impl pulp::WithSimd for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let squared = S::as_simd_f32s(self.squared).0;
        for (threshold, (band, before)) in self.bands.iter().zip(self.before).enumerate() {
            let (low, high) = (simd.splat_f32s(band[0]), simd.splat_f32s(band[1]));
            let (mut not_sure, mut possible) = (0u32, 0u32);
            for (v, squared) in squared.iter().enumerate() {
                not_sure |= not_below(simd, *squared, low) << (v * S::F32_LANES);
                possible |= not_below(simd, high, *squared) << (v * S::F32_LANES);
            }
            *before += (!not_sure).count_ones();
            if possible & not_sure != 0 {
                self.unclear.push((threshold, possible & not_sure));
            }
        }
    }
}

/// Pairs of one query that are measured in f64 where they must be, each once.
struct Decide<'a> {
    row: u32,
    others: &'a [u32; WAITING],
    measured: [f64; WAITING],
    prepared: &'a Prepared<'a>,
}

impl Decide<'_> {
    fn is_before(&mut self, place: usize, threshold: &(f64, u32)) -> bool {
        let other = self.others[place];
        if self.measured[place].is_nan() {
            self.measured[place] = self.prepared.squared_distance(self.row, other);
        }
        let squared = self.measured[place];
        squared < threshold.0 || (squared == threshold.0 && other < threshold.1)
    }
}
