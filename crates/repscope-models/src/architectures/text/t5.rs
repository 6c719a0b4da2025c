// SPDX-License-Identifier: MIT
//! The encoder of T5 (Raffel et al., 2020). Layers normalize first, by the root mean square; products of attention are
//! not scaled; positions enter as a bias for the distance of two tokens, which the first layer holds for all.

use super::{Written, depth, hidden_output, numbers, relative_bias};
use crate::architectures::layers::Layers;
use crate::architectures::text::Config;
use crate::error::{Result, bail};

pub(super) fn write(layers: &mut Layers, config: &Config) -> Result<Written> {
    layers.owns(&["encoder.", "shared."]);
    let tables = ["shared.weight", "encoder.embed_tokens.weight"];
    let table = tables.into_iter().find(|table| layers.has(table)).unwrap_or(tables[0]);
    let [vocabulary, width] = layers.shape(table)?;
    let ids = numbers(layers, "input_ids");
    let mut x = layers.look_up(table, &ids)?;
    if table == tables[0] && layers.has(tables[1]) {
        // The same numbers under a second name.
        let [shared, copy] = [
            layers.values(tables[0], [vocabulary, width])?,
            layers.values(tables[1], [vocabulary, width])?,
        ];
        if shared != copy {
            bail!(
                "`{}` and `{}` differ, so it is not known which embeds the tokens; export the model to ONNX and give \
                 that file",
                tables[0],
                tables[1]
            );
        }
    }
    let bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    let bias = relative_bias(layers, bias, config.heads, config.buckets)?;
    let depth = depth(layers, "encoder.block.", config)?;
    for block in 0..depth {
        let block = format!("encoder.block.{block}.layer");
        x = write_attention(layers, &x, &format!("{block}.0"), width, config, &bias)?;
        x = write_feed_forward(layers, &x, &format!("{block}.1"), width, config)?;
    }
    let x = layers.rms_norm(&x, "encoder.final_layer_norm", width, config.epsilon)?;
    hidden_output(layers, &x, width);
    Ok(Written {
        title: config.title(depth, width, vocabulary),
        vocabulary,
        longest: None,
    })
}

fn write_attention(
    layers: &mut Layers,
    x: &str,
    name: &str,
    width: usize,
    config: &Config,
    bias: &str,
) -> Result<String> {
    let inner = config.heads * config.head_width;
    let normed = layers.rms_norm(x, &format!("{name}.layer_norm"), width, config.epsilon)?;
    let mut parts = Vec::new();
    for part in ["q", "k", "v"] {
        let part = format!("{name}.SelfAttention.{part}");
        parts.push(layers.linear_rows(&normed, &part, width, inner, 0..inner)?);
    }
    let heads = (config.heads, config.head_width);
    let joined = layers.attend([&parts[0], &parts[1], &parts[2]], heads, None, Some(bias))?;
    let out = format!("{name}.SelfAttention.o");
    let attended = layers.linear_rows(&joined, &out, inner, width, 0..width)?;
    Ok(layers.graph.node("Add", &[x, &attended], &[]))
}

fn write_feed_forward(layers: &mut Layers, x: &str, name: &str, width: usize, config: &Config) -> Result<String> {
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
