// SPDX-License-Identifier: MIT
//! The scores of a retrieval, sorted: each belongs to a model, a set of labels, a direction, a measure and a K, all of
//! which its printed identity says (`label_precision.text2sensor.macro(labels=l2)@10`).

pub(crate) mod files;
pub(crate) mod readings;
pub(crate) mod table;

use crate::scores::distinct;
use repscope_core::metrics::Id;
use repscope_core::{Results, Score};

/// The measures that look at labels, and those that do not. The latter carry no set of labels in their identity.
const OF_LABELS: [&str; 7] = [
    "label_precision",
    "label_recall",
    "label_hit",
    "label_ndcg",
    "r_precision",
    "map_at_r",
    "mrr",
];
const OF_SPACES: [&str; 3] = ["pair_recall", "hubness", "modality_gap"];

/// What the identity of a retrieval's score says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Identity {
    /// The measure without the direction: `label_precision.macro`.
    pub(crate) measure: String,
    /// `text2sensor`.
    pub(crate) direction: String,
    /// The set of labels, where it has a name.
    pub(crate) labels: Option<String>,
    pub(crate) k: Option<usize>,
}

impl Identity {
    /// `None` for what is no score of a retrieval.
    pub(crate) fn of(metric: &str) -> Option<Self> {
        let id: Id = metric.parse().ok()?;
        let mut parts = id.name.splitn(3, '.');
        let (family, direction, variant) = (parts.next()?, parts.next()?, parts.next());
        if !OF_LABELS.contains(&family) && !OF_SPACES.contains(&family) || !direction.contains('2') {
            return None;
        }
        let k = match &id.at {
            Some(at) => Some(at.parse().ok()?),
            None => None,
        };
        let labels = id.parameters.iter().find(|(name, _)| name == "labels");
        Some(Identity {
            measure: variant.map_or(family.to_string(), |variant| format!("{family}.{variant}")),
            direction: direction.to_string(),
            labels: labels.map(|(_, set)| set.clone()),
            k,
        })
    }

    fn is_of_labels(&self) -> bool {
        !OF_SPACES.iter().any(|family| self.measure.starts_with(family))
    }
}

/// All scores of one direction, for one model and one set of labels.
pub(crate) struct Part<'a> {
    pub(crate) model: &'a str,
    pub(crate) labels: Option<String>,
    pub(crate) direction: String,
    scores: Vec<(Identity, &'a Score)>,
}

/// The parts of the results: model by model, set by set, direction by direction, each in order of first appearance.
/// Measures that do not look at labels stand with the first set.
pub(crate) fn parts(results: &Results) -> Vec<Part<'_>> {
    let known: Vec<(Identity, &Score)> = results
        .scores
        .iter()
        .filter_map(|score| Some((Identity::of(&score.metric)?, score)))
        .collect();
    let mut parts = Vec::new();
    for model in distinct(known.iter().map(|(_, score)| score.model.as_str())) {
        let own: Vec<&(Identity, &Score)> = known.iter().filter(|(_, score)| score.model == model).collect();
        let mut sets: Vec<&Option<String>> = Vec::new();
        for (id, _) in own.iter().filter(|(id, _)| id.is_of_labels()) {
            if !sets.contains(&&id.labels) {
                sets.push(&id.labels);
            }
        }
        if sets.is_empty() {
            sets.push(&None);
        }
        for (i, set) in sets.iter().enumerate() {
            let belongs = |id: &Identity| if id.is_of_labels() { id.labels == **set } else { i == 0 };
            for direction in distinct(own.iter().map(|(id, _)| id.direction.as_str())) {
                let scores: Vec<(Identity, &Score)> = own
                    .iter()
                    .filter(|(id, _)| id.direction == direction && belongs(id))
                    .map(|(id, score)| (id.clone(), *score))
                    .collect();
                if !scores.is_empty() {
                    parts.push(Part {
                        model,
                        labels: (*set).clone(),
                        direction: direction.to_string(),
                        scores,
                    });
                }
            }
        }
    }
    parts
}

/// Parts that share model and set of labels, together.
pub(crate) fn by_labels<'a, 'b>(parts: &'b [Part<'a>]) -> Vec<&'b [Part<'a>]> {
    parts
        .chunk_by(|a, b| a.model == b.model && a.labels == b.labels)
        .collect()
}

/// The names that tell these parts from others of the same direction: the model where there are several, then the set
/// of labels where there are several.
pub(crate) fn names<'b>(part: &'b Part<'_>, all: &[Part<'_>]) -> [Option<&'b str>; 2] {
    let has_models = all.iter().any(|other| other.model != part.model);
    let has_sets = all.iter().any(|other| other.labels != part.labels);
    [
        Some(part.model).filter(|_| has_models),
        part.labels.as_deref().filter(|_| has_sets),
    ]
}

impl<'a> Part<'a> {
    /// The score of a measure at K, or over the whole ranking.
    pub(crate) fn score(&self, measure: &str, k: Option<usize>) -> Option<&'a Score> {
        let mut scores = self.scores.iter();
        scores
            .find(|(id, _)| id.measure == measure && id.k == k)
            .map(|(_, score)| *score)
    }

    pub(crate) fn at(&self, measure: &str, k: usize) -> Option<&'a Score> {
        self.score(measure, Some(k))
    }

    /// Every K of these measures, in the order given.
    pub(crate) fn ks(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
        let mut ks = Vec::new();
        for k in self
            .scores
            .iter()
            .filter(|(id, _)| is_wanted(&id.measure))
            .filter_map(|(id, _)| id.k)
        {
            if !ks.contains(&k) {
                ks.push(k);
            }
        }
        ks
    }

    /// How many queries count.
    pub(crate) fn queries(&self) -> usize {
        let of = |measure: &str| self.scores.iter().find(|(id, _)| id.measure == measure);
        let known = of("label_precision")
            .or_else(|| of("pair_recall"))
            .or_else(|| self.scores.first());
        known.map_or(0, |(_, score)| score.n)
    }

    /// How many targets each query ranks. A recall of K of N targets is K/N by chance, so the chance level tells N.
    pub(crate) fn targets(&self) -> Option<usize> {
        let is_recall = |id: &Identity| matches!(id.measure.as_str(), "label_recall" | "pair_recall");
        self.scores
            .iter()
            .filter(|(id, _)| is_recall(id))
            .find_map(|(id, score)| {
                let k = score.effective_k.or(id.k)?;
                let targets = k as f64 / score.chance.filter(|chance| *chance > 0.0)?;
                targets.is_finite().then_some(targets.round() as usize)
            })
    }

    /// `Text → Sensor`.
    pub(crate) fn title(&self) -> String {
        title(&self.direction, "→")
    }
}

/// The direction in the words of document 001: `text2sensor` is `Text -> Sensor`.
pub(crate) fn title(direction: &str, arrow: &str) -> String {
    let (query, target) = direction.split_once('2').unwrap_or((direction, ""));
    let capitalised = |name: &str| {
        let mut letters = name.chars();
        letters
            .next()
            .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    let query = match direction {
        "prototype2sensor" | "prototype2text" => "Text Prototype".to_string(),
        _ => capitalised(query),
    };
    format!("{query} {arrow} {}", capitalised(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::score;
    use repscope_core::Better;

    #[test]
    fn an_identity_says_measure_direction_labels_and_k() {
        let id = Identity::of("label_precision.text2sensor.normalized_macro(labels=l2.fine)@10").unwrap();
        assert_eq!(
            (id.measure.as_str(), id.direction.as_str()),
            ("label_precision.normalized_macro", "text2sensor")
        );
        assert_eq!((id.labels.as_deref(), id.k), (Some("l2.fine"), Some(10)));
        assert_eq!(Identity::of("mrr.a2b").unwrap().k, None);
        for other in ["trustworthiness@10", "mrr", "smoothness.slope", "label_precision.x@10"] {
            assert_eq!(Identity::of(other), None, "{other}");
        }
    }

    #[test]
    fn measures_without_labels_stand_with_the_first_set() {
        let value = |metric| score("m", metric, 0.5, None, Better::Higher);
        let results = Results {
            scores: vec![
                value("label_precision.a2b(labels=l1)@5"),
                value("label_precision.a2b(labels=l2)@5"),
                value("hubness.a2b.never@5"),
            ],
            ..Results::default()
        };
        let parts = parts(&results);
        assert_eq!(parts.len(), 2);
        assert!(parts[0].at("hubness.never", 5).is_some());
        assert!(parts[1].at("hubness.never", 5).is_none());
        assert_eq!(names(&parts[1], &parts), [None, Some("l2")]);
    }

    #[test]
    fn directions_have_the_titles_of_the_document() {
        let cases = [
            ("text2sensor", "Text -> Sensor"),
            ("sensor2text", "Sensor -> Text"),
            ("sensor2sensor", "Sensor -> Sensor"),
            ("text2text", "Text -> Text"),
            ("prototype2sensor", "Text Prototype -> Sensor"),
            ("prototype2text", "Text Prototype -> Text"),
            ("prototype2video", "Prototype -> Video"),
            ("left_half2émotion", "Left_half -> Émotion"),
        ];
        for (direction, expected) in cases {
            assert_eq!(title(direction, "->"), expected);
        }
    }
}
