// SPDX-License-Identifier: MIT
//! Graphs as the built-in runtime takes them.
//!
//! Exporters leave out what the standard has a default for, old ones write attributes that are no more, and some operators are missing in the
//! runtime although others make them. So each graph is rewritten before it runs: defaults are filled in, what old versions
//! of the operators meant is said in today's (`old`), and what is missing is written with what there is (`pooling`,
//! `volume`, `compose`). What the runtime would compute wrongly is refused. A graph that needs nothing stays as it is, to the byte.

mod compose;
mod node;
mod old;
mod pooling;
mod scope;
mod volume;
mod windows;
mod writer;

use std::borrow::Cow;

use super::builder::Attribute;
use super::wire::{Content, Fields, damaged, write_bytes, write_content, write_head, write_message, write_number};
use crate::error::{Result, unsupported};
use node::Node;
use scope::Scope;
use writer::Writer;

/// Graphs within graphs go no deeper; `describe` has refused them before.
const DEEPEST: usize = 40;

/// A file of a few bytes must not become gigabytes.
const MOST_ADDED: usize = 64 << 20;

/// The version in whose words graphs are rewritten.
const TODAY: i64 = 13;

/// The version of operators that a model without one is taken to ask for: the runtime's own.
const NEWEST: i64 = i64::MAX;

/// A graph as the built-in runtime takes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The model; none where it needs nothing.
    pub model: Option<Vec<u8>>,
    /// Whether the runtime may fuse its operators. Where values are quantized on the way, a last digit that differs becomes a step of the
    /// grid; and the shapes that it infers for a quantized LSTM, on which it relies, are those of another one.
    pub can_be_fused: bool,
}

/// The graph as the built-in runtime takes it. What cannot be run rightly is [`Error::Unsupported`](crate::Error::Unsupported).
pub fn canonical(model: &[u8]) -> Result<Canonical> {
    let version = version(model)?;
    let mut graph = None;
    let mut can_be_fused = true;
    let mut fields = Fields::of(model);
    while let Some((field, content)) = fields.next()? {
        if field == 7 {
            graph = rewrite(content.bytes()?, version, None, 0)?;
            can_be_fused &= !is_quantized(content.bytes()?)?;
        }
    }
    let Some(graph) = graph else {
        let model = None;
        return Ok(Canonical { model, can_be_fused });
    };
    let mut out = Vec::new();
    if out.try_reserve_exact(model.len() + graph.len() / 64 + 4096).is_err() {
        return Err(damaged("it is too large to be rewritten"));
    }
    let mut fields = Fields::of(model);
    while let Some((field, content)) = fields.next()? {
        match field {
            7 => write_bytes(&mut out, 7, &graph),
            8 if version < TODAY => write_version(&mut out, content.bytes()?)?,
            _ => write_content(&mut out, field, content),
        }
    }
    let model = Some(out);
    Ok(Canonical { model, can_be_fused })
}

/// A set of operators with its version, which is today's where it is the standard one.
fn write_version(out: &mut Vec<u8>, set: &[u8]) -> Result<()> {
    let mut domain = "";
    let mut fields = Fields::of(set);
    while let Some((field, content)) = fields.next()? {
        if field == 1 {
            domain = content.name()?;
        }
    }
    if matches!(domain, "" | "ai.onnx") {
        write_message(out, 8, |set| write_number(set, 2, TODAY as u64));
    } else {
        write_bytes(out, 8, set);
    }
    Ok(())
}

fn is_quantized(graph: &[u8]) -> Result<bool> {
    let mut fields = Fields::of(graph);
    while let Some((field, content)) = fields.next()? {
        if field == 1 && Node::read(content.bytes()?)?.op.starts_with("DynamicQuantize") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The version of the standard operators.
fn version(model: &[u8]) -> Result<i64> {
    let mut version = NEWEST;
    let mut fields = Fields::of(model);
    while let Some((field, content)) = fields.next()? {
        if field != 8 {
            continue;
        }
        let (mut domain, mut number) = ("", None);
        let mut set = Fields::of(content.bytes()?);
        while let Some((field, content)) = set.next()? {
            match field {
                1 => domain = content.name()?,
                2 => number = Some(content.number()? as i64),
                _ => {}
            }
        }
        if matches!(domain, "" | "ai.onnx") {
            version = number.unwrap_or(NEWEST);
        }
    }
    Ok(version)
}

/// A graph in today's words; none where nothing changes.
fn rewrite(graph: &[u8], version: i64, around: Option<&Scope>, depth: usize) -> Result<Option<Vec<u8>>> {
    if depth > DEEPEST {
        return Err(damaged("it has graphs within graphs"));
    }
    let mut scope = Scope::new(around);
    let mut writer = Writer::new();
    let mut fields = Fields::of(graph);
    while let Some((field, content)) = fields.next()? {
        match field {
            5 => scope.add_tensor(content.bytes()?, None)?,
            11..=13 => scope.add_port(content.bytes()?)?,
            _ => {}
        }
        writer.keep_clear(field, content)?;
    }
    let mut is_changed = false;
    let mut fields = Fields::of(graph);
    while let Some((field, content)) = fields.next()? {
        if field != 1 {
            continue;
        }
        let bytes = content.bytes()?;
        let node = Node::read(bytes)?;
        is_changed |= rewrite_node(&node, bytes, version, &scope, &mut writer, depth)?;
        if writer.len() > graph.len() + MOST_ADDED {
            return Err(unsupported("operators that become more than 64 MiB of others"));
        }
        scope.learn(&node)?;
    }
    if !is_changed {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(graph.len() + writer.len() / 2);
    out.extend_from_slice(&writer.nodes);
    let mut fields = Fields::of(graph);
    while let Some((field, content)) = fields.next()? {
        if field != 1 {
            write_content(&mut out, field, content);
        }
    }
    out.extend_from_slice(&writer.constants);
    Ok(Some(out))
}

/// Puts a node, or what it means, behind those before. Says whether that is something else.
fn rewrite_node<'a>(
    node: &Node<'a>,
    bytes: &'a [u8],
    version: i64,
    scope: &Scope,
    writer: &mut Writer,
    depth: usize,
) -> Result<bool> {
    let mut changed = node.clone();
    let mut is_changed = false;
    for (_, body) in &mut changed.attributes {
        if let Some(new) = rewrite_branches(body, version, scope, depth)? {
            *body = Cow::Owned(new);
            is_changed = true;
        }
    }
    if node.is_standard() {
        is_changed |= old::upgrade(&mut changed, version, scope, writer)?;
        if windows::canonical(&mut changed, scope)? {
            is_changed = true;
        }
        if compose::compose(&mut changed, version, scope, writer)?
            || pooling::dilated(&changed, writer)?
            || volume::flat(&changed, scope, writer)?
        {
            return Ok(true);
        }
    }
    if is_changed {
        changed.write(&mut writer.nodes);
    } else {
        write_bytes(&mut writer.nodes, 1, bytes);
    }
    Ok(is_changed)
}

/// An attribute whose graphs are rewritten; none where nothing changes.
fn rewrite_branches(attribute: &[u8], version: i64, scope: &Scope, depth: usize) -> Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    let mut is_changed = false;
    let mut has_graph = false;
    let mut fields = Fields::of(attribute);
    while let Some((field, _)) = fields.next()? {
        has_graph |= matches!(field, 6 | 11);
    }
    if !has_graph {
        return Ok(None);
    }
    let mut fields = Fields::of(attribute);
    while let Some((field, content)) = fields.next()? {
        match (field, content) {
            (6 | 11, Content::Bytes(graph)) => {
                let new = rewrite(graph, version, Some(scope), depth + 1)?;
                is_changed |= new.is_some();
                let new = new.as_deref().unwrap_or(graph);
                write_head(&mut out, field, new.len());
                out.extend_from_slice(new);
            }
            _ => write_content(&mut out, field, content),
        }
    }
    Ok(is_changed.then_some(out))
}

/// An attribute that is an integer.
fn int(value: i64) -> Attribute<'static> {
    Attribute::Int(value)
}
