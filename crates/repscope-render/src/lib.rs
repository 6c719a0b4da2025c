// SPDX-License-Identifier: MIT
//! Scores to tables and files: pure functions of data, nothing is opened or printed here.
//!
//! [`render`] shows results as one table, with the reasons, notes and interval methods a reader needs to use its numbers.
//! What such a table says is decided once, in `scores`; the renderers of [`table`] only set it.
//! [`document_files`] writes the CSV files of the analyses; [`definition_card`] shows the Markdown page of a metric in
//! a terminal. A retrieval has a form of its own: [`retrieval_table`] with a column per K,
//! [`retrieval_readings`] in sentences, and [`retrieval_summary`] and [`retrieval_json`] in the form of label retrieval.
//! [`perturb_table`] shows what masking costs a classifier, [`perturb_findings`] which of its checks hold, and
//! [`perturb_summary`], [`perturb_details`] and [`perturb_latex`] are its files.
//! [`etes_table`] and [`etes_samples`] show how well generated texts fit their signals.
//! [`clid_table`] adds to the scores how CLID was computed, and which score predicts the performance of models.
//! [`comparison`] sets models against each other, and [`gate_table`] shows which of the asked limits they keep.
#![forbid(unsafe_code)]

mod breakdowns;
mod clid;
mod compare;
mod csv_files;
mod etes;
mod figures;
mod html;
mod json;
mod numbers;
mod perturb;
mod retrieval;
mod samples;
mod scores;
pub mod table;
mod terminal_markdown;
#[cfg(test)]
mod testdata;
mod text;
mod training;
mod verdict;
mod versions;

use repscope_core::{Analysis, Results};
use table::{Cell, Column, Document, Table};

pub use clid::{ClidRun, clid_table};
pub use compare::probability::p_value;
pub use compare::{GateLine, comparison, gate_table};
pub use csv_files::document_files;
pub use etes::{EtesColumn, EtesSamples, EtesValues, etes_samples, etes_table};
pub use figures::{NamedFigure, figures};
pub use html::{InputLine, Page, report_html, worst_samples};
pub use numbers::{number, written};
pub use perturb::{Finding, perturb_details, perturb_findings, perturb_latex, perturb_summary, perturb_table};
pub use retrieval::label_retrieval::{retrieval_json, retrieval_summary};
pub use retrieval::readings::retrieval_readings;
pub use retrieval::table::retrieval_table;
pub use table::csv::{keep_formulas, write as write_csv};
pub use terminal_markdown::definition_card;
pub use text::{capitalized, wrap};
pub use verdict::{Answer, Verdict, headlines, verdict};

/// What the results are written as. JSON is not here: `results.json` is the data themselves, written by `repscope-io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// For reading in a terminal.
    Table,
    /// A GitHub table.
    Markdown,
    /// A `table` environment for a paper; needs only the package booktabs.
    Latex,
    /// One line per model and metric, with every digit.
    Csv,
}

/// Whether text for the terminal may carry color codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Bold, dim and colored text.
    Yes,
    /// Plain text.
    No,
}

/// Writes the scores of a run. `width` (terminal columns) and `color` matter to [`Format::Table`] only.
pub fn render(results: &Results, format: Format, width: usize, color: Color) -> String {
    render_some(results, results, format, width, color)
}

/// Writes those scores of a run that answer, of one analysis or of all: see [`headlines`].
pub fn render_headlines(
    results: &Results,
    only: Option<Analysis>,
    format: Format,
    width: usize,
    color: Color,
) -> String {
    render_some(&headlines(results, only), results, format, width, color)
}

/// Who is best is decided by all results.
fn render_some(shown: &Results, all: &Results, format: Format, width: usize, color: Color) -> String {
    if format == Format::Csv {
        return csv_files::long(shown, Vec::new());
    }
    if shown.scores.is_empty() {
        let comment = if format == Format::Latex { "% " } else { "" };
        return format!("{comment}No scores.\n");
    }
    Document::from(scores::tables(shown, all)).render(format, width, color)
}

/// Writes what shorter and quantized embeddings score, where that was asked for: the scores that answer, of one analysis or of all, or
/// every score.
pub fn versions_table(
    results: &Results,
    only: Option<Analysis>,
    all: bool,
    format: Format,
    width: usize,
    color: Color,
) -> Option<String> {
    if format == Format::Csv || results.versions.is_empty() {
        return None;
    }
    let shown = headlines(results, only);
    let is_shown = |id: &repscope_core::MetricId| all || shown.scores.iter().any(|score| score.metric == *id);
    versions::table(results, is_shown).map(|table| Document::from(table).render(format, width, color))
}

/// Writes the order of the models by scores of the user's own choice, where one was asked for.
pub fn ranking_table(results: &Results, format: Format, width: usize, color: Color) -> Option<String> {
    let ranking = results
        .breakdowns
        .iter()
        .find(|table| table.metric == repscope_core::RANKING)?;
    let mut table = Table::new("Models in the order that was asked for", "ranking");
    table.columns = vec![Column::number("#"), Column::text("model"), Column::number("mean rank")];
    let ranks = &ranking.columns[1..];
    table.columns.extend(
        ranks
            .iter()
            .map(|column| Column::number(format!("rank by {}", column.name))),
    );
    for (i, model) in ranking.keys.first()?.values.iter().enumerate() {
        let mut cells = vec![Cell::count(i + 1), Cell::model(model)];
        let decimals = |rank: f64| {
            if rank.fract() == 0.0 {
                format!("{rank}")
            } else {
                format!("{rank:.2}")
            }
        };
        cells.extend(
            ranking
                .columns
                .iter()
                .map(|column| Cell::optional(column.values[i], decimals)),
        );
        table.push(cells);
    }
    (format != Format::Csv).then(|| Document::from(table).render(format, width, color))
}
