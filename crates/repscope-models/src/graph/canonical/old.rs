// SPDX-License-Identifier: MIT
//! What old versions of the operators meant, said in today's.

use std::borrow::Cow;

use super::super::builder::Attribute;
use super::int;
use super::node::Node;
use super::scope::Scope;
use super::writer::Writer;
use crate::error::{Result, unsupported};

/// Upgrades a node in place. Says whether it changed.
pub(super) fn upgrade<'a>(node: &mut Node<'a>, version: i64, scope: &Scope, writer: &mut Writer) -> Result<bool> {
    let mut is_changed = false;
    if version < 6 {
        is_changed |= node.remove(&["consumed_inputs"]);
    }
    if version < 7 {
        is_changed |= match node.op {
            "Add" | "Sub" | "Mul" | "Div" | "Pow" | "And" | "Or" | "Xor" | "Equal" | "Greater" | "Less" => {
                broadcast(node, writer)?
            }
            "Gemm" => node.remove(&["broadcast"]),
            "BatchNormalization" | "Dropout" => node.remove(&["is_test"]),
            "LSTM" | "GRU" | "RNN" => node.remove(&["output_sequence"]),
            _ => false,
        };
    }
    is_changed |= match node.op {
        // Means and variances of a training step: nobody reads them.
        "BatchNormalization" if version < 14 && node.outputs.len() > 1 => {
            node.outputs.truncate(1);
            true
        }
        "Softmax" | "LogSoftmax" if version < 13 => rows(node, scope, writer)?,
        "PRelu" => slopes(node, scope, writer),
        "Concat" if version < 4 && !node.has("axis") => {
            node.set("axis", int(1));
            true
        }
        "Cast" if version < 6 => cast(node)?,
        "Pad" if version < 2 => rename(node, "paddings", "pads")?,
        "Resize" if version == 10 => {
            node.inputs.insert(1, Cow::Borrowed(""));
            node.set("coordinate_transformation_mode", Attribute::Text("asymmetric"));
            node.set("nearest_mode", Attribute::Text("floor"));
            true
        }
        "Split" if version < 18 && !node.has("split") && node.input(1).is_none() => {
            node.set("num_outputs", int(node.outputs.len() as i64));
            true
        }
        _ => false,
    };
    if node.op == "Tile" && version < 6 {
        return Err(unsupported("Tile of version 1"));
    }
    if node.op == "Resize" && node.text("mode")?.as_deref() == Some("cubic") {
        return Err(unsupported("Resize with cubic interpolation"));
    }
    let has_size = node.int("hidden_size")?.is_some();
    if matches!(node.op, "LSTM" | "GRU")
        && !has_size
        && let Some(&[_, _, size]) = node.input(2).and_then(|name| scope.constant(name))
    {
        node.set("hidden_size", int(size));
        is_changed = true;
    }
    if node.op == "LSTM" && node.input(7).is_some() {
        return Err(unsupported("LSTM with peepholes"));
    }
    Ok(is_changed)
}

/// The second operand was aligned with the axes of the first one from `axis` on; today ones stand behind it.
fn broadcast<'a>(node: &mut Node<'a>, writer: &mut Writer) -> Result<bool> {
    let axis = node.int("axis")?;
    let is_asked = node.int("broadcast")? == Some(1);
    let is_changed = node.remove(&["broadcast", "axis"]);
    let (Some(axis), true, [first, second]) = (axis, is_asked, node.inputs.as_slice()) else {
        return Ok(is_changed);
    };
    if axis < 0 {
        return Err(unsupported(&format!(
            "{} with a negative axis of broadcasting",
            node.op
        )));
    }
    // How many axes the second one has is known where it runs: sizes of the first one behind those.
    let shape = writer.node("Shape", &[second], &[]);
    let rank = writer.node("Shape", &[&shape], &[]);
    let axis = writer.ints(&[axis]);
    let from = writer.node("Add", &[&rank, &axis], &[]);
    let all = writer.node("Shape", &[first], &[]);
    let (end, zero, one) = (writer.ints(&[i64::MAX]), writer.ints(&[0]), writer.ints(&[1]));
    let tail = writer.node("Slice", &[&all, &from, &end, &zero], &[]);
    let nothing = writer.node("Mul", &[&tail, &zero], &[]);
    let ones = writer.node("Add", &[&nothing, &one], &[]);
    let shape = writer.joined(&[&shape, &ones]);
    node.inputs[1] = writer.node("Reshape", &[second, &shape], &[]).into();
    Ok(true)
}

/// Before version 13, all axes from `axis` on were one.
fn rows(node: &mut Node, scope: &Scope, writer: &mut Writer) -> Result<bool> {
    let axis = node.int("axis")?.unwrap_or(1);
    let [input, ..] = node.inputs.as_slice() else {
        return Ok(false);
    };
    let rank = scope.rank(input).map(|rank| rank as i64);
    if axis == -1 || rank.is_some_and(|rank| axis == rank - 1) {
        let is_said = node.int("axis")? == Some(axis);
        node.set("axis", int(axis));
        return Ok(!is_said);
    }
    let shape = writer.node("Shape", &[input], &[]);
    let flat = writer.node("Flatten", &[input], &[("axis", int(axis))]);
    let op = node.op;
    let soft = writer.node(op, &[&flat], &[("axis", int(-1))]);
    node.op = "Reshape";
    node.attributes.clear();
    node.inputs = vec![soft.into(), shape.into()];
    Ok(true)
}

/// Slopes of channels: as many as the second axis of the input has, which old files, and some of today, write as a vector.
fn slopes(node: &mut Node, scope: &Scope, writer: &mut Writer) -> bool {
    let [input, slope] = node.inputs.as_slice() else {
        return false;
    };
    let Some(&[channels]) = scope.constant(slope) else {
        return false;
    };
    if channels == 1 || scope.rank(input).is_some_and(|rank| rank <= 2) {
        return false;
    }
    let (all, ones) = (writer.ints(&[-1]), writer.ones(input, 2));
    let shape = writer.joined(&[&all, &ones]);
    node.inputs[1] = writer.node("Reshape", &[slope, &shape], &[]).into();
    true
}

/// The kinds of numbers by the names they had.
fn cast(node: &mut Node) -> Result<bool> {
    let Some(name) = node.text("to")?.filter(|name| !name.is_empty()) else {
        return Ok(false);
    };
    let kinds = [
        ("FLOAT", 1),
        ("UINT8", 2),
        ("INT8", 3),
        ("INT32", 6),
        ("INT64", 7),
        ("BOOL", 9),
        ("FLOAT16", 10),
        ("DOUBLE", 11),
    ];
    let Some((_, code)) = kinds.iter().find(|(kind, _)| *kind == name) else {
        return Err(unsupported(&format!("Cast to {name}")));
    };
    node.set("to", int(*code));
    Ok(true)
}

fn rename<'a>(node: &mut Node<'a>, from: &'a str, to: &'a str) -> Result<bool> {
    let Some(values) = node.ints(from)? else {
        return Ok(false);
    };
    node.remove(&[from]);
    node.set(to, Attribute::Ints(&values));
    Ok(true)
}
