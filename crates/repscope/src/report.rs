// SPDX-License-Identifier: MIT
//! What comes out: results, the document that keeps them, and everything that is made of them without computing: tables, figures,
//! the page, and files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_core::{Analysis as Kind, Results, Spec};
use repscope_figures::{CLASS_COLORS, Theme, Width, class_color, missing_letters, series_color, value_color};
use repscope_io::{Claim, ResultsDocument, Seal, inside, samples_to_npz, write_whole};
use repscope_render::{
    ClidRun, Color, Format, NamedFigure, Verdict, clid_table, comparison, document_files, etes_table, headlines,
    perturb_table, ranking_table, render, render_headlines, retrieval_readings, retrieval_summary, retrieval_table,
    verdict, versions_table, wrap,
};

use crate::analysis::perturb::Checks;
use crate::analysis::{Declared, Preset, named};
use crate::compare::{self, COMPARE};
use crate::evaluation::plan::Extra;
use crate::evaluation::{folder, parts};
use crate::figure_files;
use crate::options::{FigureFormat, FigureOptions};
use crate::report_page::{self, describe};
use crate::search::list;

/// Steps of the colors of values that a description of a figure names.
const VALUE_COLORS: usize = 12;

pub use repscope_core::counted;

/// The results of a request, and the document that keeps them.
pub struct Report {
    /// What `results.json` holds.
    pub document: ResultsDocument,
    /// The scores and everything behind them.
    pub results: Results,
    /// What the files of one analysis need beside the results.
    pub(crate) extra: Extra,
}

/// How text for a terminal is set.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Columns.
    pub width: usize,
    /// Whether it may carry color codes.
    pub color: Color,
    /// Only what was asked for.
    pub quiet: bool,
    /// Every score, not only those that answer.
    pub all: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Terminal {
            width: 110,
            color: Color::No,
            quiet: false,
            all: false,
        }
    }
}

/// The options of a run, as its document keeps them: what was said about the inputs, and the spec.
pub(crate) fn resolved(spec: &Spec, mut said: serde_json::Map<String, serde_json::Value>) -> serde_json::Value {
    if let Ok(serde_json::Value::Object(spec)) = serde_json::to_value(spec) {
        said.extend(spec);
    }
    said.into()
}

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    csv: usize,
    figures: usize,
    /// `png, svg, pdf`
    formats: String,
    /// Letters of names that no font of this machine can draw.
    missing: BTreeSet<char>,
}

impl Report {
    pub(crate) fn new(document: ResultsDocument, results: Results) -> Self {
        Report {
            document,
            results,
            extra: Extra::Nothing,
        }
    }

    /// Reads a results document, and the samples beside it where there are some.
    pub fn open(path: &Path) -> crate::Result<Self> {
        let path = document_in(path);
        let document = ResultsDocument::read(&path).map_err(anyhow::Error::from)?;
        let beside = path.parent().unwrap_or(Path::new(""));
        Ok(folder::with_samples(document, beside, false)?)
    }

    /// The analysis; none for `evaluate` and `compare`, which are several.
    pub fn analysis(&self) -> Option<&'static Declared> {
        named(&self.document.command)
    }

    /// What the results say, question by question.
    pub fn verdict(&self) -> Verdict {
        verdict(&self.results, self.analysis().map(|own| own.kind))
    }

    /// The verdict and the scores as text, in the form of the command that made them.
    pub fn table(&self, format: Format, terminal: Terminal) -> String {
        let Terminal { width, color, all, .. } = terminal;
        let all = all || format == Format::Csv;
        let results = &self.results;
        match self.analysis().map(|own| own.kind) {
            None if self.document.command == COMPARE => {
                self.differences(compare::reference(&self.document), format, terminal)
            }
            Some(Kind::Retrieval) => {
                // What is wrong comes first, and is said in any case. The answer is the summary itself.
                let problems = Verdict {
                    answers: Vec::new(),
                    ..self.verdict()
                };
                let problems = match problems.render(format, width, color).as_str() {
                    "" => String::new(),
                    text => format!("{text}\n"),
                };
                let own = problems + &retrieval(results, format, terminal);
                let kind = Some(Kind::Retrieval);
                match versions_table(results, kind, all, format, width, color).filter(|_| !terminal.quiet) {
                    Some(versions) => format!("{}\n\n{versions}", own.trim_end()),
                    None => own,
                }
            }
            Some(Kind::Etes) => {
                let table = etes_table(results, all, format, width, color);
                self.below_verdict(table, format, terminal)
            }
            Some(Kind::Perturb) => {
                let table = match Checks::of(&self.document) {
                    Some(checks) => perturb_table(results, &checks.findings(results), all, format, width, color),
                    None => render(results, format, width, color),
                };
                self.below_verdict(table, format, terminal)
            }
            kind => {
                let scores = match kind {
                    Some(Kind::Clid) => self.clid(format, terminal),
                    None if !all => {
                        // Retrievals and generated texts are no models of the same inputs: the verdict speaks of them.
                        let of_embeddings = report_page::of_embeddings(results);
                        if of_embeddings.scores.is_empty() {
                            self.all_tables(format, terminal)
                        } else {
                            render_headlines(&of_embeddings, None, format, width, color)
                        }
                    }
                    _ if !all => render_headlines(results, kind, format, width, color),
                    None => self.all_tables(format, terminal),
                    Some(_) => render(results, format, width, color),
                };
                self.below_verdict(scores, format, terminal)
            }
        }
    }

    /// Text with the verdict above it, where the format has room for sentences.
    fn below_verdict(&self, text: String, format: Format, terminal: Terminal) -> String {
        let said = self.verdict().render(format, terminal.width, terminal.color);
        let ranking = ranking_table(&self.results, format, terminal.width, terminal.color);
        let kind = self.analysis().map(|own| own.kind);
        let Terminal { width, color, all, .. } = terminal;
        let versions = versions_table(&self.results, kind, all, format, width, color);
        let parts = [said, ranking.unwrap_or_default(), text, versions.unwrap_or_default()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }

    /// Models against each other; the scores themselves where there is one model only.
    pub fn differences(&self, reference: Option<&str>, format: Format, terminal: Terminal) -> String {
        let Terminal { width, color, all, .. } = terminal;
        let results = &self.results;
        let all = all || format == Format::Csv;
        let shown = if all { results.clone() } else { headlines(results, None) };
        let table = if results.differences.is_empty() {
            render(&shown, format, width, color)
        } else {
            comparison(&shown, reference, format, width, color)
        };
        self.below_verdict(table, format, terminal)
    }

    /// All scores; those of a retrieval and of generated texts have tables of their own form.
    fn all_tables(&self, format: Format, terminal: Terminal) -> String {
        let Terminal { width, color, all, .. } = terminal;
        let results = &self.results;
        let part = |kind| parts::of_analysis(results, kind).filter(|_| format != Format::Csv);
        let own = [
            part(Kind::Similarity).map(|part| render(&part, format, width, color)),
            part(Kind::Retrieval).map(|part| retrieval_table(&part, all, format, width, color)),
            part(Kind::Etes).map(|part| etes_table(&part, all, format, width, color)),
            part(Kind::Perturb).map(|part| {
                let checks = Checks::of(&self.document);
                let findings = checks.map(|checks| checks.findings(&part)).unwrap_or_default();
                perturb_table(&part, &findings, all, format, width, color)
            }),
        ];
        let own: Vec<String> = own.into_iter().flatten().collect();
        if own.is_empty() {
            return render(results, format, width, color);
        }
        let of_embeddings = report_page::of_embeddings(results);
        let first = (!of_embeddings.scores.is_empty()).then(|| render(&of_embeddings, format, width, color));
        let tables: Vec<String> = first.into_iter().chain(own).collect();
        let tables: Vec<&str> = tables.iter().map(|table| table.trim_end()).collect();
        tables.join("\n\n") + "\n"
    }

    /// The scores with the steps of CLID, which the document names.
    fn clid(&self, format: Format, terminal: Terminal) -> String {
        let Terminal { width, color, all, .. } = terminal;
        let spec = &self.document.spec;
        let steps = serde_json::from_value(spec["clid"].clone());
        let (Ok(clid), Some(level)) = (steps, spec["level"].as_f64()) else {
            return render(&self.results, format, width, color);
        };
        let preset: Preset = serde_json::from_value(spec["preset"].clone()).unwrap_or(Preset::Robust);
        let run = ClidRun {
            spec: &Spec {
                clid,
                level,
                ..Spec::default()
            },
            preset: spec["preset"].as_str().unwrap_or("robust"),
            preset_steps: &preset.steps(),
            performance: spec["performance_name"].as_str().or(spec["performance"].as_str()),
            all,
        };
        clid_table(&self.results, &run, format, width, color)
    }

    /// The HTML page.
    pub fn html(&self) -> String {
        report_page::html(self)
    }

    /// The names of the figures that can be drawn.
    pub fn figure_names(&self) -> Vec<String> {
        self.all_figures().into_iter().map(|(_, named)| named.path).collect()
    }

    /// Draws a figure: by its name, the last part of it, or the name of its analysis, whose first figure is then meant. A
    /// width in millimeters, or that of two columns.
    pub fn figure(&self, name: &str, format: FigureFormat, width: Option<f64>) -> crate::Result<Vec<u8>> {
        Ok(self.draw_figure(name, format, width)?)
    }

    /// What a figure shows, as JSON, with the colors of its series and of classes: for those who draw it themselves.
    pub fn figure_description(&self, name: &str) -> crate::Result<String> {
        let all = self.all_figures();
        let figure = &find(&all, name)?.figure;
        let series = (0..figure.series.len()).map(|index| series_color(index, Theme::Light));
        let classes = (0..CLASS_COLORS).map(|index| class_color(index, Theme::Light));
        let values = (0..=VALUE_COLORS).map(|step| value_color(step as f64 / VALUE_COLORS as f64, Theme::Light));
        let described = serde_json::json!({
            "figure": figure,
            "series_colors": series.collect::<Vec<_>>(),
            "class_colors": classes.collect::<Vec<_>>(),
            "value_colors": values.collect::<Vec<_>>(),
        });
        Ok(described.to_string())
    }

    fn draw_figure(&self, name: &str, format: FigureFormat, width: Option<f64>) -> Result<Vec<u8>> {
        let all = self.all_figures();
        let named = find(&all, name)?;
        let options = FigureOptions {
            figure_format: vec![format],
            figure_width: match width {
                None => Width::TwoColumns,
                Some(mm) if (40.0..=1000.0).contains(&mm) => Width::Millimeters(mm),
                Some(mm) => bail!("a figure of {mm} mm cannot be drawn; use 40 to 1000 (88 is a column, 180 are two)"),
            },
            ..FigureOptions::default()
        };
        let drawn = report_page::draw_files(std::slice::from_ref(named), &options, |_| true)?;
        let (_, bytes) = drawn.into_iter().next().context("nothing was drawn")?;
        Ok(bytes)
    }

    /// Every figure, with the analysis that it belongs to.
    pub(crate) fn all_figures(&self) -> Vec<(String, NamedFigure)> {
        let mut all = Vec::new();
        for part in report_page::analyses(self) {
            let own = describe(&part.results, &part.document.command, part.seed());
            all.extend(own.into_iter().map(|named| (part.document.command.clone(), named)));
        }
        let maps = report_page::maps(self);
        all.extend(maps.into_iter().map(|named| ("map".to_string(), named)));
        all
    }

    /// Writes everything below a folder, as the command would have: CSV files, figures, samples, page and document. A folder
    /// that another run writes is refused.
    pub fn save(&self, folder: &Path, with_figures: bool) -> crate::Result<()> {
        let figures = FigureOptions {
            no_figures: !with_figures,
            ..FigureOptions::default()
        };
        let page = if self.document.command == COMPARE {
            folder.join(COMPARE)
        } else {
            folder.to_path_buf()
        };
        let _claim = Claim::take(folder).map_err(anyhow::Error::from)?;
        self.write_all(folder, &figures)?;
        write_whole(&page.join("report.html"), self.html().as_bytes()).map_err(anyhow::Error::from)?;
        Ok(self.write_document(folder)?)
    }

    /// Writes the files of one analysis into its folder below `root`. The document comes last: where it is, the rest is.
    pub fn write(&self, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let written = self.write_own(root, figures)?;
        // Behind the files: a wrong name of a panel does not cost the results.
        self.check_panels(figures)?;
        Ok(written)
    }

    /// The same, where other analyses may have the panels that are requested.
    pub(crate) fn write_own(&self, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let folder = self.analysis().map_or(root.to_path_buf(), |own| root.join(own.folder));
        self.remove_stale(root, &folder, figures)?;
        self.extra.write(self, &folder, figures)?;
        let mut written = self.write_tables(root)?;
        written.add(self.write_figures(root, figures, |_| true)?);
        self.write_document(&folder)?;
        // What an evaluation that goes on takes from here.
        let samples = self.has_samples().then_some(folder::SAMPLES);
        Seal::write(
            &folder,
            &[folder::RESULTS].into_iter().chain(samples).collect::<Vec<_>>(),
        )?;
        Ok(written)
    }

    /// Removes the tables and figures that an earlier run left in the folder of the analysis and this one does not replace: they would
    /// stand beside results that they do not show. Nothing else is touched.
    fn remove_stale(&self, root: &Path, folder: &Path, figures: &FigureOptions) -> Result<()> {
        let Ok(old) = Report::open(folder) else {
            return Ok(());
        };
        let (old_document, document) = (&old.document, &self.document);
        if old_document.command != document.command || old_document.to_json() == document.to_json() {
            return Ok(());
        }
        let kept = self.file_names(figures);
        let all = FigureOptions::default();
        for name in old.file_names(&all).into_iter().filter(|name| !kept.contains(name)) {
            let path = inside(root, &name)?;
            if path.is_file() {
                std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        Ok(())
    }

    /// The tables and figures of one analysis, below the output folder.
    fn file_names(&self, figures: &FigureOptions) -> BTreeSet<String> {
        let tables = document_files(&self.document.command, &self.results);
        let drawn = if figures.no_figures {
            Vec::new()
        } else {
            figure_files::chosen(describe(&self.results, &self.document.command, self.seed()), figures)
        };
        let drawn = drawn.iter().flat_map(|named| {
            let formats = figures.formats().into_iter();
            formats.map(|format| report_page::figure_path(named, format))
        });
        tables.into_iter().map(|(name, _)| name).chain(drawn).collect()
    }

    /// Writes CSV files and figures of all analyses, and the maps.
    pub fn write_all(&self, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let written = self.write_all_files(root, figures)?;
        self.check_panels(figures)?;
        Ok(written)
    }

    /// Refuses names that are no panels of the figures of these results.
    pub fn check_panels(&self, figures: &FigureOptions) -> Result<()> {
        if figures.panel.is_empty() || figures.no_figures {
            return Ok(());
        }
        let all = self.all_figures();
        figure_files::check(all.iter().map(|(_, named)| named), figures)
    }

    fn write_all_files(&self, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let is_comparison = self.document.command == COMPARE;
        let (mut written, folder) = if is_comparison {
            (self.write_tables(root)?, root.join(COMPARE))
        } else {
            (Written::default(), root.to_path_buf())
        };
        for part in report_page::analyses(self) {
            if !is_comparison {
                written.add(part.write_tables(root)?);
            }
            written.add(part.write_figures(&folder, figures, |_| true)?);
        }
        written.add(report_page::draw_maps(self, &folder, figures)?);
        Ok(written)
    }

    /// Writes the CSV files.
    pub(crate) fn write_tables(&self, root: &Path) -> Result<Written> {
        let files = document_files(&self.document.command, &self.results);
        for (name, contents) in &files {
            write_whole(&inside(root, name)?, contents.as_bytes())?;
        }
        Ok(Written {
            csv: files.len(),
            ..Written::default()
        })
    }

    /// Draws the figures whose paths are wanted.
    pub(crate) fn write_figures(
        &self,
        root: &Path,
        options: &FigureOptions,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Written> {
        let figures = if options.no_figures {
            Vec::new()
        } else {
            describe(&self.results, &self.document.command, self.seed())
        };
        report_page::write_figures(figures, root, options, is_wanted)
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

    /// Draws the maps of the embeddings.
    pub fn draw_maps(&self, root: &Path, figures: &FigureOptions) -> Result<()> {
        report_page::draw_maps(self, root, figures).map(|_| ())
    }

    /// Files outside the folder of the analysis, which the request named.
    pub fn other_files(&self) -> Vec<PathBuf> {
        self.extra.other_files(&self.results)
    }

    /// Whether there is anything to keep beside the document.
    pub fn has_samples(&self) -> bool {
        !self.results.samples.is_empty() || !self.results.classes.is_empty()
    }

    /// The seed that the document names. Predictions that were stored have none.
    pub(crate) fn seed(&self) -> Option<u64> {
        let spec = &self.document.spec;
        let is_stored = self.document.command == Kind::Perturb.name() && spec.get("masks").is_none();
        spec.get("seed")
            .filter(|_| !is_stored)
            .and_then(serde_json::Value::as_u64)
    }
}

/// The summary of a label retrieval, our table, and what the numbers say.
fn retrieval(results: &Results, format: Format, terminal: Terminal) -> String {
    let Terminal {
        width,
        color,
        quiet,
        all,
    } = terminal;
    if format != Format::Table {
        return retrieval_table(results, all, format, 0, Color::No);
    }
    let summary = retrieval_summary(results);
    if quiet {
        return summary;
    }
    let table = retrieval_table(results, all, format, width, color);
    let readings: String = retrieval_readings(results, all)
        .iter()
        .map(|text| wrap(text, width, "- "))
        .collect();
    format!("{}\n\n{}\n\n{readings}", summary.trim_end(), table.trim_end())
}

/// A results document, given by its path or by its folder.
pub fn document_in(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join("results.json")
    } else {
        path.to_path_buf()
    }
}

impl Written {
    pub(crate) fn of_figures(figures: &[NamedFigure], options: &FigureOptions) -> Self {
        let formats: Vec<&str> = options.formats().into_iter().map(FigureFormat::name).collect();
        Written {
            csv: 0,
            figures: figures.len(),
            formats: formats.join(", "),
            missing: figures
                .iter()
                .flat_map(|named| missing_letters(&named.figure))
                .collect(),
        }
    }

    /// Adds what else was written.
    pub fn add(&mut self, other: Written) {
        self.csv += other.csv;
        self.figures += other.figures;
        self.formats = other.formats;
        self.missing.extend(other.missing);
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
            let missing: Vec<String> = self.missing.iter().map(|c| c.escape_unicode().to_string()).collect();
            let missing = if missing.is_empty() {
                String::new()
            } else {
                format!("; no font here has {}, written so in png and pdf", missing.join(" "))
            };
            parts.push(format!(
                "{} ({}{missing})",
                counted(self.figures, "figure"),
                self.formats
            ));
        }
        parts.join(", ")
    }
}

/// A figure by its name, the last part of it, or the name of its analysis.
fn find<'a>(all: &'a [(String, NamedFigure)], name: &str) -> Result<&'a NamedFigure> {
    let is_last = |path: &str| path.rsplit('/').next() == Some(name);
    let found = all
        .iter()
        .find(|(_, named)| named.path == name)
        .or_else(|| all.iter().find(|(_, named)| is_last(&named.path)))
        .or_else(|| all.iter().find(|(analysis, _)| analysis == name));
    match found {
        Some((_, named)) => Ok(named),
        None if all.is_empty() => bail!("these results have no figures"),
        None => {
            let known = list(all.iter().map(|(_, named)| named.path.as_str()));
            bail!("there is no figure `{name}`; there are {known}")
        }
    }
}
