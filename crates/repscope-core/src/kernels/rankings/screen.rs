// SPDX-License-Identifier: MIT
//! Rankings where rows meet in 8 bits first ([`coarse`](crate::kernels::coarse)), and what these leave is multiplied pair by pair.
//!
//! The product of a pair by itself is summed in another order than in a micro-tile. Both are within the error bound of the query, and
//! rankings rely on no more: as far as they list, they are exact either way. Ranks behind the list are those of f32 products, so 8 bits
//! are used where no such rank counts.

use std::array::from_fn;

use super::Job;
use super::candidates::{Kept, expected_to_be_kept};
use crate::kernels::coarse::{Coarse, CoarseQueries, CoarseTargets, Codes, Kind};
use crate::kernels::microkernel::{Panels, QUERIES};
use crate::kernels::similarity::{Centering, Packed, Role};
use crate::kernels::tiles::prune_cost;
use crate::run::Driver;

/// Up to this many pairs of a micro-tile that 8 bits leave are multiplied one by one: so many take as long as all of it.
pub(super) const FEW: u32 = 32;

/// Below this many coordinates over all pairs (a fraction of a second), nothing is gained; tests have less.
const LEAST: u64 = if cfg!(test) { 1 << 20 } else { 1 << 34 };
/// So many moments of a sweep are looked at.
const MOMENTS: usize = 8;
/// Sums of a product, side by side.
const LANES: usize = 64;

/// A direction, and some of its queries that are a sample of all, before they meet a target.
type Sampled<'s, 'a> = (&'s Job<'a>, &'s Kept<'a>);

/// The instructions by which rows shall meet in 8 bits first; none where that would not be cheaper. The sample are random rows of the
/// queries and of the targets, and the opposite direction where it shares the sweep.
pub(super) fn choose(
    there: Sampled,
    targets: &[u32],
    back: Option<Sampled>,
    centering: &Centering,
    driver: &Driver,
) -> Option<Kind> {
    let (job, queries) = (there.0, &there.1.rows);
    let d = job.products.query.space.columns();
    let coordinates = (job.queries() as u64).saturating_mul(job.targets() as u64 * d as u64);
    let is_listed = |job: &Job| (0..job.queries()).all(|q| job.needed(q) == job.depth);
    if coordinates < LEAST || !driver.prunes() || !is_listed(job) || back.is_some_and(|back| !is_listed(back.0)) {
        return None;
    }
    let kind = Kind::of_machine()?;
    let values = driver.map(queries.len(), |place| {
        let of = |&t: &u32| job.products.exact(queries[place] as usize, t as usize) - centering.shared;
        targets.iter().map(of).collect::<Vec<f64>>()
    });
    let limits = limits(there, targets.len(), |place| values[place].clone());
    let of_targets = back.map_or(vec![f64::INFINITY; targets.len()], |back| {
        let column = |place: usize| values.iter().map(|row| row[place]).collect();
        self::limits(back, queries.len(), column)
    });
    let read = |role, rows: &[u32]| {
        let mut row = vec![0.0; d];
        let read = |&i: &u32| {
            let extra = centering.read(role, i, &mut row);
            (Codes::of(&row), extra)
        };
        rows.iter().map(read).collect::<Vec<(Codes, f64)>>()
    };
    let (queries, targets) = (read(Role::Query, queries), read(Role::Target, targets));
    let width = Panels::targets_at_once();
    let (mut tiles, mut full, mut alone) = (0.0, 0.0, 0.0);
    for (first, queries) in queries.chunks_exact(QUERIES).enumerate() {
        for (panel, targets) in targets.chunks_exact(width).enumerate() {
            let pairs = (0..QUERIES).flat_map(|q| (0..width).map(move |t| (q, t)));
            let is_reached = |(q, t): &(usize, usize)| {
                let bound = queries[*q].0.most(&targets[*t].0) + queries[*q].1 + targets[*t].1;
                bound >= limits[first * QUERIES + q].min(of_targets[panel * width + t])
            };
            let reached = pairs.filter(is_reached).count();
            tiles += 1.0;
            if reached > FEW as usize {
                full += 1.0;
            } else {
                alone += reached as f64;
            }
        }
    }
    let is_cheaper = tiles > 0.0
        && prune_cost::of_coarse(
            d,
            full / tiles,
            alone / (tiles * (QUERIES * width) as f64),
            prune_cost::BY_ROW,
        ) < 0.9 * prune_cost::plain(d);
    is_cheaper.then_some(kind)
}

/// From which value on each row of the sample sees one of so many others, on average over a sweep.
fn limits((job, kept): Sampled, others: usize, values: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    let all = job.targets() as f64;
    let share = |moment: usize| {
        let met = all * (moment as f64 + 0.5) / MOMENTS as f64;
        expected_to_be_kept(job.depth, met / all) as f64 / met
    };
    let share = (0..MOMENTS).map(share).sum::<f64>() / MOMENTS as f64;
    let rank = ((share * others as f64).ceil() as usize).clamp(1, others);
    let limit = |place: usize| {
        let mut values = values(place);
        let (_, limit, _) = values.select_nth_unstable_by(rank - 1, |a, b| b.total_cmp(a));
        limit.min(f64::from(kept.sought_from[place]))
    };
    (0..kept.rows.len()).map(limit).collect()
}

/// Rows in 8 bits, and as they are.
pub(super) struct Screened<C> {
    codes: C,
    rows: Rows,
}

/// Queries in the order in which they are packed. Their error bounds cover what is rounded on the way.
pub(super) fn queries(centering: &Centering, packed: &Packed, errors: &[f64]) -> Screened<CoarseQueries> {
    let mut codes = CoarseQueries::with_room(centering.columns(), packed.rows.len());
    let rows = Rows::new(centering, Role::Query, &packed.rows, |place, row, extra| {
        codes.push(&Codes::of(row), extra + errors[place]);
    });
    Screened { codes, rows }
}

/// Targets in the order in which they are packed.
pub(super) fn targets(centering: &Centering, kind: Kind, packed: &Packed) -> Screened<CoarseTargets> {
    let mut codes = CoarseTargets::with_room(kind, centering.columns(), packed.rows.len());
    let rows = Rows::new(centering, Role::Target, &packed.rows, |_, row, extra| {
        codes.push(&Codes::of(row), extra);
    });
    Screened { codes, rows }
}

/// A block of queries and one of targets that meet in 8 bits.
pub(super) struct Screen<'a> {
    pub(super) codes: Coarse<'a>,
    queries: &'a Rows,
    targets: &'a Rows,
}

impl<'a> Screen<'a> {
    pub(super) fn new(queries: &'a Screened<CoarseQueries>, targets: &'a Screened<CoarseTargets>) -> Self {
        Screen {
            codes: Coarse::new(&queries.codes, &targets.codes),
            queries: &queries.rows,
            targets: &targets.rows,
        }
    }

    /// The product of the packed rows at these places; none where panels are filled up with rows that are not there.
    #[inline(always)]
    pub(super) fn product(&self, query: usize, target: usize) -> Option<f32> {
        self.queries.product(query, self.targets, target)
    }
}

/// Centered rows one after the other, for pairs that are multiplied by themselves.
pub(super) struct Rows {
    /// Values of a row: its columns, and zeros up to whole [`LANES`].
    width: usize,
    values: Vec<f32>,
    /// The extra coordinate of each row.
    extras: Vec<f32>,
}

impl Rows {
    /// Reads rows; each is shown with its place and its extra coordinate.
    pub(super) fn new(
        centering: &Centering,
        role: Role,
        rows: &[u32],
        mut show: impl FnMut(usize, &[f64], f64),
    ) -> Self {
        let width = centering.columns().next_multiple_of(LANES);
        let mut row = vec![0.0; centering.columns()];
        let mut all = Rows {
            width,
            values: vec![0.0; rows.len() * width],
            extras: Vec::with_capacity(rows.len()),
        };
        for ((place, &i), values) in rows.iter().enumerate().zip(all.values.chunks_exact_mut(width)) {
            let extra = centering.read(role, i, &mut row);
            show(place, &row, extra);
            values.iter_mut().zip(&row).for_each(|(value, x)| *value = *x as f32);
            all.extras.push(extra as f32);
        }
        all
    }

    /// The product of the packed rows at these places, in an order of its own: each product of two coordinates is rounded D + 2 times at
    /// most and the extra ones three times, as the error bound allows. None where panels are filled up with rows that are not there.
    #[inline(always)]
    pub(super) fn product(&self, place: usize, others: &Rows, of_other: usize) -> Option<f32> {
        let (x, y) = (self.row(place)?, others.row(of_other)?);
        let mut sums = [0.0f32; LANES];
        for (x, y) in x.iter().zip(y) {
            for lane in 0..LANES {
                sums[lane] += x[lane] * y[lane];
            }
        }
        // Halves are added to halves, in arrays of known lengths, so that the sums stay in registers.
        let sums: [f32; LANES / 4] = from_fn(|i| (sums[i] + sums[i + 32]) + (sums[i + 16] + sums[i + 48]));
        let sums: [f32; LANES / 16] = from_fn(|i| (sums[i] + sums[i + 8]) + (sums[i + 4] + sums[i + 12]));
        let product = (sums[0] + sums[2]) + (sums[1] + sums[3]);
        Some(product + self.extras[place] + others.extras[of_other])
    }

    #[inline(always)]
    fn row(&self, place: usize) -> Option<&[[f32; LANES]]> {
        let values = self.values.get(place * self.width..(place + 1) * self.width)?;
        Some(values.as_chunks().0)
    }
}
