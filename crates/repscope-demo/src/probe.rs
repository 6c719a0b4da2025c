// SPDX-License-Identifier: MIT
//! What an encoder has learned, by the factors that are known: does a linear map of its embeddings predict where the
//! main object is, and what is behind it? Do its embeddings differ at all?

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
    /// How well the place of the main object is predicted.
    pub position: Explained,
    /// How well the gray values of the clouds are.
    pub background: Explained,
}

/// R² on held-out frames of a ridge regression on embeddings of training frames. It does not see scale: embeddings that
/// hardly differ can still predict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Explained {
    /// 1 − Σ squared errors / Σ squared deviations from the mean, over all numbers that are predicted.
    pub r2: f64,
    /// 95 % interval: jackknife over episodes.
    pub interval: [f64; 2],
}

/// Ridge in standard units, per frame.
const RIDGE: f64 = 1e-3;
/// The normal quantile of a 95 % interval.
const QUANTILE: f64 = 1.959_964;

/// Embeddings and what is true of their frames.
pub(crate) struct Known<'a> {
    pub(crate) embeddings: &'a [f32],
    pub(crate) factors: &'a [&'a Factors],
}

/// Probes that are learned on `train` and tested on `test`, whose rows come from these episodes.
pub(crate) fn learned(name: &str, train: &Known, test: &Known, episodes: &[i64]) -> Learned {
    let (means, variances) = moments(test.embeddings);
    let explained = |numbers: fn(&Factors) -> Vec<f32>| {
        let [seen, shown] = [train, test].map(|known| {
            let rows: Vec<Vec<f32>> = known.factors.iter().map(|factors| numbers(factors)).collect();
            Mat::from_fn(rows.len(), rows[0].len(), |row, at| f64::from(rows[row][at]))
        });
        let [inputs, held_out] = [train, test].map(|known| standard(known.embeddings, &means, &variances));
        match ridge(&inputs, &seen) {
            Some(weights) => r2(&(held_out * weights), &shown, episodes),
            None => Explained {
                r2: f64::NAN,
                interval: [f64::NAN; 2],
            },
        }
    };
    Learned {
        name: name.to_string(),
        deviation: (variances.iter().sum::<f64>() / EMBEDDING_DIM as f64).sqrt(),
        position: explained(|factors| vec![factors.x, factors.y]),
        background: explained(|factors| factors.clouds.to_vec()),
    }
}

/// Mean and variance of each coordinate.
fn moments(embeddings: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let count = (embeddings.len() / EMBEDDING_DIM) as f64;
    let column = |at: usize| embeddings.iter().skip(at).step_by(EMBEDDING_DIM).map(|&z| f64::from(z));
    (0..EMBEDDING_DIM)
        .map(|at| {
            let mean = column(at).sum::<f64>() / count;
            (mean, column(at).map(|z| (z - mean).powi(2)).sum::<f64>() / count)
        })
        .unzip()
}

/// Embeddings in standard units, and a last column of ones.
fn standard(embeddings: &[f32], means: &[f64], variances: &[f64]) -> Mat<f64> {
    Mat::from_fn(embeddings.len() / EMBEDDING_DIM, EMBEDDING_DIM + 1, |row, at| {
        if at == EMBEDDING_DIM {
            return 1.0;
        }
        let deviation = variances[at].sqrt().max(f64::MIN_POSITIVE);
        (f64::from(embeddings[row * EMBEDDING_DIM + at]) - means[at]) / deviation
    })
}

/// The weights of a ridge regression; the constant is not shrunk.
fn ridge(inputs: &Mat<f64>, outputs: &Mat<f64>) -> Option<Mat<f64>> {
    let mut squared = inputs.transpose() * inputs;
    for at in 0..EMBEDDING_DIM {
        squared[(at, at)] += RIDGE * inputs.nrows() as f64;
    }
    let factor = squared.llt(Side::Lower).ok()?;
    Some(factor.solve(inputs.transpose() * outputs))
}

/// R² of all columns together, and its interval. Rows of an episode are much alike, so that a whole one is left out at a
/// time.
fn r2(found: &Mat<f64>, truth: &Mat<f64>, episodes: &[i64]) -> Explained {
    let columns = 0..truth.ncols();
    // Of each episode: how many rows, the squared errors, and the sums and squares of each column.
    let mut parts: Vec<Part> = Vec::new();
    for (row, episode) in episodes.iter().enumerate() {
        if row == 0 || episodes[row - 1] != *episode {
            parts.push(Part::default());
        }
        let part = parts.last_mut().expect("the first row begins a part");
        part.sums.resize(truth.ncols(), 0.0);
        part.rows += 1.0;
        for at in columns.clone() {
            part.errors += (truth[(row, at)] - found[(row, at)]).powi(2);
            part.squares += truth[(row, at)].powi(2);
            part.sums[at] += truth[(row, at)];
        }
    }
    // Without one of them, or with all.
    let without = |left_out: Option<usize>| {
        let kept = || {
            (0..parts.len())
                .filter(|part| Some(*part) != left_out)
                .map(|part| &parts[part])
        };
        let rows: f64 = kept().map(|part| part.rows).sum();
        let errors: f64 = kept().map(|part| part.errors).sum();
        let squares: f64 = kept().map(|part| part.squares).sum();
        let of_means: f64 = columns
            .clone()
            .map(|at| kept().map(|part| part.sums[at]).sum::<f64>().powi(2) / rows)
            .sum();
        1.0 - errors / (squares - of_means)
    };
    let values: Vec<f64> = (0..parts.len()).map(|part| without(Some(part))).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let (r2, half) = (without(None), QUANTILE * ((count - 1.0) / count * squares).sqrt());
    Explained {
        r2,
        interval: [r2 - half, r2 + half],
    }
}

/// What an episode adds to the sums of R².
#[derive(Default)]
struct Part {
    rows: f64,
    errors: f64,
    squares: f64,
    sums: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;

    fn check(embedding: impl Fn(&Factors, usize) -> f32) -> Learned {
        let world = World::new(1, "test", 40, 5);
        let factors = world.factors();
        let embeddings: Vec<f32> = factors
            .iter()
            .flat_map(|f| (0..EMBEDDING_DIM).map(|at| embedding(f, at)).collect::<Vec<f32>>())
            .collect();
        let known = Known {
            embeddings: &embeddings,
            factors: &factors,
        };
        learned("test", &known, &known, &world.episode_numbers())
    }

    #[test]
    fn embeddings_that_hold_the_position_predict_it_and_not_the_background() {
        let found = check(|f, at| if at % 2 == 0 { f.x } else { f.y + f.x });
        assert!(found.position.r2 > 0.99 && found.background.r2 < 0.1, "{found:?}");
        let [low, high] = found.position.interval;
        assert!(
            low < found.position.r2 && found.position.r2 < high && high - low < 0.01,
            "{found:?}"
        );
    }

    #[test]
    fn embeddings_that_hold_the_background_predict_it_and_not_the_position() {
        let found = check(|f, at| f.clouds[at % f.clouds.len()]);
        assert!(found.background.r2 > 0.99 && found.position.r2 < 0.4, "{found:?}");
    }

    #[test]
    fn constant_embeddings_predict_nothing() {
        let found = check(|_, _| 3.0);
        assert!(found.deviation < 1e-6 && found.position.r2.abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn r2_and_its_jackknife_are_those_of_a_hand_calculation() {
        // Errors 0, 0, 1 and 0 of the numbers 0, 1, 2 and 3: 1 − 1/5. Without each of four episodes of one row:
        // 1 − 1/2, 1 − 1/(14/3), 1 and 1 − 1/2.
        let truth = Mat::from_fn(4, 1, |row, _| row as f64);
        let found = Mat::from_fn(4, 1, |row, _| [0.0, 1.0, 3.0, 3.0][row]);
        let explained = r2(&found, &truth, &[5, 6, 7, 8]);
        let without = [0.5, 1.0 - 3.0 / 14.0, 1.0, 0.5];
        let mean = without.iter().sum::<f64>() / 4.0;
        let error = (0.75 * without.iter().map(|v| (v - mean).powi(2)).sum::<f64>()).sqrt();
        assert!((explained.r2 - 0.8).abs() < 1e-12, "{explained:?}");
        let high = explained.r2 + QUANTILE * error;
        assert!((explained.interval[1] - high).abs() < 1e-12, "{explained:?} but {high}");
    }
}
