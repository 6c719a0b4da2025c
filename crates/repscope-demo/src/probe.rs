// SPDX-License-Identifier: MIT
//! What an encoder has learned, by the factors that are known: does a linear map of its embeddings predict where the
//! main object is, and what is behind it? Do its embeddings differ at all?

use std::sync::Arc;

use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Labels, Space, Spec, Study, Targets, evaluate};

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
    /// 95 % interval over episodes.
    pub interval: [f64; 2],
}

/// Ridge in standard units, per frame.
const RIDGE: f64 = 1e-3;
/// The score of the analysis `probe` that is shown.
const R2: &str = "probe.linear.r2(average=variance)";

/// Embeddings and what is true of their frames.
pub(crate) struct Known<'a> {
    pub(crate) embeddings: &'a [f32],
    pub(crate) factors: &'a [&'a Factors],
}

/// Probes that are learned on `train` and tested on `test`, whose rows come from these episodes.
pub(crate) fn learned(name: &str, train: &Known, test: &Known, episodes: &[i64]) -> Learned {
    let variances = variances(test.embeddings);
    let explained = |numbers: fn(&Factors) -> Vec<f32>| explained(train, test, numbers, episodes).unwrap_or(UNKNOWN);
    Learned {
        name: name.to_string(),
        deviation: (variances.iter().sum::<f64>() / EMBEDDING_DIM as f64).sqrt(),
        position: explained(|factors| vec![factors.x, factors.y]),
        background: explained(|factors| factors.clouds.to_vec()),
    }
}

/// The variance of each coordinate.
fn variances(embeddings: &[f32]) -> Vec<f64> {
    let count = (embeddings.len() / EMBEDDING_DIM) as f64;
    let column = |at: usize| embeddings.iter().skip(at).step_by(EMBEDDING_DIM).map(|&z| f64::from(z));
    let variance = |at: usize| {
        let mean = column(at).sum::<f64>() / count;
        column(at).map(|z| (z - mean).powi(2)).sum::<f64>() / count
    };
    (0..EMBEDDING_DIM).map(variance).collect()
}

/// What is said where nothing can be computed.
const UNKNOWN: Explained = Explained {
    r2: f64::NAN,
    interval: [f64::NAN; 2],
};

/// The analysis `probe`, with the rows of `test` below those of `train`.
fn explained(train: &Known, test: &Known, numbers: fn(&Factors) -> Vec<f32>, episodes: &[i64]) -> Option<Explained> {
    let space = |name: &str, values: Vec<f32>, columns: usize| {
        Space::from_f32(name, values.len() / columns, columns, values).ok()
    };
    let embeddings = [train.embeddings, test.embeddings].concat();
    let factors = train.factors.iter().chain(test.factors);
    let truth: Vec<Vec<f32>> = factors.map(|factors| numbers(factors)).collect();
    let columns = truth[0].len();
    let seen = train.factors.len();
    // Rows that train are not resampled: each may be a group of its own.
    let groups = (0..seen as i64).chain(episodes.iter().map(|episode| seen as i64 + episode));
    let groups: Vec<u32> = groups.map(|group| group as u32).collect();
    let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
    let mut study = Study::new("demo", space("embeddings", embeddings, EMBEDDING_DIM)?);
    study.targets = Some(Arc::new(Targets::numbered(space("factors", truth.concat(), columns)?)));
    study.episodes = Some(Arc::new(Labels::from_codes(groups, count)));
    study.tested_from = Some(seen);
    let mut spec = Spec::default();
    spec.probe.penalties = vec![RIDGE * seen as f64];
    let driver = Driver::silent(Order::Parallel);
    let results = evaluate(&[study], &Analysis::Probe.metrics(), &spec, &driver).ok()?;
    let score = results.score("demo", R2)?;
    Some(Explained {
        r2: score.value?,
        interval: score.interval.unwrap_or([f64::NAN; 2]),
    })
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
}
