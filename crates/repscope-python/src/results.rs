// SPDX-License-Identifier: MIT
//! Results of a call, from which tables, figures and pages are made.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use repscope_cli::{FigureFile, Finished, Format, open};

use crate::errors::{InputError, exception};
use crate::running::pool;

/// Results that are kept on the Rust side.
#[pyclass(frozen, module = "repscope._repscope")]
pub struct Run {
    finished: Finished,
}

impl Run {
    pub fn new(finished: Finished) -> Self {
        Run { finished }
    }

    /// Works on the results without Python's lock, on threads of its own.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Finished) -> anyhow::Result<T> + Send) -> PyResult<T> {
        let pool = pool(None)?;
        py.detach(|| pool.install(|| work(&self.finished)))
            .map_err(|error| exception(&error))
    }
}

#[pymethods]
impl Run {
    /// The results document, as JSON.
    fn document(&self, py: Python<'_>) -> String {
        py.detach(|| self.finished.document.to_json())
    }

    /// The scores as a table: table, markdown, latex or csv.
    fn table(&self, py: Python<'_>, format: &str) -> PyResult<String> {
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
        Ok(py.detach(|| self.finished.table(format)))
    }

    /// The names of the figures that can be drawn.
    fn figure_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |finished| Ok(finished.figure_names()))
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
            "png" => FigureFile::Png,
            "svg" => FigureFile::Svg,
            "pdf" => FigureFile::Pdf,
            other => {
                return Err(InputError::new_err(format!(
                    "a figure cannot be drawn as `{other}`; use png, svg or pdf"
                )));
            }
        };
        let bytes = self.with(py, |finished| finished.figure(name, file, width))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The HTML page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |finished| Ok(finished.html()))
    }

    /// Writes everything into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf, figures: bool) -> PyResult<()> {
        self.with(py, |finished| finished.save(&folder, figures))
    }

    /// Writes the HTML page, whole or not at all.
    fn write_html(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |finished| {
            Ok(repscope_io::write_whole(&path, finished.html().as_bytes())?)
        })
    }

    /// What single samples scored, as the bytes of an .npz file.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |finished| Ok(repscope_io::samples_to_npz(&finished.results)?))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Reads a results document.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    let finished = py.detach(|| open(&path)).map_err(|error| exception(&error))?;
    Ok(Run::new(finished))
}
