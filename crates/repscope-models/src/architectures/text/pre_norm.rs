// SPDX-License-Identifier: MIT
//! Layers that normalize first. The text tower of CLIP (Radford et al., 2021): no token sees a later one. And the encoder of T5.

use super::{Written, depth, head_width, hidden_output, linear, numbers, pairs, relative_bias};
use crate::architectures::layers::Layers;
use crate::architectures::text::Config;
use crate::error::Result;
use crate::graph::Element;

pub(super) fn write_clip(layers: &mut Layers, config: &Config) -> Result<Written> {
    layers.owns(&[
        "embeddings.token_embedding",
        "embeddings.position_embedding.",
        "encoder.",
        "final_layer_norm.",
    ]);
    let names = Causal {
        tokens: "embeddings.token_embedding.weight",
        positions: "embeddings.position_embedding.weight",
        layers: "encoder.layers.",
        norm: "final_layer_norm",
    };
    let (x, width, written) = write_causal(layers, config, &names, write_layer)?;
    hidden_output(layers, &x, width);
    Ok(written)
}

/// The names of the weights of layers in which no token sees a later one.
pub(super) struct Causal<'a> {
    pub(super) tokens: &'a str,
    pub(super) positions: &'a str,
    /// What the names of the layers begin with.
    pub(super) layers: &'a str,
    /// The norm behind the last layer.
    pub(super) norm: &'a str,
}

/// Writes a layer on top of a value: its number, the number and width of its heads, and the mask.
type WriteLayer = fn(&mut Layers, &str, usize, (usize, usize), &str, &Config) -> Result<String>;

/// Tokens and their positions through layers in which no token sees a later one: the result and its width.
pub(super) fn write_causal(
    layers: &mut Layers,
    config: &Config,
    names: &Causal,
    write_layer: WriteLayer,
) -> Result<(String, usize, Written)> {
    let [vocabulary, width] = layers.shape(names.tokens)?;
    let [longest, _] = layers.shape(names.positions)?;
    let heads = (config.heads, head_width(width, config.heads)?);
    let ids = numbers(layers, "input_ids");
    let tokens = layers.look_up(names.tokens, &ids)?;
    let positions = numbers(layers, "position_ids");
    let positions = layers.look_up(names.positions, &positions)?;
    let mut x = layers.graph.node("Add", &[&tokens, &positions], &[]);
    let mask = pairs(layers, "causal_mask", Element::Float, "tokens");
    let depth = depth(layers, names.layers, config)?;
    for layer in 0..depth {
        x = write_layer(layers, &x, layer, heads, &mask, config)?;
    }
    let x = layers.layer_norm(&x, names.norm, width, config.epsilon)?;
    let written = Written {
        title: config.title(depth, width, vocabulary),
        vocabulary,
        longest: Some(longest),
    };
    Ok((x, width, written))
}

fn write_layer(
    layers: &mut Layers,
    x: &str,
    layer: usize,
    heads: (usize, usize),
    mask: &str,
    config: &Config,
) -> Result<String> {
    let width = heads.0 * heads.1;
    let name = |part: &str| format!("encoder.layers.{layer}.{part}");
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

// The encoder of T5 (Raffel et al., 2020). Layers normalize first, by the root mean square; products of attention are
// not scaled; positions enter as a bias for the distance of two tokens, which the first layer holds for all.

pub(super) fn write_t5(layers: &mut Layers, config: &Config) -> Result<Written> {
    layers.owns(&["encoder.", "shared."]);
    let ids = numbers(layers, "input_ids");
    let (x, _, [vocabulary, width]) = write_t5_encoder(layers, config, &ids, ("relative_buckets", "tokens"))?;
    hidden_output(layers, &x, width);
    Ok(Written {
        title: config.title(layers.count("encoder.block."), width, vocabulary),
        vocabulary,
        longest: None,
    })
}

/// What the encoder makes of tokens, the table that embeds them, and its shape. `buckets` are the input for distances and the name
/// of its sizes.
pub(super) fn write_t5_encoder(
    layers: &mut Layers,
    config: &Config,
    ids: &str,
    buckets: (&str, &str),
) -> Result<(String, String, [usize; 2])> {
    let tables = ["shared.weight", "encoder.embed_tokens.weight"];
    let table = tables.into_iter().find(|table| layers.has(table)).unwrap_or(tables[0]);
    let shape: [usize; 2] = layers.shape(table)?;
    let width = shape[1];
    let mut x = layers.look_up(table, ids)?;
    layers.refuse_other(table, tables[1], shape)?;
    let bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    let bias = relative_bias(layers, bias, config, buckets)?;
    for block in 0..depth(layers, "encoder.block.", config)? {
        let block = format!("encoder.block.{block}.layer");
        let own = Attention {
            part: "SelfAttention",
            memory: None,
            bias: Some(&bias),
        };
        x = write_attention(layers, &x, &format!("{block}.0"), width, config, own)?;
        x = write_feed_forward(layers, &x, &format!("{block}.1"), width, config)?;
    }
    let x = layers.rms_norm(&x, "encoder.final_layer_norm", width, config.epsilon)?;
    Ok((x, table.to_string(), shape))
}

/// What tokens attend to.
pub(super) struct Attention<'a> {
    /// The name of its weights.
    pub(super) part: &'a str,
    /// What the encoder gave; none where tokens attend to themselves.
    pub(super) memory: Option<&'a str>,
    pub(super) bias: Option<&'a str>,
}

pub(super) fn write_attention(
    layers: &mut Layers,
    x: &str,
    name: &str,
    width: usize,
    config: &Config,
    Attention { part, memory, bias }: Attention,
) -> Result<String> {
    let inner = config.heads * config.head_width;
    let normed = layers.rms_norm(x, &format!("{name}.layer_norm"), width, config.epsilon)?;
    let seen = memory.unwrap_or(&normed);
    let mut parts = Vec::new();
    for (own, from) in [("q", normed.as_str()), ("k", seen), ("v", seen)] {
        let own = format!("{name}.{part}.{own}");
        parts.push(layers.linear_rows(from, &own, width, inner, 0..inner)?);
    }
    let heads = (config.heads, config.head_width);
    let joined = layers.attend([&parts[0], &parts[1], &parts[2]], heads, None, bias)?;
    let out = format!("{name}.{part}.o");
    let attended = layers.linear_rows(&joined, &out, inner, width, 0..width)?;
    Ok(layers.graph.node("Add", &[x, &attended], &[]))
}

pub(super) fn write_feed_forward(
    layers: &mut Layers,
    x: &str,
    name: &str,
    width: usize,
    config: &Config,
) -> Result<String> {
    let normed = layers.rms_norm(x, &format!("{name}.layer_norm"), width, config.epsilon)?;
    let dense = format!("{name}.DenseReluDense");
    let first = if config.is_gated { "wi_0" } else { "wi" };
    let (up, up_width) = layers.linear(&normed, &format!("{dense}.{first}"), width)?;
    let mut hidden = layers.activation(&up, config.activation)?;
    if config.is_gated {
        let part = format!("{dense}.wi_1");
        let other = layers.linear_rows(&normed, &part, width, up_width, 0..up_width)?;
        hidden = layers.graph.node("Mul", &[&hidden, &other], &[]);
    }
    let down = layers.linear_rows(&hidden, &format!("{dense}.wo"), up_width, width, 0..width)?;
    Ok(layers.graph.node("Add", &[x, &down], &[]))
}
