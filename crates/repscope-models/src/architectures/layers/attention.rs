// SPDX-License-Identifier: MIT
//! What transformers share: attention, tables of embeddings, normalization by the root mean square.

use super::Layers;
use crate::error::Result;
use crate::graph::Attribute;

impl Layers<'_> {
    /// Attention of queries to keys and values, all [batch, tokens, heads · width of a head]. `bias` is added to the
    /// products before the softmax: what is far, or must not be seen.
    pub(in crate::architectures) fn attend(
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
    pub(in crate::architectures) fn look_up(&mut self, table: &str, numbers: &str) -> Result<String> {
        let [rows, width] = self.shape(table)?;
        let weight = self.weight(table, [rows, width])?;
        Ok(self
            .graph
            .node("Gather", &[&weight, numbers], &[("axis", Attribute::Int(0))]))
    }

    /// x / √(mean of x² + ε) times a weight, over the last axis.
    pub(in crate::architectures) fn rms_norm(
        &mut self,
        x: &str,
        name: &str,
        width: usize,
        epsilon: f32,
    ) -> Result<String> {
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
