// SPDX-License-Identifier: MIT
//! The scores: a table for each analysis. With a few models a row is a metric; with many a row is a model, so that the
//! table stays readable and can be sorted into a ranking.

use super::Models;
use super::safe::{escape, prose};
use crate::compare::probability::limit;
use crate::etes::{System, order_remarks, reading};
use crate::numbers::{number, percent};
use crate::scores::{by_model, distinct, grouped, scores_with};
use crate::table::html::{described, render};
use crate::table::{DIRECTIONS, Table};
use crate::training::caution;
use crate::verdict::{Answer, Verdict};
use repscope_core::{Analysis, Better, Quality, Results, Score};

/// With more models than this, a row is a model.
const MOST_COLUMNS: usize = 2;

/// What is wrong, and the answer to each question.
pub(super) fn verdict(results: &Results, only: Option<Analysis>) -> String {
    let Verdict { problems, answers } = crate::verdict(results, only);
    let problem = |text: &String| format!("<li class=\"problem\"><b>Problem</b> {}</li>\n", prose(text));
    let answer = |own: &Answer| {
        let (title, question, sentence) = (escape(own.title), escape(own.question), prose(&own.sentence));
        let why = escape(own.why);
        format!(
            "<li><h3><a href=\"#scores-{}\">{title}</a> <span class=\"question\">{question}</span></h3>\n<p>{sentence}.</p>\n\
             <p class=\"quiet\"><b>Why it matters.</b> {why}</p></li>\n",
            own.analysis
        )
    };
    let list = |items: String| match items.as_str() {
        "" => items,
        _ => format!("<ul class=\"verdict\">\n{items}</ul>\n"),
    };
    let wrong = list(problems.iter().map(problem).collect());
    let said = list(answers.iter().map(answer).collect());
    if wrong.is_empty() && said.is_empty() {
        return said;
    }
    let (qualities, caution) = (qualities(&answers), escape(&caution(results)));
    format!("{wrong}{qualities}{said}<p class=\"quiet\">{caution}.</p>\n")
}

/// What a good representation is, and which model is best in each respect; nothing where a single one was looked at.
fn qualities(answers: &[Answer]) -> String {
    let mut known: Vec<Quality> = answers.iter().filter_map(|own| own.quality).collect();
    known.sort_unstable();
    known.dedup();
    if known.len() < 2 {
        return String::new();
    }
    let of = |quality: &Quality| {
        let own = answers.iter().filter(|own| own.quality == Some(*quality));
        let best = |own: &Answer| match &own.best {
            Some(model) => format!("{}: <b>{}</b>", escape(own.title), escape(model)),
            None => match &own.values[..] {
                [(_, value)] => format!("{}: {} {}", escape(own.title), escape(&own.metric), number(*value)),
                _ if own.p_adjusted.is_some() => format!("{}: no significant difference", escape(own.title)),
                _ => format!("{}: not ranked", escape(own.title)),
            },
        };
        let best: Vec<String> = own.map(best).collect();
        let (name, means) = (quality.name(), quality.means());
        format!(
            "<li><b>{name}</b> <span class=\"question\">{means}</span> — {}</li>\n",
            best.join("; ")
        )
    };
    let items: String = known.iter().map(of).collect();
    format!("<p>A good representation is:</p>\n<ul class=\"qualities\">\n{items}</ul>\n")
}

const CONTROLS: &str = "<p class=\"control score-controls\"><label>Search <input type=\"search\" id=\"find-score\" \
placeholder=\"metric\"></label> <label><input type=\"checkbox\" id=\"all-scores\"> All scores, not only those that \
answer</label></p>\n";

/// The scores, folded by analysis.
pub(super) fn section(results: &Results, models: &Models) -> String {
    if results.scores.is_empty() {
        return String::new();
    }
    let mut html = CONTROLS.to_string() + &legend(results);
    let parts = by_analysis(results);
    let open = if parts.len() == 1 { " open" } else { "" };
    for (analysis, part) in parts {
        let (name, title, question) = analysis.map_or(("other", "Other scores", ""), |analysis| {
            (analysis.name(), analysis.question().title, analysis.question().text)
        });
        // Of all results: the bands are no scores.
        let readings = match analysis {
            Some(Analysis::Etes) => readings(results, models),
            _ => String::new(),
        };
        html += &format!(
            "<details class=\"analysis\" id=\"scores-{name}\"{open}>\n<summary><h3>{title}</h3> <span class=\"question\">{question}</span></summary>\n{}{}</details>\n",
            readings,
            table(title, &part, results, models)
        );
    }
    html
}

/// What the energies of each system say, and what their order hides, before the numbers.
fn readings(results: &Results, models: &Models) -> String {
    let systems = System::all(results);
    let remarks = order_remarks(&systems);
    let remarks = remarks.iter().map(|remark| format!("<li>{}.</li>\n", prose(remark)));
    let item = |system: &System| {
        let (name, reading) = (models.swatch(system.name), prose(&reading(system)));
        format!("<li><b>{name}</b>: {reading}</li>\n")
    };
    let items: String = systems.iter().map(item).chain(remarks).collect();
    match items.as_str() {
        "" => items,
        _ => format!("<ul class=\"readings\">\n{items}</ul>\n"),
    }
}

/// The scores of each analysis, in the order in which they appear.
fn by_analysis(results: &Results) -> Vec<(Option<Analysis>, Results)> {
    let owner = |score: &Score| score.metric.metric().map(|metric| metric.analysis);
    let parts = grouped(results.scores.iter().map(|score| (owner(score), score)));
    let results = |scores: Vec<&Score>| scores.into_iter().cloned().collect();
    parts.into_iter().map(|(own, scores)| (own, results(scores))).collect()
}

/// The scores of an analysis: a row for each metric, or for each of many models.
fn table(title: &str, part: &Results, results: &Results, models: &Models) -> String {
    // Of all analyses, so that the columns of their tables stand below each other.
    let facts = [
        results.scores.iter().any(|score| score.chance.is_some()),
        results.scores.iter().any(|score| score.n > 0),
    ];
    let table = scores_with(part, Some(results), facts);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etes::testdata::two_systems;

    #[test]
    fn energies_are_read_before_they_are_listed() {
        let results = two_systems();
        let html = section(&results, &Models::of(&results));
        let places = [
            "-0.3985: fair alignment by the bands, but shuffled pairs are fair too (-0.3612)",
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
