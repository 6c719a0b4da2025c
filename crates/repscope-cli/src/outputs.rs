// SPDX-License-Identifier: MIT
//! What comes out: the result on stdout, advice on stderr, files in the output folder.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use repscope_core::{Results, Spec};
use repscope_io::{ResultsDocument, write_whole};
use repscope_report::{Color, Format, document_files};

use crate::args::{FormatChoice, Outputs};
use crate::reader::Sources;

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

/// What a file says of the results.
pub type Contents = fn(&Results) -> String;

/// How the result of a command is printed and written.
pub struct Delivery<'a> {
    pub command: &'a str,
    /// Its own folder within the output folder.
    pub folder: &'a str,
    /// What stdout shows, unless it is the results document.
    pub show: &'a dyn Fn(&Results, Format) -> String,
    /// A further file that was asked for, by its own path.
    pub extra: Option<(&'a Path, Contents)>,
}

impl Delivery<'_> {
    /// Prints the result of an analysis and writes its files.
    pub fn deliver(&self, spec: &Spec, sources: Sources, mut results: Results, to: &Outputs) -> Result<()> {
        let mut warnings = sources.warnings;
        warnings.append(&mut results.warnings);
        results.warnings = warnings;
        let mut options = sources.options;
        if let serde_json::Value::Object(spec) = serde_json::to_value(spec)? {
            options.extend(spec);
        }
        let document = ResultsDocument::new(self.command, options.into(), sources.records, &results);
        let json = document.to_json();
        let files = document_files(self.command, &results);
        let folder = to.output_dir.join(self.folder);
        if let Some((path, contents)) = &self.extra {
            write_whole(path, contents(&results).as_bytes())?;
        }
        for (name, contents) in &files {
            write_whole(&to.output_dir.join(name), contents.as_bytes())?;
        }
        write_whole(&folder.join("results.json"), json.as_bytes())?;
        write_whole(&to.output_dir.join("results.json"), json.as_bytes())?;
        if !to.machine.quiet {
            for warning in &results.warnings {
                advise(&format!("warning: {warning}"));
            }
        }
        print(&match to.format {
            _ if to.json => json,
            FormatChoice::Json => json,
            FormatChoice::Table => (self.show)(&results, Format::Table),
            FormatChoice::Markdown => (self.show)(&results, Format::Markdown),
            FormatChoice::Latex => (self.show)(&results, Format::Latex),
            FormatChoice::Csv => (self.show)(&results, Format::Csv),
        })?;
        if !to.machine.quiet {
            if let Some((path, _)) = &self.extra {
                advise(&format!("{} is written", path.display()));
            }
            advise(&format!(
                "{} CSV file{} and results.json are in {}",
                files.len(),
                if files.len() == 1 { "" } else { "s" },
                folder.display()
            ));
        }
        Ok(())
    }
}
