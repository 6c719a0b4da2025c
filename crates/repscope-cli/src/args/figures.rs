// SPDX-License-Identifier: MIT
//! Format and size of figures.

use clap::{Args, ValueEnum};
use repscope_figures::Width;

#[derive(Debug, Clone, Args)]
pub struct FigureOptions {
    /// Draw no figures
    #[arg(long)]
    pub no_figures: bool,
    /// Formats of the figures
    #[arg(
        long,
        value_enum,
        num_args = 1..,
        value_delimiter = ',',
        default_values = ["png", "svg", "pdf"],
        hide_possible_values = true,
        value_name = "png,svg,pdf"
    )]
    pub figure_format: Vec<FigureFormat>,
    /// Width of the figures: one column (88 mm), two columns (180 mm), or millimeters
    #[arg(long, value_parser = figure_width, default_value = "two", value_name = "one|two|MM")]
    pub figure_width: Width,
}

impl FigureOptions {
    /// The requested formats, each once.
    pub fn formats(&self) -> Vec<FigureFormat> {
        let all = [FigureFormat::Png, FigureFormat::Svg, FigureFormat::Pdf];
        all.into_iter().filter(|f| self.figure_format.contains(f)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    Png,
    Svg,
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
        Ok(mm) if (40.0..=1000.0).contains(&mm) => Ok(Width::Millimetres(mm)),
        _ => Err("it is neither one, nor two, nor a number of millimetres from 40 to 1000".to_string()),
    }
}
