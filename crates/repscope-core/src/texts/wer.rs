// SPDX-License-Identifier: MIT
//! The word error rate, as jiwer defines it. See the page of the metric.

use super::sequences::{edits, numbered};
use super::tokens::words;

/// Edits, and words of the reference. Both add up over texts.
pub(crate) type Counts = [u64; 2];

pub(crate) fn counts(generated: &str, reference: &str) -> Counts {
    let (generated, reference) = numbered(words(generated), words(reference));
    [edits(&generated, &reference) as u64, reference.len() as u64]
}

/// Edits for each word of the reference; none without words.
pub(crate) fn score(&[edits, words]: &Counts) -> Option<f64> {
    (words > 0).then(|| edits as f64 / words as f64)
}
