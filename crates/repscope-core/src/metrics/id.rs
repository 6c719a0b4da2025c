// SPDX-License-Identifier: MIT
//! The identity of a score, curve or table: [`MetricId`].
//!
//! An identity is written `name`, `name@10`, `name(fit=mle)` or `name(variant=spec)@5`. The name starts with that of the metric;
//! for a retrieval or a classifier the direction or the head follows, then the part:
//!
//! ```text
//! label_precision . text2sensor . macro (labels=l2) @ 10
//! metric            direction     part   parameters    at
//! ```
//!
//! It is a string in JSON and wherever it is shown. Programs read its parts:
//!
//! ```
//! use repscope_core::MetricId;
//!
//! let id: MetricId = "label_precision.text2sensor.macro(labels=l2)@10".parse()?;
//! assert_eq!(id.metric().map(|metric| metric.id), Some("label_precision"));
//! assert_eq!(id.output().map(|output| output.id), Some("label_precision.DIRECTION.macro@K"));
//! assert_eq!((id.direction(), id.sides()), (Some("text2sensor"), Some(("text", "sensor"))));
//! assert_eq!((id.part(), id.measure()), ("macro", "label_precision.macro"));
//! assert_eq!((id.labels(), id.k()), (Some("l2"), Some(10)));
//! assert_eq!(id, "label_precision.text2sensor.macro(labels=l2)@10");
//! # Ok::<(), String>(())
//! ```
//!
//! Curves and tables have identities that no score has (`map`, `etes.bands`, `accuracy.snr.confusion@top1`): these have no
//! [output](MetricId::output), but a [metric](MetricId::metric) where their name starts with one.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{METRICS, Metric, Output};

/// What stands for a direction and for a head of a classifier in the pattern of an identity.
const DIRECTION: &str = "DIRECTION";
const HEAD: &str = "HEAD";

/// The identity of a score, curve or table. `Display` and `FromStr` are inverses.
///
/// Cheap to clone; compared, ordered and hashed as the text it prints.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct MetricId(Arc<Parts>);

struct Parts {
    text: String,
    spelling: Spelling,
    metric: Option<&'static Metric>,
    output: Option<&'static Output>,
    /// [`DIRECTION`] or [`HEAD`] where the second name is one.
    subject: Option<&'static str>,
    measure: String,
}

impl MetricId {
    /// The text that it prints.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The metric that it belongs to, by the first part of its name.
    pub fn metric(&self) -> Option<&'static Metric> {
        self.0.metric
    }

    /// The declared score that it is an instance of. Curves and tables may have none.
    pub fn output(&self) -> Option<&'static Output> {
        self.0.output
    }

    /// Whether the score grows with the number of columns by its definition, so that embeddings of different widths are measured by
    /// different yardsticks.
    pub(crate) fn changes_with_columns(&self) -> bool {
        self.family() == "mcr2" || *self == "clid"
    }

    /// The first part of the name: `label_precision`.
    pub fn family(&self) -> &str {
        self.dotted(0)
    }

    /// The name without direction or head, parameters and what follows the `@`: `label_precision.macro`, `smoothness.unit.slope`.
    pub fn measure(&self) -> &str {
        &self.0.measure
    }

    /// What follows the metric, and its direction or head: `macro`, `unit.slope`; empty for the main score.
    pub fn part(&self) -> &str {
        self.0.measure.split_once('.').map_or("", |(_, part)| part)
    }

    /// The direction of a retrieval: `text2sensor`.
    pub fn direction(&self) -> Option<&str> {
        (self.0.subject == Some(DIRECTION)).then(|| self.dotted(1))
    }

    /// Both sides of the direction, the queries first: `text` and `sensor`.
    pub fn sides(&self) -> Option<(&str, &str)> {
        self.direction()?.split_once('2')
    }

    /// The head of a classifier: `modulation`.
    pub fn head(&self) -> Option<&str> {
        (self.0.subject == Some(HEAD)).then(|| self.dotted(1))
    }

    /// The set of labels of a retrieval, where there are several.
    pub fn labels(&self) -> Option<&str> {
        self.parameter("labels")
    }

    /// The value of a named choice: `mle` for `fit` in `two_nn(fit=mle)`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters().iter();
        all.find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// All named choices, in the order written.
    pub fn parameters(&self) -> &[(String, String)] {
        &self.0.spelling.parameters
    }

    /// What follows the `@`: a K, a noise level, a set or family of perturbations.
    pub fn at(&self) -> Option<&str> {
        self.0.spelling.at.as_deref()
    }

    /// What follows the `@`, where it is an integer.
    pub fn k(&self) -> Option<usize> {
        self.at()?.parse().ok()
    }

    /// What follows the `@`, where it is a finite number.
    pub fn level(&self) -> Option<f64> {
        self.at()?.parse().ok().filter(|level: &f64| level.is_finite())
    }

    fn dotted(&self, place: usize) -> &str {
        self.0.spelling.name.split('.').nth(place).unwrap_or("")
    }

    fn new(text: String, spelling: Spelling) -> Self {
        let names: Vec<&str> = spelling.name.split('.').collect();
        let metric = METRICS.iter().copied().find(|metric| metric.id == names[0]);
        let matches = |pattern: Spelling| pattern.matches(&spelling);
        let is_instance = |output: &&Output| output.id.parse().is_ok_and(matches);
        let output = metric.and_then(|metric| metric.outputs.iter().find(is_instance));
        let second = metric.and_then(|metric| metric.outputs.first()?.id.split(['.', '@', '(']).nth(1));
        let subject = second.filter(|second| names.len() > 1 && [DIRECTION, HEAD].contains(second));
        let measure = match subject {
            Some(_) => [&names[..1], &names[2..]].concat().join("."),
            None => spelling.name.clone(),
        };
        MetricId(Arc::new(Parts {
            text,
            metric,
            output,
            subject,
            measure,
            spelling,
        }))
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.text)
    }
}

impl fmt::Debug for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl FromStr for MetricId {
    type Err = String;

    /// Refuses what is not written as an identity. Whether there is such a metric is what [`MetricId::output`] says.
    fn from_str(text: &str) -> Result<Self, String> {
        Ok(MetricId::new(text.to_string(), text.parse()?))
    }
}

impl From<String> for MetricId {
    /// A text that is not written as an identity is a name without parts, so that results of any version can be read.
    fn from(text: String) -> Self {
        let spelling = text.parse().unwrap_or_else(|_| Spelling {
            name: text.clone(),
            parameters: Vec::new(),
            at: None,
        });
        MetricId::new(text, spelling)
    }
}

impl From<&str> for MetricId {
    fn from(text: &str) -> Self {
        MetricId::from(text.to_string())
    }
}

impl From<&String> for MetricId {
    fn from(text: &String) -> Self {
        MetricId::from(text.clone())
    }
}

impl From<&Output> for MetricId {
    fn from(output: &Output) -> Self {
        MetricId::from(output.id)
    }
}

impl From<&MetricId> for MetricId {
    fn from(id: &MetricId) -> Self {
        id.clone()
    }
}

impl From<MetricId> for String {
    fn from(id: MetricId) -> Self {
        id.as_str().to_string()
    }
}

impl Deref for MetricId {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for MetricId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for MetricId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for MetricId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for MetricId {}

impl PartialOrd for MetricId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MetricId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for MetricId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// An identity equals a text that it prints, from either side.
macro_rules! equals_texts {
    ($($text:ty),*) => {$(
        impl PartialEq<$text> for MetricId {
            fn eq(&self, other: &$text) -> bool {
                let other: &str = other.as_ref();
                self.as_str() == other
            }
        }

        impl PartialEq<MetricId> for $text {
            fn eq(&self, other: &MetricId) -> bool {
                other == self
            }
        }
    )*};
}

equals_texts!(str, &str, String);

/// How an identity, or the pattern of one, is written.
#[derive(Debug, PartialEq)]
struct Spelling {
    /// The name, dots included: `smoothness.slope`.
    name: String,
    /// Named choices, in the order written.
    parameters: Vec<(String, String)>,
    /// What follows the `@`.
    at: Option<String>,
}

impl Spelling {
    /// Whether `other` is an instance of this pattern, where `@K` stands for any integer, `@SIGMA` for any number, `@SET`
    /// and `@FAMILY` for any name, `NAME` for the name of a target, `HEAD` for any head and `DIRECTION` for any direction. What is said
    /// of directions and of probes may be said of any set of labels.
    fn matches(&self, other: &Spelling) -> bool {
        let at = match (self.at.as_deref(), other.at.as_deref()) {
            (Some("K"), Some(k)) => k == "K" || k.parse::<usize>().is_ok(),
            (Some("SIGMA"), Some(level)) => level == "SIGMA" || level.parse::<f64>().is_ok_and(f64::is_finite),
            (Some("SET" | "FAMILY"), Some(_)) | (Some("K" | "SIGMA" | "SET" | "FAMILY"), None) => true,
            (own, given) => own == given,
        };
        let (own, given): (Vec<&str>, Vec<&str>) = (self.name.split('.').collect(), other.name.split('.').collect());
        let has_sets = own.contains(&DIRECTION) || own.first() == Some(&"probe");
        let is_direction =
            |p: &str| p == DIRECTION || p.split_once('2').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
        let is_part =
            |(o, g): (&&str, &&str)| o == g || (*o == HEAD && !g.is_empty()) || (*o == DIRECTION && is_direction(g));
        let name = own.len() == given.len() && own.iter().zip(&given).all(is_part);
        let is_set_of_labels = |p: &&(String, String)| has_sets && p.0 == "labels";
        let parameters: Vec<_> = other.parameters.iter().filter(|p| !is_set_of_labels(p)).collect();
        let is_value = |(own, given): (&(String, String), &&(String, String))| {
            own.0 == given.0 && (own.1 == given.1 || own.1 == "NAME")
        };
        at && name && parameters.len() == self.parameters.len() && self.parameters.iter().zip(&parameters).all(is_value)
    }
}

impl FromStr for Spelling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a metric: write name, name@10 or name(choice=value)");
        let (head, at) = match text.split_once('@') {
            Some((head, at)) if !at.is_empty() => (head, Some(at.to_string())),
            Some(_) => return Err(wrong()),
            None => (text, None),
        };
        let (name, list) = match head.split_once('(') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
            None => (head, None),
        };
        let is_name = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
        let mut parameters = Vec::new();
        for part in list.iter().flat_map(|list| list.split(',')) {
            let (key, value) = part.split_once('=').ok_or_else(wrong)?;
            if !is_name(key) || !is_name(value) {
                return Err(wrong());
            }
            parameters.push((key.to_string(), value.to_string()));
        }
        if !is_name(name) {
            return Err(wrong());
        }
        Ok(Spelling {
            name: name.to_string(),
            parameters,
            at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn printing_and_parsing_are_inverses_for_every_declared_score() {
        let declared = METRICS.iter().flat_map(|metric| metric.outputs).map(|output| {
            let text = output.id.replace(DIRECTION, "text2sensor").replace(HEAD, "snr");
            let text = text.replace("@K", "@10").replace("@SIGMA", "@0.05");
            (output, text.replace("@SET", "@top0.5").replace("@FAMILY", "@top"))
        });
        for (output, text) in declared {
            let id: MetricId = text.parse().expect("an identity");
            assert_eq!(id.to_string(), text);
            assert_eq!(id.output().map(|found| found.id), Some(output.id), "{text}");
            assert_eq!(id.direction().is_some(), output.id.contains(DIRECTION), "{text}");
            assert_eq!(id.head().is_some(), output.id.contains(HEAD), "{text}");
            assert_eq!(
                id.k().is_some(),
                output.id.contains("@K") || text.starts_with("bleu"),
                "{text}"
            );
            assert!(output.id.starts_with(id.family()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverses(
            names in prop::collection::vec("[a-zäß0-9_-]{1,6}", 1..4),
            parameters in prop::collection::vec(("[a-z]{1,4}", "[a-zA-Z0-9._-]{1,4}"), 0..3),
            at in prop::option::of("[^@]{1,5}"),
        ) {
            let name = names.join(".");
            let list: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let list = if list.is_empty() { String::new() } else { format!("({})", list.join(",")) };
            let text = format!("{name}{list}{}", at.as_ref().map_or(String::new(), |at| format!("@{at}")));
            let id: MetricId = text.parse().expect("an identity");
            prop_assert_eq!(id.to_string(), text.clone());
            prop_assert_eq!(id.parameters(), parameters.as_slice());
            prop_assert_eq!((id.family(), id.at()), (names[0].as_str(), at.as_deref()));
            prop_assert_eq!(id.to_string().parse::<MetricId>().expect("an identity"), id);
        }

        #[test]
        fn any_text_is_kept_as_it_is(text in ".*") {
            let id = MetricId::from(text.as_str());
            prop_assert_eq!(id.as_str(), text.as_str());
            if let Ok(parsed) = text.parse::<MetricId>() {
                prop_assert_eq!(parsed.to_string(), text);
            }
        }
    }

    #[test]
    fn the_parts_of_an_identity_are_read_from_it() {
        let id = MetricId::from("accuracy.modulation.confusion@top1");
        assert_eq!(
            (id.head(), id.part(), id.at()),
            (Some("modulation"), "confusion", Some("top1"))
        );
        assert!(id.output().is_none() && id.metric().is_some_and(|metric| metric.id == "accuracy"));
        let id = MetricId::from("smoothness.unit.slope");
        assert_eq!(
            (id.family(), id.part(), id.measure()),
            ("smoothness", "unit.slope", "smoothness.unit.slope")
        );
        let id = MetricId::from("hubness.a2b.never@10");
        assert_eq!(
            (id.sides(), id.measure(), id.k()),
            (Some(("a", "b")), "hubness.never", Some(10))
        );
        let id = MetricId::from("robustness.unit@0.1");
        assert_eq!((id.level(), id.k(), id.part()), (Some(0.1), None, "unit"));
        assert_eq!(MetricId::from("pis.snr(f=lit)@top0.5").parameter("f"), Some("lit"));
    }

    #[test]
    fn what_is_no_identity_is_refused_but_can_be_kept() {
        for text in ["", "@5", "a@", "a(b", "a(b)", "a b", "a(b=)", "a()"] {
            assert!(text.parse::<MetricId>().is_err(), "{text}");
            assert_eq!(MetricId::from(text), text);
        }
    }

    #[test]
    fn an_identity_is_a_string_in_json() {
        let id = MetricId::from("two_nn(fit=mle)");
        let json = serde_json::to_string(&id).expect("a string");
        assert_eq!(json, "\"two_nn(fit=mle)\"");
        assert_eq!(serde_json::from_str::<MetricId>(&json).expect("an identity"), id);
    }
}
