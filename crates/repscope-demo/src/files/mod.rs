// SPDX-License-Identifier: MIT
//! The files of the demo. Each is written atomically.

mod data;
mod etes;
mod perturbation;
mod retrieval;
mod study;
mod weights;

pub(crate) use data::write as write_data;
pub(crate) use etes::write as write_etes;
pub(crate) use perturbation::{MASKS, write as write_predictions};
pub(crate) use retrieval::write as write_retrieval;
pub(crate) use study::write as write_study;
pub(crate) use weights::write as write_weights;

use std::path::Path;

use repscope_io::{Result, write_whole};

/// One text per line.
fn write_lines(path: &Path, lines: &[String]) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write_whole(path, text.as_bytes())
}
