// SPDX-License-Identifier: MIT
//! Unit rows without what they share: less their mean, and brought back to length 1.

use super::moments::centered;
use super::prepared::{BLOCK, length};
use super::similarity::Side;
use crate::data::Space;
use crate::error::Result;
use crate::run::Driver;

/// A unit row nearer to the mean than this is the mean, up to rounding.
const NEAR: f64 = 1e-12;

/// The unit rows of a side less their mean, each divided by its length. A row that is the mean has no direction left and
/// becomes zero. One that had none before stays zero and does not count in the mean.
pub(crate) fn centred(side: &Side, is_double: bool, driver: &Driver) -> Result<Space> {
    let (n, d) = (side.space.rows(), side.space.columns());
    let with_direction = (n - side.zeros).max(1) as f64;
    let mean: Vec<f64> = side
        .mean(driver)
        .iter()
        .map(|m| m * (n as f64 / with_direction))
        .collect();
    let block = |b: usize| {
        let rows = b * BLOCK..n.min((b + 1) * BLOCK);
        let mut values = vec![0.0; rows.len() * d];
        let factors = side.factors()[rows.clone()].iter();
        centered(side.space, Some(side.factors()), &mean, rows, 0..d, &mut values);
        for (row, before) in values.chunks_exact_mut(d).zip(factors) {
            let length = length(row);
            let factor = if length <= NEAR || *before == 0.0 {
                0.0
            } else {
                1.0 / length
            };
            row.iter_mut().for_each(|x| *x *= factor);
        }
        values
    };
    let (blocks, name) = (n.div_ceil(BLOCK), side.space.name());
    if is_double {
        Space::from_f64(name, n, d, driver.map(blocks, block).concat())
    } else {
        let single = |b| block(b).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
        Space::from_f32(name, n, d, driver.map(blocks, single).concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;
    use crate::spec::Similarity;

    #[test]
    fn what_all_rows_share_is_gone_and_a_row_that_is_the_mean_has_no_direction() {
        // Unit rows (1, 0), (0, 1), (0.6, 0.8)·5 and −(0.6, 0.8)·5: the mean is (0.25, 0.25).
        let values = vec![3.0, 0.0, 0.0, 2.0, 3.0, 4.0, -3.0, -4.0];
        let space = Space::from_f64("z", 4, 2, values).unwrap();
        let driver = Driver::silent(Order::Parallel);
        let side = Side::new(&space, Similarity::Cosine, &driver);
        for (is_double, tolerance) in [(true, 1e-15), (false, 1e-7)] {
            let found = centred(&side, is_double, &driver).unwrap();
            let mut row = [0.0; 2];
            found.read_row(0, &mut row);
            // (0.75, −0.25) divided by √0.625.
            let length = 0.625f64.sqrt();
            assert!((row[0] - 0.75 / length).abs() < tolerance && (row[1] + 0.25 / length).abs() < tolerance);
        }
        // A row without a direction changes nothing for the others.
        let values = vec![3.0, 0.0, 0.0, 0.0, 0.0, 2.0];
        let space = Space::from_f64("z", 3, 2, values).unwrap();
        let found = centred(&Side::new(&space, Similarity::Cosine, &driver), true, &driver).unwrap();
        let mut row = [0.0; 2];
        found.read_row(2, &mut row);
        assert!((row[0] + 0.5f64.sqrt()).abs() < 1e-15 && (row[1] - 0.5f64.sqrt()).abs() < 1e-15);
        found.read_row(1, &mut row);
        assert_eq!(row, [0.0; 2]);
        let same = Space::from_f64("z", 3, 2, vec![1.0, 2.0, 2.0, 4.0, 0.3, 0.6]).unwrap();
        let found = centred(&Side::new(&same, Similarity::Cosine, &driver), true, &driver).unwrap();
        assert_eq!(Side::new(&found, Similarity::Cosine, &driver).zeros, 3);
    }
}
