// SPDX-License-Identifier: MIT
//! Which figures come back for which results.

use super::*;
use crate::figures::middle;

const ALL: [&str; 10] = [
    "smoothness_analysis/smoothness_comparison",
    "robustness_analysis/robustness_comparison",
    "neighborhood_preservation/neighborhood_preservation",
    "manifold_dimension/manifold_dimension_analysis",
    "geometry_analysis/geometry_analysis",
    "rankme/rankme_analysis",
    "clid/clid_analysis",
    "clid/clid_prediction",
    "map/map_by_label",
    "map/map_by_trustworthiness",
];

#[test]
fn every_analysis_has_its_figures_under_the_names_of_the_documents() {
    assert_eq!(paths(&figures(&complete(&["jepa", "mae"]), "evaluate")), ALL);
}

#[test]
fn a_command_gets_the_figures_of_its_own_analysis() {
    let results = complete(&["jepa"]);
    assert_eq!(
        paths(&figures(&results, "manifold")),
        ["manifold_dimension/manifold_dimension_analysis"]
    );
    assert_eq!(
        paths(&figures(&results, "clid")),
        ["clid/clid_analysis", "clid/clid_prediction"]
    );
    assert_eq!(paths(&figures(&results, "retrieval")), [""; 0]);
}

#[test]
fn no_results_give_no_figures() {
    assert_eq!(figures(&Results::default(), "evaluate"), []);
    let undefined = Results {
        scores: vec![
            missing("jepa", "nmi", "needs labels"),
            missing("jepa", "trustworthiness@5", "one row"),
        ],
        ..Results::default()
    };
    assert_eq!(figures(&undefined, "evaluate"), []);
}

#[test]
fn a_seed_is_named_where_chance_enters() {
    let results = complete(&["jepa"]);
    let seeded = |path: &str| {
        let mut figure = figure(&results, path);
        figure.note_seed(7);
        figure.figure.notes.contains(&"Seed 7.".to_string())
    };
    assert!(seeded("geometry_analysis"));
    assert!(!seeded("manifold_dimension_analysis"));
}

#[test]
fn a_model_has_the_same_number_in_all_figures() {
    let mut results = complete(&["jepa", "mae"]);
    results
        .scores
        .retain(|score| score.model == "mae" || !score.metric.starts_with("trustworthiness"));
    let neighborhood = figure(&results, "/neighborhood_preservation");
    let Content::Lines(lines) = &panel(&neighborhood, "Trustworthiness").content else {
        panic!("several k are a curve")
    };
    assert_eq!((lines.curves.len(), lines.curves[0].series), (1, 1));
}

#[test]
fn the_middle_of_two_is_the_first() {
    assert_eq!(
        (middle(&[5, 10, 15]), middle(&[5, 10]), middle::<i32>(&[])),
        (Some(&10), Some(&5), None)
    );
}

#[test]
fn odd_results_are_drawn_without_a_panic() {
    let long = "a model with a name that is far too long for any axis, and with\na line break";
    let twelve: Vec<String> = (0..12).map(|i| format!("{i} {long}")).collect();
    let twelve: Vec<&str> = twelve.iter().map(String::as_str).collect();
    let mut cases = vec![
        complete(&[""]),
        complete(&[long]),
        complete(&twelve),
        searched("", 1),
        searched(long, 300),
    ];
    // Every value undefined, infinite or negative; samples, curves and classes cut short or empty.
    let mut broken = complete(&["jepa", "mae"]);
    for (i, score) in broken.scores.iter_mut().enumerate() {
        match i % 4 {
            0 => score.value = None,
            1 => score.value = Some(f64::INFINITY),
            2 => score.value = Some(-1e300),
            _ => score.interval = Some([f64::NAN, 1.0]),
        }
    }
    for table in &mut broken.samples {
        table.columns[0].1.truncate(3);
        table.columns[0].1[0] = Some(f64::NAN);
    }
    broken
        .curves
        .iter_mut()
        .for_each(|curve| curve.y = vec![f64::NAN, 0.0, -1.0]);
    broken.classes[0].codes = vec![99; 3];
    broken
        .breakdowns
        .iter_mut()
        .for_each(|breakdown| breakdown.columns.truncate(1));
    cases.push(broken);
    let mut empty = complete(&["jepa"]);
    empty.samples.iter_mut().for_each(|table| table.columns.clear());
    empty.curves.iter_mut().for_each(|curve| curve.y.clear());
    empty.breakdowns.iter_mut().for_each(|breakdown| breakdown.keys.clear());
    cases.push(empty);
    let mut odd = searched("m", 3);
    odd.breakdowns
        .iter_mut()
        .for_each(|breakdown| breakdown.keys.truncate(1));
    odd.scores
        .push(score("m", "trustworthiness@many", 0.5, None, Better::Higher));
    cases.push(odd);
    for results in &cases {
        for figure in figures(results, "evaluate") {
            assert!(!figure.figure.description.is_empty(), "{}", figure.path);
            assert!(!figure.figure.panels.is_empty(), "{}", figure.path);
            assert!(
                to_svg(&figure.figure, &Style::default()).ends_with("</svg>\n"),
                "{}",
                figure.path
            );
        }
    }
}
