// SPDX-License-Identifier: MIT
//! Energies of pairs, and of signals against the texts of others.

use crate::kernels::matched::{self, Matched, cosine};
use crate::kernels::shuffled::{self, Shuffled};
use crate::kernels::similarity::{Products, Side};
use crate::run::Driver;

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
            let of_reference = Products {
                query: products.query,
                target,
            };
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
        pairs
            .filter_map(|((&place, energy), reference)| Some((place, energy - (*reference)?)))
            .collect()
    }

    /// The energies of the references that have a direction, and their places.
    pub(super) fn references(&self) -> Vec<(usize, f64)> {
        let references = self.reference.iter().flatten();
        let pairs = self.places.iter().zip(references);
        pairs
            .filter_map(|(&place, reference)| Some((place, (*reference)?)))
            .collect()
    }
}
