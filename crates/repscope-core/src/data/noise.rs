// SPDX-License-Identifier: MIT
//! How far noise in what a model sees moves its embeddings.

use super::Space;
use crate::error::{Error, Result};

/// The embeddings of the same samples with noise, level by level.
#[derive(Debug, Clone, Default)]
pub struct Noise {
    /// From weak to strong.
    pub levels: Vec<NoiseLevel>,
}

/// One level of noise.
#[derive(Debug, Clone)]
pub struct NoiseLevel {
    /// As it was given: `0.1`.
    pub name: String,
    /// As a number.
    pub strength: f64,
    /// How far each sample's embedding moved.
    pub moves: Moves,
}

/// Distances between clean and noisy embeddings, one per sample: means over the draws of the noise.
#[derive(Debug, Clone, Default)]
pub struct Moves {
    /// Between embeddings as they are.
    pub raw: Vec<f64>,
    /// Between embeddings divided by their length; none where one of the two has length zero.
    pub unit: Vec<Option<f64>>,
}

impl Moves {
    /// No samples yet.
    pub fn new() -> Self {
        Moves::default()
    }

    /// The distances between spaces that hold the same samples row by row.
    pub fn between(clean: &Space, draws: &[Space]) -> Result<Self> {
        for noisy in draws {
            let shape = |space: &Space| (space.rows(), space.columns());
            if shape(noisy) != shape(clean) {
                return Err(Error::Input(format!(
                    "the noisy codes `{}` have shape {} x {} but the clean codes `{}` have {} x {}; give codes of the same \
                     samples by the same encoder",
                    noisy.name(),
                    noisy.rows(),
                    noisy.columns(),
                    clean.name(),
                    clean.rows(),
                    clean.columns()
                )));
            }
        }
        let row_of = |space: &Space, row: usize| {
            let mut values = vec![0.0; space.columns()];
            space.read_row(row, &mut values);
            values
        };
        let mut moves = Moves::new();
        for row in 0..clean.rows() {
            moves.add_sample(&row_of(clean, row), draws.iter().map(|noisy| row_of(noisy, row)));
        }
        Ok(moves)
    }

    /// Adds the samples of others behind these.
    pub fn extend(&mut self, more: Moves) {
        self.raw.extend(more.raw);
        self.unit.extend(more.unit);
    }

    /// The means over draws of the noise for the same samples.
    pub fn mean(draws: &[Moves]) -> Self {
        let count = draws.len() as f64;
        let samples = draws.first().map_or(0, |draw| draw.raw.len());
        let unit = |i: usize| {
            draws
                .iter()
                .map(|draw| draw.unit[i])
                .sum::<Option<f64>>()
                .map(|sum| sum / count)
        };
        Moves {
            raw: (0..samples)
                .map(|i| draws.iter().map(|draw| draw.raw[i]).sum::<f64>() / count)
                .collect(),
            unit: (0..samples).map(unit).collect(),
        }
    }

    fn add_sample(&mut self, clean: &[f64], draws: impl Iterator<Item = Vec<f64>>) {
        let (mut raw, mut unit, mut count) = (0.0, Some(0.0), 0.0);
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let own = length(clean);
        for noisy in draws {
            count += 1.0;
            raw += distance(clean, &noisy, 1.0, 1.0);
            let other = length(&noisy);
            unit = unit
                .filter(|_| own > 0.0 && other > 0.0)
                .map(|sum| sum + distance(clean, &noisy, 1.0 / own, 1.0 / other));
        }
        self.raw.push(raw / count);
        self.unit.push(unit.map(|sum| sum / count));
    }
}

/// ‖a·s − b·t‖.
fn distance(a: &[f64], b: &[f64], s: f64, t: f64) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a * s - b * t).powi(2))
        .sum::<f64>()
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_means_over_draws_and_blind_to_length_on_the_unit_sphere() {
        let space = |values: [f64; 4]| Space::from_f64("z", 2, 2, values.to_vec()).unwrap();
        // (3, 4) moves by 5 to (6, 8), which has the same direction, and by √(9 + 16) to (0, 0), which has none.
        let draws = [space([6.0, 8.0, 0.0, 1.0]), space([0.0, 0.0, 0.0, 2.0])];
        let clean = space([3.0, 4.0, 1.0, 0.0]);
        let moves = Moves::between(&clean, &draws).unwrap();
        let one_by_one: Vec<Moves> = draws
            .iter()
            .map(|draw| Moves::between(&clean, std::slice::from_ref(draw)).unwrap())
            .collect();
        let mean = Moves::mean(&one_by_one);
        assert_eq!((&mean.raw, &mean.unit), (&moves.raw, &moves.unit));
        assert_eq!(moves.raw[0], 5.0);
        assert_eq!(moves.unit[0], None);
        // (1, 0) moves by √2 and √5; both have the angle of 90°.
        assert!((moves.raw[1] - f64::midpoint(2f64.sqrt(), 5f64.sqrt())).abs() < 1e-15);
        assert!((moves.unit[1].unwrap() - 2f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn codes_of_another_shape_are_refused_with_both_shapes() {
        let space = |rows: usize| Space::from_f64("z", rows, 2, vec![1.0; 2 * rows]).unwrap();
        let error = Moves::between(&space(3), &[space(4)]).unwrap_err().to_string();
        assert!(error.contains("4 x 2") && error.contains("3 x 2"), "{error}");
    }
}
