// SPDX-License-Identifier: MIT
//! The scores of a retrieval, sorted: each belongs to a model, a set of labels, a direction, a measure and a K, all of
//! which its printed identity says (`label_precision.text2sensor.macro(labels=l2)@10`).

pub(crate) mod label_retrieval;
pub(crate) mod readings;
pub(crate) mod table;

use crate::scores::distinct;
use crate::text::capitalized;
use repscope_core::{Analysis, MetricId, Results, Score, Takes};

/// All scores of one direction, for one model and one set of labels.
pub(crate) struct Part<'a> {
    pub(crate) model: &'a str,
    pub(crate) labels: Option<&'a str>,
    pub(crate) direction: &'a str,
    /// Both sides of the direction, the queries first.
    pub(crate) sides: (&'a str, &'a str),
    scores: Vec<&'a Score>,
}

/// The direction of what a retrieval found; `None` for every other score.
pub(crate) fn direction(id: &MetricId) -> Option<&str> {
    let is_retrieval = id.metric().is_some_and(|metric| metric.analysis == Analysis::Retrieval);
    let is_at_k = id.k().is_some() == id.at().is_some();
    id.sides().filter(|_| is_retrieval && is_at_k)?;
    id.direction()
}

/// Whether a measure looks at labels.
fn is_of_labels(id: &MetricId) -> bool {
    id.metric().is_some_and(|metric| metric.takes.contains(&Takes::Labels))
}

/// The parts of the results: model by model, set by set, direction by direction, each in order of first appearance.
/// Measures that do not look at labels stand with the first set.
pub(crate) fn parts(results: &Results) -> Vec<Part<'_>> {
    let known = || results.scores.iter().filter(|score| direction(&score.metric).is_some());
    let mut parts = Vec::new();
    for model in distinct(known().map(|score| score.model.as_str())) {
        let own = || known().filter(|score| score.model == model);
        let mut sets = distinct(
            own()
                .map(|score| &score.metric)
                .filter(|id| is_of_labels(id))
                .map(|id| id.labels()),
        );
        if sets.is_empty() {
            sets.push(None);
        }
        for (i, &labels) in sets.iter().enumerate() {
            let belongs = |id: &MetricId| {
                if is_of_labels(id) {
                    id.labels() == labels
                } else {
                    i == 0
                }
            };
            let directions = distinct(own().filter_map(|score| score.metric.direction().zip(score.metric.sides())));
            for (direction, sides) in directions {
                let is_own = |score: &&Score| score.metric.direction() == Some(direction) && belongs(&score.metric);
                let scores: Vec<&Score> = own().filter(is_own).collect();
                if !scores.is_empty() {
                    parts.push(Part {
                        model,
                        labels,
                        direction,
                        sides,
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
        part.labels.filter(|_| has_sets),
    ]
}

impl<'a> Part<'a> {
    /// The score of a measure at K, or over the whole ranking.
    pub(crate) fn score(&self, measure: &str, k: Option<usize>) -> Option<&'a Score> {
        let mut scores = self.scores.iter().copied();
        scores.find(|score| score.metric.measure() == measure && score.metric.k() == k)
    }

    pub(crate) fn at(&self, measure: &str, k: usize) -> Option<&'a Score> {
        self.score(measure, Some(k))
    }

    /// Every K of these measures, in the order given.
    pub(crate) fn ks(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
        let wanted = self.scores.iter().filter(|score| is_wanted(score.metric.measure()));
        distinct(wanted.filter_map(|score| score.metric.k()))
    }

    /// How many queries count.
    pub(crate) fn queries(&self) -> usize {
        let of = |measure: &str| self.scores.iter().find(|score| score.metric.measure() == measure);
        let known = of("label_precision").or_else(|| of("pair_recall"));
        known.or_else(|| self.scores.first()).map_or(0, |score| score.n)
    }

    /// How many targets each query ranks. A recall of K of N targets is K/N by chance, so the chance level gives N.
    pub(crate) fn targets(&self) -> Option<usize> {
        let is_recall = |score: &&&Score| matches!(score.metric.measure(), "label_recall" | "pair_recall");
        self.scores.iter().filter(is_recall).find_map(|score| {
            let k = score.effective_k.or(score.metric.k())?;
            let targets = k as f64 / score.chance.filter(|chance| *chance > 0.0)?;
            targets.is_finite().then_some(targets.round() as usize)
        })
    }

    /// `Text → Sensor`.
    pub(crate) fn title(&self) -> String {
        title(self.sides, "→")
    }
}

/// A direction in the words of label retrieval: `text2sensor` is `Text -> Sensor`.
pub(crate) fn title((query, target): (&str, &str), arrow: &str) -> String {
    let query = match (query, target) {
        ("prototype", "sensor" | "text") => "Text Prototype".to_string(),
        _ => capitalized(query),
    };
    format!("{query} {arrow} {}", capitalized(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::score;
    use repscope_core::Better;

    #[test]
    fn only_scores_of_a_retrieval_have_a_direction() {
        let of = |id: &str| direction(&MetricId::from(id)).map(str::to_string);
        assert_eq!(
            of("label_precision.text2sensor.normalized_macro(labels=l2.fine)@10").as_deref(),
            Some("text2sensor")
        );
        assert_eq!(of("mrr.a2b").as_deref(), Some("a2b"));
        for other in ["trustworthiness@10", "mrr", "smoothness.slope", "label_precision.x@10"] {
            assert_eq!(of(other), None, "{other}");
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
            let sides = direction.split_once('2').expect("two sides");
            assert_eq!(title(sides, "->"), expected);
        }
    }
}
