// SPDX-License-Identifier: MIT
//! Every signal against every text: how a signal's own text stands among all texts, and how matched pairs stand among
//! mismatched ones.
//!
//! A task is a block of signals; it meets all texts and keeps counts only. Everything that is summed is an integer, so the
//! order of work changes nothing, and memory is O(N) for each of the few tasks that are under way.
//!
//! Small data are measured in f64. Beyond that products are f32, with the bound of `similarity`: whether a text is nearer to a
//! signal than its own is decided in f64 where f32 cannot tell. Where a mismatched pair stands among the matched ones, and its
//! bin, come from the f32 value. Texts with equal vectors have equal cosines with a signal, always.

mod counts;
mod rank_table;

use counts::Counts;
use rank_table::Places;

use super::microkernel::meet;
use super::similarity::{PackedTargets, Products, Way};
use super::unit_matrix::UnitMatrix;
use crate::run::Driver;

/// Up to this many coordinates over all pairs, all cosines are measured in f64.
const DIRECT: u64 = 1 << 32;
/// Bins from −1 to 1.
pub(crate) const BINS: usize = 200;
/// The fewest signals of a task, and the most tasks: each keeps counts for every text.
const FEWEST: usize = 48;
const TASKS: usize = 256;
/// Coordinates in f64 that stay in the cache while some signals meet them.
const CACHED: usize = 1 << 15;

/// What the signals found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matched {
    /// The cosine of each signal with its own text.
    pub(crate) own: Vec<f64>,
    /// For each signal, how many other texts are nearer than its own, and how many are as near.
    pub(crate) nearer: Vec<u32>,
    pub(crate) as_near: Vec<u32>,
    /// Mismatched pairs by their energy, in equal bins from −1 to 1.
    pub(crate) bins: Vec<u64>,
    /// The share of all (matched, mismatched) pairs of pairs in which the matched one has the larger cosine; ties count half.
    pub(crate) auc: f64,
    /// What each sample does to that share, as a matched pair, as a signal and as a text of mismatched ones.
    pub(crate) effects: Vec<f64>,
}

/// Whether all cosines of so many rows and columns are measured in f64.
pub(crate) fn is_direct(rows: usize, columns: usize) -> bool {
    (rows as u64).saturating_mul(rows as u64).saturating_mul(columns as u64) <= DIRECT
}

/// The cosine of a signal and a text; rounding does not take it out of its range.
pub(crate) fn cosine(products: &Products, i: usize, j: usize) -> f64 {
    products.exact(i, j).clamp(-1.0, 1.0)
}

/// The bin of an energy.
pub(crate) fn bin(energy: f64) -> usize {
    (((energy + 1.0) / 2.0 * BINS as f64) as usize).min(BINS - 1)
}

/// Lets every signal meet every text. There must be two of each at least.
pub(crate) fn meet_all(products: &Products, driver: &Driver) -> Matched {
    let is_direct = is_direct(products.query.space.rows(), products.query.space.columns());
    Meeting::new(products, is_direct, driver).run(driver)
}

struct Meeting<'a> {
    products: &'a Products<'a>,
    rows: Rows<'a>,
    own: Vec<f64>,
    places: Places,
}

/// The rows of both sides as they are multiplied.
enum Rows<'a> {
    Exact { signals: UnitMatrix, texts: UnitMatrix },
    Packed(PackedTargets<'a>),
}

impl<'a> Meeting<'a> {
    fn new(products: &'a Products<'a>, is_direct: bool, driver: &Driver) -> Self {
        let rows = if is_direct {
            Rows::Exact {
                signals: UnitMatrix::new(products.query, driver),
                texts: UnitMatrix::new(products.target, driver),
            }
        } else {
            Rows::Packed(PackedTargets::new(products, Way::There, driver))
        };
        let own = |i: usize| match &rows {
            Rows::Exact { signals, texts } => texts.cosine(signals.row(i), i),
            Rows::Packed(_) => cosine(products, i, i),
        };
        let own: Vec<f64> = (0..products.query.space.rows()).map(own).collect();
        Meeting {
            places: Places::new(&own),
            products,
            rows,
            own,
        }
    }

    fn run(self, driver: &Driver) -> Matched {
        let n = self.own.len();
        let at_once = n.div_ceil(TASKS).max(FEWEST);
        let tasks = n.div_ceil(at_once);
        driver.progress().begin("pairs", tasks as u64);
        let run = |task: usize| {
            let rows: Vec<usize> = (task * at_once..n.min((task + 1) * at_once)).collect();
            let counts = match &self.rows {
                Rows::Exact { signals, texts } => self.directly(&rows, signals, texts),
                Rows::Packed(packed) => self.by_panels(&rows, packed),
            };
            driver.progress().advance(1);
            counts
        };
        let counts = driver.fold(tasks, run, Counts::new(0, &self), Counts::with);
        self.finish(counts)
    }

    /// All cosines in f64, for as many texts at a time as stay in the cache.
    fn directly(&self, rows: &[usize], signals: &UnitMatrix, texts: &UnitMatrix) -> Counts {
        let mut counts = Counts::new(rows.len(), self);
        let n = self.own.len();
        let at_once = (CACHED / self.products.query.space.columns()).max(4);
        let mut cosines = vec![0.0; at_once.min(n)];
        for first in (0..n).step_by(at_once) {
            let cosines = &mut cosines[..at_once.min(n - first)];
            for (place, &i) in rows.iter().enumerate() {
                texts.cosines(signals.row(i), first, cosines);
                for (j, &cosine) in (first..).zip(&*cosines).filter(|(j, _)| *j != i) {
                    counts.see(place, j, cosine, &self.places);
                    counts.stand(place, self.own[i], cosine);
                }
            }
        }
        counts
    }

    /// Cosines in f32, and in f64 where a text is too near to the own one.
    fn by_panels(&self, rows: &[usize], texts: &PackedTargets) -> Counts {
        let mut counts = Counts::new(rows.len(), self);
        let numbers: Vec<u32> = rows.iter().map(|&i| i as u32).collect();
        let (signals, errors) = texts.queries(&numbers);
        let firsts = &self.products.target.firsts;
        // What adding up the part that all pairs share can lose beside the bound of the products.
        let lost = (self.products.query.space.columns() + 16) as f64 * f64::EPSILON;
        let limits = vec![f32::NEG_INFINITY; rows.len()];
        for block in &texts.blocks {
            let all = 0..block.panels.count();
            meet(&signals.panels, &block.panels, all, &limits, |place, t, value| {
                let (i, j) = (rows[place], block.rows[t] as usize);
                if i == j {
                    return;
                }
                let cosine = if firsts[i] == firsts[j] {
                    self.own[i]
                } else {
                    let near = f64::from(value) + texts.centring.shared;
                    if (near - self.own[i]).abs() > errors[place] + lost {
                        near.clamp(-1.0, 1.0)
                    } else {
                        self::cosine(self.products, i, j)
                    }
                };
                counts.see(place, j, cosine, &self.places);
                counts.stand(place, self.own[i], cosine);
            });
        }
        counts
    }

    fn finish(self, counts: Counts) -> Matched {
        let n = self.own.len() as f64;
        let (mismatched, all) = (n * (n - 1.0), 2.0 * n * n * (n - 1.0));
        let auc = counts.of_signals.iter().sum::<u64>() as f64 / all;
        let below = self.places.below(&counts.at);
        // Unbiased as a standard deviation is: each sample is one of n, and their mean is known.
        let weight = (n * (n - 1.0)).sqrt().recip();
        let effect = |i: usize| {
            let as_matched = below[self.places.of(self.own[i]).0] as f64 / (2.0 * mismatched);
            let as_signal = counts.of_signals[i] as f64 / (2.0 * mismatched);
            let as_text = counts.of_texts[i] as f64 / (2.0 * mismatched);
            weight * ((as_matched - auc) + (as_signal - auc) + (as_text - auc))
        };
        Matched {
            effects: (0..self.own.len()).map(effect).collect(),
            own: self.own,
            nearer: counts.nearer,
            as_near: counts.as_near,
            bins: counts.bins,
            auc,
        }
    }
}

#[cfg(test)]
mod tests;
