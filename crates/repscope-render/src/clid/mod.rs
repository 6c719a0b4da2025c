// SPDX-License-Identifier: MIT
//! What `repscope clid` shows: the scores, how CLID was computed in words, and which score predicts performance.

pub(crate) mod files;
mod prediction;
mod steps;

use crate::scores::scores;
use crate::table::Document;
use crate::table::csv::write;
use crate::{Color, Format, long_csv};
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
    if format == Format::Csv {
        let rows = results.scores.iter().map(long_csv::row);
        let correlations = prediction::long_rows(results, run.spec.level);
        return write(&long_csv::HEADER, rows.chain(correlations));
    }
    if results.scores.is_empty() {
        return crate::render(results, format, width, color);
    }
    let mut tables = vec![scores(results)];
    tables[0].remarks.push(steps);
    if let Some(name) = run.performance {
        tables.extend(prediction::tables(results, name, run.spec.level));
    }
    Document::from(tables).render(format, width, color)
}
