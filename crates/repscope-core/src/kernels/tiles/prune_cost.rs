// SPDX-License-Identifier: MIT
//! A look at a sample of micro-tiles: how many would go on to the next stage of a prefix, or from 8 bits to all, and how many pairs
//! would be followed up one by one. What these cost decides whether a prefix or 8 bits pay, and up to how many coordinates.
//!
//! Rows that stand together in cells are near each other where the data have structure, so that a micro-tile is mostly decided
//! as a whole; where they have none, almost every micro-tile holds a pair that is not. No share of single pairs distinguishes the two.

use super::prefix::{Prefix, STAGES};
use crate::kernels::coarse::Codes;
use crate::kernels::microkernel::{FEW, FEW_COARSE, Panels, QUERIES};
use crate::kernels::prepared::Prepared;
use crate::run::Driver;

/// Rows of the sample, in groups of a panel's width, and random rows from which each learns how near is near.
const ROWS: usize = 384;
const MET: usize = 1024;
/// How far candidates reach on average while a sweep goes on, in units of the rank that they reach at its end.
const LOOSENESS: f64 = 1.3;

/// What costs what, in units of one coordinate of one pair in a tile, as measured: a look at the limits, per pair; a pair
/// that is handed out, and each coordinate of it that is looked at by itself.
const COST_LOOK: f64 = 6.0;
const COST_FOUND: f64 = 100.0;
const COST_ALONE: f64 = 5.5;

/// The same of a row in 8 bits: a coordinate, and a look at the limits.
const COST_COARSE: f64 = 0.27;
const COST_COARSE_LOOK: f64 = 8.0;

/// A coordinate of a pair that 8 bits leave: measured in f64 from the data, or multiplied in f32 from rows that are kept for this.
pub(crate) const EXACT: f64 = 12.0;
pub(crate) const BY_ROW: f64 = 4.0;

/// What rows look for.
pub(super) struct Wanted<'a> {
    /// So many nearest rows.
    pub(super) k: usize,
    /// And those up to this squared distance of a row.
    pub(super) farthest: &'a (dyn Fn(u32) -> f64 + Sync),
}

/// Groups of rows that stand together, and up to which squared distance other rows matter to each row.
pub(super) struct Look {
    rows: Vec<u32>,
    width: usize,
    reach: Vec<f64>,
}

/// What a stage leaves: shares of all micro-tiles, or of all pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Left {
    /// Micro-tiles of which all pairs see the next stage.
    pub(super) tiles: f64,
    /// Pairs that are followed up one by one from here on.
    alone: f64,
    /// Pairs that were followed up by themselves in this stage.
    followed: f64,
    /// Pairs that are not decided.
    pairs: f64,
}

impl Look {
    /// Groups from all over an order in which near rows stand together; `shuffled` is a random order.
    pub(super) fn new(prepared: &Prepared, order: &[u32], shuffled: &[u32], wanted: &Wanted, driver: &Driver) -> Self {
        let width = Panels::targets_at_once().max(QUERIES);
        let groups = ROWS / width;
        let start = |group: usize| group * (order.len() / groups) / width * width;
        let rows: Vec<u32> = (0..groups)
            .flat_map(|group| &order[start(group)..][..width])
            .copied()
            .collect();
        let met = &shuffled[..MET.min(shuffled.len())];
        let share = met.len() as f64 / order.len() as f64;
        let rank = ((LOOSENESS * wanted.k as f64 * share).ceil() as usize).clamp(1, met.len());
        let reach = driver.map(groups, |group| {
            let reach_of = |&row: &u32| {
                let mut reach: f64 = (wanted.farthest)(row);
                if wanted.k > 0 {
                    let mut squared = prepared.squared_distances(row, met.iter().copied());
                    reach = reach.max(*squared.select_nth_unstable_by(rank - 1, f64::total_cmp).1);
                }
                reach
            };
            rows[group * width..][..width]
                .iter()
                .map(reach_of)
                .collect::<Vec<f64>>()
        });
        Look {
            width,
            reach: reach.concat(),
            rows,
        }
    }

    /// What each stage of a prefix would leave.
    pub(super) fn at(&self, prefix: &Prefix, prepared: &Prepared, driver: &Driver) -> Vec<Left> {
        let staged: Vec<Staged> = driver
            .map(self.rows.len() / self.width, |group| {
                let d = prepared.columns();
                let mut values = vec![0.0; self.width * d];
                let places = self.rows[group * self.width..].iter().zip(values.chunks_exact_mut(d));
                places.for_each(|(&i, row)| prepared.read(i as usize, row));
                let turned = prefix.turn(&values);
                let rows = values.chunks_exact(d).zip(turned.chunks_exact(prefix.width()));
                rows.map(|(row, turned)| Staged::new(prefix, row, turned))
                    .collect::<Vec<Staged>>()
            })
            .concat();
        let groups = self.rows.len() / self.width;
        let stages = prefix.stages().count();
        let mut left = vec![Left::default(); stages];
        let mut tiles = 0.0;
        for (a, b) in (0..groups).flat_map(|a| (0..a).map(move |b| (a, b))) {
            for first in (0..self.width + 1 - QUERIES).step_by(QUERIES) {
                tiles += 1.0;
                self.meet(a * self.width + first, b * self.width, &staged, &mut left);
            }
        }
        let pairs = tiles * (QUERIES * self.width) as f64;
        let share = |left: Left| Left {
            tiles: left.tiles / tiles,
            alone: left.alone / pairs,
            followed: left.followed / pairs,
            pairs: left.pairs / pairs,
        };
        left.into_iter().map(share).collect()
    }

    /// What a pair costs where rows meet in 8 bits first.
    pub(super) fn cost_of_coarse(&self, prepared: &Prepared, driver: &Driver) -> f64 {
        let d = prepared.columns();
        let groups = self.rows.len() / self.width;
        let rows: Vec<Codes> = driver
            .map(groups, |group| {
                let mut row = vec![0.0; d];
                let rows = self.rows[group * self.width..][..self.width].iter();
                rows.map(|&i| {
                    prepared.read(i as usize, &mut row);
                    Codes::of(&row)
                })
                .collect::<Vec<Codes>>()
            })
            .concat();
        let pairs: Vec<(usize, usize)> = (0..groups).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let found = driver.map(pairs.len(), |pair| {
            let (a, b) = pairs[pair];
            let (mut tiles, mut full, mut alone) = (0.0, 0.0, 0.0);
            for first in (0..self.width + 1 - QUERIES).step_by(QUERIES) {
                let queries = a * self.width + first..a * self.width + first + QUERIES;
                let targets = b * self.width..(b + 1) * self.width;
                let all = queries.flat_map(|q| targets.clone().map(move |t| (q, t)));
                let is_reached = |(q, t): &(usize, usize)| {
                    let squared_lengths = rows[*q].length().powi(2) + rows[*t].length().powi(2);
                    squared_lengths - 2.0 * rows[*q].most(&rows[*t]) <= self.reach[*q].max(self.reach[*t])
                };
                let reached = all.filter(is_reached).count();
                tiles += 1.0;
                if reached > FEW_COARSE as usize {
                    full += 1.0;
                } else {
                    alone += reached as f64;
                }
            }
            [tiles, full, alone]
        });
        let sum = |i: usize| found.iter().map(|found| found[i]).sum::<f64>();
        let (tiles, full, alone) = (sum(0), sum(1), sum(2));
        of_coarse(d, full / tiles, alone / (tiles * (QUERIES * self.width) as f64), EXACT)
    }

    /// A micro-tile goes through the stages.
    fn meet(&self, query: usize, target: usize, staged: &[Staged], left: &mut [Left]) {
        let pairs = (query..query + QUERIES).flat_map(|q| (target..target + self.width).map(move |t| (q, t)));
        // Each with the squared distance so far.
        let mut undecided: Vec<(usize, usize, f64)> = pairs.map(|(q, t)| (q, t, 0.0)).collect();
        let mut is_alone = false;
        for (stage, left) in left.iter_mut().enumerate() {
            if is_alone {
                left.followed += undecided.len() as f64;
            }
            undecided.retain_mut(|(q, t, squared)| {
                let (a, b) = (&staged[*q], &staged[*t]);
                *squared += a.squared(b, stage);
                *squared + (a.behind[stage] - b.behind[stage]).powi(2) <= self.reach[*q].max(self.reach[*t])
            });
            left.pairs += undecided.len() as f64;
            if !is_alone && undecided.len() <= FEW as usize {
                left.alone += undecided.len() as f64;
                is_alone = true;
            }
            left.tiles += f64::from(u8::from(!is_alone));
        }
    }
}

/// A row of the sample: its coordinates, and the length of what is behind each stage.
#[derive(Clone)]
struct Staged {
    turned: Vec<f64>,
    behind: Vec<f64>,
}

impl Staged {
    fn new(prefix: &Prefix, row: &[f64], turned: &[f64]) -> Self {
        let mut left: f64 = row.iter().map(|x| x * x).sum();
        let behind = prefix.stages().map(|stage| {
            left -= turned[stage].iter().map(|x| x * x).sum::<f64>();
            left.max(0.0).sqrt()
        });
        Staged {
            behind: behind.collect(),
            turned: turned.to_vec(),
        }
    }

    fn squared(&self, other: &Staged, stage: usize) -> f64 {
        let span = if stage == 0 { 0 } else { STAGES[stage - 1] }..STAGES[stage];
        let pairs = self.turned[span.clone()].iter().zip(&other.turned[span]);
        pairs.map(|(x, y)| (x - y).powi(2)).sum()
    }
}

/// What rows in 8 bits cost, for each pair, where this share of micro-tiles is multiplied in full and this share of pairs is looked at by
/// itself, at this cost of a coordinate.
pub(crate) fn of_coarse(columns: usize, full: f64, alone: f64, cost: f64) -> f64 {
    let d = columns as f64;
    COST_COARSE * d + COST_COARSE_LOOK + full * plain(columns) + alone * (COST_FOUND + cost * d)
}

/// What plain tiles cost, for each pair.
pub(crate) fn plain(columns: usize) -> f64 {
    columns as f64 + COST_LOOK
}

/// The least cost of a pair, and up to how many coordinates to look for it, if that is at least a tenth cheaper than plain tiles.
pub(super) fn cheapest(left: &[Left], rows: usize, columns: usize) -> Option<(f64, usize)> {
    let mut best = (0.9 * plain(columns), None);
    let (mut cost, mut width, mut tiles) = (0.0, 0, 1.0);
    for (stage, left) in STAGES.into_iter().zip(left) {
        let added = (stage - width) as f64;
        cost += tiles * (added + COST_LOOK) + left.followed * COST_ALONE * added + left.alone * COST_FOUND;
        (width, tiles) = (stage, left.tiles);
        // Turning a row costs twice in f64, and is shared by the pairs of the row.
        let turning = 4.0 * (columns * width) as f64 / rows as f64;
        let all = cost + turning + left.pairs * (COST_FOUND + COST_ALONE * columns as f64);
        if all < best.0 {
            best = (all, Some(width));
        }
    }
    best.1.map(|width| (best.0, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_chosen_where_it_decides_and_not_where_it_does_not() {
        let leaves = |tiles: f64, pairs: f64| Left {
            tiles,
            alone: pairs / 8.0,
            followed: pairs / 4.0,
            pairs,
        };
        // After 16, 32, … of 784 coordinates: about as on pictures, and for rows that are alike in all directions.
        let of_pictures: Vec<Left> = [0.2, 0.12, 0.09, 0.07, 0.04, 0.03, 0.02, 0.02]
            .map(|t| leaves(t, t / 4.0))
            .to_vec();
        assert!(cheapest(&of_pictures, 60_000, 784).is_some_and(|(_, width)| width >= 128));
        let alike = [leaves(1.0, 0.97); 8];
        assert_eq!(cheapest(&alike, 60_000, 784), None);
        // Few rows do not pay for turning them far.
        let width = |rows: usize| cheapest(&of_pictures, rows, 784).map(|(_, width)| width);
        assert!(width(3_000) < width(60_000));
        // Few pairs are left, but one in almost every micro-tile.
        let scattered = [leaves(0.99, 0.6), leaves(0.95, 0.06), leaves(0.2, 0.003)];
        assert_eq!(cheapest(&scattered, 60_000, 64), None);
    }
}
