// SPDX-License-Identifier: MIT
//! BERT (Devlin et al., 2019) and those that are built like it: DistilBERT, RoBERTa, MPNet. They differ in the names of
//! their weights and in what they say about positions.
//!
//! Each layer adds attention and normalizes, then adds two linear layers and normalizes.

use super::{Written, depth, head_width, hidden_output, linear, numbers, relative_bias};
use crate::architectures::Activation;
use crate::architectures::layers::Layers;
use crate::architectures::text::{Config, Family};
use crate::error::{Result, wrong};
use crate::graph::Attribute;

/// The names within a layer.
struct Names {
    layers: &'static str,
    queries_keys_values: [&'static str; 3],
    out: &'static str,
    attention_norm: &'static str,
    up: &'static str,
    down: &'static str,
    norm: &'static str,
}

const BERT: Names = Names {
    layers: "encoder.layer.",
    queries_keys_values: ["attention.self.query", "attention.self.key", "attention.self.value"],
    out: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    norm: "output.LayerNorm",
};

const DISTIL: Names = Names {
    layers: "transformer.layer.",
    queries_keys_values: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    out: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    norm: "output_layer_norm",
};

const MPNET: Names = Names {
    queries_keys_values: ["attention.attn.q", "attention.attn.k", "attention.attn.v"],
    out: "attention.attn.o",
    attention_norm: "attention.LayerNorm",
    ..BERT
};

pub(super) fn write(layers: &mut Layers, config: &Config) -> Result<Written> {
    let names = match config.family {
        Family::DistilBert => DISTIL,
        Family::Mpnet => MPNET,
        _ => BERT,
    };
    layers.owns(&["embeddings.", "encoder.", "transformer."]);
    let [vocabulary, width] = layers.shape("embeddings.word_embeddings.weight")?;
    let [positions, _] = layers.shape("embeddings.position_embeddings.weight")?;
    let heads = (config.heads, head_width(width, config.heads)?);
    let ids = numbers(layers, "input_ids");
    let mut x = write_embeddings(layers, &ids, width, config)?;
    let bias = match config.family {
        Family::Mpnet => {
            let table = "encoder.relative_attention_bias.weight";
            Some(relative_bias(layers, table, config, ("relative_buckets", "tokens"))?)
        }
        _ => None,
    };
    let depth = depth(layers, names.layers, config)?;
    for layer in 0..depth {
        let layer = Layer {
            name: format!("{}{layer}", names.layers),
            names: &names,
            width,
            heads,
            config,
        };
        x = layer.write(layers, &x, bias.as_deref())?;
    }
    hidden_output(layers, &x, width);
    if layers.has("pooler.dense.weight") {
        write_pooler(layers, &x, width)?;
    }
    // Positions before the first are those of the padding token and of the ones before it.
    let before = match config.family {
        Family::Roberta | Family::Mpnet => usize::try_from(config.pad + 1).unwrap_or(0),
        _ => 0,
    };
    let longest = positions
        .checked_sub(before)
        .filter(|&longest| longest > 0)
        .ok_or_else(|| {
            wrong!("there are embeddings of {positions} positions, but the first token has number {before}")
        })?;
    Ok(Written {
        title: config.title(depth, width, vocabulary),
        vocabulary,
        longest: Some(longest),
    })
}

/// Tokens, their kind (all texts are of the first) and their positions, normalized.
fn write_embeddings(layers: &mut Layers, ids: &str, width: usize, config: &Config) -> Result<String> {
    let mut x = layers.look_up("embeddings.word_embeddings.weight", ids)?;
    let kinds = "embeddings.token_type_embeddings.weight";
    if matches!(config.family, Family::Bert | Family::Roberta) {
        let [count, _] = layers.shape(kinds)?;
        let values = layers.values(kinds, [count, width])?;
        let first = layers
            .graph
            .weight("the first kind of text", &[width], &values[..width])?;
        x = layers.graph.node("Add", &[&x, &first], &[]);
    }
    let positions = numbers(layers, "position_ids");
    let positions = layers.look_up("embeddings.position_embeddings.weight", &positions)?;
    let x = layers.graph.node("Add", &[&x, &positions], &[]);
    layers.layer_norm(&x, "embeddings.LayerNorm", width, config.epsilon)
}

/// One layer and its surroundings.
struct Layer<'a> {
    name: String,
    names: &'a Names,
    width: usize,
    heads: (usize, usize),
    config: &'a Config,
}

impl Layer<'_> {
    fn write(&self, layers: &mut Layers, x: &str, bias: Option<&str>) -> Result<String> {
        let (names, width, epsilon) = (self.names, self.width, self.config.epsilon);
        let name = |part: &str| format!("{}.{part}", self.name);
        let mut parts = Vec::new();
        for part in names.queries_keys_values {
            parts.push(linear(layers, x, &name(part), width, Some(width))?.0);
        }
        let scale = Some(1.0 / (self.heads.1 as f32).sqrt());
        let joined = layers.attend([&parts[0], &parts[1], &parts[2]], self.heads, scale, bias)?;
        let (attended, _) = linear(layers, &joined, &name(names.out), width, Some(width))?;
        let sum = layers.graph.node("Add", &[&attended, x], &[]);
        let x = layers.layer_norm(&sum, &name(names.attention_norm), width, epsilon)?;
        let (up, up_width) = linear(layers, &x, &name(names.up), width, None)?;
        let active = layers.activation(&up, self.config.activation)?;
        let (down, _) = linear(layers, &active, &name(names.down), up_width, Some(width))?;
        let sum = layers.graph.node("Add", &[&down, &x], &[]);
        layers.layer_norm(&sum, &name(names.norm), width, epsilon)
    }
}

/// The first token through a linear layer and tanh.
fn write_pooler(layers: &mut Layers, x: &str, width: usize) -> Result<()> {
    let first = layers.graph.ints("first token", &[], &[0])?;
    let first = layers
        .graph
        .node("Gather", &[x, &first], &[("axis", Attribute::Int(1))]);
    let (pooled, out) = linear(layers, &first, "pooler.dense", width, None)?;
    let pooled = layers.activation(&pooled, Activation::Tanh)?;
    layers.output(&pooled, "pooler_output", out);
    Ok(())
}
