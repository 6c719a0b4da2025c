// SPDX-License-Identifier: MIT
//! Where results go, and in which form.

use std::path::PathBuf;

use clap::Args;
use repscope_render::Format;
use serde::{Deserialize, Serialize};

use super::{FigureOptions, choice, default_options};

const FORMATS: &[(&str, &str)] = &[
    ("table", ""),
    ("markdown", ""),
    ("latex", ""),
    ("csv", ""),
    ("json", ""),
];

/// What becomes of results.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Outputs {
    /// Folder for results.json, CSV files and figures
    #[arg(long, default_value = "evaluation_plots", value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Print results.json on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    /// Format of the table
    #[arg(long, value_parser = choice::<FormatChoice>(FORMATS), default_value = "table")]
    pub format: FormatChoice,
    /// Which figures are drawn.
    #[command(flatten)]
    #[serde(flatten)]
    pub figures: FigureOptions,
    /// No progress bars and no advice on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum FormatChoice {
    Table,
    Markdown,
    Latex,
    Csv,
    Json,
}

default_options!(Outputs);

/// Parses the form of a table.
pub fn formats() -> impl clap::builder::TypedValueParser<Value = FormatChoice> {
    choice::<FormatChoice>(FORMATS)
}

impl Outputs {
    /// The form of the table; none where the results document is printed instead.
    pub fn table(&self) -> Option<Format> {
        match self.format {
            _ if self.json => None,
            FormatChoice::Json => None,
            FormatChoice::Table => Some(Format::Table),
            FormatChoice::Markdown => Some(Format::Markdown),
            FormatChoice::Latex => Some(Format::Latex),
            FormatChoice::Csv => Some(Format::Csv),
        }
    }
}
