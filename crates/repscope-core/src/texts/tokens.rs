// SPDX-License-Identifier: MIT
//! Texts cut into words, as the reference program of each metric cuts them.

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
