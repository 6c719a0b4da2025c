// SPDX-License-Identifier: MIT
//! BLEU of a corpus and of a sentence, as sacrebleu defines them. See the page of the metric.

use super::words::{between_blanks, numbered, runs, shared_runs, spaced_13a};

/// Runs of up to so many words are counted.
pub(crate) const ORDERS: usize = 4;

/// Words of both texts, the generated one first; for each order its runs that the reference has, and all of its runs.
pub(crate) type Counts = [u64; 2 + 2 * ORDERS];

/// Which orders count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orders {
    /// All: a corpus of texts too short to have any run of the highest order scores 0.
    All,
    /// Those of which there are runs.
    Effective,
}

pub(crate) fn counts(generated: &str, reference: &str) -> Counts {
    let (generated, reference) = (spaced_13a(generated), spaced_13a(reference));
    let (generated, reference) = numbered(between_blanks(&generated), between_blanks(&reference));
    let mut counts = [0; 2 + 2 * ORDERS];
    counts[0] = generated.len() as u64;
    counts[1] = reference.len() as u64;
    for n in 1..=ORDERS {
        counts[1 + n] = shared_runs(&generated, &reference, n) as u64;
        counts[1 + ORDERS + n] = runs(&generated, n) as u64;
    }
    counts
}

/// From the counts of all texts together, with runs of up to `highest` words.
pub(crate) fn of_corpus(counts: &Counts, highest: usize) -> f64 {
    score(counts, highest, Orders::All)
}

pub(crate) fn of_sentence(counts: &Counts) -> f64 {
    score(counts, ORDERS, Orders::Effective)
}

/// What a reader must know of a score of these counts.
pub(crate) fn remark(counts: &Counts, highest: usize) -> Option<String> {
    let [_, _, runs @ ..] = counts;
    let (matched, all) = runs.split_at(ORDERS);
    if all[highest - 1] == 0 {
        return Some(format!(
            "no generated text has a run of {highest} words, so the score is 0 whatever they say"
        ));
    }
    let without = matched[..highest].iter().position(|count| *count == 0)? + 1;
    (matched[0] > 0).then(|| format!("no run of {without} words is in its reference: smoothed"))
}

/// The factor for texts with fewer words than their references.
fn brevity_penalty(generated: u64, reference: u64) -> f64 {
    match generated {
        0 if reference > 0 => 0.0,
        _ if generated < reference => (1.0 - reference as f64 / generated as f64).exp(),
        _ => 1.0,
    }
}

fn score(counts: &Counts, highest: usize, orders: Orders) -> f64 {
    let [generated, reference, runs @ ..] = *counts;
    let (matched, all) = runs.split_at(ORDERS);
    // No run matches where no word does.
    if matched[0] == 0 {
        return 0.0;
    }
    let there = all[..highest].iter().take_while(|count| **count > 0).count();
    if there < highest && orders == Orders::All {
        return 0.0;
    }
    let (mut logs, mut smoothing) = (0.0, 1.0);
    for n in 0..there {
        // Without a match, as if there were 1/2, for the next such order 1/4, and so on.
        let precision = if matched[n] == 0 {
            smoothing *= 2.0;
            100.0 / (smoothing * all[n] as f64)
        } else {
            100.0 * matched[n] as f64 / all[n] as f64
        };
        logs += precision.ln();
    }
    brevity_penalty(generated, reference) * (logs / there as f64).exp()
}
