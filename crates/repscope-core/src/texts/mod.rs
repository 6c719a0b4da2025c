// SPDX-License-Identifier: MIT
//! Generated texts against reference texts: what BLEU, ROUGE and the word error rate count in each pair of texts.
//!
//! `tokens` cuts texts into words, in the way of each metric's reference program; `sequences` compares two lists of words;
//! `bleu`, `rouge` and `wer` make scores of that; `sums` gives intervals to ratios of sums. Memory is proportional to the
//! length of the texts. Time too, but for ROUGE-L and the word error rate, which take one step for each pair of words.

pub(crate) mod bleu;
pub(crate) mod rouge;
mod sequences;
pub(crate) mod sums;
mod tokens;
pub(crate) mod wer;

#[cfg(test)]
mod tests;

/// What one generated text scores against its reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextScores {
    /// Sentence BLEU, 0 to 100. It is 0 where a text is empty.
    pub(crate) bleu: Option<f64>,
    /// F1 of ROUGE-1, ROUGE-2 and ROUGE-L, 0 to 1.
    pub(crate) rouge1: f64,
    pub(crate) rouge2: f64,
    pub(crate) rougel: f64,
    /// Edits for each word of the reference; none where the reference has no words.
    pub(crate) wer: Option<f64>,
    /// ROUGE-1, ROUGE-2 and ROUGE-L with precision and recall.
    pub(crate) overlaps: [rouge::Overlap; 3],
    /// What adds up over texts.
    pub(crate) matches: bleu::Counts,
    pub(crate) edits: wer::Counts,
}

/// The scores of each text against the reference at the same place.
pub(crate) fn per_sample(generated: &[String], references: &[String]) -> Vec<TextScores> {
    let pairs = generated.iter().zip(references);
    pairs
        .map(|(generated, reference)| of_pair(generated, reference))
        .collect()
}

fn of_pair(generated: &str, reference: &str) -> TextScores {
    let matches = bleu::counts(generated, reference);
    let overlaps = rouge::overlaps(generated, reference);
    let edits = wer::counts(generated, reference);
    TextScores {
        bleu: Some(bleu::of_sentence(&matches)),
        rouge1: overlaps[0].f1,
        rouge2: overlaps[1].f1,
        rougel: overlaps[2].f1,
        wer: wer::score(&edits),
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
    let rougel: f64 = texts.clone().map(|text| text.rougel).sum();
    Together {
        bleu4: bleu::of_corpus(&sums::of(texts.clone().map(|text| &text.matches)), bleu::ORDERS),
        rougel: (count > 0).then(|| rougel / count as f64),
        wer: wer::score(&sums::of(texts.map(|text| &text.edits))),
    }
}
