// SPDX-License-Identifier: MIT
//! A checkpoint as an indented list, for people: keys, shapes, types, plain values.

use std::collections::HashMap;

use super::walk::{DEPTH, What, key_text, record_parts, tensor};
use crate::array::{Object, Shape};
use crate::pickle::{Id, Pickled, Value};

/// Of a list, so many items are shown.
const ITEMS: usize = 6;

/// Longer text is cut.
const TEXT: usize = 60;

/// A tree that takes more steps, beside one for each value, is cut: an object may be shown in many places.
const STEPS: usize = 1_000_000;

/// At most `lines` lines, and one that says how many were left out.
pub(crate) fn tree(pickled: &Pickled, lines: usize) -> String {
    let mut tree = Tree {
        pickled,
        lines: Vec::new(),
        limit: lines,
        is_cut: false,
        inside: Vec::new(),
        plain: HashMap::new(),
        steps: pickled.values().len() + STEPS,
    };
    tree.show(None, pickled.root);
    if tree.is_cut {
        tree.lines.push(format!("… and more than these {lines} lines"));
    }
    tree.lines.join("\n")
}

struct Tree<'a> {
    pickled: &'a Pickled,
    lines: Vec<String>,
    limit: usize,
    is_cut: bool,
    /// The values that this line is inside of.
    inside: Vec<Id>,
    /// Whether the items of a list are all plain: a list may be shown again and again.
    plain: HashMap<Id, bool>,
    /// How many parts of objects may still be looked at.
    steps: usize,
}

impl Tree<'_> {
    fn show(&mut self, key: Option<&str>, id: Id) {
        if self.lines.len() >= self.limit {
            self.is_cut = true;
            return;
        }
        let line = self.describe(id);
        // The root without a key has no line of its own unless it is a leaf.
        let indent = "  ".repeat(self.inside.len().saturating_sub(1));
        let line = match key {
            Some(key) => format!("{indent}{}  {line}", clip(key)),
            None => line,
        };
        self.lines.push(line);
        if self.inside.contains(&id) || self.inside.len() >= DEPTH || self.is_leaf(id) {
            return;
        }
        self.inside.push(id);
        self.show_parts(id);
        self.inside.pop();
    }

    fn show_parts(&mut self, id: Id) {
        let pickled = self.pickled;
        match pickled.get(id) {
            Value::Dict(entries) => self.show_entries(entries),
            Value::List(items) | Value::Tuple(items) => {
                for (at, &item) in items.iter().take(ITEMS).enumerate() {
                    self.show(Some(&at.to_string()), item);
                }
                if items.len() > ITEMS && !self.is_cut {
                    let indent = "  ".repeat(self.inside.len().saturating_sub(1));
                    self.lines.push(format!("{indent}… and {} more", items.len() - ITEMS));
                }
            }
            Value::Record(record) => {
                // All parts of an object are collected, however few of them find a line.
                let state = record.state.map_or(0, |state| match pickled.get(state) {
                    Value::Dict(entries) => entries.len(),
                    Value::Tuple(both) => both.iter().map(|&id| pickled.entries(id)).sum(),
                    _ => 0,
                });
                let arguments = pickled.parts(record.arguments).map_or(0, <[Id]>::len);
                let parts = state + record.entries.len() + record.items.len() + arguments;
                let Some(left) = self.steps.checked_sub(parts) else {
                    self.is_cut = true;
                    return;
                };
                self.steps = left;
                for (key, value) in record_parts(pickled, record) {
                    if self.is_cut {
                        return;
                    }
                    match (key, pickled.get(value)) {
                        (Some(key), _) if key.starts_with('_') && self.is_empty(value) => {}
                        (Some(key), _) => self.show(Some(&key), value),
                        // A module's own bookkeeping: its parts stand in its place.
                        (None, Value::Dict(entries)) => self.show_entries(entries),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn show_entries(&mut self, entries: &[(Id, Id)]) {
        for (at, &(key, value)) in entries.iter().enumerate() {
            if self.is_cut {
                return;
            }
            self.show(Some(&key_text(self.pickled, key, at)), value);
        }
    }

    /// Nothing to see: a module has a dozen private attributes of this kind.
    fn is_empty(&self, id: Id) -> bool {
        match self.pickled.get(id) {
            Value::Plain(Object::None) => true,
            Value::Dict(entries) => entries.is_empty(),
            Value::List(items) | Value::Tuple(items) => items.is_empty(),
            _ => false,
        }
    }

    fn is_leaf(&mut self, id: Id) -> bool {
        match self.pickled.get(id) {
            Value::Dict(_) => false,
            Value::List(items) | Value::Tuple(items) => self.are_plain(id, items),
            value @ Value::Record(_) => !matches!(tensor(self.pickled, value), Ok(None)),
            _ => true,
        }
    }

    fn are_plain(&mut self, id: Id, items: &[Id]) -> bool {
        let pickled = self.pickled;
        let is_plain = |&id: &Id| matches!(pickled.get(id), Value::Plain(_));
        *self.plain.entry(id).or_insert_with(|| items.iter().all(is_plain))
    }

    /// A value in a few words.
    fn describe(&mut self, id: Id) -> String {
        let pickled = self.pickled;
        let value = pickled.get(id);
        match tensor(pickled, value) {
            Ok(Some(What::Refused(reason))) => return reason,
            Ok(Some(what)) => {
                let (shape, dtype) = what.shape_and_dtype().unwrap_or_default();
                return format!("{dtype} {}", Shape(shape));
            }
            Err(problem) => return format!("a tensor that {problem}"),
            Ok(None) => {}
        }
        match value {
            Value::Plain(object) => plain(object),
            Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Value::Dict(entries) => format!("dict of {}", entries.len()),
            Value::List(items) | Value::Tuple(items) if self.are_plain(id, items) => self.short(items),
            Value::List(items) | Value::Tuple(items) => format!("list of {}", items.len()),
            Value::Name(name) => clip(name),
            Value::Record(record) => clip(pickled.class_name(record.class)),
            Value::Callable(crate::pickle::Callable::Kind(kind)) => kind.name().to_string(),
            Value::Callable(_) | Value::Dtype(_) => "a type or function".to_string(),
            Value::Array(_) | Value::Storage(_) | Value::Tensor(_) => "an array without contents".to_string(),
        }
    }

    fn short(&self, items: &[Id]) -> String {
        let shown = items.iter().take(ITEMS).map(|&id| match self.pickled.get(id) {
            Value::Plain(object) => plain(object),
            _ => String::new(),
        });
        let mut shown: Vec<String> = shown.collect();
        match items.len() {
            n if n > ITEMS => {
                shown.push("…".to_string());
                format!("list of {n}: {}", shown.join(", "))
            }
            _ => format!("[{}]", shown.join(", ")),
        }
    }
}

fn plain(object: &Object) -> String {
    match object {
        Object::None => "None".to_string(),
        Object::Bool(true) => "True".to_string(),
        Object::Bool(false) => "False".to_string(),
        Object::Int(number) => number.to_string(),
        Object::Float(number) => number.to_string(),
        Object::Text(text) => format!("\"{}\"", clip(text)),
    }
}

/// Text from a file, short and without control characters, which could move a terminal's cursor.
fn clip(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(TEXT)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(TEXT).is_some() {
        short.push('…');
    }
    short
}
