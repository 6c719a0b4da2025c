// SPDX-License-Identifier: MIT
//! Generated texts against their references: BLEU (runs of words that both share), ROUGE (words, pairs of words and word
//! order) and the word error rate (edits that make the reference of a text). See their pages.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::etes::Decoded;
use crate::score::Score;
use crate::stats::interval;
use crate::texts::{self, Overlap, bleu};

/// What the metrics of texts share.
const fn of_texts(compute: fn(&Decoded) -> Results) -> Metric {
    Metric {
        invariances: &[Invariance::RowOrder],
        ..Metric::of(Analysis::Etes, &[Takes::Texts], Work::Decoding { compute })
    }
}

pub(super) static BLEU: Metric = Metric {
    id: "bleu",
    title: "BLEU",
    outputs: &[
        Output::higher("bleu@1", "0 to 100").about("words shared with the reference texts"),
        Output::higher("bleu@2", "0 to 100").about("runs of up to two words shared with the reference texts"),
        Output::higher("bleu@3", "0 to 100").about("runs of up to three words shared with the reference texts"),
        Output::higher("bleu@4", "0 to 100")
            .about("runs of up to four words shared with the reference texts: the usual BLEU"),
    ],
    page: include_str!("bleu.md"),
    ..of_texts(bleu_scores)
};

fn bleu_scores(decoded: &Decoded) -> Results {
    let Some(texts) = decoded.text_scores() else {
        return Results::default();
    };
    let counts: Vec<bleu::Counts> = texts.iter().map(|text| text.matches).collect();
    let total = texts::sum(&counts);
    let score = |(highest, output): (usize, &Output)| {
        let of = |counts: &bleu::Counts| Some(bleu::of_corpus(counts, highest));
        let interval = texts::jackknife(&counts, decoded.units(), decoded.spec.level, of);
        let score = Score::number(output, bleu::of_corpus(&total, highest), counts.len());
        let score = score.with_interval(interval.map(|i| i.within(0.0, 100.0)));
        match bleu::remark(&total, highest) {
            Some(remark) => score.with_note(remark),
            None => score,
        }
    };
    (1..).zip(BLEU.outputs).map(score).collect()
}

const fn rouge_output(id: &'static str, about: &'static str) -> Output {
    Output::higher(id, "0 to 1").about(about)
}

pub(super) static ROUGE: Metric = Metric {
    id: "rouge",
    title: "ROUGE",
    outputs: &[
        rouge_output("rouge.1", "words shared with the reference text (F1)"),
        rouge_output(
            "rouge.1.precision",
            "share of the generated words that the reference has",
        ),
        rouge_output("rouge.1.recall", "share of the reference's words that were generated"),
        rouge_output("rouge.2", "pairs of words shared with the reference text (F1)"),
        rouge_output(
            "rouge.2.precision",
            "share of the generated pairs of words that the reference has",
        ),
        rouge_output(
            "rouge.2.recall",
            "share of the reference's pairs of words that were generated",
        ),
        rouge_output("rouge.l", "words shared with the reference text in the same order (F1)"),
        rouge_output(
            "rouge.l.precision",
            "share of the generated words that the reference has in the same order",
        ),
        rouge_output(
            "rouge.l.recall",
            "share of the reference's words that were generated in the same order",
        ),
    ],
    page: include_str!("rouge.md"),
    ..of_texts(rouge_scores)
};

fn rouge_scores(decoded: &Decoded) -> Results {
    let (Some(scores), Some((generated, references))) = (decoded.text_scores(), decoded.texts()) else {
        return Results::default();
    };
    const PARTS: [fn(&Overlap) -> f64; 3] = [|o| o.f1, |o| o.precision, |o| o.recall];
    let mut answer = Results::default();
    for (place, output) in ROUGE.outputs.iter().enumerate() {
        let value = PARTS[place % PARTS.len()];
        let overlaps = scores.iter().map(|text| &text.overlaps[place / PARTS.len()]);
        let values: Vec<f64> = overlaps.map(value).collect();
        let interval = interval::of_mean(&values, decoded.units(), decoded.spec.level);
        let score = Score::number(output, interval::mean(&values), values.len());
        let interval = interval.map(|i| i.within(0.0, 1.0));
        answer.scores.push(score.with_interval(interval));
    }
    answer.warnings.extend(without_tokens(generated, references));
    answer
}

fn without_tokens(generated: &[String], references: &[String]) -> Option<String> {
    let count = |texts: &[String]| texts.iter().filter(|text| !texts::has_tokens(text)).count();
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

pub(super) static WER: Metric = Metric {
    id: "wer",
    title: "Word error rate",
    outputs: &[Output::lower("wer", "0 and above")
        .about("words to put in, take out or replace for each word of the reference texts")],
    page: include_str!("wer.md"),
    ..of_texts(word_error_rate)
};

fn word_error_rate(decoded: &Decoded) -> Results {
    let Some(texts) = decoded.text_scores() else {
        return Results::default();
    };
    let counts: Vec<texts::Edits> = texts.iter().map(|text| text.edits).collect();
    let samples = counts.len();
    let Some(value) = texts::error_rate(&texts::sum(&counts)) else {
        return WER.undefined(format!("none of the {samples} reference texts has words"), samples);
    };
    let interval = texts::jackknife(&counts, decoded.units(), decoded.spec.level, texts::error_rate);
    let score = WER.number(value, samples);
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
