// SPDX-License-Identifier: MIT
//! Every tensor of a checkpoint, by the names that lead to it.
//!
//! A pickle may share parts and contain itself, so the number of ways through it has no bound. The walk
//! does not enter what it is inside of, goes only so deep, and counts its steps.

use std::collections::HashMap;

use super::layout::{Inner, Layout, refusal};
use crate::array::Object;
use crate::error::{Parsed, Problem, bail, problem};
use crate::npy::Content;
use crate::pickle::{Id, Kind, Pickled, Record, Tensor, Value};

/// What lies deeper is ignored. A module inside a module takes four levels.
pub(super) const DEPTH: usize = 200;

/// A walk of more steps, beside one for each value, is given up.
const STEPS: usize = 10_000_000;

/// The names of all tensors together may have this many bytes.
const NAME_BYTES: usize = 256 << 20;

/// Longer keys are cut.
const KEY_LENGTH: usize = 200;

/// A tensor and its name.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The keys that lead to it, joined with dots; empty for a file of one tensor.
    pub(crate) name: String,
    /// How much of the name is the first key.
    pub(crate) first_key: usize,
    /// How many keys lead to it.
    pub(crate) depth: usize,
    pub(super) what: What,
}

/// A tensor, or why it is none that can be read.
#[derive(Debug)]
pub(crate) enum What {
    Tensor(Layout),
    Numpy(Inner),
    /// The rest of "holds tensor `x`, which …".
    Refused(String),
}

impl What {
    pub(super) fn shape_and_dtype(&self) -> Option<(&[usize], &'static str)> {
        match self {
            What::Tensor(layout) => Some((&layout.shape, layout.kind.name())),
            What::Numpy(array) => Some((&array.shape, array.content.name())),
            What::Refused(_) => None,
        }
    }
}

impl Leaf {
    /// The sizes, none for a single number; `None` where the tensor cannot be read.
    pub(crate) fn shape(&self) -> Option<&[usize]> {
        self.what.shape_and_dtype().map(|(shape, _)| shape)
    }

    pub(crate) fn refusal(&self) -> Option<&str> {
        match &self.what {
            What::Refused(reason) => Some(reason),
            _ => None,
        }
    }
}

/// All tensors, in the order of the file. A name that comes twice gets `~2` behind it.
pub(crate) fn leaves(pickled: &Pickled) -> Parsed<Vec<Leaf>> {
    let mut walk = Walk::new(pickled);
    walk.visit(pickled.root)?;
    Ok(walk.leaves)
}

/// The items of a list of plain values, such as labels, by its name.
pub(super) fn plain_list(pickled: &Pickled, name: &str) -> Option<Vec<Object>> {
    let mut walk = Walk::new(pickled);
    walk.wanted = Some(name);
    walk.visit(pickled.root).ok()?;
    let plain = |&id: &Id| match pickled.get(id) {
        Value::Plain(object) => Some(object.clone()),
        _ => None,
    };
    pickled.parts(walk.found?)?.iter().map(plain).collect()
}

/// The text that some keys lead to, from the root on.
pub(crate) fn plain_text(pickled: &Pickled, keys: &[&str]) -> Option<String> {
    let mut at = pickled.root;
    for wanted in keys {
        at = match pickled.get(at) {
            Value::Dict(entries) => {
                let mut entries = entries.iter().enumerate();
                let is_wanted = |(place, (key, _)): &(usize, &(Id, Id))| key_text(pickled, *key, *place) == *wanted;
                entries.find(is_wanted)?.1.1
            }
            Value::Record(record) => {
                let mut parts = record_parts(pickled, record).into_iter();
                parts.find(|(key, _)| key.as_deref() == Some(*wanted))?.1
            }
            _ => return None,
        };
    }
    match pickled.get(at) {
        Value::Plain(Object::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// What a value is, if it is a tensor of any kind.
pub(super) fn tensor(pickled: &Pickled, value: &Value) -> Parsed<Option<What>> {
    Ok(match value {
        Value::Tensor(tensor) => Some(of_tensor(pickled, tensor)?),
        Value::Storage(storage) => Some(readable(Layout::of_storage(pickled, storage)?)),
        Value::Array(Some(array)) => Some(match Inner::of(pickled, array) {
            Ok(inner) if inner.content == Content::Objects => {
                What::Refused("holds Python objects, which are not read; save them as text or as a tensor".to_string())
            }
            Ok(inner) => What::Numpy(inner),
            Err(problem) => What::Refused(problem.to_string()),
        }),
        Value::Record(record) => foreign(pickled.class_name(record.class)).map(What::Refused),
        _ => None,
    })
}

fn of_tensor(pickled: &Pickled, tensor: &Tensor) -> Parsed<What> {
    match pickled.get(tensor.storage) {
        Value::Storage(_) => Layout::of(pickled, tensor).map(readable),
        _ => Ok(What::Refused(
            "was not written by torch.save but by pickle; save it with torch.save".to_string(),
        )),
    }
}

fn readable(layout: Layout) -> What {
    match layout.kind {
        Kind::Read(_) => What::Tensor(layout),
        kind => What::Refused(refusal(kind)),
    }
}

/// Why a tensor that another of PyTorch's functions makes is not read.
fn foreign(class: &str) -> Option<String> {
    let function = class
        .strip_prefix("torch._utils._rebuild_")
        .or_else(|| class.strip_prefix("torch._tensor._rebuild_"))?;
    let (kind, advice) = match function {
        f if f.starts_with("sparse") => ("sparse", "save x.to_dense()"),
        f if f.starts_with("qtensor") => ("quantised", "save x.dequantize()"),
        f if f.starts_with("nested") => ("nested", "save x.to_padded_tensor(0)"),
        f if f.starts_with("meta") => ("meta", "it has no values"),
        _ => ("special", "save it as a plain tensor"),
    };
    Some(format!(
        "is a {kind} tensor (`_rebuild_{function}`), which is not read; {advice}"
    ))
}

/// The key of a dict as part of a name.
pub(super) fn key_text(pickled: &Pickled, key: Id, at: usize) -> String {
    match pickled.get(key) {
        Value::Plain(Object::Text(text)) if text.len() <= KEY_LENGTH => text.clone(),
        Value::Plain(Object::Text(text)) => text.chars().take(KEY_LENGTH).chain(['…']).collect(),
        Value::Plain(Object::Int(number)) => number.to_string(),
        Value::Plain(Object::Bool(truth)) => if *truth { "True" } else { "False" }.to_string(),
        Value::Plain(Object::Float(number)) => format!("{number:?}"),
        _ => format!("[{at}]"),
    }
}

/// The parts of a record that can be looked into: attributes, entries of a dict, items of a list, arguments. A module's
/// own bookkeeping has no name of its own, so that a pickled model has the names of its state dict.
pub(super) fn record_parts(pickled: &Pickled, record: &Record) -> Vec<(Option<String>, Id)> {
    let mut parts = Vec::new();
    let mut attributes = |state: Id| match pickled.get(state) {
        Value::Dict(entries) => parts.extend(entries.iter().enumerate().map(|(at, &(key, value))| {
            let name = key_text(pickled, key, at);
            let is_module = matches!(name.as_str(), "_parameters" | "_buffers" | "_modules");
            let is_dict = matches!(pickled.get(value), Value::Dict(_));
            ((!is_module || !is_dict).then_some(name), value)
        })),
        Value::Plain(Object::None) => {}
        _ => parts.push((Some("state".to_string()), state)),
    };
    match record.state.map(|state| (state, pickled.get(state))) {
        // (attributes, slots)
        Some((_, Value::Tuple(both))) if both.len() == 2 => both.iter().for_each(|&state| attributes(state)),
        Some((state, _)) => attributes(state),
        None => {}
    }
    let entries = record.entries.iter().enumerate();
    parts.extend(entries.map(|(at, &(key, value))| (Some(key_text(pickled, key, at)), value)));
    let arguments = pickled.parts(record.arguments).unwrap_or_default();
    for items in [arguments, &record.items] {
        parts.extend(items.iter().enumerate().map(|(at, &id)| (Some(at.to_string()), id)));
    }
    parts
}

struct Walk<'a> {
    pickled: &'a Pickled,
    leaves: Vec<Leaf>,
    /// Each name there is, and how many tensors have been called so.
    names: HashMap<String, usize>,
    name_bytes: usize,
    /// The name so far, and where each of its keys ends.
    name: String,
    ends: Vec<usize>,
    depth: usize,
    steps: usize,
    /// The values that the walk is inside of.
    inside: Vec<bool>,
    /// The name of a list of plain values that is looked for.
    wanted: Option<&'a str>,
    found: Option<Id>,
}

impl<'a> Walk<'a> {
    fn new(pickled: &'a Pickled) -> Self {
        Walk {
            pickled,
            leaves: Vec::new(),
            names: HashMap::new(),
            name_bytes: NAME_BYTES,
            name: String::new(),
            ends: Vec::new(),
            depth: 0,
            steps: pickled.values().len() + STEPS,
            inside: vec![false; pickled.values().len()],
            wanted: None,
            found: None,
        }
    }

    fn visit(&mut self, id: Id) -> Parsed<()> {
        self.spend(1)?;
        let value = self.pickled.get(id);
        if let Value::Plain(_) = value {
            return Ok(());
        }
        let in_leaf = |p: Problem| problem!("holds tensor `{}`, which {p}", self.name);
        if let Some(what) = tensor(self.pickled, value).map_err(in_leaf)? {
            return self.leaf(what);
        }
        if self.inside[id] || self.depth >= DEPTH {
            return Ok(());
        }
        self.inside[id] = true;
        self.depth += 1;
        self.enter(id)?;
        self.depth -= 1;
        self.inside[id] = false;
        Ok(())
    }

    fn enter(&mut self, id: Id) -> Parsed<()> {
        match self.pickled.get(id) {
            Value::List(items) | Value::Tuple(items) => {
                self.spend(items.len())?;
                let is_plain = |&id: &Id| matches!(self.pickled.get(id), Value::Plain(_));
                if items.iter().all(is_plain) {
                    if self.wanted == Some(&self.name) && !items.is_empty() {
                        self.found = self.found.or(Some(id));
                    }
                    return Ok(());
                }
                for (at, &item) in items.iter().enumerate() {
                    self.visit_part(Some(&at.to_string()), item)?;
                }
            }
            Value::Dict(entries) => {
                for (at, &(key, value)) in entries.iter().enumerate() {
                    self.visit_part(Some(&key_text(self.pickled, key, at)), value)?;
                }
            }
            Value::Record(record) => {
                let parts = record_parts(self.pickled, record);
                self.spend(parts.len())?;
                for (key, value) in parts {
                    self.visit_part(key.as_deref(), value)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_part(&mut self, key: Option<&str>, value: Id) -> Parsed<()> {
        // Plain values have no name, and there may be millions.
        if let Value::Plain(_) = self.pickled.get(value) {
            return self.spend(1);
        }
        let Some(key) = key else {
            return self.visit(value);
        };
        let length = self.name.len();
        if !self.ends.is_empty() {
            self.name.push('.');
        }
        self.name.push_str(key);
        self.ends.push(self.name.len());
        self.visit(value)?;
        self.ends.pop();
        self.name.truncate(length);
        Ok(())
    }

    fn leaf(&mut self, what: What) -> Parsed<()> {
        let Some(left) = self.name_bytes.checked_sub(self.name.len() + 64) else {
            bail!("has tensors whose names need more than {NAME_BYTES} bytes: it is damaged or hostile");
        };
        self.name_bytes = left;
        let mut name = self.name.clone();
        while self.names.contains_key(&name) {
            // The next number of this name, which is taken only where a key looks like one of ours.
            let copies = self.names.entry(self.name.clone()).or_insert(1);
            *copies += 1;
            name = format!("{}~{copies}", self.name);
            self.spend(1)?;
        }
        self.names.insert(name.clone(), 1);
        self.leaves.push(Leaf {
            name,
            first_key: self.ends.first().copied().unwrap_or(0),
            depth: self.ends.len(),
            what,
        });
        Ok(())
    }

    fn spend(&mut self, steps: usize) -> Parsed<()> {
        match self.steps.checked_sub(steps) {
            Some(left) => self.steps = left,
            None => bail!(
                "repeats its parts so often that more than {STEPS} steps lead through them: it is damaged or \
                     hostile"
            ),
        }
        Ok(())
    }
}
