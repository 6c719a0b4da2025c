// SPDX-License-Identifier: MIT
//! Figures as files: each is described once and drawn as PNG, SVG and PDF.

use anyhow::{Context, Result};
use rayon::prelude::*;
use repscope_core::Results;
use repscope_figures::{Style, to_pdf, to_png, to_svg};
use repscope_render::{NamedFigure, figures};

use crate::options::{FigureFormat, FigureOptions};

/// The figures of an analysis, with its seed below those that random choices enter.
pub fn describe(results: &Results, command: &str, seed: Option<u64>) -> Vec<NamedFigure> {
    let mut described = figures(results, command);
    if let Some(seed) = seed {
        described.iter_mut().for_each(|named| named.note_seed(seed));
    }
    described
}

/// Where a figure goes below the output folder.
pub fn path(named: &NamedFigure, format: FigureFormat) -> String {
    // Names hold dots of their own, so the extension is added and never replaces anything.
    format!("{}.{}", named.path, format.name())
}

/// Draws the figures that are `wanted`, on all threads. A path below the output folder and the bytes of each file.
pub fn draw(
    figures: &[NamedFigure],
    options: &FigureOptions,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Vec<u8>)>> {
    let style = Style {
        width: options.figure_width,
        ..Style::default()
    };
    let mut tasks = Vec::new();
    for named in figures {
        for format in options.formats() {
            let path = path(named, format);
            if wanted(&path) {
                tasks.push((named, format, path));
            }
        }
    }
    let draw = |(named, format, path): (&NamedFigure, FigureFormat, String)| {
        let bytes = match format {
            FigureFormat::Svg => to_svg(&named.figure, &style).into_bytes(),
            FigureFormat::Png => to_png(&named.figure, &style).with_context(|| format!("drawing {path}"))?,
            FigureFormat::Pdf => to_pdf(&named.figure, &style).with_context(|| format!("drawing {path}"))?,
        };
        Ok((path, bytes))
    };
    tasks.into_par_iter().map(draw).collect()
}
