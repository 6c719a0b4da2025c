// SPDX-License-Identifier: MIT
//! Models against each other: who is better in what, by how much, and how sure that is.
//!
//! Two models have a table of all metrics, with both values. More models have a ranking, and a table of their differences
//! to one of them, the best unless another is asked for. What the tables say is decided once, in `comparison`, `ranking`
//! and `words`; `terminal`, `markdown` and `latex` only set it. All pairs of models are in the CSV file.

mod comparison;
pub(crate) mod files;
mod gates;
mod latex;
mod markdown;
pub(crate) mod probability;
mod ranking;
mod terminal;
#[cfg(test)]
mod tests;
mod words;

use crate::{Color, Format};
use comparison::Comparison;
use repscope_core::Results;

pub use gates::{GateLine, gate_table};

/// Writes the differences between models. They are taken to `reference`: where it is `None`, to the second of two models,
/// or to the best of more. `width` (terminal columns) and `color` matter to [`Format::Table`] only.
pub fn comparison(results: &Results, reference: Option<&str>, format: Format, width: usize, color: Color) -> String {
    if format == Format::Csv {
        return files::differences(results);
    }
    let Some(comparison) = Comparison::new(results, reference) else {
        return match format {
            Format::Latex => "% No differences.\n".to_string(),
            _ => "No differences.\n".to_string(),
        };
    };
    match format {
        Format::Markdown => markdown::render(&comparison),
        Format::Latex => latex::render(&comparison),
        _ => terminal::render(&comparison, width, color),
    }
}
