// SPDX-License-Identifier: MIT
//! The text tower of CLIP (Radford et al., 2021): layers that normalize first, and no token that sees a later one.

use super::{Written, depth, head_width, hidden_output, linear, numbers, pairs};
use crate::architectures::layers::Layers;
use crate::architectures::text::Config;
use crate::error::Result;
use crate::graph::Element;

pub(super) fn write(layers: &mut Layers, config: &Config) -> Result<Written> {
    layers.owns(&[
        "embeddings.token_embedding",
        "embeddings.position_embedding.",
        "encoder.",
        "final_layer_norm.",
    ]);
    let [vocabulary, width] = layers.shape("embeddings.token_embedding.weight")?;
    let [longest, _] = layers.shape("embeddings.position_embedding.weight")?;
    let heads = (config.heads, head_width(width, config.heads)?);
    let ids = numbers(layers, "input_ids");
    let tokens = layers.look_up("embeddings.token_embedding.weight", &ids)?;
    let positions = numbers(layers, "position_ids");
    let positions = layers.look_up("embeddings.position_embedding.weight", &positions)?;
    let mut x = layers.graph.node("Add", &[&tokens, &positions], &[]);
    let mask = pairs(layers, "causal_mask", Element::Float);
    let depth = depth(layers, "encoder.layers.", config)?;
    for layer in 0..depth {
        x = write_layer(layers, &x, &format!("encoder.layers.{layer}"), heads, &mask, config)?;
    }
    let x = layers.layer_norm(&x, "final_layer_norm", width, config.epsilon)?;
    hidden_output(layers, &x, width);
    Ok(Written {
        title: config.title(depth, width, vocabulary),
        vocabulary,
        longest: Some(longest),
    })
}

fn write_layer(
    layers: &mut Layers,
    x: &str,
    name: &str,
    heads: (usize, usize),
    mask: &str,
    config: &Config,
) -> Result<String> {
    let width = heads.0 * heads.1;
    let name = |part: &str| format!("{name}.{part}");
    let normed = layers.layer_norm(x, &name("layer_norm1"), width, config.epsilon)?;
    let mut parts = Vec::new();
    for part in ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"] {
        parts.push(linear(layers, &normed, &name(part), width, Some(width))?.0);
    }
    let scale = Some(1.0 / (heads.1 as f32).sqrt());
    let joined = layers.attend([&parts[0], &parts[1], &parts[2]], heads, scale, Some(mask))?;
    let (attended, _) = linear(layers, &joined, &name("self_attn.out_proj"), width, Some(width))?;
    let x = layers.graph.node("Add", &[x, &attended], &[]);
    let normed = layers.layer_norm(&x, &name("layer_norm2"), width, config.epsilon)?;
    let (up, up_width) = linear(layers, &normed, &name("mlp.fc1"), width, None)?;
    let active = layers.activation(&up, config.activation)?;
    let (down, _) = linear(layers, &active, &name("mlp.fc2"), up_width, Some(width))?;
    Ok(layers.graph.node("Add", &[&x, &down], &[]))
}
