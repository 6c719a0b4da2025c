// SPDX-License-Identifier: MIT
//! Similarity of models: a matrix for each measure, as it is and calibrated, and the tree of models that they make.

use super::words::description;
use super::{NamedFigure, named};
use crate::breakdowns::{cell, lines, names};
use crate::numbers::number;
use crate::scores::distinct;
use crate::text::printable;
use repscope_core::{Breakdown, MetricId, Results};
use repscope_figures::{Figure, Heatmap, Merge, Panel, Tree};

/// More models than this have no room in a matrix.
const MOST_MODELS: usize = 40;
/// What is drawn, where it was measured; the first of them orders the models.
const DRAWN: [(&str, &str); 6] = [
    ("cka(kernel=linear)", "CKA (linear)"),
    ("mutual_knn", "Mutual k-NN"),
    ("rsa", "RSA"),
    ("cka(kernel=rbf)", "CKA (Gaussian)"),
    ("svcca", "SVCCA"),
    ("procrustes", "Procrustes"),
];
/// What stands below the figures.
const RAW: &str = "Values grow with the columns of the models and fall with the rows: read them beside their chance levels, or \
                   calibrated.";
const CALIBRATED: &str = "0: no more than what one in twenty orders of shuffled rows reaches; 1: the same but for what the \
                          measure does not see.";
const BY_DEPTH: &str = "Layers stand in the order of their depth.";
const ORDER: &str = "Models stand in the order of the tree, which joins those that are most alike on average.";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let tables: Vec<(&Breakdown, &str)> = DRAWN
        .iter()
        .filter_map(|(measure, title)| Some((table_of(results, measure)?, *title)))
        .collect();
    let Some((first, title)) = tables.first() else {
        return Vec::new();
    };
    let models = models_of(first);
    if models.len() < 2 || models.len() > MOST_MODELS {
        return Vec::new();
    }
    let square = |table: &Breakdown, column: &str| Square::of(table, &models, column);
    let (mut order, merges) = joined(&square(first, "value"));
    // Layers stand in the order of their depth, which shows blocks along the diagonal.
    let is_layer = |model: &&str| results.layers.iter().any(|layer| layer.model == **model);
    let are_layers = models.iter().all(is_layer);
    let tree_order = order.clone();
    if are_layers {
        order.sort_unstable();
    }
    let shown: Vec<String> = order.iter().map(|&model| printable(models[model])).collect();
    let panel = |table: &Breakdown, title: &str, column: &str| {
        let map = square(table, column).heatmap(&order, &shown, title);
        map.map(|map| Panel::new(title.to_string(), map))
    };
    let tree = Tree {
        names: tree_order.iter().map(|&model| printable(models[model])).collect(),
        merges,
        label: format!("1 − {title}, mean of all pairs"),
    };
    let has_tree = models.len() > 2 && !tree.merges.is_empty();
    let sentences = tables.iter().map(|(table, title)| in_words(table, title));
    let words = description("How similar the models are, two by two.", sentences);
    let figure = |panels: Vec<Panel>, notes: &[&str]| Figure {
        description: words.clone(),
        panels,
        columns: 2,
        notes: notes.iter().map(ToString::to_string).collect(),
        ..Figure::default()
    };
    let mut raw: Vec<Panel> = tables
        .iter()
        .filter_map(|(table, title)| panel(table, title, "value"))
        .collect();
    if has_tree {
        raw.insert(1.min(raw.len()), Panel::new("Which models are alike", tree));
    }
    let calibrated = tables
        .iter()
        .filter_map(|(table, title)| panel(table, title, "calibrated"));
    let calibrated: Vec<Panel> = calibrated.collect();
    let mut all = named(
        "similarity/similarity_matrices",
        figure(raw, &[RAW, if are_layers { BY_DEPTH } else { ORDER }]),
    );
    all.extend(named(
        "similarity/similarity_calibrated",
        figure(calibrated, &[CALIBRATED]),
    ));
    all
}

/// The table of a measure, whatever its K.
fn table_of<'a>(results: &'a Results, measure: &str) -> Option<&'a Breakdown> {
    let is_it = |id: &MetricId| id == measure || (id.at().is_some() && id.measure() == measure);
    let is_of_pairs = |table: &&Breakdown| is_it(&table.metric) && !names(table, "other").is_empty();
    results.breakdowns.iter().find(is_of_pairs)
}

fn models_of(table: &Breakdown) -> Vec<&str> {
    let all = names(table, "model").iter().chain(names(table, "other"));
    distinct(all.map(String::as_str))
}

/// The largest and the smallest value in a sentence.
fn in_words(table: &Breakdown, title: &str) -> String {
    let pair = |line: usize| format!("{} and {}", names(table, "model")[line], names(table, "other")[line]);
    let known = (0..lines(table)).filter_map(|line| Some((cell(table, "value", line)?, line)));
    let mut known: Vec<(f64, usize)> = known.collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (known.first(), known.last()) {
        (Some((low, least)), Some((high, most))) if least != most => format!(
            "{title}: from {} ({}) to {} ({}).",
            number(*low),
            pair(*least),
            number(*high),
            pair(*most)
        ),
        (Some((value, line)), _) => format!("{title}: {} ({}).", number(*value), pair(*line)),
        _ => String::new(),
    }
}

/// A symmetric matrix of models.
struct Square {
    values: Vec<Vec<Option<f64>>>,
}

impl Square {
    fn of(table: &Breakdown, models: &[&str], column: &str) -> Self {
        let mut values = vec![vec![None; models.len()]; models.len()];
        let place = |name: &str| models.iter().position(|model| *model == name);
        let pairs = names(table, "model").iter().zip(names(table, "other"));
        for (line, (a, b)) in pairs.enumerate() {
            if let (Some(i), Some(j)) = (place(a), place(b)) {
                values[i][j] = cell(table, column, line);
                values[j][i] = values[i][j];
            }
        }
        Square { values }
    }

    /// With its rows and columns in an order; none without any value.
    fn heatmap(&self, order: &[usize], names: &[String], label: &str) -> Option<Heatmap> {
        let is_known = self.values.iter().flatten().any(Option::is_some);
        let value = |i: usize, j: usize| if i == j { Some(1.0) } else { self.values[i][j] };
        is_known.then(|| Heatmap {
            rows: names.to_vec(),
            columns: names.to_vec(),
            values: order
                .iter()
                .map(|&i| order.iter().map(|&j| value(i, j)).collect())
                .collect(),
            value_label: label.to_string(),
            range: Some((0.0, 1.0)),
            decimals: 2,
            ..Heatmap::default()
        })
    }
}

/// Average linkage of 1 − value: the order of the models in the tree, and its joins by their places in that order.
fn joined(square: &Square) -> (Vec<usize>, Vec<Merge>) {
    let count = square.values.len();
    let apart = |i: usize, j: usize| 1.0 - square.values[i][j].unwrap_or(0.0);
    // Members of each cluster, in the order of the tree, and the node that it is.
    let mut clusters: Vec<(usize, Vec<usize>)> = (0..count).map(|model| (model, vec![model])).collect();
    let mut joins: Vec<[usize; 2]> = Vec::new();
    let mut heights = Vec::new();
    while clusters.len() > 1 {
        let mean = |a: &[usize], b: &[usize]| {
            let all = a.iter().flat_map(|&i| b.iter().map(move |&j| apart(i, j)));
            all.sum::<f64>() / (a.len() * b.len()) as f64
        };
        let mut best = (0, 1, f64::INFINITY);
        for i in 0..clusters.len() {
            for j in i + 1..clusters.len() {
                let between = mean(&clusters[i].1, &clusters[j].1);
                if between < best.2 {
                    best = (i, j, between);
                }
            }
        }
        let (node, members) = clusters.remove(best.1);
        joins.push([clusters[best.0].0, node]);
        heights.push(best.2);
        clusters[best.0].1.extend(members);
        clusters[best.0].0 = count + joins.len() - 1;
    }
    let order = clusters.pop().map(|(_, members)| members).unwrap_or_default();
    let slot = |node: usize| {
        if node < count {
            order.iter().position(|&model| model == node).unwrap_or(node)
        } else {
            node
        }
    };
    let merges = joins.iter().zip(heights).map(|([left, right], at)| Merge {
        left: slot(*left),
        right: slot(*right),
        at,
    });
    (order.clone(), merges.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_joins_what_is_most_alike_first() {
        // 0 and 2 are alike, 1 and 3 less so, and both pairs hardly.
        let known = [
            (0, 2, 0.9),
            (1, 3, 0.6),
            (0, 1, 0.1),
            (0, 3, 0.2),
            (2, 1, 0.1),
            (2, 3, 0.2),
        ];
        let mut values = vec![vec![None; 4]; 4];
        for (i, j, value) in known {
            values[i][j] = Some(value);
            values[j][i] = Some(value);
        }
        let (order, merges) = joined(&Square { values });
        assert_eq!(order, [0, 2, 1, 3]);
        let found: Vec<(usize, usize)> = merges.iter().map(|merge| (merge.left, merge.right)).collect();
        assert_eq!(found, [(0, 1), (2, 3), (4, 5)]);
        let heights: Vec<f64> = merges.iter().map(|merge| merge.at).collect();
        assert!(
            (heights[0] - 0.1).abs() < 1e-12 && (heights[2] - 0.85).abs() < 1e-12,
            "{heights:?}"
        );
    }
}
