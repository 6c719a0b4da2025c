// SPDX-License-Identifier: MIT
//! The columns of an Arrow file.

use super::table::{Table, damaged};
use crate::element::Element;
use crate::error::{Parsed, bail};

/// Columns within columns go no deeper.
const DEEPEST: usize = 32;

/// A column may be said to be within several others; in all there are no more than this.
const MOST: usize = 1 << 20;

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
    /// The kind of the codes and the number of the dictionary they look up.
    pub dictionary: Option<(Element, i64)>,
    /// How many entries of nodes and of buffers it has in a batch; none for a kind whose number differs between batches.
    pub parts: Option<(usize, usize)>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number(Element),
    Bool,
    /// Texts, whose places are of 64 bits where they are large.
    Text {
        is_large: bool,
    },
    /// Lists of numbers.
    List(Lists, Element),
    /// What is not read, by name.
    Other(&'static str),
}

/// How long lists are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lists {
    Of(usize),
    Varying { is_large: bool },
}

impl Field {
    /// The columns of a schema.
    pub(super) fn all(tables: Vec<Table>) -> Parsed<Vec<Field>> {
        let mut left = MOST;
        tables
            .into_iter()
            .map(|table| Field::read(table, 0, &mut left))
            .collect()
    }

    /// `left` is how many more there may be.
    fn read(table: Table, depth: usize, left: &mut usize) -> Parsed<Field> {
        if depth > DEEPEST || *left == 0 {
            return Err(damaged());
        }
        *left -= 1;
        let children = table.tables(5)?;
        let children = children.into_iter().map(|child| Field::read(child, depth + 1, left));
        let children = children.collect::<Parsed<Vec<Field>>>()?;
        let code = table.byte(2)?;
        let (kind, own) = kind(code, table.table(3)?, &children)?;
        let dictionary = match table.table(4)? {
            Some(encoding) => {
                let codes = encoding.table(1)?.map_or(Ok(Some(Element::I32)), integer)?;
                Some((codes.ok_or_else(damaged)?, encoding.long(0)?))
            }
            None => None,
        };
        // Codes stand in place of the values.
        let parts = match dictionary {
            Some(_) => Some((1, 2)),
            None => own.and_then(|own| {
                children.iter().try_fold((1_usize, own), |(nodes, buffers), child| {
                    let (more_nodes, more_buffers) = child.parts?;
                    Some((nodes + more_nodes, buffers + more_buffers))
                })
            }),
        };
        Ok(Field {
            name: table.text(0)?.to_string(),
            kind,
            dictionary,
            parts,
        })
    }

    /// How messages call the type; none for one that is not read.
    pub(super) fn dtype(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Number(element) | Kind::List(_, element) => Some(element.name()),
            Kind::Bool => Some("bool"),
            Kind::Text { .. } => Some("str"),
            Kind::Other(_) => None,
        }
    }
}

/// The kind of a column, and how many buffers it has beside those of its children.
fn kind(code: u8, table: Option<Table>, children: &[Field]) -> Parsed<(Kind, Option<usize>)> {
    let table = || table.ok_or_else(damaged);
    let item = || match children {
        [
            Field {
                kind: Kind::Number(element),
                dictionary: None,
                ..
            },
        ] => Some(*element),
        _ => None,
    };
    let list = |lists: Lists| {
        item().map_or(Kind::Other("lists of other things than numbers"), |item| {
            Kind::List(lists, item)
        })
    };
    Ok(match code {
        1 => (Kind::Other("nothing"), Some(0)),
        2 => (
            integer(table()?)?.map_or(Kind::Other("integers of another size"), Kind::Number),
            Some(2),
        ),
        3 => {
            let element = match table()?.short(0)? {
                0 => Element::F16,
                1 => Element::F32,
                2 => Element::F64,
                _ => return Err(damaged()),
            };
            (Kind::Number(element), Some(2))
        }
        4 | 19 => (Kind::Other("bytes"), Some(3)),
        5 => (Kind::Text { is_large: false }, Some(3)),
        6 => (Kind::Bool, Some(2)),
        7 => (Kind::Other("decimal numbers"), Some(2)),
        8..=11 | 18 => (Kind::Other("times"), Some(2)),
        12 => (list(Lists::Varying { is_large: false }), Some(2)),
        13 => (Kind::Other("records"), Some(1)),
        15 => (Kind::Other("bytes"), Some(2)),
        16 => {
            let Ok(size) = usize::try_from(table()?.int(0)?) else {
                bail!("is damaged: it has lists of negative length");
            };
            (list(Lists::Of(size)), Some(1))
        }
        17 => (Kind::Other("maps"), Some(2)),
        20 => (Kind::Text { is_large: true }, Some(3)),
        21 => (list(Lists::Varying { is_large: true }), Some(2)),
        22 => (Kind::Other("runs"), Some(0)),
        25 | 26 => (Kind::Other("views of lists"), Some(3)),
        23 | 24 => (Kind::Other("views of texts"), None),
        _ => (Kind::Other("a kind that is not known"), None),
    })
}

fn integer(table: Table) -> Parsed<Option<Element>> {
    Ok(match (table.int(0)?, table.byte(1)? != 0) {
        (8, true) => Some(Element::I8),
        (8, false) => Some(Element::U8),
        (16, true) => Some(Element::I16),
        (16, false) => Some(Element::U16),
        (32, true) => Some(Element::I32),
        (32, false) => Some(Element::U32),
        (64, true) => Some(Element::I64),
        (64, false) => Some(Element::U64),
        _ => None,
    })
}
