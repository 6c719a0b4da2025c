// SPDX-License-Identifier: MIT
//! What happens inside a tile: dot products become squared distances, and every absorber takes its share.

use std::ops::Range;

use super::{Anchors, Ask};
use crate::data::Labels;
use crate::passes::neighbors::Candidates;
use crate::passes::pair_sums::{ClassSums, KernelSums, Run, runs};
use crate::passes::prepared::{BLOCK, Prepared};
use crate::passes::ranks::Counts;

/// A tile of squared distances, before they are finished: its rows belong to a block of queries.
pub(super) struct Tile<'t> {
    /// −2⟨a, b⟩, row by row; becomes ‖a − b‖².
    pub(super) values: &'t mut [f32],
    /// The number of columns.
    pub(super) width: usize,
    /// Packed position of the first column, and of the first row.
    pub(super) start: usize,
    pub(super) row_start: usize,
    /// Squared length and row number of each column, and its runs of one class.
    pub(super) lengths: &'t [f32],
    pub(super) rows: &'t [u32],
    pub(super) runs: &'t [Run],
    /// Packed position of every row of the space.
    pub(super) positions: &'t [u32],
    pub(super) prepared: &'t Prepared<'t>,
}

/// Columns looked at together before any of them is looked at alone.
const LANES: usize = 8;

impl Tile<'_> {
    /// Turns −2⟨a, b⟩ into squared distances and gives them to the absorbers of both sides.
    #[inline(always)]
    pub(super) fn absorb(&mut self, block: &mut Block, mut other: Option<&mut Block>) {
        let width = self.width;
        let mut reaches = [f32::NEG_INFINITY; BLOCK];
        if let Some(other) = &other {
            reaches[..width].copy_from_slice(&other.reach);
        }
        let mut hits = [0; BLOCK / LANES + 1];
        for r in 0..block.rows.len() {
            let length = block.lengths[r];
            let row = &mut self.values[r * width..(r + 1) * width];
            for (v, &l) in row.iter_mut().zip(self.lengths) {
                let squared = *v + (length + l);
                *v = if squared > 0.0 { squared } else { 0.0 };
            }
            if other.is_none() {
                let own = self.positions[block.rows[r] as usize] as usize;
                if (self.start..self.start + width).contains(&own) {
                    row[own - self.start] = f32::INFINITY;
                }
            }
            // Which groups of columns hold something within reach: found without a branch, met afterwards.
            // A column's reach may have shrunk since it was copied, so the meeting looks again.
            let reach = block.reach[r];
            let (groups, rest) = row.as_chunks::<LANES>();
            let mut found = 0;
            for (g, (values, reaches)) in groups.iter().zip(reaches.as_chunks::<LANES>().0).enumerate() {
                let mut any = 0u32;
                for (v, o) in values.iter().zip(reaches) {
                    any |= u32::from(*v <= reach) | u32::from(*v <= *o);
                }
                hits[found] = g;
                found += usize::from(any != 0);
            }
            let last = width - rest.len();
            for &g in &hits[..found] {
                self.meet(block, other.as_deref_mut(), r, g * LANES..(g + 1) * LANES);
            }
            self.meet(block, other.as_deref_mut(), r, last..width);
        }
        self.add_sums(block, other);
    }

    /// Hands some columns of row `r` out one by one.
    #[inline(always)]
    fn meet(&mut self, block: &mut Block, mut other: Option<&mut Block>, r: usize, columns: Range<usize>) {
        for c in columns {
            let value = &mut self.values[r * self.width + c];
            let squared = *value;
            if squared <= block.reach[r] {
                *value = block.meet(r, (self.start + c) as u32, self.rows[c], squared, self.prepared);
            }
            if let Some(other) = other.as_deref_mut().filter(|o| squared <= o.reach[c]) {
                let seen = other.meet(c, (self.row_start + r) as u32, block.rows[r], squared, self.prepared);
                if seen != squared {
                    *value = seen;
                }
            }
        }
    }

    #[inline(always)]
    fn add_sums(&mut self, block: &mut Block, mut other: Option<&mut Block>) {
        let width = self.width;
        if let Some(kernel) = &mut block.kernel {
            kernel.add(other.as_deref_mut().and_then(|o| o.kernel.as_mut()), self.values, width);
        }
        if let Some(classes) = &mut block.classes {
            if other.is_none() {
                // Self is at no distance: it adds nothing to a sum of distances.
                for v in self.values.iter_mut().filter(|v| **v == f32::INFINITY) {
                    *v = 0.0;
                }
            }
            let below = other.and_then(|o| o.classes.as_mut());
            classes.add(below, self.values, width, &block.runs, self.runs);
        }
    }
}

/// A block of queries and what its absorbers hold so far.
pub(super) struct Block {
    pub(super) rows: Vec<u32>,
    /// How many rows each query has met.
    pub(super) met: usize,
    pub(super) lengths: Vec<f32>,
    pub(super) runs: Vec<Run>,
    /// The largest f32 squared distance that any absorber of each query must see one by one.
    pub(super) reach: Vec<f32>,
    pub(super) candidates: Option<Candidates>,
    pub(super) counts: Vec<Counts>,
    pub(super) kernel: Option<KernelSums>,
    pub(super) classes: Option<ClassSums>,
}

impl Block {
    pub(super) fn new(rows: &[u32], lengths: &[f32], anchors: Anchors, ask: &Ask, prepared: &Prepared) -> Self {
        let codes = |labels: &Labels| -> Vec<u32> { rows.iter().map(|&i| labels.codes()[i as usize]).collect() };
        let mut block = Block {
            rows: rows.to_vec(),
            met: 0,
            lengths: lengths.to_vec(),
            runs: ask.classes.map_or_else(Vec::new, |labels| runs(&codes(labels))),
            reach: vec![-1.0; rows.len()],
            candidates: (ask.k > 0).then(|| Candidates::new(ask.k, prepared, lengths)),
            counts: ask
                .ranks_of
                .iter()
                .map(|others| Counts::new(rows, |row| anchors.place(row), others, prepared, lengths))
                .collect(),
            kernel: ask
                .kernel
                .map(|t| KernelSums::new(rows.len(), -t * prepared.squared_unit())),
            classes: ask.classes.map(|labels| {
                let near = lengths.iter().map(|&l| prepared.near(l)).collect();
                ClassSums::new(rows.len(), labels.classes(), near)
            }),
        };
        for q in 0..rows.len() {
            block.update_reach(q);
        }
        block
    }

    /// Tells the absorbers that `more` of `all` rows are about to be met.
    pub(super) fn expect(&mut self, more: usize, all: usize) {
        self.met += more;
        if let Some(candidates) = &mut self.candidates {
            candidates.expect(self.met, all);
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
    }

    /// Query `q` meets a row within its reach. Returns the squared distance that sums shall use.
    #[inline(always)]
    fn meet(&mut self, q: usize, position: u32, other: u32, squared: f32, prepared: &Prepared) -> f32 {
        if let Some(candidates) = &mut self.candidates {
            let before = candidates.reach[q];
            if squared <= before && candidates.take(q, self.rows[q], position, squared, prepared) != before {
                self.update_reach(q);
            }
        }
        for counts in &mut self.counts {
            if squared <= counts.reach[q] {
                counts.take(q, self.rows[q], other, squared, prepared);
            }
        }
        match &self.classes {
            Some(classes) if squared <= classes.near[q] => prepared.squared_distance(self.rows[q], other) as f32,
            _ => squared,
        }
    }
}
