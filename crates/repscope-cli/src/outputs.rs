// SPDX-License-Identifier: MIT
//! What comes out: the result on stdout, advice on stderr.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use repscope::options::Outputs;
use repscope::{Color, Report, Terminal};

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

/// Advice, unless it is not wanted.
pub fn say(quiet: bool, text: &str) {
    if !quiet {
        advise(text);
    }
}

/// The width of the terminal, or of a page where the output is not one.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(110, |(columns, _)| usize::from(columns.0).clamp(40, 200))
}

/// Color only for a person who did not ask for none.
pub fn color() -> Color {
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if std::io::stdout().is_terminal() && !wants_none {
        Color::Yes
    } else {
        Color::No
    }
}

/// How text is set for this terminal.
pub fn terminal(quiet: bool) -> Terminal {
    Terminal {
        width: width(),
        color: color(),
        quiet,
    }
}

/// Prints the results document, or the table.
pub fn show(report: &Report, to: &Outputs) -> Result<()> {
    print(&match to.table() {
        None => report.document.to_json(),
        Some(format) => report.table(format, terminal(to.quiet)),
    })
}

/// What is worth knowing about the results.
pub fn warn(report: &Report, quiet: bool) {
    for warning in &report.results.warnings {
        say(quiet, &format!("warning: {warning}"));
    }
}
