// SPDX-License-Identifier: MIT
//! The maps.

use super::*;

#[test]
fn maps_are_colored_by_label_and_by_trustworthiness() {
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
fn trustworthiness_of_some_rows_colors_those_rows() {
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
        panic!("colored by a number")
    };
    assert_eq!((of[7], of[2], of[0], of.len()), (Some(0.75), Some(0.5), None, 40));
}

#[test]
fn a_map_without_labels_and_neighbors_is_plain() {
    let mut results = complete(&["jepa"]);
    results.classes.clear();
    results.samples.retain(|table| table.metric == "map");
    assert_eq!(paths(&figures(&results, "map")), ["map/map"]);
}

#[test]
fn maps_colored_by_value_share_a_range_that_few_far_values_do_not_stretch() {
    let mut results = complete(&["jepa", "mae"]);
    results.samples.retain(|table| table.metric == "map");
    // 80 values of both models: 2 % of them are one at each end, −9 of jepa and 9 of mae.
    let low: Vec<f64> = (0..40)
        .map(|i| if i == 7 { -9.0 } else { 0.1 + 0.01 * f64::from(i) })
        .collect();
    let high: Vec<f64> = (0..40)
        .map(|i| if i == 7 { 9.0 } else { 0.5 + 0.01 * f64::from(i) })
        .collect();
    for (model, values) in [("jepa", &low), ("mae", &high)] {
        results
            .samples
            .push(samples(model, "neighborhood", &[("trustworthiness@10", values)]));
    }
    let named = figure(&results, "map_by_trustworthiness");
    for panel in &named.figure.panels {
        let Content::Map(Map {
            colored_by: ColoredBy::Value { range: Some(range), .. },
            ..
        }) = &panel.content
        else {
            panic!("a map colored by a number")
        };
        // Without the two, jepa has 0.10 to 0.49 and mae 0.50 to 0.89.
        assert_eq!(*range, (low[0], high[39]));
    }
    assert!(named.figure.notes.iter().any(|note| note.contains("98th percentile")));
    assert!(
        named
            .figure
            .notes
            .iter()
            .any(|note| note.contains("same range of colors"))
    );
}

#[test]
fn a_tsne_map_is_a_figure_of_its_own_and_says_how_it_was_made() {
    let mut results = complete(&["jepa"]);
    let map = results.samples.iter_mut().find(|table| table.metric == "map").unwrap();
    let along = |factor: f64| (0..40).map(|i| (i % 4 > 0).then_some(factor * f64::from(i))).collect();
    map.columns
        .extend([("tsne_x".to_string(), along(1.0)), ("tsne_y".to_string(), along(-2.0))]);
    let found = figures(&results, "map");
    assert_eq!(
        paths(&found),
        [
            "map/map_by_label",
            "map/map_by_trustworthiness",
            "map/tsne_by_label",
            "map/tsne_by_trustworthiness"
        ]
    );
    let figure = &found[2].figure;
    let Content::Map(map) = &figure.panels[0].content else {
        panic!("a map")
    };
    assert_eq!((map.x_label.as_str(), map.y_label.as_str()), ("t-SNE 1", "t-SNE 2"));
    // Every fourth of 40 samples has no place; sample 1 is the first that has one.
    assert_eq!((map.points.len(), map.points[0]), (30, [1.0, -2.0]));
    assert!(matches!(&map.colored_by, ColoredBy::Class { of, .. } if of.len() == 30 && of[0] == Some(1)));
    // 30 points: the perplexity is 29 / 3.
    assert!(figure.notes[0].starts_with("N = 30. t-SNE of 30 of 40 samples, chosen at random"));
    assert!(figure.notes[0].contains("perplexity 9.667, 750 steps") && figure.notes[0].contains("not to be read"));
}
