// SPDX-License-Identifier: MIT
//! One direction: some queries at a time meet all targets.

use super::candidates::{Kept, Members, Room};
use super::{FEWEST, Found, Job, KEPT, MOST, Rankings, SEEK};
use crate::kernels::microkernel::{Meeting, Meets};
use crate::kernels::similarity::{Packed, PackedTargets};
use crate::run::Driver;

/// All targets, and those of each label.
pub(super) struct Targets<'a> {
    packed: PackedTargets<'a>,
    members: Vec<Members>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(job: &Job<'a>, driver: &Driver) -> Self {
        Targets {
            packed: PackedTargets::new(&job.products, job.way, driver),
            members: job.relevances.iter().map(Members::new).collect(),
        }
    }
}

/// Queries that are ranked together, where each keeps about this many targets.
pub(super) fn queries_at_once(needed: usize) -> usize {
    (KEPT / needed.max(1)).clamp(FEWEST, MOST)
}

/// Ranks the targets of these queries.
pub(super) fn rank_some(job: &Job, queries: &[u32], targets: &Targets, all: &mut Rankings, driver: &Driver) {
    let most = queries.iter().map(|&q| job.needed(q as usize)).max().unwrap_or(0);
    let groups: Vec<&[u32]> = queries.chunks(queries_at_once(most)).collect();
    driver.progress().begin("queries", groups.len() as u64);
    let found = driver.map(groups.len(), |task| {
        let found = rank_group(job, groups[task], targets);
        driver.progress().advance(1);
        found
    });
    found.into_iter().flatten().for_each(|found| all.put(found));
}

fn rank_group(job: &Job, queries: &[u32], targets: &Targets) -> Vec<Found> {
    let start = |queries: &[u32]| {
        let (packed, errors) = targets.packed.queries(queries);
        let mut kept = Kept::new(job, queries, errors, Room::Any);
        for (set, members) in targets.members.iter().enumerate() {
            kept.seek_first(set, members, job.targets() / SEEK, targets.packed.centering.shared);
        }
        (packed, kept)
    };
    let (packed, mut kept) = start(queries);
    meet_all(&mut kept, &packed, targets);
    let (found, missing) = kept.finish();
    // Where the sample was unlucky, all targets are met once more and all are kept.
    let alone = missing.iter().map(|&q| {
        let (packed, mut kept) = start(&[q]);
        kept.keep_all();
        meet_all(&mut kept, &packed, targets);
        kept.finish().0
    });
    std::iter::once(found).chain(alone).collect()
}

/// Finds the first relevant target of queries that kept none. `targets` are made when they are needed.
pub(super) fn find_far_firsts<'a>(
    job: &Job,
    rankings: &mut Rankings,
    targets: impl Fn() -> &'a Targets<'a>,
    driver: &Driver,
) {
    for (set, relevance) in job.relevances.iter().enumerate() {
        let standings = &mut rankings.standings[set];
        let is_open = |&q: &u32| standings[q as usize].first == 0 && relevance.relevant_to(q as usize) > 0;
        let open: Vec<u32> = (0..job.queries() as u32).filter(is_open).collect();
        if open.is_empty() {
            continue;
        }
        let targets = targets();
        let groups: Vec<&[u32]> = open.chunks(MOST).collect();
        let firsts = driver.map(groups.len(), |task| {
            let (packed, errors) = targets.packed.queries(groups[task]);
            let mut kept = Kept::new(job, groups[task], errors, Room::Any);
            kept.seek_first(set, &targets.members[set], usize::MAX, targets.packed.centering.shared);
            kept.keep_none();
            meet_all(&mut kept, &packed, targets);
            let places = groups[task].iter().enumerate();
            let first = |(place, &q): (usize, &u32)| kept.rank_of_first(set, place, job.needed(q as usize));
            places.map(first).collect::<Vec<u32>>()
        });
        for (&q, first) in open.iter().zip(firsts.concat()) {
            standings[q as usize].first = first;
        }
    }
}

fn meet_all(kept: &mut Kept, queries: &Packed, targets: &Targets) {
    for block in &targets.packed.blocks {
        kept.expect(block.rows.len());
        let targets = &block.rows;
        let mut one_way = OneWay { kept, targets };
        let meeting = Meeting {
            queries: (&queries.panels, 0..queries.panels.count()),
            targets: (&block.panels, 0..block.panels.count()),
            meets: &mut one_way,
            products: (&mut [], 0),
        };
        meeting.run();
    }
}

/// Queries that see targets.
struct OneWay<'k, 'a> {
    kept: &'k mut Kept<'a>,
    targets: &'k [u32],
}

impl Meets for OneWay<'_, '_> {
    const BOTH: bool = false;

    #[inline(always)]
    fn query_limits(&self, first: usize) -> &[f32] {
        &self.kept.seen_from[first..]
    }

    #[inline(always)]
    fn target_limits(&self, _: usize) -> &[f32] {
        &[]
    }

    #[inline(always)]
    fn found(&mut self, query: usize, target: usize, product: f32) {
        // Panels are filled up with rows that are not there.
        let (Some(&q), Some(&row)) = (self.kept.rows.get(query), self.targets.get(target)) else {
            return;
        };
        if !(self.kept.job.is_self && row == q) {
            self.kept.take(query, row, product);
        }
    }
}
