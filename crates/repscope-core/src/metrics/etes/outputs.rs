// SPDX-License-Identifier: MIT
//! The scores that are given.

use super::super::Output;
use crate::score::Better::{self, Higher, Lower, Neither};

const fn output(id: &'static str, about: &'static str, better: Better, range: &'static str) -> Output {
    Output {
        id,
        about,
        better,
        range,
    }
}

const ENERGY: &str = "-1 to 1";
const SHARE: &str = "0 to 1";
const ANY: &str = "any number";

pub(super) const OUTPUTS: &[Output] = &[
    output(
        "etes.alignment",
        "mean energy, -cos(signal, generated text)",
        Lower,
        ENERGY,
    ),
    output(
        "etes.total",
        "the same, plus the weighted ln(perplexity)/10 of the texts",
        Lower,
        ANY,
    ),
    output("etes.reference", "mean energy of the reference texts", Lower, ENERGY),
    output(
        "etes.gap",
        "mean energy of generated less reference texts",
        Lower,
        "-2 to 2",
    ),
    output(
        "etes.win_rate",
        "share of generated texts with less energy than their reference",
        Higher,
        SHARE,
    ),
    output("etes.std", "standard deviation of the energies", Neither, SHARE),
    output("etes.min", "smallest energy", Lower, ENERGY),
    output("etes.p10", "energy that a tenth of the samples is below", Lower, ENERGY),
    output("etes.median", "median energy", Lower, ENERGY),
    output(
        "etes.p90",
        "energy that nine tenths of the samples are below",
        Lower,
        ENERGY,
    ),
    output("etes.max", "largest energy", Lower, ENERGY),
    output(
        "etes.shuffled",
        "mean energy of signals and texts paired at random",
        Neither,
        ENERGY,
    ),
    output(
        "etes.shuffled.std",
        "standard deviation of that mean over all pairings",
        Neither,
        SHARE,
    ),
    output(
        "etes.z",
        "standard deviations from the shuffled mean to the alignment",
        Lower,
        ANY,
    ),
    output("etes.p", "share of random pairings with as little energy", Lower, SHARE),
    output(
        "etes.auc",
        "how often a matched pair has less energy than a mismatched one",
        Higher,
        SHARE,
    ),
    output(
        "etes.top@K",
        "share of signals with their own text among the K nearest",
        Higher,
        SHARE,
    ),
    output("etes.mrr", "mean reciprocal rank of a signal's own text", Higher, SHARE),
    output("etes.rank", "mean rank of a signal's own text", Lower, "1 to N"),
    output(
        "etes.modality_gap",
        "distance between the mean unit signal and the mean unit text",
        Neither,
        "0 to 2",
    ),
    output(
        "etes.centred.alignment",
        "mean energy after subtracting each side's mean",
        Lower,
        ENERGY,
    ),
    output(
        "etes.centred.reference",
        "the same of the reference texts",
        Lower,
        ENERGY,
    ),
    output(
        "etes.centred.gap",
        "centred energy of generated less reference texts",
        Lower,
        "-2 to 2",
    ),
    output(
        "etes.centred.shuffled",
        "mean centred energy of pairs at random",
        Neither,
        ENERGY,
    ),
    output(
        "etes.centred.shuffled.std",
        "standard deviation of that mean over all pairings",
        Neither,
        SHARE,
    ),
    output(
        "etes.centred.z",
        "standard deviations from the shuffled mean, centred",
        Lower,
        ANY,
    ),
    output("etes.centred.auc", "the AUC of centred energies", Higher, SHARE),
    output(
        "etes.centred.top@K",
        "own text among the K nearest, centred",
        Higher,
        SHARE,
    ),
    output("etes.centred.mrr", "mean reciprocal rank, centred", Higher, SHARE),
    output("etes.centred.rank", "mean rank, centred", Lower, "1 to N"),
    output(
        "etes.spearman(with=bleu)",
        "rank correlation of energy and sentence BLEU",
        Neither,
        ENERGY,
    ),
    output(
        "etes.spearman(with=rouge.1)",
        "rank correlation of energy and ROUGE-1",
        Neither,
        ENERGY,
    ),
    output(
        "etes.spearman(with=rouge.l)",
        "rank correlation of energy and ROUGE-L",
        Neither,
        ENERGY,
    ),
    output(
        "etes.spearman(with=wer)",
        "rank correlation of energy and word error rate",
        Neither,
        ENERGY,
    ),
    output(
        "etes.pearson(with=bleu)",
        "correlation of energy and sentence BLEU",
        Neither,
        ENERGY,
    ),
    output(
        "etes.pearson(with=rouge.1)",
        "correlation of energy and ROUGE-1",
        Neither,
        ENERGY,
    ),
    output(
        "etes.pearson(with=rouge.l)",
        "correlation of energy and ROUGE-L",
        Neither,
        ENERGY,
    ),
    output(
        "etes.pearson(with=wer)",
        "correlation of energy and word error rate",
        Neither,
        ENERGY,
    ),
];
