// SPDX-License-Identifier: MIT
//! Rows packed for the tiles: in panels, as queries and as targets.
//!
//! A packed query is (a, 1, −‖a‖²/2), a packed target (b, −‖b‖²/2, 1), so that their product is −‖a − b‖²/2: the nearer,
//! the larger. Under a [`Prefix`], the coordinates are turned and come in stages, each of which ends with the length of all
//! that is behind it, so that −2 times the product is a lower bound of the squared distance; 1 and −‖a‖²/2 are in the first.

use super::SIDE;
use super::prefix::{Prefix, STAGES};
use super::refine::Rest;
use super::shortcut::Shortcut;
use crate::kernels::coarse::{CoarseQueries, CoarseTargets, Codes, Kind};
use crate::kernels::microkernel::Panels;
use crate::kernels::prepared::Prepared;
use crate::run::Driver;

/// Which panels are packed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum As {
    Queries,
    Targets,
    Both,
}

/// Some rows of a space in panels, block by block.
pub(super) struct Packed {
    /// Which row stands at each position.
    pub(super) order: Vec<u32>,
    pub(super) blocks: Vec<PackedBlock>,
    /// Where the stages of a prefix end, counted in packed coordinates.
    pub(super) stages: Vec<usize>,
}

/// The rows of a block.
pub(super) struct PackedBlock {
    /// The squared length of each row.
    pub(super) squared_lengths: Vec<f64>,
    pub(super) queries: Panels,
    pub(super) targets: Panels,
    /// Row by row, where a prefix may leave pairs undecided.
    pub(super) rest: Option<Rest>,
    /// The rows in 8 bits, where these shall meet first.
    pub(super) coarse: Option<(CoarseQueries, CoarseTargets)>,
}

impl Packed {
    /// Packs the rows named by `order`.
    pub(super) fn new(prepared: &Prepared, order: &[u32], side: As, shortcut: &Shortcut, driver: &Driver) -> Self {
        let n = order.len();
        Packed {
            order: order.to_vec(),
            blocks: driver.map(n.div_ceil(SIDE), |b| {
                let rows = &order[b * SIDE..n.min((b + 1) * SIDE)];
                let mut block = PackedBlock::with_room(prepared, rows.len(), side, shortcut);
                block.fill(prepared, rows, side, shortcut.prefix());
                block
            }),
            stages: shortcut.prefix().map_or_else(Vec::new, |prefix| {
                let ends = prefix.stages().enumerate();
                ends.map(|(stage, coordinates)| coordinates.end + 2 + stage + 1)
                    .collect()
            }),
        }
    }

    /// The rows of a block.
    pub(super) fn rows(&self, block: usize) -> &[u32] {
        &self.order[block * SIDE..self.order.len().min((block + 1) * SIDE)]
    }
}

impl PackedBlock {
    fn with_room(prepared: &Prepared, rows: usize, side: As, shortcut: &Shortcut) -> Self {
        let prefix = shortcut.prefix();
        let coarse = |kind: Kind| {
            let columns = prepared.columns();
            (
                CoarseQueries::with_room(columns, if side == As::Targets { 0 } else { rows }),
                CoarseTargets::with_room(kind, columns, if side == As::Queries { 0 } else { rows }),
            )
        };
        let columns = 2 + prefix.map_or(prepared.columns(), |prefix| prefix.width() + prefix.stages().count());
        PackedBlock {
            squared_lengths: Vec::with_capacity(rows),
            queries: Panels::of_queries(columns, if side == As::Targets { 0 } else { rows }),
            targets: Panels::of_targets(columns, if side == As::Queries { 0 } else { rows }),
            rest: prefix.map(|prefix| Rest::with_room(prefix, rows)),
            coarse: shortcut.coarse().map(coarse),
        }
    }

    fn fill(&mut self, prepared: &Prepared, rows: &[u32], side: As, prefix: Option<&Prefix>) {
        let d = prepared.columns();
        let mut values = vec![0.0; rows.len() * d];
        for (row, values) in rows.iter().zip(values.chunks_exact_mut(d)) {
            prepared.read(*row as usize, values);
        }
        let turned = prefix.map(|prefix| prefix.turn(&values));
        let mut packed = Vec::new();
        for (place, row) in values.chunks_exact(d).enumerate() {
            let squared: f64 = row.iter().map(|&x| f64::from(x as f32).powi(2)).sum();
            packed.clear();
            let lengths = match (prefix, &turned, &mut self.rest) {
                (Some(prefix), Some(turned), Some(rest)) => {
                    let turned = &turned[place * prefix.width()..(place + 1) * prefix.width()];
                    let behind = rest.push(prefix, turned, row);
                    for (coordinates, behind) in prefix.stages().zip(behind) {
                        packed.extend_from_slice(&turned[coordinates.clone()]);
                        if coordinates.start == 0 {
                            packed.extend([1.0, -squared / 2.0]);
                        }
                        packed.push(behind);
                    }
                    STAGES[0]
                }
                _ => {
                    packed.extend_from_slice(row);
                    packed.extend([1.0, -squared / 2.0]);
                    d
                }
            };
            if side != As::Targets {
                self.queries.push(&packed);
            }
            packed.swap(lengths, lengths + 1);
            if side != As::Queries {
                self.targets.push(&packed);
            }
            self.squared_lengths.push(squared);
            if let Some((queries, targets)) = &mut self.coarse {
                // Distances of f32 are off by so much at most, and so is all that is rounded here.
                let codes = Codes::of(row);
                if side != As::Targets {
                    queries.push(&codes, prepared.error_bound(squared) - squared / 2.0);
                }
                if side != As::Queries {
                    targets.push(&codes, -squared / 2.0);
                }
            }
        }
    }
}
