// SPDX-License-Identifier: MIT
//! The values of one field, line by line, into one array.

use serde_json::{Number, Value};

use crate::array::{Array, Data};
use crate::error::{Parsed, bail};

/// What has been read of a field, all of the kind of its first value.
pub(super) struct Column<'a> {
    key: &'a str,
    /// The number of the first line.
    first: usize,
    values: Values,
}

enum Values {
    None,
    Texts(Vec<String>),
    Numbers(Vec<Number>),
    Truths(Vec<bool>),
    /// How many lists, the length of each, and all their numbers.
    Lists(usize, usize, Vec<f64>),
}

impl<'a> Column<'a> {
    pub(super) fn new(key: &'a str) -> Self {
        Column {
            key,
            first: 0,
            values: Values::None,
        }
    }

    pub(super) fn push(&mut self, line: usize, value: &Value) -> Parsed<()> {
        if let Values::None = self.values {
            self.first = line;
            self.values = match value {
                Value::String(_) => Values::Texts(Vec::new()),
                Value::Number(_) => Values::Numbers(Vec::new()),
                Value::Bool(_) => Values::Truths(Vec::new()),
                Value::Array(items) => Values::Lists(0, items.len(), Vec::new()),
                _ => Values::None,
            };
        }
        match (&mut self.values, value) {
            (Values::Texts(texts), Value::String(text)) => texts.push(text.clone()),
            (Values::Numbers(numbers), Value::Number(number)) => numbers.push(number.clone()),
            (Values::Truths(truths), Value::Bool(truth)) => truths.push(*truth),
            (Values::Lists(count, length, numbers), Value::Array(items)) => {
                if items.len() != *length {
                    let (key, first, count) = (&self.key, &self.first, items.len());
                    bail!(
                        "has {length} numbers in `{key}` in line {first} but {count} in line {line}; all lists must be of one length"
                    );
                }
                for item in items {
                    let Some(number) = item.as_f64() else {
                        let (kind, key) = (kind(item), &self.key);
                        bail!(
                            "holds {kind} in the list `{key}` in line {line}; lists are read where they hold numbers only"
                        );
                    };
                    numbers.push(number);
                }
                *count += 1;
            }
            (_, Value::Null) => bail!("has null for `{}` in line {line}; fill or remove such lines", self.key),
            (Values::None, other) => bail!(
                "has {} for `{}` in line {line}; pick a field of text, numbers, booleans or lists of numbers",
                kind(other),
                self.key
            ),
            (_, other) => bail!(
                "has {} for `{}` in line {} but {} in line {line}; a field must be of one kind",
                self.kind(),
                self.key,
                self.first,
                kind(other)
            ),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Parsed<Array> {
        let (shape, dtype, data) = match self.values {
            Values::None => bail!("has no line with `{}`", self.key),
            Values::Texts(texts) => (vec![texts.len()], "str", Data::Text(texts)),
            Values::Truths(truths) => (vec![truths.len()], "bool", Data::Bool(truths)),
            Values::Lists(count, length, numbers) => (vec![count, length], "f64", Data::f64(numbers)),
            Values::Numbers(numbers) => {
                let rows = vec![numbers.len()];
                if let Some(whole) = numbers.iter().map(Number::as_i64).collect() {
                    (rows, "i64", Data::I64(whole))
                } else if let Some(whole) = numbers.iter().map(Number::as_u64).collect() {
                    (rows, "u64", Data::U64(whole))
                } else {
                    // Every number of JSON has an f64 here, as none is kept as text.
                    let values = numbers.iter().map(|n| n.as_f64().unwrap_or(f64::NAN));
                    (rows, "f64", Data::f64(values.collect()))
                }
            }
        };
        Array::checked(shape, dtype, data)
    }

    fn kind(&self) -> &'static str {
        match self.values {
            Values::None => "nothing",
            Values::Texts(_) => "text",
            Values::Numbers(_) => "a number",
            Values::Truths(_) => "a boolean",
            Values::Lists(..) => "a list",
        }
    }
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
