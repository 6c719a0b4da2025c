// SPDX-License-Identifier: MIT
//! Positions of bars and boxes: groups along one direction, values along the other.

use crate::content::Orientation;
use crate::plan::Frame;
use crate::svg::Rect;

/// Groups of members in a plot.
pub(crate) struct Slots<'a> {
    pub frame: &'a Frame<'a>,
    pub orientation: Orientation,
    pub groups: usize,
    pub members: usize,
    /// Share of a group that its members fill.
    pub filled: f64,
    /// Members are no thicker than this: two bars in a wide plot would be slabs.
    pub thickest: f64,
}

impl Slots<'_> {
    /// Length of the plot along the groups.
    fn length(&self) -> f64 {
        match self.orientation {
            Orientation::Vertical => self.frame.plot.width,
            Orientation::Horizontal => self.frame.plot.height,
        }
    }

    /// Length of one group with the blanks beside it.
    pub fn slot(&self) -> f64 {
        self.length() / self.groups as f64
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

    /// Middle of one member's place.
    pub fn middle(&self, group: usize, member: usize) -> f64 {
        self.group(group).0 + (member as f64 + 0.5) * self.thickness()
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
        Rect {
            x: x0.min(x1),
            y: y0.min(y1),
            width: (x1 - x0).abs(),
            height: (y1 - y0).abs(),
        }
    }
}
