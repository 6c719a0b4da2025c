// SPDX-License-Identifier: MIT
//! Results of a call, from which tables, figures and pages are made.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use repscope::gate::{GateOn, GateOptions, Gates};
use repscope::options::FigureFormat;
use repscope::{Format, Report, Terminal};

use crate::errors::{InputError, InternalError, exception};
use crate::running::pool;

/// Results that are kept on the Rust side.
#[pyclass(frozen, module = "repscope._repscope")]
pub struct Run {
    report: Report,
}

impl Run {
    pub fn new(report: Report) -> Self {
        Run { report }
    }

    /// Works on the results without the GIL, on a thread pool of its own.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Report) -> repscope::Result<T> + Send) -> PyResult<T> {
        let pool = pool(None)?;
        py.detach(|| pool.install(|| work(&self.report))).map_err(exception)
    }
}

#[pymethods]
impl Run {
    /// The results document, as JSON.
    fn document(&self, py: Python<'_>) -> String {
        py.detach(|| self.report.document.to_json())
    }

    /// The verdict: problems and answers as JSON, and the same in words.
    fn verdict(&self, py: Python<'_>) -> PyResult<(String, String)> {
        py.detach(|| {
            let verdict = self.report.verdict();
            let json = serde_json::to_string(&verdict).map_err(|e| InternalError::new_err(e.to_string()))?;
            let terminal = Terminal::default();
            Ok((json, verdict.render(Format::Table, terminal.width, terminal.color)))
        })
    }

    /// The scores as a table: table, markdown, latex or csv; those that answer, or all.
    fn table(&self, py: Python<'_>, format: &str, all: bool) -> PyResult<String> {
        let format = match format {
            "table" => Format::Table,
            "markdown" => Format::Markdown,
            "latex" => Format::Latex,
            "csv" => Format::Csv,
            other => {
                return Err(InputError::new_err(format!(
                    "there is no table of format `{other}`; there are table, markdown, latex and csv"
                )));
            }
        };
        let terminal = Terminal {
            all,
            ..Terminal::default()
        };
        Ok(py.detach(|| self.report.table(format, terminal)))
    }

    /// The names of the figures that can be drawn.
    fn figure_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |report| Ok(report.figure_names()))
    }

    /// A figure as png, svg or pdf.
    #[pyo3(signature = (name, format, width=None))]
    fn figure<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        format: &str,
        width: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let file = match format {
            "png" => FigureFormat::Png,
            "svg" => FigureFormat::Svg,
            "pdf" => FigureFormat::Pdf,
            other => {
                return Err(InputError::new_err(format!(
                    "a figure cannot be drawn as `{other}`; use png, svg or pdf"
                )));
            }
        };
        let bytes = self.with(py, |report| report.figure(name, file, width))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What a figure shows, as JSON.
    fn figure_description(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.with(py, |report| report.figure_description(name))
    }

    /// The HTML page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |report| Ok(report.html()))
    }

    /// Writes everything into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf, figures: bool) -> PyResult<()> {
        self.with(py, |report| report.save(&folder, figures))
    }

    /// Writes the HTML page, whole or not at all.
    fn write_html(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |report| {
            let page = report.html();
            Ok(repscope_io::write_whole(&path, page.as_bytes()).map_err(anyhow::Error::from)?)
        })
    }

    /// Whether the results keep limits, and how, as a table.
    fn gate(&self, py: Python<'_>, gates: Vec<String>, on_interval: bool) -> PyResult<(bool, String)> {
        self.with(py, |report| {
            let options = GateOptions {
                gates,
                gate_on: if on_interval { GateOn::Interval } else { GateOn::Value },
                ..GateOptions::default()
            };
            let verdict = Gates::read(&options)?.check(report);
            let terminal = Terminal::default();
            Ok((
                verdict.is_passed(),
                verdict.table(terminal.width, terminal.color).unwrap_or_default(),
            ))
        })
    }

    /// What single samples scored, as the bytes of an .npz file.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |report| {
            Ok(repscope_io::samples_to_npz(&report.results).map_err(anyhow::Error::from)?)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Reads a results document.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    let report = py.detach(|| Report::open(&path)).map_err(exception)?;
    Ok(Run::new(report))
}
