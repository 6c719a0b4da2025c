// SPDX-License-Identifier: MIT
//! Which model is better than every other, by the adjusted p-values of the differences.

use super::models::{Models, shown};
use crate::summary::distinct;
use repscope_core::{Better, Difference, Results};

/// The model that the differences call better than every other one with a value.
pub(super) fn best<'a>(results: &'a Results, metric: &str) -> Option<&'a str> {
    let scores = results
        .scores
        .iter()
        .filter(|score| score.metric == metric && score.value.is_some());
    let rivals: Vec<&str> = scores.map(|score| score.model.as_str()).collect();
    let won: Vec<&Difference> = results
        .differences
        .iter()
        .filter(|d| d.metric == metric && d.winner.is_some())
        .collect();
    let beats = |a: &str, b: &str| {
        let of_both = |d: &&&Difference| (d.a == a && d.b == b) || (d.a == b && d.b == a);
        won.iter().filter(of_both).any(|d| d.winner.as_deref() == Some(a))
    };
    let wins = |a: &str| rivals.iter().all(|b| a == *b || beats(a, b));
    rivals.iter().copied().find(|a| rivals.len() > 1 && wins(a))
}

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
