// SPDX-License-Identifier: MIT
//! What comes out: the result on stdout, advice on stderr, files in the output folder.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Results, Spec, compare};
use repscope_io::{ResultsDocument, samples_to_npz, write_whole};
use repscope_render::{Color, Format, NamedFigure, document_files};

use crate::args::{FigureFormat, FigureOptions, FormatChoice, Outputs};
use crate::call::{self, Answer};
use crate::figure_files;
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
    pub fn deliver(&self, spec: &Spec, sources: Sources, results: Results, to: &Outputs) -> Result<()> {
        let finished = Finished::new(self.command, spec, sources, results)?;
        if call::is_within() {
            return call::hand_over(Answer::Results(Box::new(finished)));
        }
        if let Some((path, contents)) = &self.extra {
            write_whole(path, contents(&finished.results).as_bytes())?;
        }
        let folder = to.output_dir.join(self.folder);
        let written = finished.write(&folder, &to.output_dir, &to.figures)?;
        finished.write_document(&to.output_dir)?;
        if !to.machine.quiet {
            warn(&finished.results.warnings);
        }
        show(&finished, to.json, to.format, self.show)?;
        if !to.machine.quiet {
            if let Some((path, _)) = &self.extra {
                advise(&format!("{} is written", path.display()));
            }
            advise(&format!(
                "{} are in {}",
                written.in_words("results.json"),
                folder.display()
            ));
        }
        Ok(())
    }
}

/// Prints the results document, or what `table` makes of the results.
pub fn show(
    finished: &Finished,
    is_json: bool,
    format: FormatChoice,
    table: &dyn Fn(&Results, Format) -> String,
) -> Result<()> {
    let format = match format {
        _ if is_json => None,
        FormatChoice::Json => None,
        FormatChoice::Table => Some(Format::Table),
        FormatChoice::Markdown => Some(Format::Markdown),
        FormatChoice::Latex => Some(Format::Latex),
        FormatChoice::Csv => Some(Format::Csv),
    };
    print(&match format {
        None => finished.document.to_json(),
        Some(format) => table(&finished.results, format),
    })
}

/// Tells the user what is to be known about the results.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        advise(&format!("warning: {warning}"));
    }
}

/// The results of a command, and the document that keeps them.
pub struct Finished {
    /// What `results.json` holds.
    pub document: ResultsDocument,
    /// The scores and everything behind them.
    pub results: Results,
}

/// The options of a run, as its document keeps them: what was typed about the inputs, and the spec.
pub fn resolved(spec: &Spec, mut typed: serde_json::Map<String, serde_json::Value>) -> serde_json::Value {
    if let Ok(serde_json::Value::Object(spec)) = serde_json::to_value(spec) {
        typed.extend(spec);
    }
    typed.into()
}

/// What was written.
#[derive(Default)]
pub struct Written {
    csv: usize,
    figures: usize,
    /// `png, svg, pdf`
    formats: String,
}

impl Finished {
    /// Two or more models are compared; then the document says what the results hold.
    pub fn new(command: &str, spec: &Spec, sources: Sources, mut results: Results) -> Result<Self> {
        results.warnings.splice(0..0, sources.warnings);
        compare(&mut results, spec, &Driver::silent(Order::Parallel));
        let options = resolved(spec, sources.options);
        Ok(Finished {
            document: ResultsDocument::new(command, options, sources.records, &results),
            results,
        })
    }

    /// Writes the CSV files and figures below `root`, samples and results document into `folder`. The document comes last:
    /// where it is, the rest is.
    pub fn write(&self, folder: &Path, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let written = self.write_files(root, figures)?;
        self.write_document(folder)?;
        Ok(written)
    }

    /// Writes the CSV files and figures.
    pub fn write_files(&self, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let mut written = self.write_tables(root)?;
        written.add(self.write_figures(root, figures, |_| true)?);
        Ok(written)
    }

    /// Writes the CSV files.
    pub fn write_tables(&self, root: &Path) -> Result<Written> {
        let files = document_files(&self.document.command, &self.results);
        for (name, contents) in &files {
            write_whole(&root.join(name), contents.as_bytes())?;
        }
        Ok(Written {
            csv: files.len(),
            ..Written::default()
        })
    }

    /// Draws the figures whose paths are wanted.
    pub fn write_figures(
        &self,
        root: &Path,
        options: &FigureOptions,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Written> {
        let figures = if options.no_figures {
            Vec::new()
        } else {
            figure_files::describe(&self.results, &self.document.command, self.seed())
        };
        for (name, bytes) in figure_files::draw(&figures, options, is_wanted)? {
            write_whole(&root.join(name), &bytes)?;
        }
        Ok(Written::of_figures(&figures, options))
    }

    /// Writes `results.json`, and `samples.npz` beside it where there are samples.
    pub fn write_document(&self, folder: &Path) -> Result<()> {
        let samples = folder.join("samples.npz");
        if self.has_samples() {
            write_whole(&samples, &samples_to_npz(&self.results)?)?;
        } else if samples.is_file() {
            // Those of an earlier command do not belong to this document.
            std::fs::remove_file(&samples).with_context(|| format!("cannot remove {}", samples.display()))?;
        }
        Ok(write_whole(
            &folder.join("results.json"),
            self.document.to_json().as_bytes(),
        )?)
    }

    /// Whether there is anything to keep beside the document.
    pub fn has_samples(&self) -> bool {
        !self.results.samples.is_empty() || !self.results.classes.is_empty()
    }

    /// The seed that the document names. Predictions that were stored have none.
    pub fn seed(&self) -> Option<u64> {
        if self.document.command == Analysis::Perturb.name() && self.document.spec.get("masks").is_none() {
            return None;
        }
        self.document.spec.get("seed").and_then(serde_json::Value::as_u64)
    }
}

impl Written {
    pub fn of_figures(figures: &[NamedFigure], options: &FigureOptions) -> Self {
        let formats: Vec<&str> = options.formats().into_iter().map(FigureFormat::name).collect();
        Written {
            csv: 0,
            figures: figures.len(),
            formats: formats.join(", "),
        }
    }

    pub fn add(&mut self, other: Written) {
        self.csv += other.csv;
        self.figures += other.figures;
        self.formats = other.formats;
    }

    /// `3 CSV files, 2 figures (png, svg, pdf) and results.json`.
    pub fn in_words(&self, last: &str) -> String {
        format!("{} and {last}", self.files())
    }

    /// `3 CSV files, 2 figures (png, svg, pdf)`.
    pub fn files(&self) -> String {
        let mut parts = Vec::new();
        if self.csv > 0 || self.figures == 0 {
            parts.push(counted(self.csv, "CSV file"));
        }
        if self.figures > 0 {
            parts.push(format!("{} ({})", counted(self.figures, "figure"), self.formats));
        }
        parts.join(", ")
    }
}

/// `1 figure`, `2 figures`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
