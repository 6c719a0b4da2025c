// SPDX-License-Identifier: MIT
//! The header of an `.npy` file: `{'descr': '<f4', 'fortran_order': False, 'shape': (100, 5), }`.

use std::io::Read;

use crate::array::{Shape, check_dimensions, count};
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, bail, problem};

/// Longer headers are refused; NumPy's own are below 10 kB.
const HEADER_LIMIT: usize = 1 << 20;

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Numbers(Element, ByteOrder),
    /// UTF-32 strings of so many characters.
    Unicode(usize, ByteOrder),
    /// Byte strings of so many bytes.
    Bytes(usize),
    /// Pickled Python objects.
    Objects,
}

/// The header, and how many bytes it took.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) shape: Vec<usize>,
    pub(crate) fortran_order: bool,
    pub(crate) content: Content,
    pub(crate) bytes: usize,
}

impl Content {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Content::Numbers(element, _) => element.name(),
            Content::Unicode(..) => "str",
            Content::Bytes(_) => "bytes",
            Content::Objects => "object",
        }
    }

    /// Bytes per value; `None` for objects, whose size is not known before they are read.
    fn width(self) -> Option<usize> {
        match self {
            Content::Numbers(element, _) => Some(element.bytes()),
            Content::Unicode(characters, _) => Some(characters * 4),
            Content::Bytes(bytes) => Some(bytes),
            Content::Objects => None,
        }
    }
}

impl Header {
    /// Reads the header and leaves `from` at the first value.
    pub(crate) fn read(from: &mut impl Read) -> Parsed<Header> {
        let start = take(from, 8)?;
        if !start.starts_with(b"\x93NUMPY") {
            bail!("does not hold an .npy array where one should begin");
        }
        let (length_bytes, length) = match start[6] {
            1 => (2, take(from, 2)?),
            2 | 3 => (4, take(from, 4)?),
            version => bail!("has .npy version {version}; versions 1, 2 and 3 are known"),
        };
        let length = length.iter().rev().fold(0_usize, |sum, &b| sum << 8 | usize::from(b));
        if length > HEADER_LIMIT {
            bail!("has an .npy header of {length} bytes; more than {HEADER_LIMIT} is not believed");
        }
        let text = take(from, length)?;
        // Version 3 is UTF-8, the others Latin-1; what we understand is ASCII in all of them.
        let mut header = super::literal::parse_header(&String::from_utf8_lossy(&text))?;
        header.bytes = 8 + length_bytes + length;
        Ok(header)
    }

    /// How many values the shape has.
    pub(crate) fn count(&self) -> Parsed<usize> {
        check_dimensions(&self.shape)?;
        let count = count(&self.shape).filter(|&n| n <= isize::MAX as usize);
        count.ok_or_else(|| problem!("has shape {}, more values than memory can hold", Shape(&self.shape)))
    }

    /// How many bytes the values take; `None` for objects.
    pub(crate) fn value_bytes(&self) -> Parsed<Option<u64>> {
        let count = self.count()?;
        let Some(width) = self.content.width() else {
            return Ok(None);
        };
        if width == 0 && count > 0 {
            bail!("holds strings of length 0 only");
        }
        match count.checked_mul(width) {
            Some(bytes) => Ok(Some(bytes as u64)),
            None => bail!("has shape {}, more bytes than can be counted", Shape(&self.shape)),
        }
    }

    /// Compares what the header promises with the bytes that follow it, before memory is taken.
    pub(crate) fn check_size(&self, available: u64) -> Parsed<()> {
        match self.value_bytes()? {
            Some(needed) if needed > available => bail!(
                "ends too early: shape {} of {} needs {needed} bytes after the header, but there are {available}",
                Shape(&self.shape),
                self.content.name()
            ),
            _ => Ok(()),
        }
    }
}

/// The next `length` bytes, or how many were missing.
fn take(from: &mut impl Read, length: usize) -> Parsed<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        let count = bytes.len();
        bail!("ends inside the .npy header: expected {length} more bytes, found {count}");
    }
    Ok(bytes)
}
