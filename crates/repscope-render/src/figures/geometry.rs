// SPDX-License-Identifier: MIT
//! Geometry: how embeddings are spread and whether they fall into classes, in six panels and a table.

use super::models::{Group, Models};
use super::words::{description, notes, table, values};
use super::{NamedFigure, named};
use repscope_core::{MetricId, Results};
use repscope_figures::{Axis, Figure};

const PLAIN: [&str; 7] = [
    "uniformity",
    "silhouette",
    "nmi",
    "ami",
    "inertia",
    "inertia.share",
    "cluster_balance",
];
const ACCURACY: &str = "knn_accuracy";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = |id: &MetricId| PLAIN.contains(&id.as_str()) || id.measure() == ACCURACY;
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let one = |metric: &str| [Group::new("", metric)];
    let share = |label: &str| Axis::linear(label).covering(&[0.0, 1.0]);
    let agreement = [Group::new("NMI", "nmi"), Group::new("AMI", "ami")];
    // The share of the variance can be compared between models; the sum of squares itself only shows their scale.
    let inertia = models.bars(
        "Clustering inertia",
        share("share of the variance"),
        "",
        &one("inertia.share"),
    );
    let plain_inertia = || {
        models.bars(
            "Clustering inertia",
            Axis::linear("inertia").covering(&[0.0]),
            "",
            &one("inertia"),
        )
    };
    let ks = models.levels(&[ACCURACY]);
    let accuracy: Vec<Group> = ks
        .iter()
        .map(|k| Group::new(k.as_str(), format!("{ACCURACY}@{k}")))
        .collect();
    let accuracy_title = match ks.as_slice() {
        [k] => format!("k-NN accuracy, k = {k}"),
        _ => "k-NN accuracy".to_string(),
    };
    let panels = [
        models.bars(
            "Uniformity",
            Axis::linear("log mean kernel").covering(&[0.0]),
            "",
            &one("uniformity"),
        ),
        models.bars(
            "Silhouette",
            Axis::linear("silhouette").covering(&[0.0]),
            "",
            &one("silhouette"),
        ),
        models.bars("Clusters and labels", share("agreement"), "", &agreement),
        inertia.or_else(plain_inertia),
        models.bars(
            "Cluster balance",
            Axis::linear("spread of the sizes").covering(&[0.0]),
            "",
            &one("cluster_balance"),
        ),
        models.bars(&accuracy_title, share("accuracy"), "neighbors k", &accuracy),
        table(results, is_drawn).map(|panel| panel.span(3)),
    ];
    let mut sentences = vec!["How the embeddings are spread, and whether they fall into classes.".to_string()];
    let metrics = PLAIN
        .iter()
        .map(|id| id.to_string())
        .chain(accuracy.into_iter().map(|group| group.metric));
    sentences.extend(metrics.map(|metric| values(&models, &metric, &metric)));
    let figure = Figure {
        description: description(sentences),
        panels: panels.into_iter().flatten().collect(),
        columns: 3,
        series: models.series(),
        notes: notes(results, is_drawn),
        ..Figure::default()
    };
    named("geometry_analysis/geometry_analysis", figure)
}
