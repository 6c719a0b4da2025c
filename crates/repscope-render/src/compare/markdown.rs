// SPDX-License-Identifier: MIT
//! Differences as GitHub Markdown.

use super::comparison::{Comparison, Line, Row, Verdict};
use super::probability::{LEGEND, limit, probability};
use crate::markdown::{escape, list};
use crate::numbers::percent;
use crate::summary::direction;

/// Up to this many columns of differences have their intervals.
const COLUMNS_WITH_INTERVALS: usize = 3;

pub(super) fn render(comparison: &Comparison) -> String {
    let tables = match comparison.only_other() {
        Some(other) => two(comparison, other),
        None => format!("{}\n{}", ranked(comparison), many(comparison)),
    };
    let bold = match comparison.only_other() {
        Some(_) => "**bold** the better model",
        None => "**bold** better than the reference, _italic_ worse",
    };
    let words = &comparison.words;
    let mut items = vec![
        escape(&words.outcome),
        format!(
            "↑ higher is better; ↓ lower is better; · no direction; {bold} (adjusted p ≤ {}); {}",
            limit(comparison.level),
            escape(LEGEND)
        ),
    ];
    items.extend(
        words
            .method
            .iter()
            .chain(&words.remarks)
            .map(|sentence| escape(sentence)),
    );
    format!("{tables}\n{}", list(&items))
}

fn two(comparison: &Comparison, other: usize) -> String {
    let reference = comparison.reference;
    let header = [
        "metric".to_string(),
        String::new(),
        escape(&comparison.models[other]),
        escape(&comparison.models[reference]),
        "difference".to_string(),
        format!("{} interval", percent(comparison.level)),
        "p".to_string(),
        "adjusted p".to_string(),
        "better".to_string(),
    ];
    let rows = comparison.rows.iter().map(|row| {
        let line = row.lines[0].as_ref();
        let verdict = line.map(|l| l.verdict);
        let value = |model: usize, wins: Verdict| {
            let value = row.values[model].as_deref().unwrap_or("—");
            emphasize(value, if verdict == Some(wins) { "**" } else { "" })
        };
        vec![
            metric(row),
            direction(row.better).0.to_string(),
            value(other, Verdict::Better),
            value(reference, Verdict::Worse),
            line.map_or(String::new(), |l| l.value.clone() + &escape(l.marks)),
            line.and_then(|l| l.interval.as_deref()).unwrap_or("—").to_string(),
            escape(&probability(line.and_then(|l| l.of.p))),
            escape(&probability(line.and_then(|l| l.of.p_adjusted))),
            match verdict {
                Some(Verdict::Better) => escape(&comparison.models[other]),
                Some(Verdict::Worse) => escape(&comparison.models[reference]),
                Some(Verdict::Open) => "—".to_string(),
                _ => String::new(),
            },
        ]
    });
    table(&header, ":-:", rows)
}

fn ranked(comparison: &Comparison) -> String {
    let header = ["model", "#", "wins", "losses", "ties", "mean rank"].map(str::to_string);
    let rows = comparison.standings.iter().enumerate().map(|(i, standing)| {
        vec![
            escape(&comparison.models[standing.model]),
            (i + 1).to_string(),
            standing.wins.to_string(),
            standing.losses.to_string(),
            standing.ties.to_string(),
            standing.mean_rank.map_or("—".to_string(), |rank| format!("{rank:.2}")),
        ]
    });
    table(&header, "--:", rows)
}

fn many(comparison: &Comparison) -> String {
    let reference = &comparison.models[comparison.reference];
    let mut header = vec!["metric".to_string(), String::new(), escape(reference)];
    header.extend(
        comparison
            .others
            .iter()
            .map(|&other| format!("{} − {}", escape(&comparison.models[other]), escape(reference))),
    );
    let with_intervals = comparison.others.len() <= COLUMNS_WITH_INTERVALS;
    let rows = comparison.rows.iter().map(|row| {
        let value = row.values[comparison.reference].as_deref().unwrap_or("—");
        let best = if row.is_reference_best() { "**" } else { "" };
        let mut cells = vec![metric(row), direction(row.better).0.to_string(), emphasize(value, best)];
        let cell = |line: &Option<Line>| match line {
            None => "—".to_string(),
            Some(line) => {
                let emphasis = match line.verdict {
                    Verdict::Better => "**",
                    Verdict::Worse => "_",
                    _ => "",
                };
                let interval = match line.interval.as_deref().filter(|_| with_intervals) {
                    Some(interval) => format!(" {interval}"),
                    None => String::new(),
                };
                format!("{}{}{interval}", emphasize(&line.value, emphasis), escape(line.marks))
            }
        };
        cells.extend(row.lines.iter().map(cell));
        cells
    });
    table(&header, ":-:", rows)
}

fn metric(row: &Row) -> String {
    let mark = if row.is_unpaired { "†" } else { "" };
    format!("`{}`{mark}", row.metric.replace('|', "\\|"))
}

fn emphasize(text: &str, with: &str) -> String {
    format!("{with}{text}{with}")
}

/// The first column is left-aligned, the second as told, the others right.
fn table(header: &[String], second: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    text += &format!("|:--|{second}|{}\n", "--:|".repeat(header.len() - 2));
    text.extend(rows.map(|row| line(&row)));
    text
}
