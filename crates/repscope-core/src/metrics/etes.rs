// SPDX-License-Identifier: MIT
//! EEG–text energy score: how well generated texts fit the signals they were generated from. See the page.

mod measured;
mod scores;
mod tables;

use self::measured::Measured;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::etes::Decoded;

pub(super) static METRIC: Metric = Metric {
    id: "etes",
    title: "EEG–text energy score",
    outputs: OUTPUTS,
    page: include_str!("etes.md"),
    invariances: Invariance::OF_ANGLES,
    options: &["fluency-weight", "bands", "k", "permutations"],
    ..Metric::of(
        Analysis::Etes,
        &[Takes::Signals, Takes::TextEmbeddings],
        Work::Decoding { compute },
    )
};

fn compute(decoded: &Decoded) -> Results {
    let measured = Measured::new(decoded, decoded.kept.clone(), decoded.spec.etes.permutations);
    let mut answer = Results {
        scores: scores::all(&measured),
        curves: tables::histograms(&measured),
        breakdowns: vec![tables::bands(&measured)],
        samples: vec![tables::samples(&measured)],
        warnings: warnings(&measured),
        ..Results::default()
    };
    answer.scores.extend(scores::correlations(&measured));
    for (factor, labels) in &decoded.data.groups {
        answer.breakdowns.push(tables::by_group(decoded, factor, labels));
    }
    answer
}

const ENERGY: &str = "-1 to 1";
const SHARE: &str = "0 to 1";
const ANY: &str = "any number";

const OUTPUTS: &[Output] = &[
    Output::lower("etes.alignment", ENERGY).about("mean energy, -cos(signal, generated text)"),
    Output::lower("etes.total", ANY).about("the same, plus the weighted ln(perplexity)/10 of the texts"),
    Output::lower("etes.reference", ENERGY).about("mean energy of the reference texts"),
    Output::lower("etes.gap", "-2 to 2")
        .about("mean energy of generated less reference texts")
        .function_of("etes.alignment"),
    Output::higher("etes.win_rate", SHARE).about("share of generated texts with less energy than their reference"),
    Output::neither("etes.std", SHARE).about("standard deviation of the energies"),
    Output::lower("etes.min", ENERGY).about("smallest energy"),
    Output::lower("etes.p10", ENERGY).about("energy that a tenth of the samples is below"),
    Output::lower("etes.median", ENERGY).about("median energy"),
    Output::lower("etes.p90", ENERGY).about("energy that nine tenths of the samples are below"),
    Output::lower("etes.max", ENERGY).about("largest energy"),
    Output::neither("etes.shuffled", ENERGY).about("mean energy of signals and texts paired at random"),
    Output::neither("etes.shuffled.std", SHARE).about("standard deviation of that mean over all pairings"),
    Output::lower("etes.z", ANY).about("standard deviations from the shuffled mean to the alignment"),
    Output::lower("etes.p", SHARE).about("share of random pairings with as little energy"),
    Output::higher("etes.auc", SHARE).about("how often a matched pair has less energy than a mismatched one"),
    Output::higher("etes.top@K", SHARE).about("share of signals with their own text among the K nearest"),
    Output::higher("etes.mrr", SHARE).about("mean reciprocal rank of a signal's own text"),
    Output::lower("etes.rank", "1 to N").about("mean rank of a signal's own text"),
    Output::neither("etes.modality_gap", "0 to 2")
        .about("distance between the mean unit signal and the mean unit text"),
    Output::lower("etes.centred.alignment", ENERGY).about("mean energy after subtracting each side's mean"),
    Output::lower("etes.centred.reference", ENERGY).about("the same of the reference texts"),
    Output::lower("etes.centred.gap", "-2 to 2")
        .about("centered energy of generated less reference texts")
        .function_of("etes.centred.alignment"),
    Output::neither("etes.centred.shuffled", ENERGY).about("mean centered energy of pairs at random"),
    Output::neither("etes.centred.shuffled.std", SHARE).about("standard deviation of that mean over all pairings"),
    Output::lower("etes.centred.z", ANY).about("standard deviations from the shuffled mean, centered"),
    Output::higher("etes.centred.auc", SHARE).about("the AUC of centered energies"),
    Output::higher("etes.centred.top@K", SHARE).about("own text among the K nearest, centered"),
    Output::higher("etes.centred.mrr", SHARE).about("mean reciprocal rank, centered"),
    Output::lower("etes.centred.rank", "1 to N").about("mean rank, centered"),
    Output::neither("etes.spearman(with=bleu)", ENERGY).about("rank correlation of energy and sentence BLEU"),
    Output::neither("etes.spearman(with=rouge.1)", ENERGY).about("rank correlation of energy and ROUGE-1"),
    Output::neither("etes.spearman(with=rouge.l)", ENERGY).about("rank correlation of energy and ROUGE-L"),
    Output::neither("etes.spearman(with=wer)", ENERGY).about("rank correlation of energy and word error rate"),
    Output::neither("etes.pearson(with=bleu)", ENERGY).about("correlation of energy and sentence BLEU"),
    Output::neither("etes.pearson(with=rouge.1)", ENERGY).about("correlation of energy and ROUGE-1"),
    Output::neither("etes.pearson(with=rouge.l)", ENERGY).about("correlation of energy and ROUGE-L"),
    Output::neither("etes.pearson(with=wer)", ENERGY).about("correlation of energy and word error rate"),
];

/// So many rows are named in a warning.
const MOST_ROWS: usize = 5;

fn warnings(measured: &Measured) -> Vec<String> {
    let mut warnings = Vec::new();
    let n = measured.decoded.data.samples();
    let left_out: Vec<usize> = (0..n).filter(|row| measured.rows.binary_search(row).is_err()).collect();
    if !left_out.is_empty() {
        warnings.push(format!(
            "{} of {n} samples are left out of all energies, because their signal or text is a vector of length zero, which has \
             no cosine: {}",
            left_out.len(),
            named(&left_out)
        ));
    }
    let measured_rows = measured.rows.len();
    let references = measured.rows.iter().zip(measured.plain.reference.iter().flatten());
    let without = references.filter(|(_, reference)| reference.is_none());
    let without: Vec<usize> = without.map(|(&row, _)| row).collect();
    if !without.is_empty() {
        let (count, rows) = (without.len(), named(&without));
        warnings.push(format!(
            "{count} of {measured_rows} references are vectors of length zero, so their samples have no gap: {rows}"
        ));
    }
    let lost = measured_rows - measured.centered.energy.len();
    if lost > 0 && measured_rows > 1 {
        warnings.push(format!(
            "{lost} of {measured_rows} samples are left out of centered energies: their signal or text is the mean of its side"
        ));
    }
    if measured.repeats > 0 {
        warnings.push(format!(
            "{} of {measured_rows} generated texts have the vector of an earlier one; where texts are equally near to a signal, \
             its own ranks among them at random, in expectation",
            measured.repeats
        ));
    }
    for &k in measured.decoded.spec.etes.k.iter().filter(|&&k| k > measured_rows) {
        warnings.push(format!(
            "K = {k}, but there are only {measured_rows} texts; all {measured_rows} were taken, and effective_k says so"
        ));
    }
    warnings
}

/// `rows 3, 4, 7, 8, 9, …`.
fn named(rows: &[usize]) -> String {
    let shown: Vec<String> = rows.iter().take(MOST_ROWS).map(usize::to_string).collect();
    let more = if rows.len() > MOST_ROWS { ", …" } else { "" };
    let what = if rows.len() == 1 { "row" } else { "rows" };
    format!("{what} {}{more} (counted from 0)", shown.join(", "))
}
