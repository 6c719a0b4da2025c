// SPDX-License-Identifier: MIT
//! Language models: what comes next after each token.
//!
//! ```text
//! input_ids [batch, tokens]  →  logits [batch, tokens, vocabulary]
//! ```
//!
//! GPT-2 (Radford et al., 2019) sees the tokens before. T5 (Raffel et al., 2020) reads a text with its encoder and writes another
//! with its decoder: `encoder_ids` [batch, read] is what was read.

use super::pre_norm::{Attention, Causal, write_attention, write_causal, write_feed_forward, write_t5_encoder};
use super::{Config, Written, depth_of, numbers, numbers_of, pairs, relative_bias};
use crate::architectures::layers::Layers;
use crate::error::Result;
use crate::graph::{Dim, Element};

pub(super) fn write_gpt2(layers: &mut Layers, config: &Config) -> Result<Written> {
    layers.owns(&["wte.", "wpe.", "h.", "ln_f."]);
    let names = Causal {
        tokens: "wte.weight",
        positions: "wpe.weight",
        layers: "h.",
        norm: "ln_f",
    };
    let (x, width, written) = write_causal(layers, config, &names, write_layer)?;
    logits(layers, &x, names.tokens, [written.vocabulary, width])?;
    Ok(written)
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
    let name = |part: &str| format!("h.{layer}.{part}");
    let normed = layers.layer_norm(x, &name("ln_1"), width, config.epsilon)?;
    let mut parts = Vec::new();
    for part in 0..3 {
        let columns = part * width..(part + 1) * width;
        parts.push(layers.linear_columns(&normed, &name("attn.c_attn"), width, 3 * width, columns)?);
    }
    let scale = config.language.map_or(1.0, |language| language.scale(heads.1, layer));
    let joined = layers.attend([&parts[0], &parts[1], &parts[2]], heads, Some(scale), Some(mask))?;
    let attended = layers.linear_columns(&joined, &name("attn.c_proj"), width, width, 0..width)?;
    let x = layers.graph.node("Add", &[x, &attended], &[]);
    let normed = layers.layer_norm(&x, &name("ln_2"), width, config.epsilon)?;
    let [_, inner] = layers.shape(&name("mlp.c_fc.weight"))?;
    let up = layers.linear_columns(&normed, &name("mlp.c_fc"), width, inner, 0..inner)?;
    let active = layers.activation(&up, config.activation)?;
    let down = layers.linear_columns(&active, &name("mlp.c_proj"), inner, width, 0..width)?;
    Ok(layers.graph.node("Add", &[&x, &down], &[]))
}

pub(super) fn write_t5(layers: &mut Layers, config: &Config) -> Result<Written> {
    layers.owns(&["encoder.", "decoder.", "shared."]);
    // Old files have a table that no layer reads.
    layers.pass_over("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");
    let read = numbers_of(layers, "encoder_ids", "read");
    let (memory, table, [vocabulary, width]) = write_t5_encoder(layers, config, &read, ("encoder_buckets", "read"))?;
    layers.refuse_other(&table, "decoder.embed_tokens.weight", [vocabulary, width])?;
    let ids = numbers(layers, "input_ids");
    let mut x = layers.look_up(&table, &ids)?;
    let bias = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    let bias = relative_bias(layers, bias, config, ("relative_buckets", "tokens"))?;
    let mask = pairs(layers, "causal_mask", Element::Float, "tokens");
    let bias = layers.graph.node("Add", &[&bias, &mask], &[]);
    let wanted = config
        .language
        .and_then(|language| language.decoder_layers)
        .or(config.layers);
    let depth = depth_of(layers, "decoder.block.", wanted)?;
    for block in 0..depth {
        let block = format!("decoder.block.{block}.layer");
        let own = Attention {
            part: "SelfAttention",
            memory: None,
            bias: Some(&bias),
        };
        x = write_attention(layers, &x, &format!("{block}.0"), width, config, own)?;
        let across = Attention {
            part: "EncDecAttention",
            memory: Some(&memory),
            bias: None,
        };
        x = write_attention(layers, &x, &format!("{block}.1"), width, config, across)?;
        x = write_feed_forward(layers, &x, &format!("{block}.2"), width, config)?;
    }
    let mut x = layers.rms_norm(&x, "decoder.final_layer_norm", width, config.epsilon)?;
    if config.language.is_some_and(|language| language.scales_output) {
        x = layers.times(&x, 1.0 / (width as f32).sqrt())?;
    }
    logits(layers, &x, &table, [vocabulary, width])?;
    Ok(Written {
        title: config.title(depth, width, vocabulary),
        vocabulary,
        longest: None,
    })
}

/// A number for each token that may come next: by a layer of its own, or by the embeddings of the tokens.
fn logits(layers: &mut Layers, x: &str, table: &str, [vocabulary, width]: [usize; 2]) -> Result<()> {
    let matrix = match layers.outside("lm_head.weight", [vocabulary, width])? {
        Some(own) => own,
        None => layers.weight(table, [vocabulary, width])?,
    };
    let matrix = layers.transpose(&matrix, &[1, 0]);
    let value = layers.graph.node("MatMul", &[x, &matrix], &[]);
    let dims = [Dim::named("batch"), Dim::named("tokens"), Dim::Fixed(vocabulary)];
    layers.graph.output(&value, "logits", Element::Float, &dims);
    Ok(())
}
