// SPDX-License-Identifier: MIT
//! What a reader of the tables must know.

use super::Run;
use super::grids::families;
use crate::numbers::percent;
use crate::scores::distinct;
use crate::table::{NONE, reason};
use crate::text::printable;
use repscope_core::Score;

/// What the columns mean, how intervals were made, and why values are missing.
pub(super) fn remarks(run: &Run) -> Vec<String> {
    let mut remarks = vec![
        "PIS: accuracy lost, divided by the share that was meant to be masked; (lit): by the share of lit pixels that was. Larger \
         is more sensitive, which is neither good nor bad. p: McNemar's, not adjusted for the number of sets and classes."
            .to_string(),
    ];
    if families(run).is_some() {
        remarks
            .push("AOPC: mean accuracy lost over all strengths, 0 included; deletion: mean accuracy left.".to_string());
    }
    let drawn = || run.results.scores.iter().filter(|score| score.model == run.model);
    let way = |score: &Score| {
        let method = score.method.as_deref().filter(|_| score.interval.is_some())?;
        let what = match (score.metric.family(), score.metric.part()) {
            ("accuracy", _) => "accuracy",
            ("pis", "mean" | "aopc" | "deletion") => "mean PIS",
            ("pis", "relative") => return None,
            ("pis", _) => "PIS",
            _ => return None,
        };
        Some(format!(
            "{method} over {} ({what})",
            score.unit.as_deref().unwrap_or("samples")
        ))
    };
    let ways: Vec<String> = drawn().filter_map(way).collect();
    if let (false, Some(level)) = (ways.is_empty(), drawn().find_map(|score| score.level)) {
        let ways = distinct(ways.iter().map(String::as_str)).join("; ");
        remarks.push(format!("{} intervals: {ways}", percent(level)));
    }
    let missing = drawn().filter(|score| score.value.is_none() && score.metric.parameter("f") != Some("all"));
    let missing: Vec<(String, String)> = missing.map(|score| (score.metric.to_string(), reason(score))).collect();
    for why in distinct(missing.iter().map(|(_, why)| why.as_str())) {
        let of: Vec<&str> = missing
            .iter()
            .filter(|(_, own)| own == why)
            .map(|(metric, _)| metric.as_str())
            .collect();
        let who = match of.as_slice() {
            [one] => one.to_string(),
            several => format!("{} and {} more", several[0], several.len() - 1),
        };
        remarks.push(printable(&format!("{NONE} {who}: {why}")));
    }
    remarks
}
