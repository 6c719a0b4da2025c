// SPDX-License-Identifier: MIT
//! Tables of flatbuffers, in which Arrow writes what it says of its bytes. Every place is looked up within the message: what leads out of
//! it is damage.

use crate::error::{Parsed, Problem};

/// Where a table lies in a message.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

pub(super) fn damaged() -> Problem {
    Problem::new("is damaged: what it says of its columns leads nowhere")
}

fn bytes<const N: usize>(bytes: &[u8], at: usize) -> Parsed<[u8; N]> {
    let end = at.checked_add(N).ok_or_else(damaged)?;
    let found = bytes.get(at..end).and_then(|found| found.first_chunk::<N>());
    found.copied().ok_or_else(damaged)
}

impl<'a> Table<'a> {
    /// The outermost table.
    pub(super) fn root(message: &'a [u8]) -> Parsed<Self> {
        let at = u32::from_le_bytes(bytes(message, 0)?) as usize;
        Ok(Table { bytes: message, at })
    }

    /// Where a field is; none where it has its default.
    fn field(&self, number: usize) -> Parsed<Option<usize>> {
        let back = i64::from(i32::from_le_bytes(bytes(self.bytes, self.at)?));
        let fields = usize::try_from(self.at as i64 - back).map_err(|_| damaged())?;
        let size = usize::from(u16::from_le_bytes(bytes(self.bytes, fields)?));
        let place = 4 + 2 * number;
        if place + 2 > size {
            return Ok(None);
        }
        let place = fields.checked_add(place).ok_or_else(damaged)?;
        let offset = usize::from(u16::from_le_bytes(bytes(self.bytes, place)?));
        Ok((offset > 0).then_some(self.at + offset))
    }

    pub(super) fn byte(&self, number: usize) -> Parsed<u8> {
        let read = |at| bytes::<1>(self.bytes, at).map(|[byte]| byte);
        self.field(number)?.map_or(Ok(0), read)
    }

    pub(super) fn short(&self, number: usize) -> Parsed<i16> {
        let read = |at| bytes(self.bytes, at).map(i16::from_le_bytes);
        self.field(number)?.map_or(Ok(0), read)
    }

    pub(super) fn int(&self, number: usize) -> Parsed<i32> {
        let read = |at| bytes(self.bytes, at).map(i32::from_le_bytes);
        self.field(number)?.map_or(Ok(0), read)
    }

    pub(super) fn long(&self, number: usize) -> Parsed<i64> {
        let read = |at| bytes(self.bytes, at).map(i64::from_le_bytes);
        self.field(number)?.map_or(Ok(0), read)
    }

    /// A table within this one.
    pub(super) fn table(&self, number: usize) -> Parsed<Option<Table<'a>>> {
        let Some(at) = self.place(number)? else {
            return Ok(None);
        };
        Ok(Some(Table { bytes: self.bytes, at }))
    }

    pub(super) fn text(&self, number: usize) -> Parsed<&'a str> {
        let Some(at) = self.place(number)? else {
            return Ok("");
        };
        let length = u32::from_le_bytes(bytes(self.bytes, at)?) as usize;
        let text = self.bytes.get(at + 4..).and_then(|rest| rest.get(..length));
        str::from_utf8(text.ok_or_else(damaged)?).map_err(|_| damaged())
    }

    /// Tables in a row.
    pub(super) fn tables(&self, number: usize) -> Parsed<Vec<Table<'a>>> {
        let (at, count) = self.vector(number, 4)?;
        let table = |i: usize| {
            let own = at + 4 * i;
            let at = own.checked_add(u32::from_le_bytes(bytes(self.bytes, own)?) as usize);
            let at = at.ok_or_else(damaged)?;
            Ok(Table { bytes: self.bytes, at })
        };
        (0..count).map(table).collect()
    }

    /// One of the pairs of 64-bit numbers in a row. They are looked up, not read as a whole: each column needs a few.
    pub(super) fn pair(&self, number: usize, i: usize) -> Parsed<[i64; 2]> {
        let (at, count) = self.vector(number, 16)?;
        if i >= count {
            return Err(damaged());
        }
        let long = |at| bytes(self.bytes, at).map(i64::from_le_bytes);
        Ok([long(at + 16 * i)?, long(at + 16 * i + 8)?])
    }

    fn place(&self, number: usize) -> Parsed<Option<usize>> {
        let Some(at) = self.field(number)? else {
            return Ok(None);
        };
        let offset = u32::from_le_bytes(bytes(self.bytes, at)?) as usize;
        at.checked_add(offset).map(Some).ok_or_else(damaged)
    }

    /// Where the first item is, and how many items of this size there are: as many as fit into the message.
    fn vector(&self, number: usize, size: usize) -> Parsed<(usize, usize)> {
        let Some(at) = self.place(number)? else {
            return Ok((0, 0));
        };
        let count = u32::from_le_bytes(bytes(self.bytes, at)?) as usize;
        let left = self.bytes.len().saturating_sub(at + 4);
        if count.checked_mul(size).is_none_or(|all| all > left) {
            return Err(damaged());
        }
        Ok((at + 4, count))
    }
}
