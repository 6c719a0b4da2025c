// SPDX-License-Identifier: MIT
//! Less work, exactly: most pairs are too far apart to matter, and a few coordinates show it.
//!
//! Rows are turned so that their first coordinates hold most of the variance (the principal axes of a sample; distances
//! do not change). With a and b the first p coordinates of two rows and r, s the lengths of what is behind them, the
//! triangle inequality gives ‖a − b‖² + (r − s)² ≤ d². This is the squared distance of (a, r) and (b, s): the same tiles,
//! with p + 1 coordinates in place of D, decide which pairs may matter. They look at 16 coordinates first, and at more, stage by
//! stage, where those left pairs undecided. What is undecided after the last stage is measured with all coordinates. What is
//! reported is the same to the last bit.
//!
//! **Rounding.** The axes Q are orthonormal up to δ = ‖QᵀQ − 1‖, and all of this is done in f64 before it is rounded to f32, so
//! lengths behind a prefix are off by at most η times the row's length, with η² = (8D + 64)·2⁻⁵³ + 4δ. That moves the bound by at
//! most 4η(‖a‖² + ‖b‖²). The lengths of the rows are added behind the first stage, so each of the p + 8 sums after it rounds
//! something of at most ‖a‖² + ‖b‖². [`Prefix::error_bound`] is more than all of this.
//!
//! Whether this pays, and up to how many coordinates, is decided by a [look](super::prune_cost) at a sample of micro-tiles.

use std::ops::Range;

use super::axes::Axes;
use super::prune_cost::{Look, cheapest};
use crate::kernels::prepared::Prepared;
use crate::run::Driver;

/// How many coordinates have been looked at after each stage. The first, which all pairs see, is short.
pub(super) const STAGES: [usize; 8] = [16, 32, 48, 64, 128, 192, 256, 320];
/// Axes for a rough look.
const ROUGH: usize = 64;
/// Fewest and most rows that the axes are found from.
const ROWS: (usize, usize) = (512, 2048);
/// Where this share of the micro-tiles is undecided after a rough look, nothing is gained.
const HOPELESS: f64 = 0.5;

/// Axes, along which rows are looked at in stages.
pub(crate) struct Prefix {
    axes: Axes,
}

impl Prefix {
    /// The prefix that makes a sweep over all pairs cheapest, and what it costs; none where plain tiles are as good.
    pub(super) fn choose(prepared: &Prepared, shuffled: &[u32], look: &Look, driver: &Driver) -> Option<(f64, Prefix)> {
        let (n, d) = (shuffled.len(), prepared.columns());
        let rows = (n / 16).clamp(ROWS.0, ROWS.1).min(n);
        let fits = |stage: &&usize| **stage <= widest(d).min(rows);
        let width = *STAGES.iter().rfind(fits)?;
        // A rough look first: where directions are alike, finding many of them would cost more than a twentieth of the sweep.
        let rough = Prefix::of_sample(prepared, &shuffled[..ROWS.0.min(n)], ROUGH.min(width), driver);
        if look.at(&rough, prepared, driver).last()?.tiles > HOPELESS {
            return None;
        }
        let mut prefix = Prefix::of_sample(prepared, &shuffled[..rows], width, driver);
        let left = look.at(&prefix, prepared, driver);
        let (cost, width) = cheapest(&left, n, d)?;
        prefix.keep(width);
        Some((cost, prefix))
    }

    /// So many axes of some rows.
    pub(super) fn of_sample(prepared: &Prepared, rows: &[u32], width: usize, driver: &Driver) -> Prefix {
        Prefix {
            axes: Axes::of_sample(prepared, rows, width, driver),
        }
    }

    /// The axes and their skew as numbers.
    pub(super) fn numbers(&self) -> Vec<f64> {
        self.axes.numbers()
    }

    /// The axes of these numbers, if they fit the stages.
    pub(super) fn of_numbers(numbers: Vec<f64>, columns: usize) -> Option<Prefix> {
        let axes = Axes::of_numbers(numbers, columns)?;
        STAGES.contains(&axes.width).then_some(Prefix { axes })
    }

    /// Only so many axes.
    pub(super) fn keep(&mut self, width: usize) {
        self.axes.truncate(width);
    }

    /// Which coordinates each stage adds.
    pub(super) fn stages(&self) -> impl Iterator<Item = Range<usize>> {
        let width = self.axes.width;
        let starts = std::iter::once(0).chain(STAGES);
        starts
            .zip(STAGES)
            .take_while(move |(_, end)| *end <= width)
            .map(|(start, end)| start..end)
    }

    /// The coordinates of some rows along the axes, row by row.
    pub(super) fn turn(&self, rows: &[f64]) -> Vec<f64> {
        self.axes.turn(rows)
    }

    /// The columns of the space.
    pub(super) fn columns(&self) -> usize {
        self.axes.columns
    }

    /// All axes.
    pub(super) fn width(&self) -> usize {
        self.axes.width
    }

    /// How far the f32 bound of a row of this squared length and any row can be above their squared distance.
    pub(super) fn error_bound(&self, prepared: &Prepared, squared_length: f64) -> f64 {
        let loss = ((8 * self.axes.columns + 64) as f64 * f64::EPSILON / 2.0 + 4.0 * self.axes.skew).sqrt();
        let products = prepared.error_of_products(squared_length, self.axes.width + 8);
        let lengths = squared_length + prepared.longest_squared();
        products + (4.0 * loss + (self.axes.width + 16) as f64 * f64::from(f32::EPSILON)) * lengths
    }
}

/// The most coordinates that stages look at: with more, a pair could as well be measured.
fn widest(columns: usize) -> usize {
    (columns - columns / 4).min(STAGES[STAGES.len() - 1])
}

/// How many numbers a row takes at most that is packed in stages: in two kinds of panels, and row by row.
pub(super) fn most_packed(columns: u64) -> u64 {
    3 * (widest(columns as usize) + STAGES.len() + 2) as u64 + columns
}
