// SPDX-License-Identifier: MIT
//! EfficientNet-lite (Google, 2020) with the names of weights of the PyTorch ports.
//!
//! ```text
//! input [batch, channels, height, width]  →  features [batch, 1280]
//!                                            logits [batch, classes], where there is `_fc`
//! ```
//!
//! Seven stages of inverted bottlenecks (1×1 convolution to more channels, one for each channel, 1×1 convolution to fewer), without the squeeze
//! and excitation of EfficientNet-B. Features are those after global average pooling. Widths, numbers of blocks and kernels are read off the
//! weights; a stage begins where the number of channels changes. Not determined by the weights, and taken from the published network: the stages
//! that halve the image, padding as TensorFlow does it (`SAME`), ReLU6, ε = 1e-3. The ports pad as for the native size (224 for lite0) whatever
//! comes in; at that size both are the same.

use super::layers::{Layers, Padding};
use crate::error::{Result, bail};
use crate::graph::{Attribute, Dim};

const EPSILON: f32 = 1e-3;

/// The stride of each stage, in its first block.
const STRIDES: [i64; 7] = [1, 2, 2, 2, 1, 2, 1];

/// The side of the kernels of each stage.
const KERNELS: [usize; 7] = [3, 3, 5, 3, 5, 5, 3];

pub(super) fn write(layers: &mut Layers) -> Result<String> {
    layers.owns(&["_conv_stem.", "_bn0.", "_blocks.", "_conv_head.", "_bn1.", "_fc."]);
    let [_, channels, _, _] = layers.shape("_conv_stem.weight")?;
    let input = layers.images(channels, Dim::named("height"), Dim::named("width"));
    let (mut x, mut depth) = step(layers, &input, "_conv_stem", "_bn0", channels, 2)?;
    x = relu_6(layers, &x)?;
    let mut stages: Vec<(usize, usize)> = Vec::new(); // blocks, channels
    for block in 0..layers.count("_blocks.") {
        let name = format!("_blocks.{block}");
        let [out, _, _, _] = layers.shape(&format!("{name}._project_conv.weight"))?;
        let stride = match stages.last_mut() {
            Some((blocks, width)) if *width == out => {
                *blocks += 1;
                1
            }
            _ => {
                stages.push((1, out));
                STRIDES.get(stages.len() - 1).copied().unwrap_or(1)
            }
        };
        let [_, _, height, width] = layers.shape(&format!("{name}._depthwise_conv.weight"))?;
        let kernel = KERNELS.get(stages.len() - 1).copied();
        if kernel.is_none_or(|kernel| (height, width) != (kernel, kernel)) {
            bail!(
                "`{name}._depthwise_conv.weight` has a kernel of {height}×{width} in stage {}, where an EfficientNet-lite has {}; \
                 export the network to ONNX and give that file",
                stages.len(),
                kernel.map_or("no stage".to_string(), |kernel| format!("{kernel}×{kernel}"))
            );
        }
        (x, depth) = write_block(layers, &x, &name, depth, stride)?;
    }
    if stages.len() != STRIDES.len() {
        bail!(
            "the blocks have {} different numbers of channels in a row, but an EfficientNet-lite has {} stages; export the network to \
             ONNX and give that file",
            stages.len(),
            STRIDES.len()
        );
    }
    let (head, width) = step(layers, &x, "_conv_head", "_bn1", depth, 1)?;
    let head = relu_6(layers, &head)?;
    let pooled = layers.graph.node("GlobalAveragePool", &[&head], &[]);
    let features = layers.graph.node("Flatten", &[&pooled], &[("axis", Attribute::Int(1))]);
    layers.output(&features, "features", width);
    let plural = if channels == 1 { "" } else { "s" };
    let mut title = format!("{}: {channels} channel{plural}, {width} features", name(&stages));
    if layers.has("_fc.weight") {
        let (logits, classes) = layers.linear(&features, "_fc", width)?;
        layers.output(&logits, "logits", classes);
        title += &format!(", {classes} classes");
    }
    Ok(title)
}

fn name(stages: &[(usize, usize)]) -> String {
    let blocks: Vec<usize> = stages.iter().map(|(blocks, _)| *blocks).collect();
    let number = match (blocks.as_slice(), stages.get(2)) {
        ([1, 2, 2, 3, 3, 4, 1], Some((_, 40))) => 0,
        ([1, 3, 3, 4, 4, 5, 1], Some((_, 40))) => 1,
        ([1, 3, 3, 4, 4, 5, 1], Some((_, 48))) => 2,
        ([1, 3, 3, 5, 5, 6, 1], Some((_, 48))) => 3,
        ([1, 4, 4, 6, 6, 8, 1], Some((_, 56))) => 4,
        _ => return format!("EfficientNet-lite of {blocks:?} blocks"),
    };
    format!("EfficientNet-lite{number}")
}

/// An inverted bottleneck; with a way around it where nothing changes in size.
fn write_block(layers: &mut Layers, x: &str, name: &str, channels: usize, stride: i64) -> Result<(String, usize)> {
    let (mut y, mut depth) = (x.to_string(), channels);
    // The first stage has nothing to expand.
    let expansion = format!("{name}._expand_conv");
    if layers.has(&format!("{expansion}.weight")) {
        (y, depth) = step(layers, &y, &expansion, &format!("{name}._bn0"), depth, 1)?;
        y = relu_6(layers, &y)?;
    }
    let (convolution, norm) = (format!("{name}._depthwise_conv"), format!("{name}._bn1"));
    (y, depth) = step(layers, &y, &convolution, &norm, depth, stride)?;
    y = relu_6(layers, &y)?;
    let (convolution, norm) = (format!("{name}._project_conv"), format!("{name}._bn2"));
    (y, depth) = step(layers, &y, &convolution, &norm, depth, 1)?;
    if stride == 1 && depth == channels {
        y = layers.graph.node("Add", &[&y, x], &[]);
    }
    Ok((y, depth))
}

/// Convolution and batch normalization.
fn step(
    layers: &mut Layers,
    x: &str,
    convolution: &str,
    norm: &str,
    channels: usize,
    stride: i64,
) -> Result<(String, usize)> {
    let (y, depth) = layers.conv_padded(x, convolution, channels, stride, Padding::Same)?;
    Ok((layers.batch_norm_with(&y, norm, depth, EPSILON)?, depth))
}

fn relu_6(layers: &mut Layers, x: &str) -> Result<String> {
    let (zero, six) = (layers.scalar("zero", 0.0)?, layers.scalar("six", 6.0)?);
    Ok(layers.graph.node("Clip", &[x, &zero, &six], &[]))
}
