// SPDX-License-Identifier: MIT
//! The scores: a table for each analysis. With a few models a row is a metric; with many a row is a model, so that the
//! table stays readable and can be sorted into a ranking.

use super::marks::{legend, notes};
use super::models::Models;
use super::safe::{breakable, escape};
use super::table::{Cell, Column, Row, Table};
use super::winners::lead;
use crate::etes::{System, order_remarks, reading};
use crate::summary::{Cell as SummaryCell, Row as SummaryRow, Summary, direction, distinct};
use crate::winners::best;
use repscope_core::{Analysis, Better, Results, Score, metrics};

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
    let items: String = systems
        .iter()
        .map(|system| {
            format!(
                "<li><b>{}</b>: {}</li>\n",
                models.swatch(system.name),
                escape(&reading(system))
            )
        })
        .chain(remarks)
        .collect();
    if items.is_empty() {
        String::new()
    } else {
        format!("<ul class=\"readings\">\n{items}</ul>\n")
    }
}

/// The metric's analysis, as a heading and a question.
fn heading(metric: &str) -> (&'static str, &'static str) {
    match metrics::find(metric).map(|(metric, _)| metric.analysis) {
        Some(Analysis::Smoothness) => (
            "Smoothness",
            "Do small steps of the input make small steps of the code?",
        ),
        Some(Analysis::Robustness) => ("Robustness", "How far does noise in the input move the code?"),
        Some(Analysis::Neighborhood) => (
            "Neighborhood",
            "Are neighbours of the input neighbours of the code, and the other way round?",
        ),
        Some(Analysis::Manifold) => ("Manifold", "How many dimensions do the codes use?"),
        Some(Analysis::Geometry) => ("Geometry", "How are the codes spread, and do they fall into classes?"),
        Some(Analysis::Rankme) => ("RankMe", "How many directions do the codes really fill?"),
        Some(Analysis::Clid) => (
            "CLID",
            "Are clusters of the codes easy to learn, and how many dimensions do the codes have?",
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
            None => {
                let part = Results {
                    scores: vec![score.clone()],
                    ..Results::default()
                };
                parts.push((title, question, part));
            }
        }
    }
    parts
}

fn analysis(title: &str, part: &Results, results: &Results, models: &Models) -> String {
    let summary = Summary::new(part);
    let of_part = distinct(part.scores.iter().map(|score| score.model.as_str()));
    let view = View {
        summary: &summary,
        models: &of_part,
        names: models,
        results,
    };
    let table = if of_part.len() > MOST_COLUMNS {
        view.by_model(title)
    } else {
        view.by_metric(title)
    };
    table.render() + &notes(&summary)
}

struct View<'a> {
    summary: &'a Summary,
    /// Of this table, in the order of the summary's cells.
    models: &'a [&'a str],
    names: &'a Models<'a>,
    results: &'a Results,
}

impl View<'_> {
    /// A row for each metric.
    fn by_metric(&self, title: &str) -> Table {
        // Of all analyses, so that the columns of their tables stand below each other.
        let has_chance = self.results.scores.iter().any(|score| score.chance.is_some());
        let has_n = self.results.scores.iter().any(|score| score.n > 0);
        let fact = |name| Column {
            class: "fact",
            ..Column::number(name)
        };
        let mut columns = vec![Column::text("metric"), arrow_column()];
        columns.extend(self.models.iter().map(|model| Column {
            html: self.names.swatch(model),
            is_number: true,
            model: Some(model.to_string()).filter(|name| !name.is_empty()),
            ..Column::default()
        }));
        columns.extend(has_chance.then(|| fact("chance")));
        columns.extend(has_n.then(|| fact("n")));
        let rows = self.summary.rows.iter().map(|row| {
            let all = 0..row.cells.len();
            let mut cells = vec![Cell::html(self.metric(row)), arrow(row.better)];
            cells.extend((0..row.cells.len()).map(|i| self.value(row, i)));
            cells.extend(has_chance.then(|| sorted(row.chance(all.clone()), |score| score.chance, &self.scores(row))));
            cells.extend(has_n.then(|| sorted(row.n(all.clone()), |score| Some(score.n as f64), &self.scores(row))));
            Row {
                cells,
                models: Vec::new(),
            }
        });
        Table {
            caption: format!("{title}: scores by metric"),
            rows: rows.collect(),
            columns,
            class: "scores by-metric",
            count: self.models.len(),
        }
    }

    /// A row for each model.
    fn by_model(&self, title: &str) -> Table {
        let mut columns = vec![Column::text("model")];
        columns.extend(self.summary.rows.iter().map(|row| {
            let all = 0..row.cells.len();
            let facts = [("chance", row.chance(all.clone())), ("n", row.n(all))];
            let facts = facts.iter().filter(|(_, value)| !value.is_empty());
            let facts: String = facts
                .map(|(name, value)| format!("<small>{name} {value}</small>"))
                .collect();
            let arrow = arrow(row.better).html;
            Column {
                html: format!("{} {arrow}{}{facts}", name(&row.metric), mark(row.note)),
                is_number: true,
                label: row.metric.clone(),
                ..Column::default()
            }
        }));
        let rows = self.models.iter().enumerate().map(|(i, model)| {
            let mut cells = vec![Cell::html(self.names.swatch(model))];
            cells.extend(self.summary.rows.iter().map(|row| self.value(row, i)));
            Row {
                cells,
                models: vec![model.to_string()],
            }
        });
        Table {
            caption: format!("{title}: scores by model"),
            rows: rows.collect(),
            columns,
            class: "scores by-model",
            ..Table::default()
        }
    }

    fn metric(&self, row: &SummaryRow) -> String {
        let about = metrics::find(&row.metric)
            .and_then(|(_, output)| output)
            .map_or("", |output| output.about);
        format!(
            "{}{}<small>{}</small>",
            name(&row.metric),
            mark(row.note),
            escape(about)
        )
    }

    fn scores(&self, row: &SummaryRow) -> Vec<&Score> {
        self.models
            .iter()
            .filter_map(|model| self.results.score(model, &row.metric))
            .collect()
    }

    fn value(&self, row: &SummaryRow, model: usize) -> Cell {
        let Some(Some(cell)) = row.cells.get(model) else {
            return Cell::default();
        };
        let score = self.results.score(self.models[model], &row.metric);
        let is_best = best(self.results, &row.metric) == Some(self.models[model]);
        Cell {
            html: value(cell, score, is_best),
            key: score.and_then(|score| score.value),
            class: if is_best { "best" } else { "" },
        }
    }
}

/// A column of one arrow needs no name to see, but one to hear.
fn arrow_column() -> Column {
    Column {
        html: "<span class=\"unseen\">direction</span>".to_string(),
        class: "plain",
        ..Column::default()
    }
}

fn arrow(better: Better) -> Cell {
    let (arrow, words) = direction(better);
    let words = if better == Better::Neither {
        "a description, neither way is better"
    } else {
        words
    };
    Cell {
        html: format!(
            "<span class=\"arrow\" title=\"{words}\" aria-hidden=\"true\">{arrow}</span><span class=\"unseen\">{words}</span>"
        ),
        key: None,
        class: "direction",
    }
}

/// The identity of a metric, as a link to its definition where there is one.
fn name(metric: &str) -> String {
    match metrics::find(metric) {
        Some((found, _)) => format!("<a href=\"#about-{}\"><code>{}</code></a>", found.id, breakable(metric)),
        None => format!("<code>{}</code>", breakable(metric)),
    }
}

fn value(cell: &SummaryCell, score: Option<&Score>, is_best: bool) -> String {
    let Some(value) = &cell.value else {
        let reason = score
            .and_then(|score| score.reason.as_deref())
            .unwrap_or("no reason was recorded");
        let reason = escape(reason);
        return format!(
            "<span class=\"none\" title=\"{reason}\">—</span><span class=\"unseen\">{reason}</span>{}",
            mark(cell.note)
        );
    };
    let star = if is_best {
        "<span class=\"unseen\">best: </span>"
    } else {
        ""
    };
    let interval = cell
        .interval
        .as_deref()
        .map(|interval| format!("<small>{interval}</small>"))
        .unwrap_or_default();
    format!("{star}<b>{value}</b>{}{interval}", mark(cell.note))
}

/// A text that is sorted by the first of these numbers.
fn sorted(text: String, key: impl Fn(&Score) -> Option<f64>, scores: &[&Score]) -> Cell {
    Cell {
        key: scores.iter().find_map(|score| key(score)).filter(|_| !text.is_empty()),
        html: text,
        class: "quiet",
    }
}

fn mark(note: Option<usize>) -> String {
    note.map(|number| format!("<sup>{number}</sup>")).unwrap_or_default()
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
