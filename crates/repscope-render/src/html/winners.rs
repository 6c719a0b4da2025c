// SPDX-License-Identifier: MIT
//! How often each model is better than every other.

use super::models::{Models, shown};
use crate::scores::distinct;
use crate::winners::best;
use repscope_core::{Better, Results};

/// How often each model is the best, in sentences. Empty where models were not compared.
pub(super) fn lead(results: &Results, models: &Models) -> String {
    let graded = results.differences.iter().filter(|d| d.better != Better::Neither);
    let graded = distinct(graded.map(|d| d.metric.as_str()));
    if graded.is_empty() {
        return String::new();
    }
    let best: Vec<&str> = graded.iter().filter_map(|metric| best(results, metric)).collect();
    let count = |model: &str| best.iter().filter(|winner| **winner == model).count();
    let mut ranked: Vec<(&str, usize)> = models.names.iter().map(|name| (*name, count(name))).collect();
    ranked.retain(|(_, wins)| *wins > 0);
    ranked.sort_by_key(|(_, wins)| std::cmp::Reverse(*wins));
    let others = if models.names.len() > 2 {
        "every other model"
    } else {
        "the other"
    };
    let scores = match graded.len() {
        1 => "1 score with a direction".to_string(),
        count => format!("{count} scores with a direction"),
    };
    let named = |(i, (name, wins)): (usize, &(&str, usize))| match i {
        0 => format!("<b>{}</b> is better than {others} in {wins}", shown(name)),
        _ => format!("<b>{}</b> in {wins}", shown(name)),
    };
    let list: Vec<String> = ranked.iter().enumerate().map(named).collect();
    let undecided = match graded.len() - best.len() {
        0 => String::new(),
        count => format!(" In {count} no model is."),
    };
    let sentence = match list.as_slice() {
        [] => format!("In none of {scores} is a model better than {others}."),
        list => format!("Of {scores}, {}.{undecided}", list.join(", ")),
    };
    format!(
        "<p class=\"lead\">{sentence}</p>\n<p class=\"quiet\">Scores of one analysis measure related things: \
         the counts are no ranking of models.</p>\n"
    )
}
