// SPDX-License-Identifier: MIT
//! `report.html`: everything a run found out, on one page that opens offline.
//!
//! The page is a pure function of its data: no files, no clock, the same bytes for the same input. It can be read, printed
//! and searched without its script; the script adds sorting, hiding of models, hover values and moving about in maps.
//! Nothing is loaded from anywhere, and a content security policy says so. Each section is a file of this folder.

mod breakdowns;
mod cards;
mod differences;
mod figures;
mod map;
pub(crate) mod safe;
mod samples;
mod summary;
mod worst;

pub use worst::worst_samples;

use crate::NamedFigure;
use crate::scores::{grouped, sorted};
use crate::table::html::{numbers, render};
use crate::table::{Cell, Column, Table};
use repscope_core::{Analysis, Results, counted};
use safe::{escape, of_model, prose};
use serde_json::Value;
use std::collections::BTreeMap;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Letters that the script can write and the text may lack.
const LETTERS_OF_THE_SCRIPT: &str =
    "0123456789.,:;+-–−—×▴▾≤≥·%()[]'’ ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What a report page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The heading.
    pub title: &'a str,
    /// The analysis, where its own command was run.
    pub analysis: Option<Analysis>,
    /// The command that was run.
    pub command: &'a str,
    /// The version of repscope that ran it.
    pub version: &'a str,
    /// The resolved options.
    pub spec: &'a serde_json::Value,
    /// The files that were read.
    pub inputs: &'a [InputLine],
    /// What was found out.
    pub results: &'a Results,
    /// The figures of the results, in the order they are shown.
    pub figures: &'a [NamedFigure],
    /// Thumbnails of inputs by row, PNG files in base64; empty where inputs are no pictures.
    pub pictures: &'a BTreeMap<usize, String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputLine {
    /// Where it was.
    pub path: String,
    /// Its shape: `1797 × 64`.
    pub shape: String,
    /// The type of its elements: `f32`.
    pub dtype: String,
    /// A digest of its bytes.
    pub digest: String,
    /// What a model is; empty for data.
    pub about: String,
}

/// A part of the page with a heading of its own: what links to it use, its title and its contents.
type Section = (&'static str, &'static str, String);

/// The report as one self-contained HTML file.
pub fn report_html(page: &Page) -> String {
    let models = Models::of(page.results);
    let (figures, ink) = figures::section(page);
    let (embeddings, energies) = samples::apart(page.results);
    let worst =
        worst::section(&embeddings, &models, page.pictures) + &worst::section(&energies, &models, &BTreeMap::new());
    let differences = differences::section(page.results, &models);
    let versions = crate::versions::table(page.results, |id| crate::verdict::is_shown(page.results, id));
    let versions = versions.map_or(String::new(), |table| {
        let marks = format!("<p class=\"quiet\">▲ {}, ▼ worse</p>\n", escape(&table.emphasis));
        render(&table, &models) + &marks
    });
    let mut sections: Vec<Section> = vec![
        (
            "verdict",
            "Verdict",
            summary::verdict(page.results, page.analysis) + &warnings(page.results),
        ),
        ("figures", "Figures", figures),
        ("maps", "Maps", map::section(&embeddings, &models)),
        ("scores", "Scores", summary::section(page.results, &models)),
        ("versions", crate::versions::TITLE, versions),
        ("differences", "Differences between models", differences),
        ("worst", "Worst samples", worst),
        ("breakdowns", "Breakdowns", breakdowns::section(page.results, &models)),
        ("definitions", "Definitions", cards::section(page.results)),
        ("inputs", "Inputs and options", inputs(page, &models)),
    ];
    // A section without content is left out.
    sections.retain(|(_, _, html)| !html.is_empty());
    let body = body(page, &models, &sections);
    let font = repscope_figures::font_css(&format!("{LETTERS_OF_THE_SCRIPT}{}", letters(&body)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; font-src data:; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"repscope {version}\">\n\
         <title>{title}</title>\n<style id=\"font\">\n{font}</style>\n<style>\n{STYLE}{colors}</style>\n</head>\n\
         <body>\n{body}<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        version = escape(page.version),
        title = escape(page.title),
        colors = figures::css(&ink, &models) + &worst::css(page.pictures),
    )
}

fn body(page: &Page, models: &Models, sections: &[Section]) -> String {
    let link = |(id, title, _): &Section| format!("<li><a href=\"#{id}\">{title}</a></li>\n");
    let links: String = sections.iter().map(link).collect();
    let content = |(id, title, html): &Section| {
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{html}</section>\n"
        )
    };
    let contents: String = sections.iter().map(content).collect();
    format!(
        "<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<div class=\"page\">\n<header>\n<h1>{}</h1>\n{}</header>\n\
         <aside class=\"side\" aria-label=\"Contents and controls\">\n<nav aria-label=\"Contents\">\n<h2 class=\"quiet\">Contents</h2>\n<ul>\n{links}</ul>\n</nav>\n{}{}</aside>\n\
         <main id=\"main\" tabindex=\"-1\">\n{contents}</main>\n</div>\n\
         <footer><p>Made by repscope {}. This page loads nothing from the network.</p></footer>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n<p id=\"said\" class=\"unseen\" role=\"status\" aria-live=\"polite\"></p>\n",
        escape(page.title),
        head(page),
        models.checkboxes(),
        THEMES,
        escape(page.version),
    )
}

const THEMES: &str = "<fieldset class=\"control themes\">\n<legend>Colors</legend>\n\
<label><input type=\"radio\" name=\"theme\" value=\"auto\" checked> as the system</label>\n\
<label><input type=\"radio\" name=\"theme\" value=\"light\"> light</label>\n\
<label><input type=\"radio\" name=\"theme\" value=\"dark\"> dark</label>\n</fieldset>\n";

/// What was run, in a line.
fn head(page: &Page) -> String {
    let mut facts = systems(page.results);
    let (embeddings, energies) = samples::apart(page.results);
    if let Some(rows) = samples::rows(&embeddings).or(samples::rows(&energies)) {
        facts.push(format!("{rows} samples"));
    }
    facts.push(format!("repscope {}", escape(page.version)));
    let command = match page.command {
        "" => String::new(),
        command => format!("<p class=\"command\"><code>{}</code></p>\n", escape(command)),
    };
    format!("<p class=\"facts\">{}</p>\n{command}", facts.join(" · "))
}

/// How many there are of each kind of system: retrievals and generated texts are no models of the same inputs.
fn systems(results: &Results) -> Vec<String> {
    let kind = |analysis: Analysis| match analysis {
        Analysis::Similarity => "pair",
        Analysis::Retrieval => "retrieval",
        Analysis::Etes => "text generator",
        Analysis::Perturb => "classifier",
        _ => "model",
    };
    let named = results.scores.iter().filter(|score| !score.model.is_empty());
    let of_kind = named.filter_map(|score| Some((kind(score.metric.metric()?.analysis), score.model.as_str())));
    let systems = grouped(of_kind).into_iter();
    systems.map(|(kind, names)| counted(names.len(), kind)).collect()
}

/// Each letter of the page once, in order.
fn letters(body: &str) -> String {
    sorted(body.chars()).into_iter().collect()
}

/// The models of a run, in the order that gives them their colors in figures.
pub(crate) struct Models<'a> {
    pub(super) names: Vec<&'a str>,
}

impl<'a> Models<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let mut names = crate::samples::models(results);
        // Numbers about all models together carry no name.
        names.retain(|name| !name.is_empty());
        Models { names }
    }

    /// The name of a model beside a patch of its color.
    pub(crate) fn swatch(&self, name: &str) -> String {
        match self.names.iter().position(|known| *known == name) {
            Some(i) => format!(
                "<span class=\"swatch\" style=\"--swatch:var(--s{i})\"></span>{}",
                escape(name)
            ),
            None => shown(name),
        }
    }

    /// A box for each of several models.
    fn checkboxes(&self) -> String {
        if self.names.len() < 2 {
            return String::new();
        }
        let toggle = |name: &&str| {
            let (toggle, swatch) = (of_model(name).replace("data-model", "data-toggle"), self.swatch(name));
            format!("<label><input type=\"checkbox\" checked{toggle}> {swatch}</label>\n")
        };
        let boxes: String = self.names.iter().map(toggle).collect();
        format!(
            "<fieldset class=\"control models\">\n<legend>Models</legend>\n{boxes}\
             <button type=\"button\" id=\"show-all\" hidden>Show all</button>\n</fieldset>\n"
        )
    }
}

/// A model's name as HTML; numbers about all models together carry none.
pub(super) fn shown(name: &str) -> String {
    match name {
        "" => "all models".to_string(),
        name => escape(name),
    }
}

/// More files than this are folded away.
const MOST_FILES: usize = 6;
/// More warnings than this are folded away.
const MOST_WARNINGS: usize = 4;

pub(super) fn warnings(results: &Results) -> String {
    // What is wrong has been said above.
    let is_said = |warning: &String| results.findings.iter().any(|finding| finding.text == *warning);
    let all: Vec<&String> = results.warnings.iter().filter(|warning| !is_said(warning)).collect();
    if all.is_empty() {
        return String::new();
    }
    let items: String = all
        .iter()
        .map(|warning| format!("<li>{}</li>\n", prose(warning)))
        .collect();
    let title = counted(all.len(), "warning");
    let open = if all.len() <= MOST_WARNINGS { " open" } else { "" };
    format!("<details class=\"warnings\"{open}>\n<summary>{title}</summary>\n<ul>\n{items}</ul>\n</details>\n")
}

pub(super) fn inputs(page: &Page, models: &Models) -> String {
    let mut html = String::new();
    if !page.inputs.is_empty() {
        let (count, files) = (counted(page.inputs.len(), "file"), numbers(&input_files(page), models));
        let open = if page.inputs.len() <= MOST_FILES { " open" } else { "" };
        html += &format!(
            "<details{open}>\n<summary><h3>Files</h3> <span class=\"question\">{count}</span></summary>\n{files}</details>\n"
        );
    }
    let mut options = Vec::new();
    flatten("", page.spec, &mut options);
    if !options.is_empty() {
        let mut table = Table::new("Options", "options");
        table.columns = ["option", "value"].map(Column::text).to_vec();
        for (name, value) in options {
            table.push(vec![Cell::code(name), Cell::code(value)]);
        }
        html += &format!(
            "<details>\n<summary><h3>Options</h3></summary>\n<p>As they were resolved; the same options, inputs and version give the same numbers.</p>\n{}</details>\n",
            numbers(&table, models)
        );
    }
    html += &format!("<h3>Version</h3>\n<p>repscope {}</p>\n", escape(page.version));
    html
}

fn input_files(page: &Page) -> Table {
    let mut table = Table::new("Files", "files");
    table.columns = ["file", "shape", "type", "digest"].map(Column::text).to_vec();
    for input in page.inputs {
        let file = Cell {
            about: input.about.clone(),
            ..Cell::code(&input.path)
        };
        table.push(vec![
            file,
            Cell::text(&input.shape),
            Cell::text(&input.dtype),
            Cell::code(&input.digest),
        ]);
    }
    table
}

/// Nested options under names with dots.
fn flatten(name: &str, value: &Value, options: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let above = if name.is_empty() {
                    String::new()
                } else {
                    format!("{name}.")
                };
                flatten(&format!("{above}{field}"), value, options);
            }
        }
        Value::Null if name.is_empty() => {}
        Value::Null => options.push((name.to_string(), "none".to_string())),
        Value::String(text) => options.push((name.to_string(), text.clone())),
        other => options.push((name.to_string(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_options_have_names_with_dots() {
        let spec = serde_json::json!({"seed": 0, "clid": {"k": [1, 2], "norm": "dim"}, "sample": null});
        let mut options = Vec::new();
        flatten("", &spec, &mut options);
        let text: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(text, ["clid.k=[1,2]", "clid.norm=dim", "sample=none", "seed=0"]);
    }
}
