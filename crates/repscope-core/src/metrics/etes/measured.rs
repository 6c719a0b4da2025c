// SPDX-License-Identifier: MIT
//! Signals and texts of some samples, measured once for all scores.

use std::sync::Arc;

use super::form::Form;
use crate::data::Space;
use crate::etes::Decoded;
use crate::kernels::matched::is_direct;
use crate::kernels::shuffled;
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
    /// The share of random pairings with as little energy; none where it is not asked for, or for a group.
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
    /// All samples that have an energy.
    pub(super) fn of_all(decoded: &'a Decoded<'a>) -> Self {
        Measured::new(decoded, decoded.kept.clone(), decoded.spec.etes.permutations)
    }

    /// Some of the samples that have an energy, as if there were no others.
    pub(super) fn of_group(decoded: &'a Decoded<'a>, rows: Vec<usize>) -> Self {
        Measured::new(decoded, rows, 0)
    }

    fn new(decoded: &'a Decoded<'a>, rows: Vec<usize>, permutations: usize) -> Self {
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
        let products = Products {
            query: &signal,
            target: &text,
        };
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
    let both = has_direction(&vectors.signal)
        .into_iter()
        .zip(has_direction(&vectors.text));
    let places: Vec<usize> = (0..).zip(both).filter(|(_, (a, b))| *a && *b).map(|(i, _)| i).collect();
    let Some(vectors) = vectors.select(&places) else {
        return Form::default();
    };
    let (signal, text) = (side(&vectors.signal, driver), side(&vectors.text, driver));
    let products = Products {
        query: &signal,
        target: &text,
    };
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
