// SPDX-License-Identifier: MIT
//! Figures that others published, from the data they are about, to the last digit that is printed.

use std::path::Path;
use std::sync::Arc;

use crate::common::{MODEL, value};
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, ClidSpec, ClusterCount, Head, Perturbation, Space, Spec, Study, perturb};
use repscope_io::{InputPath, Pool, read_array};

/// An array of a golden case.
fn stored(case: &str, key: &str) -> Space {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/cases");
    let path = InputPath {
        path: cases.join(case).join("input.npz"),
        key: Some(key.to_string()),
    };
    let array = read_array(&path).expect("an array of NumPy");
    array.into_space(key, Pool::Last).expect("finite numbers")
}

#[test]
fn the_example_of_scikit_learns_manual_has_the_trustworthiness_that_it_prints() {
    // scikit-learn.org, sklearn.manifold.trustworthiness, Examples: 0.92 for blobs and their two first principal components.
    let case = "neighborhood/scikit-learn-manual";
    let study = Study {
        input: Some(Arc::new(stored(case, "input"))),
        ..Study::new(MODEL, stored(case, "latent"))
    };
    let found = value(&study, "trustworthiness@5", &Spec::default());
    assert_eq!(format!("{found:.2}"), "0.92");
}

#[test]
fn the_matrix_of_the_clid_and_rankme_scripts_has_the_rankme_that_they_print() {
    let study = Study::new(MODEL, stored("rankme/document-002", "latent"));
    let rankme = value(&study, "rankme(variant=spec)", &Spec::default());
    assert_eq!(format!("{rankme:.3}"), "1.907");
    assert_eq!(value(&study, "numerical_rank", &Spec::default()), 9.0);
}

#[test]
fn the_blobs_of_the_clid_and_rankme_scripts_have_the_clid_that_they_print_with_three_clusters() {
    let study = Study::new(MODEL, stored("clid/document-002", "latent"));
    let clid = |clusters: usize| {
        let spec = Spec {
            clid: ClidSpec {
                clusters: ClusterCount::Of(clusters),
                ..ClidSpec::ROBUST
            },
            ..Spec::default()
        };
        format!("{:.3}", value(&study, "clid", &spec))
    };
    assert_eq!(clid(3), "1.844");
    // The default number of clusters cuts the three blobs, so that neighbors disagree.
    assert_ne!(clid(10), "1.844");
}

#[test]
fn the_classifier_of_constellation_diagrams_has_the_baseline_accuracies_of_its_paper() {
    // github.com/shamoons/modulation-explainability: of 111,412 test diagrams, the ResNet50 has both heads right in 57,106,
    // only the modulation in 28,002, only the SNR in 19,444 and none in 6,860. Its paper prints 51.26, 76.39 and 68.71 %.
    let outcomes = [(57_106, [0, 0]), (28_002, [0, 1]), (19_444, [1, 0]), (6_860, [1, 1])];
    let said = |head: usize| -> Vec<u32> {
        let counts = outcomes.iter().map(|(count, codes)| (*count, codes[head]));
        counts.flat_map(|(count, code)| vec![code; count]).collect()
    };
    let head = |(place, name): (usize, &str)| Head {
        name: name.to_string(),
        classes: vec!["right".to_string(), "wrong".to_string()],
        labels: vec![0; 111_412],
        baseline: said(place),
    };
    let data = Perturbation {
        heads: ["modulation", "snr"].into_iter().enumerate().map(head).collect(),
        sets: Vec::new(),
        groups: None,
    };
    let (metrics, driver) = (Analysis::Perturb.metrics(), Driver::silent(Order::Serial));
    let results = perturb(MODEL, &data, &metrics, &Spec::default(), &driver).expect("valid predictions");
    for (name, printed) in [("combined", "51.26"), ("modulation", "76.39"), ("snr", "68.71")] {
        let id = format!("accuracy.{name}@baseline");
        let found = results
            .score(MODEL, &id)
            .and_then(|score| score.value)
            .expect("an accuracy");
        assert_eq!(format!("{:.2}", 100.0 * found), printed, "{id}");
    }
}
