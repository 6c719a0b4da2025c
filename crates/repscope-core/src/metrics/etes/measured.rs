// SPDX-License-Identifier: MIT
//! Signals and texts of some samples, measured once for all scores.

use std::sync::Arc;

use crate::data::Space;
use crate::etes::Decoded;
use crate::kernels::matched::{self, Matched, cosine, is_direct};
use crate::kernels::shuffled::{self, Shuffled};
use crate::kernels::similarity::{Products, Side};
use crate::kernels::unit_matrix::less_mean;
use crate::run::Driver;
use crate::spec::Similarity;

/// Some samples of a system.
pub(super) struct Measured<'a> {
    pub(super) decoded: &'a Decoded<'a>,
    /// Which rows of the data: those of a group, say.
    pub(super) rows: Vec<usize>,
    pub(super) plain: Form,
    /// The same after subtracting from each side what all of its rows share.
    pub(super) centered: Form,
    /// The energy with the weighted fluency, where that is known.
    pub(super) total: Option<Vec<f64>>,
    /// The share of random pairings with as little energy; none where it is not wanted, or for a group.
    pub(super) p: Option<f64>,
    /// The distance between the mean unit vectors of both sides.
    pub(super) modality_gap: Option<f64>,
    /// How many texts have the vector of an earlier one.
    pub(super) repeats: usize,
}

/// The vectors of the samples; rows stand for the same samples in each.
struct Vectors {
    signal: Arc<Space>,
    text: Arc<Space>,
    reference: Option<Arc<Space>>,
}

impl<'a> Measured<'a> {
    /// Some of the samples that have an energy, as if there were no others.
    pub(super) fn new(decoded: &'a Decoded<'a>, rows: Vec<usize>, permutations: usize) -> Self {
        let mut measured = Measured {
            decoded,
            rows,
            total: None,
            plain: Form::default(),
            centered: Form::default(),
            p: None,
            modality_gap: None,
            repeats: 0,
        };
        let system = decoded.system;
        let all = Vectors {
            signal: system.signal.clone(),
            text: system.generated.clone(),
            reference: system.reference.clone(),
        };
        if let Some(vectors) = all.select(&measured.rows) {
            measured.measure(vectors, permutations);
        }
        measured
    }

    fn measure(&mut self, vectors: Vectors, permutations: usize) {
        let driver = self.decoded.driver;
        let n = self.rows.len();
        let (signal, text) = (side(&vectors.signal, driver), side(&vectors.text, driver));
        let products = Products::new(&signal, &text);
        let reference = vectors.reference.as_deref().map(|space| side(space, driver));
        self.plain = Form::new((0..n).collect(), &products, reference.as_ref(), driver);
        self.total = totals(self.decoded, &self.rows, &self.plain.energy);
        self.repeats = text.repeats();
        let squares = signal.mean(driver).into_iter().zip(text.mean(driver));
        self.modality_gap = Some(squares.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt());
        if permutations > 0 && n > 1 {
            let given = -self.plain.energy.iter().sum::<f64>() / n as f64;
            let seed = self.decoded.spec.seed;
            self.p = Some(shuffled::p_value(&products, given, permutations, seed, driver));
        }
        let is_double = is_direct(n, vectors.signal.columns());
        let centered = |side: &Side| less_mean(side, is_double, driver).ok().map(Arc::new);
        let (Some(signal), Some(text)) = (centered(&signal), centered(&text)) else {
            return;
        };
        self.centered = without_mean(
            Vectors {
                signal,
                text,
                reference: reference.as_ref().and_then(centered),
            },
            driver,
        );
    }
}

impl Vectors {
    /// These rows; none without any.
    fn select(self, rows: &[usize]) -> Option<Vectors> {
        if rows.len() == self.signal.rows() {
            return Some(self);
        }
        // A selection of finite numbers fails only where nothing is selected.
        let select = |space: &Arc<Space>| space.select(rows).ok().map(Arc::new);
        Some(Vectors {
            signal: select(&self.signal)?,
            text: select(&self.text)?,
            reference: self.reference.as_ref().and_then(select),
        })
    }
}

/// Rows that were the mean of their side are left out.
fn without_mean(vectors: Vectors, driver: &Driver) -> Form {
    let has_direction = |space: &Space| -> Vec<bool> {
        let side = side(space, driver);
        side.factors().iter().map(|factor| *factor > 0.0).collect()
    };
    let [of_signal, of_text] = [&vectors.signal, &vectors.text].map(|space| has_direction(space));
    let places: Vec<usize> = (0..of_signal.len()).filter(|&i| of_signal[i] && of_text[i]).collect();
    let Some(vectors) = vectors.select(&places) else {
        return Form::default();
    };
    let (signal, text) = (side(&vectors.signal, driver), side(&vectors.text, driver));
    let products = Products::new(&signal, &text);
    let reference = vectors.reference.as_deref().map(|space| side(space, driver));
    Form::new(places, &products, reference.as_ref(), driver)
}

fn side<'a>(space: &'a Space, driver: &Driver) -> Side<'a> {
    Side::new(space, Similarity::Cosine, driver)
}

/// E + weight · ln(perplexity) / 10.
fn totals(decoded: &Decoded, rows: &[usize], energy: &[f64]) -> Option<Vec<f64>> {
    let fluency = decoded.system.fluency.as_deref()?;
    let weight = decoded.spec.etes.fluency_weight;
    let pairs = rows.iter().zip(energy);
    Some(pairs.map(|(&row, e)| e + weight * fluency[row] / 10.0).collect())
}

/// Energies, as they are or centered.
#[derive(Default)]
pub(super) struct Form {
    /// Which of the measured samples have an energy here, as numbers of [`Measured::rows`].
    pub(super) places: Vec<usize>,
    pub(super) energy: Vec<f64>,
    /// The energy of the reference of each of them; none where it has no direction.
    pub(super) reference: Option<Vec<Option<f64>>>,
    /// Signals against the texts of others; none with fewer than two.
    pub(super) others: Option<Others>,
}

pub(super) struct Others {
    /// Moments of the mean energy over all pairings.
    pub(super) shuffled: Shuffled,
    pub(super) matched: Matched,
}

impl Form {
    pub(super) fn new(places: Vec<usize>, products: &Products, reference: Option<&Side>, driver: &Driver) -> Form {
        let n = places.len();
        let others = (n > 1).then(|| {
            let Shuffled { mean, std } = shuffled::moments(products, driver);
            Others {
                shuffled: Shuffled { mean: -mean, std },
                matched: matched::meet_all(products, driver),
            }
        });
        let reference = reference.map(|target| {
            let of_reference = Products::new(products.query, target);
            let energy = |i: usize| (target.factors()[i] > 0.0).then(|| -cosine(&of_reference, i, i));
            (0..n).map(energy).collect()
        });
        Form {
            energy: (0..n).map(|i| -cosine(products, i, i)).collect(),
            places,
            reference,
            others,
        }
    }

    /// The energy of each sample less that of its reference, for those whose reference has a direction, and their places.
    pub(super) fn gaps(&self) -> Vec<(usize, f64)> {
        let references = self.reference.iter().flatten();
        let pairs = self.places.iter().zip(&self.energy).zip(references);
        let gap = |((&place, energy), reference): ((&usize, &f64), &Option<f64>)| Some((place, energy - (*reference)?));
        pairs.filter_map(gap).collect()
    }

    /// The energies of the references that have a direction, and their places.
    pub(super) fn references(&self) -> Vec<(usize, f64)> {
        let references = self.reference.iter().flatten();
        let pairs = self.places.iter().zip(references);
        let known = pairs.filter_map(|(&place, reference)| Some((place, (*reference)?)));
        known.collect()
    }
}

/// How a signal's own text ranks among all texts, as a mean over all ways to break ties: a system that says the same to every
/// signal is at chance, not first.
impl Matched {
    /// How many texts there are.
    pub(super) fn texts(&self) -> usize {
        self.own.len()
    }

    /// For each signal, how likely its own text is among the `k` nearest.
    pub(super) fn hits(&self, k: usize) -> Vec<f64> {
        let of = |(nearer, as_near): (f64, f64)| ((k as f64 - nearer) / (as_near + 1.0)).clamp(0.0, 1.0);
        self.standings().map(of).collect()
    }

    /// For each signal, the mean of 1 / rank of its own text.
    pub(super) fn reciprocal_ranks(&self) -> Vec<f64> {
        let harmonic = harmonic(self.texts());
        let of = |(&nearer, &as_near): (&u32, &u32)| {
            let first = nearer as usize;
            match as_near as usize {
                0 => 1.0 / (first + 1) as f64,
                ties => (harmonic[first + ties + 1] - harmonic[first]) / (ties + 1) as f64,
            }
        };
        self.nearer.iter().zip(&self.as_near).map(of).collect()
    }

    /// For each signal, the mean rank of its own text, counted from 1.
    pub(super) fn ranks(&self) -> Vec<f64> {
        let rank = |(nearer, as_near)| nearer + 1.0 + as_near / 2.0;
        self.standings().map(rank).collect()
    }

    /// The mean reciprocal rank of a text at a random place.
    pub(super) fn chance_of_reciprocal(&self) -> f64 {
        harmonic(self.texts())[self.texts()] / self.texts() as f64
    }

    fn standings(&self) -> impl Iterator<Item = (f64, f64)> {
        let pairs = self.nearer.iter().zip(&self.as_near);
        pairs.map(|(&nearer, &as_near)| (f64::from(nearer), f64::from(as_near)))
    }
}

/// 1 + 1/2 + … + 1/r, for r from 0 to n.
fn harmonic(n: usize) -> Vec<f64> {
    let mut sums = vec![0.0; n + 1];
    for r in 1..=n {
        sums[r] = sums[r - 1] + 1.0 / r as f64;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_broken_in_every_way() {
        let matched = Matched {
            own: vec![0.0; 4],
            nearer: vec![0, 1, 0, 3],
            as_near: vec![0, 1, 3, 0],
            bins: Vec::new(),
            auc: 0.5,
            effects: Vec::new(),
        };
        // Ranks 1; 2 or 3; 1 to 4; 4.
        assert_eq!(matched.hits(1), [1.0, 0.0, 0.25, 0.0]);
        assert_eq!(matched.hits(2), [1.0, 0.5, 0.5, 0.0]);
        assert_eq!(matched.hits(4), [1.0; 4]);
        assert_eq!(matched.ranks(), [1.0, 2.5, 2.5, 4.0]);
        let expected = [1.0, (1.0 / 2.0 + 1.0 / 3.0) / 2.0, 25.0 / 12.0 / 4.0, 0.25];
        for (found, expected) in matched.reciprocal_ranks().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert!((matched.chance_of_reciprocal() - 25.0 / 48.0).abs() < 1e-15);
    }
}
