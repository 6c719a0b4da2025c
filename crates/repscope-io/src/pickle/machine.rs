// SPDX-License-Identifier: MIT
//! The stack machine: the opcodes of pickle protocols 0 to 5.

use std::collections::HashMap;

use super::calls::{Callable, Names};
use super::cursor::{Cursor, whole, written};
use super::{Id, Pickled, Record, Step, Value, damaged, refuse};
use crate::array::Object;

/// A pickle of more values is refused: each takes about a hundred bytes, but may cost one in the file.
const VALUE_LIMIT: usize = 20_000_000;

/// Longer names are refused.
const NAME_LENGTH: usize = 500;

/// No known function has more arguments that matter.
const ARGUMENTS: usize = 8;

/// Values, the stack of their numbers, and the memo.
pub(super) struct Machine {
    pub(super) values: Vec<Value>,
    names: Names,
    stack: Vec<Id>,
    /// Stack heights at which a mark was set.
    marks: Vec<usize>,
    memo: HashMap<usize, Id>,
    /// Each name that was mentioned, once.
    mentioned: HashMap<String, Id>,
    /// How many bytes and numbers may still be copied.
    left: usize,
}

impl Machine {
    /// A machine for a pickle of `length` bytes.
    pub(super) fn new(names: Names, length: usize) -> Self {
        Machine {
            values: Vec::new(),
            names,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            mentioned: HashMap::new(),
            left: length.saturating_mul(4),
        }
    }

    /// Reads one pickle; also gives the bytes behind it.
    pub(super) fn run(mut self, bytes: &[u8]) -> Step<(Pickled, &[u8])> {
        let mut cursor = Cursor(bytes);
        while self.step(&mut cursor)? {}
        let root = self.pop()?;
        let values = self.values;
        Ok((Pickled { values, root }, cursor.0))
    }

    /// Executes one opcode; false at the end.
    fn step(&mut self, cursor: &mut Cursor) -> Step<bool> {
        let code = cursor.byte()?;
        match code {
            b'.' => return Ok(false),
            0x80 => drop(cursor.take(1)?), // protocol number
            0x95 => drop(cursor.take(8)?), // frame length
            0x98 => {}                     // a buffer becomes read-only
            b'(' => self.marks.push(self.stack.len()),
            b'0' if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'p' => self.remember(decimal(cursor)?)?,
            b'q' => self.remember(cursor.number(1)?)?,
            b'r' => self.remember(cursor.number(4)?)?,
            0x94 => self.remember(self.memo.len())?,
            b'g' => self.recall(decimal(cursor)?)?,
            b'h' => self.recall(cursor.number(1)?)?,
            b'j' => self.recall(cursor.number(4)?)?,
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_to_mark()?;
                self.append(items)?;
            }
            b's' => {
                let pair = self.pop_many(2)?;
                self.set_items(&pair)?;
            }
            b'u' => {
                let pairs = self.pop_to_mark()?;
                self.set_items(&pairs)?;
            }
            b'b' => {
                let state = self.pop()?;
                self.set_state(self.top()?, state)?;
            }
            _ => {
                let id = self.made(code, cursor)?;
                self.stack.push(id);
            }
        }
        Ok(true)
    }

    /// Opcodes that mention a name or make an object of a class.
    fn made(&mut self, code: u8, cursor: &mut Cursor) -> Step<Id> {
        match code {
            b'c' => self.name(cursor.line()?, cursor.line()?),
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let text = |id: Id| match &self.values[id] {
                    Value::Plain(Object::Text(text)) if text.len() <= NAME_LENGTH => Ok(text.clone()),
                    _ => Err(damaged()),
                };
                self.name(&text(module)?, &text(name)?)
            }
            b'R' | 0x81 => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                self.reduce(callable, arguments)
            }
            0x92 => {
                let (_, arguments, class) = (self.pop()?, self.pop()?, self.pop()?);
                self.reduce(class, arguments)
            }
            b'i' => {
                let class = self.name(cursor.line()?, cursor.line()?)?;
                let arguments = self.pop_to_mark()?;
                let arguments = self.add(Value::Tuple(arguments))?;
                self.reduce(class, arguments)
            }
            b'o' => {
                let mut arguments = self.pop_to_mark()?;
                if arguments.is_empty() {
                    return Err(damaged());
                }
                let class = arguments.remove(0);
                let arguments = self.add(Value::Tuple(arguments))?;
                self.reduce(class, arguments)
            }
            b'Q' if self.names == Names::Checkpoint => {
                let id = self.pop()?;
                let storage = self.storage(id)?;
                self.add(storage)
            }
            _ => {
                let value = self.constant(code, cursor)?;
                self.add(value)
            }
        }
    }

    /// Opcodes that make a plain value or a collection.
    fn constant(&mut self, code: u8, cursor: &mut Cursor) -> Step<Value> {
        let plain = Value::Plain;
        let string = |s: String| Value::Plain(Object::Text(s));
        Ok(match code {
            b'N' => plain(Object::None),
            0x88 => plain(Object::Bool(true)),
            0x89 => plain(Object::Bool(false)),
            b'J' => plain(whole(cursor.take(4)?)?),
            b'K' => plain(Object::Int(cursor.number(1)? as i64)),
            b'M' => plain(Object::Int(cursor.number(2)? as i64)),
            0x8a => plain(self.long(cursor.counted(1)?)?),
            0x8b => plain(self.long(cursor.counted(4)?)?),
            b'I' | b'L' | b'F' => plain(written(cursor.line()?)?),
            b'G' => {
                let bytes = cursor.take(8)?.first_chunk().ok_or_else(damaged)?;
                plain(Object::Float(f64::from_be_bytes(*bytes)))
            }
            0x8c => string(cursor.counted_text(1)?),
            b'X' => string(cursor.counted_text(4)?),
            0x8d => string(cursor.counted_text(8)?),
            b'V' => string(cursor.escaped_line()?),
            b'S' => string(cursor.quoted_line()?),
            b'U' => cursor.old_string(1)?,
            b'T' => cursor.old_string(4)?,
            b'C' => Value::Bytes(cursor.counted(1)?.to_vec()),
            b'B' => Value::Bytes(cursor.counted(4)?.to_vec()),
            0x8e | 0x96 => Value::Bytes(cursor.counted(8)?.to_vec()),
            b']' | 0x8f => Value::List(Vec::new()),
            b'l' | 0x91 => Value::List(self.pop_to_mark()?),
            b')' => Value::Tuple(Vec::new()),
            b't' => Value::Tuple(self.pop_to_mark()?),
            0x85..=0x87 => Value::Tuple(self.pop_many(usize::from(code - 0x84))?),
            b'}' => Value::Dict(Vec::new()),
            b'd' => Value::Dict(pairs(&self.pop_to_mark()?)?),
            other => return refuse(format!("holds more than plain text and numbers (opcode {other:#04x})")),
        })
    }

    /// A long integer. The state of a random generator in a checkpoint may have hundreds of digits, which
    /// nobody reads here.
    fn long(&self, bytes: &[u8]) -> Step<Object> {
        if bytes.len() > 16 && self.names == Names::Checkpoint {
            return Ok(Object::Text(format!("an integer of {} bytes", bytes.len())));
        }
        whole(bytes)
    }

    fn name(&mut self, module: &str, name: &str) -> Step<Id> {
        if module.len() + name.len() > NAME_LENGTH {
            return Err(damaged());
        }
        let key = format!("{module}\n{name}");
        if let Some(&id) = self.mentioned.get(&key) {
            return Ok(id);
        }
        let value = Callable::find(self.names, module, name)?;
        let id = self.add(value)?;
        self.mentioned.insert(key, id);
        Ok(id)
    }

    fn reduce(&mut self, callable: Id, arguments: Id) -> Step<Id> {
        match self.values[callable] {
            Value::Callable(callable) => {
                let arguments = self.first_parts(arguments)?;
                self.call(callable, &arguments)
            }
            Value::Name(_) | Value::Record(_) => self.record(callable, arguments),
            _ => Err(damaged()),
        }
    }

    /// An object of a class that is not known here.
    pub(super) fn record(&mut self, class: Id, arguments: Id) -> Step<Id> {
        let is_maker = |name: &str| name.starts_with("copyreg.") || name.starts_with("copy_reg.");
        // Python's own way to make an object without calling its class.
        let class = match (&self.values[class], self.parts(arguments)) {
            (Value::Name(name), Some([class, ..])) if is_maker(name) => *class,
            _ => class,
        };
        self.add(Value::Record(Box::new(Record {
            class,
            arguments,
            state: None,
            entries: Vec::new(),
            items: Vec::new(),
        })))
    }

    fn append(&mut self, items: Vec<Id>) -> Step<()> {
        let target = self.top()?;
        match &mut self.values[target] {
            Value::List(list) => list.extend(items),
            Value::Record(record) => record.items.extend(items),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Id]) -> Step<()> {
        let pairs = pairs(items)?;
        let target = self.top()?;
        match &mut self.values[target] {
            Value::Dict(entries) => entries.extend(pairs),
            Value::Record(record) => record.entries.extend(pairs),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn remember(&mut self, at: usize) -> Step<()> {
        let top = self.top()?;
        self.memo.insert(at, top);
        Ok(())
    }

    fn recall(&mut self, at: usize) -> Step<()> {
        let id = *self.memo.get(&at).ok_or_else(damaged)?;
        self.stack.push(id);
        Ok(())
    }

    /// Notes a value; the caller decides whether it goes on the stack.
    pub(super) fn add(&mut self, value: Value) -> Step<Id> {
        if self.values.len() >= VALUE_LIMIT {
            return refuse(format!("holds more than {VALUE_LIMIT} values"));
        }
        self.values.push(value);
        Ok(self.values.len() - 1)
    }

    /// Accounts for a copy of so many bytes or numbers. A real pickle copies each part once.
    pub(super) fn spend(&mut self, count: usize) -> Step<()> {
        match self.left.checked_sub(count) {
            Some(left) => self.left = left,
            None => return refuse("repeats its parts more often than its size allows"),
        }
        Ok(())
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// The parts of a tuple or list.
    pub(super) fn parts(&self, id: Id) -> Option<&[Id]> {
        match &self.values[id] {
            Value::Tuple(items) | Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// As many arguments of a call as matter.
    pub(super) fn first_parts(&self, arguments: Id) -> Step<Vec<Id>> {
        let parts = self.parts(arguments).ok_or_else(damaged)?;
        Ok(parts.iter().take(ARGUMENTS).copied().collect())
    }

    fn top(&self) -> Step<Id> {
        self.stack.last().copied().ok_or_else(damaged)
    }

    fn pop(&mut self) -> Step<Id> {
        self.stack.pop().ok_or_else(damaged)
    }

    fn pop_many(&mut self, count: usize) -> Step<Vec<Id>> {
        let start = self.stack.len().checked_sub(count).ok_or_else(damaged)?;
        Ok(self.stack.split_off(start))
    }

    fn pop_to_mark(&mut self) -> Step<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(damaged)?;
        if mark > self.stack.len() {
            return Err(damaged());
        }
        Ok(self.stack.split_off(mark))
    }
}

fn pairs(items: &[Id]) -> Step<Vec<(Id, Id)>> {
    let (pairs, rest) = items.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(damaged());
    }
    Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
}

fn decimal(cursor: &mut Cursor) -> Step<usize> {
    cursor.line()?.parse().map_err(|_| damaged())
}
