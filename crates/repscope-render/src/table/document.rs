// SPDX-License-Identifier: MIT
//! Tables and sentences in the order in which they are read, in any format.

use super::{Table, latex, markdown, terminal};
use crate::text::{Style, printable, wrap};
use crate::{Color, Format};

/// What a command shows.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Its parts, in order.
    pub blocks: Vec<Block>,
    /// How to read all tables, said once at the end. In LaTeX, where tables end up pages apart, each table explains itself.
    pub legend: Option<Vec<String>>,
}

/// A part of a document.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)] // A document has few blocks, and most of them are tables.
pub enum Block {
    /// A table with what is said about it.
    Table(Table),
    /// The heading of the next part.
    Heading(String),
    /// Sentences.
    Text(String),
    /// Lines that are shown as they are.
    Verbatim(String),
    /// Statements, a line or an item each.
    List(Vec<Item>),
}

/// A statement of a list.
#[derive(Debug, Clone, Default)]
pub struct Item {
    /// Whether it is a check, and how it went.
    pub check: Option<Check>,
    /// What it is about; may be empty.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// It could not be decided.
    Open,
}

impl Item {
    /// A sentence without a name.
    pub fn sentence(text: impl Into<String>) -> Self {
        Item {
            text: printable(&text.into()),
            ..Item::default()
        }
    }
}

impl Item {
    /// What stands before it in a list.
    fn mark(&self) -> String {
        let mark = self.check.map(|check| match check {
            Check::Holds => "✓ ",
            Check::Fails => "✗ ",
            Check::Open => "– ",
        });
        mark.unwrap_or_default().to_string()
    }
}

impl Check {
    fn words(self) -> &'static str {
        match self {
            Check::Holds => "holds",
            Check::Fails => "does not hold",
            Check::Open => "is open",
        }
    }
}

impl From<Table> for Document {
    fn from(table: Table) -> Self {
        Document::from(vec![table])
    }
}

impl From<Vec<Table>> for Document {
    fn from(tables: Vec<Table>) -> Self {
        Document {
            blocks: tables.into_iter().map(Block::Table).collect(),
            legend: None,
        }
    }
}

impl Document {
    /// The document for reading. `width` (terminal columns) and `color` matter to [`Format::Table`] only. CSV holds one table:
    /// the first.
    pub fn render(&self, format: Format, width: usize, color: Color) -> String {
        match format {
            Format::Table => self.terminal(width, color),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
            Format::Csv => self
                .tables()
                .first()
                .map(|table| super::csv::render(table))
                .unwrap_or_default(),
        }
    }

    fn tables(&self) -> Vec<&Table> {
        let tables = self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
        tables.collect()
    }

    fn terminal(&self, width: usize, color: Color) -> String {
        let lines = |sentences: &[String]| -> String { sentences.iter().map(|s| wrap(s, width, "")).collect() };
        let mut text = String::new();
        let mut follows_heading = true;
        for block in &self.blocks {
            if !std::mem::replace(&mut follows_heading, matches!(block, Block::Heading(_))) {
                text.push('\n');
            }
            match block {
                Block::Table(table) => {
                    let (legend, own) = match self.legend {
                        None => (terminal::legend(&[table], width, color), lines(&table.legend)),
                        Some(_) => Default::default(),
                    };
                    let below = legend + &terminal::reasons(table, width) + &own + &lines(&table.remarks);
                    let is_apart = !below.is_empty() && !table.rows.is_empty();
                    let gap = if is_apart { "\n" } else { "" };
                    text += &format!("{}{gap}{below}", terminal::numbers(table, width, color));
                }
                Block::Heading(title) => text += &format!("{}\n", Style::Bold.paint(title, color)),
                Block::Text(sentences) => text += &wrap(sentences, width, ""),
                Block::Verbatim(kept) => text += kept,
                Block::List(items) => text.extend(items.iter().map(|item| {
                    let name = Some(&item.name).filter(|name| !name.is_empty());
                    let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
                    wrap(&format!("{name}{}", item.text), width, &item.mark())
                })),
            }
        }
        if let Some(legend) = &self.legend {
            text += &format!("\n{}{}", terminal::legend(&self.tables(), width, color), lines(legend));
        }
        text
    }

    fn markdown(&self) -> String {
        let escaped = |sentences: &[String]| -> Vec<String> { sentences.iter().map(|s| markdown::escape(s)).collect() };
        let mut blocks: Vec<String> = Vec::new();
        for block in &self.blocks {
            match block {
                Block::Table(table) => {
                    let (legend, own) = match self.legend {
                        None => (markdown::legend(&[table]), escaped(&table.legend)),
                        Some(_) => Default::default(),
                    };
                    let items = legend.into_iter().chain(markdown::reasons(table)).chain(own);
                    let items: Vec<String> = items.chain(escaped(&table.remarks)).collect();
                    let numbers = markdown::numbers(table);
                    blocks.extend(Some(numbers.trim_end().to_string() + "\n").filter(|text| text.len() > 1));
                    blocks.extend(Some(markdown::list(&items)).filter(|list| !list.is_empty()));
                }
                Block::Heading(title) => blocks.push(format!("**{}**\n", markdown::escape(title))),
                Block::Text(sentences) => blocks.push(format!("{}\n", markdown::escape(sentences))),
                Block::Verbatim(kept) => blocks.push(format!("```text\n{}\n```\n", kept.trim_end())),
                Block::List(items) => {
                    let item = |item: &Item| {
                        let (mark, name) = (item.mark(), Some(&item.name));
                        let name = name.filter(|name| !name.is_empty());
                        let name = name.map_or(String::new(), |name| format!("**{}**: ", markdown::escape(name)));
                        format!("{mark}{name}{}", markdown::escape(&item.text))
                    };
                    blocks.push(markdown::list(&items.iter().map(item).collect::<Vec<_>>()));
                }
            }
        }
        if let Some(legend) = &self.legend {
            let items = markdown::legend(&self.tables()).into_iter().chain(escaped(legend));
            let items: Vec<String> = items.collect();
            // A comment, or GitHub would take two lists as one.
            blocks.push(format!("<!-- -->\n\n{}", markdown::list(&items)));
        }
        blocks.join("\n")
    }

    fn latex(&self) -> String {
        let block = |block: &Block| match block {
            Block::Table(table) => latex::render(table),
            Block::Heading(title) => format!("\\paragraph{{{}}}\n", latex::escape(title)),
            Block::Text(sentences) => format!("{}\n", latex::sentence(sentences)),
            Block::Verbatim(kept) => format!("\\begin{{verbatim}}\n{kept}\\end{{verbatim}}\n"),
            Block::List(items) => {
                let item = |item: &Item| {
                    let text = latex::escape(&item.text);
                    let words = item.check.map_or(String::new(), |check| format!(" {}", check.words()));
                    match item.name.as_str() {
                        "" => format!("  \\item {text}\n"),
                        name => format!("  \\item \\emph{{{}}}{words}: {text}\n", latex::escape(name)),
                    }
                };
                let items: String = items.iter().map(item).collect();
                format!("\\begin{{itemize}}\n{items}\\end{{itemize}}\n")
            }
        };
        self.blocks.iter().map(block).collect::<Vec<_>>().join("\n")
    }
}
