// SPDX-License-Identifier: MIT
//! Rankings where rows meet in 8 bits first ([`coarse`](crate::kernels::coarse)), and what these leave is measured in f64.
//!
//! Such a value and that of an f32 product are both within the error bound of the query, and rankings rely on no more: as far as they
//! list, they are exact either way. Ranks behind the list are those of f32 products, so 8 bits are used where no such rank counts.

use super::Job;
use super::candidates::{Kept, expected_to_be_kept};
use crate::kernels::coarse::{CoarseQueries, CoarseTargets, Codes, Kind};
use crate::kernels::microkernel::{FEW_COARSE, Panels, QUERIES};
use crate::kernels::similarity::{Centering, Packed, Role};
use crate::kernels::tiles::prune_cost;
use crate::run::Driver;

/// Below this many coordinates over all pairs (a fraction of a second), nothing is gained; tests have less.
const LEAST: u64 = if cfg!(test) { 1 << 20 } else { 1 << 34 };
/// So many moments of a sweep are looked at.
const MOMENTS: usize = 8;

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
            if reached > FEW_COARSE as usize {
                full += 1.0;
            } else {
                alone += reached as f64;
            }
        }
    }
    let is_cheaper = tiles > 0.0
        && prune_cost::of_coarse(d, full / tiles, alone / (tiles * (QUERIES * width) as f64))
            < 0.9 * prune_cost::plain(d);
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

/// Queries in 8 bits, in the order in which they are packed. Their error bounds cover what is rounded on the way.
pub(super) fn queries(centering: &Centering, rows: &[u32], errors: &[f64]) -> CoarseQueries {
    let mut row = vec![0.0; centering.columns()];
    let mut all = CoarseQueries::with_room(row.len(), rows.len());
    for (&i, error) in rows.iter().zip(errors) {
        let extra = centering.read(Role::Query, i, &mut row);
        all.push(&Codes::of(&row), extra + error);
    }
    all
}

/// Targets in 8 bits.
pub(super) fn targets(centering: &Centering, kind: Kind, packed: &Packed) -> CoarseTargets {
    let mut row = vec![0.0; centering.columns()];
    let mut all = CoarseTargets::with_room(kind, row.len(), packed.rows.len());
    for &i in &packed.rows {
        let extra = centering.read(Role::Target, i, &mut row);
        all.push(&Codes::of(&row), extra);
    }
    all
}
