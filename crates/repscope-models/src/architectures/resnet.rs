// SPDX-License-Identifier: MIT
//! ResNet (He et al., 2016) with the names of weights that torchvision uses.
//!
//! ```text
//! input [batch, channels, height, width]  →  features [batch, 512 or 2048]
//!                                            logits [batch, classes], where `fc` is one linear layer
//! ```
//!
//! Features are those after global average pooling. Basic blocks (18, 34) and bottlenecks (50, 101, 152), their
//! numbers, widths and groups (ResNeXt) are read off the weights. Not determined by the weights, and taken from
//! torchvision: stages 2 to 4 halve the image, in the 3×3 convolution of a bottleneck ("v1.5"); the stem is a 7×7
//! convolution with stride 2 and 3×3 max-pooling with stride 2; ε = 1e-5.

use super::Activation::{self, Relu};
use super::layers::Layers;
use crate::error::{Result, bail};
use crate::graph::{Attribute, Dim};

pub(super) fn write(layers: &mut Layers) -> Result<String> {
    let backbone = write_backbone(layers, "")?;
    layers.output(&backbone.features, "features", backbone.width);
    let mut title = backbone.title();
    // Heads of more than one layer belong to a training method; their weights are reported as not used.
    if layers.has("fc.weight") {
        let (logits, classes) = layers.linear(&backbone.features, "fc", backbone.width)?;
        layers.output(&logits, "logits", classes);
        title += &format!(", {classes} classes");
    }
    Ok(title)
}

/// The part up to global average pooling.
pub(super) struct Backbone {
    pub(super) features: String,
    pub(super) width: usize,
    channels: usize,
    blocks: [usize; 4],
    is_bottleneck: bool,
    /// Groups of the second convolution of a block: more than one in a ResNeXt.
    groups: usize,
}

impl Backbone {
    /// `ResNet-50: 3 channels, 2048 features`.
    pub(super) fn title(&self) -> String {
        let Backbone {
            width,
            channels,
            blocks,
            ..
        } = self;
        let name = match (self.is_bottleneck, blocks) {
            (false, [2, 2, 2, 2]) => "ResNet-18".to_string(),
            (false, [3, 4, 6, 3]) => "ResNet-34".to_string(),
            (true, [3, 4, 6, 3]) => "ResNet-50".to_string(),
            (true, [3, 4, 23, 3]) => "ResNet-101".to_string(),
            (true, [3, 8, 36, 3]) => "ResNet-152".to_string(),
            (true, _) => format!("ResNet of {blocks:?} bottlenecks"),
            (false, _) => format!("ResNet of {blocks:?} basic blocks"),
        };
        let groups = if self.groups > 1 {
            format!(", {} groups", self.groups)
        } else {
            String::new()
        };
        let plural = if *channels == 1 { "" } else { "s" };
        format!("{name}{groups}: {channels} channel{plural}, {width} features")
    }
}

/// Writes input and backbone; `prefix` begins the names of its weights.
pub(super) fn write_backbone(layers: &mut Layers, prefix: &str) -> Result<Backbone> {
    let stem = format!("{prefix}conv1");
    let own = ["conv1.", "bn1.", "layer"].map(|own| format!("{prefix}{own}"));
    layers.owns(&own.each_ref().map(String::as_str));
    let [_, channels, height, width] = layers.shape(&format!("{stem}.weight"))?;
    if (height, width) != (7, 7) {
        bail!(
            "`{stem}.weight` has a kernel of {height}×{width} and not 7×7: a variant for small images, whose strides \
             and pooling the weights do not determine; export the network to ONNX and give that file"
        );
    }
    let input = layers.images(channels, Dim::named("height"), Dim::named("width"));
    let (x, mut depth) = layers.conv(&input, &stem, channels, 2, 3)?;
    let x = layers.batch_norm(&x, &format!("{prefix}bn1"), depth)?;
    let x = layers.activation(&x, Relu)?;
    let pooling = [
        ("kernel_shape", Attribute::Ints(&[3, 3])),
        ("strides", Attribute::Ints(&[2, 2])),
        ("pads", Attribute::Ints(&[1, 1, 1, 1])),
    ];
    let mut x = layers.graph.node("MaxPool", &[&x], &pooling);
    let is_bottleneck = layers.has(&format!("{prefix}layer1.0.conv3.weight"));
    let [before, _, _, _] = layers.shape(&format!("{prefix}layer1.0.conv1.weight"))?;
    let [_, per_group, _, _] = layers.shape(&format!("{prefix}layer1.0.conv2.weight"))?;
    let mut blocks = [0; 4];
    for (stage, count) in blocks.iter_mut().enumerate() {
        let stage_name = format!("{prefix}layer{}.", stage + 1);
        *count = layers.count(&stage_name);
        for block in 0..*count {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("{stage_name}{block}");
            (x, depth) = write_block(layers, &x, &name, depth, stride, is_bottleneck)?;
        }
    }
    let pooled = layers.graph.node("GlobalAveragePool", &[&x], &[]);
    let features = layers.graph.node("Flatten", &[&pooled], &[("axis", Attribute::Int(1))]);
    Ok(Backbone {
        features,
        width: depth,
        channels,
        blocks,
        is_bottleneck,
        groups: before / per_group,
    })
}

/// Two 3×3 convolutions, or 1×1, 3×3 and 1×1, beside a way around them.
fn write_block(
    layers: &mut Layers,
    x: &str,
    name: &str,
    channels: usize,
    stride: i64,
    is_bottleneck: bool,
) -> Result<(String, usize)> {
    // (stride, padding) of each convolution.
    let convolutions: &[(i64, i64)] = if is_bottleneck {
        &[(1, 0), (stride, 1), (1, 0)]
    } else {
        &[(stride, 1), (1, 1)]
    };
    let (mut y, mut depth) = (x.to_string(), channels);
    for (at, &(stride, pad)) in convolutions.iter().enumerate() {
        let conv = format!("{name}.conv{}", at + 1);
        let [_, _, height, width] = layers.shape(&format!("{conv}.weight"))?;
        let kernel = 1 + 2 * pad as usize;
        if (height, width) != (kernel, kernel) {
            bail!(
                "`{conv}.weight` has a kernel of {height}×{width} where a ResNet has {kernel}×{kernel}; export the \
                 network to ONNX"
            );
        }
        (y, depth) = layers.conv(&y, &conv, depth, stride, pad)?;
        y = layers.batch_norm(&y, &format!("{name}.bn{}", at + 1), depth)?;
        if at + 1 < convolutions.len() {
            y = layers.activation(&y, Relu)?;
        }
    }
    let around = if layers.has(&format!("{name}.downsample.0.weight")) {
        let (around, width) = layers.conv(x, &format!("{name}.downsample.0"), channels, stride, 0)?;
        layers.batch_norm(&around, &format!("{name}.downsample.1"), width)?
    } else if stride == 1 && channels == depth {
        x.to_string()
    } else {
        bail!(
            "block `{name}` takes {channels} channels to {depth} with stride {stride}, which needs \
             `{name}.downsample.0.weight`, which is missing"
        );
    };
    let sum = layers.graph.node("Add", &[&y, &around], &[]);
    Ok((layers.activation(&sum, Relu)?, depth))
}

// A ResNet with a task-specific extractor and two heads: the modulation of a radio signal and its signal-to-noise
// ratio, from an image of its constellation.
//
// ```text
// input [batch, channels, height, width]  →  modulation, snr [batch, classes], features [batch, width],
//                                            modulation_features, snr_features [batch, task width]
// ```
//
// With x the features of the backbone, each task has its own attention a(x), and features
//
// ```text
// f = 0.7 · branch(x · a(x)) + 0.3 · residual(x)
// ```
//
// where a branch is linear, activation, batch normalization. Modulation uses GELU and sigmoid attention, the ratio
// ReLU and tanh attention. Heads are linear layers with ReLU between them: one, or several for the bottlenecks. Not
// determined by the weights: these functions, the shares 0.7 and 0.3, and what is said of ResNets. Dropout does
// nothing here.

const EXTRACTOR: &str = "task_specific_extractor";
/// Shares of branch and residual.
const SHARES: (f32, f32) = (0.7, 0.3);
/// Layers of a head lie at most this far apart, with activation and dropout between them.
const LAST_INDEX: usize = 32;

pub(super) fn write_two_head(layers: &mut Layers) -> Result<String> {
    layers.owns(&["model.", EXTRACTOR, "modulation_head", "snr_head"]);
    let backbone = write_backbone(layers, "model.")?;
    let (x, width) = (&backbone.features, backbone.width);
    let (modulation, task) = write_task(layers, x, width, "mod", "Sigmoid", Activation::Gelu)?;
    let (snr, snr_task) = write_task(layers, x, width, "snr", "Tanh", Activation::Relu)?;
    let (modulation_logits, modulations) = write_head(layers, &modulation, task, "modulation_head")?;
    let (snr_logits, ratios) = write_head(layers, &snr, snr_task, "snr_head")?;
    layers.output(&modulation_logits, "modulation", modulations);
    layers.output(&snr_logits, "snr", ratios);
    layers.output(x, "features", width);
    layers.output(&modulation, "modulation_features", task);
    layers.output(&snr, "snr_features", snr_task);
    Ok(format!(
        "two-head {}, {modulations} modulations, {ratios} signal-to-noise ratios",
        backbone.title()
    ))
}

fn write_task(
    layers: &mut Layers,
    x: &str,
    width: usize,
    task: &str,
    gate: &str,
    activation: Activation,
) -> Result<(String, usize)> {
    let part = |part: &str| format!("{EXTRACTOR}.{task}_{part}");
    let (hidden, hidden_width) = layers.linear(x, &part("attention.0"), width)?;
    let hidden = layers.activation(&hidden, Activation::Relu)?;
    let (attention, _) = layers.linear(&hidden, &part("attention.2"), hidden_width)?;
    let attention = layers.graph.node(gate, &[&attention], &[]);
    let attended = layers.graph.node("Mul", &[x, &attention], &[]);
    let (branch, out) = layers.linear(&attended, &part("branch.0"), width)?;
    let branch = layers.activation(&branch, activation)?;
    let branch = layers.batch_norm(&branch, &part("branch.2"), out)?;
    let branch = layers.times(&branch, SHARES.0)?;
    let (residual, residual_out) = layers.linear(x, &part("residual"), width)?;
    if residual_out != out {
        bail!(
            "`{}` has {out} outputs and `{}` has {residual_out}, but they are added",
            part("branch.0"),
            part("residual")
        );
    }
    let residual = layers.times(&residual, SHARES.1)?;
    Ok((layers.graph.node("Add", &[&branch, &residual], &[]), out))
}

/// One linear layer, or several at the indices of a sequence with ReLU between them.
fn write_head(layers: &mut Layers, x: &str, width: usize, name: &str) -> Result<(String, usize)> {
    if layers.has(&format!("{name}.weight")) {
        return layers.linear(x, name, width);
    }
    let names = (0..=LAST_INDEX).map(|at| format!("{name}.{at}"));
    let linear: Vec<String> = names.filter(|name| layers.has(&format!("{name}.weight"))).collect();
    let [first, more @ ..] = &linear[..] else {
        // A head without weights gives the message that lists what there is.
        return layers.linear(x, name, width);
    };
    let (mut value, mut width) = layers.linear(x, first, width)?;
    for name in more {
        let active = layers.activation(&value, Activation::Relu)?;
        (value, width) = layers.linear(&active, name, width)?;
    }
    Ok((value, width))
}
