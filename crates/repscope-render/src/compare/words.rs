// SPDX-License-Identifier: MIT
//! What a reader must know of the differences, in sentences.

use super::probability::probability;
use super::ranking::{Standing, directed, is_tested};
use crate::scores::{add_to_group, distinct, name_metrics};
use crate::text::printable;
use repscope_core::{Better, Results};

pub(super) struct Words {
    /// Who is better in how many metrics.
    pub(super) outcome: String,
    /// How often units were compared, and the correction for it.
    pub(super) method: Vec<String>,
    /// What single metrics need to be said.
    pub(super) remarks: Vec<String>,
}

pub(super) fn words(
    results: &Results,
    models: &[&str],
    standings: &[Standing],
    undefined: &[(String, String)],
) -> Words {
    let metrics = distinct(results.differences.iter().map(|d| d.metric.as_str()));
    let mut remarks: Vec<String> = notes(results, &metrics);
    remarks.extend(few_units(results, &metrics));
    remarks.extend(
        undefined
            .iter()
            .map(|(who, reason)| format!("No difference in {who}: {reason}")),
    );
    Words {
        outcome: printable(&outcome(results, models, standings)),
        method: vec![paired(results), corrected(results)]
            .into_iter()
            .filter(|sentence| !sentence.is_empty())
            .map(|sentence| printable(&sentence))
            .collect(),
        remarks: remarks.iter().map(|remark| printable(remark)).collect(),
    }
}

/// Of two models, who is better in what; of more, what was counted.
fn outcome(results: &Results, models: &[&str], standings: &[Standing]) -> String {
    let tested = results.differences.iter().filter(|d| is_tested(d));
    let metrics = distinct(tested.map(|d| d.metric.as_str())).len();
    if metrics == 0 {
        return "No metric with a direction has a p-value, so no model is called better".to_string();
    }
    let count = |count: usize| format!("{count} metric{}", if count == 1 { "" } else { "s" });
    match standings {
        [first, second] => format!(
            "Of {} with a direction and a p-value, {} is better in {}, {} in {}, and {} {} them apart",
            count(metrics),
            models[first.model],
            first.wins,
            models[second.model],
            second.wins,
            first.ties,
            if first.ties == 1 {
                "does not tell"
            } else {
                "do not tell"
            }
        ),
        _ => format!(
            "Wins, losses and ties are counted over {} with a direction and a p-value and all other models; the mean \
             rank is by value over {} with a direction, 1 is best. Related metrics each count, so look at the \
             differences too",
            count(metrics),
            count(directed(results).len()),
        ),
    }
}

/// Over what units the differences were taken.
fn paired(results: &Results) -> String {
    let mut groups: Vec<((usize, &str), Vec<&str>)> = Vec::new();
    let paired = || results.differences.iter().filter(|d| d.is_paired);
    let all = distinct(paired().map(|d| d.metric.as_str()));
    for d in paired() {
        add_to_group(&mut groups, (d.units, d.unit.as_deref().unwrap_or("units")), &d.metric);
    }
    let ways: Vec<String> = groups
        .iter()
        .map(|((units, unit), ids)| match groups.len() {
            1 => format!("{units} {unit}"),
            _ => format!("{units} {unit} ({})", name_metrics(ids, &all)),
        })
        .collect();
    if ways.is_empty() {
        String::new()
    } else {
        format!("Differences are taken unit by unit, over {}", ways.join("; over "))
    }
}

/// How the p-values were made and adjusted.
fn corrected(results: &Results) -> String {
    let tested = || results.differences.iter().filter(|d| d.p.is_some());
    let count = tested().count();
    if count == 0 {
        return "No score has an interval, so there are no p-values".to_string();
    }
    let methods = distinct(tested().filter_map(|d| d.method.as_deref()).map(short));
    let mut text = format!(
        "p-values are two-sided ({}) and adjusted by Holm's method over all {count} comparisons",
        methods.join("; ")
    );
    let smallest = tested().filter_map(|d| d.p).fold(1.0, f64::min);
    if results.differences.iter().all(|d| d.winner.is_none()) && tested().any(|d| d.better != Better::Neither) {
        text += &format!(
            ". No model is called better: the smallest p-value, {}, times {count} is {}",
            probability(Some(smallest)),
            probability(Some((smallest * count as f64).min(1.0)))
        );
    }
    text
}

/// Where a p-value is as small as so few units can make it (all signs of n give 2ⁿ sums), and that was not enough.
fn few_units(results: &Results, metrics: &[&str]) -> Vec<String> {
    let count = results.differences.iter().filter(|d| d.p.is_some()).count();
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for d in &results.differences {
        let is_open = d.better != Better::Neither && d.winner.is_none();
        let is_of_all_signs = d.method.as_deref().is_some_and(|method| method.ends_with("all signs"));
        let smallest = 0.5f64.powi(d.units as i32 - 1);
        if is_open && is_of_all_signs && d.p.is_some_and(|p| p <= smallest) {
            let unit = d.unit.as_deref().unwrap_or("units");
            let start = format!(
                "{} {unit} can give no smaller p-value, and over {count} comparisons it is too large",
                d.units
            );
            add_to_group(&mut groups, start, &d.metric);
        }
    }
    let sentence = |(start, ids): &(String, Vec<&str>)| format!("{start}: {}", name_metrics(ids, metrics));
    groups.iter().map(sentence).collect()
}

/// Without what the sentence before it says already.
fn short(method: &str) -> &str {
    method.strip_prefix("paired over units, ").unwrap_or(method)
}

/// Notes of the differences, each with its metrics.
fn notes(results: &Results, metrics: &[&str]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for d in &results.differences {
        for note in d.note.iter().flat_map(|note| note.split("; ")) {
            add_to_group(&mut groups, note, &d.metric);
        }
    }
    let sentence = |(note, ids): &(&str, Vec<&str>)| {
        let mark = if note.starts_with("not paired") { "† " } else { "" };
        format!("{mark}{note}: {}", name_metrics(ids, metrics))
    };
    groups.iter().map(sentence).collect()
}
