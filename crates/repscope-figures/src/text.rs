// SPDX-License-Identifier: MIT
//! How wide text is, and what to do with text that is too wide.
//!
//! Widths are sums of advances without kerning, which only draws letters together: a measured box is never too small.

use crate::content::Weight;
use std::sync::OnceLock;
use ttf_parser::Face;

/// Regular letters.
pub(crate) static REGULAR: &[u8] = include_bytes!("../fonts/Inter-Regular.ttf");
/// Bold letters.
pub(crate) static BOLD: &[u8] = include_bytes!("../fonts/Inter-SemiBold.ttf");
/// Behind the built-in family come those that look most like it.
pub(crate) const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";

/// Height of capitals and digits over the baseline, in units of the font size.
pub(crate) const CAPITAL: f64 = 0.73;
/// Height of the tallest common letters over the baseline.
pub(crate) const ASCENT: f64 = 0.78;
/// Depth of the deepest common letters below it.
pub(crate) const DESCENT: f64 = 0.22;
/// Distance of baselines.
pub(crate) const LINE: f64 = 1.25;

pub(crate) fn face(weight: Weight) -> &'static Face<'static> {
    static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
    let parse = |bytes| Face::parse(bytes, 0).expect("the built-in font is read by the tests");
    let faces = FACES.get_or_init(|| [parse(REGULAR), parse(BOLD)]);
    match weight {
        Weight::Regular => &faces[0],
        Weight::Bold => &faces[1],
    }
}

/// Width of one line of text at this size.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    text.chars().map(|c| advance(c, weight)).sum::<f64>() * size
}

/// Width of one letter in units of the font size.
fn advance(c: char, weight: Weight) -> f64 {
    let face = face(weight);
    match face.glyph_index(c) {
        Some(glyph) => f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(face.units_per_em()),
        // Another font will draw it: ideographs are one em wide in all of them, other letters less.
        None => 1.0,
    }
}

/// Width of the widest of these lines.
pub(crate) fn widest<'a>(lines: impl Iterator<Item = &'a str>, size: f64, weight: Weight) -> f64 {
    lines.map(|line| width(line, size, weight)).fold(0.0, f64::max)
}

/// Whether the built-in font lacks a letter of the text.
pub(crate) fn has_foreign_letters(text: &str) -> bool {
    let face = face(Weight::Regular);
    text.chars().any(|c| !c.is_control() && face.glyph_index(c).is_none())
}

/// Text as it can stand in a drawing: line ends and tabs are blanks, other control characters are marked as unreadable.
pub(crate) fn clean(text: &str) -> String {
    let letter = |c: char| match c {
        '\t' | '\n' | '\r' => ' ',
        c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => '\u{FFFD}',
        c => c,
    };
    text.trim().chars().map(letter).collect()
}

/// The text, or its beginning and end around an ellipsis. Names of models differ at their ends, so both are kept.
pub(crate) fn shorten(text: &str, most: f64, size: f64, weight: Weight) -> String {
    if width(text, size, weight) <= most {
        return text.to_string();
    }
    let letters: Vec<char> = text.chars().collect();
    for kept in (0..most_kept(&letters, most, size, weight)).rev() {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let mut shorter: String = letters[..head].iter().collect();
        shorter.push('…');
        shorter.extend(&letters[letters.len() - tail..]);
        if width(&shorter, size, weight) <= most {
            return shorter;
        }
    }
    String::new()
}

/// As many letters as can be kept of a text that is too wide, or some more: a name may have any length, so that not every number is tried.
fn most_kept(letters: &[char], most: f64, size: f64, weight: Weight) -> usize {
    // Sums in another order than that of `width` may differ in the last digits.
    let room = most / size * (1.0 + 1e-6) + 1e-6;
    let mut taken = advance('…', weight);
    for kept in 1..letters.len() {
        // From both ends in turn, as they are kept.
        let at = if kept % 2 == 1 {
            kept / 2
        } else {
            letters.len() - kept / 2
        };
        taken += advance(letters[at], weight);
        if taken > room {
            return kept;
        }
    }
    letters.len()
}

/// Lines no wider than `most`, broken at blanks and, within long words, behind `_ - . /` or anywhere if need be.
pub(crate) fn wrap(text: &str, most: f64, size: f64, weight: Weight) -> Vec<String> {
    let fits = |line: &str| width(line.trim_end(), size, weight) <= most;
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        if fits(&format!("{line}{piece}")) {
            line.push_str(&piece);
            continue;
        }
        if !line.trim().is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line.clear();
        // Sums as `width` makes them: of all letters, and without the blanks at the end.
        let (mut sum, mut sum_trimmed, mut count) = (0.0, 0.0, 0);
        for letter in piece.chars() {
            let own = advance(letter, weight);
            let (longer, trimmed) = (sum + own, if letter.is_whitespace() { sum_trimmed } else { sum + own });
            if trimmed * size > most && count > 0 {
                lines.push(std::mem::replace(&mut line, letter.to_string()));
                (sum, count) = (own, 1);
                sum_trimmed = if letter.is_whitespace() { 0.0 } else { own };
            } else {
                line.push(letter);
                (sum, sum_trimmed, count) = (longer, trimmed, count + 1);
            }
        }
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines.iter().map(|line| line.trim().to_string()).collect()
}

/// The text cut behind each place where a line may end.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let letters: Vec<char> = text.chars().collect();
    for (at, &c) in letters.iter().enumerate() {
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
        // A number such as 0.95 or −3 stays whole, and so does a pair of signs.
        let next = letters.get(at + 1);
        let in_name = matches!(c, '_' | '-' | '/' | '.') && next.is_some_and(|n| n.is_alphabetic()) && at > 0;
        // `trustworthiness@5` may break before the `@`.
        let before_at = next == Some(&'@') && at > 2;
        // An arrow behind a name belongs to it, and an equation is one piece.
        let blank = c == ' ' && !matches!(next, Some('↑' | '↓' | '=')) && (at == 0 || letters[at - 1] != '=');
        if blank || in_name || before_at {
            pieces.push(String::new());
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_font_has_the_letters_of_figures() {
        for c in "azAZ09⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉↑↓→·−±×≥≤≈σαβλμΔρτ…–—‖√∞°%•□".chars()
        {
            for weight in [Weight::Regular, Weight::Bold] {
                assert!(face(weight).glyph_index(c).is_some(), "no glyph for {c}");
            }
        }
    }

    #[test]
    fn a_shortened_name_keeps_its_beginning_and_its_end() {
        let name = "vit_large_patch14_dinov2.lvd142m-seed-3";
        let short = shorten(name, 60.0, 7.0, Weight::Regular);
        assert!(width(&short, 7.0, Weight::Regular) <= 60.0);
        assert!(
            short.starts_with("vit") && short.contains('…') && short.ends_with("-3"),
            "{short}"
        );
    }

    #[test]
    fn a_name_of_any_length_is_shortened_as_if_every_number_of_letters_were_tried() {
        let every = |text: &str, most: f64| {
            let letters: Vec<char> = text.chars().collect();
            (0..letters.len())
                .rev()
                .map(|kept| {
                    let ends = [
                        &letters[..kept.div_ceil(2)],
                        &['…'],
                        &letters[letters.len() - kept / 2..],
                    ];
                    ends.concat().into_iter().collect::<String>()
                })
                .find(|shorter| width(shorter, 7.0, Weight::Regular) <= most)
        };
        for text in [
            "vit_large_patch14",
            "WWWWiiiiWWWW",
            "日本語のラベル",
            "a\u{301}\u{301}\u{301}b",
        ] {
            for most in 0..80 {
                let most = f64::from(most);
                if width(text, 7.0, Weight::Regular) > most {
                    let expected = every(text, most).unwrap_or_default();
                    assert_eq!(shorten(text, most, 7.0, Weight::Regular), expected, "{text} {most}");
                }
            }
        }
        assert_eq!(shorten(&"a".repeat(1_000_000), 0.0, 7.0, Weight::Regular), "");
        assert!(wrap(&"\u{301}".repeat(1_000_000), 50.0, 7.0, Weight::Regular).len() <= 1_000_000);
    }

    #[test]
    fn wrapped_lines_fit_and_lose_no_letter() {
        let name = "vit_large_patch14_dinov2.lvd142m-seed-3 at 0.95 of 12";
        for most in [10.0, 30.0, 60.0, 100.0, 500.0] {
            let lines = wrap(name, most, 7.0, Weight::Regular);
            assert!(
                lines.iter().all(|line| width(line, 7.0, Weight::Regular) <= most),
                "{lines:?}"
            );
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(name));
        }
    }

    #[test]
    fn letters_of_other_scripts_have_a_width() {
        assert_eq!(width("模型", 10.0, Weight::Regular), 20.0);
        assert!(has_foreign_letters("模型") && !has_foreign_letters("σ ≥ 10⁻³"));
    }
}
