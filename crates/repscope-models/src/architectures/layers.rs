// SPDX-License-Identifier: MIT
//! Layers of networks, written as nodes of a graph with weights under the names that PyTorch gives them.

use std::collections::BTreeSet;

use super::Activation;
use super::recognize::{WeightSource, listed, shape_text};
use crate::error::{Result, bail};
use crate::graph::{Attribute, Dim, Element, GraphBuilder};

/// ε of batch normalization in PyTorch.
const BATCH_NORM_EPSILON: f32 = 1e-5;

/// What stands around an image before a convolution.
#[derive(Debug, Clone, Copy)]
pub(super) enum Padding {
    /// So many zeros on each side.
    Of(i64),
    /// As many as make the image smaller by the stride alone, as TensorFlow does it: one more at the end where they are odd.
    Same,
}

/// A graph under construction and the weights it takes.
pub(super) struct Layers<'a> {
    pub(super) graph: GraphBuilder,
    /// What is written, for messages.
    kind: String,
    weights: &'a dyn WeightSource,
    names: BTreeSet<String>,
    used: BTreeSet<String>,
    /// Those that are constants of the graph as they are.
    placed: BTreeSet<String>,
    prefix: &'a str,
    /// The weights that must all be used, by the beginnings of their names.
    own: Vec<String>,
}

impl<'a> Layers<'a> {
    pub(super) fn new(kind: &str, weights: &'a dyn WeightSource, prefix: &'a str) -> Layers<'a> {
        Layers {
            graph: GraphBuilder::new(kind),
            kind: kind.to_string(),
            weights,
            names: weights.names().into_iter().collect(),
            used: BTreeSet::new(),
            placed: BTreeSet::new(),
            prefix,
            own: Vec::new(),
        }
    }

    /// Declares the images that come in: any number of them.
    pub(super) fn images(&mut self, channels: usize, height: Dim, width: Dim) -> String {
        let dims = [Dim::named("batch"), Dim::Fixed(channels), height, width];
        self.graph.input("input", Element::Float, &dims)
    }

    /// Makes a vector per image an output.
    pub(super) fn output(&mut self, value: &str, name: &str, width: usize) {
        let dims = [Dim::named("batch"), Dim::Fixed(width)];
        self.graph.output(value, name, Element::Float, &dims);
    }

    /// Says that every weight whose name begins so belongs to the network. One that is then not used means that this is
    /// another network than the one that was written.
    pub(super) fn owns(&mut self, beginnings: &[&str]) {
        let full = beginnings.iter().map(|beginning| format!("{}{beginning}", self.prefix));
        self.own.extend(full);
    }

    /// The model file, and the weights that were not used.
    pub(super) fn finish(self) -> Result<(Vec<u8>, Vec<String>)> {
        // What modules keep beside their weights.
        let is_counter = |name: &str| {
            let buffers = [
                "num_batches_tracked",
                ".position_ids",
                ".token_type_ids",
                ".attn.bias",
                ".attn.masked_bias",
            ];
            buffers.iter().any(|buffer| name.ends_with(buffer))
        };
        let left: Vec<String> = self
            .names
            .difference(&self.used)
            .filter(|name| !is_counter(name))
            .cloned()
            .collect();
        if let Some(name) = left
            .iter()
            .find(|name| self.own.iter().any(|own| name.starts_with(own)))
        {
            bail!(
                "`{name}` ({}) has no place in a {}, so this is another network; export it to ONNX and give that file",
                shape_text(&self.weights.shape(name).unwrap_or_default()),
                self.kind
            );
        }
        Ok((self.graph.finish()?, left))
    }

    /// Square convolution; returns the value and its channels. The groups follow from the shape. The bias is optional.
    pub(super) fn conv(
        &mut self,
        x: &str,
        name: &str,
        channels: usize,
        stride: i64,
        pad: i64,
    ) -> Result<(String, usize)> {
        self.conv_padded(x, name, channels, stride, Padding::Of(pad))
    }

    /// The same with any padding.
    pub(super) fn conv_padded(
        &mut self,
        x: &str,
        name: &str,
        channels: usize,
        stride: i64,
        padding: Padding,
    ) -> Result<(String, usize)> {
        let weight = format!("{name}.weight");
        let [out, per_group, height, width] = self.shape(&weight)?;
        if !channels.is_multiple_of(per_group) {
            let prefix = &self.prefix;
            bail!("`{prefix}{weight}` reads {per_group} channels at a time, but {channels} come in");
        }
        let mut inputs = vec![x.to_string(), self.weight(&weight, [out, per_group, height, width])?];
        let bias = format!("{name}.bias");
        if self.has(&bias) {
            inputs.push(self.weight(&bias, [out])?);
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let pads;
        let padding = match padding {
            Padding::Of(pad) => {
                pads = [pad; 4];
                ("pads", Attribute::Ints(&pads))
            }
            Padding::Same => ("auto_pad", Attribute::Text("SAME_UPPER")),
        };
        let attributes = [
            ("kernel_shape", Attribute::Ints(&[height as i64, width as i64])),
            ("strides", Attribute::Ints(&[stride, stride])),
            padding,
            ("group", Attribute::Int((channels / per_group) as i64)),
        ];
        Ok((self.graph.node("Conv", &inputs, &attributes), out))
    }

    /// Batch normalization by the running statistics, over the second axis.
    pub(super) fn batch_norm(&mut self, x: &str, name: &str, channels: usize) -> Result<String> {
        self.batch_norm_with(x, name, channels, BATCH_NORM_EPSILON)
    }

    /// The same with another ε.
    pub(super) fn batch_norm_with(&mut self, x: &str, name: &str, channels: usize, epsilon: f32) -> Result<String> {
        let mut inputs = vec![x.to_string()];
        for part in ["weight", "bias", "running_mean", "running_var"] {
            inputs.push(self.weight(&format!("{name}.{part}"), [channels])?);
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let attributes = [("epsilon", Attribute::Float(epsilon))];
        Ok(self.graph.node("BatchNormalization", &inputs, &attributes))
    }

    /// Layer normalization over the last axis.
    pub(super) fn layer_norm(&mut self, x: &str, name: &str, width: usize, epsilon: f32) -> Result<String> {
        let scale = self.weight(&format!("{name}.weight"), [width])?;
        let bias = self.weight(&format!("{name}.bias"), [width])?;
        let attributes = [("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(epsilon))];
        Ok(self.graph.node("LayerNormalization", &[x, &scale, &bias], &attributes))
    }

    /// Linear layer over the last axis; returns the value and its width. The bias is optional.
    pub(super) fn linear(&mut self, x: &str, name: &str, width: usize) -> Result<(String, usize)> {
        let [out, _] = self.shape(&format!("{name}.weight"))?;
        let value = self.linear_rows(x, name, width, out, 0..out)?;
        Ok((value, out))
    }

    /// Some outputs of a linear layer that has `out` of them.
    pub(super) fn linear_rows(
        &mut self,
        x: &str,
        name: &str,
        width: usize,
        out: usize,
        rows: std::ops::Range<usize>,
    ) -> Result<String> {
        let weight = format!("{name}.weight");
        let values = self.values(&weight, [out, width])?;
        let suffix = if rows == (0..out) {
            String::new()
        } else {
            format!("[{}..{}]", rows.start, rows.end)
        };
        // PyTorch keeps a row per output; a product from the left needs a column.
        let transposed: Vec<f32> = (0..width)
            .flat_map(|column| rows.clone().map(move |row| row * width + column))
            .map(|at| values[at])
            .collect();
        let matrix = self
            .graph
            .weight(&format!("{weight}{suffix}"), &[width, rows.len()], &transposed)?;
        let product = self.graph.node("MatMul", &[x, &matrix], &[]);
        let bias = format!("{name}.bias");
        if !self.has(&bias) {
            return Ok(product);
        }
        let values = self.values(&bias, [out])?;
        let bias = self
            .graph
            .weight(&format!("{bias}{suffix}"), &[rows.len()], &values[rows])?;
        Ok(self.graph.node("Add", &[&product, &bias], &[]))
    }

    /// Some outputs of a linear layer that keeps a column per output, as GPT-2 does.
    pub(super) fn linear_columns(
        &mut self,
        x: &str,
        name: &str,
        width: usize,
        out: usize,
        columns: std::ops::Range<usize>,
    ) -> Result<String> {
        let weight = format!("{name}.weight");
        let values = self.values(&weight, [width, out])?;
        let suffix = format!("[{}..{}]", columns.start, columns.end);
        let rows = values.chunks_exact(out);
        let chosen: Vec<f32> = rows.flat_map(|row| &row[columns.clone()]).copied().collect();
        let shape = [width, columns.len()];
        let matrix = self.graph.weight(&format!("{weight}{suffix}"), &shape, &chosen)?;
        let product = self.graph.node("MatMul", &[x, &matrix], &[]);
        let bias = format!("{name}.bias");
        let values = self.values(&bias, [out])?;
        let values = &values[columns];
        let bias = self.graph.weight(&format!("{bias}{suffix}"), &[values.len()], values)?;
        Ok(self.graph.node("Add", &[&product, &bias], &[]))
    }

    pub(super) fn activation(&mut self, x: &str, activation: Activation) -> Result<String> {
        match activation {
            Activation::Relu => Ok(self.graph.node("Relu", &[x], &[])),
            Activation::Silu => {
                let gate = self.graph.node("Sigmoid", &[x], &[]);
                Ok(self.graph.node("Mul", &[x, &gate], &[]))
            }
            Activation::Tanh => Ok(self.graph.node("Tanh", &[x], &[])),
            Activation::QuickGelu => {
                let scaled = self.times(x, 1.702)?;
                let gate = self.graph.node("Sigmoid", &[&scaled], &[]);
                Ok(self.graph.node("Mul", &[x, &gate], &[]))
            }
            Activation::GeluTanh => {
                // x · (tanh(√(2/π) · (x + 0.044715 · x³)) + 1) · ½
                let square = self.graph.node("Mul", &[x, x], &[]);
                let cube = self.graph.node("Mul", &[&square, x], &[]);
                let small = self.times(&cube, 0.044_715)?;
                let sum = self.graph.node("Add", &[x, &small], &[]);
                let scaled = self.times(&sum, (2.0 / std::f32::consts::PI).sqrt())?;
                let tanh = self.graph.node("Tanh", &[&scaled], &[]);
                let one = self.scalar("one", 1.0)?;
                let sum = self.graph.node("Add", &[&tanh, &one], &[]);
                let product = self.graph.node("Mul", &[x, &sum], &[]);
                self.times(&product, 0.5)
            }
            Activation::Gelu => {
                // x · (erf(x / √2) + 1) · ½
                let root = self.scalar("root two", std::f32::consts::SQRT_2)?;
                let scaled = self.graph.node("Div", &[x, &root], &[]);
                let erf = self.graph.node("Erf", &[&scaled], &[]);
                let one = self.scalar("one", 1.0)?;
                let sum = self.graph.node("Add", &[&erf, &one], &[]);
                let product = self.graph.node("Mul", &[x, &sum], &[]);
                let half = self.scalar("half", 0.5)?;
                Ok(self.graph.node("Mul", &[&product, &half], &[]))
            }
        }
    }

    /// A value times a constant.
    pub(super) fn times(&mut self, x: &str, factor: f32) -> Result<String> {
        let factor = self.scalar("factor", factor)?;
        Ok(self.graph.node("Mul", &[x, &factor], &[]))
    }

    pub(super) fn scalar(&mut self, name: &str, value: f32) -> Result<String> {
        let name = self.graph.fresh(name);
        self.graph.weight(&name, &[], &[value])
    }

    /// The same numbers in other sizes: 0 keeps a size, -1 is what is left.
    pub(super) fn reshape(&mut self, x: &str, sizes: &[i64]) -> Result<String> {
        let name = self.graph.fresh("sizes");
        let sizes = self.graph.ints(&name, &[sizes.len()], sizes)?;
        Ok(self.graph.node("Reshape", &[x, &sizes], &[]))
    }

    pub(super) fn transpose(&mut self, x: &str, order: &[i64]) -> String {
        self.graph.node("Transpose", &[x], &[("perm", Attribute::Ints(order))])
    }
}

impl Layers<'_> {
    /// Attention of queries to keys and values, all [batch, tokens, heads · width of a head]. `bias` is added to the
    /// products before the softmax: what is far, or must not be seen.
    pub(super) fn attend(
        &mut self,
        [queries, keys, values]: [&str; 3],
        (heads, head_width): (usize, usize),
        scale: Option<f32>,
        bias: Option<&str>,
    ) -> Result<String> {
        let mut parts = Vec::new();
        // Keys are transposed for the product.
        for (value, order) in [(queries, [0, 2, 1, 3]), (keys, [0, 2, 3, 1]), (values, [0, 2, 1, 3])] {
            let split = self.reshape(value, &[0, 0, heads as i64, head_width as i64])?;
            parts.push(self.transpose(&split, &order));
        }
        let mut products = self.graph.node("MatMul", &[&parts[0], &parts[1]], &[]);
        if let Some(scale) = scale {
            products = self.times(&products, scale)?;
        }
        if let Some(bias) = bias {
            products = self.graph.node("Add", &[&products, bias], &[]);
        }
        let shares = self
            .graph
            .node("Softmax", &[&products], &[("axis", Attribute::Int(-1))]);
        let mixed = self.graph.node("MatMul", &[&shares, &parts[2]], &[]);
        let mixed = self.transpose(&mixed, &[0, 2, 1, 3]);
        self.reshape(&mixed, &[0, 0, (heads * head_width) as i64])
    }

    /// The rows of a table that integers name.
    pub(super) fn look_up(&mut self, table: &str, numbers: &str) -> Result<String> {
        let [rows, width] = self.shape(table)?;
        let weight = self.weight(table, [rows, width])?;
        Ok(self
            .graph
            .node("Gather", &[&weight, numbers], &[("axis", Attribute::Int(0))]))
    }

    /// x / √(mean of x² + ε) times a weight, over the last axis.
    pub(super) fn rms_norm(&mut self, x: &str, name: &str, width: usize, epsilon: f32) -> Result<String> {
        let square = self.graph.node("Mul", &[x, x], &[]);
        let axes = [("axes", Attribute::Ints(&[-1])), ("keepdims", Attribute::Int(1))];
        let mean = self.graph.node("ReduceMean", &[&square], &axes);
        let epsilon = self.scalar("epsilon", epsilon)?;
        let sum = self.graph.node("Add", &[&mean, &epsilon], &[]);
        let root = self.graph.node("Sqrt", &[&sum], &[]);
        let normal = self.graph.node("Div", &[x, &root], &[]);
        let weight = self.weight(&format!("{name}.weight"), [width])?;
        Ok(self.graph.node("Mul", &[&normal, &weight], &[]))
    }
}

impl Layers<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&format!("{}{name}", self.prefix))
    }

    /// How many there are of `beginning`0, `beginning`1, ….
    pub(super) fn count(&self, beginning: &str) -> usize {
        let beginning = format!("{}{beginning}", self.prefix);
        let has = |at: &usize| {
            let item = format!("{beginning}{at}.");
            self.names
                .range(item.clone()..)
                .next()
                .is_some_and(|name| name.starts_with(&item))
        };
        (0..).take_while(has).count()
    }

    /// The sizes of a weight of `N` dimensions, all at least one.
    pub(super) fn shape<const N: usize>(&self, name: &str) -> Result<[usize; N]> {
        let full = format!("{}{name}", self.prefix);
        let Some(shape) = self.weights.shape(&full) else {
            let (kind, known) = (&self.kind, listed(self.weights, &full));
            bail!("a {kind} needs a weight `{full}`, which is missing; the weights are {known}");
        };
        match <[usize; N]>::try_from(&shape[..]) {
            Ok(sizes) if !sizes.contains(&0) => Ok(sizes),
            _ => {
                let (shape, kind) = (shape_text(&shape), &self.kind);
                bail!("`{full}` has shape {shape}, but a {kind} has a weight of {N} dimensions there")
            }
        }
    }

    /// The values of a weight, which must have this shape.
    pub(super) fn values<const N: usize>(&mut self, name: &str, expected: [usize; N]) -> Result<Vec<f32>> {
        let shape: [usize; N] = self.shape(name)?;
        let full = format!("{}{name}", self.prefix);
        if shape != expected {
            let (shape, kind, expected) = (shape_text(&shape), &self.kind, shape_text(&expected));
            bail!("`{full}` has shape {shape}, but the other weights of this {kind} require {expected}");
        }
        let values = self.weights.values(&full)?;
        let count = expected
            .iter()
            .try_fold(1usize, |product, &size| product.checked_mul(size));
        if count != Some(values.len()) {
            bail!("`{full}` has shape {} and {} numbers", shape_text(&shape), values.len());
        }
        if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
            bail!("`{full}` holds {bad}; a network with such a weight has no output");
        }
        self.used.insert(full);
        Ok(values)
    }

    /// Puts a weight of this shape into the graph.
    pub(super) fn weight<const N: usize>(&mut self, name: &str, shape: [usize; N]) -> Result<String> {
        if self.placed.contains(name) {
            return Ok(name.to_string());
        }
        let values = self.values(name, shape)?;
        self.placed.insert(name.to_string());
        self.graph.weight(name, &shape, &values)
    }

    /// A weight beside the network, whose name has no prefix; none where there is none.
    pub(super) fn outside<const N: usize>(&mut self, name: &str, shape: [usize; N]) -> Result<Option<String>> {
        if !self.names.contains(name) {
            return Ok(None);
        }
        let prefix = std::mem::take(&mut self.prefix);
        let placed = self.weight(name, shape);
        self.prefix = prefix;
        placed.map(Some)
    }

    /// Says that a weight belongs to the network although nothing is computed with it.
    pub(super) fn pass_over(&mut self, name: &str) {
        let full = format!("{}{name}", self.prefix);
        if self.names.contains(&full) {
            self.used.insert(full);
        }
    }

    /// Refuses a second name of a weight that holds other numbers.
    pub(super) fn refuse_other(&mut self, name: &str, copy: &str, shape: [usize; 2]) -> Result<()> {
        if name == copy || !self.has(copy) {
            return Ok(());
        }
        if self.values(name, shape)? != self.values(copy, shape)? {
            bail!(
                "`{name}` and `{copy}` differ, so it is not known which embeds the tokens; export the model to ONNX and give that \
                 file"
            );
        }
        Ok(())
    }
}
