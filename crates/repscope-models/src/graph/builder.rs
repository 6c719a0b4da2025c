// SPDX-License-Identifier: MIT
//! Writes a graph.

use super::wire::{write_bytes, write_f32, write_head, write_message, write_number, write_text};
use crate::error::{Result, bail};

/// The version of the operators that are written.
const OPSET: u64 = 17;
/// The version of the container that goes with it.
const IR_VERSION: u64 = 8;
/// Protobuf has no message beyond this many bytes.
const LARGEST: usize = i32::MAX as usize;

/// An attribute of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Attribute<'a> {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f32),
    /// Integers.
    Ints(&'a [i64]),
    /// A word.
    Text(&'a str),
}

/// A graph that grows node by node. Values are named by strings; a node is added after those it reads.
#[derive(Debug)]
pub struct GraphBuilder {
    name: String,
    inputs: Vec<u8>,
    nodes: Vec<u8>,
    weights: Vec<u8>,
    outputs: Vec<u8>,
    count: usize,
}

impl GraphBuilder {
    /// An empty graph.
    pub fn new(name: &str) -> GraphBuilder {
        GraphBuilder {
            name: name.to_string(),
            inputs: Vec::new(),
            nodes: Vec::new(),
            weights: Vec::new(),
            outputs: Vec::new(),
            count: 0,
        }
    }

    /// Declares an input; returns its name.
    pub fn input(&mut self, name: &str, element: Element, dims: &[Dim]) -> String {
        write_port(&mut self.inputs, 11, name, element, dims);
        name.to_string()
    }

    /// Adds constant numbers, in C order; returns their name, which no other value has.
    pub fn weight(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<String> {
        self.constant(name, Element::Float, shape, values.len(), |out| {
            values
                .iter()
                .for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        })
    }

    /// Adds constant integers, such as the sizes for a `Reshape`.
    pub fn ints(&mut self, name: &str, shape: &[usize], values: &[i64]) -> Result<String> {
        self.constant(name, Element::Int64, shape, values.len(), |out| {
            values
                .iter()
                .for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        })
    }

    /// Adds a node with one output; returns the name of that.
    pub fn node(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> String {
        let output = format!("{}_{}", op.to_lowercase(), self.count);
        self.add(op, inputs, &output, attributes);
        output
    }

    /// A name that no value has so far: constants of one graph must differ.
    pub fn fresh(&mut self, name: &str) -> String {
        self.count += 1;
        format!("{name} {}", self.count)
    }

    /// Makes a value an output of the graph, under the given name.
    pub fn output(&mut self, value: &str, name: &str, element: Element, dims: &[Dim]) {
        self.add("Identity", &[value], name, &[]);
        write_port(&mut self.outputs, 12, name, element, dims);
    }

    /// The bytes of the model file.
    pub fn finish(self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        write_text(&mut head, 2, &self.name);
        let parts = [self.nodes, head, self.weights, self.inputs, self.outputs];
        let length: usize = parts.iter().map(Vec::len).sum();
        if length > LARGEST - 1024 {
            bail!(
                "the weights of {} take {length} bytes, and a model in memory has at most {LARGEST}; export the \
                 network to ONNX with external data",
                self.name
            );
        }
        let mut model = Vec::with_capacity(length + 128);
        write_number(&mut model, 1, IR_VERSION);
        write_text(&mut model, 2, "repscope");
        write_head(&mut model, 7, length);
        parts.iter().for_each(|part| model.extend_from_slice(part));
        write_message(&mut model, 8, |opset| {
            write_text(opset, 1, "");
            write_number(opset, 2, OPSET);
        });
        Ok(model)
    }

    fn add(&mut self, op: &str, inputs: &[&str], output: &str, attributes: &[(&str, Attribute)]) {
        self.count += 1;
        write_message(&mut self.nodes, 1, |node| {
            inputs.iter().for_each(|input| write_text(node, 1, input));
            write_text(node, 2, output);
            write_text(node, 3, &format!("node {}", self.count));
            write_text(node, 4, op);
            for (name, attribute) in attributes {
                write_message(node, 5, |out| write_attribute(out, name, *attribute));
            }
        });
    }

    fn constant(
        &mut self,
        name: &str,
        element: Element,
        shape: &[usize],
        count: usize,
        write_values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<String> {
        let expected = shape
            .iter()
            .try_fold(1usize, |product, &size| product.checked_mul(size));
        if expected != Some(count) {
            bail!("`{name}` has shape {shape:?} and {count} numbers");
        }
        write_tensor(&mut self.weights, name, element, shape, write_values);
        Ok(name.to_string())
    }
}

/// A tensor among the constants of a graph, whose values the caller writes.
pub(super) fn write_tensor(
    out: &mut Vec<u8>,
    name: &str,
    element: Element,
    shape: &[usize],
    write_values: impl FnOnce(&mut Vec<u8>),
) {
    let mut head = Vec::new();
    shape.iter().for_each(|&size| write_number(&mut head, 1, size as u64));
    write_number(&mut head, 2, element.code());
    write_text(&mut head, 8, name);
    let bytes = shape.iter().product::<usize>() * if element == Element::Float { 4 } else { 8 };
    write_head(&mut head, 9, bytes);
    // The large part is written where it stays: weights may be gigabytes.
    write_head(out, 5, head.len() + bytes);
    out.extend_from_slice(&head);
    out.reserve(bytes);
    write_values(out);
}

fn write_port(out: &mut Vec<u8>, field: u64, name: &str, element: Element, dims: &[Dim]) {
    let write_shape = |shape: &mut Vec<u8>| {
        for dim in dims {
            write_message(shape, 1, |out| match dim {
                Dim::Fixed(size) => write_number(out, 1, *size as u64),
                Dim::Named(name) => write_text(out, 2, name),
            });
        }
    };
    write_message(out, field, |port| {
        write_text(port, 1, name);
        write_message(port, 2, |kind| {
            write_message(kind, 1, |tensor| {
                write_number(tensor, 1, element.code());
                write_message(tensor, 2, write_shape);
            });
        });
    });
}

pub(super) fn write_attribute(out: &mut Vec<u8>, name: &str, attribute: Attribute) {
    write_bytes(out, 1, name.as_bytes());
    let kind = match attribute {
        Attribute::Float(value) => {
            write_f32(out, 2, value);
            1
        }
        Attribute::Int(value) => {
            write_number(out, 3, value as u64);
            2
        }
        Attribute::Ints(values) => {
            values.iter().for_each(|&value| write_number(out, 8, value as u64));
            7
        }
        Attribute::Text(value) => {
            write_text(out, 4, value);
            3
        }
    };
    write_number(out, 20, kind);
}

/// One size of an input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// This many.
    Fixed(usize),
    /// As many as the data have, under a name that says what is counted; empty where the file gives none.
    Named(String),
}

impl Dim {
    /// A size that the data decide.
    pub fn named(name: &str) -> Dim {
        Dim::Named(name.to_string())
    }
}

/// The type of the numbers of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floating point.
    Float,
    /// 64-bit integers.
    Int64,
}

impl Element {
    pub(super) fn code(self) -> u64 {
        match self {
            Element::Float => 1,
            Element::Int64 => 7,
        }
    }
}
