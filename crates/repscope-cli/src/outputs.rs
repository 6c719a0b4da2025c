// SPDX-License-Identifier: MIT
//! What comes out: the result on stdout, advice on stderr, files in the output folder.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use repscope_core::{Results, Spec};
use repscope_io::{ResultsDocument, write_whole};
use repscope_report::{Color, Format, document_files, render};

use crate::args::{FormatChoice, Outputs};
use crate::inputs::Inputs;

/// Writes to stdout; a closed pipe comes back as an error, never as a panic.
pub fn print(text: &str) -> Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut out = std::io::stdout().lock();
    write!(out, "{text}{end}")
        .and_then(|()| out.flush())
        .context("cannot write to stdout")
}

/// Writes a line to stderr. Where that cannot be read, there is nobody to tell.
pub fn advise(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The width of the terminal, or of a page where the output is not one.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(110, |(columns, _)| usize::from(columns.0).clamp(40, 200))
}

/// Colour only for a person who did not ask for none.
pub fn color() -> Color {
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if std::io::stdout().is_terminal() && !wants_none {
        Color::Yes
    } else {
        Color::No
    }
}

/// Prints the result of an analysis and writes its files.
pub fn deliver(
    command: &str,
    folder: &str,
    spec: &Spec,
    inputs: Inputs,
    mut results: Results,
    to: &Outputs,
) -> Result<()> {
    let mut warnings = inputs.warnings;
    warnings.append(&mut results.warnings);
    results.warnings = warnings;
    let mut options = inputs.options;
    if let serde_json::Value::Object(spec) = serde_json::to_value(spec)? {
        options.extend(spec);
    }
    let document = ResultsDocument::new(command, options.into(), inputs.records, &results);
    let json = document.to_json();
    let files = document_files(command, &results);
    for (name, contents) in &files {
        write_whole(&to.output_dir.join(name), contents.as_bytes())?;
    }
    write_whole(&to.output_dir.join(folder).join("results.json"), json.as_bytes())?;
    write_whole(&to.output_dir.join("results.json"), json.as_bytes())?;
    if !to.machine.quiet {
        for warning in &results.warnings {
            advise(&format!("warning: {warning}"));
        }
    }
    print(&match to.format {
        _ if to.json => json,
        FormatChoice::Json => json,
        FormatChoice::Table => render(&results, Format::Table, width(), color()),
        FormatChoice::Markdown => render(&results, Format::Markdown, 0, Color::No),
        FormatChoice::Latex => render(&results, Format::Latex, 0, Color::No),
        FormatChoice::Csv => render(&results, Format::Csv, 0, Color::No),
    })?;
    if !to.machine.quiet {
        let folder = to.output_dir.join(folder);
        advise(&format!(
            "{} CSV file{} and results.json are in {}",
            files.len(),
            if files.len() == 1 { "" } else { "s" },
            folder.display()
        ));
    }
    Ok(())
}
