// SPDX-License-Identifier: MIT
//! Which model is better than every other, by the adjusted p-values of the differences.

use repscope_core::{Difference, Results};

/// The model that the differences call better than every other one with a value.
pub(crate) fn best<'a>(results: &'a Results, metric: &str) -> Option<&'a str> {
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
