// SPDX-License-Identifier: MIT
//! Neighbors and ranks of a matrix whose blocks of rows are apart: what makes one sweep cheap, block by block.
//!
//! First each block meets itself, as all rows do on one machine: in cells, with the shortcut that suits it. The order of its cells and
//! the distances of the nearest rows known so far then go along wherever it meets another block, and so does a shortcut. A pair of
//! blocks begins with a reach that decides almost all pairs, and packs rows without looking for anything again.
//!
//! None of this reaches a result: an order and a shortcut change the time alone, and a bound leaves out what cannot be among the nearest.

use std::sync::Mutex;

use super::cells::Cells;
use super::packed::{As, Packed};
use super::prune_cost::Wanted;
use super::shortcut::Shortcut;
use super::tile::Block;
use super::{Anchors, Ask, Found, Queries, Sweep, UNSHARED, shuffled};
use crate::kernels::prepared::Prepared;
use crate::run::Driver;

/// A block of rows that meets another one.
pub(crate) struct Side {
    /// Its rows, which all ask.
    pub(crate) queries: Queries,
    /// The same rows in the order in which they are packed.
    pub(crate) order: Vec<u32>,
    /// For each query the exact squared distance beyond which rows do not matter; empty where no neighbors are looked for.
    pub(crate) bounds: Vec<f64>,
}

/// Lets all rows meet each other. Returns what they found, their order, and the shortcut that was taken.
pub(crate) fn meet_within(prepared: &Prepared, queries: &Queries, driver: &Driver) -> (Found, Vec<u32>, Shortcut) {
    let ask = Ask::default();
    let sweep = Sweep::new(prepared, Anchors::All, &ask, driver);
    let random = shuffled(&(0..prepared.rows()), 0);
    let cells = sweep.pays_cells().then(|| Cells::new(prepared, &random, driver));
    let farthest = |row: u32| {
        let own = queries.rows.binary_search(&row).unwrap_or(0);
        let all = queries.thresholds.iter();
        let of_row = all.flat_map(|all| &all.exact[own * all.k..][..all.k]);
        of_row.map(|own| own.0).fold(0.0, f64::max)
    };
    let wanted = Wanted {
        k: queries.k,
        farthest: &farthest,
    };
    let shortcut = cells.as_ref().map_or(Shortcut::None, |cells| {
        Shortcut::choose(prepared, &cells.order, &random, &wanted, driver)
    });
    let order = match &cells {
        Some(cells) => cells.order.clone(),
        None => sweep.grouped(random.clone()),
    };
    let blocks = taken_out(sweep.tournament(random, &shortcut, cells.as_ref(), Some(queries)));
    (sweep.found(blocks, queries, None), order, shortcut)
}

/// Lets each row of one block meet each row of another. Returns what those of the first found, and those of the second.
pub(crate) fn meet_between(prepared: &Prepared, sides: [&Side; 2], shortcut: &Shortcut, driver: &Driver) -> [Found; 2] {
    let ask = Ask::default();
    let sweep = Sweep::new(prepared, Anchors::All, &ask, driver);
    let packed = [As::Queries, As::Targets].map(|how| {
        let side = sides[usize::from(how == As::Targets)];
        Packed::new(prepared, &side.order, how, shortcut, driver)
    });
    let blocks = [0, 1].map(|s| {
        let blocks = sweep.start_given(&packed[s], shortcut, &[&sides[s].queries]);
        sweep.expect_no_more(&blocks);
        driver.map(blocks.len(), |b| sides[s].bound(&mut blocks[b].lock().expect(UNSHARED)));
        blocks
    });
    let [first, second] = [blocks[0].len(), blocks[1].len()];
    // Within a round no block appears twice.
    let circle = first.max(second);
    for shift in 0..circle {
        let pairs = (0..first).map(|i| (i, (i + shift) % circle));
        let pairs: Vec<(usize, usize)> = pairs.filter(|(_, j)| *j < second).collect();
        driver.map(pairs.len(), |p| {
            let (i, j) = pairs[p];
            let mut rows = blocks[0][i].lock().expect(UNSHARED);
            let mut columns = blocks[1][j].lock().expect(UNSHARED);
            sweep.tile::<true>(&packed[0], i, &mut rows, &packed[1], j, Some(&mut columns));
        });
    }
    let [of_first, of_second] = blocks.map(taken_out);
    [
        sweep.found(of_first, &sides[0].queries, Some(&sides[1].queries.rows)),
        sweep.found(of_second, &sides[1].queries, Some(&sides[0].queries.rows)),
    ]
}

fn taken_out(blocks: Vec<Mutex<Block>>) -> Vec<Block> {
    blocks.into_iter().map(|b| b.into_inner().expect(UNSHARED)).collect()
}

impl Side {
    /// Tells some of the queries what they need not look at.
    fn bound(&self, block: &mut Block) {
        if self.bounds.is_empty() {
            return;
        }
        let place = |row: &u32| self.queries.rows.binary_search(row).expect("a row of this side");
        block.start_within(block.rows.iter().map(|row| self.bounds[place(row)]).collect());
    }
}
