// SPDX-License-Identifier: MIT
//! The center and the scale of a matrix: what every block needs before distances are taken.

use std::sync::{Arc, PoisonError};

use super::bytes::{Reader, Writer};
use super::rows::some_rows;
use super::{Elsewhere, Given, Kernel, Plan, SUPER_BLOCK};
use crate::data::Space;
use crate::error::Result;
use crate::kernels::moments::{Means, add};
use crate::kernels::prepared::{Frame, Preparation, Prepared, factors_or_zero, no_direction};
use crate::run::Driver;

/// Finds the frame of a matrix, once.
pub(crate) fn frame(matrix: &Elsewhere, name: &str, preparation: Preparation, driver: &Driver) -> Result<Arc<Frame>> {
    let known = || matrix.frames.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known().get(&preparation) {
        return Ok(found.clone());
    }
    let mean = means(matrix, name, preparation, driver)?;
    let mut shared = Writer::default();
    shared.truth(preparation == Preparation::Unit);
    shared.floats(&mean);
    let mut longest = 0.0f64;
    let plan = Plan::new("lengths", Kernel::Longest, shared, matrix.by_super_block(2.0));
    matrix.run(plan, driver, &mut |_, partial| {
        longest = longest.max(partial.float()?);
        Ok(())
    })?;
    let found = Arc::new(Frame::new(mean, longest));
    known().insert(preparation, found.clone());
    Ok(found)
}

/// The mean of each column.
pub(super) fn means(matrix: &Elsewhere, name: &str, preparation: Preparation, driver: &Driver) -> Result<Vec<f64>> {
    let first = some_rows(matrix, name, &[0], driver)?;
    let factors = factors(&first, preparation).map_err(|row| no_direction(name, row))?;
    let origin = Means::origin(&first, factors.as_deref());
    let mut shared = Writer::default();
    shared.truth(preparation == Preparation::Unit);
    shared.floats(&origin);
    let mut sums = vec![0.0; matrix.columns];
    let plan = Plan::new("means", Kernel::ColumnSums, shared, matrix.by_super_block(2.0));
    matrix.run(plan, driver, &mut |block, partial| {
        if partial.truth()? {
            return Err(no_direction(name, block * SUPER_BLOCK + partial.size()?));
        }
        add(&mut sums, &partial.floats()?);
        Ok(())
    })?;
    Ok(Means::from_sums(&origin, &sums, matrix.rows))
}

/// 1 / ‖x‖ of each row where only directions count; a row of length zero has none.
fn factors(space: &Space, preparation: Preparation) -> std::result::Result<Option<Vec<f64>>, usize> {
    match preparation {
        Preparation::Raw => Ok(None),
        Preparation::Unit => factors_or_zero(space).map(Some),
    }
}

fn preparation(shared: &mut Reader) -> Result<Preparation> {
    Ok(if shared.truth()? {
        Preparation::Unit
    } else {
        Preparation::Raw
    })
}

pub(super) fn run_sums(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let preparation = preparation(&mut given.shared)?;
    let origin = given.shared.floats()?;
    let mut partial = Writer::default();
    let factors = match factors(space, preparation) {
        Ok(factors) => factors,
        Err(row) => {
            partial.truth(true);
            partial.size(row);
            return Ok(partial);
        }
    };
    partial.truth(false);
    partial.floats(&Means::sums(space, factors.as_deref(), &origin, given.driver));
    Ok(partial)
}

pub(super) fn run_longest(mut given: Given) -> Result<Writer> {
    let [space] = given.spaces()?;
    let preparation = preparation(&mut given.shared)?;
    let frame = Frame::new(given.shared.floats()?, 0.0);
    let mut partial = Writer::default();
    partial.float(Prepared::within(space, preparation, &frame)?.longest_row(given.driver));
    Ok(partial)
}

/// A frame as bytes.
pub(super) fn write_frame(frame: &Frame, preparation: Preparation, to: &mut Writer) {
    let (mean, scale, longest) = frame.parts();
    to.truth(preparation == Preparation::Unit);
    to.floats(mean);
    to.float(scale);
    to.float(longest);
}

pub(super) fn read_frame(from: &mut Reader) -> Result<(Frame, Preparation)> {
    let preparation = preparation(from)?;
    Ok((
        Frame::of_parts(from.floats()?, from.float()?, from.float()?),
        preparation,
    ))
}
