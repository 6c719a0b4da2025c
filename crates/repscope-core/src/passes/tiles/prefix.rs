// SPDX-License-Identifier: MIT
//! Less work, exactly: most pairs are too far apart to matter, and a few coordinates show it.
//!
//! Rows are turned so that their first coordinates hold most of the variance (the principal axes of a sample; distances
//! do not change). With a and b the first p coordinates of two rows and r, s the lengths of what is behind them, the
//! triangle inequality gives ‖a − b‖² + (r − s)² ≤ d². This is the squared distance of (a, r) and (b, s): the same tiles,
//! with p + 1 coordinates in place of D, tell which pairs may matter. They look at 16 coordinates first, and at more, stage by
//! stage, where those left pairs undecided. What is undecided after the last stage is measured with all coordinates. What is
//! reported is the same to the last bit.
//!
//! **Rounding.** The axes Q are orthonormal up to δ = ‖QᵀQ − 1‖, and all of this is done in f64 before it is rounded to f32, so
//! lengths behind a prefix are off by at most η times the row's length, with η² = (8D + 64)·2⁻⁵³ + 4δ. That moves the bound by at
//! most 4η(‖a‖² + ‖b‖²). The lengths of the rows are added behind the first stage, so each of the p + 8 sums after it rounds
//! something of at most ‖a‖² + ‖b‖². [`Prefix::error_bound`] is more than all of this.
//!
//! Whether this pays, and up to how many coordinates, is told by counting, for a sample of pairs, how many remain after
//! each number of coordinates. Where it does not pay (isotropic data), the plain tiles are used.

use std::ops::Range;

use super::axes::Axes;
use super::{Anchors, Ask};
use crate::passes::prepared::Prepared;
use crate::run::Driver;

/// How many coordinates have been looked at after each stage. The first, which all pairs see, is short.
pub(super) const STAGES: [usize; 8] = [16, 32, 48, 64, 128, 192, 256, 320];
/// Lengths of prefixes that are counted on a sample are a multiple of this.
const GRAIN: usize = 16;
/// Below this many coordinates over all pairs (a fraction of a second), nothing is gained.
const LEAST: u64 = 1 << 34;
/// Axes for a rough look.
const ROUGH: usize = 64;
/// Fewest and most rows that the axes are found from.
const ROWS: (usize, usize) = (512, 2048);
/// Where this share of the pairs is undecided after a rough look, nothing is gained.
const HOPELESS: f64 = 0.5;
/// Rows that ask and rows that are asked in the sample of pairs.
const ASKING: usize = 64;
const ASKED: usize = 2048;
/// How far candidates reach on average while a sweep goes on, in units of the rank that they reach at its end.
const LOOSENESS: f64 = 1.3;

/// What costs what, in units of one coordinate of one pair in a tile, as measured: a look at the limits, per pair; and a pair
/// that is measured by itself, with each of its coordinates.
const COST_LOOK: f64 = 6.0;
const COST_FOUND: f64 = 100.0;
const COST_WHOLE: f64 = 5.5;

/// Axes, along which rows are looked at in stages.
pub(super) struct Prefix {
    axes: Axes,
}

impl Prefix {
    /// The prefix that makes this sweep over all pairs cheapest; none where plain tiles are as good.
    pub(super) fn choose(prepared: &Prepared, shuffled: &[u32], ask: &Ask, driver: &Driver) -> Option<Prefix> {
        let (n, d) = (shuffled.len(), prepared.columns());
        let coordinates = (n as u64).saturating_mul(n as u64).saturating_mul(d as u64);
        let is_off = std::env::var_os("REPSCOPE_PRUNING").is_some_and(|value| value == "off");
        if ask.kernel.is_some()
            || ask.classes.is_some()
            || coordinates < LEAST
            || d < 2 * STAGES[0]
            || n < ASKED
            || is_off
        {
            return None;
        }
        let rows = (n / 16).clamp(ROWS.0, ROWS.1).min(n);
        let fits = |stage: &&usize| **stage <= widest(d).min(rows);
        let width = *STAGES.iter().rfind(fits)?;
        // A rough look first: where directions are alike, finding many of them would cost more than a twentieth of the sweep.
        let rough = Prefix::of_sample(prepared, &shuffled[..ROWS.0.min(n)], ROUGH.min(width), driver);
        if rough
            .undecided(prepared, shuffled, ask, driver)
            .last()
            .is_none_or(|&share| share > HOPELESS)
        {
            return None;
        }
        let mut prefix = Prefix::of_sample(prepared, &shuffled[..rows], width, driver);
        let shares = prefix.undecided(prepared, shuffled, ask, driver);
        prefix.keep(cheapest(&shares, n, d)?);
        Some(prefix)
    }

    /// So many axes of some rows.
    pub(super) fn of_sample(prepared: &Prepared, rows: &[u32], width: usize, driver: &Driver) -> Prefix {
        Prefix {
            axes: Axes::of_sample(prepared, rows, width, driver),
        }
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

    /// The share of a sample of pairs that remain undecided after 16, 32, … coordinates, seen from one side.
    fn undecided(&self, prepared: &Prepared, order: &[u32], ask: &Ask, driver: &Driver) -> Vec<f64> {
        let (asking, asked) = order.split_at(ASKING);
        let asked = &asked[..asked.len().min(ASKED)];
        let read = |rows: &[u32]| {
            let mut values = vec![0.0; rows.len() * self.axes.columns];
            let places = rows.iter().zip(values.chunks_exact_mut(self.axes.columns));
            places.for_each(|(&i, row)| prepared.read(i as usize, row));
            let turned = self.turn(&values);
            let rows = values
                .chunks_exact(self.axes.columns)
                .zip(turned.chunks_exact(self.axes.width));
            rows.map(|(row, turned)| self.staged(row, turned))
                .collect::<Vec<Staged>>()
        };
        let (of_asking, of_asked) = (read(asking), read(asked));
        let share = asked.len() as f64 / order.len() as f64;
        let rank = ((LOOSENESS * ask.k as f64 * share).ceil() as usize).clamp(1, asked.len());
        let counts = driver.map(asking.len(), |a| {
            let mut squared: Vec<f64> = asked.iter().map(|&j| prepared.squared_distance(asking[a], j)).collect();
            let mut reach: f64 = 0.0;
            if ask.k > 0 {
                reach = *squared.select_nth_unstable_by(rank - 1, f64::total_cmp).1;
            }
            for others in &ask.ranks_of {
                let place = Anchors::All.place(asking[a]);
                let thresholds = others
                    .of(place)
                    .iter()
                    .map(|&j| prepared.squared_distance(asking[a], j));
                reach = thresholds.fold(reach, f64::max);
            }
            let mut counts = vec![0usize; self.axes.width / GRAIN];
            for other in &of_asked {
                of_asking[a].count_within(other, reach, &mut counts);
            }
            counts
        });
        let pairs = (asking.len() * asked.len()) as f64;
        let total = |stage: usize| counts.iter().map(|c| c[stage]).sum::<usize>() as f64 / pairs;
        (0..self.axes.width / GRAIN).map(total).collect()
    }

    fn staged(&self, row: &[f64], turned: &[f64]) -> Staged {
        let mut left: f64 = row.iter().map(|x| x * x).sum();
        let behind = turned.chunks_exact(GRAIN).map(|some| {
            left -= some.iter().map(|x| x * x).sum::<f64>();
            left.max(0.0).sqrt()
        });
        Staged {
            behind: behind.collect(),
            turned: turned.to_vec(),
        }
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

/// A row of the sample: its coordinates, and the length of what is behind each sixteen of them.
struct Staged {
    turned: Vec<f64>,
    behind: Vec<f64>,
}

impl Staged {
    fn count_within(&self, other: &Staged, reach: f64, counts: &mut [usize]) {
        let mut squared = 0.0;
        let stages = self.turned.chunks_exact(GRAIN).zip(other.turned.chunks_exact(GRAIN));
        let behind = self.behind.iter().zip(&other.behind);
        for (((a, b), (r, s)), count) in stages.zip(behind).zip(counts) {
            squared += a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
            if squared + (r - s).powi(2) > reach {
                return;
            }
            *count += 1;
        }
    }
}

/// Up to how many coordinates to look, if that is at least a fifth cheaper than plain tiles.
fn cheapest(shares: &[f64], rows: usize, columns: usize) -> Option<usize> {
    // A pair is finished if either side wants it.
    let undecided = |length: usize| {
        let one = shares[length / GRAIN - 1];
        one * (2.0 - one)
    };
    let mut best = (0.8 * (columns as f64 + COST_LOOK), None);
    let (mut cost, mut width, mut share) = (0.0, 0, 1.0);
    for stage in STAGES.into_iter().take_while(|stage| stage / GRAIN <= shares.len()) {
        cost += share * ((stage - width) as f64 + COST_LOOK);
        width = stage;
        // Near rows stand together: far fewer micro-tiles than pairs by chance would hold one that is undecided.
        share = undecided(width).sqrt();
        // Turning a row costs twice in f64, and is shared by the pairs of the row.
        let turning = 4.0 * (columns * width) as f64 / rows as f64;
        let all = cost + turning + undecided(width) * (COST_FOUND + COST_WHOLE * columns as f64);
        if all < best.0 {
            best = (all, Some(width));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_chosen_where_it_decides_and_not_where_it_does_not() {
        // After 16, 32, … 384 of 784 coordinates: as measured on pictures, and for rows that are alike in all directions.
        let of_pictures: Vec<f64> = (1..=24).map(|stage| 0.1 / f64::from(stage).powf(1.1)).collect();
        assert!(cheapest(&of_pictures, 60_000, 784).is_some_and(|width| width >= 128));
        let alike: Vec<f64> = (1..=24).map(|stage| 1.0 - 0.01 * f64::from(stage)).collect();
        assert_eq!(cheapest(&alike, 60_000, 784), None);
        // Few rows do not pay for turning them.
        assert_eq!(cheapest(&of_pictures, 300, 784), None);
    }
}
