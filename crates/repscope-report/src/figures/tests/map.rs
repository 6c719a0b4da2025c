// SPDX-License-Identifier: MIT
//! The maps.

use super::*;

#[test]
fn maps_are_coloured_by_label_and_by_trustworthiness() {
    let results = complete(&["jepa", "mae"]);
    let Content::Map(map) = &figure(&results, "map_by_label").figure.panels[1].content.clone() else {
        panic!("a map")
    };
    assert_eq!(map.x_label, "PC 1 (60 % of variance)");
    assert!(matches!(&map.colored_by, ColoredBy::Class { of, .. } if of[..3] == [Some(0), Some(1), Some(0)]));
    let Content::Map(map) = &figure(&results, "map_by_trustworthiness").figure.panels[0]
        .content
        .clone()
    else {
        panic!("a map")
    };
    assert!(matches!(&map.colored_by, ColoredBy::Value { of, .. } if of[1] == Some(0.2)));
}

#[test]
fn trustworthiness_of_some_rows_colours_those_rows() {
    let mut results = complete(&["jepa"]);
    results.samples.retain(|table| table.metric == "map");
    results.samples.push(samples(
        "jepa",
        "neighborhood",
        &[("row", &[7.0, 2.0, 99.0]), ("trustworthiness@10", &[0.75, 0.5, 0.25])],
    ));
    let Content::Map(map) = &figure(&results, "map_by_trustworthiness").figure.panels[0]
        .content
        .clone()
    else {
        panic!("a map")
    };
    let ColoredBy::Value { of, .. } = &map.colored_by else {
        panic!("coloured by a number")
    };
    assert_eq!((of[7], of[2], of[0], of.len()), (Some(0.75), Some(0.5), None, 40));
}

#[test]
fn a_map_without_labels_and_neighbours_is_plain() {
    let mut results = complete(&["jepa"]);
    results.classes.clear();
    results.samples.retain(|table| table.metric == "map");
    assert_eq!(paths(&figures(&results, "map")), ["map/map"]);
}
