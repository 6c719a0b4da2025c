// SPDX-License-Identifier: MIT
//! Cases that hold scores of models and how well the models do.

use std::collections::BTreeMap;

use repscope_core::{Performance, Results, Score, Spec, metrics, relate};

use crate::case::Case;

/// The scores of a case, and what is said about them and the performance.
pub fn related(case: &Case, scores: &BTreeMap<String, BTreeMap<String, Option<f64>>>) -> Results {
    let performance = case.document.options.performance.clone();
    let performance = Performance {
        name: "accuracy".to_string(),
        of_model: performance.expect("how well the models do").into_iter().collect(),
    };
    let mut results = Results::default();
    for (model, own) in scores {
        for (metric, value) in own {
            let score = match value {
                Some(value) => Score::number(metric, *value, 100),
                None => Score::undefined(metric, "the case has none", 100),
            };
            results.scores.push(Score {
                model: model.clone(),
                ..score
            });
        }
    }
    let asked = ["weighted_clid", "performance"].map(|id| metrics::find(id).expect("a metric of ours").0);
    let related = relate(&mut results, &asked, &performance, &Spec::default());
    related.unwrap_or_else(|error| panic!("{}: {error}", case.document.case));
    results
}
