// SPDX-License-Identifier: MIT
//! Figures: a plain description to SVG, PNG and PDF.
//!
//! A [`Figure`] says what is shown: panels in a grid, the names of the series they share, sentences below. A [`Style`]
//! says how: width, letters, light or dark. [`to_svg`], [`to_png`] and [`to_pdf`] draw it; the same description gives
//! the same bytes. Limits, ticks, margins and the legend follow from the data and from measured text.
//!
//! The map: `figure` and `content` are the description. `layout` draws it: `plan` and `panels` (a file per kind of panel) say what each
//! panel needs, `grid` and `aligned` place them, `axes`, `ticks` and `legend` go around them, and `svg` writes. `text`, `number` and
//! `names` fit letters into their room, `palette` and `series_style` give series their look. `export` makes PNG and PDF (`pdf`) of
//! the SVG, with the fonts of `letters` and `subset`.
//!
//! ```
//! use repscope_figures::*;
//!
//! let score = |value, low, high| Measured { value: Some(value), interval: Some((low, high)) };
//! let bars = Bars {
//!     axis: Axis::linear("score").covering(&[0.0, 1.0]),
//!     categories: vec!["5".into(), "10".into()],
//!     category_label: "neighbors k".into(),
//!     rows: vec![
//!         BarRow { series: 0, bars: vec![score(0.93, 0.92, 0.94), score(0.91, 0.90, 0.92)] },
//!         BarRow { series: 1, bars: vec![score(0.88, 0.86, 0.90), Measured::default()] },
//!     ],
//!     ..Bars::default()
//! };
//! let figure = Figure {
//!     series: vec!["JEPA".into(), "Encoder-Decoder".into()],
//!     panels: vec![Panel::new("Trustworthiness", bars)],
//!     ..Figure::default()
//! };
//! let svg = to_svg(&figure, &Style::default());
//! assert!(svg.contains("data-model=\"JEPA\""));
//! ```
#![forbid(unsafe_code)]

mod aligned;
mod axes;
mod content;
mod export;
mod figure;
mod grid;
mod layout;
mod legend;
mod letters;
mod names;
mod number;
mod palette;
mod panels;
mod pdf;
mod plan;
mod series_style;
mod style;
mod subsample;
mod subset;
mod svg;
mod text;
mod ticks;

#[cfg(test)]
mod hard_cases;

pub use content::*;
pub use export::{Error, to_pdf, to_png, to_svg};
pub use figure::{Axis, Figure, Legend, Letters, Panel, Scale};
pub use grid::panel_letter;
pub use letters::missing_letters;
pub use number::number;
pub use palette::{CLASS_COLORS, class_color, series_color, value_color};
pub use panels::{bin_edges, bin_shares, image_png};
pub use style::{Background, FontIn, Notes, Style, Theme, Width};
pub use subsample::scramble;
pub use subset::{base64, font_css};
