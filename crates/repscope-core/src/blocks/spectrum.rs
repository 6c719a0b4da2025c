// SPDX-License-Identifier: MIT
//! The scatter matrix of a matrix that is elsewhere, and what each of its rows adds to it.

use super::bytes::Writer;
use super::frames::frame;
use super::{Elsewhere, Given, Kernel, Plan};
use crate::error::{Error, Result};
use crate::kernels::moments::{Moments, Side, add};
use crate::kernels::prepared::Preparation;
use crate::kernels::scatter::{FirstLook, PER_SUPER, Way, of_small_super_block, of_super_block, way};
use crate::kernels::spectrum::{ByRow, Spectrum};
use crate::run::Driver;

/// The spectrum, as [`Spectrum::new`] finds it in a space.
pub(crate) fn spectrum(matrix: &Elsewhere, name: &str, wants_rows: bool, driver: &Driver) -> Result<Spectrum> {
    let (n, d) = (matrix.rows, matrix.columns);
    if n < d {
        return Err(Error::input(format!(
            "`{name}` has {n} rows of {d} columns; of rows that are not on this machine the spectrum takes at least as many rows as \
             columns"
        )));
    }
    let frame = frame(matrix, name, Preparation::Raw, driver)?;
    let found = scatter(matrix, &frame.mean, driver)?;
    let moments = Moments {
        n,
        d,
        mean: frame.mean.clone(),
        scatter: found,
        side: Side::Columns,
    };
    let by_row = if wants_rows {
        Some(forms(matrix, &moments, driver)?)
    } else {
        None
    };
    Ok(Spectrum::of_moments(moments, by_row))
}

/// Which strips of a super-block are added up, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All, of few columns.
    Small,
    /// All, by f64 products.
    Double,
    /// Those that are looked at first, by f32 products.
    Look,
    /// And the others.
    Rest,
}

const PARTS: [Part; 4] = [Part::Small, Part::Double, Part::Look, Part::Rest];

fn scatter(matrix: &Elsewhere, mean: &[f64], driver: &Driver) -> Result<Vec<f64>> {
    let shape = (matrix.rows, matrix.columns);
    let (mut total, mut probed) = (vec![0.0; shape.1 * shape.1], vec![0.0; shape.1]);
    match way(shape, Side::Columns, matrix.is_single) {
        Way::Blocks => sum(matrix, mean, Part::Small, &mut total, &mut probed, driver)?,
        Way::Single => {
            let look = FirstLook::new(shape.0, shape.1);
            sum(matrix, mean, Part::Look, &mut total, &mut probed, driver)?;
            if let Some(expected) = look.error_to_expect(total.clone(), &probed) {
                sum(matrix, mean, Part::Rest, &mut total, &mut probed, driver)?;
                if look.confirms(&total, &probed, expected) {
                    return Ok(total);
                }
            }
            total.fill(0.0);
            sum(matrix, mean, Part::Double, &mut total, &mut probed, driver)?;
        }
        Way::Double => sum(matrix, mean, Part::Double, &mut total, &mut probed, driver)?,
    }
    Ok(total)
}

/// Adds up a part of each super-block.
fn sum(
    matrix: &Elsewhere,
    mean: &[f64],
    part: Part,
    total: &mut [f64],
    probed: &mut [f64],
    driver: &Driver,
) -> Result<()> {
    let mut shared = Writer::default();
    shared.floats(mean);
    shared.size(part as usize);
    shared.size(matrix.rows);
    let mut jobs = matrix.by_super_block(matrix.columns as f64);
    for (number, job) in jobs.iter_mut().enumerate() {
        job.body.size(number);
    }
    let plan = Plan::new("moments", Kernel::Scatter, shared, jobs);
    matrix.run(plan, driver, &mut |_, partial| {
        let (lower, of_signs) = (partial.floats()?, partial.floats()?);
        let mut lower = lower.into_iter();
        let d = matrix.columns;
        for i in 0..d {
            for j in 0..=i {
                let sum = lower.next().unwrap_or(f64::NAN);
                total[i * d + j] += sum;
                if i != j {
                    total[j * d + i] += sum;
                }
            }
        }
        if !of_signs.is_empty() {
            add(probed, &of_signs);
        }
        Ok(())
    })
}

pub(super) fn run_scatter(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let mean = given.shared.floats()?;
    let part = given.shared.size()?;
    let part = PARTS.iter().find(|own| **own as usize == part).copied();
    let (rows, number) = (given.shared.size()?, given.body.size()?);
    let (d, driver) = (space.columns(), given.driver);
    let look = FirstLook::new(rows, d);
    let is_looked_at = |strip: usize| look.takes(number * PER_SUPER + strip);
    let (found, probed) = match part {
        Some(Part::Small) => (of_small_super_block(space, &mean, driver), Vec::new()),
        Some(Part::Double) => of_super_block(space, &mean, None, |_| true, driver),
        Some(Part::Look) => of_super_block(space, &mean, Some(&look.signs), is_looked_at, driver),
        Some(Part::Rest) => of_super_block(space, &mean, Some(&look.signs), |strip| !is_looked_at(strip), driver),
        None => return Err(Error::Internal("a part of the moments that does not exist".to_string())),
    };
    let mut partial = Writer::default();
    let lower: Vec<f64> = (0..d).flat_map(|i| found[i * d..=i * d + i].iter().copied()).collect();
    partial.floats(&lower);
    partial.floats(&probed);
    Ok(partial)
}

/// What each row adds.
fn forms(matrix: &Elsewhere, moments: &Moments, driver: &Driver) -> Result<ByRow> {
    let mut shared = Writer::default();
    shared.size(moments.n);
    shared.floats(&moments.mean);
    shared.floats(&moments.scatter);
    let mut all = ByRow {
        squares: Vec::with_capacity(matrix.rows),
        forms: Vec::with_capacity(matrix.rows),
    };
    let jobs = matrix.by_super_block(matrix.columns as f64);
    matrix.run(
        Plan::new("what rows add", Kernel::Forms, shared, jobs),
        driver,
        &mut |_, partial| {
            all.squares.extend(partial.floats()?);
            all.forms.extend(partial.floats()?);
            Ok(())
        },
    )?;
    Ok(all)
}

pub(super) fn run_forms(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let moments = Moments {
        n: given.shared.size()?,
        d: space.columns(),
        mean: given.shared.floats()?,
        scatter: given.shared.floats()?,
        side: Side::Columns,
    };
    let found = ByRow::by_columns(space, &moments, given.driver);
    let mut partial = Writer::default();
    partial.floats(&found.squares);
    partial.floats(&found.forms);
    Ok(partial)
}
