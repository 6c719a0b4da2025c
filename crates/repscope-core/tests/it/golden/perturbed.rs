// SPDX-License-Identifier: MIT
//! Cases that hold predictions with and without masks.

use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Head, Perturbation, PerturbedSet, Results, Spec, perturb};

use super::document::PerturbationOptions;

/// What the predictions of a case answer.
pub fn perturbed(case: &str, options: &PerturbationOptions) -> Results {
    let data = Perturbation {
        groups: None,
        heads: options
            .heads
            .iter()
            .map(|head| Head {
                name: head.name.clone(),
                classes: head.classes.clone(),
                labels: codes(&head.labels),
                baseline: codes(&head.baseline),
            })
            .collect(),
        sets: options
            .sets
            .iter()
            .map(|set| PerturbedSet {
                name: set.name.clone(),
                family: set.family.clone(),
                percent: set.percent,
                predictions: set.predictions.iter().map(|said| codes(said)).collect(),
                masked_lit: set.masked_lit,
                masked_all: set.masked_all,
            })
            .collect(),
    };
    let (metrics, driver) = (Analysis::Perturb.metrics(), Driver::silent(Order::Parallel));
    let results = perturb("golden", &data, &metrics, &Spec::default(), &driver);
    results.unwrap_or_else(|error| panic!("{case}: {error}"))
}

/// Numbers with spaces between them.
fn codes(text: &str) -> Vec<u32> {
    let numbers = text.split(' ').map(|code| code.parse().expect("the number of a class"));
    numbers.collect()
}
