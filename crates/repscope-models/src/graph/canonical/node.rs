// SPDX-License-Identifier: MIT
//! A node of a graph, read so that it can be changed. What is not looked at stays in the bytes it came in.

use std::borrow::Cow;

use super::super::builder::{Attribute, write_attribute};
use super::super::wire::{Content, Fields, write_bytes, write_message, write_text};
use crate::error::Result;

/// An operator with the names of what it reads and gives.
#[derive(Debug, Clone, Default)]
pub(super) struct Node<'a> {
    pub op: &'a str,
    pub domain: &'a str,
    pub name: &'a str,
    pub inputs: Vec<Cow<'a, str>>,
    pub outputs: Vec<Cow<'a, str>>,
    /// Names and whole messages.
    pub attributes: Vec<(&'a str, Cow<'a, [u8]>)>,
}

impl<'a> Node<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut node = Node::default();
        let mut fields = Fields::of(bytes);
        while let Some((field, content)) = fields.next()? {
            match field {
                1 => node.inputs.push(content.name()?.into()),
                2 => node.outputs.push(content.name()?.into()),
                3 => node.name = content.name()?,
                4 => node.op = content.name()?,
                5 => {
                    let body = content.bytes()?;
                    node.attributes.push((name_of(body)?, body.into()));
                }
                7 => node.domain = content.name()?,
                _ => {}
            }
        }
        Ok(node)
    }

    /// Whether it is one of the operators of the standard.
    pub(super) fn is_standard(&self) -> bool {
        matches!(self.domain, "" | "ai.onnx")
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_message(out, 1, |node| {
            self.inputs.iter().for_each(|input| write_text(node, 1, input));
            self.outputs.iter().for_each(|output| write_text(node, 2, output));
            write_text(node, 3, self.name);
            write_text(node, 4, self.op);
            self.attributes.iter().for_each(|(_, body)| write_bytes(node, 5, body));
            write_text(node, 7, self.domain);
        });
    }

    /// An input that is there: one with an empty name is not.
    pub(super) fn input(&self, at: usize) -> Option<&str> {
        self.inputs.get(at).map(Cow::as_ref).filter(|name| !name.is_empty())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(own, _)| *own == name)
    }

    pub(super) fn int(&self, name: &str) -> Result<Option<i64>> {
        self.find(name, 3, |content| content.number().map(|value| value as i64))
    }

    pub(super) fn float(&self, name: &str) -> Result<Option<f32>> {
        self.find(name, 2, |content| content.float())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        self.find(name, 4, |content| content.text())
    }

    /// Integers; none where there is no such attribute.
    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>> {
        let Some((_, body)) = self.attributes.iter().find(|(own, _)| *own == name) else {
            return Ok(None);
        };
        let mut values = Vec::new();
        let mut fields = Fields::of(body);
        while let Some((field, content)) = fields.next()? {
            if field == 8 {
                content.numbers(&mut values)?;
            }
        }
        Ok(Some(values))
    }

    /// Sets an attribute, in place of what it was.
    pub(super) fn set(&mut self, name: &'a str, value: Attribute) {
        self.remove(&[name]);
        let mut body = Vec::new();
        write_attribute(&mut body, name, value);
        self.attributes.push((name, body.into()));
    }

    /// Takes attributes away. Says whether any was there.
    pub(super) fn remove(&mut self, names: &[&str]) -> bool {
        let before = self.attributes.len();
        self.attributes.retain(|(own, _)| !names.contains(own));
        self.attributes.len() < before
    }

    fn find<T>(&self, name: &str, wanted: u64, read: impl Fn(Content) -> Result<T>) -> Result<Option<T>> {
        let Some((_, body)) = self.attributes.iter().find(|(own, _)| *own == name) else {
            return Ok(None);
        };
        let mut fields = Fields::of(body);
        let mut found = None;
        while let Some((field, content)) = fields.next()? {
            if field == wanted {
                found = Some(read(content)?);
            }
        }
        Ok(found)
    }
}

fn name_of(attribute: &[u8]) -> Result<&str> {
    let mut fields = Fields::of(attribute);
    while let Some((field, content)) = fields.next()? {
        if field == 1 {
            return content.name();
        }
    }
    Ok("")
}
