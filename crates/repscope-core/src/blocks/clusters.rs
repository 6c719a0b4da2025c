// SPDX-License-Identifier: MIT
//! k-means of a matrix that is elsewhere: each pass of a search over the rows is a round of tasks, one for each block.
//!
//! A round serves all starts, and all halves ([`super::together`]). Tasks are pure functions: labels follow from centers, sums of a
//! block from those of the step before, which come along. Workers may keep what they made of a block ([`Kept`]), which saves them
//! reading and packing its rows, and most distances; it changes no bit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::bytes::{Reader, Writer};
use super::frames::means;
use super::{Elsewhere, Given, Job, Kernel, Plan};
use crate::data::Space;
use crate::error::{Error, Result};
use crate::findings::digest;
use crate::kernels::clusters::{
    Assignment, Candidates, Chunk, Far, Given as Nearest, PackedRow, Packing, Place, Planes, Round, Search, Seeded,
    State, Step, Sums, Trail, Ways,
};
use crate::kernels::moments::add;
use crate::kernels::prepared::Preparation;
use crate::metrics::{deviations_from, shares_of_mean};
use crate::run::Driver;

/// What a worker keeps of some rows from one task to the next. Nothing that is computed depends on it.
#[derive(Default)]
pub struct Kept(Mutex<OfBlock>);

/// What is known of a block.
#[derive(Default)]
struct OfBlock {
    /// How its rows are packed.
    key: [u64; 2],
    chunks: Option<Arc<[Chunk]>>,
    seeded: BTreeMap<usize, Seeded>,
    trails: BTreeMap<[u64; 2], Trail>,
    /// Labels, by what they follow from.
    labels: Option<([u64; 2], Vec<u32>)>,
}

impl Kept {
    /// Whether a task with this body needs no rows beside what is kept.
    pub fn serves(&self, body: &[u8]) -> bool {
        let mut body = Reader::new(body);
        let mut kernel = body.number().unwrap_or(0);
        if kernel == Kernel::Together as u64 {
            kernel = body.number().unwrap_or(0);
        }
        let is_of_packed_rows = OF_PACKED_ROWS.iter().any(|own| *own as u64 == kernel);
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        is_of_packed_rows && own.chunks.is_some() && matches!(read_key(&mut body), Ok(key) if key == own.key)
    }

    /// How much is kept.
    pub fn bytes(&self) -> usize {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let chunks = own.chunks.iter().flat_map(|chunks| chunks.iter());
        let packed: usize = chunks.map(Chunk::bytes).sum();
        let labels = own.labels.as_ref().map_or(0, |(_, labels)| 4 * labels.len());
        let seeded: usize = own.seeded.values().map(Seeded::bytes).sum();
        packed + labels + seeded + own.trails.values().map(Trail::bytes).sum::<usize>()
    }
}

/// Tasks that look at packed rows only.
const OF_PACKED_ROWS: [Kernel; 7] = [
    Kernel::Tried,
    Kernel::Drawn,
    Kernel::Steps,
    Kernel::Farthest,
    Kernel::Losses,
    Kernel::Members,
    Kernel::Beyond,
];

/// Whether a worker does well to keep what it makes of the rows.
pub(super) fn keeps(kernel: Kernel) -> bool {
    OF_PACKED_ROWS.contains(&kernel) || [Kernel::Sums, Kernel::Nearest].contains(&kernel)
}

/// The mean of each column.
pub(crate) fn mean(matrix: &Elsewhere, name: &str, driver: &Driver) -> Result<Vec<f64>> {
    means(matrix, name, Preparation::Raw, driver)
}

/// The squared distance of each row from the mean, as `metrics::squared_deviations` finds it.
pub(crate) fn deviations(matrix: &Elsewhere, driver: &Driver) -> Result<Vec<f64>> {
    let mut shared = Writer::default();
    shared.size(matrix.rows);
    let mut mean = vec![0.0; matrix.columns];
    let plan = Plan::new("means", Kernel::Shares, shared, matrix.by_super_block(2.0));
    matrix.run(plan, driver, &mut |_, partial| {
        add(&mut mean, &partial.floats()?);
        Ok(())
    })?;
    let mut shared = Writer::default();
    shared.floats(&mean);
    let mut all = Vec::with_capacity(matrix.rows);
    let plan = Plan::new("deviations", Kernel::Deviations, shared, matrix.by_super_block(2.0));
    matrix.run(plan, driver, &mut |_, partial| {
        all.extend(partial.floats()?);
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn run_shares(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let mut partial = Writer::default();
    partial.floats(&shares_of_mean(space, 0..space.rows(), given.shared.size()?));
    Ok(partial)
}

pub(super) fn run_deviations(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let mut partial = Writer::default();
    partial.floats(&deviations_from(space, &given.shared.floats()?));
    Ok(partial)
}

/// A round of tasks, one for each block, with what all need.
struct Rounds<'a> {
    search: &'a Search<'a>,
    matrix: &'a Elsewhere,
    shared: Writer,
    key: [u64; 2],
}

impl<'a> Rounds<'a> {
    fn new(search: &'a Search<'a>, matrix: &'a Elsewhere) -> Self {
        let packing = search.packing();
        let mut shared = Writer::default();
        shared.size(packing.k);
        shared.floats(&packing.mean);
        shared.float(packing.unit);
        let words = packing.mean.iter().chain([&packing.unit]).map(|x| x.to_bits());
        Rounds {
            search,
            matrix,
            shared,
            key: digest(words.chain([packing.k as u64])),
        }
    }

    /// A task for a block that takes so many multiplications for each of its numbers.
    fn job(&self, block: &Range<usize>, per_number: usize) -> Job {
        let mut body = Writer::default();
        self.key.iter().for_each(|word| body.number(*word));
        body.size(block.start);
        Job {
            reads: vec![self.matrix.span(block.clone())],
            cost: (block.len() * self.matrix.columns * per_number) as f64,
            body,
            ..Job::default()
        }
    }

    fn jobs(&self, per_number: usize) -> Vec<Job> {
        self.search
            .blocks()
            .iter()
            .map(|block| self.job(block, per_number))
            .collect()
    }

    fn run(self, kernel: Kernel, jobs: Vec<Job>, take: &mut dyn FnMut(usize, &mut Reader) -> Result<()>) -> Result<()> {
        let plan = Plan {
            is_quiet: true,
            ..Plan::new("k-means", kernel, self.shared, jobs)
        };
        self.matrix.run(plan, self.search.driver(), take)
    }
}

fn read_key(body: &mut Reader) -> Result<[u64; 2]> {
    Ok([body.number()?, body.number()?])
}

/// A task's search over its block, the row at which this begins, and what is kept of it.
fn block<'a>(given: &mut Given<'a>, own: &mut OfBlock) -> Result<(Search<'a>, usize)> {
    let shared = &mut given.shared;
    let packing = Packing {
        k: shared.size()?,
        mean: shared.floats()?,
        unit: shared.float()?,
    };
    let (key, start) = (read_key(&mut given.body)?, given.body.size()?);
    if own.key != key {
        *own = OfBlock {
            key,
            ..OfBlock::default()
        };
    }
    let space: Option<&Space> = given.spaces.first();
    if space.is_none() && own.chunks.is_none() {
        return Err(Error::Internal("a task of k-means without its rows".to_string()));
    }
    if packing.k == 0 || space.is_some_and(|space| space.columns() != packing.mean.len()) {
        return Err(Error::input(
            "a task is of another version; use the same version everywhere",
        ));
    }
    let search = Search::of_block(space, &packing, own.chunks.clone(), given.driver);
    own.chunks = Some(search.chunks().clone());
    Ok((search, start))
}

fn kept<'a>(given: &Given<'a>) -> std::sync::MutexGuard<'a, OfBlock> {
    given.kept.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Squared distances to the mean, added up over each chunk.
pub(crate) fn totals(search: &Search, matrix: &Elsewhere) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    let rounds = Rounds::new(search, matrix);
    let jobs = rounds.jobs(2);
    rounds.run(Kernel::Totals, jobs, &mut |_, partial| {
        all.extend(partial.floats()?);
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn run_totals(mut given: Given) -> Result<Writer> {
    given.spaces::<1>()?;
    // Not packed yet: that takes what is found here.
    let mut own = OfBlock {
        key: read_key(&mut Reader::new(given.body.rest()))?,
        chunks: Some(Arc::default()),
        ..OfBlock::default()
    };
    let (search, _) = block(&mut given, &mut own)?;
    let mut partial = Writer::default();
    partial.floats(&search.totals());
    Ok(partial)
}

fn write_rounds(groups: &[Vec<Round>], to: &mut Writer) {
    to.size(groups.len());
    for rounds in groups {
        to.size(rounds.len());
        for round in rounds {
            let (values, squared) = round.candidates.parts();
            to.singles(values);
            to.singles(squared);
            to.sizes(&round.counts);
            to.sizes(&round.chosen);
        }
    }
}

fn read_rounds(d: usize, from: &mut Reader) -> Result<Vec<Vec<Round>>> {
    let round = |from: &mut Reader| {
        let (values, squared) = (from.singles()?, from.singles()?);
        Ok(Round {
            candidates: Candidates::of_parts(d, values, squared),
            counts: from.sizes()?,
            chosen: from.sizes()?,
        })
    };
    let groups = from.size()?;
    (0..groups)
        .map(|_| {
            let rounds = from.size()?;
            (0..rounds).map(|_| round(from)).collect()
        })
        .collect()
}

/// What the candidates of the last round of each group add up to: for each candidate, over each chunk.
pub(crate) fn tried(search: &Search, matrix: &Elsewhere, groups: &[Vec<Round>]) -> Result<Vec<Vec<f64>>> {
    let mut rounds = Rounds::new(search, matrix);
    write_rounds(groups, &mut rounds.shared);
    let candidates: usize = groups
        .iter()
        .flat_map(|own| own.last())
        .map(|round| round.candidates.count())
        .sum();
    let mut all = vec![Vec::new(); candidates];
    let jobs = rounds.jobs(candidates);
    rounds.run(Kernel::Tried, jobs, &mut |_, partial| {
        for sums in &mut all {
            sums.extend(partial.floats()?);
        }
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn run_tried(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, _) = block(&mut given, &mut own)?;
    let groups = read_rounds(search.columns(), &mut given.shared)?;
    let mut partial = Writer::default();
    for (group, rounds) in groups.iter().enumerate() {
        let mut known = own.seeded.remove(&group);
        for sums in search.tried_in_block(rounds, &mut known) {
            partial.floats(&sums);
        }
        own.seeded.extend(known.map(|known| (group, known)));
    }
    Ok(partial)
}

/// A row, or what is left of a sum behind the chunk.
pub(crate) type Drawn = std::result::Result<PackedRow, f64>;

/// Rows of chunks as starts see them: of each the group and its number within that, the chunk, and the place.
pub(crate) fn drawn(
    search: &Search,
    matrix: &Elsewhere,
    groups: &[Vec<Round>],
    asked: &[((usize, usize), usize, Place)],
) -> Result<Vec<Drawn>> {
    let mut rounds = Rounds::new(search, matrix);
    write_rounds(groups, &mut rounds.shared);
    let per_block = search.chunks_of_block();
    let mut of_block: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, (_, chunk, _)) in asked.iter().enumerate() {
        of_block.entry(chunk / per_block).or_default().push(number);
    }
    let blocks = search.blocks();
    let job = |(block, numbers): (&usize, &Vec<usize>)| {
        let mut job = rounds.job(&blocks[*block], 1);
        job.body.size(numbers.len());
        for number in numbers {
            let ((group, start), chunk, place) = &asked[*number];
            job.body.sizes(&[*group, *start, chunk % per_block]);
            match place {
                Place::Row(row) => {
                    job.body.truth(false);
                    job.body.size(*row);
                }
                Place::Passing(left) => {
                    job.body.truth(true);
                    job.body.float(*left);
                }
            }
        }
        job
    };
    let jobs = of_block.iter().map(job).collect();
    let mut all: Vec<Option<Drawn>> = asked.iter().map(|_| None).collect();
    let order: Vec<&Vec<usize>> = of_block.values().collect();
    rounds.run(Kernel::Drawn, jobs, &mut |task, partial| {
        for number in order[task] {
            all[*number] = Some(if partial.truth()? {
                Ok(PackedRow {
                    values: partial.singles()?,
                    squared_length: partial.singles()?.first().copied().unwrap_or(0.0),
                })
            } else {
                Err(partial.float()?)
            });
        }
        Ok(())
    })?;
    Ok(all.into_iter().flatten().collect())
}

pub(super) fn run_drawn(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, _) = block(&mut given, &mut own)?;
    let groups = read_rounds(search.columns(), &mut given.shared)?;
    let mut partial = Writer::default();
    for _ in 0..given.body.size()? {
        let [group, start, chunk] = given.body.sizes()?[..] else {
            return Err(Error::Internal("a row that nobody asked for".to_string()));
        };
        let place = if given.body.truth()? {
            Place::Passing(given.body.float()?)
        } else {
            Place::Row(given.body.size()?)
        };
        let known = own.seeded.get(&group);
        match search.drawn_in_chunk(&groups[group], known, start, chunk, place) {
            Ok(row) => {
                partial.truth(true);
                partial.singles(&row.values);
                partial.singles(&[row.squared_length]);
            }
            Err(left) => {
                partial.truth(false);
                partial.float(left);
            }
        }
    }
    Ok(partial)
}

fn write_assignment(assigned: &Assignment, to: &mut Writer) {
    to.floats(&assigned.centers);
    to.size(assigned.others.len());
    for (row, label) in &assigned.others {
        to.sizes(&[*row, *label as usize]);
    }
}

fn read_assignment(from: &mut Reader) -> Result<Assignment> {
    let mut assigned = Assignment {
        centers: from.floats()?,
        others: Vec::new(),
    };
    for _ in 0..from.size()? {
        let pair = from.sizes()?;
        assigned
            .others
            .extend(pair.first().copied().zip(pair.get(1).map(|label| *label as u32)));
    }
    Ok(assigned)
}

/// A step of Lloyd's of several starts; how many labels changed in each.
pub(crate) fn step(search: &Search, matrix: &Elsewhere, states: &mut [State]) -> Result<Vec<usize>> {
    let mut rounds = Rounds::new(search, matrix);
    let shared = &mut rounds.shared;
    shared.size(states.len());
    for state in &*states {
        state.id.iter().for_each(|word| shared.number(*word));
        shared.size(state.iterations);
        shared.truth(state.before.is_some());
        if let Some((assigned, ways)) = &state.before {
            write_assignment(assigned, shared);
            shared.floats(&ways.parts());
        }
        shared.floats(&state.centers);
        shared.floats(&state.ways.parts());
    }
    let k = search.packing().k;
    let mut jobs = rounds.jobs(2 * k * states.len());
    for (block, job) in jobs.iter_mut().enumerate() {
        for state in &*states {
            job.body.floats(&state.sums[block].sums);
            job.body.words(
                &state.sums[block]
                    .counts
                    .iter()
                    .map(|count| *count as u32)
                    .collect::<Vec<u32>>(),
            );
        }
    }
    let mut changed = vec![0; states.len()];
    rounds.run(Kernel::Steps, jobs, &mut |block, partial| {
        for (state, changed) in states.iter_mut().zip(&mut changed) {
            let own = partial.size()?;
            *changed += own;
            if own > 0 {
                state.sums[block] = read_sums(partial)?;
            }
        }
        Ok(())
    })?;
    Ok(changed)
}

fn read_sums(from: &mut Reader) -> Result<Sums> {
    Ok(Sums {
        sums: from.floats()?,
        counts: from.words()?.into_iter().map(i64::from).collect(),
    })
}

pub(super) fn run_steps(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, start) = block(&mut given, &mut own)?;
    let k = search.packing().k;
    let shared = &mut given.shared;
    let other = || Error::input("a task is of another version; use the same version everywhere");
    let ways = |shared: &mut Reader| Ways::of_parts(k, &shared.floats()?).ok_or_else(other);
    let mut partial = Writer::default();
    let mut known = std::mem::take(&mut own.trails);
    for _ in 0..shared.size()? {
        let (id, steps) = (read_key(shared)?, shared.size()?);
        let before = if shared.truth()? {
            Some((read_assignment(shared)?, ways(shared)?))
        } else {
            None
        };
        let step = Step {
            id,
            steps,
            before,
            centers: shared.floats()?,
            ways: ways(shared)?,
        };
        let mut sums = read_sums(&mut given.body)?;
        let mut trail = known.remove(&step.id);
        let changed = search.step_of_block(&step, start, &mut trail, &mut sums);
        own.trails.extend(trail.map(|trail| (step.id, trail)));
        partial.size(changed);
        if changed > 0 {
            partial.floats(&sums.sums);
            partial.words(&sums.counts.iter().map(|count| *count as u32).collect::<Vec<u32>>());
        }
    }
    Ok(partial)
}

/// The rows farthest from their centers that empty clusters may take.
pub(crate) fn farthest(search: &Search, matrix: &Elsewhere, centers: &[f64], counts: &[i64]) -> Result<Vec<Far>> {
    let mut rounds = Rounds::new(search, matrix);
    rounds.shared.floats(centers);
    rounds
        .shared
        .sizes(&counts.iter().map(|count| *count as usize).collect::<Vec<usize>>());
    let jobs = rounds.jobs(counts.len());
    let mut far = Vec::new();
    rounds.run(Kernel::Farthest, jobs, &mut |_, partial| {
        for _ in 0..partial.size()? {
            far.push(Far {
                row: partial.size()?,
                label: partial.size()? as u32,
                distance: partial.float()? as f32,
                values: partial.singles()?,
            });
        }
        Ok(())
    })?;
    far.sort_by(|a: &Far, b: &Far| b.distance.total_cmp(&a.distance).then(a.row.cmp(&b.row)));
    Ok(far)
}

pub(super) fn run_farthest(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, start) = block(&mut given, &mut own)?;
    let (centers, counts) = (given.shared.floats()?, given.shared.sizes()?);
    let assigned = Assignment {
        centers,
        others: Vec::new(),
    };
    let labels = labels(&search, &assigned, start, &mut own);
    let counts: Vec<i64> = counts.into_iter().map(|count| count as i64).collect();
    let far = search.farthest(&labels, &assigned.centers, &counts);
    let mut partial = Writer::default();
    partial.size(far.len());
    for far in far {
        partial.size(start + far.row);
        partial.size(far.label as usize);
        partial.float(f64::from(far.distance));
        partial.singles(&far.values);
    }
    Ok(partial)
}

/// The labels of a block, which may be known from the task before.
fn labels(search: &Search, assigned: &Assignment, start: usize, own: &mut OfBlock) -> Vec<u32> {
    let others = assigned
        .others
        .iter()
        .flat_map(|(row, label)| [*row as u64, u64::from(*label)]);
    let id = digest(assigned.centers.iter().map(|x| x.to_bits()).chain(others));
    match &own.labels {
        Some((known, labels)) if *known == id => labels.clone(),
        _ => {
            let labels = search.labels_of_block(assigned, start);
            own.labels = Some((id, labels.clone()));
            labels
        }
    }
}

/// By how much the inertia of each chunk rises without each center.
pub(crate) fn losses(search: &Search, matrix: &Elsewhere, centers: &[f64]) -> Result<Vec<Vec<f64>>> {
    let mut rounds = Rounds::new(search, matrix);
    rounds.shared.floats(centers);
    let k = search.packing().k;
    let jobs = rounds.jobs(k);
    let mut all: Vec<Vec<f64>> = Vec::new();
    rounds.run(Kernel::Losses, jobs, &mut |_, partial| {
        all.extend(partial.floats()?.chunks(k).map(<[f64]>::to_vec));
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn run_losses(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, _) = block(&mut given, &mut own)?;
    let mut partial = Writer::default();
    partial.floats(&search.losses(&given.shared.floats()?).concat());
    Ok(partial)
}

/// Packed rows: of some clusters, whose members are counted by block, the one with this number among all members.
pub(crate) fn members(
    search: &Search,
    matrix: &Elsewhere,
    assigned: &Assignment,
    counts: &[Vec<i64>],
    wanted: &[(u32, usize)],
) -> Result<Vec<Vec<f32>>> {
    let mut rounds = Rounds::new(search, matrix);
    write_assignment(assigned, &mut rounds.shared);
    let mut of_block: BTreeMap<usize, Vec<(usize, u32, usize)>> = BTreeMap::new();
    for (at, (cluster, number)) in wanted.iter().enumerate() {
        let mut left = *number;
        for (block, counts) in counts.iter().enumerate() {
            let own = counts[*cluster as usize] as usize;
            if left < own {
                of_block.entry(block).or_default().push((at, *cluster, left));
                break;
            }
            left -= own;
        }
    }
    let blocks = search.blocks();
    let job = |(block, asked): (&usize, &Vec<(usize, u32, usize)>)| {
        let mut job = rounds.job(&blocks[*block], search.packing().k);
        job.body.size(asked.len());
        asked
            .iter()
            .for_each(|(_, cluster, number)| job.body.sizes(&[*cluster as usize, *number]));
        job
    };
    let jobs = of_block.iter().map(job).collect();
    let mut rows = vec![Vec::new(); wanted.len()];
    let order: Vec<&Vec<(usize, u32, usize)>> = of_block.values().collect();
    rounds.run(Kernel::Members, jobs, &mut |task, partial| {
        for (at, ..) in order[task] {
            rows[*at] = partial.singles()?;
        }
        Ok(())
    })?;
    Ok(rows)
}

pub(super) fn run_members(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, start) = block(&mut given, &mut own)?;
    let labels = labels(&search, &read_assignment(&mut given.shared)?, start, &mut own);
    let mut wanted = Vec::new();
    for _ in 0..given.body.size()? {
        let pair = given.body.sizes()?;
        wanted.extend(pair.first().map(|cluster| *cluster as u32).zip(pair.get(1).copied()));
    }
    let mut partial = Writer::default();
    for row in search.members_here(&labels, &wanted) {
        partial.singles(&row);
    }
    Ok(partial)
}

/// The sums of the rows beyond the plane of their cluster, and their numbers.
pub(crate) fn beyond(
    search: &Search,
    matrix: &Elsewhere,
    assigned: &Assignment,
    planes: &Planes,
) -> Result<(Vec<f64>, Vec<usize>)> {
    let mut rounds = Rounds::new(search, matrix);
    write_assignment(assigned, &mut rounds.shared);
    rounds.shared.singles(&planes.normals);
    rounds.shared.singles(&planes.offsets);
    let (mut sums, mut counts) = (vec![0.0; planes.normals.len()], vec![0; planes.offsets.len()]);
    let jobs = rounds.jobs(2);
    rounds.run(Kernel::Beyond, jobs, &mut |_, partial| {
        add(&mut sums, &partial.floats()?);
        counts
            .iter_mut()
            .zip(partial.sizes()?)
            .for_each(|(count, own)| *count += own);
        Ok(())
    })?;
    Ok((sums, counts))
}

pub(super) fn run_beyond(mut given: Given) -> Result<Writer> {
    let mut own = kept(&given);
    let (search, start) = block(&mut given, &mut own)?;
    let labels = labels(&search, &read_assignment(&mut given.shared)?, start, &mut own);
    let planes = Planes {
        normals: given.shared.singles()?,
        offsets: given.shared.singles()?,
    };
    let (sums, counts) = search.beyond(&planes, &labels);
    let mut partial = Writer::default();
    partial.floats(&sums);
    partial.sizes(&counts);
    Ok(partial)
}

/// The sums of the rows of each cluster, in double precision.
pub(crate) fn sums(search: &Search, matrix: &Elsewhere, assigned: &Assignment) -> Result<Vec<f64>> {
    let mut rounds = Rounds::new(search, matrix);
    write_assignment(assigned, &mut rounds.shared);
    let jobs = rounds.jobs(search.packing().k);
    let mut total = vec![0.0; assigned.centers.len()];
    rounds.run(Kernel::Sums, jobs, &mut |_, partial| {
        add(&mut total, &partial.floats()?);
        Ok(())
    })?;
    Ok(total)
}

pub(super) fn run_sums(mut given: Given) -> Result<Writer> {
    given.spaces::<1>()?;
    let mut own = kept(&given);
    let (search, start) = block(&mut given, &mut own)?;
    let labels = labels(&search, &read_assignment(&mut given.shared)?, start, &mut own);
    let mut partial = Writer::default();
    partial.floats(&search.sums_of(&labels));
    Ok(partial)
}

/// All rows by their nearest center.
pub(crate) fn nearest(
    search: &Search,
    matrix: &Elsewhere,
    centers: &[f64],
    members: &[usize],
    from: Option<&[f64]>,
) -> Result<Nearest> {
    let mut rounds = Rounds::new(search, matrix);
    rounds.shared.floats(centers);
    rounds.shared.sizes(members);
    rounds.shared.floats(from.unwrap_or(&[]));
    let jobs = rounds.jobs(2 * members.len());
    let mut all = Nearest {
        labels: Vec::with_capacity(matrix.rows),
        costs: Vec::with_capacity(matrix.rows),
        away: from.map_or(Vec::new(), |from| vec![0.0; from.len()]),
    };
    rounds.run(Kernel::Nearest, jobs, &mut |_, partial| {
        all.labels.extend(partial.words()?);
        all.costs.extend(partial.floats()?);
        add(&mut all.away, &partial.floats()?);
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn run_nearest(mut given: Given) -> Result<Writer> {
    given.spaces::<1>()?;
    let mut own = kept(&given);
    let (search, _) = block(&mut given, &mut own)?;
    let (centers, members, from) = (given.shared.floats()?, given.shared.sizes()?, given.shared.floats()?);
    let found = search.nearest_here(&centers, &members, (!from.is_empty()).then_some(&from));
    let mut partial = Writer::default();
    partial.words(&found.labels);
    partial.floats(&found.costs);
    partial.floats(&found.away);
    Ok(partial)
}
