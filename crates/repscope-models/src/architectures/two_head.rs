// SPDX-License-Identifier: MIT
//! A ResNet with a task-specific extractor and two heads: the modulation of a radio signal and its signal-to-noise
//! ratio, from an image of its constellation.
//!
//! ```text
//! input [batch, channels, height, width]  →  modulation, snr [batch, classes], features [batch, width],
//!                                            modulation_features, snr_features [batch, task width]
//! ```
//!
//! With x the features of the backbone, each task has its own attention a(x), and features
//!
//! ```text
//! f = 0.7 · branch(x · a(x)) + 0.3 · residual(x)
//! ```
//!
//! where a branch is linear, activation, batch normalization. Modulation uses GELU and sigmoid attention, the ratio
//! ReLU and tanh attention. Heads are linear layers with ReLU between them: one, or several for the bottlenecks. Not
//! determined by the weights: these functions, the shares 0.7 and 0.3, and what is said of ResNets. Dropout does
//! nothing here.

use super::Activation;
use super::layers::Layers;
use super::resnet::write_backbone;
use crate::error::{Result, bail};

const EXTRACTOR: &str = "task_specific_extractor";
/// Shares of branch and residual.
const SHARES: (f32, f32) = (0.7, 0.3);
/// Layers of a head lie at most this far apart, with activation and dropout between them.
const LAST_INDEX: usize = 32;

pub(super) fn write(layers: &mut Layers) -> Result<String> {
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
