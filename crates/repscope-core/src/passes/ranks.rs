// SPDX-License-Identifier: MIT
//! Ranks: how far down the list of this space a query's neighbours of another space stand.
//!
//! The rank of row j seen from query i is 1 + the number of rows that come before j, by distance and
//! then by row number, self excluded. Each query has k such rows, so k thresholds; every pair of a tile
//! is counted into the first threshold it comes before. A pair whose f32 distance is within the error
//! bound of a threshold is measured in f64. Memory is O(N·k), never N × N.

use super::neighbors::Neighbors;
use super::prepared::Prepared;

/// The rank, in one space, of each query's k neighbours in another; k per query, nearest first there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranks {
    /// How many per query.
    pub(crate) k: usize,
    /// Ranks, counted from 1.
    pub(crate) ranks: Vec<u32>,
}

impl Ranks {
    /// The ranks of the neighbours of query `q`.
    pub(crate) fn of(&self, q: usize) -> &[u32] {
        &self.ranks[q * self.k..(q + 1) * self.k]
    }
}

/// Lanes in which thresholds are compared; the rows of `low` and `high` are padded to a multiple.
const LANES: usize = 8;

/// The counts of one block of queries.
pub(crate) struct Counts {
    k: usize,
    stride: usize,
    /// Thresholds of each query in ascending order: exact squared distance and row.
    exact: Vec<(f64, u32)>,
    /// For each threshold, which neighbour of the query it came from.
    slot: Vec<u32>,
    /// Below this a pair is surely before the threshold.
    low: Vec<f32>,
    /// Above this a pair is surely after the threshold.
    high: Vec<f32>,
    /// How many pairs come before this threshold and not before the one below it.
    counts: Vec<u32>,
    /// Up to which f32 squared distance a pair can matter to each query.
    pub(crate) reach: Vec<f32>,
}

impl Counts {
    /// Thresholds for the queries `rows` (with their places in `others`) of one block.
    pub(crate) fn new(
        rows: &[u32],
        place: impl Fn(u32) -> usize,
        others: &Neighbors,
        prepared: &Prepared,
        squared_lengths: &[f32],
    ) -> Self {
        let k = others.k;
        let stride = k.div_ceil(LANES) * LANES;
        let mut counts = Counts {
            k,
            stride,
            exact: Vec::with_capacity(rows.len() * k),
            slot: Vec::with_capacity(rows.len() * k),
            low: vec![f32::INFINITY; rows.len() * stride],
            high: vec![f32::INFINITY; rows.len() * stride],
            counts: vec![0; rows.len() * k],
            reach: Vec::with_capacity(rows.len()),
        };
        for (q, &row) in rows.iter().enumerate() {
            let mut list: Vec<((f64, u32), u32)> = others
                .of(place(row))
                .iter()
                .enumerate()
                .map(|(slot, &j)| ((prepared.squared_distance(row, j), j), slot as u32))
                .collect();
            list.sort_unstable_by(|((d, j), _), ((e, l), _)| d.total_cmp(e).then(j.cmp(l)));
            let error = prepared.error_bound(squared_lengths[q]);
            for (s, (threshold, slot)) in list.into_iter().enumerate() {
                counts.low[q * stride + s] = ((threshold.0 - error) as f32).next_down();
                counts.high[q * stride + s] = ((threshold.0 + error) as f32).next_up();
                counts.exact.push(threshold);
                counts.slot.push(slot);
            }
            counts.reach.push(counts.high[q * stride + k - 1]);
        }
        counts
    }

    /// Query `q` of the block, which is `row`, met row `other` at this f32 squared distance.
    #[inline(always)]
    pub(crate) fn take(&mut self, q: usize, row: u32, other: u32, squared: f32, prepared: &Prepared) {
        let high = &self.high[q * self.stride..(q + 1) * self.stride];
        let mut first = 0usize;
        for lane in high.chunks_exact(LANES) {
            let mut passed = 0u32;
            for &h in lane {
                passed += u32::from(h < squared);
            }
            first += passed as usize;
        }
        if first >= self.k {
            return;
        }
        if squared < self.low[q * self.stride + first] {
            self.counts[q * self.k + first] += 1;
        } else {
            self.decide(q, row, other, first, prepared);
        }
    }

    #[inline(never)]
    fn decide(&mut self, q: usize, row: u32, other: u32, first: usize, prepared: &Prepared) {
        let squared = prepared.squared_distance(row, other);
        let thresholds = &self.exact[q * self.k..(q + 1) * self.k];
        let before = |&(d, j): &(f64, u32)| squared < d || (squared == d && other < j);
        if let Some(s) = thresholds[first..].iter().position(before) {
            self.counts[q * self.k + first + s] += 1;
        }
    }

    /// Writes the ranks of query `q` in the order of its neighbours.
    pub(crate) fn finish(&self, q: usize, out: &mut [u32]) {
        let mut before = 0;
        for s in 0..self.k {
            before += self.counts[q * self.k + s];
            out[self.slot[q * self.k + s] as usize] = before + 1;
        }
    }
}
