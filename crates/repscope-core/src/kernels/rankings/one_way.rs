// SPDX-License-Identifier: MIT
//! One direction: some queries at a time meet all targets.

use super::candidates::{Kept, Members, Room};
use super::screen::{Screen, Screened};
use super::{FEWEST, Found, Job, KEPT, MOST, Rankings, SEEK, screen};
use crate::kernels::coarse::{Coarse, CoarseTargets};
use crate::kernels::microkernel::{Meeting, Meets};
use crate::kernels::similarity::{Packed, PackedTargets};
use crate::random;
use crate::run::Driver;

/// Queries from which it is learned whether 8 bits pay.
const SAMPLE: usize = 384;

/// All targets, and those of each label.
pub(super) struct Targets<'a> {
    packed: PackedTargets<'a>,
    members: Vec<Members>,
    /// The targets in 8 bits, block by block, where they shall meet so first.
    coarse: Option<Vec<Screened<CoarseTargets>>>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(job: &Job<'a>, driver: &Driver) -> Self {
        let mut targets = Targets {
            packed: PackedTargets::new(&job.products, job.way, driver),
            members: job.relevances.iter().map(Members::new).collect(),
            coarse: None,
        };
        targets.coarse = targets.in_8_bits(job, driver);
        targets
    }

    fn in_8_bits(&self, job: &Job<'a>, driver: &Driver) -> Option<Vec<Screened<CoarseTargets>>> {
        let centering = &self.packed.centering;
        let sample = random::permutation(job.queries(), &mut random::stream(0, "query order", 0));
        let (_, kept) = self.start(job, &sample[..sample.len().min(SAMPLE)]);
        let blocks = &self.packed.blocks;
        let kind = screen::choose((job, &kept), &blocks.first()?.rows, None, centering, driver)?;
        Some(driver.map(blocks.len(), |b| screen::targets(centering, kind, &blocks[b])))
    }

    #[cfg(test)]
    pub(super) fn is_coarse(&self) -> bool {
        self.coarse.is_some()
    }

    /// Some queries, packed, before they meet a target.
    fn start<'b>(&self, job: &'b Job<'b>, queries: &[u32]) -> (Packed, Kept<'b>) {
        let centering = &self.packed.centering;
        let (packed, errors) = self.packed.queries(queries);
        let mut kept = Kept::new(job, queries, errors, centering.shared, Room::Any);
        for (set, members) in self.members.iter().enumerate() {
            kept.seek_first(set, members, job.targets() / SEEK);
        }
        (packed, kept)
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
    let (packed, mut kept) = targets.start(job, queries);
    meet_all(&mut kept, &packed, targets);
    let (found, missing) = kept.finish();
    // Where the sample was unlucky, all targets are met once more and all are kept.
    let alone = missing.iter().map(|&q| {
        let (packed, mut kept) = targets.start(job, &[q]);
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
            let mut kept = Kept::new(job, groups[task], errors, targets.packed.centering.shared, Room::Any);
            kept.seek_first(set, &targets.members[set], usize::MAX);
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
    let coarse = targets.coarse.as_ref().map(|blocks| {
        let queries = screen::queries(&targets.packed.centering, queries, &kept.errors);
        (queries, blocks)
    });
    for (b, block) in targets.packed.blocks.iter().enumerate() {
        kept.expect(block.rows.len());
        let mut one_way = OneWay {
            kept,
            targets: &block.rows,
            screen: coarse
                .as_ref()
                .map(|(queries, blocks)| Screen::new(queries, &blocks[b])),
        };
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
    screen: Option<Screen<'k>>,
}

impl Meets for OneWay<'_, '_> {
    const BOTH: bool = false;
    const FEW_COARSE: u32 = screen::FEW;

    #[inline(always)]
    fn query_limits(&self, first: usize) -> &[f32] {
        &self.kept.seen_from[first..]
    }

    #[inline(always)]
    fn target_limits(&self, _: usize) -> &[f32] {
        &[]
    }

    #[inline(always)]
    fn coarse(&self) -> Option<&Coarse<'_>> {
        self.screen.as_ref().map(|screen| &screen.codes)
    }

    #[inline(always)]
    fn found_coarsely(&mut self, query: usize, target: usize) {
        if let Some(product) = self.screen.as_ref().and_then(|screen| screen.product(query, target)) {
            self.found(query, target, product);
        }
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
