// SPDX-License-Identifier: MIT
//! Text for a terminal: its width in columns, wrapping, and emphasis.

use crate::Color;
use unicode_width::UnicodeWidthStr;

/// Emphasis, as a terminal shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Italic,
    Code,
    /// Something is wrong.
    Alarm,
}

impl Style {
    pub(crate) fn paint(self, text: &str, color: Color) -> String {
        let code = match (self, color) {
            (Style::Plain, _) | (_, Color::No) => return text.to_string(),
            (Style::Bold, _) => "1",
            (Style::Dim, _) => "2",
            (Style::Italic, _) => "3",
            (Style::Code, _) => "36",
            (Style::Alarm, _) => "1;31",
        };
        if text.is_empty() {
            String::new()
        } else {
            format!("\x1b[{code}m{text}\x1b[0m")
        }
    }
}

/// Terminal columns a text takes: wide characters two, combining ones none.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Spaces that bring `text` to `width` columns.
pub(crate) fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// A word that is not broken, as it is printed and as wide as it shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) columns: usize,
}

impl Word {
    pub(crate) fn plain(text: &str) -> Self {
        Word {
            text: text.to_string(),
            columns: columns(text),
        }
    }
}

/// Sets words into lines of at most `width` columns; the first line starts with `first`, the others with spaces as wide.
pub(crate) fn fill(words: &[Word], width: usize, first: &str) -> String {
    let hanging = columns(first);
    let mut text = first.to_string();
    let mut used = hanging;
    for (i, word) in words.iter().enumerate() {
        if i > 0 && used.saturating_add(1 + word.columns) > width {
            text.push('\n');
            text.push_str(&" ".repeat(hanging));
            used = hanging;
        } else if i > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(&word.text);
        used += word.columns;
    }
    text.push('\n');
    text
}

/// Sets text into lines of at most `width` columns; the first line starts with `first`, the others with spaces as wide.
pub fn wrap(text: &str, width: usize, first: &str) -> String {
    let words: Vec<Word> = text.split_whitespace().map(Word::plain).collect();
    fill(&words, width, first)
}

/// Breaks a name without spaces into lines of at most `width` columns, after punctuation where there is some.
pub(crate) fn break_name(name: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for c in name.chars() {
        line.push(c);
        if columns(&line) > width && line.chars().count() > 1 {
            let joint = line.char_indices().rev().skip(1).find(|(_, c)| "-_./: @=".contains(*c));
            // A line with very little on it would be worse than a broken word.
            let split = match joint {
                Some((at, c)) if columns(&line[..at]) * 3 >= width => at + c.len_utf8(),
                _ => line.len() - c.len_utf8(),
            };
            let rest = line.split_off(split);
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// With a capital letter first.
pub fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The items as one text, with this between them.
pub(crate) fn join(items: impl IntoIterator<Item = impl AsRef<str>>, between: &str) -> String {
    let mut text = String::new();
    for (i, item) in items.into_iter().enumerate() {
        text.push_str(if i > 0 { between } else { "" });
        text.push_str(item.as_ref());
    }
    text
}

/// Replaces control characters: what others wrote must not break a line, or speak to the terminal.
pub(crate) fn printable(text: &str) -> String {
    let replace = |c: char| match c {
        _ if !c.is_control() => c,
        _ if c.is_whitespace() => ' ',
        _ => '\u{fffd}',
    };
    text.chars().map(replace).collect()
}

/// A word that is a number, without the punctuation behind it.
fn number_in(word: &str) -> Option<f64> {
    word.trim_end_matches([',', ';', '.', ')', ':']).parse().ok()
}

/// The sentence without its numbers, by which sentences of many models are found to be alike.
pub(crate) fn without_numbers(sentence: &str) -> String {
    let words = sentence.split(' ');
    let words: Vec<&str> = words
        .map(|word| if number_in(word).is_some() { "#" } else { word })
        .collect();
    words.join(" ")
}

/// Sentences that are alike but for their numbers as one, with ranges: `at most 2 to 31`.
pub(crate) fn joined<'a>(sentences: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<Vec<&str>> = sentences.into_iter().map(|own| own.split(' ').collect()).collect();
    let Some(first) = all.first() else {
        return String::new();
    };
    let word = |(i, word): (usize, &&str)| {
        let mut known: Vec<(f64, &str)> = all
            .iter()
            .filter_map(|own| Some((number_in(own[i])?, own[i])))
            .collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        match (known.first(), known.last()) {
            (Some(low), Some(high)) if low.0 < high.0 => {
                format!("{} to {}", low.1.trim_end_matches([',', ';', '.', ')', ':']), high.1)
            }
            _ => word.to_string(),
        }
    };
    let words: Vec<String> = first.iter().enumerate().map(word).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_is_seen() {
        assert_eq!(columns("模型"), 4);
        assert_eq!(columns("e\u{301}"), 1);
    }

    #[test]
    fn wrapped_lines_hang_under_the_first() {
        assert_eq!(
            wrap("needs labels; give --labels", 16, "— nmi: "),
            "— nmi: needs\n       labels;\n       give\n       --labels\n"
        );
    }

    #[test]
    fn names_break_after_punctuation() {
        assert_eq!(
            break_name("resnet50-imagenet-seed-0", 12),
            ["resnet50-", "imagenet-", "seed-0"]
        );
        assert_eq!(break_name("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(break_name("short", 12), ["short"]);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\n"), "a\u{fffd}[31mb ");
    }

    #[test]
    fn sentences_that_differ_in_numbers_alone_are_one_with_ranges() {
        let all = ["rank 3, at most 16", "rank 5, at most 16", "rank 12, at most 16"];
        assert!(all.iter().all(|own| without_numbers(own) == "rank # at most #"));
        assert_eq!(joined(all), "rank 3 to 12, at most 16");
        assert_ne!(without_numbers("at least 3"), without_numbers("at most 3"));
    }
}
