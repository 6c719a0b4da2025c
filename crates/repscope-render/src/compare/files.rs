// SPDX-License-Identifier: MIT
//! All pairs of models, and the ranking, as CSV with every digit.

use super::comparison::ranking;
use crate::numbers::exact;
use crate::scores::distinct;
use crate::table::csv::write;
use repscope_core::{Better, Difference, Results};

/// The files of a comparison, below the output folder.
pub(crate) fn files(results: &Results) -> Vec<(String, String)> {
    if results.differences.is_empty() {
        return Vec::new();
    }
    vec![
        ("compare/differences.csv".to_string(), differences(results)),
        ("compare/ranking.csv".to_string(), standings(results)),
    ]
}

/// One line per metric and pair of models.
pub(super) fn differences(results: &Results) -> String {
    const HEADER: [&str; 18] = [
        "metric",
        "a",
        "b",
        "value_a",
        "value_b",
        "difference",
        "low",
        "high",
        "level",
        "p",
        "p_adjusted",
        "better",
        "winner",
        "paired",
        "unit",
        "units",
        "method",
        "note",
    ];
    let optional = |x: Option<f64>| x.map(exact).unwrap_or_default();
    let text = |x: &Option<String>| x.clone().unwrap_or_default();
    let row = |d: &Difference| {
        let value = |model: &str| optional(results.score(model, &d.metric).and_then(|s| s.value));
        vec![
            d.metric.to_string(),
            d.a.clone(),
            d.b.clone(),
            value(&d.a),
            value(&d.b),
            exact(d.value),
            optional(d.interval.map(|[low, _]| low)),
            optional(d.interval.map(|[_, high]| high)),
            exact(d.level),
            optional(d.p),
            optional(d.p_adjusted),
            match d.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
                Better::Neither => "neither",
            }
            .to_string(),
            text(&d.winner),
            if d.is_paired { "yes" } else { "no" }.to_string(),
            text(&d.unit),
            d.units.to_string(),
            text(&d.method),
            text(&d.note),
        ]
    };
    write(&HEADER, results.differences.iter().map(row))
}

fn standings(results: &Results) -> String {
    let models = distinct(results.scores.iter().map(|s| s.model.as_str()));
    let rows = ranking(results, &models).into_iter().map(|standing| {
        vec![
            models[standing.model].to_string(),
            standing.wins.to_string(),
            standing.losses.to_string(),
            standing.ties.to_string(),
            standing.mean_rank.map(exact).unwrap_or_default(),
        ]
    });
    write(&["model", "wins", "losses", "ties", "mean_rank"], rows)
}
