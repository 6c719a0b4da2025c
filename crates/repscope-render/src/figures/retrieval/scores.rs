// SPDX-License-Identifier: MIT
//! The scores of a retrieval against K.

use super::Run;
use crate::figures::models::{dots, highlighted, measured, point, titled};
use crate::figures::words::description;
use crate::figures::{NamedFigure, named};
use crate::numbers::{percent, rough, written};
use crate::retrieval::Part;
use crate::scores::{distinct, grouped, sorted};
use crate::table::{direction, in_words};
use crate::text::{join, printable};
use repscope_core::{Better, Score};
use repscope_figures::{Axis, BarRow, Bars, Curve, Figure, Lines, Panel, Reference, ReferenceAt};

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
    let lines = run.parts.iter().map(|part| (run.series_of(part.direction), part));
    let lines: Vec<(usize, &Part)> = lines.collect();
    let at_k = AT_K.iter();
    let at_k = at_k.filter_map(|(measure, title, label)| against_k(measure, title, label, &lines));
    let panels: Vec<Panel> = at_k.chain(whole(&lines)).collect();
    let figure = Figure {
        columns: panels.len().min(3),
        panels,
        notes: notes(run.parts),
        ..Figure::default()
    };
    let head = "Retrieval, from the first K targets.";
    run.named("retrieval_metrics", head, [sentences(run.parts)], figure)
}

/// The precision of several models, a panel per direction (and set of labels).
pub(super) fn comparison(parts: &[Part], directions: &[&str], titles: &[String]) -> Vec<NamedFigure> {
    let models = distinct(parts.iter().map(|part| part.model));
    if models.len() < 2 {
        return Vec::new();
    }
    let sets = distinct(parts.iter().map(|part| part.labels));
    let (measure, _, label) = AT_K[0];
    let mut panels = Vec::new();
    for set in &sets {
        for (direction, title) in directions.iter().zip(titles) {
            let own = parts
                .iter()
                .filter(|part| part.direction == *direction && part.labels == *set);
            let series = |part: &Part| models.iter().position(|model| *model == part.model);
            let lines: Vec<(usize, &Part)> = own.filter_map(|part| Some((series(part)?, part))).collect();
            let mut name = title.clone();
            if let (Some(set), true) = (set, sets.len() > 1) {
                name = format!("{}: {name}", printable(set));
            }
            panels.extend(against_k(measure, &name, label, &lines));
        }
    }
    let sentence = |part: &Part| format!("{}, {}", printable(part.model), sentences(std::slice::from_ref(part)));
    let head = format!("Retrieval precision of {} models.", models.len());
    let precision = "Precision: the share of the first K targets that have the query's label, mean over queries.";
    let figure = Figure {
        description: description(head, parts.iter().map(sentence)),
        columns: panels.len().min(3),
        panels,
        series: models.iter().map(|model| printable(model)).collect(),
        notes: std::iter::once(precision.to_string()).chain(notes(parts)).collect(),
        ..Figure::default()
    };
    named("retrieval/retrieval_comparison", figure)
}

/// A measure against K, a line for each part; bars where there is one K. `None` where it has no value.
fn against_k(measure: &str, title: &str, label: &str, lines: &[(usize, &Part)]) -> Option<Panel> {
    let ks = sorted(lines.iter().flat_map(|(_, part)| part.ks(|own| own == measure)));
    let value = |part: &Part, k: usize| part.at(measure, k).and_then(|score| score.value);
    let is_known = |(_, part): &&(usize, &Part)| ks.iter().any(|k| value(part, *k).is_some());
    let known: Vec<&(usize, &Part)> = lines.iter().filter(is_known).collect();
    let first = known.iter().find_map(|(_, part)| part.at(measure, *ks.first()?));
    if known.is_empty() {
        return None;
    }
    let better = first.map_or(Better::Higher, |score| score.better);
    let y = Axis::linear(label).covering(&[0.0, 1.0]);
    let cut = cut(measure, &ks, &known);
    if let [k] = ks[..] {
        let row = |(series, part): &&(usize, &Part)| BarRow {
            series: *series,
            bars: vec![measured(part.at(measure, k))],
        };
        let chance = |(_, part): &&(usize, &Part)| part.at(measure, k).and_then(|score| score.chance);
        let bars = Bars {
            axis: y,
            rows: known.iter().map(row).collect(),
            chance: known.iter().map(chance).collect(),
            ..Bars::default()
        };
        return Some(Panel::new(titled(&format!("{title}, K = {k}"), better), dots(bars, better)).note(cut));
    }
    let curve = |(series, part): &&(usize, &Part)| {
        let at = |k: &usize| Some(point(*k as f64, part.at(measure, *k)?));
        Curve {
            series: *series,
            points: ks.iter().filter_map(at).collect(),
            ..Curve::default()
        }
    };
    let is_wide = ks[0] > 0 && ks[ks.len() - 1] >= 20 * ks[0];
    let lines = Lines {
        x: if is_wide { Axis::log("K") } else { Axis::linear("K") },
        y,
        curves: highlighted(known.iter().map(curve).collect(), better),
        references: chances(measure, &ks, &known),
    };
    Some(Panel::new(titled(title, better), lines).note(cut))
}

/// Where K is larger than the number of targets.
fn cut(measure: &str, ks: &[usize], lines: &[&(usize, &Part)]) -> String {
    let of = |k: &usize| {
        let used = lines.iter().filter_map(|(_, part)| part.at(measure, *k)?.effective_k);
        let used = used.min()?;
        (used < *k).then(|| format!("K = {k} is cut to {used} targets."))
    };
    join(ks.iter().filter_map(of), " ")
}

/// A line at the chance level, where it does not change with K: one for all directions that share it.
fn chances(measure: &str, ks: &[usize], lines: &[&(usize, &Part)]) -> Vec<Reference> {
    let level = |part: &Part| {
        let of = |k: &usize| part.at(measure, *k).and_then(|score| score.chance);
        let levels = ks.iter().map(of).collect::<Option<Vec<f64>>>()?;
        levels
            .iter()
            .all(|x| (x - levels[0]).abs() <= 1e-9)
            .then_some(levels[0])
    };
    // Levels that could hardly be distinguished are one line.
    let mut levels: Vec<(f64, f64, Vec<usize>)> = Vec::new();
    for (series, x) in lines.iter().filter_map(|(series, part)| Some((*series, level(part)?))) {
        let is_near = |(low, high, _): &&mut (f64, f64, Vec<usize>)| x * NEAR >= *high && x <= *low * NEAR;
        match levels.iter_mut().find(is_near) {
            Some((low, high, members)) => {
                (*low, *high) = (low.min(x), high.max(x));
                members.push(series);
            }
            None => levels.push((x, x, vec![series])),
        }
    }
    let reference = |(low, high, members): &(f64, f64, Vec<usize>)| {
        let label = match (rough(*low), rough(*high)) {
            (low, high) if low == high => format!("chance {low}"),
            (low, high) => format!("chance {low}–{high}"),
        };
        let line = Reference::new(ReferenceAt::Horizontal((low + high) / 2.0), label);
        match members[..] {
            [series] if lines.len() > 1 => line.of(series),
            _ => line,
        }
    };
    levels.iter().map(reference).collect()
}

/// The measures of the whole ranking.
fn whole(lines: &[(usize, &Part)]) -> Option<Panel> {
    let value = |part: &Part, measure: &str| part.score(measure, None).and_then(|score| score.value);
    let has = |measure: &str| lines.iter().any(|(_, part)| value(part, measure).is_some());
    let known: Vec<&(&str, &str)> = WHOLE.iter().filter(|(measure, _)| has(measure)).collect();
    let row = |(series, part): &(usize, &Part)| BarRow {
        series: *series,
        bars: known
            .iter()
            .map(|(measure, _)| measured(part.score(measure, None)))
            .collect(),
    };
    let bars = Bars {
        axis: Axis::linear("score").covering(&[0.0, 1.0]),
        categories: known.iter().map(|(_, name)| name.to_string()).collect(),
        rows: lines.iter().map(row).collect(),
        ..Bars::default()
    };
    (!known.is_empty()).then(|| Panel::new(titled("Whole ranking", Better::Higher), dots(bars, Better::Higher)))
}

/// The precision of each direction at its smallest and its largest K, in words.
fn sentences(parts: &[Part]) -> String {
    let of_part = |part: &Part| {
        let ks = sorted(part.ks(|measure| measure == "label_precision"));
        let ends = [ks.first(), ks.last().filter(|_| ks.len() > 1)];
        let at = |k: &usize| {
            let score = part.at("label_precision", *k)?;
            let chance = score.chance.map(|chance| format!(" (chance {})", rough(chance)));
            let (value, chance) = (written(score.value?, score.interval), chance.unwrap_or_default());
            Some(format!("{value} at K = {k}{chance}"))
        };
        let values = join(ends.into_iter().flatten().filter_map(at), ", ");
        let (title, words) = (printable(&part.title()), direction(Better::Higher).1);
        (!values.is_empty()).then(|| format!("{title}: precision {values} ({words})."))
    };
    join(parts.iter().filter_map(of_part), " ")
}

/// How many queries, which way is better, and what the intervals are.
fn notes(parts: &[Part]) -> Vec<String> {
    let counts = sorted(parts.iter().map(Part::queries));
    let queries = match counts[..] {
        [] => String::new(),
        [count] => format!("N = {count} queries in each direction."),
        [least, .., most] => format!("N = {least} to {most} queries in each direction."),
    };
    // By measure: single identities would fill the page.
    let measures = AT_K.iter().map(|(measure, title, _)| (*measure, *title)).chain(WHOLE);
    let ways = measures.flat_map(|(measure, title)| {
        let scores = parts.iter().flat_map(move |part| of_measure(part, measure));
        let scores = scores.filter(|score| score.interval.is_some());
        scores.map(move |score| {
            let level = score.level.map_or("confidence".to_string(), percent);
            let [method, unit] = [&score.method, &score.unit].map(|text| text.as_deref().unwrap_or("not recorded"));
            (format!("{level} intervals by {method} over {unit}"), title)
        })
    });
    let ways = match grouped(ways).as_slice() {
        [(how, _)] => how.clone(),
        several => join(
            several
                .iter()
                .map(|(how, titles)| format!("{how} ({})", titles.join(", "))),
            "; ",
        ),
    };
    let mut notes = vec![queries, format!("{}.", in_words(Better::Higher))];
    if !ways.is_empty() {
        notes.push(format!("Error bars and bands are {ways}."));
    }
    notes
}

/// The scores of a measure at every K, or over the whole ranking.
fn of_measure<'a>(part: &Part<'a>, measure: &str) -> Vec<&'a Score> {
    let ks = part.ks(|own| own == measure).into_iter();
    let at_k = ks.filter_map(|k| part.at(measure, k));
    at_k.chain(part.score(measure, None)).collect()
}
