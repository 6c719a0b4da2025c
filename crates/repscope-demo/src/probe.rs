// SPDX-License-Identifier: MIT
//! What an encoder has learned, by the factors that are known: do its codes differ, in how many directions, and does a linear
//! map of them tell where the main object is?

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::training::LATENT;
use crate::world::Factors;

/// What codes of held-out frames are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The encoder.
    pub name: String,
    /// Standard deviation of a coordinate, the root of the mean over all of them.
    pub deviation: f64,
    /// (Σλ)² / Σλ² of the covariance.
    pub participation_ratio: f64,
    /// R² of the place from the left and from the top, by ridge regression on codes of training frames. It does not see
    /// scale: codes that hardly differ can still tell.
    pub place: [f64; 2],
}

/// Ridge in standard units, per frame.
const RIDGE: f64 = 1e-3;

/// Codes and what is true of their frames.
pub(crate) struct Known<'a> {
    pub(crate) codes: &'a [f32],
    pub(crate) factors: &'a [&'a Factors],
}

pub(crate) fn learned(name: &str, train: &Known, test: &Known) -> Learned {
    let (means, covariance) = moments(test.codes);
    let total: f64 = (0..LATENT).map(|at| covariance[(at, at)]).sum();
    let squares: f64 = covariance.col_iter().map(|column| column.squared_norm_l2()).sum();
    let deviation = |at: usize| covariance[(at, at)].sqrt().max(f64::MIN_POSITIVE);
    // The last column is the constant.
    let matrix = |codes: &[f32]| {
        Mat::from_fn(codes.len() / LATENT, LATENT + 1, |row, at| match at {
            LATENT => 1.0,
            _ => (f64::from(codes[row * LATENT + at]) - means[at]) / deviation(at),
        })
    };
    let places = |factors: &[&Factors]| {
        Mat::from_fn(factors.len(), 2, |row, axis| {
            f64::from([factors[row].x, factors[row].y][axis])
        })
    };
    let (seen, seen_places) = (matrix(train.codes), places(train.factors));
    let mut squared = seen.transpose() * &seen;
    for at in 0..LATENT {
        squared[(at, at)] += RIDGE * train.factors.len() as f64;
    }
    let place = match squared.llt(Side::Lower) {
        Ok(factor) => {
            let weights = factor.solve(seen.transpose() * &seen_places);
            explained(&(matrix(test.codes) * weights), &places(test.factors))
        }
        Err(_) => [f64::NAN; 2],
    };
    Learned {
        name: name.to_string(),
        deviation: (total / LATENT as f64).sqrt(),
        participation_ratio: total * total / squares,
        place,
    }
}

/// Means and covariance of codes.
fn moments(codes: &[f32]) -> (Vec<f64>, Mat<f64>) {
    let count = codes.len() / LATENT;
    let column = |at: usize| codes.iter().skip(at).step_by(LATENT).map(|&z| f64::from(z));
    let means: Vec<f64> = (0..LATENT).map(|at| column(at).sum::<f64>() / count as f64).collect();
    let centred = Mat::from_fn(count, LATENT, |row, at| f64::from(codes[row * LATENT + at]) - means[at]);
    let covariance = centred.transpose() * &centred;
    (means, covariance * faer::Scale(1.0 / count as f64))
}

/// R² of each column.
fn explained(found: &Mat<f64>, truth: &Mat<f64>) -> [f64; 2] {
    std::array::from_fn(|axis| {
        let rows = || 0..truth.nrows();
        let mean = rows().map(|row| truth[(row, axis)]).sum::<f64>() / truth.nrows() as f64;
        let left: f64 = rows()
            .map(|row| (truth[(row, axis)] - found[(row, axis)]).powi(2))
            .sum();
        let all: f64 = rows().map(|row| (truth[(row, axis)] - mean).powi(2)).sum();
        1.0 - left / all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;

    #[test]
    fn codes_that_hold_the_place_tell_it_and_constant_ones_do_not() {
        let world = World::new(1, "test", 40, 5);
        let factors = world.factors();
        let of = |code: &dyn Fn(&Factors, usize) -> f32| -> Vec<f32> {
            factors
                .iter()
                .flat_map(|f| (0..LATENT).map(|at| code(f, at)).collect::<Vec<f32>>())
                .collect()
        };
        let check = |codes: &[f32]| {
            let known = Known {
                codes,
                factors: &factors,
            };
            learned("test", &known, &known)
        };
        let telling = check(&of(&|f, at| if at % 2 == 0 { f.x } else { f.y + f.x }));
        assert!(telling.place.iter().all(|r2| *r2 > 0.99), "{telling:?}");
        assert!((1.0..=2.0).contains(&telling.participation_ratio), "{telling:?}");
        let constant = check(&of(&|_, _| 3.0));
        assert!(
            constant.deviation < 1e-6 && constant.place.iter().all(|r2| r2.abs() < 1e-6),
            "{constant:?}"
        );
    }
}
