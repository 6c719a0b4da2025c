// SPDX-License-Identifier: MIT
//! The wire format of protobuf: numbered fields that are a number, four or eight bytes, or a run of bytes.

use crate::error::{Error, Result, wrong};

// ---------------------------------------------------------------- writing

pub(super) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn write_number(out: &mut Vec<u8>, field: u64, value: u64) {
    write_varint(out, field << 3);
    write_varint(out, value);
}

pub(super) fn write_f32(out: &mut Vec<u8>, field: u64, value: f32) {
    write_varint(out, field << 3 | 5);
    out.extend_from_slice(&value.to_le_bytes());
}

/// The head of a field of `length` bytes, which the caller appends.
pub(super) fn write_head(out: &mut Vec<u8>, field: u64, length: usize) {
    write_varint(out, field << 3 | 2);
    write_varint(out, length as u64);
}

pub(super) fn write_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    write_head(out, field, bytes.len());
    out.extend_from_slice(bytes);
}

pub(super) fn write_text(out: &mut Vec<u8>, field: u64, text: &str) {
    write_bytes(out, field, text.as_bytes());
}

/// A field as it was read.
pub(super) fn write_content(out: &mut Vec<u8>, field: u64, content: Content) {
    match content {
        Content::Number(value) => write_number(out, field, value),
        Content::Bytes(bytes) => write_bytes(out, field, bytes),
        Content::Fixed(bytes) => {
            write_varint(out, field << 3 | if bytes.len() == 8 { 1 } else { 5 });
            out.extend_from_slice(bytes);
        }
    }
}

/// A message within a message.
pub(super) fn write_message(out: &mut Vec<u8>, field: u64, write: impl FnOnce(&mut Vec<u8>)) {
    let mut message = Vec::new();
    write(&mut message);
    write_bytes(out, field, &message);
}

// ---------------------------------------------------------------- reading

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Content<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes.
    Fixed(&'a [u8]),
}

impl<'a> Content<'a> {
    pub(super) fn number(self) -> Result<u64> {
        match self {
            Content::Number(value) => Ok(value),
            _ => Err(damaged("a number is missing where ONNX has one")),
        }
    }

    pub(super) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Content::Bytes(bytes) => Ok(bytes),
            _ => Err(damaged("a message is missing where ONNX has one")),
        }
    }

    pub(super) fn text(self) -> Result<String> {
        self.name().map(str::to_string)
    }

    /// A text where it lies.
    pub(super) fn name(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged("a name is not UTF-8"))
    }

    /// Numbers of a repeated field: one, or several in one run of bytes.
    pub(super) fn numbers(self, into: &mut Vec<i64>) -> Result<()> {
        match self {
            Content::Number(value) => into.push(value as i64),
            Content::Bytes(packed) => {
                let mut fields = Fields::of(packed);
                while !fields.rest.is_empty() {
                    into.push(fields.varint()? as i64);
                }
            }
            Content::Fixed(_) => return Err(damaged("a number is missing where ONNX has one")),
        }
        Ok(())
    }

    /// A 32-bit floating-point number.
    pub(super) fn float(self) -> Result<f32> {
        match self {
            Content::Fixed(&[a, b, c, d]) => Ok(f32::from_le_bytes([a, b, c, d])),
            _ => Err(damaged("a number is missing where ONNX has one")),
        }
    }
}

/// The fields of a message, one after the other. It borrows: no memory is taken for what a length claims.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message }
    }

    /// The next field with its number, or none at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Content<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let content = match tag & 7 {
            0 => Content::Number(self.varint()?),
            1 => Content::Fixed(self.take(8)?),
            2 => {
                let length = self.varint()?;
                Content::Bytes(self.take(length)?)
            }
            5 => Content::Fixed(self.take(4)?),
            kind => {
                return Err(damaged(&format!(
                    "a field has wire type {kind}, which ONNX does not use"
                )));
            }
        };
        match tag >> 3 {
            0 => Err(damaged("a field has number 0")),
            field => Ok(Some((field, content))),
        }
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for at in 0..10 {
            let Some((&byte, rest)) = self.rest.split_first() else {
                return Err(damaged("it ends within a number"));
            };
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged("a number is longer than 10 bytes"))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(length).ok().and_then(|n| self.rest.split_at_checked(n));
        let Some((taken, rest)) = split else {
            let left = self.rest.len();
            return Err(damaged(&format!("a field claims {length} bytes where {left} are left")));
        };
        self.rest = rest;
        Ok(taken)
    }
}

pub(super) fn damaged(what: &str) -> Error {
    wrong!("the ONNX file is damaged or no ONNX file: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_lengths_are_read_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, 3, value);
            let mut fields = Fields::of(&bytes);
            assert_eq!(fields.next().unwrap(), Some((3, Content::Number(value))));
            assert_eq!(fields.next().unwrap(), None);
        }
    }

    #[test]
    fn three_hundred_is_written_as_in_the_protobuf_documentation() {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, 300);
        assert_eq!(bytes, [0b1010_1100, 0b0000_0010]);
    }

    #[test]
    fn a_length_beyond_the_end_names_both_numbers() {
        let error = Fields::of(&[0x3a, 0xff, 0x01, 7]).next().unwrap_err().to_string();
        assert!(error.contains("claims 255 bytes where 1 are left"), "{error}");
    }
}
