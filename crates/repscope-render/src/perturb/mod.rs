// SPDX-License-Identifier: MIT
//! What masking parts of its inputs costs a classifier: [`perturb_summary`] and
//! [`perturb_details`] as JSON, [`perturb_findings`] as answers to its checks, [`perturb_latex`] for a paper and
//! [`perturb_table`] for reading.
//!
//! What the results hold is sorted in `run`; `grids` and `remarks` decide what the tables say.

mod details;
mod findings;
mod key_values;
mod latex;
mod run;
mod summary;
mod table;
#[cfg(test)]
pub(crate) mod testdata;

use crate::breakdowns::{cell, names};
use crate::numbers::written;
use run::BASELINE;

pub use details::perturb_details;
pub use findings::{Finding, perturb_findings};
pub use latex::perturb_latex;
pub(crate) use run::{ClassImpact, Run, Set};
pub use summary::perturb_summary;
pub use table::perturb_table;
