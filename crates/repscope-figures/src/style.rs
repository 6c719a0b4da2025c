// SPDX-License-Identifier: MIT
//! How a figure looks: size, letters, light or dark. Lengths inside a drawing are points, 72 to the inch.

/// How a figure looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// Colors of paper and ink.
    pub theme: Theme,
    /// Width of the whole figure; the height follows from the content.
    pub width: Width,
    /// The figure is at most this high, in millimeters, where that is possible: panels move closer together first, then letters
    /// become smaller, down to 5 points. `None`: as high as its content.
    pub most_height: Option<f64>,
    /// Whether the sentences below the figure are drawn.
    pub notes: Notes,
    /// Size of most letters in points; 7 is what journals require. Kept within 4 and 24.
    pub font_size: f64,
    /// Whether an SVG carries its font. A page with many figures embeds it once: [`font_css`](crate::font_css).
    pub font: FontIn,
    /// Whether paper is painted behind the figure.
    pub background: Background,
    /// Begins every id in the SVG, so that several can stand in one page. Only ASCII letters, digits, `-` and `_` are
    /// kept.
    pub id_prefix: String,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            theme: Theme::Light,
            width: Width::TwoColumns,
            most_height: None,
            notes: Notes::Drawn,
            font_size: 7.0,
            font: FontIn::Svg,
            background: Background::Painted,
            id_prefix: "fig".to_string(),
        }
    }
}

impl Style {
    pub(crate) fn width_points(&self) -> f64 {
        let mm = match self.width {
            Width::OneColumn => 88.0,
            Width::TwoColumns => 180.0,
            Width::Millimeters(mm) if mm.is_finite() => mm.clamp(40.0, 1000.0),
            Width::Millimeters(_) => 180.0,
        };
        mm / 25.4 * 72.0
    }

    pub(crate) fn letters(&self) -> f64 {
        if self.font_size.is_finite() {
            self.font_size.clamp(4.0, 24.0)
        } else {
            7.0
        }
    }

    pub(crate) fn id(&self, name: &str) -> String {
        let prefix: String = self
            .id_prefix
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        format!("{prefix}-{name}")
    }
}

/// Colors of paper and ink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near black.
    Dark,
}

/// Width of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Width {
    /// One column of a journal: 88 mm.
    OneColumn,
    /// The page of a journal: 180 mm.
    #[default]
    TwoColumns,
    /// Any other, kept within 40 mm and 1000 mm.
    Millimeters(f64),
}

/// Where the font of an SVG is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FontIn {
    /// In the SVG itself, reduced to the letters used.
    #[default]
    Svg,
    /// In the page around it; the SVG only names the family, with common ones behind it.
    Page,
}

/// Whether paper is painted behind the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// In the theme's paper color.
    #[default]
    Painted,
    /// Left to the page.
    Transparent,
}

/// Whether the sentences below a figure are drawn. Those below a single panel, such as why a value is missing, always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notes {
    /// Below the figure.
    #[default]
    Drawn,
    /// Left to the caption of a paper.
    LeftOut,
}
