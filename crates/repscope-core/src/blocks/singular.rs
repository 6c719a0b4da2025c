// SPDX-License-Identifier: MIT
//! The singular values of a matrix that is elsewhere: triangles of groups of rows, merged in their order.

use faer::Mat;

use super::bytes::{Reader, Writer};
use super::frames::frame;
use super::{Elsewhere, Given, Job, Kernel, Plan};
use crate::error::Result;
use crate::kernels::prepared::Preparation;
use crate::kernels::singular::{Asked, Function, Singular, merged, rows_of_group, triangle};
use crate::run::Driver;

/// The singular values, as [`Singular::new`] finds them in a space.
pub(crate) fn singular(
    matrix: &Elsewhere,
    name: &str,
    functions: [&[Function]; 2],
    eps: Option<f64>,
    driver: &Driver,
) -> Result<Singular> {
    let frame = frame(matrix, name, Preparation::Raw, driver)?;
    let (mean, scale, _) = frame.parts();
    let mut shared = Writer::default();
    shared.floats(mean);
    shared.float(scale);
    let rows = rows_of_group(matrix.columns);
    let groups = (0..matrix.rows.div_ceil(rows)).map(|group| Job {
        reads: vec![matrix.span(group * rows..matrix.rows.min((group + 1) * rows))],
        cost: 2.0 * rows as f64 * (matrix.columns as f64).powi(2),
        ..Job::default()
    });
    let plan = Plan::new("singular values", Kernel::Triangles, shared, groups.collect());
    let mut total = None;
    matrix.run(plan, driver, &mut |_, partial| {
        total = Some(merged(total.take(), read_matrix(partial)?));
        Ok(())
    })?;
    let total = total.unwrap_or_else(|| Mat::zeros(0, matrix.columns));
    let effects = |asked: &Asked| effects(matrix, asked, driver);
    let shape = (matrix.rows, matrix.columns);
    Singular::of_triangle(shape, mean, scale, &total, functions, eps, &effects)
}

fn write_matrix(matrix: &Mat<f64>, to: &mut Writer) {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    to.size(rows);
    to.size(columns);
    let values = (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[(i, j)]));
    to.floats(&values.collect::<Vec<f64>>());
}

fn read_matrix(from: &mut Reader) -> Result<Mat<f64>> {
    let (rows, columns) = (from.size()?, from.size()?);
    let values = from.floats()?;
    Ok(Mat::from_fn(rows, columns, |i, j| {
        values.get(i * columns + j).copied().unwrap_or(f64::NAN)
    }))
}

pub(super) fn run_triangles(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let (mean, scale) = (given.shared.floats()?, given.shared.float()?);
    let mut partial = Writer::default();
    write_matrix(&triangle(space, &mean, scale, given.driver), &mut partial);
    Ok(partial)
}

/// What each row does to functions of the singular values.
fn effects(matrix: &Elsewhere, asked: &Asked, driver: &Driver) -> Result<Vec<Vec<f64>>> {
    let mut shared = Writer::default();
    shared.size(asked.n);
    shared.floats(&asked.values);
    shared.size(asked.slopes.len());
    asked.slopes.iter().for_each(|slopes| shared.floats(slopes));
    shared.floats(&asked.mean);
    shared.float(asked.scale);
    write_matrix(&asked.vectors, &mut shared);
    let mut all = vec![Vec::with_capacity(matrix.rows); asked.slopes.len()];
    let jobs = matrix.by_super_block(matrix.columns as f64);
    matrix.run(
        Plan::new("what rows do", Kernel::Effects, shared, jobs),
        driver,
        &mut |_, partial| {
            for all in &mut all {
                all.extend(partial.floats()?);
            }
            Ok(())
        },
    )?;
    Ok(all)
}

pub(super) fn run_effects(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let shared = &mut given.shared;
    let (n, values) = (shared.size()?, shared.floats()?);
    let slopes = (0..shared.size()?).map(|_| shared.floats()).collect::<Result<_>>()?;
    let asked = Asked {
        n,
        values,
        slopes,
        mean: shared.floats()?,
        scale: shared.float()?,
        vectors: read_matrix(shared)?,
    };
    let mut partial = Writer::default();
    let effects = asked.effects_of_rows(space, given.driver);
    effects.iter().for_each(|effects| partial.floats(effects));
    Ok(partial)
}
