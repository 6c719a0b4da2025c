// SPDX-License-Identifier: MIT
//! Transformers for texts: from `config.json` and weights, as Hugging Face keeps them, to a graph.
//!
//! ```text
//! input_ids [batch, tokens]  →  last_hidden_state [batch, tokens, width]
//!                               pooler_output [batch, width], where there are weights for it
//! ```
//!
//! All texts of a batch have the same number of tokens, so there is no padding and no mask. Further inputs are those
//! that follow from the number of tokens: `position_ids` (BERT and its kin, CLIP), `relative_buckets`
//! (T5, MPNet: which bias each distance has) and `causal_mask` (CLIP: no token sees a later one). Language models have logits
//! instead of vectors: see `language`.

mod config;
mod language;
mod post_norm;
mod pre_norm;

use std::collections::BTreeSet;

use super::layers::Layers;
use super::recognize::{WeightSource, listed};
use crate::architectures::Activation;
use crate::error::{Result, bail};
use crate::graph::{Dim, Element};

pub(crate) use config::{Config, Family};

/// A graph made of weights.
pub(crate) struct TextGraph {
    pub(crate) onnx: Vec<u8>,
    /// What it is, for people.
    pub(crate) title: String,
    /// Weights that are not used: decoders, heads, towers for images.
    pub(crate) ignored: Vec<String>,
    /// How many tokens it knows.
    pub(crate) vocabulary: usize,
    /// How many tokens a text may have; none where positions have no table.
    pub(crate) longest: Option<usize>,
}

/// What a writer says about the graph it wrote.
struct Written {
    title: String,
    vocabulary: usize,
    longest: Option<usize>,
}

/// Writes the graph.
pub(crate) fn write(config: &Config, weights: &dyn WeightSource) -> Result<TextGraph> {
    let prefix = prefix(config.family, weights)?;
    let mut layers = Layers::new(&config.family.to_string(), weights, &prefix);
    let written = match config.family {
        Family::Clip => pre_norm::write_clip(&mut layers, config)?,
        Family::T5 => pre_norm::write_t5(&mut layers, config)?,
        Family::Gpt2 => language::write_gpt2(&mut layers, config)?,
        Family::T5Decoder => language::write_t5(&mut layers, config)?,
        Family::Bert | Family::DistilBert | Family::Roberta | Family::Mpnet => post_norm::write(&mut layers, config)?,
    };
    let (onnx, ignored) = layers.finish()?;
    Ok(TextGraph {
        onnx,
        title: written.title,
        ignored,
        vocabulary: written.vocabulary,
        longest: written.longest,
    })
}

/// The prefix of the weights, found by a weight that each family has.
fn prefix(family: Family, weights: &dyn WeightSource) -> Result<String> {
    let sign = match family {
        Family::Clip => "embeddings.token_embedding.weight",
        Family::T5 | Family::T5Decoder => "encoder.block.0.layer.0.SelfAttention.q.weight",
        Family::Gpt2 => "wte.weight",
        _ => "embeddings.word_embeddings.weight",
    };
    let prefixes: BTreeSet<String> = weights
        .names()
        .iter()
        .filter_map(|name| name.strip_suffix(sign))
        .filter(|prefix| prefix.is_empty() || prefix.ends_with('.'))
        .map(str::to_string)
        .collect();
    let mut found = prefixes.into_iter();
    match (found.next(), found.next()) {
        (Some(prefix), None) => Ok(prefix),
        (Some(one), Some(other)) => bail!(
            "the weights hold two networks of the kind {family}, under `{one}` and `{other}`; export the one that is \
             meant to ONNX and give that file"
        ),
        (None, _) => bail!(
            "a {family} needs a weight `{sign}`, which is missing under every prefix; the weights are {}",
            listed(weights, sign)
        ),
    }
}

/// Declares integers for each token.
fn numbers(layers: &mut Layers, name: &str) -> String {
    numbers_of(layers, name, "tokens")
}

/// The same for tokens of which there are other numbers.
fn numbers_of(layers: &mut Layers, name: &str, count: &str) -> String {
    let dims = [Dim::named("batch"), Dim::named(count)];
    layers.graph.input(name, Element::Int64, &dims)
}

/// Declares what each pair of tokens has.
fn pairs(layers: &mut Layers, name: &str, element: Element, count: &str) -> String {
    let dims = [Dim::named(count), Dim::named(count)];
    layers.graph.input(name, element, &dims)
}

/// Makes the vectors of all tokens an output.
fn hidden_output(layers: &mut Layers, value: &str, width: usize) {
    let dims = [Dim::named("batch"), Dim::named("tokens"), Dim::Fixed(width)];
    layers.graph.output(value, "last_hidden_state", Element::Float, &dims);
}

/// A bias for each head and pair of tokens: [1, heads, tokens, tokens], from a table of buckets. The input that says which bucket a
/// pair has, and the name of its sizes.
fn relative_bias(layers: &mut Layers, table: &str, config: &Config, (input, count): (&str, &str)) -> Result<String> {
    let Config { heads, buckets, .. } = *config;
    let found: [usize; 2] = layers.shape(table)?;
    if found != [buckets, heads] {
        bail!(
            "`{table}` has shape {}×{}, but config.json says {buckets} buckets and {heads} heads",
            found[0],
            found[1]
        );
    }
    let numbers = pairs(layers, input, Element::Int64, count);
    let bias = layers.look_up(table, &numbers)?;
    let bias = layers.transpose(&bias, &[2, 0, 1]);
    let name = layers.graph.fresh("before the heads");
    let axes = layers.graph.ints(&name, &[1], &[0])?;
    Ok(layers.graph.node("Unsqueeze", &[&bias, &axes], &[]))
}

/// A linear layer with `out` outputs, or any number, which must have a bias.
fn linear(layers: &mut Layers, x: &str, name: &str, width: usize, out: Option<usize>) -> Result<(String, usize)> {
    let [there] = layers.shape(&format!("{name}.bias"))?;
    let out = out.unwrap_or(there);
    Ok((layers.linear_rows(x, name, width, out, 0..out)?, out))
}

/// How many layers the weights have, which must be as many as the configuration says.
fn depth(layers: &Layers, beginning: &str, config: &Config) -> Result<usize> {
    depth_of(layers, beginning, config.layers)
}

fn depth_of(layers: &Layers, beginning: &str, said: Option<usize>) -> Result<usize> {
    let there = layers.count(beginning);
    match said {
        Some(said) if said != there => {
            bail!("config.json says {said} layers, but there are weights for {there} (`{beginning}0.` and on)")
        }
        _ => Ok(there),
    }
}

/// The width of a head.
fn head_width(width: usize, heads: usize) -> Result<usize> {
    if heads == 0 || !width.is_multiple_of(heads) {
        bail!("config.json says {heads} attention heads, which cannot share a width of {width}");
    }
    Ok(width / heads)
}

// What comes after a text model: linear layers on the vector of a text, or a learned query that attends to all its
// tokens.

/// A small graph: `input` to `embedding`.
pub(crate) struct Head {
    pub(crate) onnx: Vec<u8>,
    /// What it is, for people.
    pub(crate) title: String,
    /// The width it takes.
    pub(crate) width: usize,
}

/// Linear layers of these names, with an activation between them and perhaps one at the end: [batch, width].
pub(crate) fn write_layers(
    weights: &dyn WeightSource,
    names: &[String],
    between: Activation,
    end: Option<Activation>,
) -> Result<Head> {
    let mut layers = Layers::new("projection", weights, "");
    let Some(first) = names.first() else {
        bail!("a projection without layers");
    };
    let [_, width] = layers.shape(&format!("{first}.weight"))?;
    let dims = [Dim::named("batch"), Dim::Fixed(width)];
    let mut x = layers.graph.input("input", Element::Float, &dims);
    let mut sizes = vec![width];
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            x = layers.activation(&x, between)?;
        }
        let (value, out) = layers.linear(&x, name, sizes[at])?;
        (x, _) = (value, sizes.push(out));
    }
    if let Some(end) = end {
        x = layers.activation(&x, end)?;
    }
    layers.output(&x, "embedding", *sizes.last().unwrap_or(&width));
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    Ok(Head {
        onnx: layers.finish()?.0,
        title: sizes.join(" → "),
        width,
    })
}

/// One learned query over the vectors of all tokens, [batch, tokens, width]: `query`, and under `in_proj` and
/// `out_proj` the weights that PyTorch's `MultiheadAttention` has.
pub(crate) fn write_aligner(weights: &dyn WeightSource, heads: usize) -> Result<Head> {
    let mut layers = Layers::new("text aligner", weights, "");
    let [_, _, width] = layers.shape("query")?;
    if heads == 0 || !width.is_multiple_of(heads) {
        bail!("{heads} attention heads cannot share the aligner's width of {width}; give a number that divides it");
    }
    let dims = [Dim::named("batch"), Dim::named("tokens"), Dim::Fixed(width)];
    let tokens = layers.graph.input("input", Element::Float, &dims);
    let query = layers.weight("query", [1, 1, width])?;
    let mut parts = Vec::new();
    // Queries, keys, values lie one after the other in the rows of `in_proj`.
    for (part, x) in [&query, &tokens, &tokens].into_iter().enumerate() {
        let rows = part * width..(part + 1) * width;
        parts.push(layers.linear_rows(x, "in_proj", width, 3 * width, rows)?);
    }
    let head_width = width / heads;
    let scale = Some(1.0 / (head_width as f32).sqrt());
    let joined = layers.attend([&parts[0], &parts[1], &parts[2]], (heads, head_width), scale, None)?;
    let joined = layers.reshape(&joined, &[0, width as i64])?;
    let (embedding, out) = layers.linear(&joined, "out_proj", width)?;
    layers.output(&embedding, "embedding", out);
    Ok(Head {
        onnx: layers.finish()?.0,
        title: format!("a query of width {width} with {heads} heads"),
        width,
    })
}

#[cfg(test)]
mod tests;
