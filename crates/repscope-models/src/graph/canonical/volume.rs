// SPDX-License-Identifier: MIT
//! Convolution and pooling over three axes (video), written with those over two.

use super::super::builder::Attribute;
use super::int;
use super::node::Node;
use super::pooling::{pad, places};
use super::scope::Scope;
use super::windows::{Window, windows};
use super::writer::Writer;
use crate::error::{Result, unsupported};

/// Puts a convolution or a pooling over three axes in other words. Says whether the node was one.
pub(super) fn flat(node: &Node, scope: &Scope, writer: &mut Writer) -> Result<bool> {
    if !matches!(
        node.op,
        "Conv" | "ConvTranspose" | "ConvInteger" | "MaxPool" | "AveragePool"
    ) {
        return Ok(false);
    }
    let weight = node.input(1).and_then(|name| scope.constant(name)).map(<[i64]>::len);
    let windows = windows(node)?.filter(|windows| windows.len() == 3);
    let (Some(windows), Some(input), [output, ..]) = (windows, node.input(0), node.outputs.as_slice()) else {
        if weight == Some(5) {
            return Err(unsupported(&format!("{} over three axes without its sizes", node.op)));
        }
        return Ok(false);
    };
    match node.op {
        "Conv" => convolution(node, input, &windows, output, writer)?,
        "MaxPool" | "AveragePool" => pooling(node, input, &windows, output, writer)?,
        op => return Err(unsupported(&format!("{op} over three axes"))),
    }
    Ok(true)
}

/// The frames that the window sees become channels: (N, C, D, H, W) to (N D', C k, H, W). The weights, (M, C, k, h, w), have the
/// same order.
fn convolution(node: &Node, input: &str, windows: &[Window], output: &str, writer: &mut Writer) -> Result<()> {
    let (Some(weight), [time, height, width]) = (node.input(1), windows) else {
        return Err(unsupported("Conv without weights"));
    };
    let padded = pad(input, 2, 3, (time.before, time.after), 0.0, writer);
    let two = writer.ints(&[2]);
    let frames: Vec<String> = places(&padded, 2, time, writer)
        .iter()
        .map(|frame| writer.node("Unsqueeze", &[frame, &two], &[]))
        .collect();
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    // (N, C, k, D', H, W)
    let stacked = writer.node("Concat", &frames, &[("axis", int(2))]);
    let turned = writer.node(
        "Transpose",
        &[&stacked],
        &[("perm", Attribute::Ints(&[0, 3, 1, 2, 4, 5]))],
    );
    let (rows, times) = (writer.sizes(&turned, 0, 1), writer.sizes(&turned, 1, 2));
    let (channels, places) = (writer.sizes(&turned, 2, 3), writer.sizes(&turned, 3, 4));
    let plane = writer.sizes(&turned, 4, 6);
    let images = writer.node("Mul", &[&rows, &times], &[]);
    let deep = writer.node("Mul", &[&channels, &places], &[]);
    let shape = writer.joined(&[&images, &deep, &plane]);
    let images = writer.node("Reshape", &[&turned, &shape], &[]);
    let shape = writer.ints(&[0, -1, height.size, width.size]);
    let flat = writer.node("Reshape", &[weight, &shape], &[]);
    let mut inputs = vec![images.as_str(), flat.as_str()];
    inputs.extend(node.input(2));
    let made = writer.node(
        "Conv",
        &inputs,
        &[
            ("kernel_shape", Attribute::Ints(&[height.size, width.size])),
            ("strides", Attribute::Ints(&[height.step, width.step])),
            ("dilations", Attribute::Ints(&[height.dilation, width.dilation])),
            (
                "pads",
                Attribute::Ints(&[height.before, width.before, height.after, width.after]),
            ),
            ("group", int(node.int("group")?.unwrap_or(1))),
        ],
    );
    let rest = writer.sizes(&made, 1, 4);
    let shape = writer.joined(&[&rows, &times, &rest]);
    let made = writer.node("Reshape", &[&made, &shape], &[]);
    writer.last(
        "Transpose",
        &[&made],
        &[("perm", Attribute::Ints(&[0, 2, 1, 3, 4]))],
        output,
    );
    Ok(())
}

/// Over height and width, then over time: the maximum of maxima, and the mean of means, also where only what is inside counts.
fn pooling(node: &Node, input: &str, windows: &[Window], output: &str, writer: &mut Writer) -> Result<()> {
    let [time, height, width] = windows else {
        return Ok(());
    };
    let rounded = int(node.int("ceil_mode")?.unwrap_or(0));
    let counted = int(node.int("count_include_pad")?.unwrap_or(0));
    let pool = |value: &str, [a, b]: [&Window; 2], writer: &mut Writer| {
        let (sizes, steps) = ([a.size, b.size], [a.step, b.step]);
        let pads = [a.before, b.before, a.after, b.after];
        let mut attributes = vec![
            ("kernel_shape", Attribute::Ints(&sizes)),
            ("strides", Attribute::Ints(&steps)),
            ("pads", Attribute::Ints(&pads)),
            ("ceil_mode", rounded),
        ];
        if node.op == "AveragePool" {
            attributes.push(("count_include_pad", counted));
        }
        writer.node(node.op, &[value], &attributes)
    };
    let (same, rest) = (writer.ints(&[0]), writer.ints(&[-1]));
    let plane = writer.sizes(input, 3, 5);
    let shape = writer.joined(&[&same, &rest, &plane]);
    let frames = writer.node("Reshape", &[input, &shape], &[]);
    let frames = pool(&frames, [height, width], writer);
    let sizes = writer.sizes(input, 0, 3);
    let shape = writer.joined(&[&sizes, &rest]);
    let lines = writer.node("Reshape", &[&frames, &shape], &[]);
    let alone = Window {
        size: 1,
        step: 1,
        dilation: 1,
        before: 0,
        after: 0,
    };
    let lines = pool(&lines, [time, &alone], writer);
    let (sizes, plane) = (writer.sizes(&lines, 0, 3), writer.sizes(&frames, 2, 4));
    let shape = writer.joined(&[&sizes, &plane]);
    writer.last("Reshape", &[&lines, &shape], &[], output);
    Ok(())
}
