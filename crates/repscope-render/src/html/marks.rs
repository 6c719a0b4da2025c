// SPDX-License-Identifier: MIT
//! What the tables of scores need said about them: their marks, and the notes below them.

use super::safe::escape;
use crate::numbers::{number, percent};
use crate::summary::{DIRECTIONS, Summary, direction, distinct};
use repscope_core::{Better, Results};

/// Longer notes on intervals are folded away.
const LONG: usize = 260;

/// What the marks of the tables mean.
pub(super) fn legend(results: &Results) -> String {
    let has = |better: Better| results.scores.iter().any(|score| score.better == better);
    let mut parts: Vec<String> = DIRECTIONS
        .into_iter()
        .filter(|better| has(*better))
        .map(|better| match better {
            Better::Neither => "· a description".to_string(),
            better => format!("{} {}", direction(better).0, direction(better).1),
        })
        .collect();
    let level = results.differences.first().map(|d| d.level);
    if let Some(level) = level {
        parts.push(format!(
            "<span class=\"best\"><b>marked</b></span> better than every other model on the same samples (adjusted p ≤ {})",
            number(((1.0 - level) * 1e9).round() / 1e9)
        ));
    }
    let levels = results
        .scores
        .iter()
        .filter(|score| score.interval.is_some())
        .filter_map(|score| score.level);
    let levels: Vec<String> = levels.map(percent).collect();
    let levels = distinct(levels.iter().map(String::as_str));
    if !levels.is_empty() {
        parts.push(format!("[ ] {} interval", levels.join(" or ")));
    }
    if results.scores.iter().any(|score| score.value.is_none()) {
        parts.push("— no value, for the reason below".to_string());
    }
    format!(
        "<p class=\"legend\">{}</p>\n",
        parts.join(" <span aria-hidden=\"true\">|</span> ")
    )
}

/// Footnotes, why values are missing, and how intervals were made.
pub(super) fn notes(summary: &Summary) -> String {
    let notes = summary.notes.iter().enumerate();
    let notes = notes.map(|(i, note)| format!("<li><sup>{}</sup> {}</li>\n", i + 1, escape(note)));
    let missing = summary.undefined.iter();
    let missing = missing.map(|(who, reason)| format!("<li>— {}: {}</li>\n", escape(who), escape(reason)));
    let intervals = summary.intervals.iter().map(|how| {
        if how.len() > LONG {
            format!(
                "<li><details><summary>How the intervals were made</summary>{}</details></li>\n",
                escape(how)
            )
        } else {
            format!("<li>{}</li>\n", escape(how))
        }
    });
    let items: String = notes.chain(missing).chain(intervals).collect();
    match items.as_str() {
        "" => String::new(),
        items => format!("<ul class=\"notes\">\n{items}</ul>\n"),
    }
}
