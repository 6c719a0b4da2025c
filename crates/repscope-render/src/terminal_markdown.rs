// SPDX-License-Identifier: MIT
//! Markdown pages in a terminal: the definition of a metric, read where the metric is used.
//!
//! A simple reader that goes line by line. It knows headings, paragraphs, lists, quotes, rules, and blocks that are kept
//! as they are: code between fences, formulas between `$$`, and tables.

use crate::Color;
use crate::table::in_words;
use crate::text::{Style, Word, columns, fill, wrap};
use repscope_core::Better;

/// Before lines that are kept as they are.
const INDENT: &str = "    ";

/// What a definition card says about a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Card<'a> {
    /// What it is called.
    pub title: &'a str,
    /// The scores it speaks of, at least one.
    pub entries: &'a [Entry<'a>],
    /// Its Markdown page.
    pub page: &'a str,
}

/// One score of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'a> {
    /// The identity: `trustworthiness@K`.
    pub id: &'a str,
    /// What it is, in a few words.
    pub about: &'a str,
    /// Which way is better.
    pub better: Better,
    /// The values it can take, in words: "0 to 1".
    pub range: &'a str,
}

/// The page of a metric below a head with what there is to know at a glance. The head stands for the page's own title.
pub fn definition_card(card: &Card, width: usize, color: Color) -> String {
    let rule = Style::Dim.paint(&"─".repeat(width.min(80)), color);
    let mut facts = String::new();
    for entry in card.entries {
        let direction = match entry.better {
            Better::Neither => "a description: neither higher nor lower is better".to_string(),
            better => in_words(better),
        };
        let fact = format!("  {}; {direction}; range: {}", entry.about, entry.range);
        facts += &format!("{}\n{}", Style::Code.paint(entry.id, color), wrap(&fact, width, "  "));
    }
    let title = Style::Bold.paint(card.title, color);
    let mut blocks = blocks(card.page);
    if matches!(blocks.first(), Some(Block::Heading(1, _))) {
        blocks.remove(0);
    }
    format!("{title}\n{facts}{rule}\n{}", render_blocks(&blocks, width, color))
}

/// A Markdown page wrapped to `width` terminal columns.
pub fn render_page(markdown: &str, width: usize, color: Color) -> String {
    render_blocks(&blocks(markdown), width, color)
}

#[derive(Debug, PartialEq)]
enum Block {
    /// With its level, from 1.
    Heading(usize, String),
    Paragraph(String),
    Quote(String),
    /// An item of a list: how far it is indented, its marker, its text, and whether it follows another one closely.
    Item {
        indent: usize,
        marker: String,
        text: String,
        is_close: bool,
    },
    /// Lines kept as they are.
    Verbatim(Vec<String>),
    Rule,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = markdown.lines();
    // Whether a line of text continues the last block.
    let mut is_open = false;
    while let Some(line) = lines.next() {
        let text = line.trim();
        let was_open = std::mem::replace(&mut is_open, false);
        if text.is_empty() {
        } else if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence)) {
            let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with(fence));
            blocks.push(Block::Verbatim(code.map(String::from).collect()));
        } else if let Some(start) = text.strip_prefix("$$") {
            let mut formula = vec![start.trim_start().to_string()];
            while !formula.last().is_some_and(|line| line.ends_with("$$")) {
                match lines.next() {
                    Some(line) => formula.push(line.trim_end().to_string()),
                    None => break,
                }
            }
            let bare = |line: &String| line.strip_suffix("$$").unwrap_or(line).trim_end().to_string();
            let formula = formula.iter().map(bare);
            blocks.push(Block::Verbatim(formula.filter(|line| !line.is_empty()).collect()));
        } else if text.starts_with("<!--") {
            if !text.ends_with("-->") {
                lines.by_ref().find(|line| line.trim_end().ends_with("-->"));
            }
        } else if let Some((level, title)) = heading(text) {
            blocks.push(Block::Heading(level, title.to_string()));
        } else if is_rule(text) {
            blocks.push(Block::Rule);
        } else if text.starts_with('|') || is_indented_code(line, was_open, blocks.last()) {
            match blocks.last_mut() {
                Some(Block::Verbatim(kept)) if was_open => kept.push(text.to_string()),
                _ => blocks.push(Block::Verbatim(vec![text.to_string()])),
            }
            is_open = true;
        } else if let Some(marker) = list_marker(text) {
            blocks.push(Block::Item {
                indent: line.len() - line.trim_start().len(),
                marker: marker.to_string(),
                text: text[marker.len()..].trim().to_string(),
                is_close: was_open && matches!(blocks.last(), Some(Block::Item { .. })),
            });
            is_open = true;
        } else {
            let quoted = text.strip_prefix('>').map(str::trim);
            match (blocks.last_mut(), quoted) {
                (Some(Block::Quote(open)), Some(more)) if was_open => append(open, more),
                (Some(Block::Paragraph(open) | Block::Item { text: open, .. }), None) if was_open => append(open, text),
                (_, Some(quoted)) => blocks.push(Block::Quote(quoted.to_string())),
                (_, None) => blocks.push(Block::Paragraph(text.to_string())),
            }
            is_open = true;
        }
    }
    blocks
}

/// Four spaces make code, except where they carry on a paragraph or a list.
fn is_indented_code(line: &str, was_open: bool, last: Option<&Block>) -> bool {
    let is_inside = match last {
        Some(Block::Item { .. }) => true,
        Some(Block::Verbatim(_)) => false,
        _ => was_open,
    };
    line.starts_with(INDENT) && !is_inside && list_marker(line.trim()).is_none()
}

fn append(open: &mut String, more: &str) {
    open.push(' ');
    open.push_str(more);
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    (matches!(level, 1..=6) && title.starts_with(' ')).then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

fn is_rule(text: &str) -> bool {
    text.len() >= 3 && ['-', '*', '_'].iter().any(|mark| text.chars().all(|c| c == *mark))
}

/// The `-` or `1.` a list item starts with.
fn list_marker(text: &str) -> Option<&str> {
    let (marker, _) = text.split_once(' ')?;
    let number = marker.strip_suffix(['.', ')']);
    let is_number = number.is_some_and(|n| !n.is_empty() && n.len() <= 3 && n.bytes().all(|b| b.is_ascii_digit()));
    (matches!(marker, "-" | "*" | "+") || is_number).then_some(marker)
}

fn render_blocks(blocks: &[Block], width: usize, color: Color) -> String {
    let mut text = String::new();
    for (i, block) in blocks.iter().enumerate() {
        let follows_heading = i > 0 && matches!(blocks[i - 1], Block::Heading(..));
        if i > 0 && !follows_heading && !matches!(block, Block::Item { is_close: true, .. }) {
            text.push('\n');
        }
        text.push_str(&render_block(block, width, color));
    }
    text
}

fn render_block(block: &Block, width: usize, color: Color) -> String {
    match block {
        Block::Heading(level, title) => {
            let words = words(title, Style::Bold, color);
            let length = words.iter().map(|word| word.columns + 1).sum::<usize>();
            let length = length.saturating_sub(1);
            let underline = ["═", "─"].get(level - 1).map(|line| line.repeat(length.min(width)));
            let underline = underline.map(|line| format!("{}\n", Style::Dim.paint(&line, color)));
            format!("{}{}", fill(&words, width, ""), underline.unwrap_or_default())
        }
        Block::Paragraph(text) => fill(&words(text, Style::Plain, color), width, ""),
        Block::Quote(text) => fill(&words(text, Style::Italic, color), width, "  "),
        Block::Item {
            indent, marker, text, ..
        } => {
            let is_plain = matches!(marker.as_str(), "-" | "*" | "+");
            let marker = if is_plain { "•" } else { marker };
            let first = format!("{}{marker} ", " ".repeat(*indent));
            fill(&words(text, Style::Plain, color), width, &first)
        }
        Block::Verbatim(lines) => {
            let shown = lines.iter().map(|line| Style::Code.paint(line.trim_end(), color));
            shown
                .map(|line| format!("{}\n", format!("{INDENT}{line}").trim_end()))
                .collect()
        }
        Block::Rule => format!("{}\n", Style::Dim.paint(&"─".repeat(width.min(80)), color)),
    }
}

/// Text with emphasis, cut where lines may break: at spaces, but not inside code and formulas.
fn words(text: &str, style: Style, color: Color) -> Vec<Word> {
    let mut letters = Vec::new();
    read_inline(text, style, color, &mut letters);
    let mut words = Vec::new();
    for word in letters.split(|letter| letter.c.is_whitespace() && letter.style != Style::Code) {
        let runs = word.chunk_by(|a, b| a.style == b.style);
        let plain: String = word.iter().map(|letter| letter.c).collect();
        let painted = runs.map(|run| {
            let text: String = run.iter().map(|letter| letter.c).collect();
            run[0].style.paint(&text, color)
        });
        if !plain.is_empty() {
            words.push(Word {
                text: painted.collect(),
                columns: columns(&plain),
            });
        }
    }
    words
}

struct Letter {
    c: char,
    style: Style,
}

/// Takes Markdown's marks away; without color, code and formulas keep theirs, since nothing else would set them apart.
fn read_inline(text: &str, style: Style, color: Color, letters: &mut Vec<Letter>) {
    let mut rest = text;
    let mut previous = ' ';
    while let Some(c) = rest.chars().next() {
        let mut push = |text: &str, style| letters.extend(text.chars().map(|c| Letter { c, style }));
        let length = match span(rest, previous) {
            Some((Span::Emphasis(emphasis, inner), length)) => {
                read_inline(inner, emphasis, color, letters);
                length
            }
            Some((Span::Verbatim(inner), length)) => {
                push(if color == Color::Yes { inner } else { &rest[..length] }, Style::Code);
                length
            }
            Some((Span::Link(name, address), length)) => {
                read_inline(name, style, color, letters);
                if name != address {
                    letters.extend(format!(" ({address})").chars().map(|c| Letter { c, style }));
                }
                length
            }
            Some((Span::Escaped(inner), length)) => {
                push(inner, style);
                length
            }
            None => {
                push(&rest[..c.len_utf8()], style);
                c.len_utf8()
            }
        };
        previous = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
}

enum Span<'a> {
    Emphasis(Style, &'a str),
    Verbatim(&'a str),
    Link(&'a str, &'a str),
    Escaped(&'a str),
}

/// The span that starts `rest`, and its length in bytes.
fn span(rest: &str, previous: char) -> Option<(Span<'_>, usize)> {
    let is_inside_word = previous.is_alphanumeric();
    match rest.as_bytes()[0] {
        b'\\' if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) => Some((Span::Escaped(&rest[1..2]), 2)),
        b'`' => {
            let marks = rest.len() - rest.trim_start_matches('`').len();
            let inner = &rest[marks..];
            let end = inner.find(&rest[..marks])?;
            Some((Span::Verbatim(inner[..end].trim()), end + 2 * marks))
        }
        b'$' => delimited(rest, "$").map(|(inner, length)| (Span::Verbatim(inner), length)),
        b'*' => {
            let bold = delimited(rest, "**").map(|(inner, length)| (Span::Emphasis(Style::Bold, inner), length));
            bold.or_else(|| delimited(rest, "*").map(|(inner, length)| (Span::Emphasis(Style::Italic, inner), length)))
        }
        // `participation_ratio` is a name, not an emphasis.
        b'_' if !is_inside_word => {
            let (inner, length) = delimited(rest, "_")?;
            let is_word_end = !rest[length..].starts_with(char::is_alphanumeric);
            is_word_end.then_some((Span::Emphasis(Style::Italic, inner), length))
        }
        b'<' if rest[1..].starts_with("http") => {
            let end = rest.find('>')?;
            Some((Span::Link(&rest[1..end], &rest[1..end]), end + 1))
        }
        b'[' => {
            let middle = rest.find(']').filter(|at| rest[*at..].starts_with("]("))?;
            let end = middle + rest[middle..].find(')')?;
            Some((Span::Link(&rest[1..middle], &rest[middle + 2..end]), end + 1))
        }
        _ => None,
    }
}

/// Text between two of these marks, with no space inside next to them; the length counts the marks.
fn delimited<'a>(rest: &'a str, mark: &str) -> Option<(&'a str, usize)> {
    let inner = rest.strip_prefix(mark)?;
    let inner = &inner[..inner.find(mark)?];
    let is_tight = !inner.is_empty() && inner.trim() == inner;
    is_tight.then_some((inner, inner.len() + 2 * mark.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r"# Trustworthiness

How far the **neighbors** of a row in the *latent* space are its neighbors in the
input space too: `sklearn.manifold.trustworthiness`, where $r(i, j)$ is the rank.

$$
T(k) = 1 - \frac{2}{nk(2n-3k-1)} \sum_i \sum_{j \in U_k(i)} (r(i,j) - k)
$$

## Conventions

- self is excluded by index: duplicates also have distance 0,
  and the item goes on
- ties: the lower index first
  - a nested item

1. k \* 2 < n

| k | value |
|---|-------|
| 5 | 0.95  |

```sh
repscope neighborhood --k 5

```

### Reference
Venna and Kaski (2001), [paper](https://example.org/x), see two_nn and participation_ratio.
";

    #[test]
    fn a_page_is_wrapped_and_its_formulas_are_kept() {
        let expected = r"Trustworthiness
═══════════════
How far the neighbors of a row in the latent space are its
neighbors in the input space too:
`sklearn.manifold.trustworthiness`, where $r(i, j)$ is the
rank.

    T(k) = 1 - \frac{2}{nk(2n-3k-1)} \sum_i \sum_{j \in U_k(i)} (r(i,j) - k)

Conventions
───────────
• self is excluded by index: duplicates also have distance
  0, and the item goes on
• ties: the lower index first
  • a nested item

1. k * 2 < n

    | k | value |
    |---|-------|
    | 5 | 0.95  |

    repscope neighborhood --k 5


Reference
Venna and Kaski (2001), paper (https://example.org/x), see
two_nn and participation_ratio.
";
        assert_eq!(render_page(PAGE, 60, Color::No), expected);
    }

    #[test]
    fn color_takes_the_place_of_marks() {
        let text = render_page("**Bold words** and `code` and $x$.", 60, Color::Yes);
        assert_eq!(
            text,
            "\x1b[1mBold\x1b[0m \x1b[1mwords\x1b[0m and \x1b[36mcode\x1b[0m and \x1b[36mx\x1b[0m.\n"
        );
    }

    #[test]
    fn marks_without_a_partner_are_text() {
        for text in [
            "2 * 3 * 4",
            "a ** b",
            "costs $5",
            "`open",
            "[a] (b)",
            "snake_case_name",
            "a < b",
        ] {
            assert_eq!(render_page(text, 60, Color::No), format!("{text}\n"));
        }
    }

    #[test]
    fn brackets_before_a_link_stay_outside_of_it() {
        assert_eq!(render_page("[0, 1], [a](b)", 60, Color::No), "[0, 1], a (b)\n");
    }

    #[test]
    fn indented_lines_are_one_block() {
        assert_eq!(
            render_page("So:\n\n    a = 1\n    b = 2\n\nand", 60, Color::No),
            "So:\n\n    a = 1\n    b = 2\n\nand\n"
        );
    }

    #[test]
    fn unfinished_blocks_end_with_the_page() {
        assert_eq!(render_page("```\ncode", 60, Color::No), "    code\n");
        assert_eq!(render_page("$$\nx = 1", 60, Color::No), "    x = 1\n");
        assert_eq!(render_page("<!-- hidden", 60, Color::No), "");
        assert_eq!(render_page("", 60, Color::No), "");
    }

    #[test]
    fn a_card_starts_with_the_facts_instead_of_the_title() {
        let page = "# Trustworthiness\n\nHow far neighbors agree.\n";
        let entry = Entry {
            id: "trustworthiness@K",
            about: "near stays near",
            better: Better::Higher,
            range: "0 to 1",
        };
        let card = Card {
            title: "Trustworthiness",
            entries: &[entry],
            page,
        };
        let expected = "\
Trustworthiness
trustworthiness@K
  near stays near; ↑ higher is better;
  range: 0 to 1
────────────────────────────────────────
How far neighbors agree.
";
        assert_eq!(definition_card(&card, 40, Color::No), expected);
    }
}
