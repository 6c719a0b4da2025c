// SPDX-License-Identifier: MIT
//! What a table of results says, before it is set in any format: rows and cells, which value is best, footnotes,
//! why values are missing, and how the intervals were made.

use crate::numbers::{number, number_with_interval, percent, rough};
use crate::text::printable;
use repscope_core::{Better, Results, Score};
use std::ops::Range;

/// Rows of one family stand apart from the others when there are this many.
const ROWS_OF_A_BLOCK: usize = 3;

/// The content of a table: one row per metric, one cell per model.
pub(crate) struct Summary {
    pub(crate) models: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// Footnotes; number 1 is the first.
    pub(crate) notes: Vec<String>,
    /// Metrics without a value, and why.
    pub(crate) undefined: Vec<(String, String)>,
    /// One sentence per confidence level: how its intervals were made.
    pub(crate) intervals: Vec<String>,
}

pub(crate) struct Row {
    pub(crate) metric: String,
    pub(crate) better: Better,
    /// Whether the row opens a block, so that space goes before it.
    pub(crate) opens_block: bool,
    /// The footnote of the whole row.
    pub(crate) note: Option<usize>,
    /// In the order of the models; `None` where a model was not asked for this metric.
    pub(crate) cells: Vec<Option<Cell>>,
}

pub(crate) struct Cell {
    /// `None` is an undefined value.
    pub(crate) value: Option<String>,
    pub(crate) interval: Option<String>,
    /// The footnote of this cell alone.
    pub(crate) note: Option<usize>,
    /// Whether this is the best value, with an interval apart from all others.
    pub(crate) is_best: bool,
    chance: Option<f64>,
    n: usize,
}

impl Summary {
    pub(crate) fn new(results: &Results) -> Self {
        let models = distinct(results.scores.iter().map(|s| s.model.as_str()));
        let metrics = by_family(distinct(results.scores.iter().map(|s| s.metric.as_str())));
        let mut notes: Vec<String> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for (i, metric) in metrics.iter().enumerate() {
            let scores: Vec<Option<&Score>> = models.iter().map(|model| results.score(model, metric)).collect();
            let mut row = row(metric, &scores, &mut notes);
            row.opens_block = i > 0 && {
                let in_block = |id: &str| metrics.iter().filter(|m| family(m) == family(id)).count() >= ROWS_OF_A_BLOCK;
                family(metric) != family(metrics[i - 1]) && (in_block(metric) || in_block(metrics[i - 1]))
            };
            rows.push(row);
        }
        Summary {
            undefined: undefined(&models, &metrics, results),
            intervals: intervals(&metrics, results),
            models: models.into_iter().map(printable).collect(),
            rows,
            notes: notes.iter().map(|note| printable(note)).collect(),
        }
    }

    pub(crate) fn has_chance(&self) -> bool {
        self.cells().any(|cell| cell.chance.is_some())
    }

    /// Whether any value says how many units it comes from.
    pub(crate) fn has_n(&self) -> bool {
        self.cells().any(|cell| cell.n > 0)
    }

    pub(crate) fn has_best(&self) -> bool {
        self.cells().any(|cell| cell.is_best)
    }

    pub(crate) fn has_direction(&self, better: Better) -> bool {
        self.rows.iter().any(|row| row.better == better)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|row| row.cells.iter().flatten())
    }
}

impl Row {
    /// The chance level of these models: one number where they agree, otherwise a range.
    pub(crate) fn chance(&self, models: Range<usize>) -> String {
        range_of(
            self.cells[models].iter().flatten().filter_map(|cell| cell.chance),
            rough,
        )
    }

    /// How many units the values of these models come from: one number where they agree, otherwise a range.
    pub(crate) fn n(&self, models: Range<usize>) -> String {
        let cells = || self.cells[models.clone()].iter().flatten();
        let is_any_defined = cells().any(|cell| cell.value.is_some());
        let counted = cells().filter(|cell| cell.n > 0 && (cell.value.is_some() || !is_any_defined));
        range_of(counted.map(|cell| cell.n as f64), |n| n.to_string())
    }
}

/// The arrow of a direction, and what it means.
pub(crate) fn direction(better: Better) -> (&'static str, &'static str) {
    match better {
        Better::Higher => ("↑", "higher is better"),
        Better::Lower => ("↓", "lower is better"),
        Better::Neither => ("·", "neither"),
    }
}

/// The directions in the order legends list them.
pub(crate) const DIRECTIONS: [Better; 3] = [Better::Higher, Better::Lower, Better::Neither];

/// The part of a metric's identity before its first `.`, `@` or `(`.
fn family(metric: &str) -> &str {
    metric.split(['.', '@', '(']).next().unwrap_or(metric)
}

/// Brings the metrics of a family together, where its first one stands.
fn by_family(metrics: Vec<&str>) -> Vec<&str> {
    let families = distinct(metrics.iter().map(|m| family(m)));
    families
        .iter()
        .flat_map(|f| metrics.iter().copied().filter(move |m| family(m) == *f))
        .collect()
}

fn row(metric: &str, scores: &[Option<&Score>], notes: &mut Vec<String>) -> Row {
    let best = best(scores);
    let note_of = |score: &&Score| score.note.clone();
    let row_notes: Vec<Option<String>> = scores.iter().flatten().map(note_of).collect();
    let is_shared = row_notes.windows(2).all(|pair| pair[0] == pair[1]);
    let mut mark = |note: &Option<String>| note.as_ref().map(|note| number_of(note, notes));
    let row_note = if is_shared {
        row_notes.first().and_then(&mut mark)
    } else {
        None
    };
    let cells = scores.iter().enumerate().map(|(i, score)| {
        score.map(|score| {
            let (value, interval) = match (score.value, score.interval) {
                (Some(value), Some(interval)) => {
                    let (value, interval) = number_with_interval(value, interval);
                    (Some(value), Some(interval))
                }
                (value, _) => (value.map(number), None),
            };
            let note = if is_shared { None } else { mark(&score.note) };
            Cell {
                value,
                interval,
                note,
                is_best: best == Some(i),
                chance: score.chance,
                n: score.n,
            }
        })
    });
    Row {
        metric: printable(metric),
        better: scores
            .iter()
            .flatten()
            .next()
            .map_or(Better::Neither, |score| score.better),
        opens_block: false,
        note: row_note,
        cells: cells.collect(),
    }
}

/// The best of at least two values, if models may be ranked by it and its interval lies apart from every other.
fn best(scores: &[Option<&Score>]) -> Option<usize> {
    let rivals: Vec<(usize, &Score)> = scores
        .iter()
        .enumerate()
        .filter_map(|(i, s)| s.filter(|s| s.value.is_some() && s.comparable).map(|s| (i, s)))
        .collect();
    let beats = |a: &Score, b: &Score| match (a.better, a.interval, b.interval) {
        (Better::Higher, Some([low, _]), Some([_, high])) => low > high,
        (Better::Lower, Some([_, high]), Some([low, _])) => high < low,
        _ => false,
    };
    let wins = |i: usize, a: &Score| rivals.iter().all(|&(j, b)| i == j || beats(a, b));
    rivals
        .iter()
        .find(|(i, a)| rivals.len() > 1 && wins(*i, a))
        .map(|(i, _)| *i)
}

/// The number of a footnote, which is added if it is new.
fn number_of(note: &str, notes: &mut Vec<String>) -> usize {
    let position = notes.iter().position(|known| known == note);
    position.unwrap_or_else(|| {
        notes.push(note.to_string());
        notes.len() - 1
    }) + 1
}

/// Groups undefined scores that have their reason and their models in common.
fn undefined(models: &[&str], metrics: &[&str], results: &Results) -> Vec<(String, String)> {
    let mut groups: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for &metric in metrics {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for score in models
            .iter()
            .filter_map(|model| results.score(model, metric))
            .filter(|s| s.value.is_none())
        {
            let reason = score
                .reason
                .as_deref()
                .filter(|r| !r.is_empty())
                .unwrap_or("no reason was recorded");
            add_to_group(&mut reasons, reason, score.model.as_str());
        }
        for (reason, of_models) in reasons {
            match groups.iter_mut().find(|(r, m, _)| *r == reason && *m == of_models) {
                Some((_, _, ids)) => ids.push(metric),
                None => groups.push((reason, of_models, vec![metric])),
            }
        }
    }
    let describe = |(reason, of_models, ids): &(&str, Vec<&str>, Vec<&str>)| {
        let ids = name_metrics(ids, metrics);
        let who = if of_models.len() == models.len() {
            ids
        } else {
            format!("{ids} for {}", of_models.join(", "))
        };
        (printable(&who), printable(reason))
    };
    groups.iter().map(describe).collect()
}

/// Says how the intervals were made, and where methods differ, of which metrics.
fn intervals(metrics: &[&str], results: &Results) -> Vec<String> {
    let mut groups: Vec<((String, String), Vec<&str>)> = Vec::new();
    for &metric in metrics {
        for score in results
            .scores
            .iter()
            .filter(|s| s.metric == metric && s.interval.is_some())
        {
            let level = score.level.map_or("confidence".to_string(), percent);
            let how = match (&score.method, &score.unit) {
                (Some(method), Some(unit)) => format!("{method} over {unit}"),
                (Some(one), None) | (None, Some(one)) => one.clone(),
                (None, None) => "method not recorded".to_string(),
            };
            add_to_group(&mut groups, (level, how), metric);
        }
    }
    let levels = distinct(groups.iter().map(|((level, _), _)| level.as_str()));
    let sentence = |level: &&str| {
        let ways = groups.iter().filter(|((l, _), _)| l == level).map(|((_, how), ids)| {
            if groups.len() == 1 {
                how.clone()
            } else {
                format!("{how} ({})", name_metrics(ids, metrics))
            }
        });
        format!("{level} intervals: {}", ways.collect::<Vec<_>>().join("; "))
    };
    levels.iter().map(sentence).collect()
}

pub(crate) fn add_to_group<'a, K: PartialEq>(groups: &mut Vec<(K, Vec<&'a str>)>, key: K, member: &'a str) {
    match groups.iter_mut().find(|(k, _)| *k == key) {
        Some((_, members)) if members.contains(&member) => {}
        Some((_, members)) => members.push(member),
        None => groups.push((key, vec![member])),
    }
}

/// More names than this would be a page of them: the first ones stand for all.
const MOST_NAMES: usize = 12;
const SHOWN: usize = 4;

/// Lists metrics, a whole family under its own name: `smoothness` for all of `smoothness.slope`, `smoothness.r`, …
pub(crate) fn name_metrics(ids: &[&str], all: &[&str]) -> String {
    let is_whole = |f: &str| {
        let mut members = all.iter().filter(|m| family(m) == f);
        // `two_nn` alone would read as the one metric of that name, not as all of its variants.
        !all.contains(&f) && members.clone().count() > 1 && members.all(|m| ids.contains(m))
    };
    let names = distinct(ids.iter().map(|id| if is_whole(family(id)) { family(id) } else { *id }));
    if names.len() > MOST_NAMES {
        format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
    } else {
        names.join(", ")
    }
}

fn range_of(values: impl Iterator<Item = f64>, write: impl Fn(f64) -> String) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match (values.first(), values.last()) {
        (Some(&first), Some(&last)) if write(first) == write(last) => write(first),
        // A dash between negative numbers reads as one more minus.
        (Some(&first), Some(&last)) if first < 0.0 => format!("{} to {}", write(first), write(last)),
        (Some(&first), Some(&last)) => format!("{}–{}", write(first), write(last)),
        _ => String::new(),
    }
}

/// The different ones, in order of first appearance.
pub(crate) fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_metrics_the_first_are_named_and_the_rest_counted() {
        let ids: Vec<String> = (1..=13).map(|i| format!("pis.head@top{i}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let expected = "pis.head@top1, pis.head@top2, pis.head@top3, pis.head@top4 and 9 more";
        // One of the family is not among them, so the family does not stand for them.
        let all: Vec<&str> = ids.iter().copied().chain(["pis.head@low1"]).collect();
        assert_eq!(name_metrics(&ids, &all), expected);
        assert!(name_metrics(&ids[..12], &all).ends_with("pis.head@top12"));
    }
}
