// SPDX-License-Identifier: MIT
//! Texts cut into words, as the reference program of each metric cuts them, and lists of words against each other.

use std::collections::HashMap;

/// What Python calls white space: that of Unicode, and the four separators of ASCII.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// A text with blanks around the tokens of mteval-v13a, the default of sacrebleu: punctuation stands apart, but points and
/// commas within numbers and hyphens and apostrophes within words do not.
pub(super) fn spaced_13a(text: &str) -> String {
    let mut text = text.trim_end_matches(is_blank).to_string();
    // In this order: `&amp;lt;` becomes `<`.
    for (from, to) in [
        ("<skipped>", ""),
        ("-\n", ""),
        ("\n", " "),
        ("&quot;", "\""),
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ] {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    // Blanks at both ends give the first and the last character a neighbor.
    let mut spaced = vec![' '];
    for c in text.chars() {
        match c {
            ' '..='&' | '('..='+' | '/' | ':'..='@' | '['..='`' | '{'..='~' => spaced.extend([' ', c, ' ']),
            _ => spaced.push(c),
        }
    }
    spaced.push(' ');
    let is_digit = |c: char| c.is_ascii_digit();
    let is_point = |c: char| c == '.' || c == ',';
    let spaced = rewrite(&spaced, |a, b| {
        (!is_digit(a) && is_point(b)).then_some([a, ' ', b, ' '])
    });
    let spaced = rewrite(&spaced, |a, b| {
        (is_point(a) && !is_digit(b)).then_some([' ', a, ' ', b])
    });
    let spaced = rewrite(&spaced, |a, b| (is_digit(a) && b == '-').then_some([a, ' ', b, ' ']));
    spaced.into_iter().collect()
}

/// Replaces pairs of neighbors, from left to right. A character belongs to one pair at most, so in `...` every second
/// point is seen as the neighbor of the one before it and not replaced itself.
fn rewrite(text: &[char], rule: impl Fn(char, char) -> Option<[char; 4]>) -> Vec<char> {
    let mut rewritten = Vec::with_capacity(text.len() + text.len() / 4);
    let mut at = 0;
    while at < text.len() {
        match text.get(at + 1).and_then(|&next| rule(text[at], next)) {
            Some(pair) => {
                rewritten.extend(pair);
                at += 2;
            }
            None => {
                rewritten.push(text[at]);
                at += 1;
            }
        }
    }
    rewritten
}

/// What stands between blanks.
pub(super) fn between_blanks(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_blank).filter(|word| !word.is_empty())
}

/// A text in lower case with a blank for everything but a to z and 0 to 9, as rouge-score has it.
pub(super) fn plain(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    let is_kept = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit();
    lower.map(|c| if is_kept(&c) { c } else { ' ' }).collect()
}

/// The words of jiwer: two or more blanks of any kind count as a space, those at the ends do not count, and words are what
/// stands between spaces. So one tab alone does not part words.
pub(super) fn words(text: &str) -> Vec<&str> {
    let text = text.trim_matches(is_blank);
    let (mut words, mut from, mut blanks) = (Vec::new(), 0, 0..0);
    for (at, c) in text.char_indices() {
        if is_blank(c) {
            let start = if blanks.end == at && !blanks.is_empty() {
                blanks.start
            } else {
                at
            };
            blanks = start..at + c.len_utf8();
            continue;
        }
        let between = &text[blanks.clone()];
        if blanks.end == at && (between == " " || between.chars().nth(1).is_some()) {
            words.push(&text[from..blanks.start]);
            from = at;
        }
    }
    if !text.is_empty() {
        words.push(&text[from..]);
    }
    words
}

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
