// SPDX-License-Identifier: MIT
//! A convolutional encoder of single frames.
//!
//! Each stage is a convolution (kernel 4, stride 2, padding 1), the activation, and layer normalization over the
//! channels. After the last stage everything is flattened in the order channels, rows, columns, normalized, and mapped
//! by a linear layer:
//!
//! ```text
//! input [batch, channels, side, side]  →  features [batch, width]
//! ```
//!
//! Frames do not see each other. So a clip [batch, channels, time, side, side] is encoded frame by frame, by the
//! caller: its frames are rows of the batch. Not determined by the weights: the activation, that images are square, ε =
//! 1e-5.

use super::Activation;
use super::layers::Layers;
use super::recognize::shape_text;
use crate::error::{Result, bail};
use crate::graph::{Attribute, Dim};

const EPSILON: f32 = 1e-5;
const KERNEL: usize = 4;

pub(super) fn write(layers: &mut Layers, activation: Activation) -> Result<String> {
    layers.owns(&["conv_layers.", "layer_norms.", "final_norm.", "fc."]);
    let stages = layers.count("conv_layers.");
    let [_, channels, _, _] = layers.shape("conv_layers.0.weight")?;
    let [last, _, _, _] = layers.shape(&format!("conv_layers.{}.weight", stages.saturating_sub(1)))?;
    let [flat] = layers.shape("final_norm.weight")?;
    let side = side(flat, last, stages)?;
    let input = layers.images(channels, Dim::Fixed(side), Dim::Fixed(side));
    let (mut x, mut depth) = (input, channels);
    for stage in 0..stages {
        let name = format!("conv_layers.{stage}");
        let [_, _, height, width] = layers.shape(&format!("{name}.weight"))?;
        if (height, width) != (KERNEL, KERNEL) {
            bail!(
                "`{name}.weight` has kernel {}, but this encoder has kernels of {KERNEL}×{KERNEL}, with stride 2; \
                 export the network to ONNX and give that file",
                shape_text(&[height, width])
            );
        }
        (x, depth) = layers.conv(&x, &name, depth, 2, 1)?;
        x = layers.activation(&x, activation)?;
        x = layers.transpose(&x, &[0, 2, 3, 1]);
        x = layers.layer_norm(&x, &format!("layer_norms.{stage}"), depth, EPSILON)?;
        x = layers.transpose(&x, &[0, 3, 1, 2]);
    }
    x = layers.graph.node("Flatten", &[&x], &[("axis", Attribute::Int(1))]);
    x = layers.layer_norm(&x, "final_norm", flat, EPSILON)?;
    let (embedding, width) = layers.linear(&x, "fc", flat)?;
    layers.output(&embedding, "features", width);
    Ok(format!(
        "convolutional frame encoder: {channels} × {side} × {side}, {stages} stages, {activation:?}, {width} features"
    ))
}

/// The side of the images: each stage halves it, and the last has `flat` = channels · side² numbers.
fn side(flat: usize, channels: usize, stages: usize) -> Result<usize> {
    let last = (flat / channels).isqrt();
    let first = u32::try_from(stages)
        .ok()
        .and_then(|n| 2usize.checked_pow(n))
        .and_then(|factor| last.checked_mul(factor));
    match first {
        Some(first) if last > 0 && last * last * channels == flat => Ok(first),
        _ => bail!(
            "`final_norm.weight` has {flat} numbers and the last of {stages} convolutions {channels} channels, which \
             fits no square image; export the network to ONNX and give that file"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_stages_and_4096_numbers_of_256_channels_are_a_64_pixel_image() {
        assert_eq!(side(4096, 256, 4).unwrap(), 64);
        assert!(side(4000, 256, 4).is_err());
        assert!(side(4096, 256, 400).is_err());
    }
}
