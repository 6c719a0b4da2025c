// SPDX-License-Identifier: MIT
//! The scores that are given.

use super::super::Output;

const ENERGY: &str = "-1 to 1";
const SHARE: &str = "0 to 1";
const ANY: &str = "any number";

pub(super) const OUTPUTS: &[Output] = &[
    Output::lower("etes.alignment", ENERGY).about("mean energy, -cos(signal, generated text)"),
    Output::lower("etes.total", ANY).about("the same, plus the weighted ln(perplexity)/10 of the texts"),
    Output::lower("etes.reference", ENERGY).about("mean energy of the reference texts"),
    Output::lower("etes.gap", "-2 to 2").about("mean energy of generated less reference texts"),
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
    Output::lower("etes.centred.gap", "-2 to 2").about("centered energy of generated less reference texts"),
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
