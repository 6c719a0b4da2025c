// SPDX-License-Identifier: MIT
//! ROUGE-1, ROUGE-2 and ROUGE-L of a pair of texts, as rouge-score defines them without stemming. See the page of the metric.

use super::words::{between_blanks, longest_common, numbered, plain, runs, shared_runs};

/// What the two texts share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlap {
    /// For each word (or pair of words) of the generated text.
    pub(crate) precision: f64,
    /// For each one of the reference.
    pub(crate) recall: f64,
    pub(crate) f1: f64,
}

/// By words, by pairs of words, and by the longest common subsequence.
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
