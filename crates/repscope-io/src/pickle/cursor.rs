// SPDX-License-Identifier: MIT
//! Reading the arguments of pickle opcodes. Lengths are compared with the bytes that are left.

use super::damaged;
use crate::error::Parsed;

/// The bytes of a pickle that are still to come.
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn byte(&mut self) -> Parsed<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn take(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let (now, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(now)
    }

    /// An unsigned little-endian number of `width` bytes, at most 8.
    pub(super) fn number(&mut self, width: usize) -> Parsed<usize> {
        let bytes = self.take(width)?;
        let value = bytes.iter().rev().fold(0_u64, |sum, &b| sum << 8 | u64::from(b));
        usize::try_from(value).map_err(|_| damaged())
    }

    /// A byte string whose length comes before it, in `width` bytes.
    pub(super) fn counted(&mut self, width: usize) -> Parsed<&'a [u8]> {
        let length = self.number(width)?;
        self.take(length)
    }

    pub(super) fn counted_text(&mut self, width: usize) -> Parsed<String> {
        text(self.counted(width)?)
    }

    /// The bytes up to the next line feed.
    pub(super) fn line(&mut self) -> Parsed<&'a str> {
        let end = self.0.iter().position(|&b| b == b'\n').ok_or_else(damaged)?;
        let line = self.take(end)?;
        self.take(1)?;
        str::from_utf8(line).map_err(|_| damaged())
    }
}

/// UTF-8 to text.
pub(super) fn text(bytes: &[u8]) -> Parsed<String> {
    str::from_utf8(bytes).map(str::to_string).map_err(|_| damaged())
}
