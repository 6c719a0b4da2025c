// SPDX-License-Identifier: MIT
//! Passes over pairs of rows: super-blocks of queries meet super-blocks of targets.
//!
//! Where all rows are queries, two super-blocks meet once and each finds what it looks for in the other. Where some rows are, they are
//! brought here first and go along with the tasks, because they stand in many shards.

use std::collections::BTreeMap;
use std::ops::Range;

use super::bytes::{Reader, Writer};
use super::frames::{frame, read_frame, write_frame};
use super::rows::some_rows;
use super::selection::select;
use super::{Elsewhere, Given, Job, Kernel, Plan, SUPER_BLOCK, super_blocks};
use crate::data::{Labels, Slice, Space, Values};
use crate::error::{Error, Result};
use crate::kernels::influence::{Asking, Nearness, pull_on, sample_of};
use crate::kernels::knn_vote::squared_distances;
use crate::kernels::moments::add;
use crate::kernels::neighbors::Neighbors;
use crate::kernels::prepared::{Frame, Preparation, Prepared};
use crate::kernels::ranks::{Ranks, Thresholds};
use crate::kernels::tiles::{Anchors, Ask, Found, Queries, Results, meet_super_block, meet_super_blocks};
use crate::run::Driver;

/// The queries of a pass, in groups: the rows of a super-block where all rows are queries, else anchors.
struct Group {
    /// Which queries.
    queries: Range<usize>,
    /// Their rows, where these are brought here.
    anchors: Option<Space>,
}

fn groups(matrix: &Elsewhere, name: &str, anchors: Anchors, driver: &Driver) -> Result<Vec<Group>> {
    let Anchors::Some(rows) = anchors else {
        let group = |queries| Group { queries, anchors: None };
        return Ok(super_blocks(matrix.rows).map(group).collect());
    };
    super_blocks(rows.len())
        .map(|queries| {
            let anchors = Some(some_rows(matrix, name, &rows[queries.clone()], driver)?);
            Ok(Group { queries, anchors })
        })
        .collect()
}

impl Group {
    /// The row numbers of the queries.
    fn rows(&self, anchors: Anchors) -> Vec<u32> {
        self.queries.clone().map(|q| anchors.row(q) as u32).collect()
    }

    /// Row numbers, and the rows where they are here.
    fn write(&self, anchors: Anchors, to: &mut Writer) {
        to.words(&self.rows(anchors));
        to.truth(self.anchors.is_some());
        if let Some(space) = &self.anchors {
            write_rows(space, to);
        }
    }
}

pub(super) fn write_rows(space: &Space, to: &mut Writer) {
    match space.slice() {
        Slice::F32(values) => {
            to.truth(true);
            to.words(&values.iter().map(|x| x.to_bits()).collect::<Vec<u32>>());
        }
        Slice::F64(values) => {
            to.truth(false);
            to.floats(values);
        }
    }
}

/// Rows that came along with a task.
pub(super) fn read_rows(name: &str, columns: usize, from: &mut Reader) -> Result<Space> {
    let values: Values = if from.truth()? {
        from.words()?
            .into_iter()
            .map(f32::from_bits)
            .collect::<Vec<f32>>()
            .into()
    } else {
        from.floats()?.into()
    };
    let count = match &values {
        Values::F32(values) => (**values).as_ref().len(),
        Values::F64(values) => (**values).as_ref().len(),
        Values::Elsewhere(_) => 0,
    };
    Space::new(name, count / columns, columns, values)
}

/// One sweep over the pairs of a matrix, as `tiles::sweep` makes it of a space.
pub(crate) fn sweep(
    space: &Space,
    matrix: &Elsewhere,
    preparation: Preparation,
    anchors: Anchors,
    ask: &Ask,
    driver: &Driver,
) -> Result<Results> {
    let frame = frame(matrix, space.name(), preparation, driver)?;
    let groups = groups(matrix, space.name(), anchors, driver)?;
    let mut thresholds = Vec::new();
    for others in &ask.ranks_of {
        thresholds.push(measure(matrix, &frame, preparation, anchors, &groups, others, driver)?);
    }
    let classes = ask.classes.map_or(0, Labels::classes);
    let queries = anchors.count(matrix.rows);
    let mut merged = Merged {
        nearest: Nearest::none(queries, ask.k),
        before: ask.ranks_of.iter().map(|others| vec![0; queries * others.k]).collect(),
        kernel: vec![0.0; ask.kernel.map_or(0, |_| queries)],
        classes: vec![0.0; queries * classes],
    };
    if anchors == Anchors::All && ask.kernel.is_none() && ask.classes.is_none() {
        select(matrix, (&frame, preparation), ask, &thresholds, &mut merged, driver)?;
        return Ok(merged.results(ask, &frame));
    }
    let mut shared = Writer::default();
    write_frame(&frame, preparation, &mut shared);
    shared.size(ask.k);
    shared.truth(ask.kernel.is_some());
    shared.float(ask.kernel.unwrap_or(0.0));
    shared.size(classes);
    shared.size(ask.ranks_of.len());
    // For each group what its queries are and look for, then for each super-block of targets its classes.
    let mut parts: Vec<Writer> = groups
        .iter()
        .map(|group| {
            let mut part = Writer::default();
            group.write(anchors, &mut part);
            for (others, distances) in ask.ranks_of.iter().zip(&thresholds) {
                let span = group.queries.start * others.k..group.queries.end * others.k;
                part.size(others.k);
                part.floats(&distances[span.clone()]);
                part.words(&others.rows[span]);
            }
            part
        })
        .collect();
    for rows in super_blocks(matrix.rows) {
        let mut part = Writer::default();
        part.words(ask.classes.map_or(&[], |labels| &labels.codes()[rows]));
        parts.push(part);
    }
    let blocks: Vec<Range<usize>> = super_blocks(matrix.rows).collect();
    let per_row = (SUPER_BLOCK * matrix.columns) as f64;
    let mut jobs = Vec::new();
    let mut meetings = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        let first = if group.anchors.is_some() { 0 } else { g };
        for (t, block) in blocks.iter().enumerate().skip(first) {
            let mut job = Job {
                parts: vec![g, groups.len() + t],
                cost: group.queries.len() as f64 * per_row,
                ..Job::default()
            };
            job.body.size(g);
            job.body.size(t);
            job.body.size(block.start);
            if group.anchors.is_none() {
                if g != t {
                    job.reads.push(matrix.span(blocks[g].clone()));
                    job.parts.push(t);
                }
                job.parts.push(groups.len() + g);
            }
            job.reads.push(matrix.span(block.clone()));
            jobs.push(job);
            meetings.push((
                g,
                if group.anchors.is_none() && g != t {
                    Some(t)
                } else {
                    None
                },
            ));
        }
    }
    let plan = Plan {
        parts,
        ..Plan::new("pairs", Kernel::Pairs, shared, jobs)
    };
    matrix.run(plan, driver, &mut |number, partial| {
        let (g, other) = meetings[number];
        for side in [Some(g), other].into_iter().flatten() {
            merged.take(&groups[side].queries, ask, classes, partial)?;
        }
        Ok(())
    })?;
    Ok(merged.results(ask, &frame))
}

/// What was found so far, by query.
pub(super) struct Merged {
    nearest: Nearest,
    before: Vec<Vec<u32>>,
    kernel: Vec<f64>,
    classes: Vec<f64>,
}

impl Merged {
    /// Adds what the queries of a group found in a super-block, as [`write_found`] wrote it.
    pub(super) fn take(
        &mut self,
        queries: &Range<usize>,
        ask: &Ask,
        classes: usize,
        partial: &mut Reader,
    ) -> Result<()> {
        if ask.k > 0 {
            let (lengths, distances, rows) = (partial.words()?, partial.floats()?, partial.words()?);
            let mut all = distances.into_iter().zip(rows);
            for (length, q) in lengths.into_iter().zip(queries.clone()) {
                if length > 0 {
                    self.nearest.add(q, all.by_ref().take(length as usize));
                }
            }
        }
        for (others, before) in ask.ranks_of.iter().zip(&mut self.before) {
            let own = &mut before[queries.start * others.k..queries.end * others.k];
            own.iter_mut()
                .zip(partial.words()?)
                .for_each(|(own, count)| *own += count);
        }
        if ask.kernel.is_some() {
            add(&mut self.kernel[queries.clone()], &partial.floats()?);
        }
        if classes > 0 {
            add(
                &mut self.classes[queries.start * classes..queries.end * classes],
                &partial.floats()?,
            );
        }
        Ok(())
    }

    /// The exact squared distances beyond which rows do not matter to some queries that look for so many.
    pub(super) fn bounds(&self, queries: &Range<usize>, k: usize) -> Vec<f64> {
        match k {
            0 => Vec::new(),
            _ => queries.clone().map(|q| self.nearest.last(q)).collect(),
        }
    }

    fn results(self, ask: &Ask, frame: &Frame) -> Results {
        let unit = frame.squared_unit().sqrt();
        let ranks = |(others, before): (&&Neighbors, &Vec<u32>)| Ranks {
            k: others.k,
            ranks: before.iter().map(|count| count + 1).collect(),
        };
        Results {
            neighbors: (ask.k > 0).then(|| self.nearest.neighbors(frame)),
            ranks: ask.ranks_of.iter().zip(&self.before).map(ranks).collect(),
            kernel: ask.kernel.map(|_| self.kernel),
            classes: ask
                .classes
                .map(|_| self.classes.into_iter().map(|sum| sum * unit).collect()),
        }
    }
}

/// The nearest rows of each query so far, by exact squared distance, then row: at most `k`.
struct Nearest {
    k: usize,
    counts: Vec<u32>,
    /// `k` places for each query.
    squared: Vec<f64>,
    rows: Vec<u32>,
    /// Room for a list that is merged.
    merged: Vec<(f64, u32)>,
}

impl Nearest {
    fn none(queries: usize, k: usize) -> Self {
        Nearest {
            k,
            counts: vec![0; if k > 0 { queries } else { 0 }],
            squared: vec![0.0; queries * k],
            rows: vec![0; queries * k],
            merged: Vec::new(),
        }
    }

    /// Adds what a query found.
    fn add(&mut self, q: usize, found: impl Iterator<Item = (f64, u32)>) {
        let first = q * self.k;
        let known = first..first + self.counts[q] as usize;
        let known = self.squared[known.clone()].iter().zip(&self.rows[known]);
        self.merged.clear();
        self.merged.extend(known.map(|(squared, row)| (*squared, *row)));
        self.merged.extend(found);
        self.merged
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.merged.truncate(self.k);
        self.counts[q] = self.merged.len() as u32;
        for (place, (squared, row)) in (first..).zip(&self.merged) {
            (self.squared[place], self.rows[place]) = (*squared, *row);
        }
    }

    /// The squared distance of the last of `k`; infinite where there are fewer.
    fn last(&self, q: usize) -> f64 {
        if self.counts[q] as usize == self.k {
            self.squared[(q + 1) * self.k - 1]
        } else {
            f64::INFINITY
        }
    }

    fn neighbors(mut self, frame: &Frame) -> Neighbors {
        self.squared.iter_mut().for_each(|own| *own = frame.distance(*own));
        Neighbors {
            k: self.k,
            rows: self.rows,
            distances: self.squared,
        }
    }
}

/// What queries found, with rows by their numbers in the whole.
pub(super) fn write_found(found: &Found, is_asked: bool, row: impl Fn(u32) -> u32, to: &mut Writer) {
    if is_asked {
        to.words(&found.nearest.iter().map(|list| list.len() as u32).collect::<Vec<u32>>());
        let lists = found.nearest.iter().flatten();
        to.floats(&lists.clone().map(|own| own.0).collect::<Vec<f64>>());
        to.words(&lists.map(|own| row(own.1)).collect::<Vec<u32>>());
    }
    found.before.iter().for_each(|before| to.words(before));
    if !found.kernel.is_empty() {
        to.floats(&found.kernel);
    }
    if !found.classes.is_empty() {
        to.floats(&found.classes);
    }
}

/// Queries that came as a part of a stage.
struct Part {
    rows: Vec<u32>,
    anchors: Option<Space>,
    /// Of each ranking: how many, squared distances, rows.
    rankings: Vec<(usize, Vec<f64>, Vec<u32>)>,
}

impl Part {
    fn read(columns: usize, rankings: usize, from: &mut Reader) -> Result<Self> {
        let rows = from.words()?;
        let anchors = if from.truth()? {
            Some(read_rows("anchors", columns, from)?)
        } else {
            None
        };
        let ranking = |_| Ok((from.size()?, from.floats()?, from.words()?));
        Ok(Part {
            rows,
            anchors,
            rankings: (0..rankings).map(ranking).collect::<Result<_>>()?,
        })
    }

    /// Thresholds among rows whose numbers in the whole ascend: a row that is not among them has the place of the next one, so that as
    /// many rows are before it.
    fn thresholds(&self, place: impl Fn(u32) -> u32) -> Vec<Thresholds> {
        let of = |(k, squared, rows): &(usize, Vec<f64>, Vec<u32>)| Thresholds {
            k: *k,
            exact: squared
                .iter()
                .copied()
                .zip(rows.iter().map(|row| place(*row)))
                .collect(),
        };
        self.rankings.iter().map(of).collect()
    }
}

pub(super) fn run_pairs(mut given: Given) -> Result<Writer> {
    let (frame, preparation) = read_frame(&mut given.shared)?;
    let k = given.shared.size()?;
    let (has_kernel, t) = (given.shared.truth()?, given.shared.float()?);
    let (classes, rankings) = (given.shared.size()?, given.shared.size()?);
    let (g, t_number, start) = (given.body.size()?, given.body.size()?, given.body.size()?);
    let columns = frame.mean.len();
    let mut parts = given.parts.into_iter();
    let mut next = || {
        parts
            .next()
            .ok_or_else(|| Error::Internal("a task without its parts".to_string()))
    };
    let own = Part::read(columns, rankings, &mut next()?)?;
    let codes = next()?.words()?;
    let kernel = has_kernel.then_some(t);
    let mut partial = Writer::default();
    if let Some(anchors) = &own.anchors {
        let [targets] = given.spaces else {
            return Err(one_block());
        };
        let union = Union::new(&own.rows, start..start + targets.rows());
        let space = union.space(anchors, targets)?;
        let labels = (classes > 0).then(|| union.labels(&codes, classes));
        let ask = Ask {
            kernel,
            classes: labels.as_ref(),
            ..Ask::default()
        };
        let prepared = Prepared::within(&space, preparation, &frame)?;
        let queries = Queries {
            rows: own.rows.iter().map(|row| union.place(*row)).collect(),
            k: k.min(targets.rows()),
            thresholds: own.thresholds(|row| union.place(row)),
        };
        let found = meet_super_block(&prepared, &queries, (t_number, &union.targets()), &ask, given.driver);
        write_found(&found, k > 0, |place| union.rows[place as usize], &mut partial);
        return Ok(partial);
    }
    let second = if g == t_number {
        None
    } else {
        Some(Part::read(columns, rankings, &mut next()?)?)
    };
    let own_codes = next()?.words()?;
    let (space, split) = match given.spaces {
        [own] if second.is_none() => (own.clone(), own.rows()),
        [own, other] if second.is_some() => (own.below(other)?, own.rows()),
        _ => return Err(one_block()),
    };
    let prepared = Prepared::within(&space, preparation, &frame)?;
    let labels = (classes > 0).then(|| match second {
        None => Labels::from_codes(own_codes, classes),
        Some(_) => Labels::from_codes([own_codes, codes].concat(), classes),
    });
    let ask = Ask {
        kernel,
        classes: labels.as_ref(),
        ..Ask::default()
    };
    let rows: Vec<u32> = own
        .rows
        .iter()
        .chain(second.iter().flat_map(|second| &second.rows))
        .copied()
        .collect();
    let place = |row: u32| rows.partition_point(|own| *own < row) as u32;
    let queries = |part: &Part, span: Range<u32>, others: usize| Queries {
        rows: span.collect(),
        k: k.min(others),
        thresholds: part.thresholds(place),
    };
    let (mine, theirs) = (split as u32, space.rows() as u32);
    let others = if second.is_some() { space.rows() - split } else { split };
    let first = queries(&own, 0..mine, others);
    let other = second.as_ref().map(|part| queries(part, mine..theirs, split));
    let found = meet_super_blocks(
        &prepared,
        (g, &first),
        other.as_ref().map(|other| (t_number, other)),
        &ask,
        given.driver,
    );
    for found in &found {
        write_found(found, k > 0, |place| rows[place as usize], &mut partial);
    }
    Ok(partial)
}

pub(super) fn one_block() -> Error {
    Error::Internal("a task was not given the super-blocks that it reads".to_string())
}

/// Some rows of the whole and a super-block, each row once, in the order of the whole.
struct Union {
    rows: Vec<u32>,
    anchors: Vec<u32>,
    block: Range<usize>,
}

impl Union {
    fn new(anchors: &[u32], block: Range<usize>) -> Self {
        let before = anchors.iter().copied().filter(|row| (*row as usize) < block.start);
        let behind = anchors.iter().copied().filter(|row| (*row as usize) >= block.end);
        let rows = before.chain(block.start as u32..block.end as u32).chain(behind);
        Union {
            rows: rows.collect(),
            anchors: anchors.to_vec(),
            block,
        }
    }

    /// The place of a row, or that of the next one.
    fn place(&self, row: u32) -> u32 {
        self.rows.partition_point(|own| *own < row) as u32
    }

    /// The places of the super-block.
    fn targets(&self) -> Vec<u32> {
        let first = self.place(self.block.start as u32);
        (first..first + self.block.len() as u32).collect()
    }

    /// Classes of the targets; others have any.
    fn labels(&self, codes: &[u32], classes: usize) -> Labels {
        let code = |row: &u32| {
            codes
                .get((*row as usize).wrapping_sub(self.block.start))
                .copied()
                .unwrap_or(0)
        };
        Labels::from_codes(self.rows.iter().map(code).collect(), classes)
    }

    /// The rows themselves.
    fn space(&self, anchors: &Space, block: &Space) -> Result<Space> {
        let before = self.anchors.partition_point(|row| (*row as usize) < self.block.start);
        let behind = self.anchors.partition_point(|row| (*row as usize) < self.block.end);
        let mut whole = block.clone();
        if before > 0 {
            whole = anchors.part(0..before)?.below(&whole)?;
        }
        if behind < self.anchors.len() {
            whole = whole.below(&anchors.part(behind..self.anchors.len())?)?;
        }
        Ok(whole)
    }
}

/// The exact squared distances of queries to rows that are their neighbors in another space, as many for each query.
fn measure(
    matrix: &Elsewhere,
    frame: &Frame,
    preparation: Preparation,
    anchors: Anchors,
    groups: &[Group],
    others: &Neighbors,
    driver: &Driver,
) -> Result<Vec<f64>> {
    let mut shared = Writer::default();
    write_frame(frame, preparation, &mut shared);
    let parts = groups.iter().map(|group| {
        let mut part = Writer::default();
        group.write(anchors, &mut part);
        part
    });
    let parts = parts.collect();
    let (mut jobs, mut places) = (Vec::new(), Vec::new());
    for (g, group) in groups.iter().enumerate() {
        let slots = group.queries.start * others.k..group.queries.end * others.k;
        let mut by_block: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for slot in slots {
            by_block
                .entry(others.rows[slot] as usize / SUPER_BLOCK)
                .or_default()
                .push(slot);
        }
        for slots in by_block.into_values() {
            let mut rows: Vec<u32> = slots.iter().map(|slot| others.rows[*slot]).collect();
            rows.sort_unstable();
            rows.dedup();
            let mut job = Job {
                cost: (rows.len().max(slots.len()) * matrix.columns) as f64,
                parts: vec![g],
                ..Job::default()
            };
            let query = |slot: &usize| (slot / others.k - group.queries.start) as u32;
            let target = |slot: &usize| rows.partition_point(|row| *row < others.rows[*slot]) as u32;
            job.body.words(&slots.iter().map(query).collect::<Vec<u32>>());
            job.body.words(&slots.iter().map(target).collect::<Vec<u32>>());
            if group.anchors.is_none() {
                job.reads.push(matrix.span(group.queries.clone()));
            }
            job.reads.push(matrix.each(rows));
            jobs.push(job);
            places.push(slots);
        }
    }
    let mut measured = vec![0.0; others.rows.len()];
    let plan = Plan {
        parts,
        ..Plan::new("thresholds", Kernel::Measure, shared, jobs)
    };
    matrix.run(plan, driver, &mut |number, partial| {
        for (slot, squared) in places[number].iter().zip(partial.floats()?) {
            measured[*slot] = squared;
        }
        Ok(())
    })?;
    Ok(measured)
}

pub(super) fn run_measure(mut given: Given) -> Result<Writer> {
    let (frame, preparation) = read_frame(&mut given.shared)?;
    let mut part = given.parts.remove(0);
    let own = Part::read(frame.mean.len(), 0, &mut part)?;
    let (queries, targets) = (given.body.words()?, given.body.words()?);
    let space = match (&own.anchors, given.spaces) {
        (Some(anchors), [targets]) => anchors.below(targets)?,
        (None, [queries, targets]) => queries.below(targets)?,
        _ => return Err(one_block()),
    };
    let split = own.rows.len() as u32;
    let prepared = Prepared::within(&space, preparation, &frame)?;
    let pairs: Vec<(u32, u32)> = queries.into_iter().zip(targets).collect();
    let measured = given.driver.blocks(pairs.len(), 4096, |span| {
        let squared = |(q, t): &(u32, u32)| prepared.squared_distance(*q, split + t);
        pairs[span].iter().map(squared).collect::<Vec<f64>>()
    });
    let mut partial = Writer::default();
    partial.floats(&measured.concat());
    Ok(partial)
}

/// What drawing some queries anew does to the silhouettes of others: see `influence::on_silhouettes`.
pub(crate) fn influences(
    space: &Space,
    matrix: &Elsewhere,
    anchors: Anchors,
    labels: &Labels,
    sums: &[f64],
    seed: u64,
    driver: &Driver,
) -> Result<Vec<(u32, f64)>> {
    let frame = frame(matrix, space.name(), Preparation::Raw, driver)?;
    let (counts, codes) = (labels.counts(), labels.codes());
    let queries = anchors.count(matrix.rows);
    let sample = sample_of(queries, matrix.columns, seed);
    let rows: Vec<u32> = sample.iter().map(|q| anchors.row(*q as usize) as u32).collect();
    let sampled = some_rows(matrix, space.name(), &rows, driver)?;
    let mut shared = Writer::default();
    write_frame(&frame, Preparation::Raw, &mut shared);
    shared.words(&counts.iter().map(|count| *count as u32).collect::<Vec<u32>>());
    shared.words(&rows);
    shared.words(&rows.iter().map(|row| codes[*row as usize]).collect::<Vec<u32>>());
    write_rows(&sampled, &mut shared);
    let (mut parts, mut jobs) = (Vec::new(), Vec::new());
    for (g, group) in groups(matrix, space.name(), anchors, driver)?.into_iter().enumerate() {
        let mut part = Writer::default();
        group.write(anchors, &mut part);
        let own = group.rows(anchors);
        part.words(&own.iter().map(|row| codes[*row as usize]).collect::<Vec<u32>>());
        let near = group.queries.clone().zip(&own).map(|(q, row)| {
            let sums = &sums[q * labels.classes()..(q + 1) * labels.classes()];
            Nearness::new(sums, &counts, codes[*row as usize] as usize)
        });
        for near in near {
            near.map_or([0.0, 0.0, -1.0], |near| near.parts())
                .into_iter()
                .for_each(|x| part.float(x));
        }
        parts.push(part);
        jobs.push(Job {
            reads: match group.anchors {
                Some(_) => Vec::new(),
                None => vec![matrix.span(group.queries.clone())],
            },
            parts: vec![g],
            cost: (own.len() * matrix.columns * rows.len()) as f64,
            ..Job::default()
        });
    }
    let mut effects = vec![0.0; sample.len()];
    let plan = Plan {
        parts,
        ..Plan::new("silhouettes", Kernel::Influence, shared, jobs)
    };
    matrix.run(plan, driver, &mut |_, partial| {
        add(&mut effects, &partial.floats()?);
        Ok(())
    })?;
    let all = |effect: f64| effect * matrix.rows as f64 / queries as f64;
    Ok(sample.into_iter().zip(effects.into_iter().map(all)).collect())
}

pub(super) fn run_influence(mut given: Given) -> Result<Writer> {
    let (frame, preparation) = read_frame(&mut given.shared)?;
    let columns = frame.mean.len();
    let counts: Vec<usize> = given.shared.words()?.into_iter().map(|count| count as usize).collect();
    let (rows, classes) = (given.shared.words()?, given.shared.words()?);
    let sampled = read_rows("sampled rows", columns, &mut given.shared)?;
    let mut part = given.parts.remove(0);
    let own = Part::read(columns, 0, &mut part)?;
    let codes = part.words()?;
    let near = |_| {
        let parts = [part.float()?, part.float()?, part.float()?];
        Ok(Nearness::of_parts(parts))
    };
    let near: Vec<Option<Nearness>> = (0..codes.len()).map(near).collect::<Result<_>>()?;
    let space = match (&own.anchors, given.spaces) {
        (Some(anchors), []) => anchors.below(&sampled)?,
        (None, [queries]) => queries.below(&sampled)?,
        _ => return Err(one_block()),
    };
    let asking = own.rows.iter().zip(&codes).zip(near);
    let asking: Vec<Asking> = asking
        .map(|((row, class), near)| Asking {
            row: *row,
            class: *class,
            near,
        })
        .collect();
    let prepared = Prepared::within(&space, preparation, &frame)?;
    let split = own.rows.len();
    let effects = given.driver.map(rows.len(), |s| {
        let sampled = Asking {
            row: rows[s],
            class: classes[s],
            near: None,
        };
        let distance = |row: u32| {
            let place = own.rows.partition_point(|own| *own < row) as u32;
            prepared.distance(prepared.squared_distance(place, (split + s) as u32))
        };
        pull_on(&sampled, &asking, &counts, distance)
    });
    let mut partial = Writer::default();
    partial.floats(&effects);
    Ok(partial)
}

/// The squared distances of one row to all, as Σ (x − y)² from the first coordinate on.
pub(crate) fn squared_distances_of_row(
    space: &Space,
    matrix: &Elsewhere,
    row: usize,
    driver: &Driver,
) -> Result<Vec<f64>> {
    let own = some_rows(matrix, space.name(), &[row as u32], driver)?;
    let mut shared = Writer::default();
    shared.size(matrix.columns);
    write_rows(&own, &mut shared);
    let plan = Plan::new(
        "distances of a row",
        Kernel::Distances,
        shared,
        matrix.by_super_block(2.0),
    );
    let mut all = Vec::with_capacity(matrix.rows);
    matrix.run(plan, driver, &mut |_, partial| {
        all.extend(partial.floats()?);
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn run_distances(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let columns = given.shared.size()?;
    let row = read_rows("a row", columns, &mut given.shared)?;
    let mut partial = Writer::default();
    let squared = squared_distances(&row.below(space)?, 0, 1..space.rows() + 1);
    partial.floats(&squared.into_iter().map(|found| found.0).collect::<Vec<f64>>());
    Ok(partial)
}
