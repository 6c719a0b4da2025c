// SPDX-License-Identifier: MIT
//! Differences for a terminal.

use super::comparison::{Comparison, Line, Row, Verdict};
use super::probability::{LEGEND, limit, probability};
use crate::Color;
use crate::grid::Grid;
use crate::numbers::percent;
use crate::summary::direction;
use crate::text::{columns, wrap};
use repscope_core::Better;

pub(super) fn render(comparison: &Comparison, width: usize, color: Color) -> String {
    let tables = match comparison.only_other() {
        Some(other) => two(comparison, other).table(width, color),
        None => {
            let mut text = ranked(comparison).table(width, color) + "\n";
            let grids = many(comparison, width);
            text.extend(grids.iter().map(|grid| grid.table(width, color)));
            text
        }
    };
    let words = &comparison.words;
    let mut below = vec![legend(comparison)];
    if comparison.only_other().is_some() {
        below.insert(0, words.outcome.clone());
    }
    let below = below.iter().chain(&words.method).chain(&words.remarks);
    tables + &below.map(|sentence| wrap(sentence, width, "")).collect::<String>()
}

/// Two models beside each other.
fn two(comparison: &Comparison, other: usize) -> Grid {
    let (a, b) = (comparison.heading(other), comparison.heading(comparison.reference));
    let header = [
        "metric",
        "",
        &a,
        &b,
        "difference   ",
        &format!("{} interval", percent(comparison.level)),
        "p",
        "adjusted p",
        "better",
    ];
    let rows = with_gaps(&comparison.rows, header.len(), |row| {
        let value = |model: usize| row.values[model].clone().unwrap_or("—".to_string());
        let mut cells = vec![metric(row), direction(row.better).0.to_string()];
        cells.extend([value(other), value(comparison.reference)]);
        let line = row.lines[0].as_ref();
        cells.push(line.map_or(String::new(), difference));
        cells.push(line.and_then(|l| l.interval.clone()).unwrap_or("—".to_string()));
        cells.push(probability(line.and_then(|l| l.of.p)));
        cells.push(probability(line.and_then(|l| l.of.p_adjusted)));
        cells.push(
            match line.map(|l| l.verdict) {
                Some(Verdict::Better) => &a,
                Some(Verdict::Worse) => &b,
                Some(Verdict::Open) => "—",
                _ => "",
            }
            .to_string(),
        );
        cells
    });
    Grid {
        title: comparison.title(),
        label: "compare",
        header: header.map(str::to_string).to_vec(),
        rows,
        spare: 6..7,
        remarks: Vec::new(),
    }
}

fn ranked(comparison: &Comparison) -> Grid {
    let rows = comparison.standings.iter().enumerate().map(|(i, standing)| {
        vec![
            format!("{:>2}  {}", i + 1, comparison.models[standing.model]),
            standing.wins.to_string(),
            standing.losses.to_string(),
            standing.ties.to_string(),
            standing.mean_rank.map_or("—".to_string(), |rank| format!("{rank:.2}")),
        ]
    });
    Grid {
        title: format!("{} models on the same rows, best first", comparison.models.len()),
        label: "ranking",
        header: [" #  model", "wins", "losses", "ties", "mean rank"]
            .map(str::to_string)
            .to_vec(),
        rows: rows.collect(),
        spare: 0..0,
        remarks: vec![comparison.words.outcome.clone()],
    }
}

/// Differences to the reference, in as few tables as the width allows.
fn many(comparison: &Comparison, width: usize) -> Vec<Grid> {
    let all: Vec<usize> = (0..comparison.others.len()).collect();
    let with_intervals = many_of(comparison, &all, true);
    if with_intervals.width() <= width {
        return vec![with_intervals];
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &other in &all {
        match groups.last_mut() {
            Some(group) => {
                group.push(other);
                if many_of(comparison, group, false).width() > width && group.len() > 1 {
                    group.pop();
                    groups.push(vec![other]);
                }
            }
            None => groups.push(vec![other]),
        }
    }
    // As many in each table, as far as that is possible.
    let each = all.len().div_ceil(groups.len());
    let even: Vec<Vec<usize>> = all.chunks(each).map(<[usize]>::to_vec).collect();
    let fits = |group: &Vec<usize>| many_of(comparison, group, false).width() <= width;
    let groups = if even.iter().all(fits) { even } else { groups };
    groups.iter().map(|group| many_of(comparison, group, false)).collect()
}

fn many_of(comparison: &Comparison, others: &[usize], with_intervals: bool) -> Grid {
    let mut header = vec![
        "metric".to_string(),
        String::new(),
        comparison.heading(comparison.reference),
    ];
    header.extend(
        others
            .iter()
            .map(|&i| format!("{}   ", comparison.heading(comparison.others[i]))),
    );
    let intervals = |other: usize| {
        comparison
            .rows
            .iter()
            .filter_map(move |r| r.lines[other].as_ref()?.interval.as_deref())
    };
    let rows = with_gaps(&comparison.rows, header.len(), |row| {
        let reference = row.values[comparison.reference].clone();
        let mut cells = vec![
            metric(row),
            direction(row.better).0.to_string(),
            reference.unwrap_or("—".to_string()),
        ];
        cells.extend(others.iter().map(|&other| {
            let Some(line) = &row.lines[other] else {
                return "—   ".to_string();
            };
            let triangle = match line.verdict {
                Verdict::Better => "▲ ",
                Verdict::Worse => "▼ ",
                _ => "",
            };
            let interval = if with_intervals {
                let widest = intervals(other).map(columns).fold(0, usize::max);
                format!(" {:<widest$}", line.interval.as_deref().unwrap_or(""))
            } else {
                String::new()
            };
            format!("{triangle}{}{interval}", difference(line))
        }));
        cells
    });
    Grid {
        title: comparison.title(),
        label: "compare",
        header,
        rows,
        spare: 0..0,
        remarks: Vec::new(),
    }
}

fn metric(row: &Row) -> String {
    let mark = if row.is_unpaired { "†" } else { "" };
    format!("{}{mark}", row.metric)
}

/// With its marks, which stand below each other.
fn difference(line: &Line) -> String {
    format!("{}{:<3}", line.value, line.marks)
}

/// The rows, with an empty one between blocks.
fn with_gaps(rows: &[Row], width: usize, cells: impl Fn(&Row) -> Vec<String>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        if row.opens_block && i > 0 {
            all.push(vec![String::new(); width]);
        }
        all.push(cells(row));
    }
    all
}

fn legend(comparison: &Comparison) -> String {
    let has = |better: Better| comparison.rows.iter().any(|row| row.better == better);
    let mut parts = Vec::new();
    if has(Better::Higher) {
        parts.push("↑ higher is better".to_string());
    }
    if has(Better::Lower) {
        parts.push("↓ lower is better".to_string());
    }
    if has(Better::Neither) {
        parts.push("· no direction, so a difference but no better model".to_string());
    }
    parts.push(LEGEND.to_string());
    let decides = format!("adjusted p ≤ {}", limit(comparison.level));
    parts.push(match comparison.only_other() {
        Some(_) => format!("better: {decides}"),
        None => format!(
            "▲ better, ▼ worse than {}: {decides}",
            comparison.models[comparison.reference]
        ),
    });
    if comparison.only_other().is_none() {
        parts.push("--format csv shows the interval and p-value of every pair".to_string());
    }
    parts.join("; ")
}
