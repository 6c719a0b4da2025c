// SPDX-License-Identifier: MIT
//! Operators that slide a window: what their attributes leave out is filled in.

use super::super::builder::Attribute;
use super::node::Node;
use super::scope::Scope;
use crate::error::{Result, unsupported};

/// A window along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    pub size: i64,
    pub step: i64,
    pub dilation: i64,
    pub before: i64,
    pub after: i64,
}

/// Axes beyond this are in no model.
const MOST: usize = 16;

/// Fills in what is left out of a convolution or a pooling. Says whether anything was.
pub(super) fn canonical(node: &mut Node, scope: &Scope) -> Result<bool> {
    let is_convolution = matches!(node.op, "Conv" | "ConvTranspose" | "ConvInteger");
    if !is_convolution && !matches!(node.op, "MaxPool" | "AveragePool" | "LpPool") {
        return Ok(false);
    }
    let sizes = match node.ints("kernel_shape")? {
        Some(sizes) if !sizes.is_empty() => sizes,
        _ => {
            let weight = node.input(1).and_then(|name| scope.constant(name));
            let Some(sizes) = weight.and_then(|dims| dims.get(2..)).filter(|_| is_convolution) else {
                return Ok(false);
            };
            sizes.to_vec()
        }
    };
    let axes = sizes.len();
    if axes == 0 || axes > MOST {
        return Ok(false);
    }
    let mut is_changed = fill(node, "kernel_shape", &sizes)?;
    is_changed |= fill(node, "strides", &vec![1; axes])?;
    if is_convolution {
        is_changed |= fill(node, "dilations", &vec![1; axes])?;
    }
    Ok(is_changed | padding(node, &sizes)?)
}

/// `SAME_…` as numbers where they do not depend on the input.
fn padding(node: &mut Node, sizes: &[i64]) -> Result<bool> {
    let rule = node.text("auto_pad")?.unwrap_or_default();
    if !rule.starts_with("SAME") || node.op == "ConvTranspose" {
        return Ok(false);
    }
    let is_lower = rule == "SAME_LOWER";
    let steps = node.ints("strides")?.unwrap_or_default();
    if steps.iter().any(|&step| step != 1) {
        return match (is_lower, sizes.len()) {
            (false, ..=2) => Ok(false),
            _ => Err(unsupported(&format!("{} with auto_pad = {rule} and strides", node.op))),
        };
    }
    let dilations = node.ints("dilations")?.unwrap_or_else(|| vec![1; sizes.len()]);
    let total = |(&size, &dilation): (&i64, &i64)| size.saturating_sub(1).saturating_mul(dilation).max(0);
    let totals: Vec<i64> = sizes.iter().zip(&dilations).map(total).collect();
    let before = totals.iter().map(|total| (total + i64::from(is_lower)) / 2);
    let after = totals.iter().map(|total| (total + i64::from(!is_lower)) / 2);
    let pads: Vec<i64> = before.chain(after).collect();
    node.remove(&["auto_pad"]);
    node.set("pads", Attribute::Ints(&pads));
    Ok(true)
}

fn fill<'a>(node: &mut Node<'a>, name: &'a str, values: &[i64]) -> Result<bool> {
    if node.ints(name)?.is_some_and(|there| !there.is_empty()) {
        return Ok(false);
    }
    node.set(name, Attribute::Ints(values));
    Ok(true)
}

/// The windows of a node whose attributes are filled in; none where they do not fit together.
pub(super) fn windows(node: &Node) -> Result<Option<Vec<Window>>> {
    let sizes = node.ints("kernel_shape")?.unwrap_or_default();
    let axes = sizes.len();
    let or = |values: Option<Vec<i64>>, value: i64, count: usize| match values {
        Some(values) if !values.is_empty() => values,
        _ => vec![value; count],
    };
    let steps = or(node.ints("strides")?, 1, axes);
    let dilations = or(node.ints("dilations")?, 1, axes);
    let pads = or(node.ints("pads")?, 0, 2 * axes);
    if axes == 0 || axes > MOST || steps.len() != axes || dilations.len() != axes || pads.len() != 2 * axes {
        return Ok(None);
    }
    let window = |i: usize| Window {
        size: sizes[i],
        step: steps[i],
        dilation: dilations[i],
        before: pads[i],
        after: pads[axes + i],
    };
    let windows: Vec<Window> = (0..axes).map(window).collect();
    // A file may state anything: what follows writes a node for each place of a window.
    let is_sound = |w: &Window| {
        (1..=256).contains(&w.size)
            && (1..=1 << 30).contains(&w.step)
            && (1..=1 << 20).contains(&w.dilation)
            && (0..=1 << 30).contains(&w.before)
            && (0..=1 << 30).contains(&w.after)
    };
    Ok(windows.iter().all(is_sound).then_some(windows))
}

impl Window {
    /// From its first place to its last one.
    pub(super) fn span(&self) -> i64 {
        (self.size - 1) * self.dilation + 1
    }

    /// Whether it takes one value at each place.
    pub(super) fn is_plain(&self) -> bool {
        self.size == 1 && self.step == 1 && self.before == 0 && self.after == 0
    }
}
