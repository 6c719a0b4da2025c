// SPDX-License-Identifier: MIT
//! What the numbers of a retrieval say, in sentences: the reading aids of label retrieval, each held against the chance
//! level, the ceiling and the interval that they need to be true.

mod balance;
mod falling;
mod level;
mod prototypes;
mod spaces;

use super::{Part, by_labels, names, parts};
use crate::numbers::{number, number_with_interval};
use crate::text::printable;
use repscope_core::{Results, Score};

/// A ceiling above this rounds to 1.
const NO_CEILING: f64 = 0.995;

/// A few sentences on the results: how high, whether it falls with K, whether the directions agree, prototypes against
/// instances, hubs, the gap between spaces.
pub fn retrieval_readings(results: &Results) -> Vec<String> {
    let all = parts(results);
    let mut sentences = Vec::new();
    for group in by_labels(&all) {
        let before = sentences.len();
        sentences.extend(group.iter().filter_map(level::level));
        sentences.extend(group.iter().filter_map(falling::drop_with_k));
        sentences.extend(balance::balance(group));
        sentences.extend(prototypes::against_instances(group, results));
        name_group(&mut sentences[before..], names(&group[0], &all));
    }
    for of_model in all.chunk_by(|a, b| a.model == b.model) {
        let before = sentences.len();
        sentences.extend(spaces::hubs(of_model));
        sentences.extend(spaces::gap(of_model));
        name_group(&mut sentences[before..], [names(&of_model[0], &all)[0], None]);
    }
    sentences.iter().map(|sentence| printable(sentence)).collect()
}

/// Puts the model and the set of labels before the sentences, where there are several.
fn name_group(sentences: &mut [String], names: [Option<&str>; 2]) {
    let names: Vec<&str> = names.into_iter().flatten().collect();
    if !names.is_empty() {
        for sentence in sentences {
            *sentence = format!("{}: {sentence}", names.join(", "));
        }
    }
}

/// A value and what it can be told apart from. Without an interval, both ends are the value.
#[derive(Clone, Copy)]
struct Measured<'a> {
    score: &'a Score,
    value: f64,
    low: f64,
    high: f64,
}

impl<'a> Measured<'a> {
    fn new(score: Option<&'a Score>) -> Option<Self> {
        let score = score?;
        let value = score.value?;
        let [low, high] = score.interval.unwrap_or([value; 2]);
        Some(Measured {
            score,
            value,
            low,
            high,
        })
    }

    /// `0.723 [0.710, 0.737]`.
    fn text(&self) -> String {
        match self.score.interval {
            Some(interval) => {
                let (value, interval) = number_with_interval(self.value, interval);
                format!("{value} {interval}")
            }
            None => number(self.value),
        }
    }

    /// `0.723`, with as many digits as its interval deserves.
    fn short(&self) -> String {
        let interval = self.score.interval;
        interval.map_or_else(
            || number(self.value),
            |interval| number_with_interval(self.value, interval).0,
        )
    }

    fn chance(&self) -> Option<f64> {
        self.score.chance
    }

    /// Whether the whole interval is; true where no chance level is known.
    fn is_above_chance(&self) -> bool {
        self.score.chance.is_none_or(|chance| self.low > chance)
    }

    fn has_interval(&self) -> bool {
        self.score.interval.is_some()
    }

    fn is_below(&self, other: &Self) -> bool {
        self.high < other.low
    }

    fn overlaps(&self, other: &Self) -> bool {
        !self.is_below(other) && !other.is_below(self)
    }
}

/// The K at which not all targets are retrieved anyway, smallest first.
fn telling_ks(part: &Part<'_>) -> Vec<usize> {
    let mut ks = part.ks(|measure| measure == "label_precision");
    ks.sort_unstable();
    ks.retain(|&k| {
        // All targets are there where a recall is 1 by chance.
        let is_all = part
            .at("label_recall", k)
            .and_then(|score| score.chance)
            .is_some_and(|c| c > 1.0 - 1e-9);
        !is_all
            && part
                .at("label_precision", k)
                .is_some_and(|score| score.effective_k.is_none())
    });
    ks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{direction, missing, share};

    pub(super) fn readings(scores: Vec<Score>) -> Vec<String> {
        retrieval_readings(&Results {
            scores,
            ..Results::default()
        })
    }

    #[test]
    fn two_directions_take_at_most_eight_sentences() {
        let mut scores = direction("text2sensor");
        scores.extend(direction("sensor2text"));
        let expected = [
            "Text → Sensor has a precision of 0.723 [0.710, 0.737] at K = 10, high (above 0.6): 7.2 times chance (0.1).",
            "Sensor → Text has a precision of 0.723 [0.710, 0.737] at K = 10, high (above 0.6): 7.2 times chance (0.1).",
            "Text → Sensor falls from 0.723 at K = 10 to 0.612 at K = 100, and normalized by the ceiling too, 0.723 and \
             0.680 (chance 0.1 and 0.11): hits get rarer down the list.",
            "Sensor → Text falls from 0.723 at K = 10 to 0.612 at K = 100, and normalized by the ceiling too, 0.723 and \
             0.680 (chance 0.1 and 0.11): hits get rarer down the list.",
            "Text → Sensor and Sensor → Text are balanced at K = 10: 0.723 and 0.723, with intervals that overlap.",
            "No strong hubs: how often targets are found has a skewness of 0.4 at K = 10, where lists drawn by lot have \
             0.31.",
            "Modality gap 0.82 between text and sensor (0: one mean direction, 2: opposite points); it need not change \
             any order.",
        ];
        assert_eq!(readings(scores), expected);
    }

    #[test]
    fn a_k_that_takes_in_all_targets_is_not_judged() {
        let mut all = share("label_precision.a2b@100", 0.1, 0.0, 0.1);
        all.effective_k = Some(60);
        assert_eq!(
            readings(vec![share("label_precision.a2b@10", 0.7, 0.01, 0.1), all.clone()]).len(),
            1
        );
        assert_eq!(
            readings(vec![all]),
            ["A → B cannot be judged: K = 100 takes in every target, so precision is the same for any order."]
        );
        assert_eq!(
            readings(vec![missing(
                "m",
                "label_precision.a2b@10",
                "no query has a relevant target"
            )]),
            ["A → B cannot be judged: no query has a relevant target."]
        );
    }

    #[test]
    fn models_and_sets_of_labels_are_named_where_there_are_several() {
        let in_set = |set: &str| share(&format!("label_precision.a2b(labels={set})@10"), 0.7, 0.01, 0.1);
        let sentences = readings(vec![in_set("l1"), in_set("l2")]);
        assert!(sentences[1].starts_with("l2: A → B has a precision"), "{sentences:?}");
    }
}
