// SPDX-License-Identifier: MIT
//! `repscope validate`: recomputes examples with known answers and says which claims hold.

use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_io::write_whole;

use crate::args::Validate;
use crate::outputs;
use crate::validation::{markdown, table, validate};

pub fn run(options: &Validate) -> Result<ExitCode> {
    let report = validate(options.data.as_deref())?;
    if let Some(path) = &options.output {
        write_whole(path, markdown(&report).as_bytes())?;
    }
    outputs::print(&if options.json {
        serde_json::to_string_pretty(&report.json())?
    } else {
        table(&report, outputs::width(), outputs::color())
    })?;
    if let Some(path) = &options.output {
        outputs::advise(&format!("{} is written", path.display()));
    }
    let failing = report.failing();
    if failing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let lines = failing.iter().map(|claim| {
        let (name, expected, got) = (&claim.name, claim.expected_text(), claim.got_text());
        format!("\n  {name}: expected {expected}, got {got}")
    });
    bail!(
        "{} of {} claims fail:{}",
        failing.len(),
        report.claims().count(),
        lines.collect::<String>()
    )
}
