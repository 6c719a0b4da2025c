// SPDX-License-Identifier: MIT
//! Two lists of words against each other. Words are numbers here, so that comparing two is one step.

use std::collections::HashMap;

/// The words of two texts as numbers, the same word the same number.
pub(super) fn numbered<'a>(
    a: impl IntoIterator<Item = &'a str>,
    b: impl IntoIterator<Item = &'a str>,
) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |word| {
        let next = numbers.len() as u32;
        *numbers.entry(word).or_insert(next)
    };
    let a = a.into_iter().map(&mut number).collect();
    let b = b.into_iter().map(&mut number).collect();
    (a, b)
}

/// How many runs of n words they share, each as often as both have it.
pub(super) fn shared_runs(a: &[u32], b: &[u32], n: usize) -> usize {
    let sorted = |words| {
        let mut runs: Vec<&[u32]> = <[u32]>::windows(words, n).collect();
        runs.sort_unstable();
        runs
    };
    let (a, b) = (sorted(a), sorted(b));
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    shared
}

/// How many runs of n words there are.
pub(super) fn runs(words: &[u32], n: usize) -> usize {
    (words.len() + 1).saturating_sub(n)
}

/// The length of the longest list of words that both have in this order, others between them or not.
pub(super) fn longest_common(a: &[u32], b: &[u32]) -> usize {
    let (same, long, short) = apart(a, b);
    // The row of the classical table that belongs to the words of `long` up to here.
    let mut row = vec![0u32; short.len() + 1];
    for word in long {
        let mut diagonal = 0;
        for (j, other) in short.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if word == other { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    same + row[short.len()] as usize
}

/// The fewest words to put in, take out or replace that make one list of the other (Levenshtein 1966).
pub(super) fn edits(a: &[u32], b: &[u32]) -> usize {
    let (_, long, short) = apart(a, b);
    let mut row: Vec<u32> = (0..=short.len() as u32).collect();
    for word in long {
        let mut diagonal = row[0];
        row[0] += 1;
        for (j, other) in short.iter().enumerate() {
            let above = row[j + 1];
            let replaced = diagonal + u32::from(word != other);
            row[j + 1] = replaced.min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[short.len()] as usize
}

/// How many words they share at both ends, and what is left of them, the longer first: neither table needs more.
fn apart<'a>(a: &'a [u32], b: &'a [u32]) -> (usize, &'a [u32], &'a [u32]) {
    let first = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[first..], &b[first..]);
    let last = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - last], &b[..b.len() - last]);
    if a.len() >= b.len() {
        (first + last, a, b)
    } else {
        (first + last, b, a)
    }
}
