// SPDX-License-Identifier: MIT
//! The metadata JSON of label retrieval: for each dataset, texts that describe its labels.
//!
//! A dataset holds `label_to_text_<style>` (label → sentence, or several) and may hold a plain `label_to_text`
//! (label → descriptions by field: `short_desc`, `long_desc`, …). The requested style is looked up first;
//! where it is missing, the plain descriptions serve; where they are missing too, the message lists what exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use repscope_core::counted;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{Parsed, Result, bail, problem};
use crate::mapped::MappedFile;
use crate::names::{guess, listed};

/// A larger file is no list of label texts.
const LARGEST_FILE: usize = 256 << 20;

/// More names than this are not listed in a message.
const LISTED: usize = 20;

/// How the field of a style begins, and the plain field.
const STYLED: &str = "label_to_text_";
const PLAIN: &str = "label_to_text";

/// The texts that describe the labels of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrototypeTexts {
    /// Label and text, in file order; a label with several texts is repeated.
    pub texts: Vec<(String, String)>,
    /// Which field they come from: `label_to_text_sourish`.
    pub source: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Reads the texts of a dataset in a style. A style that only names a field of the plain descriptions (`long_desc`)
/// takes that field alone; any other that is missing takes all of them, with a warning.
pub fn read_prototype_texts(path: &Path, dataset: &str, style: &str) -> Result<PrototypeTexts> {
    let file = MappedFile::open(path)?;
    parse(&file, dataset, style).map_err(|p| p.in_file(path.display()))
}

fn parse(bytes: &[u8], dataset: &str, style: &str) -> Parsed<PrototypeTexts> {
    if bytes.len() > LARGEST_FILE {
        let count = bytes.len();
        bail!("has {count} bytes, more than the {LARGEST_FILE} that a metadata file may have");
    }
    // Some editors put a byte order mark in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let json: Json = serde_json::from_slice(bytes).map_err(|e| problem!("is not a readable JSON file: {e}"))?;
    let Json::Object(datasets) = &json else {
        bail!("holds {}; a metadata file is an object of datasets", json.kind());
    };
    let Some(fields) = json.get(dataset) else {
        bail!(
            "has no dataset `{dataset}`{} It holds {}",
            guess(dataset, datasets.iter().map(|(n, _)| n.as_str())),
            list(datasets.iter().map(|(n, _)| n.as_str()))
        );
    };
    if !matches!(fields, Json::Object(_)) {
        let kind = fields.kind();
        bail!("holds {kind} as dataset `{dataset}`; a dataset is an object with a field {STYLED}{style}");
    }
    let style = style.strip_prefix(STYLED).unwrap_or(style);
    let styled = format!("{STYLED}{style}");
    if let Some(labels) = fields.get(&styled) {
        return texts_of(labels, &styled, dataset, None);
    }
    let styles: Vec<&str> = fields
        .members()
        .iter()
        .filter_map(|(n, _)| n.strip_prefix(STYLED))
        .collect();
    let Some(labels) = fields.get(PLAIN) else {
        if styles.is_empty() {
            let there = list(fields.members().iter().map(|(n, _)| n.as_str()));
            bail!(
                "describes no labels of `{dataset}`: there is neither {styled} nor {PLAIN}; the dataset holds {there}"
            );
        }
        let guess = guess(style, styles.iter().copied());
        let there = list(styles.iter().copied());
        bail!("has no style `{style}` for dataset `{dataset}`{guess} Its styles are {there}");
    };
    let is_field = labels.members().iter().any(|(_, value)| value.get(style).is_some());
    let mut found = texts_of(labels, PLAIN, dataset, is_field.then_some(style))?;
    if !is_field {
        let others = if styles.is_empty() {
            String::new()
        } else {
            format!(" (its styles are {})", list(styles.iter().copied()))
        };
        found.warnings.insert(
            0,
            format!("dataset `{dataset}` has no style `{style}`{others}: all descriptions in {PLAIN} are used"),
        );
    }
    Ok(found)
}

/// The texts of every label; of descriptions by field, one field or all.
fn texts_of(labels: &Json, source: &str, dataset: &str, field: Option<&str>) -> Parsed<PrototypeTexts> {
    let Json::Object(members) = labels else {
        let kind = labels.kind();
        bail!("holds {kind} as {source} of `{dataset}`; it must be an object of label and text");
    };
    // If a label is repeated, the last one counts, as in Python.
    let values: BTreeMap<&str, &Json> = members.iter().map(|(label, value)| (label.as_str(), value)).collect();
    let mut seen = BTreeSet::new();
    let (mut texts, mut warnings, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    for (label, _) in members {
        if !seen.insert(label.as_str()) {
            warnings.push(format!(
                "label `{label}` stands more than once in {source} of `{dataset}`: the last one counts"
            ));
            continue;
        }
        let before = texts.len();
        describe(values[label.as_str()], field, &mut |text| {
            texts.push((label.clone(), text.to_string()))
        })
        .map_err(|found| problem!("holds {found} in {source} of `{dataset}`, label `{label}`; texts are expected"))?;
        if texts.len() == before {
            silent.push(label.as_str());
        }
    }
    if texts.is_empty() {
        bail!("describes no label in {source} of `{dataset}`: there is no text in it");
    }
    let source = match field {
        Some(field) => format!("{source}.{field}"),
        None => source.to_string(),
    };
    if !silent.is_empty() {
        warnings.push(format!(
            "{} of `{dataset}` without a text in {source}: {}",
            counted(silent.len(), "label"),
            list(silent.iter().copied())
        ));
    }
    Ok(PrototypeTexts {
        texts,
        source,
        warnings,
    })
}

/// Hands on every text of a label's value; where there is something else than text, what it is.
fn describe(value: &Json, field: Option<&str>, take: &mut impl FnMut(&str)) -> std::result::Result<(), &'static str> {
    match (value, field) {
        (Json::Text(text), _) => {
            if !text.trim().is_empty() {
                take(text);
            }
            Ok(())
        }
        (Json::List(items), _) => items.iter().try_for_each(|item| match item {
            Json::Text(_) => describe(item, None, take),
            other => Err(other.kind()),
        }),
        (Json::Object(_), Some(field)) => match value.get(field) {
            Some(Json::Object(_)) => Err("an object within an object"),
            Some(found) => describe(found, None, take),
            None => Ok(()),
        },
        // Other fields of a label (a color, a number) are no descriptions.
        (Json::Object(members), None) => {
            members
                .iter()
                .filter(|(name, _)| name.ends_with("desc"))
                .try_for_each(|(_, found)| match found {
                    Json::Object(_) => Err("an object within an object"),
                    found => describe(found, None, take),
                })
        }
        (Json::Other(Value::Null), _) => Ok(()),
        (other, _) => Err(other.kind()),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    listed(names, LISTED)
}

/// A JSON value with its members in the order of the file. Only text matters here; numbers and the like are known by their kind.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Json {
    Text(String),
    List(Vec<Json>),
    Object(#[serde(deserialize_with = "members")] Vec<(String, Json)>),
    Other(Value),
}

impl Json {
    /// What it is, with its article: for messages.
    fn kind(&self) -> &'static str {
        match self {
            Json::Object(_) => "an object",
            Json::List(_) => "a list",
            Json::Text(_) => "a text",
            Json::Other(Value::Null) => "null",
            Json::Other(Value::Bool(_)) => "a boolean",
            Json::Other(_) => "a number",
        }
    }

    /// The members of an object, none for anything else.
    fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// The value of a member. If a name is repeated, the last value counts, as in Python.
    fn get(&self, name: &str) -> Option<&Json> {
        let found = self.members().iter().rev().find(|(n, _)| n == name);
        found.map(|(_, value)| value)
    }
}

/// The members of an object, repeated ones included.
fn members<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<(String, Json)>, D::Error> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Json)>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Self::Value, A::Error> {
            std::iter::from_fn(|| entries.next_entry().transpose()).collect()
        }
    }

    deserializer.deserialize_map(Members)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VILLA: &str = r##"{"villa": {"name": "Villa", "label_l2": {"Nap": "Rest", "Boil_Egg": "Cook"},
        "label_to_text_plain": {"Nap": "A person dozes on the sofa", "Boil_Egg": "A person heats water on the stove",
            "Rest": "A quiet time"},
        "label_to_text": {"Nap": {"short_desc": "napping", "long_desc": ["Little motion near the sofa."],
            "multiple_desc": ["Dozing.", "Lying still."], "color": "#336699"}},
        "label_color": {"Nap": "#336699"}}, "hut": {"label_to_text_old": {"Nap": ["One.", "Two."]}}, "barn": {"name": "B"},
        "shed": 7}"##;

    fn texts(dataset: &str, style: &str) -> PrototypeTexts {
        parse(VILLA.as_bytes(), dataset, style).unwrap()
    }

    fn message(bytes: &[u8], dataset: &str, style: &str) -> String {
        parse(bytes, dataset, style).unwrap_err().to_string()
    }

    fn pairs(found: &PrototypeTexts) -> Vec<(&str, &str)> {
        found.texts.iter().map(|(l, t)| (l.as_str(), t.as_str())).collect()
    }

    #[test]
    fn a_style_gives_one_sentence_per_label_in_file_order() {
        for style in ["plain", "label_to_text_plain"] {
            let found = texts("villa", style);
            assert_eq!(found.source, "label_to_text_plain");
            let labels: Vec<&str> = pairs(&found).iter().map(|p| p.0).collect();
            assert_eq!(labels, ["Nap", "Boil_Egg", "Rest"]);
            assert_eq!(found.texts[2].1, "A quiet time");
            assert!(found.warnings.is_empty());
        }
    }

    #[test]
    fn a_list_of_sentences_gives_several_texts_of_a_label() {
        assert_eq!(pairs(&texts("hut", "old")), [("Nap", "One."), ("Nap", "Two.")]);
    }

    #[test]
    fn a_field_of_the_plain_descriptions_is_a_style() {
        let found = texts("villa", "long_desc");
        assert_eq!(pairs(&found), [("Nap", "Little motion near the sofa.")]);
        assert_eq!(found.source, "label_to_text.long_desc");
        assert!(found.warnings.is_empty());
    }

    #[test]
    fn without_the_style_all_plain_descriptions_are_used_and_said_so() {
        let found = texts("villa", "sourish");
        let expected = ["napping", "Little motion near the sofa.", "Dozing.", "Lying still."];
        assert_eq!(
            found.texts.iter().map(|(_, t)| t.as_str()).collect::<Vec<_>>(),
            expected
        );
        let warning = &found.warnings[0];
        assert!(
            warning.contains("`sourish`") && warning.contains("`plain`"),
            "{warning}"
        );
    }

    #[test]
    fn what_is_missing_is_answered_with_what_is_there() {
        let bytes = VILLA.as_bytes();
        for (dataset, style, facts) in [
            (
                "vila",
                "plain",
                &["`vila`", "did you mean `villa`?", "`hut`", "`barn`"][..],
            ),
            ("hut", "older", &["`older`", "did you mean `old`?"]),
            ("barn", "plain", &["label_to_text_plain", "neither", "`name`"]),
            ("shed", "plain", &["a number", "`shed`"]),
        ] {
            let text = message(bytes, dataset, style);
            for fact in facts {
                assert!(text.contains(fact), "{text} lacks {fact}");
            }
        }
    }

    #[test]
    fn a_label_without_a_text_is_named() {
        let json = br#"{"a": {"label_to_text_s": {"x": "", "y": "why", "z": null, "y": "because"}}}"#;
        let found = parse(json, "a", "s").unwrap();
        assert_eq!(pairs(&found), [("y", "because")]);
        assert!(
            found.warnings[0].contains("`y` stands more than once"),
            "{:?}",
            found.warnings
        );
        assert!(found.warnings[1].contains("2 labels") && found.warnings[1].contains("`x`, `z`"));
    }

    #[test]
    fn files_that_are_something_else_are_refused() {
        let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let cases: [(&[u8], &str); 10] = [
            (b"", "not a readable JSON file"),
            (b"{\"a\": {", "not a readable JSON file"),
            (b"{\"a\": \"\xff\"}", "not a readable JSON file"),
            (deep.as_bytes(), "recursion limit"),
            (b"[1, 2]", "holds a list"),
            (b"{}", "It holds nothing"),
            (br#"{"a": {"label_to_text_s": ["x"]}}"#, "a list as label_to_text_s"),
            (
                br#"{"a": {"label_to_text_s": {"x": 3}}}"#,
                "a number in label_to_text_s of `a`, label `x`",
            ),
            (
                br#"{"a": {"label_to_text_s": {"x": [["y"]]}}}"#,
                "a list in label_to_text_s",
            ),
            (br#"{"a": {"label_to_text_s": {}}}"#, "no text in it"),
        ];
        for (bytes, fact) in cases {
            let text = message(bytes, "a", "s");
            assert!(text.contains(fact), "{text} lacks {fact}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_json() {
        let json = [b"\xef\xbb\xbf", VILLA.as_bytes()].concat();
        assert_eq!(parse(&json, "villa", "plain").unwrap(), texts("villa", "plain"));
    }

    #[test]
    fn the_message_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metadata.json");
        let error = read_prototype_texts(&path, "villa", "plain").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot read ") && error.contains("metadata.json"),
            "{error}"
        );
        crate::write_whole(&path, b"[]").unwrap();
        let error = read_prototype_texts(&path, "villa", "plain").unwrap_err().to_string();
        assert!(error.contains("metadata.json holds a list"), "{error}");
    }

    #[test]
    fn members_keep_the_order_of_the_file() {
        let json: Json = serde_json::from_str(r#"{"z": [1, null], "a": {"y": "t"}, "z": true}"#).unwrap();
        let names: Vec<&str> = json.members().iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["z", "a", "z"]);
        assert_eq!(json.get("z"), Some(&Json::Other(Value::Bool(true))));
        assert_eq!(json.get("a").and_then(|a| a.get("y")), Some(&Json::Text("t".into())));
        assert_eq!(json.get("none"), None);
    }
}
