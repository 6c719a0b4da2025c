// SPDX-License-Identifier: MIT
//! What `repscope clid` shows: the scores, how CLID was computed in words, and which score predicts performance.

pub(crate) mod files;
mod prediction;
mod steps;

use crate::grid::Grid;
use crate::summary::Summary;
use crate::{Color, Format, latex, long_csv, markdown, table, text};
use repscope_core::{ClidSpec, Results, Spec};

/// What the results of `repscope clid` were asked with.
pub struct ClidRun<'a> {
    /// The options that the numbers were computed with.
    pub spec: &'a Spec,
    /// The name of the preset.
    pub preset: &'a str,
    /// The steps of the preset, before single ones were changed.
    pub preset_steps: &'a ClidSpec,
    /// What the scores were to predict: `accuracy`.
    pub performance: Option<&'a str>,
}

/// Writes the scores, the steps of CLID in words, and which score predicts the performance. `width` (terminal columns)
/// and `color` matter to [`Format::Table`] only. [`Format::Csv`] is the long form, so that it stays one table.
pub fn clid_table(results: &Results, run: &ClidRun<'_>, format: Format, width: usize, color: Color) -> String {
    let steps = steps::sentence(run.preset, run.preset_steps, &run.spec.clid);
    let grids: Vec<Grid> = match run.performance {
        Some(name) => prediction::grids(results, name, run.spec.level),
        None => Vec::new(),
    };
    let summary = || Summary::new(results);
    let (scores, others): (String, Vec<String>) = match format {
        Format::Table => (
            table::render(&summary(), width, color) + &text::wrap(&steps, width, ""),
            grids.iter().map(|grid| grid.table(width, color)).collect(),
        ),
        Format::Markdown => (
            markdown::render(&summary()) + &markdown::list(&[markdown::escape(&steps)]),
            grids.iter().map(Grid::markdown).collect(),
        ),
        Format::Latex => (
            latex::render_with(&summary(), &[steps]),
            grids.iter().map(Grid::latex).collect(),
        ),
        Format::Csv => {
            let rows = results.scores.iter().map(long_csv::row);
            let correlations = prediction::long_rows(results, run.spec.level);
            (long_csv::write(&long_csv::HEADER, rows.chain(correlations)), Vec::new())
        }
    };
    std::iter::once(scores).chain(others).collect::<Vec<_>>().join("\n")
}
