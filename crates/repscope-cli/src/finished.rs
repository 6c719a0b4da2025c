// SPDX-License-Identifier: MIT
//! What can be made of finished results without computing: tables, figures, the page, and all files.

use std::path::Path;

use anyhow::{Context, Result, bail};
use repscope_figures::Width;
use repscope_io::{ResultsDocument, write_whole};
use repscope_render::{Format, NamedFigure};

use crate::args::{FigureFormat, FigureOptions};
use crate::commands::compare::COMPARE;
use crate::commands::report;
use crate::evaluation::folder;
use crate::figure_files::{self, describe};
use crate::outputs::{Finished, Written};
use crate::report_page;
use crate::search::list;

/// What a figure is drawn as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FigureFile {
    /// Pixels.
    Png,
    /// Shapes for the web.
    Svg,
    /// Shapes for print.
    Pdf,
}

/// Reads a results document, and the samples beside it where there are some.
pub fn open(path: &Path) -> Result<Finished> {
    let path = if path.is_dir() {
        path.join("results.json")
    } else {
        path.to_path_buf()
    };
    let document = ResultsDocument::read(&path)?;
    folder::with_samples(document, path.parent().unwrap_or(Path::new("")), false)
}

impl Finished {
    /// The scores as text.
    pub fn table(&self, format: Format) -> String {
        report::table(self, &self.results, format, false)
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
    /// width in millimetres, or that of two columns.
    pub fn figure(&self, name: &str, file: FigureFile, width: Option<f64>) -> Result<Vec<u8>> {
        let all = self.all_figures();
        let is_last = |path: &str| path.rsplit('/').next() == Some(name);
        let found = all
            .iter()
            .find(|(_, named)| named.path == name)
            .or_else(|| all.iter().find(|(_, named)| is_last(&named.path)))
            .or_else(|| all.iter().find(|(analysis, _)| analysis == name));
        let Some((_, named)) = found else {
            if all.is_empty() {
                bail!("these results have no figures");
            }
            bail!(
                "there is no figure `{name}`; there are {}",
                list(all.iter().map(|(_, named)| named.path.as_str()))
            );
        };
        let format = match file {
            FigureFile::Png => FigureFormat::Png,
            FigureFile::Svg => FigureFormat::Svg,
            FigureFile::Pdf => FigureFormat::Pdf,
        };
        let options = FigureOptions {
            no_figures: false,
            figure_format: vec![format],
            figure_width: match width {
                None => Width::TwoColumns,
                Some(mm) if (40.0..=1000.0).contains(&mm) => Width::Millimetres(mm),
                Some(mm) => bail!("a figure of {mm} mm cannot be drawn; use 40 to 1000 (88 is a column, 180 are two)"),
            },
        };
        let drawn = figure_files::draw(std::slice::from_ref(named), &options, |_| true)?;
        let (_, bytes) = drawn.into_iter().next().context("nothing was drawn")?;
        Ok(bytes)
    }

    /// Writes everything below a folder, as the command would have: CSV files, figures, samples, page and document.
    pub fn save(&self, folder: &Path, with_figures: bool) -> Result<()> {
        let figures = FigureOptions {
            no_figures: !with_figures,
            figure_format: vec![FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf],
            figure_width: Width::TwoColumns,
        };
        self.write_all(folder, &figures)?;
        let page = if self.document.command == COMPARE {
            folder.join(COMPARE)
        } else {
            folder.to_path_buf()
        };
        write_whole(&page.join("report.html"), self.html().as_bytes())?;
        self.write_document(folder)
    }

    /// Writes CSV files and figures of all analyses, and the maps.
    pub(crate) fn write_all(&self, root: &Path, figures: &FigureOptions) -> Result<Written> {
        let mut written = Written::default();
        if self.document.command == COMPARE {
            written.add(self.write_tables(root)?);
            written.add(report_page::draw(self, &root.join(COMPARE), figures)?);
            return Ok(written);
        }
        for part in report_page::analyses(self) {
            written.add(part.write_files(root, figures)?);
        }
        written.add(report_page::draw_maps(self, root, figures)?);
        Ok(written)
    }

    /// Every figure, with the analysis that it belongs to.
    fn all_figures(&self) -> Vec<(String, NamedFigure)> {
        let mut all = Vec::new();
        for part in report_page::analyses(self) {
            let own = describe(&part.results, &part.document.command, part.seed());
            all.extend(own.into_iter().map(|named| (part.document.command.clone(), named)));
        }
        let maps = report_page::maps(self);
        all.extend(maps.into_iter().map(|named| ("map".to_string(), named)));
        all
    }
}
