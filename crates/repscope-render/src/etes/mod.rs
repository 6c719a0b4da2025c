// SPDX-License-Identifier: MIT
//! How well texts that were generated from signals fit them, as specification document 004 wants it told: [`etes_log`] in the
//! lines of its log, [`etes_table`] with what the numbers mean, and [`etes_samples`] text by text.
//!
//! An energy is lower where the fit is better, and its level depends on the space: so the direction stands beside every
//! number, and the mean of shuffled pairs beside every level. What the results hold is sorted in `system`; `grids`, `by_group`,
//! `ranked` and `readings` decide what is said.

mod by_group;
pub(crate) mod files;
mod grids;
mod log;
mod ranked;
mod readings;
mod samples;
mod system;
mod table;
#[cfg(test)]
pub(crate) mod testdata;

pub use log::etes_log;
pub(crate) use ranked::order_remarks;
pub(crate) use readings::reading;
pub use samples::{EtesColumn, EtesSamples, EtesValues, etes_samples};
pub(crate) use system::{Band, Groups, System, is_of_texts};
pub use table::etes_table;

use crate::numbers::{number, number_with_interval};
use repscope_core::Score;

/// What stands for a value that does not exist.
const NONE: &str = "—";

/// The value of a score and its interval.
fn cells(score: Option<&Score>) -> [String; 2] {
    match score.map(|score| (score.value, score.interval)) {
        Some((Some(value), Some(interval))) => number_with_interval(value, interval).into(),
        Some((Some(value), None)) => [number(value), String::new()],
        Some((None, _)) => [NONE.to_string(), String::new()],
        None => [String::new(), String::new()],
    }
}

/// A value with its interval: `0.0207 [0.0151, 0.0263]`.
fn written(score: &Score) -> String {
    let [value, interval] = cells(Some(score));
    if interval.is_empty() {
        value
    } else {
        format!("{value} {interval}")
    }
}

/// Four decimals, as document 004 writes energies. What rounds to zero has no sign.
fn four(x: f64) -> String {
    let text = format!("{x:.4}");
    if text == "-0.0000" { "0.0000".to_string() } else { text }
}

/// Why a score has no value.
fn reason(score: Option<&Score>) -> String {
    let recorded = score.and_then(|score| score.reason.clone());
    let recorded = recorded.filter(|reason| !reason.is_empty());
    recorded.unwrap_or_else(|| "no reason was recorded".to_string())
}
