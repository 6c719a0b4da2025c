// SPDX-License-Identifier: MIT
//! The scores that are given.

use super::super::Output;
use crate::score::Better::{Higher, Lower, Neither};

const ENERGY: &str = "-1 to 1";
const SHARE: &str = "0 to 1";
const ANY: &str = "any number";

pub(super) const OUTPUTS: &[Output] = &[
    Output::new(
        "etes.alignment",
        "mean energy, -cos(signal, generated text)",
        Lower,
        ENERGY,
    ),
    Output::new(
        "etes.total",
        "the same, plus the weighted ln(perplexity)/10 of the texts",
        Lower,
        ANY,
    ),
    Output::new("etes.reference", "mean energy of the reference texts", Lower, ENERGY),
    Output::new(
        "etes.gap",
        "mean energy of generated less reference texts",
        Lower,
        "-2 to 2",
    ),
    Output::new(
        "etes.win_rate",
        "share of generated texts with less energy than their reference",
        Higher,
        SHARE,
    ),
    Output::new("etes.std", "standard deviation of the energies", Neither, SHARE),
    Output::new("etes.min", "smallest energy", Lower, ENERGY),
    Output::new("etes.p10", "energy that a tenth of the samples is below", Lower, ENERGY),
    Output::new("etes.median", "median energy", Lower, ENERGY),
    Output::new(
        "etes.p90",
        "energy that nine tenths of the samples are below",
        Lower,
        ENERGY,
    ),
    Output::new("etes.max", "largest energy", Lower, ENERGY),
    Output::new(
        "etes.shuffled",
        "mean energy of signals and texts paired at random",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.shuffled.std",
        "standard deviation of that mean over all pairings",
        Neither,
        SHARE,
    ),
    Output::new(
        "etes.z",
        "standard deviations from the shuffled mean to the alignment",
        Lower,
        ANY,
    ),
    Output::new("etes.p", "share of random pairings with as little energy", Lower, SHARE),
    Output::new(
        "etes.auc",
        "how often a matched pair has less energy than a mismatched one",
        Higher,
        SHARE,
    ),
    Output::new(
        "etes.top@K",
        "share of signals with their own text among the K nearest",
        Higher,
        SHARE,
    ),
    Output::new("etes.mrr", "mean reciprocal rank of a signal's own text", Higher, SHARE),
    Output::new("etes.rank", "mean rank of a signal's own text", Lower, "1 to N"),
    Output::new(
        "etes.modality_gap",
        "distance between the mean unit signal and the mean unit text",
        Neither,
        "0 to 2",
    ),
    Output::new(
        "etes.centred.alignment",
        "mean energy after subtracting each side's mean",
        Lower,
        ENERGY,
    ),
    Output::new(
        "etes.centred.reference",
        "the same of the reference texts",
        Lower,
        ENERGY,
    ),
    Output::new(
        "etes.centred.gap",
        "centred energy of generated less reference texts",
        Lower,
        "-2 to 2",
    ),
    Output::new(
        "etes.centred.shuffled",
        "mean centred energy of pairs at random",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.centred.shuffled.std",
        "standard deviation of that mean over all pairings",
        Neither,
        SHARE,
    ),
    Output::new(
        "etes.centred.z",
        "standard deviations from the shuffled mean, centred",
        Lower,
        ANY,
    ),
    Output::new("etes.centred.auc", "the AUC of centred energies", Higher, SHARE),
    Output::new(
        "etes.centred.top@K",
        "own text among the K nearest, centred",
        Higher,
        SHARE,
    ),
    Output::new("etes.centred.mrr", "mean reciprocal rank, centred", Higher, SHARE),
    Output::new("etes.centred.rank", "mean rank, centred", Lower, "1 to N"),
    Output::new(
        "etes.spearman(with=bleu)",
        "rank correlation of energy and sentence BLEU",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.spearman(with=rouge.1)",
        "rank correlation of energy and ROUGE-1",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.spearman(with=rouge.l)",
        "rank correlation of energy and ROUGE-L",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.spearman(with=wer)",
        "rank correlation of energy and word error rate",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.pearson(with=bleu)",
        "correlation of energy and sentence BLEU",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.pearson(with=rouge.1)",
        "correlation of energy and ROUGE-1",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.pearson(with=rouge.l)",
        "correlation of energy and ROUGE-L",
        Neither,
        ENERGY,
    ),
    Output::new(
        "etes.pearson(with=wer)",
        "correlation of energy and word error rate",
        Neither,
        ENERGY,
    ),
];
