// SPDX-License-Identifier: MIT
//! BLEU: runs of words that generated texts share with their references. See the page.

use super::{Analysis, Answer, Invariance, Metric, Output, Takes, Work};
use crate::etes::Decoded;
use crate::score::{Better, Score};
use crate::texts::{bleu, sums};

const RANGE: &str = "0 to 100";

pub(super) static METRIC: Metric = Metric {
    id: "bleu",
    title: "BLEU",
    analysis: Analysis::Etes,
    outputs: &[
        Output {
            id: "bleu@1",
            about: "words shared with the reference texts",
            better: Better::Higher,
            range: RANGE,
        },
        Output {
            id: "bleu@2",
            about: "runs of up to two words shared with the reference texts",
            better: Better::Higher,
            range: RANGE,
        },
        Output {
            id: "bleu@3",
            about: "runs of up to three words shared with the reference texts",
            better: Better::Higher,
            range: RANGE,
        },
        Output {
            id: "bleu@4",
            about: "runs of up to four words shared with the reference texts: the usual BLEU",
            better: Better::Higher,
            range: RANGE,
        },
    ],
    page: include_str!("bleu.md"),
    invariances: &[Invariance::RowOrder],
    takes: &[Takes::Texts],
    options: &[],
    work: Work::Decoding { compute },
};

fn compute(decoded: &Decoded) -> Answer {
    let Some(texts) = decoded.text_scores() else {
        return Answer::default();
    };
    let counts: Vec<bleu::Counts> = texts.iter().map(|text| text.matches).collect();
    Answer {
        scores: (1..=bleu::ORDERS).map(|n| score(&counts, n, decoded)).collect(),
        ..Answer::default()
    }
}

fn score(counts: &[bleu::Counts], highest: usize, decoded: &Decoded) -> Score {
    let total = sums::of(counts);
    let of = |counts: &bleu::Counts| Some(bleu::of_corpus(counts, highest));
    let interval = sums::jackknife(counts, decoded.units(), decoded.spec.level, of);
    let value = bleu::of_corpus(&total, highest);
    let score = Score::number(format!("bleu@{highest}"), value, counts.len(), Better::Higher);
    let score = score.with_interval(interval.map(|i| i.within(0.0, 100.0)));
    match bleu::remark(&total, highest) {
        Some(remark) => score.with_note(remark),
        None => score,
    }
}
