// SPDX-License-Identifier: MIT
//! Where results go, and in which form.

use std::path::PathBuf;

use clap::Args;
use repscope_figures::Width;
use repscope_render::Format;
use serde::{Deserialize, Serialize};

use super::{default_options, words};

const FORMATS: &str = "table markdown latex csv json";

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
    #[arg(long, value_parser = words::<FormatChoice>(FORMATS), default_value = "table")]
    pub format: FormatChoice,
    /// Show every score, not only those that answer
    #[arg(long)]
    pub all: bool,
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
    words::<FormatChoice>(FORMATS)
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

/// Which figures are drawn, and how.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct FigureOptions {
    /// Draw no figures
    #[arg(long)]
    pub no_figures: bool,
    /// Formats of the figures
    #[arg(
        long,
        value_parser = words::<FigureFormat>("png svg pdf"),
        num_args = 1..,
        value_delimiter = ',',
        default_values = ["png", "svg", "pdf"],
        hide_possible_values = true,
        value_name = "png,svg,pdf"
    )]
    pub figure_format: Vec<FigureFormat>,
    /// Width of the figures: one column (88 mm), two columns (180 mm), or millimeters
    #[arg(long, value_parser = figure_width, default_value = "two", value_name = "one|two|MM")]
    #[serde(with = "width")]
    pub figure_width: Width,
    /// Leave out the notes below the figures (N, arrows, intervals), for papers with captions of their own
    #[arg(long)]
    pub no_caption: bool,
    /// Draw only this panel, by its letter or title, as a figure of its own (repeat for several)
    #[arg(long, value_name = "NAME")]
    pub panel: Vec<String>,
}

default_options!(FigureOptions);

impl FigureOptions {
    /// The requested formats, each once.
    pub fn formats(&self) -> Vec<FigureFormat> {
        let all = [FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf];
        all.into_iter().filter(|f| self.figure_format.contains(f)).collect()
    }
}

/// What a figure is drawn as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FigureFormat {
    /// Pixels.
    Png,
    /// Shapes for the web.
    Svg,
    /// Shapes for print.
    Pdf,
}

impl FigureFormat {
    /// The extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            FigureFormat::Png => "png",
            FigureFormat::Svg => "svg",
            FigureFormat::Pdf => "pdf",
        }
    }
}

/// `one`, `two`, or a number of millimeters.
fn figure_width(text: &str) -> Result<Width, String> {
    match text.trim_end_matches("mm").trim_end().parse::<f64>() {
        _ if text == "one" => Ok(Width::OneColumn),
        _ if text == "two" => Ok(Width::TwoColumns),
        Ok(mm) if (40.0..=1000.0).contains(&mm) => Ok(Width::Millimeters(mm)),
        _ => Err("it is neither one, nor two, nor a number of millimeters from 40 to 1000".to_string()),
    }
}

/// A width as it is typed.
mod width {
    use repscope_figures::Width;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(width: &Width, serializer: S) -> Result<S::Ok, S::Error> {
        match width {
            Width::OneColumn => serializer.serialize_str("one"),
            Width::Millimeters(mm) => serializer.collect_str(mm),
            _ => serializer.serialize_str("two"),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Width, D::Error> {
        let text = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        super::figure_width(&text).map_err(D::Error::custom)
    }
}
