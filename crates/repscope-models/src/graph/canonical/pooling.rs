// SPDX-License-Identifier: MIT
//! Pooling with gaps between the places of a window: the maximum of as many slices as the window has places, one axis after the other.

use super::super::builder::Attribute;
use super::node::Node;
use super::windows::{Window, windows};
use super::writer::Writer;
use crate::error::{Result, unsupported};

/// Puts a `MaxPool` with dilations in other words. Says whether the node was one.
pub(super) fn dilated(node: &Node, writer: &mut Writer) -> Result<bool> {
    if !matches!(node.op, "MaxPool" | "AveragePool") {
        return Ok(false);
    }
    if node.op == "MaxPool" && node.outputs.get(1).is_some_and(|name| !name.is_empty()) {
        return Err(unsupported("MaxPool with indices"));
    }
    let (Some(windows), Some(input), [output, ..]) = (windows(node)?, node.input(0), node.outputs.as_slice()) else {
        return Ok(false);
    };
    if windows.iter().all(|window| window.dilation == 1) {
        return Ok(false);
    }
    if node.op == "AveragePool" {
        return Err(unsupported("AveragePool with dilations"));
    }
    let is_rounded_up = node.int("ceil_mode")? == Some(1);
    let mut value = input.to_string();
    for (at, window) in windows.iter().enumerate() {
        let more = if is_rounded_up { window.step - 1 } else { 0 };
        if is_rounded_up && window.after + window.step > window.span() {
            return Err(unsupported("MaxPool with dilations and windows beyond the end"));
        }
        value = along(&value, at as i64 + 2, windows.len(), window, more, writer);
    }
    writer.last("Identity", &[&value], &[], output);
    Ok(true)
}

fn along(value: &str, axis: i64, axes: usize, window: &Window, more: i64, writer: &mut Writer) -> String {
    if window.is_plain() {
        return value.to_string();
    }
    let padded = pad(
        value,
        axis,
        axes,
        (window.before, window.after + more),
        f32::NEG_INFINITY,
        writer,
    );
    let parts = places(&padded, axis, window, writer);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    writer.node("Max", &parts, &[])
}

/// A value with room before and after along one axis.
pub(super) fn pad(
    value: &str,
    axis: i64,
    axes: usize,
    (before, after): (i64, i64),
    filler: f32,
    writer: &mut Writer,
) -> String {
    if (before, after) == (0, 0) {
        return value.to_string();
    }
    let rank = axes + 2;
    let mut pads = vec![0; 2 * rank];
    pads[axis as usize] = before;
    pads[rank + axis as usize] = after;
    let (pads, filler) = (writer.ints(&pads), writer.number(filler));
    writer.node(
        "Pad",
        &[value, &pads, &filler],
        &[("mode", Attribute::Text("constant"))],
    )
}

/// What each place of the window sees: slices of one size.
pub(super) fn places(value: &str, axis: i64, window: &Window, writer: &mut Writer) -> Vec<String> {
    let place = |at: i64| {
        let behind = (window.size - 1 - at) * window.dilation;
        let to = if behind == 0 { i64::MAX } else { -behind };
        (at * window.dilation, to)
    };
    (0..window.size)
        .map(|at| {
            let (from, to) = place(at);
            writer.slice(value, axis, from, to, window.step)
        })
        .collect()
}
