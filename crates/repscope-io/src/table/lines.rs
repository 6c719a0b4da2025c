// SPDX-License-Identifier: MIT
//! The lines of a table, and their cells.

use csv::{ByteRecord, ReaderBuilder};

use crate::error::{Parsed, bail, problem};
use crate::plain_text::without_mark;

/// A table that can be read several times.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    delimiter: u8,
}

/// One line.
pub(super) struct Line(ByteRecord);

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Lines {
            bytes: without_mark(bytes),
            delimiter,
        }
    }

    pub(super) fn read(&self) -> impl Iterator<Item = Parsed<Line>> + use<'a> {
        ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .from_reader(self.bytes)
            .into_byte_records()
            .map(|record| match record {
                Ok(record) => Ok(Line(record)),
                Err(error) => bail!("cannot be decoded: {error}"),
            })
    }
}

impl Line {
    /// Its number in the file, from 1.
    pub(super) fn number(&self) -> u64 {
        self.0.position().map_or(0, csv::Position::line)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of a cell; a line that is too short has empty ones at its end.
    pub(super) fn cell(&self, column: usize) -> Parsed<&str> {
        str::from_utf8(self.0.get(column).unwrap_or_default())
            .map_err(|_| problem!("is not UTF-8 text in line {}; save it as UTF-8", self.number()))
    }

    pub(super) fn cells(&self) -> Parsed<Vec<String>> {
        (0..self.len())
            .map(|column| Ok(self.cell(column)?.to_string()))
            .collect()
    }
}
