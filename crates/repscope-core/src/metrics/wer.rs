// SPDX-License-Identifier: MIT
//! Word error rate: edits that make the reference of a generated text. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::etes::Decoded;
use crate::score::Score;
use crate::texts::{sums, wer};

pub(super) static METRIC: Metric = Metric {
    id: "wer",
    title: "Word error rate",
    analysis: Analysis::Etes,
    outputs: &[Output::lower("wer", "0 and above")
        .about("words to put in, take out or replace for each word of the reference texts")],
    page: include_str!("wer.md"),
    invariances: &[Invariance::RowOrder],
    takes: &[Takes::Texts],
    options: &[],
    work: Work::Decoding { compute },
};

fn compute(decoded: &Decoded) -> Results {
    let Some(texts) = decoded.text_scores() else {
        return Results::default();
    };
    let counts: Vec<wer::Counts> = texts.iter().map(|text| text.edits).collect();
    let samples = counts.len();
    let Some(value) = wer::score(&sums::of(&counts)) else {
        let why = format!("none of the {samples} reference texts has words");
        return Score::undefined("wer", why, samples).into();
    };
    let interval = sums::jackknife(&counts, decoded.units(), decoded.spec.level, wer::score);
    let score = Score::number("wer", value, samples);
    let mut answer = Results::from(score.with_interval(interval.map(|i| i.within(0.0, f64::MAX))));
    let empty = counts.iter().filter(|[_, words]| *words == 0).count();
    if empty > 0 {
        answer.warnings.push(format!(
            "wer: {empty} of {samples} reference texts have no words: what was generated for them counts as edits, and these \
             samples have no rate of their own"
        ));
    }
    answer
}
