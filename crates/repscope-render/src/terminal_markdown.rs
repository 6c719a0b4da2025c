// SPDX-License-Identifier: MIT
//! Markdown pages in a terminal: the definition of a metric, read where the metric is used.
//!
//! Code, formulas between `$$` and tables are kept as they are.

use crate::Color;
use crate::table::in_words;
use crate::text::{Style, Word, columns, fill, wrap};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use repscope_core::metrics::Output;
use repscope_core::{Better, Metric};

/// Before lines that are kept as they are.
const INDENT: &str = "    ";

/// The page of a metric below a head with what there is to know at a glance of all its scores, or of one. The head stands for the
/// page's own title.
pub fn definition_card(metric: &Metric, only: Option<&Output>, width: usize, color: Color) -> String {
    let rule = Style::Dim.paint(&"─".repeat(width.min(80)), color);
    let mut facts = String::new();
    let is_shown = |output: &&Output| only.is_none_or(|only| only.id == output.id);
    for output in metric.outputs.iter().filter(is_shown) {
        let direction = match output.better {
            Better::Neither => "a description: neither higher nor lower is better".to_string(),
            better => in_words(better),
        };
        let fact = format!("  {}; {direction}; range: {}", output.about, output.range);
        facts += &format!("{}\n{}", Style::Code.paint(output.id, color), wrap(&fact, width, "  "));
    }
    let title = Style::Bold.paint(metric.title, color);
    let page = metric.definition();
    // The title of the page stands in the head already.
    let page = page.trim_start();
    let page = match page.strip_prefix("# ") {
        Some(page) => page.split_once('\n').map_or("", |(_, rest)| rest),
        None => page,
    };
    format!("{title}\n{facts}{rule}\n{}", render_page(page, width, color))
}

/// A Markdown page wrapped to `width` terminal columns.
fn render_page(markdown: &str, width: usize, color: Color) -> String {
    let mut page = Page {
        width,
        color,
        text: String::new(),
        last: Last::Start,
        letters: Vec::new(),
        styles: vec![Style::Plain],
        lists: Vec::new(),
        first: String::new(),
        link: None,
    };
    let mut events = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_MATH).into_offset_iter();
    while let Some((event, range)) = events.next() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                let inner = events.by_ref().map_while(|(event, _)| match event {
                    Event::Text(text) => Some(text.into_string()),
                    _ => None,
                });
                let code: String = inner.collect();
                page.verbatim(&code);
            }
            Event::Start(Tag::Table(_)) => {
                events.by_ref().find(|(event, _)| *event == Event::End(TagEnd::Table));
                page.verbatim(&markdown[range]);
            }
            event => page.take(event),
        }
    }
    page.text
}

/// What was written last, as far as it matters for the space between blocks.
#[derive(PartialEq)]
enum Last {
    Start,
    Heading,
    Item,
    Other,
}

/// A page as it is written.
struct Page {
    width: usize,
    color: Color,
    text: String,
    last: Last,
    /// The block that is read: its letters, and the styles that are open.
    letters: Vec<Letter>,
    styles: Vec<Style>,
    /// The lists that are open, with the number of the next item.
    lists: Vec<Option<u64>>,
    /// What the first line of the block begins with.
    first: String,
    /// Where the name of a link begins, and its address.
    link: Option<(usize, String)>,
}

struct Letter {
    c: char,
    style: Style,
}

impl Page {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Strong) => self.styles.push(Style::Bold),
            Event::Start(Tag::Emphasis) => self.styles.push(Style::Italic),
            Event::End(TagEnd::Strong | TagEnd::Emphasis) => drop(self.styles.pop()),
            Event::End(TagEnd::Heading(level)) => {
                let words = words(&self.letters, self.color);
                let length = words.iter().map(|word| word.columns + 1).sum::<usize>();
                let length = length.saturating_sub(1).min(self.width);
                self.block(Last::Heading);
                let underline = ["═", "─"].get(level as usize - 1).map(|line| line.repeat(length));
                self.text
                    .extend(underline.map(|line| format!("{}\n", Style::Dim.paint(&line, self.color))));
                self.styles.pop();
            }
            Event::Start(Tag::BlockQuote(_)) => {
                self.styles.push(Style::Italic);
                self.first = "  ".to_string();
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                self.styles.pop();
                self.first.clear();
            }
            Event::Start(Tag::List(number)) => {
                self.block(Last::Item);
                self.lists.push(number);
            }
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.last = Last::Other;
                }
            }
            Event::Start(Tag::Item) => {
                let indent = "  ".repeat(self.lists.len().saturating_sub(1));
                let number = self.lists.last_mut().and_then(Option::as_mut);
                let marker = number.map_or("•".to_string(), |number| {
                    *number += 1;
                    format!("{}.", *number - 1)
                });
                self.first = format!("{indent}{marker} ");
            }
            Event::End(TagEnd::Item) => {
                self.block(Last::Item);
                self.first.clear();
            }
            // Paragraphs within items stand apart.
            Event::Start(Tag::Paragraph) if self.last == Last::Item => self.last = Last::Other,
            Event::End(TagEnd::Paragraph) => self.block(Last::Other),
            Event::Start(Tag::Link { dest_url, .. }) => self.link = Some((self.letters.len(), dest_url.to_string())),
            Event::End(TagEnd::Link) => {
                let (start, address) = self.link.take().unwrap_or_default();
                let name: String = self.letters[start..].iter().map(|letter| letter.c).collect();
                if name != address {
                    self.push(&format!(" ({address})"), self.style());
                }
            }
            Event::Text(text) => self.push(&text, self.style()),
            Event::Code(text) => self.code(&text, '`'),
            Event::InlineMath(text) => self.code(&text, '$'),
            Event::DisplayMath(text) => {
                self.block(Last::Other);
                self.verbatim(text.trim());
            }
            Event::SoftBreak | Event::HardBreak => self.push(" ", self.style()),
            Event::Rule => {
                let rule = Style::Dim.paint(&"─".repeat(self.width.min(80)), self.color);
                self.add(&format!("{rule}\n"), Last::Other);
            }
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(Style::Plain)
    }

    fn push(&mut self, text: &str, style: Style) {
        self.letters.extend(text.chars().map(|c| Letter { c, style }));
    }

    /// Without color, code and formulas keep their marks, since nothing else would set them apart.
    fn code(&mut self, text: &str, mark: char) {
        match self.color {
            Color::Yes => self.push(text, Style::Code),
            Color::No => self.push(&format!("{mark}{text}{mark}"), Style::Code),
        }
    }

    /// Ends the block that is read, where there is one.
    fn block(&mut self, kind: Last) {
        let words = words(&std::mem::take(&mut self.letters), self.color);
        if !words.is_empty() {
            self.add(&fill(&words, self.width, &self.first), kind);
        }
    }

    /// Lines that are kept as they are.
    fn verbatim(&mut self, lines: &str) {
        let painted = |line: &str| format!("{INDENT}{}", Style::Code.paint(line.trim_end(), self.color));
        let lines = lines.lines().map(|line| format!("{}\n", painted(line).trim_end()));
        self.add(&lines.collect::<String>(), Last::Other);
    }

    /// Adds a block, with space before it except below a heading and between the items of a list.
    fn add(&mut self, block: &str, kind: Last) {
        let is_close =
            matches!(self.last, Last::Start | Last::Heading) || (self.last == Last::Item && kind == Last::Item);
        self.text += if is_close { "" } else { "\n" };
        self.text += block;
        self.last = kind;
    }
}

/// Letters, cut where lines may break: at spaces, but not inside code and formulas.
fn words(letters: &[Letter], color: Color) -> Vec<Word> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_core::metrics::find;

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
        assert_eq!(render_page("<!-- hidden", 60, Color::No), "");
        assert_eq!(render_page("", 60, Color::No), "");
    }

    #[test]
    fn a_card_starts_with_the_facts_instead_of_the_title() {
        let (metric, output) = find("rankme(variant=paper)").expect("a metric");
        let text = definition_card(metric, output, 40, Color::No);
        assert!(
            text.starts_with("RankMe\nrankme(variant=paper)\n  Garrido et al. 2023: "),
            "{text}"
        );
        let (head, page) = text.split_once(&"─".repeat(40)).expect("a rule below the facts");
        let words = head.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.ends_with("range: 1 to min(N, D)"), "{head}");
        assert!(!head.contains("variant=spec"), "{head}");
        assert!(!page.contains("# RankMe"), "{page}");
    }
}
