// SPDX-License-Identifier: MIT
//! The side of texts: sentences as bags of words, an encoder that puts them beside the embeddings of frames, and a
//! captioner.

mod aligned;
mod captioner;

use crate::world::Said;

pub(crate) use aligned::{Aligned, WIDTH, train as train_aligned};
pub(crate) use captioner::{Captioner, train as train_captioner};

/// Embeddings of frames in standard units, and what is true of the frames.
pub(crate) struct Described {
    pub(crate) embeddings: Vec<f32>,
    pub(crate) said: Vec<Said>,
}

/// The rows of some samples, one after the other.
fn rows_of(rows: &[f32], width: usize, samples: &[usize]) -> Vec<f32> {
    samples
        .iter()
        .flat_map(|&at| &rows[at * width..(at + 1) * width])
        .copied()
        .collect()
}

pub(crate) struct Standard {
    means: Vec<f32>,
    factors: Vec<f32>,
}

impl Standard {
    pub(crate) fn of(embeddings: &[f32], width: usize) -> Self {
        let count = (embeddings.len() / width) as f64;
        let (mut sums, mut squares) = (vec![0.0; width], vec![0.0; width]);
        for row in embeddings.chunks_exact(width) {
            sums.iter_mut().zip(row).for_each(|(sum, z)| *sum += f64::from(*z));
        }
        for row in embeddings.chunks_exact(width) {
            for ((square, z), sum) in squares.iter_mut().zip(row).zip(&sums) {
                *square += (f64::from(*z) - sum / count).powi(2);
            }
        }
        // A coordinate that never changes stays 0.
        let factor = |square: &f64| {
            if *square > 0.0 {
                (count / square).sqrt() as f32
            } else {
                0.0
            }
        };
        Standard {
            means: sums.iter().map(|sum| (sum / count) as f32).collect(),
            factors: squares.iter().map(factor).collect(),
        }
    }

    pub(crate) fn apply(&self, mut embeddings: Vec<f32>) -> Vec<f32> {
        for row in embeddings.chunks_exact_mut(self.means.len()) {
            for ((z, mean), factor) in row.iter_mut().zip(&self.means).zip(&self.factors) {
                *z = (*z - mean) * factor;
            }
        }
        embeddings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_in_standard_units_have_mean_0_and_deviation_1() {
        let embeddings = vec![1.0, 5.0, 3.0, 5.0, 5.0, 5.0];
        let standard = Standard::of(&embeddings, 2).apply(embeddings);
        // √1.5 = 1.2247.
        for (found, expected) in standard.iter().zip([-1.2247, 0.0, 0.0, 0.0, 1.2247, 0.0]) {
            assert!((found - expected).abs() < 1e-4, "{standard:?}");
        }
    }
}
