// SPDX-License-Identifier: MIT
//! JSON with its keys in the order given: documents are read by people too.

use crate::numbers::exact;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Truth(bool),
    /// A number that is not finite is `null`.
    Number(f64),
    Count(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn number(value: Option<f64>) -> Self {
        value.filter(|x| x.is_finite()).map_or(Json::Null, Json::Number)
    }

    /// An integer without a point, where it is one.
    pub(crate) fn count(value: Option<f64>) -> Self {
        match value {
            Some(x) if (0.0..1e15).contains(&x) && x.fract() == 0.0 => Json::Count(x as u64),
            _ => Json::number(value),
        }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Json::Text(text.into())
    }

    pub(crate) fn pair(ends: Option<[f64; 2]>) -> Self {
        match ends {
            Some(ends) => Json::List(ends.map(|end| Json::number(Some(end))).to_vec()),
            None => Json::Null,
        }
    }

    pub(crate) fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Json)>) -> Self {
        Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The whole document.
    pub(crate) fn document(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text + "\n"
    }

    fn write(&self, depth: usize, text: &mut String) {
        match self {
            Json::Number(x) if x.is_finite() => text.push_str(&exact(*x)),
            Json::Null | Json::Number(_) => text.push_str("null"),
            Json::Truth(is_true) => text.push_str(&is_true.to_string()),
            Json::Count(count) => text.push_str(&count.to_string()),
            Json::Text(content) => text.push_str(&quoted(content)),
            // Rows of a matrix and ends of an interval stay on one line.
            Json::List(items) if items.iter().all(Json::is_plain) => {
                text.push('[');
                for (i, item) in items.iter().enumerate() {
                    text.push_str(if i > 0 { ", " } else { "" });
                    item.write(depth, text);
                }
                text.push(']');
            }
            Json::List(items) => {
                let items = items.iter().map(|item| (None, item));
                lines(items, ('[', ']'), depth, text);
            }
            Json::Object(members) if members.is_empty() => text.push_str("{}"),
            Json::Object(members) => {
                let members = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                lines(members, ('{', '}'), depth, text);
            }
        }
    }

    fn is_plain(&self) -> bool {
        !matches!(self, Json::List(_) | Json::Object(_))
    }
}

fn lines<'j>(
    items: impl Iterator<Item = (Option<&'j str>, &'j Json)>,
    (open, close): (char, char),
    depth: usize,
    text: &mut String,
) {
    let indent = "  ".repeat(depth);
    text.push(open);
    for (i, (key, item)) in items.enumerate() {
        text.push_str(if i > 0 { ",\n" } else { "\n" });
        text.push_str(&format!("{indent}  "));
        if let Some(key) = key {
            text.push_str(&format!("{}: ", quoted(key)));
        }
        item.write(depth + 1, text);
    }
    text.push_str(&format!("\n{indent}{close}"));
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(is_true) => Json::Truth(*is_true),
            Value::Number(number) => match number.as_u64() {
                Some(count) => Json::Count(count),
                None => Json::number(number.as_f64()),
            },
            Value::String(text) => Json::text(text.as_str()),
            Value::Array(items) => Json::List(items.iter().map(Json::from).collect()),
            Value::Object(members) => Json::object(members.iter().map(|(key, value)| (key.as_str(), value.into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_plain_lists_their_line() {
        let json = Json::object([
            ("z", Json::List(vec![Json::Count(1), Json::number(Some(0.5))])),
            ("a", Json::List(vec![Json::pair(Some([0.0, 1e-9])), Json::Null])),
            ("none", Json::object::<&str>([])),
            ("quote \" and\nline", Json::text("é\u{1}")),
        ]);
        let expected = "{\n  \"z\": [1, 0.5],\n  \"a\": [\n    [0.0, 1e-9],\n    null\n  ],\n  \"none\": {},\n  \
                        \"quote \\\" and\\nline\": \"é\\u0001\"\n}\n";
        assert_eq!(json.document(), expected);
    }

    #[test]
    fn numbers_that_are_not_finite_are_null() {
        let json = Json::List(vec![
            Json::Number(f64::NAN),
            Json::number(Some(f64::INFINITY)),
            Json::count(Some(f64::NAN)),
            Json::count(Some(12.0)),
            Json::count(Some(1.5)),
        ]);
        assert_eq!(json.document(), "[null, null, null, 12, 1.5]\n");
    }

    #[test]
    fn what_was_read_is_written_again() {
        let value = serde_json::json!({"a": [1, -2.5, "x", null, true], "b": {"c": []}});
        let text = Json::from(&value).document();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
