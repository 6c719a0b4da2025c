// SPDX-License-Identifier: MIT
//! Vision transformer (Dosovitskiy et al., 2021) with the names of weights that DINO, DeiT and timm use.
//!
//! ```text
//! input [batch, channels, side, side]  →  features [batch, width]
//!                                         logits [batch, classes], where `head` is one linear layer
//! ```
//!
//! Features are those of the class token after the last normalization. Blocks normalize first; LayerScale (`ls1.gamma`)
//! is understood. Images have the size that the position embeddings were learned for; others are not interpolated. Not
//! determined by the weights: the number of heads (width / 64 in all published sizes; an option), that patches lie in a
//! square, GELU, ε = 1e-6.

use super::Activation;
use super::layers::Layers;
use crate::error::{Result, bail, wrong};
use crate::graph::{Attribute, Dim};

const EPSILON: f32 = 1e-6;
/// Width of a head in all published sizes.
const HEAD_WIDTH: usize = 64;

pub(super) fn write(layers: &mut Layers, heads: Option<usize>) -> Result<String> {
    let own = "blocks. patch_embed. pos_embed cls_token norm reg dist_token fc_norm storage";
    layers.owns(&own.split(' ').collect::<Vec<_>>());
    let [width, channels, patch, patch_width] = layers.shape("patch_embed.proj.weight")?;
    let [_, positions, _] = layers.shape("pos_embed")?;
    let across = (positions - 1).isqrt();
    if across * across != positions - 1 || across == 0 || patch != patch_width {
        bail!(
            "`pos_embed` has {positions} positions for patches of {patch}×{patch_width}: not one for the class and a \
             square of square patches; export the network to ONNX and give that file"
        );
    }
    let heads = checked_heads(heads, width)?;
    let side = across
        .checked_mul(patch)
        .ok_or_else(|| wrong!("{across} patches of {patch} are too large"))?;
    let input = layers.images(channels, Dim::Fixed(side), Dim::Fixed(side));
    let (patches, _) = layers.conv(&input, "patch_embed.proj", channels, patch as i64, 0)?;
    let patches = layers.reshape(&patches, &[0, width as i64, -1])?;
    let patches = layers.transpose(&patches, &[0, 2, 1]);
    let mut x = add_positions(layers, &patches, positions, width)?;
    let blocks = layers.count("blocks.");
    for block in 0..blocks {
        x = write_block(layers, &x, &format!("blocks.{block}"), width, heads)?;
    }
    let first = layers.graph.ints("first token", &[], &[0])?;
    let class = layers
        .graph
        .node("Gather", &[&x, &first], &[("axis", Attribute::Int(1))]);
    let features = layers.layer_norm(&class, "norm", width, EPSILON)?;
    layers.output(&features, "features", width);
    let mut title = format!(
        "vision transformer: {channels} × {side} × {side}, patches of {patch}, depth {blocks}, {heads} heads, \
         {width} features"
    );
    if layers.has("head.weight") {
        let (logits, classes) = layers.linear(&features, "head", width)?;
        layers.output(&logits, "logits", classes);
        title += &format!(", {classes} classes");
    }
    Ok(title)
}

fn checked_heads(heads: Option<usize>, width: usize) -> Result<usize> {
    match heads {
        Some(heads) if heads > 0 && width.is_multiple_of(heads) => Ok(heads),
        Some(heads) => bail!("{heads} attention heads cannot share a width of {width}; give a number that divides it"),
        None if width.is_multiple_of(HEAD_WIDTH) => Ok(width / HEAD_WIDTH),
        None => bail!(
            "the vision transformer has width {width}, which is no multiple of {HEAD_WIDTH}, so the number of \
             attention heads is not known; give it"
        ),
    }
}

/// Puts the class token before the patches and adds the embeddings of positions. Padding by zeros and adding the token
/// together with its position needs no batch size, and 0 + (token + position) is the same number as token + position.
fn add_positions(layers: &mut Layers, patches: &str, positions: usize, width: usize) -> Result<String> {
    let token = layers.values("cls_token", [1, 1, width])?;
    let mut embedding = layers.values("pos_embed", [1, positions, width])?;
    embedding
        .iter_mut()
        .zip(&token)
        .for_each(|(position, token)| *position += token);
    let embedding = layers
        .graph
        .weight("pos_embed + cls_token", &[1, positions, width], &embedding)?;
    let pads = layers.graph.ints("one before the patches", &[6], &[0, 1, 0, 0, 0, 0])?;
    let padded = layers.graph.node("Pad", &[patches, &pads], &[]);
    Ok(layers.graph.node("Add", &[&padded, &embedding], &[]))
}

fn write_block(layers: &mut Layers, x: &str, name: &str, width: usize, heads: usize) -> Result<String> {
    let normed = layers.layer_norm(x, &format!("{name}.norm1"), width, EPSILON)?;
    let attended = write_attention(layers, &normed, &format!("{name}.attn"), width, heads)?;
    let attended = scaled(layers, &attended, &format!("{name}.ls1.gamma"), width)?;
    let x = layers.graph.node("Add", &[x, &attended], &[]);
    let normed = layers.layer_norm(&x, &format!("{name}.norm2"), width, EPSILON)?;
    let (hidden, hidden_width) = layers.linear(&normed, &format!("{name}.mlp.fc1"), width)?;
    let hidden = layers.activation(&hidden, Activation::Gelu)?;
    let (out, _) = layers.linear(&hidden, &format!("{name}.mlp.fc2"), hidden_width)?;
    let out = scaled(layers, &out, &format!("{name}.ls2.gamma"), width)?;
    Ok(layers.graph.node("Add", &[&x, &out], &[]))
}

fn write_attention(layers: &mut Layers, x: &str, name: &str, width: usize, heads: usize) -> Result<String> {
    let head_width = width / heads;
    let mut parts = Vec::new();
    // Queries, keys, values lie one after the other in the rows of `qkv`.
    for part in 0..3 {
        let rows = part * width..(part + 1) * width;
        parts.push(layers.linear_rows(x, &format!("{name}.qkv"), width, 3 * width, rows)?);
    }
    let scale = Some(1.0 / (head_width as f32).sqrt());
    let joined = layers.attend([&parts[0], &parts[1], &parts[2]], (heads, head_width), scale, None)?;
    Ok(layers.linear(&joined, &format!("{name}.proj"), width)?.0)
}

/// LayerScale, where the block has it.
fn scaled(layers: &mut Layers, x: &str, name: &str, width: usize) -> Result<String> {
    if !layers.has(name) {
        return Ok(x.to_string());
    }
    let gamma = layers.weight(name, [width])?;
    Ok(layers.graph.node("Mul", &[x, &gamma], &[]))
}
