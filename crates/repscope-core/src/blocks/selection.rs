// SPDX-License-Identifier: MIT
//! Neighbors and ranks where all rows are queries and no sums are taken: blocks of several super-blocks meet.
//!
//! No sum depends on how rows are cut here, so blocks are as large as the memory of a task allows, which reads and packs a row fewer
//! times. First each block meets itself. Then pairs of blocks meet, those next to each other in a circle first, then those up to twice as
//! far, and so on: after each round the k nearest rows known so far bound what the next one looks at, so that few candidates come
//! back from any task.

use std::ops::Range;

use super::bytes::{Reader, Writer};
use super::frames::{read_frame, write_frame};
use super::pairs::{Merged, one_block, write_found};
use super::{Elsewhere, Given, Job, Kernel, Plan, SUPER_BLOCK};
use crate::error::{Error, Result};
use crate::kernels::prepared::{Frame, Preparation, Prepared};
use crate::kernels::ranks::Thresholds;
use crate::kernels::tiles::{Ask, Queries, Shortcut, Side, meet_between, meet_within};
use crate::run::Driver;

/// Where there are that many super-blocks, there are at least so many blocks.
const FEWEST: usize = 6;
/// Numbers of a block and of what its queries hold, about.
const MOST: usize = 1 << 24;

/// The blocks of a matrix for queries that each hold so many neighbors and thresholds: cut by shape alone.
pub(super) fn blocks(rows: usize, columns: usize, held: usize) -> Vec<Range<usize>> {
    let wanted = rows.div_ceil(SUPER_BLOCK).div_ceil(FEWEST);
    let most = MOST / (columns + 4 * held + 128) / SUPER_BLOCK;
    let size = wanted.min(most).max(1) * SUPER_BLOCK;
    (0..rows.div_ceil(size))
        .map(|b| b * size..rows.min((b + 1) * size))
        .collect()
}

/// Pairs of blocks by how far they are apart in a circle: next to each other, then up to three, seven, … steps.
fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    let mut rounds = vec![Vec::new(); (count / 2 + 1).next_power_of_two().ilog2() as usize];
    for i in 0..count {
        for j in i + 1..count {
            rounds[(j - i).min(count - (j - i)).ilog2() as usize].push((i, j));
        }
    }
    rounds.retain(|round| !round.is_empty());
    rounds
}

/// A shortcut by its numbers.
type Taken = (usize, Vec<f64>);

/// What rows look for.
struct Selection<'a> {
    matrix: &'a Elsewhere,
    frame: &'a Frame,
    preparation: Preparation,
    ask: &'a Ask<'a>,
    /// For each ranking the exact squared distances of its thresholds.
    thresholds: &'a [Vec<f64>],
    blocks: Vec<Range<usize>>,
}

/// The neighbors of all rows, and their ranks; `merged` takes what each task finds.
pub(super) fn select(
    matrix: &Elsewhere,
    (frame, preparation): (&Frame, Preparation),
    ask: &Ask,
    thresholds: &[Vec<f64>],
    merged: &mut Merged,
    driver: &Driver,
) -> Result<()> {
    let held = ask.k + ask.ranks_of.iter().map(|others| others.k).sum::<usize>();
    let selection = Selection {
        matrix,
        frame,
        preparation,
        ask,
        thresholds,
        blocks: blocks(matrix.rows, matrix.columns, held),
    };
    let (orders, shortcut) = selection.within(merged, driver)?;
    let mut rounds = rounds(selection.blocks.len());
    if ask.k == 0 {
        // Thresholds are known, so no round learns from another.
        rounds = vec![rounds.concat()];
    }
    for round in rounds.into_iter().filter(|round| !round.is_empty()) {
        selection.between(&round, &orders, &shortcut, merged, driver)?;
    }
    Ok(())
}

impl Selection<'_> {
    fn shared(&self) -> Writer {
        let mut shared = Writer::default();
        write_frame(self.frame, self.preparation, &mut shared);
        shared.size(self.ask.k);
        shared.size(self.ask.ranks_of.len());
        shared
    }

    /// Which rows a block has, and what they count rows before.
    fn part(&self, block: &Range<usize>) -> Writer {
        let mut part = Writer::default();
        part.size(block.start);
        for (others, distances) in self.ask.ranks_of.iter().zip(self.thresholds) {
            let span = block.start * others.k..block.end * others.k;
            part.size(others.k);
            part.floats(&distances[span.clone()]);
            part.words(&others.rows[span]);
        }
        part
    }

    /// Each block meets itself. Returns their orders, and the shortcut of the first.
    fn within(&self, merged: &mut Merged, driver: &Driver) -> Result<(Vec<Vec<u32>>, Taken)> {
        let (mut orders, mut shortcut) = (Vec::new(), (0, Vec::new()));
        let job = |(b, block): (usize, &Range<usize>)| {
            let mut body = Writer::default();
            body.truth(b == 0);
            Job {
                reads: vec![self.matrix.span(block.clone())],
                parts: vec![b],
                body,
                cost: (block.len() * block.len() * self.matrix.columns) as f64 / 2.0,
            }
        };
        let plan = Plan {
            parts: self.blocks.iter().map(|block| self.part(block)).collect(),
            ..Plan::new(
                "pairs within blocks",
                Kernel::Within,
                self.shared(),
                self.blocks.iter().enumerate().map(job).collect(),
            )
        };
        self.matrix.run(plan, driver, &mut |b, partial| {
            merged.take(&self.blocks[b], self.ask, 0, partial)?;
            orders.push(partial.words()?);
            if b == 0 {
                shortcut = (partial.size()?, partial.floats()?);
            }
            Ok(())
        })?;
        Ok((orders, shortcut))
    }

    /// Some pairs of blocks meet.
    fn between(
        &self,
        pairs: &[(usize, usize)],
        orders: &[Vec<u32>],
        shortcut: &Taken,
        merged: &mut Merged,
        driver: &Driver,
    ) -> Result<()> {
        let mut shared = self.shared();
        shared.size(shortcut.0);
        shared.floats(&shortcut.1);
        let part = |(block, order): (&Range<usize>, &Vec<u32>)| {
            let mut part = self.part(block);
            part.words(order);
            part.floats(&merged.bounds(block, self.ask.k));
            part
        };
        let job = |(i, j): &(usize, usize)| {
            let [first, second] = [&self.blocks[*i], &self.blocks[*j]];
            Job {
                reads: vec![self.matrix.span(first.clone()), self.matrix.span(second.clone())],
                parts: vec![*i, *j],
                body: Writer::default(),
                cost: (first.len() * second.len() * self.matrix.columns) as f64,
            }
        };
        let plan = Plan {
            parts: self.blocks.iter().zip(orders).map(part).collect(),
            ..Plan::new(
                "pairs of blocks",
                Kernel::Between,
                shared,
                pairs.iter().map(job).collect(),
            )
        };
        self.matrix.run(plan, driver, &mut |number, partial| {
            for block in [pairs[number].0, pairs[number].1] {
                merged.take(&self.blocks[block], self.ask, 0, partial)?;
            }
            Ok(())
        })
    }
}

/// Rows of a block as a task has them.
struct Own {
    start: usize,
    thresholds: Vec<(usize, Vec<f64>, Vec<u32>)>,
}

impl Own {
    fn read(rankings: usize, from: &mut Reader) -> Result<Self> {
        let start = from.size()?;
        let one = |_| Ok((from.size()?, from.floats()?, from.words()?));
        Ok(Own {
            start,
            thresholds: (0..rankings).map(one).collect::<Result<_>>()?,
        })
    }

    /// Queries at these places, where `place` is that of a row, or of the next one.
    fn queries(&self, places: Range<usize>, k: usize, place: impl Fn(u32) -> u32) -> Result<Queries> {
        let count = places.len();
        let one = |(k, squared, rows): &(usize, Vec<f64>, Vec<u32>)| {
            if squared.len() != count * k || rows.len() != squared.len() {
                return Err(one_block());
            }
            let rows = rows.iter().map(|row| place(*row));
            Ok(Thresholds {
                k: *k,
                exact: squared.iter().copied().zip(rows).collect(),
            })
        };
        Ok(Queries {
            rows: (places.start as u32..places.end as u32).collect(),
            k,
            thresholds: self.thresholds.iter().map(one).collect::<Result<_>>()?,
        })
    }
}

pub(super) fn run_within(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let (frame, preparation) = read_frame(&mut given.shared)?;
    let (k, rankings) = (given.shared.size()?, given.shared.size()?);
    let tells = given.body.truth()?;
    let [part] = &mut given.parts[..] else {
        return Err(one_block());
    };
    let own = Own::read(rankings, part)?;
    let (start, count) = (own.start as u32, space.rows());
    let place = |row: u32| row.saturating_sub(start).min(count as u32);
    let queries = own.queries(0..count, k.min(count - 1), place)?;
    let prepared = Prepared::within(space, preparation, &frame)?;
    let (found, order, shortcut) = meet_within(&prepared, &queries, given.driver);
    let mut partial = Writer::default();
    write_found(&found, k > 0, |place| start + place, &mut partial);
    partial.words(&order);
    if tells {
        let (kind, numbers) = shortcut.parts();
        partial.size(kind);
        partial.floats(&numbers);
    }
    Ok(partial)
}

pub(super) fn run_between(mut given: Given) -> Result<Writer> {
    let [first, second] = given.spaces()?;
    let (frame, preparation) = read_frame(&mut given.shared)?;
    let (k, rankings) = (given.shared.size()?, given.shared.size()?);
    let (kind, numbers) = (given.shared.size()?, given.shared.floats()?);
    let shortcut = Shortcut::of_parts(kind, numbers, frame.mean.len());
    let [part, other] = &mut given.parts[..] else {
        return Err(one_block());
    };
    let owns = [Own::read(rankings, part)?, Own::read(rankings, other)?];
    let (split, all) = (first.rows(), first.rows() + second.rows());
    let place = |row: u32| match (row as usize).checked_sub(owns[1].start) {
        Some(behind) => (split + behind).min(all) as u32,
        None => (row as usize).saturating_sub(owns[0].start).min(split) as u32,
    };
    let side = |own: &Own, places: Range<usize>, part: &mut Reader| -> Result<Side> {
        let (order, bounds) = (part.words()?, part.floats()?);
        let known = [0, places.len()];
        if order.len() != places.len() || !known.contains(&bounds.len()) {
            return Err(Error::input(
                "a task is of another version; use the same version everywhere",
            ));
        }
        let start = places.start as u32;
        Ok(Side {
            order: order.iter().map(|row| start + row).collect(),
            queries: own.queries(places.clone(), k.min(all - places.len()), place)?,
            bounds,
        })
    };
    let sides = [side(&owns[0], 0..split, part)?, side(&owns[1], split..all, other)?];
    let space = first.below(second)?;
    let prepared = Prepared::within(&space, preparation, &frame)?;
    let found = meet_between(&prepared, [&sides[0], &sides[1]], &shortcut, given.driver);
    let mut partial = Writer::default();
    let row = |place: u32| match (place as usize).checked_sub(split) {
        Some(behind) => (owns[1].start + behind) as u32,
        None => (owns[0].start + place as usize) as u32,
    };
    for found in &found {
        write_found(found, k > 0, row, &mut partial);
    }
    Ok(partial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_super_blocks_and_bounded() {
        let sizes = |rows, columns, held| blocks(rows, columns, held)[0].len() / SUPER_BLOCK;
        assert_eq!(blocks(200_000, 64, 2).len(), 6);
        assert_eq!(sizes(200_000, 64, 2), 2);
        assert_eq!(sizes(20_000_000, 64, 10), 3);
        assert_eq!(sizes(20_000_000, 4096, 10), 1);
        let all = blocks(20_000_000, 64, 10);
        assert!(all.windows(2).all(|two| two[0].end == two[1].start) && all[all.len() - 1].end == 20_000_000);
    }

    #[test]
    fn each_pair_of_blocks_meets_once_and_near_ones_first() {
        for count in 0..20 {
            let rounds = rounds(count);
            let mut pairs = rounds.concat();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), count * count.saturating_sub(1) / 2, "{count}");
            assert_eq!(pairs.len(), rounds.iter().map(Vec::len).sum::<usize>());
            assert!(count < 3 || rounds[0].len() == count, "{count}");
        }
    }
}
