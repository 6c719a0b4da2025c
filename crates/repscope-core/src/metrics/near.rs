// SPDX-License-Identifier: MIT
//! Values of rows that follow from the distances to their nearest rows: rows that are near each other have much in common.

use crate::kernels::neighbors::Neighbors;
use crate::kernels::tiles::Anchors;
use crate::plan::Shared;
use crate::score::Interval;
use crate::stats::interval::{self, Units};

/// With how many of its nearest rows the value of a row goes together, at most. Neighbors farther away have less in common, and their
/// products add more noise than they explain: with 2 to 5 the standard errors of dimensions from 20 neighbors were nearest to the true
/// ones.
pub(super) const TOGETHER: usize = 2;
/// No row.
const NOBODY: u32 = u32::MAX;

/// The queries that have a value, and their nearest rows.
pub(super) struct Near {
    /// The query that each value belongs to.
    owners: Vec<u32>,
    /// The nearest rows of each of these queries; [`NOBODY`] where fewer are asked for.
    nearest: Vec<[u32; TOGETHER]>,
    /// How many queries there are.
    queries: usize,
}

impl Near {
    /// No value yet, for so many queries.
    pub(super) fn new(queries: usize) -> Self {
        Near {
            owners: Vec::with_capacity(queries),
            nearest: Vec::with_capacity(queries),
            queries,
        }
    }

    /// A query that has a value, which goes together with those of its `count` nearest rows.
    pub(super) fn add(&mut self, q: usize, neighbors: &Neighbors, count: usize) {
        self.owners.push(q as u32);
        let mut nearest = [NOBODY; TOGETHER];
        let rows = neighbors.of(q).iter().take(count);
        nearest.iter_mut().zip(rows).for_each(|(place, row)| *place = *row);
        self.nearest.push(nearest);
    }

    /// What a reader must know about the rows that were dropped, if any were, and which distance of theirs is 0.
    pub(super) fn note(&self, distance: &str) -> Option<String> {
        let (dropped, queries) = (self.queries - self.owners.len(), self.queries);
        (dropped > 0)
            .then(|| format!("{dropped} of {queries} rows dropped: they have a duplicate, so their {distance} is 0"))
    }

    /// The interval of a positive value that each of these queries moves by its effect.
    pub(super) fn interval(&self, value: f64, effects: &[f64], shared: &Shared) -> Option<Interval> {
        let center = interval::mean(effects);
        let mut of_queries = vec![0.0; self.queries];
        for (&query, effect) in self.owners.iter().zip(effects) {
            of_queries[query as usize] = effect - center;
        }
        let all: Vec<u32> = (0..self.queries as u32).collect();
        // Where all rows are queries, there are no anchors, or CLID searched itself.
        let (rows, units) = match shared.anchors() {
            Anchors::Some(rows) if rows.len() == self.queries => (rows, shared.units()),
            _ => (all.as_slice(), shared.row_units()),
        };
        let unit_of = match units {
            Units::Groups(codes, _) => codes,
            Units::Single(_) => &all,
        };
        let widening = match units {
            // Effects are deviations from a mean of so many.
            Units::Single(_) => (self.queries as f64 / (self.queries as f64 - 1.0)).sqrt(),
            Units::Groups(..) => 1.0,
        };
        let widening = widening * self.widening(&of_queries, rows, unit_of);
        let wider: Vec<f64> = of_queries.iter().map(|e| widening * e).collect();
        let interval = interval::from_rows(value, &wider, units, "influence", shared.spec.level)?;
        Some(interval.on_log_scale(value))
    }

    /// How much wider the interval is because values of neighbors go together: two rows that are each other's nearest
    /// have the same r1. With e the effects and E their sums by unit it is √(1 + 2 Σ e_i e_j / Σ E²), at least 1, over pairs
    /// of neighbors from different units.
    fn widening(&self, effects: &[f64], rows: &[u32], units: &[u32]) -> f64 {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (&query, nearest) in self.owners.iter().zip(&self.nearest) {
            let query = query as usize;
            let others = nearest.iter().filter_map(|row| rows.binary_search(row).ok());
            let apart = others.filter(|&other| units[other] != units[query]);
            pairs.extend(apart.map(|other| (query.min(other), query.max(other))));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let shared: f64 = pairs.iter().map(|&(a, b)| 2.0 * effects[a] * effects[b]).sum();
        let mut sums = vec![0.0; units.iter().max().map_or(0, |&last| last as usize + 1)];
        for (&unit, effect) in units.iter().zip(effects) {
            sums[unit as usize] += effect;
        }
        let squares: f64 = sums.iter().map(|s| s * s).sum();
        if squares > 0.0 {
            (1.0 + shared / squares).max(1.0).sqrt()
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_widen_the_interval_by_what_they_share() {
        // Rows 0 and 1 are each other's neighbors and move the value alike; row 2 has a neighbor that is no query.
        let near = Near {
            owners: vec![0, 1, 2],
            nearest: vec![[1, 9], [0, 9], [9, 8]],
            queries: 3,
        };
        // (1 + 1 + 4 + 2·1) / (1 + 1 + 4)
        assert_eq!(
            near.widening(&[1.0, 1.0, -2.0], &[0, 1, 2], &[0, 1, 2]),
            (8.0f64 / 6.0).sqrt()
        );
        // In one episode they are one unit already.
        assert_eq!(near.widening(&[1.0, 1.0, -2.0], &[0, 1, 2], &[0, 0, 1]), 1.0);
    }
}
