// SPDX-License-Identifier: MIT
//! Positions of bars and boxes: groups along one direction, values along the other.

use super::bars::upright_height;
use crate::content::Orientation;
use crate::names::{names_beside, slot_beside};
use crate::plan::{AxisPlan, Draw, Frame, Plan, Scene, Shown};
use crate::svg::Rect;

/// More groups than this may lie close together.
const MOST_APART: usize = 8;

/// Groups of bars or boxes: a group for each category, or for each series where there are no categories.
pub(crate) struct Groups {
    /// Names of the groups.
    pub names: Vec<String>,
    pub members: usize,
    pub by_series: bool,
    pub vertical: bool,
    series: Vec<usize>,
}

impl Groups {
    pub fn new(scene: &Scene, categories: &[String], series: Vec<usize>, orientation: Orientation) -> Self {
        let by_series = categories.is_empty();
        let names = || series.iter().map(|series| scene.name(*series).to_string());
        Self {
            names: if by_series {
                names().collect()
            } else {
                categories.to_vec()
            },
            members: if by_series { 1 } else { series.len() },
            by_series,
            vertical: orientation == Orientation::Vertical,
            series,
        }
    }

    /// Height of the plot for its width, where each member needs `thick`.
    pub fn height(&self, thick: f64, names: f64, em: f64) -> impl Fn(f64) -> f64 + use<> {
        let slot = (self.members as f64 * thick).max(slot_beside(&self.names, names, em));
        let natural = (self.names.len() as f64 * slot + 1.5 * em).max(7.0 * em);
        let vertical = self.vertical;
        move |wide| if vertical { upright_height(wide, em) } else { natural }
    }

    /// Height of many flat groups with as little room between them as their names allow; `None` where names need more.
    pub fn close_height(&self, names: f64, em: f64) -> Option<f64> {
        let groups = self.names.len();
        let line = if groups > 2 * MOST_APART { 1.3 } else { 1.45 };
        let slot = (0.5 * self.members as f64).max(line) * em;
        let is_many = self.by_series && !self.vertical && groups > MOST_APART;
        let fits = is_many && names_beside(&self.names, slot, names, em, true).is_some();
        fits.then_some(groups as f64 * slot + 0.8 * em)
    }

    /// A plot of these groups along one axis and numbers along the other.
    pub fn plan<'a>(self, numbers: AxisPlan, label: &str, draw: Draw<'a>) -> Plan<'a> {
        let named = AxisPlan::Names {
            names: self.names,
            label: label.to_string(),
            of_series: self.by_series,
            elsewhere: false,
        };
        let (x, y) = if self.vertical {
            (named, numbers)
        } else {
            (numbers, named)
        };
        Plan {
            grid_x: !self.vertical,
            grid_y: self.vertical,
            ..Plan::new(x, y, draw).with_series(self.series.into_iter(), Shown::FILL)
        }
    }
}

/// Groups of members in a plot.
pub(crate) struct Slots<'a> {
    pub frame: &'a Frame<'a>,
    pub orientation: Orientation,
    pub groups: usize,
    pub members: usize,
    /// Whether each row is a group of its own.
    pub by_series: bool,
    /// Share of a group that its members fill.
    pub filled: f64,
    /// Members are no thicker than this: two bars in a wide plot would be slabs.
    pub thickest: f64,
}

impl Slots<'_> {
    /// Length of one group with the blanks beside it.
    pub fn slot(&self) -> f64 {
        let length = match self.orientation {
            Orientation::Vertical => self.frame.plot.width,
            Orientation::Horizontal => self.frame.plot.height,
        };
        length / self.groups as f64
    }

    /// Thickness of one member's place.
    pub fn thickness(&self) -> f64 {
        (self.filled * self.slot() / self.members as f64).min(self.thickest)
    }

    /// Start and end of a group's members along the groups.
    pub fn group(&self, group: usize) -> (f64, f64) {
        let middle = (group as f64 + 0.5) * self.slot();
        let half = self.members as f64 * self.thickness() / 2.0;
        (middle - half, middle + half)
    }

    /// Middle of the place that a position of a row has; `None` beyond the last group.
    pub fn middle(&self, row: usize, position: usize) -> Option<f64> {
        let (group, member) = match self.by_series {
            // A row is a group; it may have a place for each category.
            true => (row, position.min(self.members - 1)),
            false => (position, row),
        };
        (group < self.groups).then(|| self.group(group).0 + (member as f64 + 0.5) * self.thickness())
    }

    /// A point of the page from a place along the groups and a value.
    pub fn point(&self, along: f64, value: f64) -> (f64, f64) {
        let plot = self.frame.plot;
        match self.orientation {
            Orientation::Vertical => (plot.x + along, self.frame.py(value)),
            Orientation::Horizontal => (self.frame.px(value), plot.y + along),
        }
    }

    /// The rectangle between two places and two values.
    pub fn rect(&self, from: f64, to: f64, low: f64, high: f64) -> Rect {
        let ((x0, y0), (x1, y1)) = (self.point(from, low), self.point(to, high));
        Rect::new(x0.min(x1), y0.min(y1), (x1 - x0).abs(), (y1 - y0).abs())
    }
}
