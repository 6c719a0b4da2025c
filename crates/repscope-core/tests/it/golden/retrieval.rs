// SPDX-License-Identifier: MIT
//! Cases that hold spaces to search in.

use std::sync::Arc;

use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Direction, LabelSet, Results, Retrieval, SearchInterval, Similarity, Spec, retrieve};

use super::case::Case;

/// What the retrieval of a case answers, over all its directions and K.
pub fn retrieved(case: &Case, directions: &[String]) -> Results {
    let options = &case.document.options;
    let spec = Spec {
        // The references hold the targets fixed.
        search_interval: SearchInterval::Gallery,
        retrieval_k: options.k.clone().expect("a retrieval case says its K"),
        similarity: match options.similarity.as_deref() {
            Some("dot") => Similarity::Dot,
            None => Similarity::Cosine,
            Some(other) => panic!("{}: unknown similarity {other}", case.document.case),
        },
        ..Spec::default()
    };
    let metrics = Analysis::Retrieval.metrics();
    let results = retrieve(
        &[retrieval(case, directions)],
        &metrics,
        &spec,
        &Driver::silent(Order::Parallel),
    );
    results.unwrap_or_else(|error| panic!("{}: {error}", case.document.case))
}

fn retrieval(case: &Case, directions: &[String]) -> Retrieval {
    let mut names: Vec<&str> = Vec::new();
    let mut number_of = |name| match names.iter().position(|n| *n == name) {
        Some(place) => place,
        None => {
            names.push(name);
            names.len() - 1
        }
    };
    let sides = directions.iter().map(|d| d.split_once('2').expect("two spaces"));
    let directions = sides.map(|(query, target)| Direction {
        query: number_of(query),
        target: number_of(target),
    });
    let directions: Vec<Direction> = directions.collect();
    // A space with labels of its own stands for other samples than the rest.
    let own_labels = |name: &str| Some(format!("{name}_labels")).filter(|key| case.has(key));
    let sets = case.keys.iter().filter(|k| *k == "labels" || k.starts_with("labels_"));
    let label_sets = sets.map(|key| LabelSet {
        name: key.strip_prefix("labels_").map(str::to_string),
        of_space: names
            .iter()
            .map(|name| Arc::new(case.labels(&own_labels(name).unwrap_or_else(|| key.clone()))))
            .collect(),
    });
    Retrieval {
        model: "golden".to_string(),
        label_sets: label_sets.collect(),
        spaces: names.iter().map(|name| Arc::new(case.space(name))).collect(),
        is_aligned: names.iter().map(|name| own_labels(name).is_none()).collect(),
        groups: Vec::new(),
        directions,
    }
}
