// SPDX-License-Identifier: MIT
//! Both directions of a pair of sides from one sweep: each product is passed to the row of either side to which it matters.
//!
//! The rows of both sides come in random order and are cut into blocks. In round r, block i of the side with fewer blocks
//! meets block i + r of the other, counted in a circle: within a round no block appears twice, so its tasks share nothing,
//! and every block meets the others in the same order whatever the number of threads.
//!
//! What all rows keep is in memory at once, so it is bounded. A row whose near ties need more room, and one that did not
//! keep enough, is ranked in its own direction afterwards.

use std::cell::LazyCell;
use std::sync::Mutex;

use super::candidates::{Kept, Members, Room, most_kept};
use super::one_way::{Targets, find_far_firsts, rank_some};
use super::screen::{Screen, Screened};
use super::{Job, KEPT_BY_BOTH, Rankings, SEEK, screen};
use crate::kernels::coarse::{Coarse, CoarseQueries, CoarseTargets};
use crate::kernels::microkernel::{Meeting, Meets};
use crate::kernels::similarity::{Centering, Packed, Role};
use crate::run::Driver;

/// The fewest and most rows of a block: whole panels, however wide; and how many blocks there shall be.
const FEWEST: usize = 96;
const MOST: usize = 480;
const BLOCKS: usize = 64;

const UNSHARED: &str = "a block is in one meeting at a time, and no meeting panics";

fn rows_at_once(rows: usize) -> usize {
    rows.div_ceil(BLOCKS).next_multiple_of(FEWEST).clamp(FEWEST, MOST)
}

/// Whether one sweep is the way to go: it must fit into `memory` bytes, and there must be blocks enough for all threads.
pub(super) fn is_worthwhile(jobs: [&Job; 2], memory: u64) -> bool {
    let is_large = |job: &Job| job.queries() >= 16 * FEWEST;
    let kept = |job: &Job| {
        (0..job.queries())
            .map(|q| 8 * most_kept(job.needed(q)) as u64)
            .sum::<u64>()
    };
    let of_row = 9 * jobs[0].products.query.space.columns() as u64 + 80;
    let others = |job: &Job| job.queries() as u64 * (of_row + 4 * job.depth as u64);
    let [kept, others] = [jobs.map(kept), jobs.map(others)].map(|bytes| bytes.iter().sum::<u64>());
    jobs.iter().all(|job| is_large(job)) && kept <= KEPT_BY_BOTH && kept + others <= memory
}

/// Ranks the targets of all queries of two opposite directions.
pub(super) fn rank_both(jobs: [&Job; 2], driver: &Driver) -> [Rankings; 2] {
    let centering = Centering::new(&jobs[0].products, jobs[0].way, driver);
    let pack = |role, rows| centering.pack_all(role, rows_at_once(rows), driver);
    let sides = [
        pack(Role::Query, jobs[0].queries()),
        pack(Role::Target, jobs[0].targets()),
    ];
    let blocks = [0, 1].map(|side| start(jobs[side], &sides[side], &sides[1 - side], &centering, driver));
    let coarse = in_8_bits(jobs, &sides, &blocks, &centering, driver);
    let is_complete = meet(&sides, coarse.as_ref(), &blocks, driver);
    drop((sides, coarse));
    let [first, second] = blocks;
    [(jobs[0], first), (jobs[1], second)].map(|(job, blocks)| {
        if is_complete {
            finish(job, blocks, driver)
        } else {
            job.by_panels(driver)
        }
    })
}

/// What the rows of a side keep, before they meet any of the other.
fn start<'a>(
    job: &'a Job,
    side: &[Packed],
    others: &[Packed],
    centering: &Centering,
    driver: &Driver,
) -> Vec<Mutex<Kept<'a>>> {
    let members: Vec<Members> = job.relevances.iter().map(Members::new).collect();
    let largest = Packed::largest(others);
    driver.map(side.len(), |b| {
        let errors = centering.errors(&side[b], largest);
        let mut kept = Kept::new(job, &side[b].rows, errors, centering.shared, Room::Bounded);
        for (set, members) in members.iter().enumerate() {
            kept.seek_first(set, members, job.targets() / SEEK);
        }
        Mutex::new(kept)
    })
}

/// The blocks of both sides in 8 bits.
type Coarsely = (Vec<Screened<CoarseQueries>>, Vec<Screened<CoarseTargets>>);

/// Both sides in 8 bits, where they shall meet so first. The first block of a side is a sample of it.
fn in_8_bits(
    jobs: [&Job; 2],
    sides: &[Vec<Packed>; 2],
    blocks: &[Vec<Mutex<Kept>>; 2],
    centering: &Centering,
    driver: &Driver,
) -> Option<Coarsely> {
    let [first, second] = [0, 1].map(|side| blocks[side].first());
    let (first, second) = (first?.lock().expect(UNSHARED), second?.lock().expect(UNSHARED));
    let kind = screen::choose(
        (jobs[0], &first),
        &second.rows,
        Some((jobs[1], &second)),
        centering,
        driver,
    )?;
    drop((first, second));
    let queries = driver.map(sides[0].len(), |b| {
        let errors = &blocks[0][b].lock().expect(UNSHARED).errors;
        screen::queries(centering, &sides[0][b], errors)
    });
    let targets = driver.map(sides[1].len(), |b| screen::targets(centering, kind, &sides[1][b]));
    Some((queries, targets))
}

/// All rounds. False where so many rows gave up that the rest is not worth it.
fn meet(sides: &[Vec<Packed>; 2], coarse: Option<&Coarsely>, blocks: &[Vec<Mutex<Kept>>; 2], driver: &Driver) -> bool {
    let [fewer, more] = [sides[0].len().min(sides[1].len()), sides[0].len().max(sides[1].len())];
    let rows: usize = sides.iter().flatten().map(|packed| packed.rows.len()).sum();
    driver.progress().begin("pairs", more as u64);
    for round in 0..more {
        driver.map(fewer, |i| {
            let other = (i + round) % more;
            let (q, t) = if sides[0].len() == fewer {
                (i, other)
            } else {
                (other, i)
            };
            let queries = &mut blocks[0][q].lock().expect(UNSHARED);
            let targets = &mut blocks[1][t].lock().expect(UNSHARED);
            let screen = coarse.map(|(queries, targets)| Screen::new(&queries[q], &targets[t]));
            meet_blocks([&sides[0][q], &sides[1][t]], screen, queries, targets);
        });
        let gave_up = |block: &Mutex<Kept>| block.lock().expect(UNSHARED).gave_up();
        if blocks.iter().flatten().map(gave_up).sum::<usize>() > rows / 2 {
            return false;
        }
        driver.progress().advance(1);
    }
    true
}

fn meet_blocks(packed: [&Packed; 2], screen: Option<Screen>, queries: &mut Kept, targets: &mut Kept) {
    queries.expect(targets.rows.len());
    targets.expect(queries.rows.len());
    let meeting = Meeting {
        queries: (&packed[0].panels, 0..packed[0].panels.count()),
        targets: (&packed[1].panels, 0..packed[1].panels.count()),
        meets: &mut BothWays {
            queries,
            targets,
            screen,
        },
        products: (&mut [], 0),
    };
    meeting.run();
}

/// Rows of both sides that see each other.
struct BothWays<'k, 'a, 'b> {
    queries: &'k mut Kept<'a>,
    targets: &'k mut Kept<'b>,
    screen: Option<Screen<'k>>,
}

impl Meets for BothWays<'_, '_, '_> {
    const BOTH: bool = true;
    const FEW_COARSE: u32 = screen::FEW;

    #[inline(always)]
    fn query_limits(&self, first: usize) -> &[f32] {
        &self.queries.seen_from[first..]
    }

    #[inline(always)]
    fn target_limits(&self, first: usize) -> &[f32] {
        &self.targets.seen_from[first..]
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
        let (Some(&q), Some(&t)) = (self.queries.rows.get(query), self.targets.rows.get(target)) else {
            return;
        };
        if product >= self.queries.seen_from[query] {
            self.queries.take(query, t, product);
        }
        if product >= self.targets.seen_from[target] {
            self.targets.take(target, q, product);
        }
    }
}

fn finish(job: &Job, blocks: Vec<Mutex<Kept>>, driver: &Driver) -> Rankings {
    let blocks = blocks.into_iter().map(|block| Mutex::new(block.into_inner().ok()));
    let blocks: Vec<Mutex<Option<Kept>>> = blocks.collect();
    let parts = driver.map(blocks.len(), |b| {
        let kept = blocks[b].lock().expect(UNSHARED).take();
        kept.map(Kept::finish)
    });
    let mut all = Rankings::new(job);
    let mut missing = Vec::new();
    for (found, left_out) in parts.into_iter().flatten() {
        all.put(found);
        missing.extend(left_out);
    }
    let targets = LazyCell::new(|| Targets::new(job, driver));
    if !missing.is_empty() {
        missing.sort_unstable();
        rank_some(job, &missing, &targets, &mut all, driver);
    }
    find_far_firsts(job, &mut all, || &targets, driver);
    all
}
