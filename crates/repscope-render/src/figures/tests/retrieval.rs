// SPDX-License-Identifier: MIT
//! The figures of a retrieval.

use super::*;

#[test]
fn a_retrieval_shows_precision_against_k_with_its_chance() {
    let results = searched("embeddings", 3);
    let all = figures(&results, "retrieval");
    assert_eq!(
        paths(&all),
        [
            "retrieval/retrieval_metrics",
            "retrieval/per_label",
            "retrieval/confusion"
        ]
    );
    assert_eq!(all[0].figure.series, ["Text → Sensor", "Sensor → Text"]);
    let Content::Lines(lines) = &panel(&all[0], "Precision ↑").content else {
        panic!("precision is a curve")
    };
    let points: Vec<(f64, Option<f64>)> = lines.curves[1].points.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(points, [(10.0, Some(0.7234)), (100.0, Some(0.6123))]);
    assert_eq!(
        lines.references.iter().map(|r| r.label.as_str()).collect::<Vec<_>>(),
        ["chance 0.1"]
    );
}

#[test]
fn one_k_makes_bars_of_directions() {
    let mut results = searched("embeddings", 3);
    results.scores.retain(|score| !score.metric.ends_with("@100"));
    let metrics = figure(&results, "retrieval_metrics");
    let precision = bars(&metrics, "Precision, K = 10 ↑");
    assert_eq!(
        precision.rows.iter().map(values).collect::<Vec<_>>(),
        [[Some(0.7234)], [Some(0.7234)]]
    );
    assert_eq!(precision.chance, [Some(0.1), Some(0.1)]);
}

#[test]
fn many_labels_are_shown_by_the_best_and_the_worst() {
    let labels = figure(&searched("embeddings", 50), "per_label");
    let shown = bars(&labels, "Text → Sensor");
    assert_eq!(shown.categories.len(), 20);
    assert_eq!(
        (shown.categories[0].as_str(), shown.categories[19].as_str()),
        ("label 49", "label 0")
    );
    assert_eq!(
        panel(&labels, "Text").note,
        "The 10 best and the 10 worst of 50 labels."
    );
}

#[test]
fn a_confusion_of_many_labels_keeps_the_worst_and_sums_up_the_others() {
    let confusion = figure(&searched("embeddings", 50), "confusion");
    let Content::Heatmap(map) = &confusion.figure.panels[0].content else {
        panic!("a confusion is a heat map")
    };
    assert_eq!((map.rows.len(), map.columns.len()), (15, 16));
    assert_eq!(map.columns[15], "all others");
    for row in &map.values {
        let sum: f64 = row.iter().flatten().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }
    // Label 0 never finds itself, only label 1.
    assert_eq!((map.values[0][0], map.values[0][1]), (Some(0.0), Some(1.0)));
}

#[test]
fn several_models_of_a_retrieval_are_compared_and_get_files_of_their_own() {
    let mut results = searched("a/b", 3);
    let other = searched("a b", 3);
    results.scores.extend(other.scores);
    results.breakdowns.extend(other.breakdowns);
    let all = figures(&results, "retrieval");
    assert_eq!(
        paths(&all),
        [
            "retrieval/retrieval_comparison",
            "retrieval/retrieval_metrics_a-b",
            "retrieval/per_label_a-b",
            "retrieval/confusion_a-b",
            "retrieval/retrieval_metrics_a-b_2",
            "retrieval/per_label_a-b_2",
            "retrieval/confusion_a-b_2",
        ]
    );
    assert_eq!(all[0].figure.panels.len(), 2);
    assert_eq!(all[0].figure.series, ["a/b", "a b"]);
}
