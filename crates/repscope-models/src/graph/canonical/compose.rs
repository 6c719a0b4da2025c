// SPDX-License-Identifier: MIT
//! Operators that the runtime does not have, written with those that it has.

use super::super::builder::Attribute;
use super::int;
use super::node::Node;
use super::scope::Scope;
use super::windows::windows;
use super::writer::Writer;
use crate::error::{Result, unsupported};

/// Puts an operator in other words. Says whether that was needed.
pub(super) fn compose(node: &mut Node, version: i64, scope: &Scope, writer: &mut Writer) -> Result<bool> {
    let (Some(x), [y, ..]) = (node.input(0), node.outputs.as_slice()) else {
        return Ok(false);
    };
    match node.op {
        "Dropout" => dropout(node, x, y, writer)?,
        "Selu" => {
            let alpha = node.float("alpha")?.unwrap_or(1.673_263_2);
            let gamma = writer.number(node.float("gamma")?.unwrap_or(1.050_701));
            let elu = writer.node("Elu", &[x], &[("alpha", Attribute::Float(alpha))]);
            writer.last("Mul", &[&elu, &gamma], &[], y);
        }
        "Celu" => {
            let alpha = node.float("alpha")?.unwrap_or(1.0);
            let scale = writer.number(alpha);
            let scaled = writer.node("Div", &[x, &scale], &[]);
            let elu = writer.node("Elu", &[&scaled], &[("alpha", Attribute::Float(1.0))]);
            writer.last("Mul", &[&elu, &scale], &[], y);
        }
        "ThresholdedRelu" => {
            let alpha = writer.number(node.float("alpha")?.unwrap_or(1.0));
            let zero = writer.number(0.0);
            let above = writer.node("Greater", &[x, &alpha], &[]);
            writer.last("Where", &[&above, x, &zero], &[], y);
        }
        "Mish" => {
            let soft = writer.node("Softplus", &[x], &[]);
            let tanh = writer.node("Tanh", &[&soft], &[]);
            writer.last("Mul", &[x, &tanh], &[], y);
        }
        // The runtime's sign of 0 is 1. Only 0 is its own opposite.
        "Sign" => {
            let opposite = writer.node("Neg", &[x], &[]);
            let is_zero = writer.node("Equal", &[x, &opposite], &[]);
            let sign = writer.node("Sign", &[x], &[]);
            writer.last("Where", &[&is_zero, x, &sign], &[], y);
        }
        "ConvInteger" => integers(node, scope, writer)?,
        "Shrink" => shrink(node, x, y, writer)?,
        "LRN" => local_response(node, x, y, writer)?,
        "LpPool" => lp_pool(node, x, y, writer)?,
        "MeanVarianceNormalization" => mean_variance(node, x, y, writer)?,
        "GroupNormalization" => group_norm(node, version, scope, writer)?,
        "SpaceToDepth" => space_to_depth(node, x, y, writer)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Nothing is dropped outside of training.
fn dropout(node: &Node, x: &str, y: &str, writer: &mut Writer) -> Result<()> {
    if node.input(2).is_some() {
        return Err(unsupported("Dropout in training mode"));
    }
    if let Some(mask) = node.outputs.get(1).filter(|name| !name.is_empty()) {
        let is_nan = writer.node("IsNaN", &[x], &[]);
        let zero = writer.node("Xor", &[&is_nan, &is_nan], &[]);
        writer.last("Not", &[&zero], &[], mask);
    }
    writer.last("Identity", &[x], &[], y);
    Ok(())
}

/// The runtime takes what stands for 0 for a number at the border, and for none in the weights. Single precision holds integers up to
/// 2²⁴ exactly, and beyond them to its usual accuracy.
fn integers(node: &Node, scope: &Scope, writer: &mut Writer) -> Result<()> {
    let (Some(x), Some(weight), [y, ..]) = (node.input(0), node.input(1), node.outputs.as_slice()) else {
        return Err(unsupported("ConvInteger without weights"));
    };
    let float = |value: &str, writer: &mut Writer| writer.node("Cast", &[value], &[("to", int(1))]);
    let mut values = float(x, writer);
    if let Some(zero) = node.input(2) {
        let zero = float(zero, writer);
        values = writer.node("Sub", &[&values, &zero], &[]);
    }
    let mut weights = float(weight, writer);
    if let Some(zero) = node.input(3) {
        let mut own = float(zero, writer);
        if scope.constant(zero).is_none_or(|dims| !dims.is_empty()) {
            // One for each output, the first axis of the weights.
            let (all, ones) = (writer.ints(&[-1]), writer.ones(weight, 1));
            let shape = writer.joined(&[&all, &ones]);
            own = writer.node("Reshape", &[&own, &shape], &[]);
        }
        weights = writer.node("Sub", &[&weights, &own], &[]);
    }
    let sum = writer.fresh();
    let mut convolution = node.clone();
    convolution.op = "Conv";
    convolution.inputs = vec![values.into(), weights.into()];
    convolution.outputs = vec![sum.as_str().into()];
    convolution.write(&mut writer.nodes);
    writer.last("Cast", &[&sum], &[("to", int(6))], y);
    Ok(())
}

fn shrink(node: &Node, x: &str, y: &str, writer: &mut Writer) -> Result<()> {
    let lambda = node.float("lambd")?.unwrap_or(0.5);
    let bias = writer.number(node.float("bias")?.unwrap_or(0.0));
    let (low, high, zero) = (writer.number(-lambda), writer.number(lambda), writer.number(0.0));
    let is_low = writer.node("Less", &[x, &low], &[]);
    let is_high = writer.node("Greater", &[x, &high], &[]);
    let (up, down) = (
        writer.node("Add", &[x, &bias], &[]),
        writer.node("Sub", &[x, &bias], &[]),
    );
    let rest = writer.node("Where", &[&is_high, &down, &zero], &[]);
    writer.last("Where", &[&is_low, &up, &rest], &[], y);
    Ok(())
}

/// The mean of squares over neighboring channels is an average pooling along that axis.
fn local_response(node: &Node, x: &str, y: &str, writer: &mut Writer) -> Result<()> {
    let size = node.int("size")?.filter(|size| (1..=1 << 20).contains(size));
    let Some(size) = size else {
        return Err(unsupported("LRN without a size"));
    };
    let alpha = writer.number(node.float("alpha")?.unwrap_or(1e-4));
    let beta = writer.number(node.float("beta")?.unwrap_or(0.75));
    let bias = writer.number(node.float("bias")?.unwrap_or(1.0));
    let squares = writer.node("Mul", &[x, x], &[]);
    let (one, rest) = (writer.ints(&[1]), writer.ints(&[-1]));
    let (rows, channels) = (writer.sizes(x, 0, 1), writer.sizes(x, 1, 2));
    let shape = writer.joined(&[&rows, &one, &channels, &rest]);
    let squares = writer.node("Reshape", &[&squares, &shape], &[]);
    let (before, after) = ((size - 1) / 2, size / 2);
    let mean = writer.node(
        "AveragePool",
        &[&squares],
        &[
            ("kernel_shape", Attribute::Ints(&[size, 1])),
            ("strides", Attribute::Ints(&[1, 1])),
            ("pads", Attribute::Ints(&[before, 0, after, 0])),
            ("count_include_pad", int(1)),
        ],
    );
    let shape = writer.node("Shape", &[x], &[]);
    let mean = writer.node("Reshape", &[&mean, &shape], &[]);
    let scaled = writer.node("Mul", &[&mean, &alpha], &[]);
    let base = writer.node("Add", &[&scaled, &bias], &[]);
    let power = writer.node("Pow", &[&base, &beta], &[]);
    writer.last("Div", &[x, &power], &[], y);
    Ok(())
}

/// The root of a sum of powers, which is a mean times how many there are.
fn lp_pool(node: &Node, x: &str, y: &str, writer: &mut Writer) -> Result<()> {
    let p = node.int("p")?.unwrap_or(2) as f32;
    let Some(windows) = windows(node)?.filter(|windows| windows.iter().all(|w| w.dilation == 1) && windows.len() < 3)
    else {
        return Err(unsupported("LpPool with dilations or three axes"));
    };
    let count: i64 = windows.iter().map(|window| window.size).product();
    let sizes: Vec<i64> = windows.iter().map(|w| w.size).collect();
    let steps: Vec<i64> = windows.iter().map(|w| w.step).collect();
    let pads: Vec<i64> = windows
        .iter()
        .map(|w| w.before)
        .chain(windows.iter().map(|w| w.after))
        .collect();
    let (power, root, count) = (writer.number(p), writer.number(1.0 / p), writer.number(count as f32));
    let absolute = writer.node("Abs", &[x], &[]);
    let powers = writer.node("Pow", &[&absolute, &power], &[]);
    let mean = writer.node(
        "AveragePool",
        &[&powers],
        &[
            ("kernel_shape", Attribute::Ints(&sizes)),
            ("strides", Attribute::Ints(&steps)),
            ("pads", Attribute::Ints(&pads)),
            ("count_include_pad", int(1)),
            ("ceil_mode", int(node.int("ceil_mode")?.unwrap_or(0))),
        ],
    );
    let sum = writer.node("Mul", &[&mean, &count], &[]);
    writer.last("Pow", &[&sum, &root], &[], y);
    Ok(())
}

fn mean_variance(node: &Node, x: &str, y: &str, writer: &mut Writer) -> Result<()> {
    let axes = node.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let mean = |of: &str, writer: &mut Writer| {
        let attributes = [("axes", Attribute::Ints(&axes)), ("keepdims", int(1))];
        writer.node("ReduceMean", &[of], &attributes)
    };
    let center = mean(x, writer);
    let centered = writer.node("Sub", &[x, &center], &[]);
    let squares = writer.node("Mul", &[&centered, &centered], &[]);
    let variance = mean(&squares, writer);
    let spread = writer.node("Sqrt", &[&variance], &[]);
    let least = writer.number(1e-9);
    let spread = writer.node("Add", &[&spread, &least], &[]);
    writer.last("Div", &[&centered, &spread], &[], y);
    Ok(())
}

/// Groups are instances whose values are all in one row; scale and bias are those of channels, before version 21 those of groups.
fn group_norm(node: &Node, version: i64, scope: &Scope, writer: &mut Writer) -> Result<()> {
    let groups = node.int("num_groups")?.filter(|groups| (1..=1 << 20).contains(groups));
    let (Some(groups), Some(x), Some(scale), Some(bias), [y, ..]) = (
        groups,
        node.input(0),
        node.input(1),
        node.input(2),
        node.outputs.as_slice(),
    ) else {
        return Err(unsupported("GroupNormalization without its groups"));
    };
    let epsilon = [("epsilon", Attribute::Float(node.float("epsilon")?.unwrap_or(1e-5)))];
    let is_of_groups = version < 21 && scope.constant(scale).is_none_or(|dims| dims == [groups]);
    let count = groups as usize;
    let (ones, zeros) = (
        writer.numbers(&[count], &vec![1.0; count]),
        writer.numbers(&[count], &vec![0.0; count]),
    );
    let shape = writer.ints(&[0, groups, -1]);
    let rows = writer.node("Reshape", &[x, &shape], &[]);
    let (own_scale, own_bias) = if is_of_groups {
        (scale, bias)
    } else {
        (ones.as_str(), zeros.as_str())
    };
    let normal = writer.node("InstanceNormalization", &[&rows, own_scale, own_bias], &epsilon);
    let shape = writer.node("Shape", &[x], &[]);
    if is_of_groups {
        writer.last("Reshape", &[&normal, &shape], &[], y);
        return Ok(());
    }
    let normal = writer.node("Reshape", &[&normal, &shape], &[]);
    let (all, tail) = (writer.ints(&[-1]), writer.ones(x, 2));
    let shape = writer.joined(&[&all, &tail]);
    let (scale, bias) = (
        writer.node("Reshape", &[scale, &shape], &[]),
        writer.node("Reshape", &[bias, &shape], &[]),
    );
    let scaled = writer.node("Mul", &[&normal, &scale], &[]);
    writer.last("Add", &[&scaled, &bias], &[], y);
    Ok(())
}

fn space_to_depth(node: &Node, x: &str, y: &str, writer: &mut Writer) -> Result<()> {
    let Some(block) = node.int("blocksize")?.filter(|block| (1..=1 << 20).contains(block)) else {
        return Err(unsupported("SpaceToDepth without a block size"));
    };
    let size = writer.ints(&[block]);
    let first = writer.sizes(x, 0, 2);
    let (height, width) = (writer.sizes(x, 2, 3), writer.sizes(x, 3, 4));
    let (height, width) = (
        writer.node("Div", &[&height, &size], &[]),
        writer.node("Div", &[&width, &size], &[]),
    );
    let shape = writer.joined(&[&first, &height, &size, &width, &size]);
    let blocks = writer.node("Reshape", &[x, &shape], &[]);
    let turned = writer.node(
        "Transpose",
        &[&blocks],
        &[("perm", Attribute::Ints(&[0, 3, 5, 1, 2, 4]))],
    );
    let (rows, rest) = (writer.sizes(x, 0, 1), writer.ints(&[-1]));
    let shape = writer.joined(&[&rows, &rest, &height, &width]);
    writer.last("Reshape", &[&turned, &shape], &[], y);
    Ok(())
}
