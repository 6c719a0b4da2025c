// SPDX-License-Identifier: MIT
//! Weights under the names and in the order that the encoder of document 000 has in PyTorch.

use std::path::Path;
use std::sync::Arc;

use repscope_io::{Array, Data, Result, write_tensors};

use crate::networks::Encoder;
use crate::world::WHITE;

/// A name, a shape and the numbers.
type Tensor = (String, Vec<usize>, Vec<f32>);

pub(crate) fn write(path: &Path, encoder: &Encoder) -> Result<()> {
    let mut arrays = Vec::new();
    for (name, shape, values) in tensors(encoder) {
        arrays.push((name, Array::new(shape, "f32", Data::F32(Arc::new(values)))?));
    }
    let named: Vec<(String, &Array)> = arrays.iter().map(|(name, array)| (name.clone(), array)).collect();
    write_tensors(path, &named)
}

/// All weights, as they are stored.
fn tensors(encoder: &Encoder) -> Vec<Tensor> {
    let mut tensors = Vec::new();
    let mut add = |name: String, shape: Vec<usize>, values: Vec<f32>| tensors.push((name, shape, values));
    let mut channels = 1;
    for (at, stage) in encoder.stages.iter().enumerate() {
        let (shape, mut weight) = stage.conv.weight();
        if at == 0 {
            // The stored encoder sees grey values, the trained one saw shares of white.
            weight.iter_mut().for_each(|weight| *weight /= WHITE);
        }
        channels = shape[0];
        add(format!("conv_layers.{at}.weight"), shape, weight);
        add(
            format!("conv_layers.{at}.bias"),
            vec![channels],
            stage.conv.bias().to_vec(),
        );
        add(
            format!("layer_norms.{at}.weight"),
            vec![channels],
            stage.norm.scale.clone(),
        );
        add(
            format!("layer_norms.{at}.bias"),
            vec![channels],
            stage.norm.shift.clone(),
        );
    }
    let flat = encoder.final_norm.scale.len();
    let first = |values: &[f32]| channels_first(values, channels);
    add("final_norm.weight".into(), vec![flat], first(&encoder.final_norm.scale));
    add("final_norm.bias".into(), vec![flat], first(&encoder.final_norm.shift));
    let weight = encoder.fc.weight.chunks_exact(flat).flat_map(first).collect();
    add("fc.weight".into(), vec![encoder.fc.outputs(), flat], weight);
    add("fc.bias".into(), vec![encoder.fc.outputs()], encoder.fc.bias.clone());
    tensors
}

/// From pixels with their channels side by side to channels with their pixels side by side.
fn channels_first(values: &[f32], channels: usize) -> Vec<f32> {
    let pixels = values.len() / channels;
    (0..values.len())
        .map(|at| values[at % pixels * channels + at / pixels])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::{CHANNELS, LATENT};
    use repscope_core::random;

    #[test]
    fn names_and_shapes_are_those_of_document_000() {
        let encoder = Encoder::new(&CHANNELS, LATENT, &mut random::stream(1, "test", 0));
        let found: Vec<String> = tensors(&encoder)
            .iter()
            .map(|(name, shape, _)| format!("{name} {shape:?}"))
            .collect();
        assert_eq!(
            found,
            [
                "conv_layers.0.weight [32, 1, 4, 4]",
                "conv_layers.0.bias [32]",
                "layer_norms.0.weight [32]",
                "layer_norms.0.bias [32]",
                "conv_layers.1.weight [64, 32, 4, 4]",
                "conv_layers.1.bias [64]",
                "layer_norms.1.weight [64]",
                "layer_norms.1.bias [64]",
                "conv_layers.2.weight [128, 64, 4, 4]",
                "conv_layers.2.bias [128]",
                "layer_norms.2.weight [128]",
                "layer_norms.2.bias [128]",
                "conv_layers.3.weight [256, 128, 4, 4]",
                "conv_layers.3.bias [256]",
                "layer_norms.3.weight [256]",
                "layer_norms.3.bias [256]",
                "final_norm.weight [4096]",
                "final_norm.bias [4096]",
                "fc.weight [64, 4096]",
                "fc.bias [64]",
            ]
        );
    }

    #[test]
    fn pixels_with_their_channels_become_channels_with_their_pixels() {
        assert_eq!(
            channels_first(&[1., 10., 2., 20., 3., 30.], 2),
            [1., 2., 3., 10., 20., 30.]
        );
    }
}
