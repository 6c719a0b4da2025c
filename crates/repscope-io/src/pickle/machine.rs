// SPDX-License-Identifier: MIT
//! The stack machine: opcodes of pickle protocols 0 to 5 that an array of plain values needs.

use std::collections::HashMap;

use super::calls::{Callable, Dtype};
use super::cursor::{Cursor, text};
use super::numbers::{whole, written};
use super::{damaged, refuse};
use crate::array::Object;
use crate::error::Parsed;

/// The number of a value in the machine's list.
pub(super) type Id = usize;

/// A value of the machine.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Plain(Object),
    Bytes(Vec<u8>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Callable(Callable),
    Dtype(Dtype),
    /// An array; `None` until its contents arrive.
    Array(Option<Vec<Id>>),
}

/// Values, the stack of their numbers, and the memo.
#[derive(Default)]
pub(super) struct Machine {
    values: Vec<Value>,
    stack: Vec<Id>,
    /// Stack heights at which a mark was set.
    marks: Vec<usize>,
    memo: HashMap<usize, Id>,
}

impl Machine {
    pub(super) fn run(&mut self, bytes: &[u8]) -> Parsed<()> {
        let mut cursor = Cursor(bytes);
        while self.step(&mut cursor)? {}
        Ok(())
    }

    /// What the finished array holds.
    pub(super) fn into_objects(mut self) -> Parsed<Vec<Object>> {
        let top = self.pop()?;
        let Value::Array(Some(items)) = &self.values[top] else {
            return refuse("does not hold an array of text or numbers");
        };
        let object = |(row, &id): (usize, &Id)| match &self.values[id] {
            Value::Plain(object) => Ok(object.clone()),
            Value::Bytes(bytes) => text(bytes).map(Object::Text),
            _ => refuse(format!(
                "holds something else than text, a number or None at value {row}"
            )),
        };
        items.iter().enumerate().map(object).collect()
    }

    /// Executes one opcode; false at the end.
    fn step(&mut self, cursor: &mut Cursor) -> Parsed<bool> {
        let code = cursor.byte()?;
        match code {
            b'.' => return Ok(false),
            0x80 => drop(cursor.take(1)?), // protocol number
            0x95 => drop(cursor.take(8)?), // frame length
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
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
            b'e' => {
                let items = self.pop_to_mark()?;
                self.append(items)?;
            }
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            _ => {
                let value = self.constant(code, cursor)?;
                self.push(value);
            }
        }
        Ok(true)
    }

    /// Opcodes that make a value.
    fn constant(&mut self, code: u8, cursor: &mut Cursor) -> Parsed<Value> {
        let plain = Value::Plain;
        let string = |s: String| Value::Plain(Object::Text(s));
        Ok(match code {
            b'N' => plain(Object::None),
            0x88 => plain(Object::Bool(true)),
            0x89 => plain(Object::Bool(false)),
            b'J' => plain(whole(cursor.take(4)?)?),
            b'K' => plain(Object::Int(cursor.number(1)? as i64)),
            b'M' => plain(Object::Int(cursor.number(2)? as i64)),
            0x8a => plain(whole(cursor.counted(1)?)?),
            0x8b => plain(whole(cursor.counted(4)?)?),
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
            b'U' => string(cursor.counted_text(1)?),
            b'T' => string(cursor.counted_text(4)?),
            b'C' => Value::Bytes(cursor.counted(1)?.to_vec()),
            b'B' => Value::Bytes(cursor.counted(4)?.to_vec()),
            0x8e => Value::Bytes(cursor.counted(8)?.to_vec()),
            b']' => Value::List(Vec::new()),
            b'l' => Value::List(self.pop_to_mark()?),
            b')' => Value::Tuple(Vec::new()),
            b't' => Value::Tuple(self.pop_to_mark()?),
            0x85..=0x87 => Value::Tuple(self.pop_many(usize::from(code - 0x84))?),
            b'c' => Callable::find(cursor.line()?, cursor.line()?)?,
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (&self.values[module], &self.values[name]) {
                    (Value::Plain(Object::Text(module)), Value::Plain(Object::Text(name))) => {
                        Callable::find(module, name)?
                    }
                    _ => return Err(damaged()),
                }
            }
            other => return refuse(format!("holds more than plain text and numbers (opcode {other:#04x})")),
        })
    }

    fn reduce(&mut self) -> Parsed<()> {
        let (arguments, callable) = (self.pop()?, self.pop()?);
        let (Value::Callable(callable), Value::Tuple(arguments)) = (&self.values[callable], &self.values[arguments])
        else {
            return Err(damaged());
        };
        let arguments: Vec<&Value> = arguments.iter().map(|&id| &self.values[id]).collect();
        let value = callable.call(&arguments)?;
        self.push(value);
        Ok(())
    }

    fn build(&mut self) -> Parsed<()> {
        let state = self.pop()?;
        let target = *self.stack.last().ok_or_else(damaged)?;
        let Value::Tuple(state) = &self.values[state] else {
            return Err(damaged());
        };
        let state: Vec<&Value> = state.iter().map(|&id| &self.values[id]).collect();
        let built = self.values[target].with_state(&state)?;
        self.values[target] = built;
        Ok(())
    }

    fn append(&mut self, items: Vec<Id>) -> Parsed<()> {
        let list = *self.stack.last().ok_or_else(damaged)?;
        match &mut self.values[list] {
            Value::List(list) => list.extend(items),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn remember(&mut self, at: usize) -> Parsed<()> {
        let top = *self.stack.last().ok_or_else(damaged)?;
        self.memo.insert(at, top);
        Ok(())
    }

    fn recall(&mut self, at: usize) -> Parsed<()> {
        let id = *self.memo.get(&at).ok_or_else(damaged)?;
        self.stack.push(id);
        Ok(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn pop(&mut self) -> Parsed<Id> {
        self.stack.pop().ok_or_else(damaged)
    }

    fn pop_many(&mut self, count: usize) -> Parsed<Vec<Id>> {
        let start = self.stack.len().checked_sub(count).ok_or_else(damaged)?;
        Ok(self.stack.split_off(start))
    }

    fn pop_to_mark(&mut self) -> Parsed<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(damaged)?;
        if mark > self.stack.len() {
            return Err(damaged());
        }
        Ok(self.stack.split_off(mark))
    }
}

fn decimal(cursor: &mut Cursor) -> Parsed<usize> {
    cursor.line()?.parse().map_err(|_| damaged())
}
