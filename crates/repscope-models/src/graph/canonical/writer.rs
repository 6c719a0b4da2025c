// SPDX-License-Identifier: MIT
//! The nodes and constants of a graph that is being rewritten.

use super::super::builder::{Attribute, Element, write_tensor};
use super::super::wire::{Content, Fields, damaged};
use super::node::Node;
use crate::error::Result;

/// How names of new values begin, before a number.
const OWN: &str = "repscope#";

pub(super) struct Writer {
    /// Nodes, in their order.
    pub nodes: Vec<u8>,
    /// New constants.
    pub constants: Vec<u8>,
    next: u64,
}

impl Writer {
    pub(super) fn new() -> Self {
        Writer {
            nodes: Vec::new(),
            constants: Vec::new(),
            next: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len() + self.constants.len()
    }

    /// Has new names differ from those in this field of the graph.
    pub(super) fn keep_clear(&mut self, field: u64, content: Content) -> Result<()> {
        let own = match field {
            1 => 2,
            5 => 8,
            11..=13 => 1,
            _ => return Ok(()),
        };
        let mut fields = Fields::of(content.bytes()?);
        while let Some((field, content)) = fields.next()? {
            if field != own {
                continue;
            }
            if let Some(number) = content
                .name()?
                .strip_prefix(OWN)
                .and_then(|rest| rest.parse::<u64>().ok())
            {
                let next = number
                    .checked_add(1)
                    .ok_or_else(|| damaged("its names leave no others"))?;
                self.next = self.next.max(next);
            }
        }
        Ok(())
    }

    /// A name that no value of this graph has. Those of graphs around it may be hidden, which hurts nothing: only what was just
    /// made is read by it.
    pub(super) fn fresh(&mut self) -> String {
        let name = format!("{OWN}{}", self.next);
        self.next = self.next.saturating_add(1);
        name
    }

    /// Adds a node with one output; gives its name.
    pub(super) fn node(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> String {
        let output = self.fresh();
        self.last(op, inputs, attributes, &output);
        output
    }

    /// Adds a node whose output has this name.
    pub(super) fn last(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attribute)], output: &str) {
        let mut node = Node {
            op,
            name: "",
            inputs: inputs.iter().map(|&input| input.into()).collect(),
            outputs: vec![output.into()],
            ..Node::default()
        };
        attributes.iter().for_each(|&(name, value)| node.set(name, value));
        node.write(&mut self.nodes);
    }

    /// Adds constant integers as a vector.
    pub(super) fn ints(&mut self, values: &[i64]) -> String {
        let name = self.fresh();
        write_tensor(&mut self.constants, &name, Element::Int64, &[values.len()], |out| {
            values
                .iter()
                .for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        });
        name
    }

    /// Adds a constant number without axes.
    pub(super) fn number(&mut self, value: f32) -> String {
        self.numbers(&[], &[value])
    }

    /// Adds constant numbers.
    pub(super) fn numbers(&mut self, shape: &[usize], values: &[f32]) -> String {
        let name = self.fresh();
        write_tensor(&mut self.constants, &name, Element::Float, shape, |out| {
            values
                .iter()
                .for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        });
        name
    }

    /// Sizes `from..to` of a value, as a vector.
    pub(super) fn sizes(&mut self, of: &str, from: i64, to: i64) -> String {
        let shape = self.node("Shape", &[of], &[]);
        self.slice(&shape, 0, from, to, 1)
    }

    /// A part of a value along one axis.
    pub(super) fn slice(&mut self, of: &str, axis: i64, from: i64, to: i64, step: i64) -> String {
        let (from, to, axis, step) = (
            self.ints(&[from]),
            self.ints(&[to]),
            self.ints(&[axis]),
            self.ints(&[step]),
        );
        self.node("Slice", &[of, &from, &to, &axis, &step], &[])
    }

    /// Vectors of integers, one after the other.
    pub(super) fn joined(&mut self, parts: &[&str]) -> String {
        self.node("Concat", parts, &[("axis", Attribute::Int(0))])
    }

    /// As many ones as a value has axes beyond `before`.
    pub(super) fn ones(&mut self, of: &str, before: i64) -> String {
        let tail = self.sizes(of, before, i64::MAX);
        let zero = self.ints(&[0]);
        let nothing = self.node("Mul", &[&tail, &zero], &[]);
        let one = self.ints(&[1]);
        self.node("Add", &[&nothing, &one], &[])
    }
}
