// SPDX-License-Identifier: MIT
//! Retrieval where queries or targets are elsewhere: super-blocks of queries rank super-blocks of targets, and the first targets of each
//! query are merged by exact similarity, then row number.
//!
//! Rows of one direction have the same cosine with everything on one machine, where each is measured as the first of its direction. So
//! each block goes with the rows that stand for some of its own.

use std::collections::HashMap;
use std::ops::Range;

use super::bytes::{Reader, Writer};
use super::pairs::{read_rows, write_rows};
use super::rows::some_rows;
use super::{Elsewhere, Given, Job, Kernel, Plan, super_blocks};
use crate::data::{Slice, Space, Values};
use crate::error::{Error, Result};
use crate::findings::digest;
use crate::kernels::prepared::length;
use crate::kernels::rankings::{self, Rankings, rank};
use crate::kernels::repeats::{Repeat, read};
use crate::kernels::similarity::{Products, Side, Way};
use crate::run::Driver;
use crate::spec::Similarity;

/// What is known of the directions of a space.
pub(crate) struct Directions {
    /// Rows of length zero.
    pub(crate) zeros: usize,
    /// For each row the first one of its direction.
    pub(crate) firsts: Vec<u32>,
}

impl Directions {
    pub(crate) fn of(space: &Space, driver: &Driver) -> Result<Self> {
        let Some(matrix) = space.elsewhere() else {
            let side = Side::new(space, Similarity::Cosine, driver);
            return Ok(Directions {
                zeros: side.zeros,
                firsts: side.firsts,
            });
        };
        let plan = Plan::new(
            "directions",
            Kernel::Directions,
            Writer::default(),
            matrix.by_super_block(4.0),
        );
        let mut zeros = 0;
        // Looked up only, so its order reaches no result.
        let mut seen: HashMap<[u64; 2], u32> = HashMap::new();
        let mut firsts = Vec::with_capacity(matrix.rows);
        matrix.run(plan, driver, &mut |_, partial| {
            zeros += partial.size()?;
            for _ in 0..partial.size()? {
                let row = firsts.len() as u32;
                firsts.push(*seen.entry([partial.number()?, partial.number()?]).or_insert(row));
            }
            Ok(())
        })?;
        Ok(Directions { zeros, firsts })
    }

    /// How many rows repeat the direction of an earlier one.
    pub(crate) fn repeats(&self) -> usize {
        (0u32..).zip(&self.firsts).filter(|(row, first)| row != *first).count()
    }

    /// The places in a block of rows that others stand for, and which these are.
    fn stood_for(&self, block: &Range<usize>) -> (Vec<u32>, Vec<u32>) {
        let rows = block.clone().filter(|row| self.firsts[*row] as usize != *row);
        rows.map(|row| ((row - block.start) as u32, self.firsts[row])).unzip()
    }
}

pub(super) fn run_directions(given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let mut row = vec![0.0; space.columns()];
    let mut zeros = 0;
    let mut digests = Writer::default();
    for i in 0..space.rows() {
        space.read_row(i, &mut row);
        zeros += usize::from(length(&row) < f64::MIN_POSITIVE);
        read(space, i, Repeat::Direction, &mut row);
        // Adding 0 turns −0 into 0.
        digest(row.iter().map(|x| (x + 0.0).to_bits()))
            .into_iter()
            .for_each(|word| digests.number(word));
    }
    let mut partial = Writer::default();
    partial.size(zeros);
    partial.size(space.rows());
    partial.append(digests);
    Ok(partial)
}

/// A space, cut into super-blocks, and what goes along with them.
struct Cut {
    blocks: Vec<Range<usize>>,
    /// For each block rows that stand for others, or all of its rows where these are here.
    parts: Vec<Writer>,
}

fn cut(space: &Space, directions: &Directions, driver: &Driver) -> Result<Cut> {
    let blocks: Vec<Range<usize>> = super_blocks(space.rows()).collect();
    let part = |block: &Range<usize>| -> Result<Writer> {
        let mut part = Writer::default();
        part.truth(space.elsewhere().is_some());
        match space.elsewhere() {
            Some(matrix) => {
                let (places, rows) = directions.stood_for(block);
                let mut wanted = rows.clone();
                wanted.sort_unstable();
                wanted.dedup();
                part.words(&places);
                part.words(
                    &rows
                        .iter()
                        .map(|row| wanted.partition_point(|own| own < row) as u32)
                        .collect::<Vec<u32>>(),
                );
                if !wanted.is_empty() {
                    write_rows(&some_rows(matrix, space.name(), &wanted, driver)?, &mut part);
                }
            }
            None => {
                let rows: Vec<usize> = block.clone().map(|row| directions.firsts[row] as usize).collect();
                write_rows(&space.select(&rows)?, &mut part);
            }
        }
        Ok(part)
    };
    Ok(Cut {
        parts: blocks.iter().map(part).collect::<Result<_>>()?,
        blocks,
    })
}

/// The first targets of each query by the cosine.
pub(crate) fn rank_elsewhere(
    queries: &Space,
    targets: &Space,
    directions: [&Directions; 2],
    (is_self, depth): (bool, usize),
    driver: &Driver,
) -> Result<Rankings> {
    let matrix: &Elsewhere = match queries.elsewhere().or(targets.elsewhere()) {
        Some(matrix) => matrix,
        None => return Err(Error::Internal("a retrieval whose spaces are here".to_string())),
    };
    let (mine, theirs) = (
        cut(queries, directions[0], driver)?,
        cut(targets, directions[1], driver)?,
    );
    let mut shared = Writer::default();
    shared.size(depth);
    shared.size(queries.columns());
    let offset = mine.parts.len();
    let (mut jobs, mut places) = (Vec::new(), Vec::new());
    for (q, of_queries) in mine.blocks.iter().enumerate() {
        for (t, of_targets) in theirs.blocks.iter().enumerate() {
            let mut job = Job {
                parts: vec![q, offset + t],
                cost: (of_queries.len() * of_targets.len() * queries.columns()) as f64,
                ..Job::default()
            };
            let is_same = is_self && q == t;
            job.body.truth(is_same);
            job.reads
                .extend(queries.elsewhere().map(|own| own.span(of_queries.clone())));
            if !is_same {
                job.reads
                    .extend(targets.elsewhere().map(|own| own.span(of_targets.clone())));
            }
            jobs.push(job);
            places.push((q, t));
        }
    }
    let mut lists: Vec<Vec<(f64, u32)>> = vec![Vec::new(); queries.rows()];
    let plan = Plan {
        parts: mine.parts.into_iter().chain(theirs.parts).collect(),
        ..Plan::new("rankings", Kernel::Rank, shared, jobs)
    };
    matrix.run(plan, driver, &mut |number, partial| {
        let (q, t) = places[number];
        let count = partial.size()?;
        let (similarities, rows) = (partial.floats()?, partial.words()?);
        let found = similarities.chunks(count.max(1)).zip(rows.chunks(count.max(1)));
        for (list, (similarities, rows)) in lists[mine.blocks[q].clone()].iter_mut().zip(found) {
            let start = theirs.blocks[t].start as u32;
            list.extend(similarities.iter().copied().zip(rows.iter().map(|row| start + row)));
            list.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            list.truncate(depth);
        }
        Ok(())
    })?;
    Ok(Rankings {
        depth,
        targets: lists.iter().flatten().map(|own| own.1).collect(),
        standings: Vec::new(),
    })
}

/// The rows of a block as they are measured.
fn block<'a>(part: &mut Reader, columns: usize, spaces: &mut impl Iterator<Item = &'a Space>) -> Result<Space> {
    if !part.truth()? {
        return read_rows("rows", columns, part);
    }
    let missing = || Error::Internal("a task without its rows".to_string());
    let space = spaces.next().ok_or_else(missing)?;
    let (places, of) = (part.words()?, part.words()?);
    if places.is_empty() {
        return Ok(space.clone());
    }
    let others = read_rows("rows", columns, part)?;
    fn replaced<T: Copy>(own: &[T], others: &[T], columns: usize, places: &[u32], of: &[u32]) -> Vec<T> {
        let mut values = own.to_vec();
        for (place, other) in places.iter().zip(of) {
            let other = &others[*other as usize * columns..][..columns];
            values[*place as usize * columns..][..columns].copy_from_slice(other);
        }
        values
    }
    let values: Values = match (space.slice(), others.slice()) {
        (Slice::F32(own), Slice::F32(others)) => replaced(own, others, columns, &places, &of).into(),
        (Slice::F64(own), Slice::F64(others)) => replaced(own, others, columns, &places, &of).into(),
        _ => return Err(missing()),
    };
    Space::new(space.name(), space.rows(), columns, values)
}

pub(super) fn run_rank(mut given: Given) -> Result<Writer> {
    let (depth, columns) = (given.shared.size()?, given.shared.size()?);
    let is_self = given.body.truth()?;
    let mut spaces = given.spaces.iter();
    let [of_queries, of_targets] = &mut given.parts[..] else {
        return Err(Error::Internal("a task without its parts".to_string()));
    };
    let queries = block(of_queries, columns, &mut spaces)?;
    let targets = if is_self {
        queries.clone()
    } else {
        block(of_targets, columns, &mut spaces)?
    };
    let driver = given.driver;
    let query = Side::new(&queries, Similarity::Cosine, driver);
    let target = Side::new(&targets, Similarity::Cosine, driver);
    let products = Products::new(&query, if is_self { &query } else { &target });
    let job = rankings::Job {
        products,
        way: Way::There,
        relevances: &[],
        is_self,
        depth: depth.min(targets.rows() - usize::from(is_self)),
        influence: None,
    };
    let mut partial = Writer::default();
    partial.size(job.depth);
    if job.depth == 0 {
        partial.floats(&[]);
        partial.words(&[]);
        return Ok(partial);
    }
    let found = rank(&job, driver);
    let exact = driver.blocks(queries.rows(), 256, |rows| {
        let of_row = |q: usize| found.of(q).iter().map(move |t| products.exact(q, *t as usize));
        rows.flat_map(of_row).collect::<Vec<f64>>()
    });
    partial.floats(&exact.concat());
    partial.words(&found.targets);
    Ok(partial)
}
