// SPDX-License-Identifier: MIT
//! Rows packed for the tiles: in panels, as queries and as targets.
//!
//! A packed query is (a, 1, −‖a‖²/2), a packed target (b, −‖b‖²/2, 1), so that their product is −‖a − b‖²/2: the nearer,
//! the larger. Under a [`Prefix`], a and b are the first coordinates and the length of all others, and −2 times the product
//! is a lower bound of the squared distance.

use std::ops::Range;

use super::SIDE;
use super::prefix::Prefix;
use super::rest::Rest;
use crate::passes::panels::Panels;
use crate::passes::prepared::Prepared;
use crate::run::Driver;

/// Which panels are packed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum As {
    Queries,
    Targets,
    Both,
}

/// Some rows of a space in panels.
pub(super) struct Packed {
    /// Which row stands at each position.
    pub(super) order: Vec<u32>,
    /// The squared length of each row.
    pub(super) squared_lengths: Vec<f64>,
    queries: Panels,
    targets: Panels,
    /// What a prefix leaves out.
    pub(super) rest: Option<Rest>,
}

impl Packed {
    /// Packs the rows named by `order`.
    pub(super) fn new(prepared: &Prepared, order: &[u32], side: As, prefix: Option<&Prefix>, driver: &Driver) -> Self {
        let n = order.len();
        let start = Packed::with_room(prepared, n, side, prefix);
        let mut packed = driver.fold(
            n.div_ceil(SIDE),
            |b| {
                let rows = &order[b * SIDE..n.min((b + 1) * SIDE)];
                let mut part = Packed::with_room(prepared, rows.len(), side, prefix);
                part.fill(prepared, rows, side, prefix);
                part
            },
            start,
            |mut all, part| {
                all.queries.append(&part.queries);
                all.targets.append(&part.targets);
                all.squared_lengths.extend(part.squared_lengths);
                if let (Some(all), Some(part)) = (&mut all.rest, part.rest) {
                    all.append(part);
                }
                all
            },
        );
        packed.order = order.to_vec();
        packed
    }

    fn with_room(prepared: &Prepared, rows: usize, side: As, prefix: Option<&Prefix>) -> Self {
        let columns = 2 + prefix.map_or(prepared.columns(), |prefix| prefix.first + 1);
        Packed {
            order: Vec::new(),
            squared_lengths: Vec::with_capacity(rows),
            queries: Panels::of_queries(columns, if side == As::Targets { 0 } else { rows }),
            targets: Panels::of_targets(columns, if side == As::Queries { 0 } else { rows }),
            rest: prefix.map(|prefix| Rest::with_room(prefix, rows)),
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
            match (prefix, &turned, &mut self.rest) {
                (Some(prefix), Some(turned), Some(rest)) => {
                    let turned = &turned[place * prefix.width()..(place + 1) * prefix.width()];
                    packed.extend_from_slice(&turned[..prefix.first]);
                    packed.push(rest.push(prefix, turned, row));
                }
                _ => packed.extend_from_slice(row),
            }
            let (length, last) = (-squared / 2.0, packed.len());
            packed.extend([1.0, length]);
            if side != As::Targets {
                self.queries.push(&packed);
            }
            packed.swap(last, last + 1);
            if side != As::Queries {
                self.targets.push(&packed);
            }
            self.squared_lengths.push(squared);
        }
    }

    pub(super) fn blocks(&self) -> usize {
        self.order.len().div_ceil(SIDE)
    }

    /// The positions of a block.
    pub(super) fn span(&self, block: usize) -> Range<usize> {
        block * SIDE..self.order.len().min((block + 1) * SIDE)
    }

    /// The panels of queries of a block.
    pub(super) fn queries(&self, block: usize) -> (&Panels, Range<usize>) {
        (&self.queries, self.queries.holding(self.span(block)))
    }

    /// The panels of targets of a block.
    pub(super) fn targets(&self, block: usize) -> (&Panels, Range<usize>) {
        (&self.targets, self.targets.holding(self.span(block)))
    }
}
