// SPDX-License-Identifier: MIT
//! What is known of the values of a graph before it runs: the sizes of constants, and how many axes values have.

use std::collections::HashMap;

use super::super::wire::Fields;
use super::node::Node;
use crate::error::Result;

/// The values that a graph sees: its own and those of the graphs around it.
pub(super) struct Scope<'p> {
    /// The sizes of constants.
    constants: HashMap<String, Vec<i64>>,
    ranks: HashMap<String, usize>,
    around: Option<&'p Scope<'p>>,
}

impl<'p> Scope<'p> {
    pub(super) fn new(around: Option<&'p Scope<'p>>) -> Self {
        Scope {
            constants: HashMap::new(),
            ranks: HashMap::new(),
            around,
        }
    }

    /// The sizes of a constant.
    pub(super) fn constant(&self, name: &str) -> Option<&[i64]> {
        match (self.constants.get(name), self.around) {
            (Some(dims), _) => Some(dims),
            (None, Some(around)) => around.constant(name),
            (None, None) => None,
        }
    }

    /// How many axes a value has.
    pub(super) fn rank(&self, name: &str) -> Option<usize> {
        match (self.ranks.get(name), self.around) {
            (Some(&rank), _) => Some(rank),
            (None, Some(around)) => around.rank(name),
            (None, None) => None,
        }
    }

    /// Takes a tensor that stands in the graph.
    pub(super) fn add_tensor(&mut self, bytes: &[u8], name: Option<&str>) -> Result<()> {
        let (mut dims, mut own) = (Vec::new(), "");
        let mut fields = Fields::of(bytes);
        while let Some((field, content)) = fields.next()? {
            match field {
                1 => content.numbers(&mut dims)?,
                8 => own = content.name()?,
                _ => {}
            }
        }
        let name = name.unwrap_or(own).to_string();
        self.ranks.insert(name.clone(), dims.len());
        self.constants.insert(name, dims);
        Ok(())
    }

    /// Takes the description of an input, an output or a value.
    pub(super) fn add_port(&mut self, bytes: &[u8]) -> Result<()> {
        let (mut name, mut rank) = ("", None);
        let mut fields = Fields::of(bytes);
        while let Some((field, content)) = fields.next()? {
            match field {
                1 => name = content.name()?,
                2 => rank = rank_of_type(content.bytes()?)?,
                _ => {}
            }
        }
        // What has no axes may as well be one whose shape nobody wrote down.
        if let Some(rank) = rank.filter(|&rank| rank > 0) {
            self.ranks.entry(name.to_string()).or_insert(rank);
        }
        Ok(())
    }

    /// Learns from a node what its outputs are like.
    pub(super) fn learn(&mut self, node: &Node) -> Result<()> {
        if node.op == "Constant"
            && let [output] = node.outputs.as_slice()
            && let Some((_, body)) = node.attributes.iter().find(|(name, _)| *name == "value")
        {
            let mut fields = Fields::of(body);
            while let Some((field, content)) = fields.next()? {
                if field == 5 {
                    self.add_tensor(content.bytes()?, Some(output))?;
                }
            }
            return Ok(());
        }
        if let Some(rank) = self.rank_after(node)? {
            for output in &node.outputs {
                self.ranks.entry(output.to_string()).or_insert(rank);
            }
        }
        Ok(())
    }

    fn rank_after(&self, node: &Node) -> Result<Option<usize>> {
        let of = |at: usize| node.input(at).and_then(|name| self.rank(name));
        let axes = || node.ints("axes").map(|axes| axes.map(|axes| axes.len()));
        Ok(match node.op {
            "Shape" | "NonZero" => Some(1),
            "Gemm" | "Flatten" => Some(2),
            "Transpose" => node.ints("perm")?.map(|perm| perm.len()).or(of(0)),
            "Reshape" => {
                let constant = node.input(1).and_then(|name| self.constant(name));
                constant
                    .and_then(|dims| usize::try_from(*dims.first()?).ok())
                    .filter(|&rank| rank <= 32)
            }
            "Unsqueeze" => of(0).zip(axes()?).map(|(rank, more)| rank + more),
            "Squeeze" => of(0).zip(axes()?).and_then(|(rank, less)| rank.checked_sub(less)),
            "Gather" => of(0).zip(of(1)).and_then(|(data, at)| (data + at).checked_sub(1)),
            "MatMul" => of(0).zip(of(1)).map(|(a, b)| a.max(b)).filter(|&rank| rank > 1),
            "Add" | "Sub" | "Mul" | "Div" | "Pow" | "PRelu" => of(0).zip(of(1)).map(|(a, b)| a.max(b)),
            "Relu"
            | "LeakyRelu"
            | "Sigmoid"
            | "Tanh"
            | "Elu"
            | "Selu"
            | "Erf"
            | "Exp"
            | "Sqrt"
            | "Neg"
            | "Abs"
            | "Clip"
            | "Cast"
            | "Identity"
            | "Dropout"
            | "Softmax"
            | "LogSoftmax"
            | "Softplus"
            | "Softsign"
            | "Slice"
            | "Pad"
            | "Concat"
            | "Split"
            | "Conv"
            | "ConvTranspose"
            | "MaxPool"
            | "AveragePool"
            | "GlobalAveragePool"
            | "GlobalMaxPool"
            | "BatchNormalization"
            | "InstanceNormalization"
            | "LayerNormalization" => of(0),
            _ => None,
        })
    }
}

fn rank_of_type(bytes: &[u8]) -> Result<Option<usize>> {
    let mut rank = None;
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        if field != 1 {
            continue;
        }
        let mut tensor = Fields::of(content.bytes()?);
        while let Some((field, content)) = tensor.next()? {
            if field == 2 {
                let mut dims = Fields::of(content.bytes()?);
                let mut count = 0;
                while let Some((field, _)) = dims.next()? {
                    count += usize::from(field == 1);
                }
                rank = Some(count);
            }
        }
    }
    Ok(rank)
}
