// SPDX-License-Identifier: MIT
//! Generated texts against reference texts: what BLEU, ROUGE and the word error rate count in each pair of texts.
//!
//! `words` cuts texts into words, in the way of each metric's reference program, and compares two lists of words. Memory and time
//! are proportional to the length of the texts, but ROUGE-L and the word error rate take one step for each pair of words.

pub(crate) mod bleu;
mod words;

use self::words::{between_blanks, edits, longest_common, numbered, plain, runs, shared_runs, words};
use super::score::Interval;
use super::stats::interval::{self, Units};

/// What one generated text scores against its reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextScores {
    /// Sentence BLEU, 0 to 100. It is 0 where a text is empty.
    pub(crate) bleu: Option<f64>,
    /// Edits for each word of the reference; none where the reference has no words.
    pub(crate) wer: Option<f64>,
    /// ROUGE-1, ROUGE-2 and ROUGE-L: F1, precision and recall, 0 to 1.
    pub(crate) overlaps: [Overlap; 3],
    /// What adds up over texts.
    pub(crate) matches: bleu::Counts,
    pub(crate) edits: Edits,
}

/// The scores of each text against the reference at the same place.
pub(crate) fn per_sample(generated: &[String], references: &[String]) -> Vec<TextScores> {
    let pairs = generated.iter().zip(references);
    pairs.map(|(a, b)| of_pair(a, b)).collect()
}

fn of_pair(generated: &str, reference: &str) -> TextScores {
    let matches = bleu::counts(generated, reference);
    let overlaps = overlaps(generated, reference);
    let edits = edits_of(generated, reference);
    TextScores {
        bleu: Some(bleu::of_sentence(&matches)),
        wer: error_rate(&edits),
        overlaps,
        matches,
        edits,
    }
}

/// What texts score together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Together {
    /// `bleu@4`.
    pub(crate) bleu4: f64,
    /// `rouge.l`; none without texts.
    pub(crate) rougel: Option<f64>,
    /// None where no reference has words.
    pub(crate) wer: Option<f64>,
}

/// What some of the texts score together, as if there were no others.
pub(crate) fn together<'a>(texts: impl Iterator<Item = &'a TextScores> + Clone) -> Together {
    let count = texts.clone().count();
    let rougel: f64 = texts.clone().map(|text| text.overlaps[2].f1).sum();
    Together {
        bleu4: bleu::of_corpus(&sum(texts.clone().map(|text| &text.matches)), bleu::ORDERS),
        rougel: (count > 0).then(|| rougel / count as f64),
        wer: error_rate(&sum(texts.map(|text| &text.edits))),
    }
}

/// Edits, and words of the reference, as jiwer defines them. Both add up over texts.
pub(crate) type Edits = [u64; 2];

pub(crate) fn edits_of(generated: &str, reference: &str) -> Edits {
    let (generated, reference) = numbered(words(generated), words(reference));
    [edits(&generated, &reference) as u64, reference.len() as u64]
}

/// Edits for each word of the reference; none without words.
pub(crate) fn error_rate(&[edits, words]: &Edits) -> Option<f64> {
    (words > 0).then(|| edits as f64 / words as f64)
}

/// The counts of several texts together.
pub(crate) fn sum<'a, const K: usize>(texts: impl IntoIterator<Item = &'a [u64; K]>) -> [u64; K] {
    let mut total = [0; K];
    for text in texts {
        total.iter_mut().zip(text).for_each(|(sum, count)| *sum += count);
    }
    total
}

/// The jackknife of a score of summed counts (a ratio of sums is not the mean of ratios): each unit is taken from the sums, and
/// the score is computed anew. None where there is no score without one of the units.
pub(crate) fn jackknife<const K: usize>(
    texts: &[[u64; K]],
    units: Units,
    level: f64,
    score: impl Fn(&[u64; K]) -> Option<f64>,
) -> Option<Interval> {
    let total = sum(texts);
    let (parts, name) = match units {
        Units::Single(name) => (texts.to_vec(), name),
        Units::Groups(codes, name) => (by_group(texts, codes), name),
    };
    let without = |part: &[u64; K]| score(&std::array::from_fn(|i| total[i] - part[i]));
    let replicates: Option<Vec<f64>> = parts.iter().map(without).collect();
    interval::jackknife(score(&total)?, &replicates?, name, level)
}

/// The counts of each group that has texts, in the order of the codes.
fn by_group<const K: usize>(texts: &[[u64; K]], codes: &[u32]) -> Vec<[u64; K]> {
    let groups = codes.iter().max().map_or(0, |&code| code as usize + 1);
    let mut sums: Vec<Option<[u64; K]>> = vec![None; groups];
    for (text, &code) in texts.iter().zip(codes) {
        let counts = sums[code as usize].get_or_insert([0; K]);
        *counts = sum([&*counts, text]);
    }
    sums.into_iter().flatten().collect()
}

/// What the two texts share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlap {
    /// For each word (or pair of words) of the generated text.
    pub(crate) precision: f64,
    /// For each one of the reference.
    pub(crate) recall: f64,
    pub(crate) f1: f64,
}

/// By words, by pairs of words, and by the longest common subsequence, as rouge-score has it without stemming.
pub(crate) fn overlaps(generated: &str, reference: &str) -> [Overlap; 3] {
    let (generated, reference) = (plain(generated), plain(reference));
    let (generated, reference) = numbered(between_blanks(&generated), between_blanks(&reference));
    let by_runs = |n| {
        let shared = shared_runs(&generated, &reference, n);
        Overlap::of(shared, runs(&generated, n), runs(&reference, n))
    };
    let common = longest_common(&generated, &reference);
    [
        by_runs(1),
        by_runs(2),
        Overlap::of(common, generated.len(), reference.len()),
    ]
}

/// Whether a text has a letter or digit that counts.
pub(crate) fn has_tokens(text: &str) -> bool {
    between_blanks(&plain(text)).next().is_some()
}

impl Overlap {
    fn of(shared: usize, generated: usize, reference: usize) -> Self {
        let share = |of: usize| shared as f64 / of.max(1) as f64;
        let (precision, recall) = (share(generated), share(reference));
        let f1 = if shared > 0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        };
        Overlap { precision, recall, f1 }
    }
}

#[cfg(test)]
mod tests;
