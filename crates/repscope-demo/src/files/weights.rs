// SPDX-License-Identifier: MIT
//! Weights under the names and in the order that the encoder has in PyTorch.

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
            // The stored encoder sees gray values, the trained one saw shares of white.
            weight.iter_mut().for_each(|weight| *weight /= WHITE);
        }
        channels = shape[0];
        add(format!("conv_layers.{at}.weight"), shape, weight);
        let name = format!("conv_layers.{at}.bias");
        add(name, vec![channels], stage.conv.bias().to_vec());
        let name = format!("layer_norms.{at}.weight");
        add(name, vec![channels], stage.norm.scale.clone());
        let name = format!("layer_norms.{at}.bias");
        add(name, vec![channels], stage.norm.shift.clone());
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
    use crate::layers::Parameters;
    use crate::training::{CHANNELS, EMBEDDING_DIM};
    use repscope_core::random;

    #[test]
    fn names_and_shapes_are_those_of_document_000() {
        let encoder = Encoder::new(&CHANNELS, EMBEDDING_DIM, &mut random::stream(1, "test", 0));
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
                "fc.weight [32, 4096]",
                "fc.bias [32]",
            ]
        );
    }

    /// The encoder as PyTorch would run it on stored weights and gray values, in plain loops.
    fn run_stored(tensors: &[Tensor], stages: usize, frame: &[u8]) -> Vec<f32> {
        let values = |name: String| &tensors.iter().find(|tensor| tensor.0 == name).expect("a weight").2;
        let normed = |x: &[f32], name: &str| -> Vec<f32> {
            let (scale, shift) = (values(format!("{name}.weight")), values(format!("{name}.bias")));
            let mean = x.iter().sum::<f32>() / x.len() as f32;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / x.len() as f32;
            let scaled = x.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt());
            scaled
                .zip(scale)
                .zip(shift)
                .map(|((x, scale), shift)| x * scale + shift)
                .collect()
        };
        // Channels of rows of pixels.
        let mut x: Vec<f32> = frame.iter().map(|&gray| f32::from(gray)).collect();
        let (mut side, mut depth) = (64, 1);
        for stage in 0..stages {
            let (weight, bias) = (
                values(format!("conv_layers.{stage}.weight")),
                values(format!("conv_layers.{stage}.bias")),
            );
            let half = side / 2;
            let mut y = vec![0.0; bias.len() * half * half];
            for pixel in 0..half * half {
                let mut channels = Vec::new();
                for (output, bias) in bias.iter().enumerate() {
                    let mut sum = *bias;
                    for at in 0..depth * 16 {
                        let (row, column) = (2 * (pixel / half) + at / 4 % 4, 2 * (pixel % half) + at % 4);
                        if (1..=side).contains(&row) && (1..=side).contains(&column) {
                            let seen = x[(at / 16 * side + row - 1) * side + column - 1];
                            sum += weight[output * depth * 16 + at] * seen;
                        }
                    }
                    channels.push(sum / (1.0 + (-sum).exp()));
                }
                for (channel, value) in normed(&channels, &format!("layer_norms.{stage}"))
                    .into_iter()
                    .enumerate()
                {
                    y[channel * half * half + pixel] = value;
                }
            }
            (x, side, depth) = (y, half, bias.len());
        }
        let flat = normed(&x, "final_norm");
        let (weight, bias) = (values("fc.weight".into()), values("fc.bias".into()));
        let dot = |row: &[f32]| row.iter().zip(&flat).map(|(w, x)| w * x).sum::<f32>();
        weight
            .chunks_exact(flat.len())
            .zip(bias)
            .map(|(row, bias)| dot(row) + bias)
            .collect()
    }

    #[test]
    fn stored_weights_give_the_embeddings_of_the_encoder_on_gray_values() {
        let mut encoder = Encoder::new(&[3, 5], 4, &mut random::stream(1, "test", 0));
        // Norms that are not all alike, or a wrong order would not show.
        for (array, values) in encoder.arrays_mut().into_iter().enumerate() {
            values
                .iter_mut()
                .enumerate()
                .for_each(|(at, value)| *value += ((at * 7 + array) % 11) as f32 * 0.02);
        }
        let world = crate::world::World::new(1, "test", 1, 1);
        let expected = crate::networks::encode(&encoder, &world.frames());
        let found = run_stored(&tensors(&encoder), 2, world.frames()[0]);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-3 * (1.0 + expected.abs()),
                "{found} but {expected}"
            );
        }
    }

    #[test]
    fn pixels_with_their_channels_become_channels_with_their_pixels() {
        assert_eq!(
            channels_first(&[1., 10., 2., 20., 3., 30.], 2),
            [1., 2., 3., 10., 20., 30.]
        );
    }
}
