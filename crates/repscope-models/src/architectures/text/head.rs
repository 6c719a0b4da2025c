// SPDX-License-Identifier: MIT
//! What comes after a text model: linear layers on the vector of a text, or a learned query that attends to all its
//! tokens.

use crate::architectures::Activation;
use crate::architectures::layers::Layers;
use crate::architectures::recognize::WeightSource;
use crate::error::{Result, bail};
use crate::graph::{Dim, Element};

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
