// SPDX-License-Identifier: MIT
//! JSON with the members of its objects in file order, which `serde_json::Value` does not keep.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. Only text matters here; numbers and the like are known by their kind.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    Object(Vec<(String, Json)>),
    List(Vec<Json>),
    Text(String),
    Other(&'static str),
}

impl Json {
    /// What it is, with its article: for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Json::Object(_) => "an object",
            Json::List(_) => "a list",
            Json::Text(_) => "a text",
            Json::Other(kind) => kind,
        }
    }

    /// The members of an object, none for anything else.
    pub(super) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// The value of a member. If a name is repeated, the last value counts, as in Python.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        let found = self.members().iter().rev().find(|(n, _)| n == name);
        found.map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other("a number"))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Other("null"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_string()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = entries.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_the_order_of_the_file() {
        let json: Json = serde_json::from_str(r#"{"z": [1, null], "a": {"y": "t"}, "z": true}"#).unwrap();
        let names: Vec<&str> = json.members().iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["z", "a", "z"]);
        assert_eq!(json.get("z"), Some(&Json::Other("a boolean")));
        assert_eq!(json.get("a").and_then(|a| a.get("y")), Some(&Json::Text("t".into())));
        assert_eq!(json.get("none"), None);
    }
}
