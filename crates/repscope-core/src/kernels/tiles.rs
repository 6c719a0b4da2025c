// SPDX-License-Identifier: MIT
//! The tile engine: every pair of rows is looked at once, and each pass takes what it needs.
//!
//! Rows are cut into blocks. A tile is one block of rows, the queries, that meets another, the targets: a fused kernel
//! multiplies them in f32 (see [`microkernel`](super::microkernel)) and hands out the pairs that are near enough to matter, to all
//! absorbers at once: candidates for nearest neighbors, rank counts. Only where sums over all pairs are asked for
//! (kernels, distances to classes), the tile's squared distances are written, into a buffer that stays in cache.
//! No N × N array ever exists. Where neither needs all distances, most pairs are decided by a few coordinates
//! ([`prefix`]), or by 8 bits of each ([`coarse`](super::coarse)).
//!
//! Where all rows are queries, d(i, j) = d(j, i): each tile serves its rows and its columns. The pairs
//! of blocks are played as a round-robin tournament (circle method). Within a round no block appears
//! twice, so the tiles of a round run in parallel without sharing anything; every block meets the others
//! in the same order whatever the number of threads, so sums have the same bits. Rows come in a fixed random order,
//! so that no arrangement of the file is slow.
//! Where sums are asked for, rows are cut into super-blocks as they stand in the file, and in random order within each; sums are
//! taken over a super-block first and then over these in their order, so that a worker that holds one super-block of targets adds
//! up the same numbers ([`crate::blocks`]).
//!
//! Where only some rows are queries ([`Anchors::Some`]), all rows are read and packed in waves and meet each block of
//! queries: a random sample first, from which each query learns how near is near, then the others in the order of the
//! file. Memory does not grow with the number of rows.

mod apart;
mod axes;
mod cells;
mod packed;
mod prefix;
pub(crate) mod prune_cost;
mod refine;
mod shortcut;
mod tile;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;

pub(crate) use apart::{Side, meet_between, meet_within};
use cells::Cells;
use packed::{As, Packed};
use prune_cost::Wanted;
pub(crate) use shortcut::Shortcut;
use tile::{Block, Tile};

use super::coarse::Coarse;
use super::microkernel::{Meeting, Panels};
use super::neighbors::{self, Candidates, Neighbors};
use super::pair_sums::{self, runs};
use super::prepared::{Preparation, Prepared};
use super::ranks::{Ranks, Thresholds};
use crate::blocks::{self, SUPER_BLOCK, super_blocks};
use crate::data::{Labels, Space};
use crate::error::{Error, Result, refuse_if};
use crate::random;
use crate::run::{Driver, Order};

/// Rows of a block. A tile of 288 × 288 f32 stays in a core's second-level cache, and panels of all widths fit.
const SIDE: usize = 288;
/// Blocks of targets that are packed at a time where only some rows ask.
const WAVE: usize = 16;

/// Blocks of a super-block.
const PER_SUPER: usize = SUPER_BLOCK / SIDE;

/// From this many coordinates over all pairs on, blocks are cells of space.
const CELLS: u64 = 1 << 32;

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
    pub(crate) fn place(&self, row: u32) -> usize {
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
    /// Ranks in this space of these neighbors in other spaces.
    pub(crate) ranks_of: Vec<&'a Neighbors>,
    /// Σ exp(−t·d²) for this t, with d in the space's own units.
    pub(crate) kernel: Option<f64>,
    /// Σ of the distances to each class.
    pub(crate) classes: Option<&'a Labels>,
}

/// What a sweep brought, by query.
pub(crate) struct Results {
    pub(crate) neighbors: Option<Neighbors>,
    pub(crate) ranks: Vec<Ranks>,
    /// Kernel sums.
    pub(crate) kernel: Option<Vec<f64>>,
    /// Distance sums in the space's own units, `classes` per query.
    pub(crate) classes: Option<Vec<f64>>,
}

/// Up to this many coordinates over all pairs (some hundredths of a second), sums are taken in f64 throughout. An exponential and a
/// root cost as much as some coordinates.
const DIRECT: u64 = 1 << 28;
const COST_OF_A_PAIR: u64 = 256;

/// The most rows of all whose pairs sums are taken in f64.
pub(crate) fn most_direct_rows(columns: usize) -> usize {
    (DIRECT / (columns as u64 + COST_OF_A_PAIR)).isqrt() as usize
}

/// Bytes of packed rows that a sweep needs.
pub(crate) fn memory(rows: u64, columns: u64, queries: u64) -> u64 {
    let packed = (columns + 2) * 4;
    if queries == rows {
        rows * ((2 * (packed + columns + 32)).max(4 * prefix::most_packed(columns)) + 16)
    } else {
        (queries + 2 * (WAVE * SIDE) as u64) * packed + rows * 16
    }
}

/// Looks at every pair of a query and another row.
pub(crate) fn sweep(prepared: &Prepared, anchors: Anchors, ask: &Ask, driver: &Driver) -> Results {
    let rows = prepared.rows() as u64;
    let coordinates = anchors.count(prepared.rows()) as u64 * rows * (prepared.columns() as u64 + COST_OF_A_PAIR);
    let is_direct = coordinates <= DIRECT && prepared.rows() <= SUPER_BLOCK;
    if (ask.kernel.is_none() && ask.classes.is_none()) || !is_direct {
        return sweep_tiles(prepared, anchors, ask, driver);
    }
    let selection = Ask {
        k: ask.k,
        ranks_of: ask.ranks_of.clone(),
        kernel: None,
        classes: None,
    };
    let mut answer = Results {
        neighbors: None,
        ranks: Vec::new(),
        kernel: None,
        classes: None,
    };
    if ask.k > 0 || !ask.ranks_of.is_empty() {
        answer = sweep_tiles(prepared, anchors, &selection, driver);
    }
    let (kernel, classes) = pair_sums::directly(prepared, anchors, ask, driver);
    Results {
        kernel,
        classes,
        ..answer
    }
}

fn sweep_tiles(prepared: &Prepared, anchors: Anchors, ask: &Ask, driver: &Driver) -> Results {
    let sweep = Sweep::new(prepared, anchors, ask, driver);
    let blocks = match anchors {
        Anchors::All if sweep.wants_sums() && prepared.rows() > SUPER_BLOCK => sweep.by_super_blocks(),
        Anchors::All => {
            let shuffled = shuffled(&(0..prepared.rows()), 0);
            let cells = sweep.pays_cells().then(|| Cells::new(prepared, &shuffled, driver));
            let farthest = |row: u32| {
                let others = ask.ranks_of.iter().flat_map(|others| others.of(row as usize));
                let squared = prepared.squared_distances(row, others.copied());
                squared.into_iter().fold(0.0, f64::max)
            };
            let wanted = Wanted {
                k: ask.k,
                farthest: &farthest,
            };
            let shortcut = cells.as_ref().map_or(Shortcut::None, |cells| {
                Shortcut::choose(prepared, &cells.order, &shuffled, &wanted, driver)
            });
            sweep.tournament(shuffled, &shortcut, cells.as_ref(), None)
        }
        Anchors::Some(rows) if sweep.wants_sums() => sweep.some_by_super_blocks(rows),
        Anchors::Some(rows) => sweep.some_against_all(rows),
    };
    sweep.collect(blocks)
}

/// The rows of a super-block in random order. Its number names the order.
fn shuffled(rows: &Range<usize>, number: usize) -> Vec<u32> {
    let mut order = random::permutation(rows.len(), &mut random::stream(0, "block order", number as u64));
    order.iter_mut().for_each(|row| *row += rows.start as u32);
    order
}

/// One sweep, and buffers for tiles that wait to be used again.
struct Sweep<'a> {
    prepared: &'a Prepared<'a>,
    anchors: Anchors<'a>,
    ask: &'a Ask<'a>,
    buffers: Mutex<Vec<Vec<f32>>>,
    driver: &'a Driver<'a>,
}

const UNSHARED: &str = "a block is in one tile at a time, and no tile panics";

impl<'a> Sweep<'a> {
    fn new(prepared: &'a Prepared<'a>, anchors: Anchors<'a>, ask: &'a Ask<'a>, driver: &'a Driver<'a>) -> Self {
        Sweep {
            prepared,
            anchors,
            ask,
            buffers: Mutex::new(Vec::new()),
            driver,
        }
    }

    /// Every block against itself, then against every other, in rounds. All rows ask what this sweep does, or are these queries.
    fn tournament(
        &self,
        shuffled: Vec<u32>,
        shortcut: &Shortcut,
        cells: Option<&Cells>,
        queries: Option<&Queries>,
    ) -> Vec<Mutex<Block>> {
        let (prepared, driver) = (self.prepared, self.driver);
        let order = match cells {
            Some(cells) => cells.order.clone(),
            None => self.grouped(shuffled),
        };
        let packed = Packed::new(prepared, &order, As::Both, shortcut, driver);
        let blocks = match queries {
            Some(queries) => self.start_given(&packed, shortcut, &[queries]),
            None => self.start(&packed, shortcut),
        };
        if cells.is_some() {
            // Near rows come first, so those met say nothing about those to come.
            blocks
                .iter()
                .for_each(|b| b.lock().expect(UNSHARED).expect_no_more(prepared.rows()));
        }
        let count = packed.blocks.len();
        driver.progress().begin("pairs", (count * (count + 1) / 2) as u64);
        driver.map(count, |i| {
            let mut block = blocks[i].lock().expect(UNSHARED);
            match shortcut {
                Shortcut::None => self.tile::<false>(&packed, i, &mut block, &packed, i, None),
                // Nothing is known yet of how near is near, so a shortcut would decide nothing.
                Shortcut::Prefix(_) | Shortcut::Coarse(_) => {
                    let whole = Packed::new(
                        prepared,
                        packed.rows(i),
                        As::Both,
                        &Shortcut::None,
                        &Driver::silent(Order::Serial),
                    );
                    self.tile::<false>(&whole, 0, &mut block, &whole, 0, None);
                }
            }
            driver.progress().advance(1);
        });
        let mut rounds = rounds(count);
        if let Some(cells) = cells {
            let first = cells.first_rounds();
            let met: HashSet<(usize, usize)> = first.iter().flatten().copied().collect();
            rounds
                .iter_mut()
                .for_each(|round| round.retain(|pair| !met.contains(pair)));
            rounds.splice(0..0, first);
        }
        for round in rounds {
            driver.map(round.len(), |p| {
                let (i, j) = round[p];
                let (mut rows, mut columns) = (blocks[i].lock().expect(UNSHARED), blocks[j].lock().expect(UNSHARED));
                self.tile::<true>(&packed, i, &mut rows, &packed, j, Some(&mut columns));
                driver.progress().advance(1);
            });
        }
        blocks
    }

    /// Every super-block against itself and those behind it, so that each meets all in their order.
    fn by_super_blocks(&self) -> Vec<Mutex<Block>> {
        let (prepared, driver) = (self.prepared, self.driver);
        let order = super_blocks(prepared.rows()).enumerate();
        let order: Vec<u32> = order
            .flat_map(|(number, rows)| self.grouped(shuffled(&rows, number)))
            .collect();
        let packed = Packed::new(prepared, &order, As::Both, &Shortcut::None, driver);
        let blocks = self.start(&packed, &Shortcut::None);
        // Rows stand as in the file, so those met say nothing about those to come.
        self.expect_no_more(&blocks);
        let count = blocks.len();
        driver.progress().begin("pairs", (count * (count + 1) / 2) as u64);
        let spans: Vec<Range<usize>> = blocks_of(count).collect();
        for (i, first) in spans.iter().enumerate() {
            for second in &spans[i..] {
                self.meet_all(&packed, &blocks, first.clone(), second.clone());
            }
        }
        blocks
    }

    /// Lets each of some blocks meet each of others, or each other where both are the same.
    fn meet_all(&self, packed: &Packed, blocks: &[Mutex<Block>], first: Range<usize>, second: Range<usize>) {
        let driver = self.driver;
        let rounds = if first == second {
            driver.map(first.len(), |i| {
                let i = first.start + i;
                self.tile::<false>(packed, i, &mut blocks[i].lock().expect(UNSHARED), packed, i, None);
                driver.progress().advance(1);
            });
            rounds(first.len())
        } else {
            let circle = first.len().max(second.len());
            let round = |shift: usize| {
                let pairs = (0..first.len()).map(|i| (i, first.len() + (i + shift) % circle));
                pairs.filter(|(_, j)| *j < first.len() + second.len()).collect()
            };
            (0..circle).map(round).collect()
        };
        let block = |place: usize| match place.checked_sub(first.len()) {
            None => first.start + place,
            Some(behind) => second.start + behind,
        };
        for round in rounds {
            driver.map(round.len(), |p| {
                let (i, j) = (block(round[p].0), block(round[p].1));
                let (mut rows, mut columns) = (blocks[i].lock().expect(UNSHARED), blocks[j].lock().expect(UNSHARED));
                self.tile::<true>(packed, i, &mut rows, packed, j, Some(&mut columns));
                driver.progress().advance(1);
            });
        }
        // Where both are the same, nothing is left for the second time.
        first
            .chain(second)
            .for_each(|block| blocks[block].lock().expect(UNSHARED).settle());
    }

    fn expect_no_more(&self, blocks: &[Mutex<Block>]) {
        let rows = self.prepared.rows();
        blocks
            .iter()
            .for_each(|block| block.lock().expect(UNSHARED).expect_no_more(rows));
    }

    /// Each block of queries against all super-blocks in their order.
    fn some_by_super_blocks(&self, queries: &[u32]) -> Vec<Mutex<Block>> {
        let (prepared, driver) = (self.prepared, self.driver);
        let packed = Packed::new(prepared, queries, As::Queries, &Shortcut::None, driver);
        let blocks = self.start(&packed, &Shortcut::None);
        self.expect_no_more(&blocks);
        let waves = prepared.rows().div_ceil(WAVE * SIDE);
        driver.progress().begin("anchors", (waves * blocks.len()) as u64);
        for (number, rows) in super_blocks(prepared.rows()).enumerate() {
            self.meet_targets(&packed, &blocks, &self.grouped(shuffled(&rows, number)));
        }
        blocks
    }

    /// Lets all blocks of queries meet the rows of a super-block, in this order.
    fn meet_targets(&self, packed: &Packed, blocks: &[Mutex<Block>], order: &[u32]) {
        let (prepared, driver) = (self.prepared, self.driver);
        for wave in order.chunks(WAVE * SIDE) {
            let targets = Packed::new(prepared, wave, As::Targets, &Shortcut::None, driver);
            driver.map(blocks.len(), |b| {
                let mut block = blocks[b].lock().expect(UNSHARED);
                for t in 0..targets.blocks.len() {
                    self.tile::<false>(packed, b, &mut block, &targets, t, None);
                }
                driver.progress().advance(1);
            });
        }
        blocks.iter().for_each(|block| block.lock().expect(UNSHARED).settle());
    }

    /// Whether only near pairs matter and there are many.
    fn pays_cells(&self) -> bool {
        let (n, d) = (self.prepared.rows() as u64, self.prepared.columns() as u64);
        !self.wants_sums() && n > 8 * SIDE as u64 && n * n * d >= CELLS
    }

    fn wants_sums(&self) -> bool {
        self.ask.kernel.is_some() || self.ask.classes.is_some()
    }

    /// Each block of queries against all rows.
    fn some_against_all(&self, queries: &[u32]) -> Vec<Mutex<Block>> {
        let (prepared, driver) = (self.prepared, self.driver);
        let packed = Packed::new(prepared, queries, As::Queries, &Shortcut::None, driver);
        let blocks = self.start(&packed, &Shortcut::None);
        let (order, sampled) = sample_first(prepared.rows());
        let waves: Vec<&[u32]> = order.chunks(WAVE * SIDE).collect();
        driver.progress().begin("anchors", (waves.len() * blocks.len()) as u64);
        let mut met = 0;
        for wave in waves {
            let targets = Packed::new(
                prepared,
                &self.grouped(wave.to_vec()),
                As::Targets,
                &Shortcut::None,
                driver,
            );
            driver.map(blocks.len(), |b| {
                let mut block = blocks[b].lock().expect(UNSHARED);
                for t in 0..targets.blocks.len() {
                    self.tile::<false>(&packed, b, &mut block, &targets, t, None);
                }
                driver.progress().advance(1);
            });
            met += wave.len();
            if met >= sampled {
                // The others come in the order of the file, which says nothing about what is still to come.
                blocks
                    .iter()
                    .for_each(|b| b.lock().expect(UNSHARED).expect_no_more(prepared.rows()));
            }
        }
        blocks
    }

    /// Sorts the rows of each block, by class where distances to classes are asked for, so that a class stands together.
    fn grouped(&self, mut order: Vec<u32>) -> Vec<u32> {
        for block in order.chunks_mut(SIDE) {
            match self.ask.classes {
                None => block.sort_unstable(),
                Some(labels) => block.sort_unstable_by_key(|&i| (labels.codes()[i as usize], i)),
            }
        }
        order
    }

    fn start(&self, packed: &Packed, shortcut: &Shortcut) -> Vec<Mutex<Block>> {
        self.driver.map(packed.blocks.len(), |b| {
            let (rows, prepared) = (packed.rows(b), self.prepared);
            let thresholds = self.ask.ranks_of.iter();
            let thresholds = thresholds.map(|others| others.thresholds(rows, self.anchors, prepared));
            let lists = (self.ask.k, thresholds.collect());
            let lengths = &packed.blocks[b].squared_lengths;
            Mutex::new(Block::new(rows, lengths, lists, self.ask, shortcut.prefix(), prepared))
        })
    }

    /// Blocks of queries whose thresholds are known.
    fn start_given(&self, packed: &Packed, shortcut: &Shortcut, sides: &[&Queries]) -> Vec<Mutex<Block>> {
        self.driver.map(packed.blocks.len(), |b| {
            let rows = packed.rows(b);
            let own = sides.iter().find(|own| own.rows.binary_search(&rows[0]).is_ok());
            let own = own.expect("all packed queries are queries of a side");
            let place = |row: &u32| own.rows.binary_search(row).expect("a block is of one side");
            let thresholds = own.thresholds.iter().map(|all| Thresholds {
                k: all.k,
                exact: rows
                    .iter()
                    .flat_map(|row| &all.exact[place(row) * all.k..][..all.k])
                    .copied()
                    .collect(),
            });
            let lengths = &packed.blocks[b].squared_lengths;
            let lists = (own.k, thresholds.collect());
            Mutex::new(Block::new(
                rows,
                lengths,
                lists,
                self.ask,
                shortcut.prefix(),
                self.prepared,
            ))
        })
    }

    /// What the queries of some blocks found among these rows, or among all.
    fn found(&self, blocks: Vec<Block>, queries: &Queries, among: Option<&[u32]>) -> Found {
        let (prepared, count) = (self.prepared, queries.rows.len());
        let classes = self.ask.classes.map_or(0, Labels::classes);
        let mut found = Found {
            nearest: vec![Vec::new(); if queries.k > 0 { count } else { 0 }],
            before: queries.thresholds.iter().map(|own| vec![0; count * own.k]).collect(),
            kernel: vec![0.0; self.ask.kernel.map_or(0, |_| count)],
            classes: vec![0.0; count * classes],
        };
        let blocks: Vec<Mutex<Block>> = blocks.into_iter().map(Mutex::new).collect();
        let nearest = self.driver.map(blocks.len(), |b| {
            let block = &mut *blocks[b].lock().expect(UNSHARED);
            let rows = block.rows.clone();
            let finish = |candidates: &mut Candidates| -> Vec<Vec<(f64, u32)>> {
                let of_row = |(q, row): (usize, &u32)| candidates.finish(q, *row, among, prepared);
                rows.iter().enumerate().map(of_row).collect()
            };
            block.candidates.as_mut().map(finish).unwrap_or_default()
        });
        for (block, nearest) in blocks.into_iter().zip(nearest) {
            let mut block = block.into_inner().expect(UNSHARED);
            let rows = std::mem::take(&mut block.rows);
            let places = rows
                .iter()
                .map(|row| queries.rows.binary_search(row).expect("a row of the queries"));
            let places: Vec<usize> = places.collect();
            for (place, list) in places.iter().zip(nearest) {
                found.nearest[*place] = list;
            }
            for (q, &place) in places.iter().enumerate() {
                for (counts, before) in block.counts.iter_mut().zip(&mut found.before) {
                    let k = before.len() / count;
                    let before = &mut before[place * k..(place + 1) * k];
                    counts.finish(q, before, prepared);
                    before.iter_mut().for_each(|rank| *rank -= 1);
                }
                if let Some(sum) = found.kernel.get_mut(place) {
                    *sum = block.kernel_total[q];
                }
                for class in 0..classes {
                    found.classes[place * classes + class] = block.class_total[class * rows.len() + q];
                }
            }
        }
        found
    }

    /// Lets block `q` of some packed queries meet block `t` of some packed targets. `other` is that block where its rows ask,
    /// too, and are other rows.
    fn tile<const BOTH: bool>(
        &self,
        queries: &Packed,
        q: usize,
        block: &mut Block,
        targets: &Packed,
        t: usize,
        mut other: Option<&mut Block>,
    ) {
        let rows = targets.rows(t);
        block.expect(rows.len(), self.prepared.rows());
        if let Some(other) = &mut other {
            other.expect(block.rows.len(), self.prepared.rows());
        }
        let coarse = match (&queries.blocks[q].coarse, &targets.blocks[t].coarse) {
            (Some((queries, _)), Some((_, targets))) => Some(Coarse::new(queries, targets)),
            _ => None,
        };
        if !targets.stages.is_empty() || coarse.is_some() {
            // A pair that is looked at in vain costs more than a tight reach.
            block.tighten(self.prepared);
            other.iter_mut().for_each(|other| other.tighten(self.prepared));
        }
        let mut waiting = vec![Vec::new(); targets.stages.len()];
        let mut tile: Tile<BOTH> = Tile {
            block,
            other,
            targets: rows,
            rest: match (&queries.blocks[q].rest, &targets.blocks[t].rest) {
                (Some(of_queries), Some(of_targets)) => Some((of_queries, of_targets)),
                _ => None,
            },
            stages: &targets.stages,
            coarse,
            prepared: self.prepared,
            waiting: &mut waiting,
            corrected: Vec::new(),
        };
        let (queries, targets) = (&queries.blocks[q].queries, &targets.blocks[t].targets);
        let stride = rows.len().next_multiple_of(Panels::targets_at_once());
        let pool = || self.buffers.lock().expect("the pool of buffers is never poisoned");
        let mut buffer = if self.wants_sums() {
            pool().pop().unwrap_or_else(|| vec![0.0; SIDE * SIDE])
        } else {
            Vec::new()
        };
        let meeting = Meeting {
            queries: (queries, 0..queries.count()),
            targets: (targets, 0..targets.count()),
            meets: &mut tile,
            products: (&mut buffer, stride),
        };
        meeting.run();
        tile.finish_waiting();
        if self.wants_sums() {
            let codes = |labels: &Labels| -> Vec<u32> { rows.iter().map(|&i| labels.codes()[i as usize]).collect() };
            let runs = self.ask.classes.map_or_else(Vec::new, |labels| runs(&codes(labels)));
            pulp::Arch::new().dispatch(tile::Sums {
                tile: &mut tile,
                products: &mut buffer,
                stride,
                runs: &runs,
            });
            pool().push(buffer);
        }
    }

    /// Takes the answers out of the blocks and puts them into the order of the queries.
    fn collect(&self, blocks: Vec<Mutex<Block>>) -> Results {
        let (prepared, anchors, ask) = (self.prepared, self.anchors, self.ask);
        let mut blocks: Vec<Block> = blocks.into_iter().map(|b| b.into_inner().expect(UNSHARED)).collect();
        let queries = anchors.count(prepared.rows());
        let classes = ask.classes.map_or(0, Labels::classes);
        let ranks = |others: &&Neighbors| Ranks {
            k: others.k,
            ranks: vec![0; queries * others.k],
        };
        let mut answer = Results {
            neighbors: None,
            ranks: ask.ranks_of.iter().map(ranks).collect(),
            kernel: ask.kernel.map(|_| vec![0.0; queries]),
            classes: ask.classes.map(|_| vec![0.0; queries * classes]),
        };
        for block in &mut blocks {
            block.settle();
            for (q, &row) in block.rows.iter().enumerate() {
                let place = anchors.place(row);
                for (counts, ranks) in block.counts.iter_mut().zip(&mut answer.ranks) {
                    counts.finish(q, &mut ranks.ranks[place * ranks.k..(place + 1) * ranks.k], prepared);
                }
                if let Some(sums) = &mut answer.kernel {
                    sums[place] = block.kernel_total[q];
                }
                if let Some(sums) = &mut answer.classes {
                    for class in 0..classes {
                        let sum = block.class_total[class * block.rows.len() + q];
                        sums[place * classes + class] = sum * prepared.squared_unit().sqrt();
                    }
                }
            }
        }
        if ask.k > 0 {
            let candidates = blocks
                .iter_mut()
                .filter_map(|b| Some((std::mem::take(&mut b.rows), b.candidates.take()?)));
            let (candidates, place) = (candidates.collect(), |row| anchors.place(row));
            answer.neighbors = Some(neighbors::finish(ask.k, candidates, place, prepared, self.driver));
        }
        answer
    }
}

/// Rows of one block of a larger matrix that look at others.
pub(crate) struct Queries {
    /// Row numbers, ascending.
    pub(crate) rows: Vec<u32>,
    /// How many nearest rows to look for; fewer are found where there are fewer.
    pub(crate) k: usize,
    /// What to count rows before, in the order of the rows.
    pub(crate) thresholds: Vec<Thresholds>,
}

/// What the queries of a block found in one super-block, in the order of the rows.
pub(crate) struct Found {
    /// The nearest rows, with exact squared distances.
    pub(crate) nearest: Vec<Vec<(f64, u32)>>,
    /// For each ranking the number of rows before each threshold.
    pub(crate) before: Vec<Vec<u32>>,
    /// Kernel sums; empty where they were not asked for.
    pub(crate) kernel: Vec<f64>,
    /// Sums of distances to each class in scaled units; empty where they were not asked for.
    pub(crate) classes: Vec<f64>,
}

/// Lets a super-block meet itself, or another one whose rows are queries, too. A super-block is its number and its queries, which
/// are all of its rows; those of the first come first. `ask` says which sums are taken.
pub(crate) fn meet_super_blocks(
    prepared: &Prepared,
    (first, queries): (usize, &Queries),
    second: Option<(usize, &Queries)>,
    ask: &Ask,
    driver: &Driver,
) -> Vec<Found> {
    let sweep = Sweep::new(prepared, Anchors::All, ask, driver);
    let split = queries.rows.len();
    let mut order = sweep.grouped(shuffled(&(0..split), first));
    if let Some((second, _)) = second {
        order.extend(sweep.grouped(shuffled(&(split..prepared.rows()), second)));
    }
    let packed = Packed::new(prepared, &order, As::Both, &Shortcut::None, driver);
    let sides: Vec<&Queries> = [Some(queries), second.map(|own| own.1)].into_iter().flatten().collect();
    let blocks = sweep.start_given(&packed, &Shortcut::None, &sides);
    sweep.expect_no_more(&blocks);
    let count = split.div_ceil(SIDE);
    let other = if second.is_some() {
        count..blocks.len()
    } else {
        0..count
    };
    sweep.meet_all(&packed, &blocks, 0..count, other.clone());
    let mut blocks: Vec<Block> = blocks.into_iter().map(|b| b.into_inner().expect(UNSHARED)).collect();
    let seconds = blocks.split_off(count);
    match second {
        None => vec![sweep.found(blocks, queries, None)],
        Some((_, others)) => vec![
            sweep.found(blocks, queries, Some(&others.rows)),
            sweep.found(seconds, others, Some(&queries.rows)),
        ],
    }
}

/// Lets queries meet the rows of the super-block of this number. Queries may be among them.
pub(crate) fn meet_super_block(
    prepared: &Prepared,
    queries: &Queries,
    (number, targets): (usize, &[u32]),
    ask: &Ask,
    driver: &Driver,
) -> Found {
    let sweep = Sweep::new(prepared, Anchors::Some(&queries.rows), ask, driver);
    let packed = Packed::new(prepared, &queries.rows, As::Queries, &Shortcut::None, driver);
    let blocks = sweep.start_given(&packed, &Shortcut::None, &[queries]);
    sweep.expect_no_more(&blocks);
    let order = shuffled(&(0..targets.len()), number);
    let order = order.into_iter().map(|place| targets[place as usize]).collect();
    sweep.meet_targets(&packed, &blocks, &sweep.grouped(order));
    let blocks = blocks.into_iter().map(|b| b.into_inner().expect(UNSHARED)).collect();
    sweep.found(blocks, queries, Some(targets))
}

/// The super-blocks of so many blocks.
fn blocks_of(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count)
        .step_by(PER_SUPER)
        .map(move |first| first..count.min(first + PER_SUPER))
}

/// All rows, a random sample of them first, and how many are in the sample.
fn sample_first(rows: usize) -> (Vec<u32>, usize) {
    let count = rows.min(WAVE * SIDE);
    let mut is_drawn = vec![false; rows];
    let drawn = random::permutation(rows, &mut random::stream(0, "block order", 0));
    let mut order = drawn[..count].to_vec();
    order.iter().for_each(|&i| is_drawn[i as usize] = true);
    order.extend((0..rows as u32).filter(|&i| !is_drawn[i as usize]));
    (order, count)
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

/// The exact `k` nearest rows of every row (row numbers and distances, `k` per row, nearest first; ties go
/// to the smaller row number; a row is never its own neighbor).
pub fn nearest_neighbors(space: &Space, k: usize, driver: &Driver) -> Result<(Vec<u32>, Vec<f64>)> {
    nearest(space, k, Anchors::All, driver)
}

/// The same of some rows, which ascend.
pub fn nearest_neighbors_of(space: &Space, k: usize, rows: &[u32], driver: &Driver) -> Result<(Vec<u32>, Vec<f64>)> {
    refuse_if(
        !rows.is_sorted_by(|a, b| a < b) || rows.last().is_some_and(|last| *last as usize >= space.rows()),
        || {
            format!(
                "the query rows of `{}` must ascend and be below {}",
                space.name(),
                space.rows()
            )
        },
    )?;
    nearest(space, k, Anchors::Some(rows), driver)
}

fn nearest(space: &Space, k: usize, anchors: Anchors, driver: &Driver) -> Result<(Vec<u32>, Vec<f64>)> {
    if k == 0 || k >= space.rows() {
        return Err(Error::KTooLarge {
            k,
            needed: k + 1,
            what: format!("`{}`", space.name()),
            rows: space.rows(),
        });
    }
    let ask = Ask { k, ..Ask::default() };
    let found = match space.elsewhere() {
        Some(matrix) => blocks::sweep(space, matrix, Preparation::Raw, anchors, &ask, driver)?,
        None => sweep(&Prepared::new(space, Preparation::Raw, driver)?, anchors, &ask, driver),
    };
    let found = found
        .neighbors
        .ok_or_else(|| Error::Internal("a sweep without its neighbors".to_string()))?;
    Ok((found.rows, found.distances))
}

#[cfg(test)]
mod tests;
