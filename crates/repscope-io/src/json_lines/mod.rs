// SPDX-License-Identifier: MIT
//! `.jsonl`: one JSON object per line. `#field` picks a field, `#a.b` one inside another.
//!
//! A field is one array over all lines, so it must be there in every line and of one kind: text, numbers, truth
//! values, or lists of as many numbers. Blank lines are no rows.

use serde_json::{Map, Number, Value};

use crate::array::{Array, ArrayInfo, Data};
use crate::choose::choose;
use crate::error::{Parsed, bail};
use crate::plain_text::without_mark;
use crate::read::Take;

/// Reads one field; without a key, the only one.
pub(crate) fn read(bytes: &[u8], key: Option<&str>) -> Parsed<Array> {
    let Some((number, line)) = lines(bytes).next() else {
        bail!("holds no object");
    };
    let first = parse(number, line)?;
    let key = match key {
        Some(key) if find(&first, key).is_some() => key.to_string(),
        _ => {
            let infos = fields(&first, bytes);
            let at = choose(&infos, key, "field")?;
            infos[at].key.clone().unwrap_or_default()
        }
    };
    let mut column = Column::new(&key);
    for (number, line) in lines(bytes) {
        column.take(number, &parse(number, line)?)?;
    }
    column.finish()
}

/// Reads every field of the first line, one after the other; the lines are parsed once.
pub(crate) fn read_each(bytes: &[u8], take: Take) -> Parsed<()> {
    let infos = list(bytes)?;
    let keys: Vec<&str> = infos.iter().filter_map(|info| info.key.as_deref()).collect();
    let mut columns: Vec<Parsed<Column>> = keys.iter().map(|key| Ok(Column::new(key))).collect();
    for (number, line) in lines(bytes) {
        let object = parse(number, line)?;
        for column in &mut columns {
            if let Ok(own) = column
                && let Err(problem) = own.take(number, &object)
            {
                *column = Err(problem);
            }
        }
    }
    for (key, column) in keys.iter().zip(columns) {
        take(Some((*key).to_string()), column.and_then(Column::finish))?;
    }
    Ok(())
}

/// The fields of the first line that can be read.
pub(crate) fn list(bytes: &[u8]) -> Parsed<Vec<ArrayInfo>> {
    match lines(bytes).next() {
        Some((number, line)) => Ok(fields(&parse(number, line)?, bytes)),
        None => bail!("holds no object"),
    }
}

/// How many lines hold nothing.
pub(crate) fn blank_lines(bytes: &[u8]) -> usize {
    let all = without_mark(bytes).split_inclusive(|&b| b == b'\n').count();
    all - lines(bytes).count()
}

/// The lines that hold something, with their numbers from 1.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    without_mark(bytes)
        .split_inclusive(|&b| b == b'\n')
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
}

fn parse(number: usize, line: &[u8]) -> Parsed<Map<String, Value>> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => bail!(
            "holds {} in line {number}; each line must be an object such as {{\"text\": \"…\"}}",
            kind(&other)
        ),
        Err(error) => {
            let (column, text) = (error.column(), error.to_string());
            // The place is within this line, which we know better.
            let what = text.split(" at line ").next().unwrap_or_default();
            let advice = if line.windows(3).any(|w| w == b"NaN") || line.windows(8).any(|w| w == b"Infinity") {
                "NaN and Infinity are not JSON"
            } else {
                "each line must be one whole object"
            };
            bail!("has no JSON in line {number}: {what} at column {column}; {advice}")
        }
    }
}

/// The value of a field. A field whose own name has dots wins over one inside another.
fn find<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    let inside = |(at, _): (usize, &str)| match object.get(&key[..at]) {
        Some(Value::Object(inner)) => find(inner, &key[at + 1..]),
        _ => None,
    };
    object.get(key).or_else(|| key.match_indices('.').find_map(inside))
}

fn fields(object: &Map<String, Value>, bytes: &[u8]) -> Vec<ArrayInfo> {
    let mut infos = Vec::new();
    add_fields(object, "", lines(bytes).count(), &mut infos);
    // Whether the parser keeps the order of the file depends on how it was built.
    infos.sort_by(|a, b| a.key.cmp(&b.key));
    infos
}

fn add_fields(object: &Map<String, Value>, before: &str, rows: usize, infos: &mut Vec<ArrayInfo>) {
    for (field, value) in object {
        let key = format!("{before}{field}");
        let (shape, dtype) = match value {
            Value::Object(inner) => {
                add_fields(inner, &format!("{key}."), rows, infos);
                continue;
            }
            Value::String(_) => (vec![rows], "str"),
            Value::Bool(_) => (vec![rows], "bool"),
            Value::Number(n) if n.is_i64() => (vec![rows], "i64"),
            Value::Number(n) if n.is_u64() => (vec![rows], "u64"),
            Value::Number(_) => (vec![rows], "f64"),
            Value::Array(items) if items.iter().all(Value::is_number) => (vec![rows, items.len()], "f64"),
            _ => continue,
        };
        infos.push(ArrayInfo::new(Some(key), &shape, dtype));
    }
}

/// What has been read of a field, all of the kind of its first value.
struct Column<'a> {
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
    fn new(key: &'a str) -> Self {
        Column {
            key,
            first: 0,
            values: Values::None,
        }
    }

    /// Takes the field out of the object of a line.
    fn take(&mut self, line: usize, object: &Map<String, Value>) -> Parsed<()> {
        if let Some(value) = find(object, self.key) {
            return self.push(line, value);
        }
        let mut there: Vec<String> = object.keys().map(|field| format!("`{field}`")).collect();
        there.sort();
        there.truncate(10);
        bail!(
            "lacks the field `{}` in line {line}, which has {}; every line must have it",
            self.key,
            if there.is_empty() {
                "none".to_string()
            } else {
                there.join(", ")
            }
        );
    }

    fn push(&mut self, line: usize, value: &Value) -> Parsed<()> {
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

    fn finish(self) -> Parsed<Array> {
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
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
