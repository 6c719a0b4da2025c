// SPDX-License-Identifier: MIT
//! Rows themselves: brought here where they are few, and looked at where they are.

use super::bytes::Writer;
use super::{Elsewhere, Given, Job, Kernel, Plan, super_blocks};
use crate::data::{Slice, Space, Values};
use crate::error::Result;
use crate::run::Driver;

/// All rows of a matrix that is small enough to be here.
pub(crate) fn fetch(matrix: &Elsewhere, name: &str, driver: &Driver) -> Result<Space> {
    values_of(matrix, name, matrix.by_super_block(1.0), matrix.rows, driver)
}

/// Some rows, in ascending order.
pub(crate) fn some_rows(matrix: &Elsewhere, name: &str, rows: &[u32], driver: &Driver) -> Result<Space> {
    let mut jobs = Vec::new();
    let mut rest = rows;
    for span in super_blocks(matrix.rows) {
        let (own, others) = rest.split_at(rest.partition_point(|row| (*row as usize) < span.end));
        rest = others;
        if !own.is_empty() {
            jobs.push(Job {
                reads: vec![matrix.each(own.to_vec())],
                cost: (own.len() * matrix.columns) as f64,
                ..Job::default()
            });
        }
    }
    values_of(matrix, name, jobs, rows.len(), driver)
}

fn values_of(matrix: &Elsewhere, name: &str, jobs: Vec<Job>, rows: usize, driver: &Driver) -> Result<Space> {
    let mut values = Vec::with_capacity(rows * matrix.columns);
    let plan = Plan::new("reading", Kernel::Rows, Writer::default(), jobs);
    matrix.run(plan, driver, &mut |_, partial| {
        values.extend(partial.floats()?);
        Ok(())
    })?;
    let values: Values = if matrix.is_single {
        values.iter().map(|x| *x as f32).collect::<Vec<f32>>().into()
    } else {
        values.into()
    };
    Space::new(name, rows, matrix.columns, values)
}

/// Hands out its rows.
pub(super) fn run_rows(given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let mut partial = Writer::default();
    partial.floats(&match space.slice() {
        Slice::F32(values) => values.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>(),
        Slice::F64(values) => values.to_vec(),
    });
    Ok(partial)
}

/// Two words for each of the first rows that are the same for equal rows: see `findings`.
pub(crate) fn digests(matrix: &Elsewhere, most: usize, driver: &Driver) -> Result<Vec<[u64; 2]>> {
    let job = |span: std::ops::Range<usize>| Job {
        cost: (span.len() * matrix.columns) as f64,
        reads: vec![matrix.span(span)],
        ..Job::default()
    };
    let jobs = super_blocks(most.min(matrix.rows)).map(job).collect();
    let mut all = Vec::new();
    matrix.run(
        Plan::new("copies", Kernel::Copies, Writer::default(), jobs),
        driver,
        &mut |_, partial| {
            for _ in 0..partial.size()? {
                all.push([partial.number()?, partial.number()?]);
            }
            Ok(())
        },
    )?;
    Ok(all)
}

pub(super) fn run_copies(given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let mut partial = Writer::default();
    partial.size(space.rows());
    for digest in crate::findings::digests(space, space.rows()) {
        digest.into_iter().for_each(|word| partial.number(word));
    }
    Ok(partial)
}
