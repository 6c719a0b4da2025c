// SPDX-License-Identifier: MIT
//! What the footer and the page headers of a `.parquet` file claim, looked at before the decoder takes memory for it.
//!
//! Both are Thrift structs in the compact protocol. Nothing is copied and no length is believed beyond the bytes that are there.

use crate::error::{Parsed, bail};
use crate::memory;

/// Groups within groups go no deeper than this; real tables have three or four levels.
const DEEPEST: usize = 64;

/// The best that gzip does: bytes out of one.
pub(super) const GZIP_RATIO: u64 = 1032;

/// The best that zstd does: a block of 128 KiB out of four bytes.
pub(super) const ZSTD_RATIO: u64 = 32768;

/// What the pages of a column chunk claim.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    /// How many values they have.
    pub(super) values: u64,
    /// How many bytes the largest has when it is unpacked.
    pub(super) largest: u64,
}

/// Kinds of values in the compact protocol.
mod kind {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BYTES: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const MAP: u8 = 11;
    pub(super) const STRUCT: u8 = 12;
    pub(super) const UUID: u8 = 13;
}

/// Checks the tree of columns in the footer: a node claims how many children it has, and the decoder makes room for them.
pub(super) fn check_footer(file: &[u8]) -> Parsed<()> {
    let Some((rest, magic)) = file.split_last_chunk::<4>() else {
        return Ok(()); // the decoder says what is wrong with it
    };
    let Some((rest, length)) = rest.split_last_chunk::<4>().filter(|_| magic == b"PAR1") else {
        return Ok(());
    };
    let length = u32::from_le_bytes(*length) as usize;
    let Some(start) = rest.len().checked_sub(length) else {
        return Ok(());
    };
    let mut children = Vec::new();
    Cursor(&rest[start..]).fields(&mut |cursor, field, kind| {
        if (field, kind) != (2, kind::LIST) {
            return Ok(false);
        }
        let (count, own) = cursor.list()?;
        if own != kind::STRUCT {
            bail!("is damaged: its schema is no list of columns");
        }
        for _ in 0..count {
            let mut claimed = 0;
            cursor.fields(&mut |cursor, field, kind| {
                let is_count = (field, kind) == (5, kind::I32);
                if is_count {
                    claimed = cursor.number()?;
                }
                Ok(is_count)
            })?;
            children.push(claimed);
        }
        Ok(true)
    })?;
    check_tree(&children)
}

/// The nodes come in the order of a walk from the root, each before its children.
fn check_tree(children: &[i64]) -> Parsed<()> {
    // How many children are still to come on each level above.
    let mut open: Vec<i64> = Vec::new();
    for (at, &claimed) in children.iter().enumerate() {
        let after = (children.len() - at - 1) as i64;
        if !(0..=after).contains(&claimed) {
            bail!("is damaged: a group of columns claims {claimed} parts, and {after} follow");
        }
        if let Some(last) = open.last_mut() {
            *last -= 1;
        }
        if claimed > 0 {
            open.push(claimed);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEEPEST {
            bail!("has columns within columns deeper than {DEEPEST} levels");
        }
    }
    Ok(())
}

/// Checks the pages of a column chunk before they are decoded: at most `most` bytes come out of one.
pub(super) fn check_pages(chunk: &[u8], most: u64) -> Parsed<Claimed> {
    let mut cursor = Cursor(chunk);
    let mut claimed = Claimed { values: 0, largest: 0 };
    while !cursor.0.is_empty() {
        let (mut unpacked, mut packed, mut count) = (0_i64, 0_i64, 0_i64);
        cursor.fields(&mut |cursor, field, kind| {
            match (field, kind) {
                (2, kind::I32) => unpacked = cursor.number()?,
                (3, kind::I32) => packed = cursor.number()?,
                // The headers of data pages, version 1 and 2.
                (5 | 8, kind::STRUCT) => cursor.fields(&mut |cursor, field, kind| {
                    let is_count = (field, kind) == (1, kind::I32);
                    if is_count {
                        count = cursor.number()?;
                    }
                    Ok(is_count)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let (Ok(unpacked), Ok(packed), Ok(count)) =
            (u64::try_from(unpacked), usize::try_from(packed), u64::try_from(count))
        else {
            bail!("is damaged: a page claims {packed} bytes, {unpacked} when unpacked, and {count} values");
        };
        if unpacked / most > packed as u64 {
            bail!("is damaged: a page claims {unpacked} bytes out of {packed}, and at most {most} come out of one");
        }
        memory::check(Some(unpacked))?;
        cursor.take(packed)?;
        claimed.values = claimed.values.saturating_add(count);
        claimed.largest = claimed.largest.max(unpacked);
    }
    Ok(claimed)
}

/// What is left to read.
struct Cursor<'a>(&'a [u8]);

/// Reads a field if it is wanted; otherwise leaves it and returns false.
type Visit<'a, 'b> = &'b mut dyn FnMut(&mut Cursor<'a>, i64, u8) -> Parsed<bool>;

impl<'a> Cursor<'a> {
    /// Passes every field of a struct to `visit`; what that leaves is skipped.
    fn fields(&mut self, visit: Visit<'a, '_>) -> Parsed<()> {
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if kind == kind::STOP {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.number()?,
                step => field.saturating_add(i64::from(step)),
            };
            if !visit(self, field, kind)? {
                self.skip(kind, DEEPEST)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Parsed<()> {
        let Some(depth) = depth.checked_sub(1) else {
            bail!("is damaged: its footer is nested deeper than {DEEPEST} levels");
        };
        match kind {
            kind::TRUE | kind::FALSE => {}
            kind::BYTE => drop(self.byte()?),
            kind::I16 | kind::I32 | kind::I64 => drop(self.varint()?),
            kind::DOUBLE => self.take(8)?,
            kind::UUID => self.take(16)?,
            kind::BYTES => {
                let length = self.varint()?;
                self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
            }
            kind::LIST | kind::SET => {
                let (count, own) = self.list()?;
                for _ in 0..count {
                    self.element(own, depth)?;
                }
            }
            kind::MAP => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 0x0f, depth)?;
                }
            }
            kind::STRUCT => loop {
                let head = self.byte()?;
                if head & 0x0f == kind::STOP {
                    break;
                }
                if head >> 4 == 0 {
                    self.varint()?;
                }
                self.skip(head & 0x0f, depth)?;
            },
            other => bail!("is damaged: its footer holds a value of kind {other}"),
        }
        Ok(())
    }

    /// A value of a list or map: unlike a field, a truth value takes a byte. So every value takes one, and no count can claim more
    /// than there are.
    fn element(&mut self, kind: u8, depth: usize) -> Parsed<()> {
        match kind {
            kind::TRUE | kind::FALSE => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }

    /// The count and the kind of the values of a list.
    fn list(&mut self) -> Parsed<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        Ok((count, head & 0x0f))
    }

    /// A signed number: 0, -1, 1, -2 are stored as 0, 1, 2, 3.
    fn number(&mut self) -> Parsed<i64> {
        let stored = self.varint()?;
        Ok((stored >> 1) as i64 ^ -((stored & 1) as i64))
    }

    fn varint(&mut self) -> Parsed<u64> {
        let mut value = 0_u64;
        for at in 0..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        bail!("is damaged: a number in it is longer than 10 bytes")
    }

    fn byte(&mut self) -> Parsed<u8> {
        match self.0.split_first() {
            Some((&byte, rest)) => {
                self.0 = rest;
                Ok(byte)
            }
            None => bail!("is damaged: its footer or a page ends within a value"),
        }
    }

    fn take(&mut self, count: usize) -> Parsed<()> {
        match self.0.get(count..) {
            Some(rest) => {
                self.0 = rest;
                Ok(())
            }
            None => bail!(
                "is damaged: its footer or a page claims {count} bytes where {} are left",
                self.0.len()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_columns_has_as_many_nodes_as_it_claims() {
        assert!(check_tree(&[2, 0, 1, 0]).is_ok());
        assert!(check_tree(&[3, 0, 0]).is_err());
        assert!(check_tree(&[1, i64::from(i32::MAX)]).is_err());
        assert!(check_tree(&[-1]).is_err());
        assert!(check_tree(&[1; 60]).is_err(), "the last one has no part");
        let chain = |length: usize| (0..length).map(|at| i64::from(at + 1 < length)).collect::<Vec<_>>();
        assert!(check_tree(&chain(60)).is_ok());
        assert!(check_tree(&chain(1000)).is_err());
    }

    #[test]
    fn a_page_that_claims_more_than_can_come_out_of_it_is_refused() {
        // Type 0, unpacked size, packed size, and a data page header with its number of values.
        let page = |unpacked: &[u8], packed: &[u8], count: &[u8]| {
            let mut bytes = vec![0x15, 0x00, 0x15];
            bytes.extend(unpacked);
            bytes.push(0x15);
            bytes.extend(packed);
            bytes.extend([0x2c, 0x15]);
            bytes.extend(count);
            bytes.extend([0x00, 0x00, 7, 7]);
            bytes
        };
        let check_pages = |pages: &[u8]| check_pages(pages, GZIP_RATIO);
        let claimed = |values, largest| Claimed { values, largest };
        assert_eq!(check_pages(&page(&[4], &[4], &[20])).unwrap(), claimed(10, 2));
        let two = [page(&[4], &[4], &[20]), page(&[8], &[4], &[2])].concat();
        assert_eq!(check_pages(&two).unwrap(), claimed(11, 4));
        let vast = page(&[0xfe, 0xff, 0xff, 0xff, 0x0f], &[4], &[20]);
        assert!(check_pages(&vast).unwrap_err().to_string().contains("out of 2"));
        assert!(
            check_pages(&page(&[4], &[40], &[20]))
                .unwrap_err()
                .to_string()
                .contains("claims 20 bytes")
        );
        assert!(check_pages(&page(&[1], &[4], &[20])).is_err());
    }
}
