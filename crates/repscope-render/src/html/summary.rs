// SPDX-License-Identifier: MIT
//! The scores: a table for each analysis. With a few models a row is a metric; with many a row is a model, so that the
//! table stays readable and can be sorted into a ranking.

use super::safe::escape;
use super::{Models, shown};
use crate::compare::probability::limit;
use crate::etes::{System, order_remarks, reading};
use crate::numbers::percent;
use crate::scores::{Best, by_model, distinct, scores_with, winner};
use crate::table::html::{described, render};
use crate::table::{DIRECTIONS, Table};
use repscope_core::{Analysis, Better, Results, metrics};

/// With more models than this, a row is a model.
const MOST_COLUMNS: usize = 4;

pub(super) fn section(results: &Results, models: &Models) -> String {
    if results.scores.is_empty() {
        return String::new();
    }
    let mut html = lead(results, models);
    html += &legend(results);
    for (title, question, part) in by_analysis(results) {
        html += &format!("<h3>{title}</h3>\n<p class=\"question\">{question}</p>\n");
        html += &readings(&part, models);
        html += &analysis(title, &part, results, models);
    }
    html
}

/// What the energies of each system say, and what their order hides, before the numbers; empty for every other analysis.
fn readings(part: &Results, models: &Models) -> String {
    let systems = System::all(part);
    let remarks = order_remarks(&systems);
    let remarks = remarks.iter().map(|remark| format!("<li>{}.</li>\n", escape(remark)));
    let item = |system: &System| {
        let (name, reading) = (models.swatch(system.name), escape(&reading(system)));
        format!("<li><b>{name}</b>: {reading}</li>\n")
    };
    let items: String = systems.iter().map(item).chain(remarks).collect();
    match items.as_str() {
        "" => items,
        _ => format!("<ul class=\"readings\">\n{items}</ul>\n"),
    }
}

/// The metric's analysis, as a heading and a question.
fn heading(metric: &str) -> (&'static str, &'static str) {
    match metrics::find(metric).map(|(metric, _)| metric.analysis) {
        Some(Analysis::Smoothness) => (
            "Smoothness",
            "Do small steps of the input make small steps of the embedding?",
        ),
        Some(Analysis::Robustness) => ("Robustness", "How far does noise in the input move the embedding?"),
        Some(Analysis::Neighborhood) => (
            "Neighborhood",
            "Are neighbors of the input neighbors of the embedding, and the other way round?",
        ),
        Some(Analysis::Manifold) => ("Manifold", "How many dimensions do the embeddings use?"),
        Some(Analysis::Geometry) => (
            "Geometry",
            "How are the embeddings spread, and do they fall into classes?",
        ),
        Some(Analysis::Rankme) => ("RankMe", "How many directions do the embeddings really fill?"),
        Some(Analysis::Clid) => (
            "CLID",
            "Are clusters of the embeddings easy to learn, and how many dimensions do the embeddings have?",
        ),
        Some(Analysis::Retrieval) => ("Retrieval", "Do the targets nearest to a query have its label?"),
        Some(Analysis::Etes) => ("ETES", "Do texts that were generated from signals fit the signals?"),
        Some(Analysis::Perturb) => (
            "Perturbation",
            "How much worse does a classifier do where parts of its images are masked?",
        ),
        Some(other) => (other.name(), ""),
        None => ("Other scores", ""),
    }
}

/// The scores of each analysis, in the order in which they appear.
fn by_analysis(results: &Results) -> Vec<(&'static str, &'static str, Results)> {
    let mut parts: Vec<(&str, &str, Results)> = Vec::new();
    for score in &results.scores {
        let (title, question) = heading(&score.metric);
        match parts.iter_mut().find(|(known, ..)| *known == title) {
            Some((.., part)) => part.scores.push(score.clone()),
            None => parts.push((title, question, score.clone().into())),
        }
    }
    parts
}

/// The scores of an analysis: a row for each metric, or for each of many models.
fn analysis(title: &str, part: &Results, results: &Results, models: &Models) -> String {
    // Of all analyses, so that the columns of their tables stand below each other.
    let facts = [
        results.scores.iter().any(|score| score.chance.is_some()),
        results.scores.iter().any(|score| score.n > 0),
    ];
    let table = scores_with(part, Best::Tested(results), facts);
    let is_long = table.columns.iter().filter(|column| column.is_split).count() > MOST_COLUMNS;
    let (by, table) = if is_long {
        ("model", by_model(table))
    } else {
        ("metric", table)
    };
    let table = Table {
        caption: format!("{title}: scores by {by}"),
        label: format!("scores by-{by}"),
        ..table
    };
    render(&table, models)
}

/// What the marks of the tables mean.
fn legend(results: &Results) -> String {
    let has = |better: &Better| results.scores.iter().any(|score| score.better == *better);
    let mut parts: Vec<String> = DIRECTIONS.into_iter().filter(has).map(described).collect();
    parts.extend(results.differences.first().map(|difference| {
        format!(
            "<span class=\"best\"><b>marked</b></span> better than every other model on the same samples (adjusted p ≤ {})",
            limit(difference.level)
        )
    }));
    let levels = results.scores.iter().filter(|score| score.interval.is_some());
    let levels: Vec<String> = levels.filter_map(|score| score.level).map(percent).collect();
    let levels = distinct(levels.iter().map(String::as_str));
    if !levels.is_empty() {
        parts.push(format!("[ ] {} interval", levels.join(" or ")));
    }
    if results.scores.iter().any(|score| score.value.is_none()) {
        parts.push("— no value, for the reason below".to_string());
    }
    let parts = parts.join(" <span aria-hidden=\"true\">|</span> ");
    format!("<p class=\"legend\">{parts}</p>\n")
}

/// How often each model is the best, in sentences. Empty where models were not compared.
pub(super) fn lead(results: &Results, models: &Models) -> String {
    let graded = results.differences.iter().filter(|d| d.better != Better::Neither);
    let graded = distinct(graded.map(|d| d.metric.as_str()));
    if graded.is_empty() {
        return String::new();
    }
    let best: Vec<&str> = graded.iter().filter_map(|metric| winner(results, metric)).collect();
    let count = |model: &str| best.iter().filter(|name| **name == model).count();
    let mut ranked: Vec<(&str, usize)> = models.names.iter().map(|name| (*name, count(name))).collect();
    ranked.retain(|(_, wins)| *wins > 0);
    ranked.sort_by_key(|(_, wins)| std::cmp::Reverse(*wins));
    let others = if models.names.len() > 2 {
        "every other model"
    } else {
        "the other"
    };
    let scores = match graded.len() {
        1 => "1 score with a direction".to_string(),
        count => format!("{count} scores with a direction"),
    };
    let named = |(i, (name, wins)): (usize, &(&str, usize))| match i {
        0 => format!("<b>{}</b> is better than {others} in {wins}", shown(name)),
        _ => format!("<b>{}</b> in {wins}", shown(name)),
    };
    let list: Vec<String> = ranked.iter().enumerate().map(named).collect();
    let undecided = match graded.len() - best.len() {
        0 => String::new(),
        count => format!(" In {count} no model is."),
    };
    let sentence = match list.as_slice() {
        [] => format!("In none of {scores} is a model better than {others}."),
        list => format!("Of {scores}, {}.{undecided}", list.join(", ")),
    };
    format!(
        "<p class=\"lead\">{sentence}</p>\n<p class=\"quiet\">Scores of one analysis measure related things: \
         the counts are no ranking of models.</p>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etes::testdata::two_systems;

    #[test]
    fn energies_are_read_before_they_are_listed() {
        let results = two_systems();
        let html = section(&results, &Models::of(&results));
        let places = [
            "The level -0.3985 is mostly the cone",
            "no nearer than shuffled ones",
            "most of the lead is the space",
            "<table",
        ]
        .map(|part| html.find(part).unwrap_or_else(|| panic!("no {part} in {html}")));
        assert!(places.is_sorted(), "{places:?}");
        let others = crate::testdata::two_models();
        assert!(!section(&others, &Models::of(&others)).contains("class=\"readings\""));
    }
}
