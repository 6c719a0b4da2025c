// SPDX-License-Identifier: MIT
//! The table of scores: one row per metric, one column per model, which value is best, footnotes, why values are missing, and
//! how the intervals were computed.

use crate::numbers::{percent, rough};
use crate::table::{Cell, Column, Emphasis, Kind, Row, Table, reason};
use crate::text::{join, joined, printable, without_numbers};
use crate::training::{recipes, runs};
use crate::verdict;
use repscope_core::{Analysis, Better, Difference, MetricId, Results, Score};
use std::collections::BTreeSet;

/// Rows of one family stand apart from the others when there are this many.
const ROWS_OF_A_BLOCK: usize = 3;
/// Up to this many scores of many models stand in one table.
const MOST_TOGETHER: usize = 8;
/// More notes than this in one row, alike but for their numbers, are one with ranges.
const NOTES_OF_A_ROW: usize = 3;
/// The columns before those of the models.
pub(crate) const LEAD: usize = 2;
/// What the best value of a row is.
pub(crate) const BEST: &str = "better than every other model in the paired comparison, adjusted for all of them";

/// What is said of a score that needs no information.
const TRIVIAL: &str =
    "an encoder that gives the same embedding for everything has the best value: no model is called best by it";

/// The scores, with the best value of a row marked where the differences call one better than every other.
pub(crate) fn scores(results: &Results) -> Table {
    scores_with(results, Some(results), [false; 2])
}

/// The scores that are shown of a run as they are read as text: with more than two models a row is a model, and many scores have a table for
/// each analysis.
pub(crate) fn tables(shown: &Results, all: &Results) -> Vec<Table> {
    let table_of = |part: &Results| scores_with(part, Some(all), [false; 2]);
    if shown.models().len() <= 2 {
        return vec![table_of(shown)];
    }
    if distinct(shown.scores.iter().map(|score| &score.metric)).len() <= MOST_TOGETHER {
        return vec![models_as_rows(table_of(shown))];
    }
    let owner = |score: &Score| score.metric.metric().map(|metric| metric.analysis);
    let parts = grouped(shown.scores.iter().map(|score| (owner(score), score)));
    let table = |(analysis, part): (Option<Analysis>, Vec<&Score>)| {
        let part: Results = part.into_iter().cloned().collect();
        let mut table = models_as_rows(table_of(&part));
        if let Some(analysis) = analysis {
            table.title = analysis.question().title.to_string();
            table.label = analysis.name().to_string();
        }
        table
    };
    parts.into_iter().map(table).collect()
}

/// The scores, with the best ones by the differences of `tested` marked. `facts` says whether there are columns of chance levels
/// and of counts even where no row has one.
pub(crate) fn scores_with(results: &Results, tested: Option<&Results>, facts: [bool; 2]) -> Table {
    let models = distinct(results.scores.iter().map(|s| s.model.as_str()));
    let metrics = by_family(distinct(results.scores.iter().map(|s| &s.metric)));
    let has_chance = facts[0] || results.scores.iter().any(|score| score.chance.is_some());
    let has_n = facts[1] || results.scores.iter().any(|score| score.n > 0);
    let mut table = Table {
        caption: if results.scores.iter().any(|score| score.interval.is_some()) {
            "Scores with confidence intervals".to_string()
        } else {
            "Scores".to_string()
        },
        label: "repscope".to_string(),
        emphasis: BEST.to_string(),
        undefined: undefined(&models, &metrics, results),
        legend: intervals(&metrics, results)
            .into_iter()
            .chain(recipes(results))
            .collect(),
        ..Table::default()
    };
    table.columns = vec![Column::text("metric"), Column::direction()];
    table
        .columns
        .extend(models.iter().map(|model| Column::model(*model).mixed()));
    let facts = [("chance", has_chance), ("n", has_n)]
        .into_iter()
        .filter(|(_, is_shown)| *is_shown);
    table
        .columns
        .extend(facts.map(|(name, _)| Column::number(name).quiet().mixed()));
    let in_block = |id: &MetricId| metrics.iter().filter(|m| m.family() == id.family()).count() >= ROWS_OF_A_BLOCK;
    for (i, metric) in metrics.iter().enumerate() {
        let of_metric: Vec<Option<&Score>> = models.iter().map(|model| results.score(model, metric)).collect();
        let winner = tested.and_then(|all| winner(all, metric));
        let winner = winner.and_then(|name| models.iter().position(|model| *model == name));
        let mut cells = row(metric, &of_metric, winner, &mut table.notes);
        cells.extend(has_chance.then(|| chance(&of_metric)));
        cells.extend(has_n.then(|| count(&of_metric)));
        let is_other = i > 0 && metric.family() != metrics[i - 1].family();
        table.rows.push(Row {
            cells,
            opens_block: is_other && (in_block(metric) || in_block(metrics[i - 1])),
            is_minor: !verdict::is_shown(results, metric),
            ..Row::default()
        });
    }
    table
}

/// The table with a row for each model and a column for each metric.
pub(crate) fn by_model(table: Table) -> Table {
    let mut columns = vec![Column::text("model")];
    for row in &table.rows {
        let facts = row.cells.iter().zip(&table.columns);
        let facts = facts.filter(|(cell, column)| column.is_quiet && !cell.text.is_empty());
        columns.push(Column {
            head: Cell {
                about: String::new(),
                ..row.cells[0].clone()
            },
            is_split: true,
            is_minor: row.is_minor,
            better: match row.cells[1].kind {
                Kind::Direction(better) => Some(better),
                _ => None,
            },
            facts: facts
                .map(|(cell, column)| format!("{} {}", column.head.text, cell.text))
                .collect(),
            ..Column::default()
        });
    }
    let places = (0..table.columns.len()).filter(|&i| table.columns[i].is_split);
    let row = |place: usize| {
        let head = &table.columns[place].head;
        let values = table.rows.iter().map(|row| row.cells[place].clone());
        Row {
            cells: std::iter::once(head.clone()).chain(values).collect(),
            models: vec![head.text.clone()],
            ..Row::default()
        }
    };
    Table {
        rows: places.map(row).collect(),
        columns,
        ..table
    }
}

/// The same for reading as text: chance levels and counts stand in rows below the models.
pub(crate) fn models_as_rows(table: Table) -> Table {
    let facts: Vec<Row> = (0..table.columns.len())
        .filter(|&i| table.columns[i].is_quiet)
        .map(|i| Row {
            cells: std::iter::once(table.columns[i].head.clone())
                .chain(table.rows.iter().map(|row| row.cells[i].clone()))
                .collect(),
            is_fact: true,
            ..Row::default()
        })
        .collect();
    let mut turned = by_model(table);
    turned.rows.extend(facts);
    turned
}

/// How many units the values come from: one number where they agree, otherwise a range.
fn count(scores: &[Option<&Score>]) -> Cell {
    let is_any_defined = scores.iter().flatten().any(|score| score.value.is_some());
    let of = |score: &Score| {
        let is_counted = score.n > 0 && (score.value.is_some() || !is_any_defined);
        is_counted.then(|| (score.n as f64, score.n.to_string()))
    };
    Cell::range(scores.iter().map(|score| of((*score)?)).collect())
}

/// The chance level, in the same way.
fn chance(scores: &[Option<&Score>]) -> Cell {
    let of = |score: &Score| score.chance.map(|chance| (chance, rough(chance)));
    Cell::range(scores.iter().map(|score| of((*score)?)).collect())
}

/// Brings the metrics of a family together, where its first one stands.
fn by_family(metrics: Vec<&MetricId>) -> Vec<&MetricId> {
    let families = grouped(metrics.into_iter().map(|metric| (metric.family(), metric)));
    families.into_iter().flat_map(|(_, members)| members).collect()
}

/// The metric, its direction, and the value of each model. A note that all models share stands at the metric.
fn row(metric: &MetricId, scores: &[Option<&Score>], best: Option<usize>, notes: &mut Vec<String>) -> Vec<Cell> {
    let known: Vec<&Score> = scores.iter().flatten().copied().collect();
    let said: Vec<&str> = known.iter().filter_map(|score| score.note.as_deref()).collect();
    let is_said_by_all =
        said.len() == known.len() && distinct(said.iter().map(|note| without_numbers(note))).len() == 1;
    // The same note with many numbers is one with a range.
    let common = (is_said_by_all && distinct(said.iter().copied()).len() > NOTES_OF_A_ROW).then(|| joined(said));
    let is_shared = common.is_some() || known.windows(2).all(|pair| pair[0].note == pair[1].note);
    let is_trivial = metric.output().is_some_and(|output| output.is_best_when_constant);
    let mut mark = |score: Option<&Score>| {
        let own = common.as_deref().or(score?.note.as_deref());
        Some(number_of(own.or(is_trivial.then_some(TRIVIAL))?, notes))
    };
    let about = metric.output().map_or("", |output| output.about);
    let mut cells = vec![
        Cell {
            note: if is_shared { mark(known.first().copied()) } else { None },
            about: about.to_string(),
            ..Cell::metric(metric.as_str())
        },
        Cell::direction(known.first().map_or(Better::Neither, |score| score.better)),
    ];
    cells.extend(scores.iter().enumerate().map(|(i, score)| Cell {
        note: if is_shared { None } else { mark(*score) },
        ..Cell::score(*score).emphasized(Emphasis::Best, best == Some(i))
    }));
    cells
}

/// The model that the differences call better than every other one with a value. One that cannot be best is no rival, and nobody wins at
/// chance. These must be all results of the run, whatever is shown of them.
pub(crate) fn winner<'a>(results: &'a Results, metric: &str) -> Option<&'a str> {
    let scores = results.scores.iter();
    let scores = scores.filter(|score| score.metric == metric && score.value.is_some());
    let scores: Vec<&Score> = scores.filter(|score| results.unfit(score).is_none()).collect();
    let won = results.differences.iter().filter(|d| d.metric == metric);
    let beats = |a: &str, b: &str| {
        won.clone()
            .any(|d| is_between(d, a, b) && d.winner.as_deref() == Some(a))
    };
    let wins = |a: &Score| scores.iter().all(|b| a.model == b.model || beats(&a.model, &b.model));
    let best = scores.iter().find(|a| scores.len() > 1 && wins(a))?;
    (!best.is_at_chance()).then_some(best.model.as_str())
}

/// The results with these scores alone, and what was compared of them.
pub(crate) fn only_scores(results: &Results, is_wanted: impl Fn(&MetricId) -> bool) -> Results {
    let scores = results.scores.iter().filter(|score| is_wanted(&score.metric));
    let differences = results.differences.iter().filter(|d| is_wanted(&d.metric));
    Results {
        differences: differences.cloned().collect(),
        ..scores.cloned().collect()
    }
}

/// Whether a difference is one of these two models, whichever way round it was taken.
pub(crate) fn is_between(d: &Difference, a: &str, b: &str) -> bool {
    (d.a == a && d.b == b) || (d.a == b && d.b == a)
}

/// The difference of one model less another: its value and interval.
pub(crate) fn less(d: &Difference, model: &str) -> (f64, Option<[f64; 2]>) {
    if d.a == model {
        (d.value, d.interval)
    } else {
        (-d.value, d.interval.map(|[low, high]| [-high, -low]))
    }
}

/// The number of a footnote, which is added if it is new.
fn number_of(note: &str, notes: &mut Vec<String>) -> usize {
    let note = printable(note);
    let position = notes.iter().position(|known| *known == note);
    position.unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    }) + 1
}

/// Groups undefined scores that have their reason and their models in common.
fn undefined(models: &[&str], metrics: &[&MetricId], results: &Results) -> Vec<(String, String)> {
    let reasons = metrics.iter().flat_map(|metric| {
        let scores = models.iter().filter_map(|model| results.score(model, metric));
        let missing = scores.filter(|score| score.value.is_none());
        let reasons = grouped(missing.map(|score| (reason(score), score.model.as_str())));
        reasons.into_iter().map(|why| (why, *metric))
    });
    let describe = |((reason, of_models), ids): ((String, Vec<&str>), Vec<&MetricId>)| {
        let ids = name_metrics(&ids, metrics);
        let who = if of_models.len() == models.len() {
            ids
        } else {
            format!("{ids} for {}", of_models.join(", "))
        };
        (printable(&who), reason)
    };
    grouped(reasons).into_iter().map(describe).collect()
}

/// Says how the intervals were computed, and where methods differ, of which metrics.
fn intervals(metrics: &[&MetricId], results: &Results) -> Vec<String> {
    let ways = metrics.iter().flat_map(|metric| {
        let own = results
            .scores
            .iter()
            .filter(move |s| s.metric == **metric && s.interval.is_some());
        own.map(move |score| {
            let level = score.level.map_or("confidence".to_string(), percent);
            let how = match (&score.method, &score.unit) {
                (Some(method), Some(unit)) => {
                    let runs = runs(score).map_or(String::new(), |runs| format!("{runs} and "));
                    format!("{method} over {runs}{unit}")
                }
                (Some(one), None) | (None, Some(one)) => one.clone(),
                (None, None) => "method not recorded".to_string(),
            };
            ((level, how), *metric)
        })
    });
    let groups = grouped(ways);
    let sentence = |level: &str| {
        let ways = groups
            .iter()
            .filter(|((l, _), _)| l == level)
            .map(|((_, how), ids)| match groups.len() {
                1 => how.clone(),
                _ => format!("{how} ({})", name_metrics(ids, metrics)),
            });
        printable(&format!("{level} intervals: {}", join(ways, "; ")))
    };
    let levels = distinct(groups.iter().map(|((level, _), _)| level.as_str()));
    levels.into_iter().map(sentence).collect()
}

/// Members by key, both in the order of first appearance and each once.
pub(crate) fn grouped<K: PartialEq, M: PartialEq>(pairs: impl IntoIterator<Item = (K, M)>) -> Vec<(K, Vec<M>)> {
    let mut groups: Vec<(K, Vec<M>)> = Vec::new();
    for (key, member) in pairs {
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, members)) if members.contains(&member) => {}
            Some((_, members)) => members.push(member),
            None => groups.push((key, vec![member])),
        }
    }
    groups
}

/// More names than this would be a page of them: the first ones stand for all.
const MOST_NAMES: usize = 12;
const SHOWN: usize = 4;

/// Lists metrics, a whole family under its own name: `smoothness` for all of `smoothness.slope`, `smoothness.r`, …
pub(crate) fn name_metrics(ids: &[&MetricId], all: &[&MetricId]) -> String {
    let is_whole = |f: &str| {
        let mut members = all.iter().filter(|m| m.family() == f);
        // `two_nn` alone would read as the one metric of that name, not as all of its variants.
        all.iter().all(|m| **m != *f) && members.clone().count() > 1 && members.all(|m| ids.contains(m))
    };
    let names = distinct(ids.iter().map(|id| {
        if is_whole(id.family()) {
            id.family()
        } else {
            id.as_str()
        }
    }));
    if names.len() > MOST_NAMES {
        format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
    } else {
        names.join(", ")
    }
}

/// The different ones, in order of first appearance.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// All, or of more than `most` the first and the last half of so many.
pub(crate) fn both_ends<T>(items: &[T], most: usize) -> Vec<&T> {
    let left_out = if items.len() > most {
        most / 2..items.len() - most / 2
    } else {
        0..0
    };
    let shown = items.iter().enumerate().filter(|(i, _)| !left_out.contains(i));
    shown.map(|(_, item)| item).collect()
}

/// The different ones, smallest first.
pub(crate) fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_metrics_the_first_are_named_and_the_rest_counted() {
        let ids: Vec<MetricId> = (1..=13).map(|i| format!("pis.head@top{i}").into()).collect();
        let (ids, low): (Vec<&MetricId>, MetricId) = (ids.iter().collect(), "pis.head@low1".into());
        let expected = "pis.head@top1, pis.head@top2, pis.head@top3, pis.head@top4 and 9 more";
        // One of the family is not among them, so the family does not stand for them.
        let all: Vec<&MetricId> = ids.iter().copied().chain([&low]).collect();
        assert_eq!(name_metrics(&ids, &all), expected);
        assert!(name_metrics(&ids[..12], &all).ends_with("pis.head@top12"));
    }
}
