// SPDX-License-Identifier: MIT
//! A tree of names: what is joined farther left is more alike.

use super::words;
use crate::content::{Merge, Tree};
use crate::figure::{Axis, Scale};
use crate::number::number;
use crate::plan::{AxisPlan, Frame, Plan, Scene};
use crate::svg::{Stroke, Svg};
use crate::ticks::{Range, drawable};

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, tree: &'a Tree) -> Plan<'a> {
    let Some(joins) = joins(tree) else {
        return words::plan(scene, "No values were given.".to_string());
    };
    let axis = Axis::linear(&tree.label).covering(&[0.0]);
    let range = Range::new(&axis, tree.merges.iter().map(|merge| merge.at), [0.0, 0.04]);
    let mut plan = Plan::new(
        AxisPlan::numbers(range, &axis),
        AxisPlan::names(&tree.names, ""),
        Box::new(move |frame, svg| draw(scene, tree, &joins, frame, svg)),
    );
    (plan.grid_x, plan.grid_y) = (true, false);
    let natural = tree.names.len() as f64 * 1.6 * scene.em + scene.em;
    plan.height = Box::new(move |_| natural.max(6.0 * scene.em));
    plan
}

/// A join: what it joins, each by its slot from the top and its height, and its own height.
struct Join {
    ends: [(f64, f64); 2],
    at: f64,
}

/// The joins; none where the tree is not one: a node that does not exist yet, or a height that cannot be drawn.
fn joins(tree: &Tree) -> Option<Vec<Join>> {
    let mut nodes: Vec<(f64, f64)> = (0..tree.names.len()).map(|slot| (slot as f64 + 0.5, 0.0)).collect();
    let mut joins = Vec::new();
    for Merge { left, right, at } in &tree.merges {
        let ends = [*nodes.get(*left)?, *nodes.get(*right)?];
        if !drawable(*at, Scale::Linear) {
            return None;
        }
        nodes.push((f64::midpoint(ends[0].0, ends[1].0), *at));
        joins.push(Join { ends, at: *at });
    }
    (!joins.is_empty()).then_some(joins)
}

fn draw(scene: &Scene, tree: &Tree, joins: &[Join], frame: &Frame, svg: &mut Svg) {
    let stroke = Stroke::solid(scene.ink.text, 0.12 * scene.em);
    let slot = frame.plot.height / tree.names.len() as f64;
    let y = |place: f64| frame.plot.y + place * slot;
    for join in joins {
        let x = frame.px(join.at);
        for (place, from) in join.ends {
            svg.line((frame.px(from), y(place)), (x, y(place)), &stroke);
        }
        let [(above, _), (below, _)] = join.ends;
        let d = format!("M{:.2} {:.2}V{:.2}", x, y(above), y(below));
        svg.path(&d, "none", 1.0, Some(&stroke), &number(join.at));
    }
}
