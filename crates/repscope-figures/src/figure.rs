// SPDX-License-Identifier: MIT
//! What a figure shows, as plain data: panels in a grid, the names of the series they share, and words around them.

use serde::Serialize;

use crate::content::Content;

/// One figure, drawn as one SVG, PNG or PDF.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Figure {
    /// A heading above all panels; empty for none, as in papers.
    pub title: String,
    /// What a screen reader says of the figure, and the PDF's title; the heading is used when this is empty.
    pub description: String,
    /// Row by row. A panel that does not fit the rest of a row starts the next one.
    pub panels: Vec<Panel>,
    /// Panels side by side, at most; fewer where the figure is narrow. 0 counts as 1.
    pub columns: usize,
    /// Names of the series (mostly models). The index is the look: color, marker, dash and hatch are the same in all
    /// panels.
    pub series: Vec<String>,
    /// Where the names of the series are explained.
    pub legend: Legend,
    /// Whether panels are marked a, b, c.
    pub letters: Letters,
    /// Sentences below the figure: what was left out, what an interval is.
    pub notes: Vec<String>,
}

impl Figure {
    /// The heading, or else the description; and the other way round.
    pub(crate) fn names(&self) -> [&str; 2] {
        let (title, description) = (self.title.as_str(), self.description.as_str());
        [
            if title.is_empty() { description } else { title },
            if description.is_empty() { title } else { description },
        ]
    }
}

/// Where the names of the series are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Legend {
    /// Below the panels, if a panel shows a series that its own axis does not name.
    #[default]
    Auto,
    /// Below the panels, with all series.
    Below,
    /// Above the panels, with all series.
    Above,
    /// Nowhere.
    Hidden,
}

/// Whether panels are marked a, b, c.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Letters {
    /// Yes, from two panels on.
    #[default]
    Shown,
    /// No.
    Hidden,
}

/// One cell of the grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Above the panel; empty for none.
    pub title: String,
    /// What is drawn.
    pub content: Content,
    /// Columns of the grid it takes; cut to the columns there are.
    pub span: usize,
    /// A sentence below the panel, for instance why values are missing; empty for none.
    pub note: String,
}

impl Panel {
    /// A panel of one column without a note.
    pub fn new(title: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            title: title.into(),
            content: content.into(),
            span: 1,
            note: String::new(),
        }
    }

    /// The same panel over several columns.
    pub fn span(mut self, columns: usize) -> Self {
        self.span = columns;
        self
    }

    /// The same panel with a sentence below it.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// An axis with numbers. Limits and ticks follow from the data.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Equal steps or equal factors.
    pub scale: Scale,
    /// Values the axis must reach besides the data, such as 0 and 1. They never cut data off.
    pub covers: Vec<f64>,
}

impl Axis {
    /// An axis with equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// An axis with equal factors. Values that are not positive are left out, and the panel says how many.
    pub fn log(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Log,
            ..Self::default()
        }
    }

    /// The same axis, reaching these values too.
    pub fn covering(mut self, values: &[f64]) -> Self {
        self.covers.extend_from_slice(values);
        self
    }
}

/// Equal steps or equal factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors.
    Log,
}
