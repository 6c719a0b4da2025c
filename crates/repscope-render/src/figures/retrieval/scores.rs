// SPDX-License-Identifier: MIT
//! The scores of a retrieval against K.

use super::Run;
use crate::figures::models::{measured, titled};
use crate::figures::words::description;
use crate::figures::{NamedFigure, named};
use crate::numbers::{number, number_with_interval, percent, rough};
use crate::retrieval::{Part, title};
use crate::scores::distinct;
use crate::table::direction;
use crate::text::printable;
use repscope_core::{Better, Score};
use repscope_figures::{Axis, BarRow, Bars, Curve, CurvePoint, Figure, Lines, Panel, Reference, ReferenceAt};

const AT_K: [(&str, &str, &str); 5] = [
    ("label_precision", "Precision", "share of the first K"),
    ("label_precision.macro", "Macro precision", "mean over labels"),
    (
        "label_precision.normalized",
        "Normalized precision",
        "share of the possible hits",
    ),
    ("label_recall", "Recall", "share of the relevant targets"),
    ("pair_recall", "Recall of the partner", "share of the queries"),
];
const WHOLE: [(&str, &str); 3] = [("mrr", "MRR"), ("map_at_r", "MAP@R"), ("r_precision", "R-precision")];

/// Chance levels within this factor are drawn as one line.
const NEAR: f64 = 1.05;

/// All measures of one model and one set of labels, a line per direction.
pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let lines: Vec<(usize, &Part)> = run
        .parts
        .iter()
        .map(|part| (run.series_of(part.direction), part))
        .collect();
    let at_k = AT_K
        .iter()
        .filter_map(|(measure, title, label)| against_k(measure, title, label, &lines));
    let panels: Vec<Panel> = at_k.chain(whole(&lines)).collect();
    if panels.is_empty() {
        return Vec::new();
    }
    let figure = Figure {
        title: run.heading.clone(),
        description: description([run.titled("Retrieval, from the first K targets."), sentences(run.parts)]),
        columns: panels.len().min(3),
        panels,
        series: run.series.to_vec(),
        notes: notes(run.parts),
        ..Figure::default()
    };
    named(&format!("retrieval/retrieval_metrics{}", run.suffix), figure)
}

/// The precision of several models, a panel per direction (and set of labels).
pub(super) fn comparison(parts: &[Part], directions: &[&str]) -> Vec<NamedFigure> {
    let models = distinct(parts.iter().map(|part| part.model));
    if models.len() < 2 {
        return Vec::new();
    }
    let mut sets: Vec<Option<&str>> = Vec::new();
    for part in parts {
        if !sets.contains(&part.labels) {
            sets.push(part.labels);
        }
    }
    let (measure, _, label) = AT_K[0];
    let mut panels = Vec::new();
    for set in &sets {
        for direction in directions {
            let own = parts
                .iter()
                .filter(|part| part.direction == *direction && part.labels == *set);
            let lines: Vec<(usize, &Part)> = own
                .filter_map(|part| Some((models.iter().position(|model| *model == part.model)?, part)))
                .collect();
            let mut name = printable(&title(direction, "→"));
            if let (Some(set), true) = (set, sets.len() > 1) {
                name = format!("{}: {name}", printable(set));
            }
            panels.extend(against_k(measure, &name, label, &lines));
        }
    }
    if panels.is_empty() {
        return Vec::new();
    }
    let sentence = |part: &Part| format!("{}, {}", printable(part.model), sentences(std::slice::from_ref(part)));
    let figure = Figure {
        description: description(
            std::iter::once(format!("Retrieval precision of {} models.", models.len()))
                .chain(parts.iter().map(sentence)),
        ),
        columns: panels.len().min(3),
        panels,
        series: models.iter().map(|model| printable(model)).collect(),
        notes: std::iter::once(
            "Precision: the share of the first K targets that have the query's label, mean over queries.".to_string(),
        )
        .chain(notes(parts))
        .collect(),
        ..Figure::default()
    };
    named("retrieval/retrieval_comparison", figure)
}

/// A measure against K, a line for each part; bars where there is one K. `None` where it has no value.
fn against_k(measure: &str, title: &str, label: &str, lines: &[(usize, &Part)]) -> Option<Panel> {
    let mut ks: Vec<usize> = lines
        .iter()
        .flat_map(|(_, part)| part.ks(|own| own == measure))
        .collect();
    ks.sort_unstable();
    ks.dedup();
    let is_known = |(_, part): &&(usize, &Part)| {
        ks.iter()
            .any(|k| part.at(measure, *k).is_some_and(|s| s.value.is_some()))
    };
    let known: Vec<&(usize, &Part)> = lines.iter().filter(is_known).collect();
    if known.is_empty() {
        return None;
    }
    let better = known
        .iter()
        .find_map(|(_, part)| part.at(measure, ks[0]))
        .map_or(Better::Higher, |s| s.better);
    let y = Axis::linear(label).covering(&[0.0, 1.0]);
    let cut = cut(measure, &ks, &known);
    if let [k] = ks.as_slice() {
        let scores: Vec<(usize, Option<&Score>)> = known
            .iter()
            .map(|(series, part)| (*series, part.at(measure, *k)))
            .collect();
        let bars = Bars {
            axis: y,
            rows: scores
                .iter()
                .map(|(series, score)| BarRow {
                    series: *series,
                    bars: vec![score.map(measured).unwrap_or_default()],
                })
                .collect(),
            chance: scores
                .iter()
                .map(|(_, score)| score.and_then(|score| score.chance))
                .collect(),
            ..Bars::default()
        };
        return Some(Panel::new(titled(&format!("{title}, K = {k}"), better), bars).note(cut));
    }
    let curve = |(series, part): &&(usize, &Part)| {
        let point = |k: &usize| {
            let score = part.at(measure, *k)?;
            Some(CurvePoint {
                x: *k as f64,
                y: score.value,
                band: score.interval.map(|[low, high]| (low, high)),
            })
        };
        Curve {
            series: *series,
            points: ks.iter().filter_map(point).collect(),
        }
    };
    let is_wide = ks[ks.len() - 1] >= 20 * ks[0].max(1);
    let lines = Lines {
        x: if is_wide && ks[0] > 0 {
            Axis::log("K")
        } else {
            Axis::linear("K")
        },
        y,
        curves: known.iter().map(curve).collect(),
        references: chances(measure, &ks, &known),
    };
    Some(Panel::new(titled(title, better), lines).note(cut))
}

/// Where K is larger than the number of targets.
fn cut(measure: &str, ks: &[usize], lines: &[&(usize, &Part)]) -> String {
    let of = |k: &usize| {
        let used = lines
            .iter()
            .filter_map(|(_, part)| part.at(measure, *k)?.effective_k)
            .min()?;
        (used < *k).then(|| format!("K = {k} is cut to {used} targets."))
    };
    ks.iter().filter_map(of).collect::<Vec<_>>().join(" ")
}

/// A line at the chance level, where it does not change with K: one for all directions that share it.
fn chances(measure: &str, ks: &[usize], lines: &[&(usize, &Part)]) -> Vec<Reference> {
    let level = |part: &Part| {
        let of = |k: &usize| part.at(measure, *k).and_then(|score| score.chance);
        let levels: Option<Vec<f64>> = ks.iter().map(of).collect();
        let levels = levels?;
        levels
            .iter()
            .all(|x| (x - levels[0]).abs() <= 1e-9)
            .then_some(levels[0])
    };
    let known = lines.iter().filter_map(|(series, part)| Some((*series, level(part)?)));
    let known: Vec<(usize, f64)> = known.collect();
    // Levels that could hardly be told apart are one line.
    let mut levels: Vec<(f64, f64, Vec<usize>)> = Vec::new();
    for (series, x) in known {
        let is_near = |(low, high, _): &&mut (f64, f64, Vec<usize>)| x * NEAR >= *high && x <= *low * NEAR;
        match levels.iter_mut().find(is_near) {
            Some((low, high, members)) => {
                (*low, *high) = (low.min(x), high.max(x));
                members.push(series);
            }
            None => levels.push((x, x, vec![series])),
        }
    }
    let reference = |(low, high, members): &(f64, f64, Vec<usize>)| Reference {
        at: ReferenceAt::Horizontal((low + high) / 2.0),
        label: match (rough(*low), rough(*high)) {
            (low, high) if low == high => format!("chance {low}"),
            (low, high) => format!("chance {low}–{high}"),
        },
        series: members
            .first()
            .copied()
            .filter(|_| members.len() == 1 && lines.len() > 1),
    };
    levels.iter().map(reference).collect()
}

/// The measures of the whole ranking.
fn whole(lines: &[(usize, &Part)]) -> Option<Panel> {
    let has = |measure: &str| {
        lines
            .iter()
            .any(|(_, part)| part.score(measure, None).is_some_and(|s| s.value.is_some()))
    };
    let known: Vec<&(&str, &str)> = WHOLE.iter().filter(|(measure, _)| has(measure)).collect();
    let row = |(series, part): &(usize, &Part)| BarRow {
        series: *series,
        bars: known
            .iter()
            .map(|(measure, _)| part.score(measure, None).map(measured).unwrap_or_default())
            .collect(),
    };
    let bars = Bars {
        axis: Axis::linear("score").covering(&[0.0, 1.0]),
        categories: known.iter().map(|(_, name)| name.to_string()).collect(),
        rows: lines.iter().map(row).collect(),
        ..Bars::default()
    };
    (!known.is_empty()).then(|| Panel::new(titled("Whole ranking", Better::Higher), bars))
}

/// The precision of each direction at its smallest and its largest K, in words.
fn sentences(parts: &[Part]) -> String {
    let of_part = |part: &Part| {
        let mut ks = part.ks(|measure| measure == "label_precision");
        ks.sort_unstable();
        let ends = [ks.first(), ks.last().filter(|_| ks.len() > 1)];
        let at = |k: &usize| {
            let score = part.at("label_precision", *k)?;
            let value = match (score.value?, score.interval) {
                (value, Some(interval)) => {
                    let (value, interval) = number_with_interval(value, interval);
                    format!("{value} {interval}")
                }
                (value, None) => number(value),
            };
            let chance = score
                .chance
                .map(|chance| format!(" (chance {})", rough(chance)))
                .unwrap_or_default();
            Some(format!("{value} at K = {k}{chance}"))
        };
        let values: Vec<String> = ends.into_iter().flatten().filter_map(at).collect();
        let words = direction(Better::Higher).1;
        (!values.is_empty()).then(|| {
            format!(
                "{}: precision {} ({words}).",
                printable(&part.title()),
                values.join(", ")
            )
        })
    };
    parts.iter().filter_map(of_part).collect::<Vec<_>>().join(" ")
}

/// How many queries, which way is better, and what the intervals are.
fn notes(parts: &[Part]) -> Vec<String> {
    let mut counts: Vec<usize> = parts.iter().map(Part::queries).collect();
    counts.sort_unstable();
    let queries = match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if least == most => format!("N = {least} queries in each direction."),
        (Some(least), Some(most)) => format!("N = {least} to {most} queries in each direction."),
        _ => String::new(),
    };
    let mut notes = vec![
        queries,
        format!("{} {}.", direction(Better::Higher).0, direction(Better::Higher).1),
    ];
    // By measure: single identities would fill the page.
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    let measures = AT_K.iter().map(|(measure, title, _)| (*measure, *title)).chain(WHOLE);
    for (measure, title) in measures {
        for score in parts
            .iter()
            .flat_map(|part| of_measure(part, measure))
            .filter(|score| score.interval.is_some())
        {
            let level = score.level.map_or("confidence".to_string(), percent);
            let [method, unit] = [&score.method, &score.unit].map(|text| text.as_deref().unwrap_or("not recorded"));
            let how = format!("{level} intervals by {method} over {unit}");
            match ways.iter_mut().find(|(known, _)| *known == how) {
                Some((_, titles)) if titles.contains(&title) => {}
                Some((_, titles)) => titles.push(title),
                None => ways.push((how, vec![title])),
            }
        }
    }
    match ways.as_slice() {
        [] => {}
        [(how, _)] => notes.push(format!("Error bars and bands are {how}.")),
        several => {
            let parts = several
                .iter()
                .map(|(how, titles)| format!("{how} ({})", titles.join(", ")));
            notes.push(format!(
                "Error bars and bands are {}.",
                parts.collect::<Vec<_>>().join("; ")
            ));
        }
    }
    notes
}

/// The scores of a measure at every K, or over the whole ranking.
fn of_measure<'a>(part: &Part<'a>, measure: &str) -> Vec<&'a Score> {
    let at_k = part
        .ks(|own| own == measure)
        .into_iter()
        .filter_map(|k| part.at(measure, k));
    at_k.chain(part.score(measure, None)).collect()
}
