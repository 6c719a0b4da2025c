// SPDX-License-Identifier: MIT
//! Reads what a model file says about itself: its inputs and outputs, its operators, the files it needs.

use std::collections::BTreeSet;

use super::builder::{Dim, Element, PortInfo};
use super::wire::{Content, Fields, damaged};
use crate::error::{Result, bail};

/// Graphs within graphs (branches, loops) go no deeper than this; files of real networks have two or three levels.
const DEEPEST: usize = 32;

/// What a model file says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphInfo {
    /// Name of the graph.
    pub name: String,
    /// What wrote the file.
    pub producer: String,
    /// Version of the standard operators.
    pub opset: Option<u64>,
    /// Inputs, without constants.
    pub inputs: Vec<PortInfo>,
    /// Outputs.
    pub outputs: Vec<PortInfo>,
    /// Types of operators, sorted, each once; those outside the standard have their domain before them:
    /// `com.microsoft.Gelu`.
    pub operators: Vec<String>,
    /// Number of constant tensors.
    pub weights: usize,
    /// Files beside the model that hold its large tensors, sorted; empty where the model is complete.
    pub external_files: Vec<String>,
    /// Keys and values that were written beside the graph, in the order of the file.
    pub metadata: Vec<(String, String)>,
}

/// Describes a model file of any origin. Nothing is run, and damaged bytes give an error.
pub fn describe(bytes: &[u8]) -> Result<GraphInfo> {
    let mut info = GraphInfo::default();
    let mut found = Found::default();
    let mut fields = Fields::of(bytes);
    let mut has_graph = false;
    while let Some((field, content)) = fields.next()? {
        match field {
            2 => info.producer = content.text()?,
            7 => {
                has_graph = true;
                read_graph(content.bytes()?, &mut info, &mut found)?;
            }
            8 => {
                if let (domain, Some(version)) = read_opset(content.bytes()?)?
                    && is_standard(&domain)
                {
                    info.opset = Some(version);
                }
            }
            14 => info.metadata.push(read_entry(content.bytes()?)?),
            25 => read_function(content.bytes()?, &mut found)?,
            _ => {}
        }
    }
    if !has_graph {
        return Err(damaged("it holds no graph"));
    }
    info.operators = found.operators.into_iter().collect();
    info.external_files = found.external_files.into_iter().collect();
    info.weights = found.weights.len();
    Ok(info)
}

/// What is collected over all levels of a graph.
#[derive(Default)]
struct Found {
    operators: BTreeSet<String>,
    external_files: BTreeSet<String>,
    /// Names of the constants of the outer graph.
    weights: BTreeSet<String>,
}

fn read_graph(bytes: &[u8], info: &mut GraphInfo, found: &mut Found) -> Result<()> {
    let mut fields = Fields::of(bytes);
    let mut inputs = Vec::new();
    while let Some((field, content)) = fields.next()? {
        match field {
            2 => info.name = content.text()?,
            5 => {
                let name = read_tensor(content.bytes()?, found)?;
                found.weights.insert(name);
            }
            11 => inputs.push(read_port(content.bytes()?)?),
            12 => info.outputs.push(read_port(content.bytes()?)?),
            _ => read_inner(field, content, found, 0)?,
        }
    }
    // Files of IR version 3 and older list constants among the inputs.
    inputs.retain(|port| !found.weights.contains(&port.name));
    info.inputs = inputs;
    Ok(())
}

/// The fields of a graph that matter at every level: nodes and constants.
fn read_inner(field: u64, content: Content, found: &mut Found, depth: usize) -> Result<()> {
    match field {
        1 => read_node(content.bytes()?, found, depth),
        5 => read_tensor(content.bytes()?, found).map(drop),
        15 => read_sparse(content.bytes()?, found),
        _ => Ok(()),
    }
}

fn read_node(bytes: &[u8], found: &mut Found, depth: usize) -> Result<()> {
    let mut fields = Fields::of(bytes);
    let (mut op, mut domain) = (String::new(), String::new());
    while let Some((field, content)) = fields.next()? {
        match field {
            4 => op = content.text()?,
            5 => read_attribute(content.bytes()?, found, depth)?,
            7 => domain = content.text()?,
            _ => {}
        }
    }
    let full = if is_standard(&domain) {
        op
    } else {
        format!("{domain}.{op}")
    };
    found.operators.insert(full);
    Ok(())
}

fn read_attribute(bytes: &[u8], found: &mut Found, depth: usize) -> Result<()> {
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        match field {
            5 | 10 => read_tensor(content.bytes()?, found).map(drop)?,
            6 | 11 if depth == DEEPEST => bail!("the model has graphs within graphs deeper than {DEEPEST} levels"),
            6 | 11 => {
                let mut inner = Fields::of(content.bytes()?);
                while let Some((field, content)) = inner.next()? {
                    read_inner(field, content, found, depth + 1)?;
                }
            }
            22 | 23 => read_sparse(content.bytes()?, found)?,
            _ => {}
        }
    }
    Ok(())
}

/// A function of the model: operators by other operators.
fn read_function(bytes: &[u8], found: &mut Found) -> Result<()> {
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        if field == 7 {
            read_node(content.bytes()?, found, 0)?;
        }
    }
    Ok(())
}

fn read_sparse(bytes: &[u8], found: &mut Found) -> Result<()> {
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        if field == 1 || field == 2 {
            read_tensor(content.bytes()?, found)?;
        }
    }
    Ok(())
}

/// Notes where the numbers of a tensor are; returns its name.
fn read_tensor(bytes: &[u8], found: &mut Found) -> Result<String> {
    let mut fields = Fields::of(bytes);
    let (mut name, mut location, mut is_external) = (String::new(), String::new(), false);
    while let Some((field, content)) = fields.next()? {
        match field {
            8 => name = content.text()?,
            13 => {
                let (key, value) = read_entry(content.bytes()?)?;
                if key == "location" {
                    location = value;
                }
            }
            14 => is_external = content.number()? == 1,
            _ => {}
        }
    }
    if is_external {
        found.external_files.insert(location);
    }
    Ok(name)
}

fn read_entry(bytes: &[u8]) -> Result<(String, String)> {
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

fn read_opset(bytes: &[u8]) -> Result<(String, Option<u64>)> {
    let mut fields = Fields::of(bytes);
    let (mut domain, mut version) = (String::new(), None);
    while let Some((field, content)) = fields.next()? {
        match field {
            1 => domain = content.text()?,
            2 => version = Some(content.number()?),
            _ => {}
        }
    }
    Ok((domain, version))
}

fn is_standard(domain: &str) -> bool {
    domain.is_empty() || domain == "ai.onnx"
}

pub(super) fn read_port(bytes: &[u8]) -> Result<PortInfo> {
    let mut fields = Fields::of(bytes);
    let mut port = PortInfo {
        name: String::new(),
        element: None,
        dims: None,
    };
    while let Some((field, content)) = fields.next()? {
        match field {
            1 => port.name = content.text()?,
            2 => {
                let mut kinds = Fields::of(content.bytes()?);
                while let Some((kind, content)) = kinds.next()? {
                    // Other kinds are sequences, maps and options.
                    if kind == 1 {
                        read_tensor_type(content.bytes()?, &mut port)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(port)
}

fn read_tensor_type(bytes: &[u8], port: &mut PortInfo) -> Result<()> {
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        match field {
            1 => port.element = Some(Element::from_code(content.number()?)),
            2 => {
                let mut dims = Vec::new();
                let mut shape = Fields::of(content.bytes()?);
                while let Some((field, content)) = shape.next()? {
                    if field == 1 {
                        dims.push(read_dim(content.bytes()?)?);
                    }
                }
                port.dims = Some(dims);
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_dim(bytes: &[u8]) -> Result<Dim> {
    let mut fields = Fields::of(bytes);
    let mut dim = Dim::Named(String::new());
    while let Some((field, content)) = fields.next()? {
        match field {
            // Old exporters write -1 or 0 for sizes that are not fixed.
            1 => {
                let size = content.number()?.cast_signed();
                dim = match usize::try_from(size) {
                    Ok(size) if size > 0 => Dim::Fixed(size),
                    _ => Dim::Named(String::new()),
                };
            }
            2 => dim = Dim::Named(content.text()?),
            _ => {}
        }
    }
    Ok(dim)
}
