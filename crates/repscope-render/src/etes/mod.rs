// SPDX-License-Identifier: MIT
//! How well texts that were generated from signals fit them: [`etes_table`] with what the numbers mean, and [`etes_samples`] text by
//! text.
//!
//! An energy is lower where the fit is better, and its level depends on the space: so the direction stands beside every
//! number, and the mean of shuffled pairs beside every level. What the results hold is sorted in `system`; `grids`, `table`
//! and `readings` decide what is said.

mod grids;
mod readings;
mod samples;
mod system;
mod table;
#[cfg(test)]
pub(crate) mod testdata;

pub(crate) use readings::reading;
pub use samples::{EtesColumn, EtesSamples, EtesValues, etes_samples};
pub(crate) use system::{Band, Groups, System, is_of_etes};
pub use table::etes_table;
pub(crate) use table::{by_alignment, order_remarks};

use crate::numbers;
use crate::table::{self as tables, NONE};
use repscope_core::Score;

/// A value with its interval: `0.0207 [0.0151, 0.0263]`.
fn written(score: &Score) -> String {
    score
        .value
        .map_or(NONE.to_string(), |value| numbers::written(value, score.interval))
}

/// Four decimals, as energies are written in the log. What rounds to zero has no sign.
fn four(x: f64) -> String {
    let text = format!("{x:.4}");
    if text == "-0.0000" { "0.0000".to_string() } else { text }
}

/// Why a score has no value.
fn reason(score: Option<&Score>) -> String {
    score.map_or("no reason was recorded".to_string(), tables::reason)
}
