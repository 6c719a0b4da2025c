// SPDX-License-Identifier: MIT
//! Rows themselves: brought here where they are few, and looked at where they are.

use super::bytes::{Reader, Writer};
use super::{Elsewhere, Given, Job, Kernel, Plan, super_blocks};
use crate::data::{Labels, Slice, Space, Values};
use crate::error::{Error, Result};
use crate::kernels::clusters::{Clusters, OfHalf, Swaps, kmeans, kmeans_of_halves};
use crate::run::Driver;
use crate::spec::Spec;

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

/// k-means of all rows, of random halves of them, and the squared distance of each row from the mean. One worker does it, and holds
/// all rows.
pub(crate) fn clusters(
    matrix: &Elsewhere,
    groups: Option<&Labels>,
    with_halves: bool,
    spec: &Spec,
    driver: &Driver,
) -> Result<(Clusters, Vec<OfHalf>, Vec<f64>)> {
    let mut body = Writer::default();
    body.size(spec.clusters);
    body.size(spec.restarts);
    body.size(if with_halves { spec.clusterings } else { 0 });
    body.number(spec.seed);
    body.words(groups.map_or(&[], Labels::codes));
    body.size(groups.map_or(0, Labels::classes));
    let job = Job {
        reads: vec![matrix.span(0..matrix.rows)],
        parts: Vec::new(),
        body,
        cost: f64::INFINITY,
    };
    let mut found = None;
    let plan = Plan::new("k-means", Kernel::Clusters, Writer::default(), vec![job]);
    matrix.run(plan, driver, &mut |_, partial| {
        let clusters = Clusters {
            k: partial.size()?,
            labels: partial.words()?,
            centers: partial.floats()?,
            counts: counts(partial)?,
            costs: partial.floats()?,
            inertia: partial.float()?,
            total: partial.float()?,
            iterations: partial.size()?,
            restart: partial.size()?,
        };
        let deviations = partial.floats()?;
        let mut halves = Vec::new();
        for _ in 0..partial.size()? {
            halves.push(OfHalf {
                labels: partial.words()?,
                counts: counts(partial)?,
                inertia: partial.float()?,
                own_counts: counts(partial)?,
            });
        }
        found = Some((clusters, halves, deviations));
        Ok(())
    })?;
    found.ok_or_else(|| Error::Internal("k-means without a partial".to_string()))
}

fn counts(partial: &mut Reader) -> Result<Vec<usize>> {
    Ok(partial.words()?.into_iter().map(|count| count as usize).collect())
}

pub(super) fn run_clusters(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let (body, driver) = (&mut given.body, given.driver);
    let (k, restarts, clusterings, seed) = (body.size()?, body.size()?, body.size()?, body.number()?);
    let codes = body.words()?;
    let classes = body.size()?;
    let groups = (classes > 0).then(|| Labels::from_codes(codes, classes));
    let found = kmeans(space, None, k, restarts, Swaps::Tried, seed, driver);
    let halves = match clusterings {
        0 => Vec::new(),
        count => kmeans_of_halves(space, &found, groups.as_ref(), restarts, count, seed, driver),
    };
    let words = |counts: &[usize]| counts.iter().map(|count| *count as u32).collect::<Vec<u32>>();
    let mut partial = Writer::default();
    partial.size(found.k);
    partial.words(&found.labels);
    partial.floats(&found.centers);
    partial.words(&words(&found.counts));
    partial.floats(&found.costs);
    partial.float(found.inertia);
    partial.float(found.total);
    partial.size(found.iterations);
    partial.size(found.restart);
    partial.floats(&crate::metrics::squared_deviations(space));
    partial.size(halves.len());
    for half in halves {
        partial.words(&half.labels);
        partial.words(&words(&half.counts));
        partial.float(half.inertia);
        partial.words(&words(&half.own_counts));
    }
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
