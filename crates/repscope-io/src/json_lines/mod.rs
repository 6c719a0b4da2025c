// SPDX-License-Identifier: MIT
//! `.jsonl`: one JSON object per line. `#field` picks a field, `#a.b` one inside another.
//!
//! A field is one array over all lines, so it must be there in every line and of one kind: text, numbers, truth
//! values, or lists of as many numbers. Blank lines are no rows.

mod column;

use serde_json::{Map, Value};

use crate::array::{Array, ArrayInfo};
use crate::choose::choose;
use crate::error::{Parsed, bail};
use crate::plain_text::without_mark;
use column::Column;

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
        let object = parse(number, line)?;
        match find(&object, &key) {
            Some(value) => column.push(number, value)?,
            None => {
                let mut there: Vec<String> = object.keys().map(|field| format!("`{field}`")).collect();
                there.sort();
                there.truncate(10);
                bail!(
                    "lacks the field `{key}` in line {number}, which has {}; every line must have it",
                    if there.is_empty() {
                        "none".to_string()
                    } else {
                        there.join(", ")
                    }
                );
            }
        }
    }
    column.finish()
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
            column::kind(&other)
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
        infos.push(ArrayInfo {
            key: Some(key),
            shape,
            dtype: dtype.to_string(),
        });
    }
}

#[cfg(test)]
mod tests;
