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

mod tile;

use std::sync::Mutex;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use tile::{Block, Tile};

use super::neighbors::{self, Neighbors};
use super::pair_sums::{self, Run, runs};
use super::prepared::{BLOCK, Packed, Preparation, Prepared};
use super::ranks::Ranks;
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

    /// The query that is this row.
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
