// SPDX-License-Identifier: MIT
//! Geometry: how embeddings are spread and whether they fall into classes, in six panels and a table.

use super::NamedFigure;
use super::models::Models;
use super::words::{all_values, description, is_of, notes, table};
use repscope_core::{Analysis, Results};
use repscope_figures::Axis;

const ACCURACY: &str = "knn_accuracy";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = is_of(Analysis::Geometry);
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let share = |label: &str| Axis::linear(label).covering(&[0.0, 1.0]);
    let from_zero = |label: &str| Axis::linear(label).covering(&[0.0]);
    // The share of the variance can be compared between models; the sum of squares itself only shows their scale.
    let inertia = models.bar("Clustering inertia", share("share of the variance"), "inertia.share");
    let plain_inertia = || models.bar("Clustering inertia", from_zero("inertia"), "inertia");
    let ks = models.levels(&[ACCURACY]);
    let accuracy_title = match ks.as_slice() {
        [k] => format!("k-NN accuracy, k = {k}"),
        _ => "k-NN accuracy".to_string(),
    };
    let panels = [
        models.bar("Uniformity", from_zero("log mean kernel"), "uniformity"),
        models.bar("Silhouette", from_zero("silhouette"), "silhouette"),
        models.bars(
            "Clusters and labels",
            share("agreement"),
            "",
            &[("NMI", "nmi"), ("AMI", "ami")],
        ),
        inertia.or_else(plain_inertia),
        models.bar("Cluster balance", from_zero("spread of the sizes"), "cluster_balance"),
        models.bars_at(&accuracy_title, share("accuracy"), "neighbors k", ACCURACY, &ks),
        table(results, is_drawn).map(|panel| panel.span(3)),
    ];
    let head = "How the embeddings are spread, and whether they fall into classes.";
    let words = description(head, all_values(&models, is_drawn));
    let below = notes(results, is_drawn);
    models.figure("geometry_analysis/geometry_analysis", 3, panels, words, below)
}
