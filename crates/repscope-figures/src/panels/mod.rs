// SPDX-License-Identifier: MIT
//! One file per kind of panel: what it needs and how it is drawn.

mod bar_labels;
mod bars;
mod boxes;
mod heatmap;
mod histogram;
mod images;
mod lines;
mod map;
mod scatter;
mod shares;
mod slots;
mod table;
mod tree;
mod trend;
mod words;

use crate::content::Content;
use crate::plan::{AxisPlan, Plan, Scene};
use crate::subsample::MOST_POINTS;

pub use histogram::{bin_edges, bin_shares};
pub use images::image_png;

/// What a panel may take of its figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Room {
    /// Width of its cell.
    pub width: f64,
    /// What the cell has beyond one column. It makes curves and bars wider, not higher.
    pub beyond: f64,
    /// Points it may draw.
    pub points: usize,
    /// Names left of its plot.
    pub names: Names,
}

/// Names left of a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Names {
    /// At most so wide.
    Within(f64),
    /// At the panel left of it.
    Elsewhere,
}

impl Room {
    /// How wide names may be.
    pub fn names(&self) -> f64 {
        match self.names {
            Names::Within(most) => most,
            Names::Elsewhere => f64::INFINITY,
        }
    }
}

/// What a panel needs in this room.
pub(crate) fn plan_panel<'a>(scene: &'a Scene<'a>, content: &'a Content, room: Room) -> Plan<'a> {
    let mut plan = match content {
        Content::Scatter(scatter) => scatter::plan(scene, scatter, room.points),
        Content::Lines(lines) => lines::plan(scene, lines, room),
        Content::Boxes(boxes) => boxes::plan(scene, boxes, room),
        Content::Bars(bars) => bars::plan(scene, bars, room),
        Content::Histogram(histogram) => histogram::plan(scene, histogram),
        Content::Heatmap(heatmap) => heatmap::plan(scene, heatmap, room.width),
        Content::Shares(shares) => shares::plan(scene, shares),
        Content::Tree(tree) => tree::plan(scene, tree),
        Content::Map(map) => map::plan(scene, map, room.points),
        Content::Table(table) => table::plan(scene, table),
        Content::Images(images) => images::plan(scene, images),
        Content::Text(words) => words::plan(scene, words.clone()),
    };
    let grows_wide = matches!(
        content,
        Content::Lines(_) | Content::Boxes(_) | Content::Bars(_) | Content::Histogram(_)
    );
    match (room.names, &mut plan.y) {
        (Names::Within(most), _) => plan.names_room = Some(most),
        (Names::Elsewhere, Some(AxisPlan::Names { elsewhere, .. })) => *elsewhere = true,
        _ => {}
    }
    // A panel without axes says why it is empty, in lines as wide as the cell.
    if grows_wide && plan.x.is_some() {
        let height = plan.height;
        plan.height = Box::new(move |wide| height(wide - room.beyond));
    }
    plan
}

/// Points a panel would draw if it were alone.
pub(crate) fn points_wished(content: &Content) -> usize {
    match content {
        Content::Scatter(scatter) => scatter::points_wished(scatter).iter().sum::<usize>().min(MOST_POINTS),
        Content::Map(map) => map.points.len().min(MOST_POINTS),
        _ => 0,
    }
}
