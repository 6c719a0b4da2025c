// SPDX-License-Identifier: MIT
//! BLEU: runs of words that generated texts share with their references. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::etes::Decoded;
use crate::score::Score;
use crate::texts::{bleu, sums};

const RANGE: &str = "0 to 100";

pub(super) static METRIC: Metric = Metric {
    id: "bleu",
    title: "BLEU",
    analysis: Analysis::Etes,
    outputs: &[
        Output::higher("bleu@1", RANGE).about("words shared with the reference texts"),
        Output::higher("bleu@2", RANGE).about("runs of up to two words shared with the reference texts"),
        Output::higher("bleu@3", RANGE).about("runs of up to three words shared with the reference texts"),
        Output::higher("bleu@4", RANGE)
            .about("runs of up to four words shared with the reference texts: the usual BLEU"),
    ],
    page: include_str!("bleu.md"),
    invariances: &[Invariance::RowOrder],
    takes: &[Takes::Texts],
    options: &[],
    work: Work::Decoding { compute },
};

fn compute(decoded: &Decoded) -> Results {
    let Some(texts) = decoded.text_scores() else {
        return Results::default();
    };
    let counts: Vec<bleu::Counts> = texts.iter().map(|text| text.matches).collect();
    (1..=bleu::ORDERS).map(|n| score(&counts, n, decoded)).collect()
}

fn score(counts: &[bleu::Counts], highest: usize, decoded: &Decoded) -> Score {
    let total = sums::of(counts);
    let of = |counts: &bleu::Counts| Some(bleu::of_corpus(counts, highest));
    let interval = sums::jackknife(counts, decoded.units(), decoded.spec.level, of);
    let value = bleu::of_corpus(&total, highest);
    let score = Score::number(format!("bleu@{highest}"), value, counts.len());
    let score = score.with_interval(interval.map(|i| i.within(0.0, 100.0)));
    match bleu::remark(&total, highest) {
        Some(remark) => score.with_note(remark),
        None => score,
    }
}
