// SPDX-License-Identifier: MIT
//! Reads what must be known of a model file before it is run: the files it needs, and what was written beside the graph.

use std::collections::BTreeSet;

use Message::{Attribute, Function, Graph, Model, Node, Port, Sparse, Tensor, Type, Wrapped};

use super::wire::{Content, Fields, damaged};
use crate::error::{Result, bail};

/// Graphs within graphs (branches, loops) and types within types (lists of lists) go no deeper than this; files of real networks have two
/// or three levels. What reads a graph after this follows them by recursion.
const DEEPEST: usize = 32;

/// What a model file says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphInfo {
    /// Files beside the model that hold its large tensors, each once; empty where the model is complete.
    pub external_files: BTreeSet<String>,
    /// Keys and values that were written beside the graph, in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// Whether anything is convolved.
    pub has_convolutions: bool,
}

/// The messages of ONNX in which tensors are found, or which may hold themselves.
#[derive(Clone, Copy, PartialEq)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Function,
    Sparse,
    Tensor,
    /// An input, an output or a value with its type.
    Port,
    Type,
    /// What a list, a map or an optional value is of.
    Wrapped,
}

/// Which fields of a message hold which messages.
const PARTS: [(Message, u64, Message); 27] = [
    (Model, 7, Graph),
    (Model, 25, Function),
    (Function, 7, Node),
    (Graph, 1, Node),
    (Graph, 5, Tensor),
    (Graph, 15, Sparse),
    (Node, 5, Attribute),
    (Attribute, 5, Tensor),
    (Attribute, 10, Tensor),
    (Attribute, 6, Graph),
    (Attribute, 11, Graph),
    (Attribute, 22, Sparse),
    (Attribute, 23, Sparse),
    (Sparse, 1, Tensor),
    (Sparse, 2, Tensor),
    (Graph, 11, Port),
    (Graph, 12, Port),
    (Graph, 13, Port),
    (Function, 12, Port),
    (Port, 2, Type),
    (Attribute, 14, Type),
    (Attribute, 15, Type),
    (Type, 4, Wrapped),
    (Type, 5, Wrapped),
    (Type, 9, Wrapped),
    (Wrapped, 1, Type),
    (Wrapped, 2, Type),
];

/// Describes a model file of any origin. Nothing is run, and damaged bytes give an error.
pub fn describe(bytes: &[u8]) -> Result<GraphInfo> {
    let mut info = GraphInfo::default();
    let mut has_graph = false;
    let mut fields = Fields::of(bytes);
    while let Some((field, _)) = fields.next()? {
        has_graph |= field == 7;
    }
    if !has_graph {
        return Err(damaged("it holds no graph"));
    }
    read(Model, bytes, &mut info, 0)?;
    Ok(info)
}

fn read(message: Message, bytes: &[u8], info: &mut GraphInfo, depth: usize) -> Result<()> {
    let (mut location, mut is_external) = (String::new(), false);
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        let part = PARTS
            .iter()
            .find(|(own, number, _)| (*own, *number) == (message, field));
        match (message, field, part) {
            (Node, 4, _) => info.has_convolutions |= content.bytes()? == b"Conv",
            (Model, 14, _) => info.metadata.push(entry(content.bytes()?)?),
            (Tensor, 13, _) => {
                let (key, value) = entry(content.bytes()?)?;
                if key == "location" {
                    location = value;
                }
            }
            (Tensor, 14, _) => is_external = content.number()? == 1,
            (.., Some((.., Graph))) if depth > DEEPEST => {
                bail!("the model has graphs within graphs deeper than {DEEPEST} levels")
            }
            (.., Some((.., Type))) if depth > DEEPEST => {
                bail!("the model has types within types deeper than {DEEPEST} levels")
            }
            // The key of a map is a number, not a type.
            (Wrapped, 1, _) if matches!(content, Content::Number(_)) => {}
            (.., Some(&(.., part))) => {
                let level = usize::from(matches!(part, Graph | Type));
                read(part, content.bytes()?, info, depth + level)?;
            }
            _ => {}
        }
    }
    if is_external {
        info.external_files.insert(location);
    }
    Ok(())
}

/// A key and its value.
fn entry(bytes: &[u8]) -> Result<(String, String)> {
    let mut fields = Fields::of(bytes);
    let (mut key, mut value) = (String::new(), String::new());
    while let Some((field, content)) = fields.next()? {
        match field {
            1 => key = content.text()?,
            2 => value = content.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}
