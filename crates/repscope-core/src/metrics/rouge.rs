// SPDX-License-Identifier: MIT
//! ROUGE: words, pairs of words and word order that generated texts share with their references. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::etes::Decoded;
use crate::score::Score;
use crate::stats::interval;
use crate::texts::rouge::{self, Overlap};

const fn output(id: &'static str, about: &'static str) -> Output {
    Output::higher(id, "0 to 1").about(about)
}

pub(super) static METRIC: Metric = Metric {
    id: "rouge",
    title: "ROUGE",
    analysis: Analysis::Etes,
    outputs: &[
        output("rouge.1", "words shared with the reference text (F1)"),
        output(
            "rouge.1.precision",
            "share of the generated words that the reference has",
        ),
        output("rouge.1.recall", "share of the reference's words that were generated"),
        output("rouge.2", "pairs of words shared with the reference text (F1)"),
        output(
            "rouge.2.precision",
            "share of the generated pairs of words that the reference has",
        ),
        output(
            "rouge.2.recall",
            "share of the reference's pairs of words that were generated",
        ),
        output("rouge.l", "words shared with the reference text in the same order (F1)"),
        output(
            "rouge.l.precision",
            "share of the generated words that the reference has in the same order",
        ),
        output(
            "rouge.l.recall",
            "share of the reference's words that were generated in the same order",
        ),
    ],
    page: include_str!("rouge.md"),
    invariances: &[Invariance::RowOrder],
    takes: &[Takes::Texts],
    options: &[],
    work: Work::Decoding { compute },
};

fn compute(decoded: &Decoded) -> Results {
    let (Some(scores), Some((generated, references))) = (decoded.text_scores(), decoded.texts()) else {
        return Results::default();
    };
    let mut answer = Results::default();
    for (place, name) in ["1", "2", "l"].into_iter().enumerate() {
        let mut push = |part: &str, value: fn(&Overlap) -> f64| {
            let values: Vec<f64> = scores.iter().map(|text| value(&text.overlaps[place])).collect();
            answer
                .scores
                .push(score(format!("rouge.{name}{part}"), &values, decoded));
        };
        push("", |overlap| overlap.f1);
        push(".precision", |overlap| overlap.precision);
        push(".recall", |overlap| overlap.recall);
    }
    answer.warnings.extend(without_tokens(generated, references));
    answer
}

fn score(id: String, values: &[f64], decoded: &Decoded) -> Score {
    let interval = interval::of_mean(values, decoded.units(), decoded.spec.level);
    Score::number(id, interval::mean(values), values.len()).with_interval(interval.map(|i| i.within(0.0, 1.0)))
}

fn without_tokens(generated: &[String], references: &[String]) -> Option<String> {
    let count = |texts: &[String]| texts.iter().filter(|text| !rouge::has_tokens(text)).count();
    let (said, given) = (count(generated), count(references));
    (said + given > 0).then(|| {
        format!(
            "rouge: {said} of {} generated texts and {given} of {} reference texts have no letter a to z and no digit: \
             ROUGE sees no words in them, and such samples score 0",
            generated.len(),
            references.len()
        )
    })
}
