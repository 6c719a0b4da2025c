// SPDX-License-Identifier: MIT
//! The tile engine: every pair of rows is looked at once, and each pass takes what it needs.
//!
//! Rows are cut into blocks. A tile holds the squared distances of one block to another, made by one
//! matrix product in f32; it stays in cache and is handed to all absorbers at once: candidates for
//! nearest neighbours, rank counts, kernel sums, class sums. No N × N array ever exists.
//!
//! Where all rows are queries, d(i, j) = d(j, i): each tile serves its rows and its columns. The pairs
//! of blocks are played as a round-robin tournament (circle method). Within a round no block appears
//! twice, so the tiles of a round run in parallel without sharing anything; every block meets the others
//! in the same order whatever the number of threads, so sums have the same bits.
//! Where only some rows are queries ([`Anchors::Some`]), each block of queries meets all blocks in turn.

use std::ops::Range;
use std::sync::Mutex;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::neighbors::{self, Candidates, Neighbors};
use super::pair_sums::{self, ClassSums, KernelSums, Run, runs};
use super::prepared::{BLOCK, Packed, Preparation, Prepared};
use super::ranks::{Counts, Ranks};
use crate::data::{Labels, Space};
use crate::error::{Error, Result};
use crate::run::Driver;

/// Which rows ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Anchors<'a> {
    /// All of them.
    All,
    /// These, in ascending order.
    Some(&'a [u32]),
}

impl Anchors<'_> {
    /// The number of queries.
    pub(crate) fn count(&self, rows: usize) -> usize {
        match self {
            Anchors::All => rows,
            Anchors::Some(anchors) => anchors.len(),
        }
    }

    /// The row of query `q`.
    pub(crate) fn row(&self, q: usize) -> usize {
        match self {
            Anchors::All => q,
            Anchors::Some(anchors) => anchors[q] as usize,
        }
    }

    fn place(&self, row: u32) -> usize {
        match self {
            Anchors::All => row as usize,
            Anchors::Some(anchors) => anchors.binary_search(&row).expect("only anchors are placed"),
        }
    }
}

/// What one sweep over the pairs of a space shall bring.
#[derive(Default)]
pub(crate) struct Ask<'a> {
    /// The k nearest rows of each query; 0 for none.
    pub(crate) k: usize,
    /// Ranks in this space of these neighbours in other spaces.
    pub(crate) ranks_of: Vec<&'a Neighbors>,
    /// Σ exp(−t·d²) for this t, with d in the space's own units.
    pub(crate) kernel: Option<f64>,
    /// Σ of the distances to each class. The space must be prepared with these codes as its group.
    pub(crate) classes: Option<&'a Labels>,
}

/// What a sweep brought, by query.
pub(crate) struct Answer {
    pub(crate) neighbors: Option<Neighbors>,
    pub(crate) ranks: Vec<Ranks>,
    /// Kernel sums.
    pub(crate) kernel: Option<Vec<f64>>,
    /// Distance sums in the space's own units, `classes` per query.
    pub(crate) classes: Option<Vec<f64>>,
}

/// Up to this many coordinates over all pairs (a second of work), sums are taken in f64 throughout.
const DIRECT: u64 = 1 << 32;

/// Looks at every pair of a query and another row.
pub(crate) fn sweep(prepared: &Prepared, anchors: Anchors, ask: &Ask, driver: &Driver) -> Answer {
    let rows = prepared.rows() as u64;
    let coordinates = anchors.count(prepared.rows()) as u64 * rows * prepared.packed.columns as u64;
    if (ask.kernel.is_none() && ask.classes.is_none()) || coordinates > DIRECT {
        return sweep_tiles(prepared, anchors, ask, driver);
    }
    let selection = Ask {
        k: ask.k,
        ranks_of: ask.ranks_of.clone(),
        kernel: None,
        classes: None,
    };
    let mut answer = Answer {
        neighbors: None,
        ranks: Vec::new(),
        kernel: None,
        classes: None,
    };
    if ask.k > 0 || !ask.ranks_of.is_empty() {
        answer = sweep_tiles(prepared, anchors, &selection, driver);
    }
    let (kernel, classes) = pair_sums::directly(prepared, anchors, ask, driver);
    Answer {
        kernel,
        classes,
        ..answer
    }
}

fn sweep_tiles(prepared: &Prepared, anchors: Anchors, ask: &Ask, driver: &Driver) -> Answer {
    let targets = Targets::new(prepared, ask);
    match anchors {
        Anchors::All => {
            let blocks = start_blocks(&prepared.order, &prepared.packed, anchors, ask, prepared, driver);
            tournament(&targets, &blocks, driver);
            collect(blocks, anchors, ask, prepared, driver)
        }
        Anchors::Some(rows) => {
            let packed = prepared.pack(rows, driver);
            let blocks = start_blocks(rows, &packed, anchors, ask, prepared, driver);
            each_against_all(&targets, &packed, &blocks, driver);
            collect(blocks, anchors, ask, prepared, driver)
        }
    }
}

/// The side of a tile that is only looked at.
struct Targets<'a> {
    prepared: &'a Prepared<'a>,
    /// Runs of one class in each block; empty where classes are not asked for.
    runs: Vec<Vec<Run>>,
    /// The packed position of each row.
    positions: Vec<u32>,
    buffers: Mutex<Vec<Vec<f32>>>,
}

impl<'a> Targets<'a> {
    fn new(prepared: &'a Prepared<'a>, ask: &Ask) -> Self {
        let runs_of = |labels: &Labels| {
            let block_runs = |rows: &[u32]| runs(&rows.iter().map(|&i| labels.codes()[i as usize]).collect::<Vec<_>>());
            prepared.order.chunks(BLOCK).map(block_runs).collect()
        };
        let mut positions = vec![0; prepared.rows()];
        for (position, &row) in prepared.order.iter().enumerate() {
            positions[row as usize] = position as u32;
        }
        let runs = ask.classes.map_or_else(Vec::new, runs_of);
        Targets {
            prepared,
            runs,
            positions,
            buffers: Mutex::new(Vec::new()),
        }
    }

    fn blocks(&self) -> usize {
        self.prepared.rows().div_ceil(BLOCK)
    }

    fn span(&self, block: usize) -> (usize, usize) {
        let first = block * BLOCK;
        (first, BLOCK.min(self.prepared.rows() - first))
    }

    /// Computes the tile of a block of queries, packed from position `first` on, against block `column`,
    /// and hands it out. `other` is that block where its rows ask too and are other rows.
    fn tile(&self, packed: &Packed, first: usize, block: &mut Block, column: usize, mut other: Option<&mut Block>) {
        let (start, width) = self.span(column);
        let height = block.rows.len();
        let d = packed.columns;
        let pool = || self.buffers.lock().expect("the pool of buffers is never poisoned");
        let mut buffer = pool().pop().unwrap_or_else(|| vec![0.0; BLOCK * BLOCK]);
        let tile = &mut buffer[..height * width];
        matmul(
            MatMut::from_row_major_slice_mut(tile, height, width),
            Accum::Replace,
            MatRef::from_row_major_slice(packed.block(first, height), height, d),
            MatRef::from_row_major_slice(self.prepared.packed.block(start, width), width, d).transpose(),
            -2.0,
            Par::Seq,
        );
        block.expect(width, self.prepared.rows());
        if let Some(other) = &mut other {
            other.expect(height, self.prepared.rows());
        }
        let mut view = Tile {
            values: tile,
            width,
            start,
            row_start: first,
            lengths: &self.prepared.packed.squared_lengths[start..start + width],
            rows: &self.prepared.order[start..start + width],
            positions: &self.positions,
            runs: self.runs.get(column).map_or(&[], Vec::as_slice),
            prepared: self.prepared,
        };
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || view.absorb(block, other),
        );
        pool().push(buffer);
    }
}

struct Tile<'t> {
    values: &'t mut [f32],
    width: usize,
    start: usize,
    row_start: usize,
    lengths: &'t [f32],
    rows: &'t [u32],
    positions: &'t [u32],
    runs: &'t [Run],
    prepared: &'t Prepared<'t>,
}

/// Columns looked at together before any of them is looked at alone.
const LANES: usize = 8;

impl Tile<'_> {
    /// Turns −2⟨a, b⟩ into squared distances and gives them to the absorbers of both sides.
    #[inline(always)]
    fn absorb(&mut self, block: &mut Block, mut other: Option<&mut Block>) {
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
struct Block {
    rows: Vec<u32>,
    /// How many rows each query has met.
    met: usize,
    lengths: Vec<f32>,
    runs: Vec<Run>,
    /// The largest f32 squared distance that any absorber of each query must see one by one.
    reach: Vec<f32>,
    candidates: Option<Candidates>,
    counts: Vec<Counts>,
    kernel: Option<KernelSums>,
    classes: Option<ClassSums>,
}

impl Block {
    fn new(rows: &[u32], lengths: &[f32], anchors: Anchors, ask: &Ask, prepared: &Prepared) -> Self {
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
    fn expect(&mut self, more: usize, all: usize) {
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

fn start_blocks(
    rows: &[u32],
    packed: &Packed,
    anchors: Anchors,
    ask: &Ask,
    prepared: &Prepared,
    driver: &Driver,
) -> Vec<Mutex<Block>> {
    driver.map(rows.len().div_ceil(BLOCK), |b| {
        let span = b * BLOCK..rows.len().min((b + 1) * BLOCK);
        Mutex::new(Block::new(
            &rows[span.clone()],
            &packed.squared_lengths[span],
            anchors,
            ask,
            prepared,
        ))
    })
}

const UNSHARED: &str = "a block is in one tile at a time, and no tile panics";

/// Every block against itself, then against every other, in rounds.
fn tournament(targets: &Targets, blocks: &[Mutex<Block>], driver: &Driver) {
    let count = targets.blocks();
    let packed = &targets.prepared.packed;
    driver.progress().begin("pairs", (count * (count + 1) / 2) as u64);
    driver.map(count, |i| {
        let mut block = blocks[i].lock().expect(UNSHARED);
        targets.tile(packed, i * BLOCK, &mut block, i, None);
        driver.progress().advance(1);
    });
    for round in rounds(count) {
        driver.map(round.len(), |p| {
            let (i, j) = round[p];
            let (mut rows, mut columns) = (blocks[i].lock().expect(UNSHARED), blocks[j].lock().expect(UNSHARED));
            targets.tile(packed, i * BLOCK, &mut rows, j, Some(&mut columns));
            driver.progress().advance(1);
        });
    }
}

/// The rounds of a tournament of `count` players: in each round no player twice, over all rounds each
/// pair once. One player stands still, the others move around the circle.
fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    let circle = (count + count % 2).saturating_sub(1);
    (0..circle)
        .map(|round| {
            let mut pairs = vec![(circle, round)];
            pairs.extend((1..=circle / 2).map(|s| ((round + s) % circle, (round + circle - s) % circle)));
            pairs.retain(|&(i, j)| i < count && j < count);
            pairs.into_iter().map(|(i, j)| (i.min(j), i.max(j))).collect()
        })
        .collect()
}

/// Each block of queries against every block of rows, in order.
fn each_against_all(targets: &Targets, packed: &Packed, blocks: &[Mutex<Block>], driver: &Driver) {
    driver
        .progress()
        .begin("anchors", (blocks.len() * targets.blocks()) as u64);
    driver.map(blocks.len(), |b| {
        let mut block = blocks[b].lock().expect(UNSHARED);
        for column in 0..targets.blocks() {
            targets.tile(packed, b * BLOCK, &mut block, column, None);
            driver.progress().advance(1);
        }
    });
}

/// Takes the answers out of the blocks and puts them into the order of the queries.
fn collect(blocks: Vec<Mutex<Block>>, anchors: Anchors, ask: &Ask, prepared: &Prepared, driver: &Driver) -> Answer {
    let mut blocks: Vec<Block> = blocks.into_iter().map(|b| b.into_inner().expect(UNSHARED)).collect();
    let queries = anchors.count(prepared.rows());
    let classes = ask.classes.map_or(0, Labels::classes);
    let mut answer = Answer {
        neighbors: None,
        ranks: ask
            .ranks_of
            .iter()
            .map(|o| Ranks {
                k: o.k,
                ranks: vec![0; queries * o.k],
            })
            .collect(),
        kernel: ask.kernel.map(|_| vec![0.0; queries]),
        classes: ask.classes.map(|_| vec![0.0; queries * classes]),
    };
    for block in &blocks {
        for (q, &row) in block.rows.iter().enumerate() {
            let place = anchors.place(row);
            for (counts, ranks) in block.counts.iter().zip(&mut answer.ranks) {
                counts.finish(q, &mut ranks.ranks[place * ranks.k..(place + 1) * ranks.k]);
            }
            if let (Some(sums), Some(kernel)) = (&mut answer.kernel, &block.kernel) {
                sums[place] = kernel.sums[q];
            }
            if let (Some(sums), Some(of_class)) = (&mut answer.classes, &block.classes) {
                for class in 0..classes {
                    let sum = of_class.sums[class * block.rows.len() + q];
                    sums[place * classes + class] = sum * prepared.squared_unit().sqrt();
                }
            }
        }
    }
    if ask.k > 0 {
        let candidates = blocks
            .iter_mut()
            .filter_map(|b| Some((std::mem::take(&mut b.rows), b.candidates.take()?)));
        let candidates = candidates.collect();
        answer.neighbors = Some(neighbors::finish(
            ask.k,
            candidates,
            |row| anchors.place(row),
            prepared,
            driver,
        ));
    }
    answer
}

/// The exact `k` nearest rows of every row (row numbers and distances, `k` per row, nearest first; ties go
/// to the smaller row number; a row is never its own neighbour).
pub fn nearest_neighbors(space: &Space, k: usize, driver: &Driver) -> Result<(Vec<u32>, Vec<f64>)> {
    if k == 0 || k >= space.rows() {
        return Err(Error::Input(format!(
            "k = {k} needs k of at least 1 and more than k rows; `{}` has {} rows",
            space.name(),
            space.rows()
        )));
    }
    let prepared = Prepared::new(space, Preparation::Raw, None, driver)?;
    let ask = Ask { k, ..Ask::default() };
    let found = sweep(&prepared, Anchors::All, &ask, driver).neighbors;
    let found = found.ok_or_else(|| Error::Internal("a sweep without its neighbours".to_string()))?;
    Ok((found.rows, found.distances))
}

#[cfg(test)]
mod tests;
