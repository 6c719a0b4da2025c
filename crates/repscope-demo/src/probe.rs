// SPDX-License-Identifier: MIT
//! What an encoder has learned, by the factors that are known: do its embeddings differ, in how many directions, and
//! does a linear map of them give the position of the main object?

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::training::EMBEDDING_DIM;
use crate::world::Factors;

/// What embeddings of held-out frames are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The encoder.
    pub name: String,
    /// Standard deviation of a coordinate, the root of the mean over all of them.
    pub deviation: f64,
    /// (Σλ)² / Σλ² of the covariance.
    pub participation_ratio: f64,
    /// R² of the place from the left and from the top, by ridge regression on embeddings of training frames. It does
    /// not see scale: embeddings that hardly differ can still predict it.
    pub place: [f64; 2],
}

/// Ridge in standard units, per frame.
const RIDGE: f64 = 1e-3;

/// Embeddings and what is true of their frames.
pub(crate) struct Known<'a> {
    pub(crate) embeddings: &'a [f32],
    pub(crate) factors: &'a [&'a Factors],
}

pub(crate) fn learned(name: &str, train: &Known, test: &Known) -> Learned {
    let (means, covariance) = moments(test.embeddings);
    let total: f64 = (0..EMBEDDING_DIM).map(|at| covariance[(at, at)]).sum();
    let squares: f64 = covariance.col_iter().map(|column| column.squared_norm_l2()).sum();
    let deviation = |at: usize| covariance[(at, at)].sqrt().max(f64::MIN_POSITIVE);
    // The last column is the constant.
    let matrix = |embeddings: &[f32]| {
        Mat::from_fn(
            embeddings.len() / EMBEDDING_DIM,
            EMBEDDING_DIM + 1,
            |row, at| match at {
                EMBEDDING_DIM => 1.0,
                _ => (f64::from(embeddings[row * EMBEDDING_DIM + at]) - means[at]) / deviation(at),
            },
        )
    };
    let places = |factors: &[&Factors]| {
        Mat::from_fn(factors.len(), 2, |row, axis| {
            f64::from([factors[row].x, factors[row].y][axis])
        })
    };
    let (seen, seen_places) = (matrix(train.embeddings), places(train.factors));
    let mut squared = seen.transpose() * &seen;
    for at in 0..EMBEDDING_DIM {
        squared[(at, at)] += RIDGE * train.factors.len() as f64;
    }
    let place = match squared.llt(Side::Lower) {
        Ok(factor) => {
            let weights = factor.solve(seen.transpose() * &seen_places);
            explained(&(matrix(test.embeddings) * weights), &places(test.factors))
        }
        Err(_) => [f64::NAN; 2],
    };
    Learned {
        name: name.to_string(),
        deviation: (total / EMBEDDING_DIM as f64).sqrt(),
        participation_ratio: total * total / squares,
        place,
    }
}

/// Means and covariance of embeddings.
fn moments(embeddings: &[f32]) -> (Vec<f64>, Mat<f64>) {
    let count = embeddings.len() / EMBEDDING_DIM;
    let column = |at: usize| embeddings.iter().skip(at).step_by(EMBEDDING_DIM).map(|&z| f64::from(z));
    let means: Vec<f64> = (0..EMBEDDING_DIM)
        .map(|at| column(at).sum::<f64>() / count as f64)
        .collect();
    let centered = Mat::from_fn(count, EMBEDDING_DIM, |row, at| {
        f64::from(embeddings[row * EMBEDDING_DIM + at]) - means[at]
    });
    let covariance = centered.transpose() * &centered;
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
    fn embeddings_that_hold_the_place_tell_it_and_constant_ones_do_not() {
        let world = World::new(1, "test", 40, 5);
        let factors = world.factors();
        let of = |embedding: &dyn Fn(&Factors, usize) -> f32| -> Vec<f32> {
            factors
                .iter()
                .flat_map(|f| (0..EMBEDDING_DIM).map(|at| embedding(f, at)).collect::<Vec<f32>>())
                .collect()
        };
        let check = |embeddings: &[f32]| {
            let known = Known {
                embeddings,
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
