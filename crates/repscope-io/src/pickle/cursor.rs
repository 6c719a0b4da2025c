// SPDX-License-Identifier: MIT
//! Reading the arguments of pickle opcodes. Lengths are compared with the bytes that are left.

use super::{Step, Value, damaged, refuse};
use crate::array::Object;

/// The bytes of a pickle that are still to come.
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn byte(&mut self) -> Step<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn take(&mut self, length: usize) -> Step<&'a [u8]> {
        let (now, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(now)
    }

    /// An unsigned little-endian number of `width` bytes, at most 8.
    pub(super) fn number(&mut self, width: usize) -> Step<usize> {
        let bytes = self.take(width)?;
        let value = bytes.iter().rev().fold(0_u64, |sum, &b| sum << 8 | u64::from(b));
        usize::try_from(value).map_err(|_| damaged())
    }

    /// A byte string whose length comes before it, in `width` bytes.
    pub(super) fn counted(&mut self, width: usize) -> Step<&'a [u8]> {
        let length = self.number(width)?;
        self.take(length)
    }

    pub(super) fn counted_text(&mut self, width: usize) -> Step<String> {
        text(self.counted(width)?)
    }

    /// A string of Python 2, which may be text or bytes.
    pub(super) fn old_string(&mut self, width: usize) -> Step<Value> {
        let bytes = self.counted(width)?;
        Ok(match text(bytes) {
            Ok(text) => Value::Plain(Object::Text(text)),
            Err(_) => Value::Bytes(bytes.to_vec()),
        })
    }

    /// The text up to the next line feed.
    pub(super) fn line(&mut self) -> Step<&'a str> {
        str::from_utf8(self.raw_line()?).map_err(|_| damaged())
    }

    /// A line of Latin-1 with `\uXXXX` for other characters: text in protocol 0.
    pub(super) fn escaped_line(&mut self) -> Step<String> {
        let mut rest = self.raw_line()?;
        let mut out = String::new();
        while let Some((&byte, after)) = rest.split_first() {
            let digits = match (byte, after.first()) {
                (b'\\', Some(b'u')) => 4,
                (b'\\', Some(b'U')) => 8,
                _ => 0,
            };
            if digits == 0 {
                out.push(char::from(byte));
                rest = after;
                continue;
            }
            let code = after
                .get(1..=digits)
                .and_then(|d| str::from_utf8(d).ok())
                .ok_or_else(damaged)?;
            let code = u32::from_str_radix(code, 16).map_err(|_| damaged())?;
            out.push(char::from_u32(code).ok_or_else(damaged)?);
            rest = &after[1 + digits..];
        }
        Ok(out)
    }

    /// A quoted line: a Python 2 string in protocol 0. Escapes are not known here.
    pub(super) fn quoted_line(&mut self) -> Step<String> {
        let line = self.line()?.trim();
        let inner = ['\'', '"'].iter().find_map(|&q| line.strip_prefix(q)?.strip_suffix(q));
        match inner {
            Some(text) if !text.contains('\\') => Ok(text.to_string()),
            _ => Err(damaged()),
        }
    }

    fn raw_line(&mut self) -> Step<&'a [u8]> {
        let end = self.0.iter().position(|&b| b == b'\n').ok_or_else(damaged)?;
        let line = self.take(end)?;
        self.take(1)?;
        Ok(line)
    }
}

/// UTF-8 to text.
pub(super) fn text(bytes: &[u8]) -> Step<String> {
    str::from_utf8(bytes).map(str::to_string).map_err(|_| damaged())
}

/// A little-endian two's complement number; one too large for 64 bits is kept as its digits.
pub(super) fn whole(bytes: &[u8]) -> Step<Object> {
    if bytes.len() > 16 {
        return refuse("holds a number of more than 128 bits");
    }
    let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) {
        0xff
    } else {
        0
    };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    Ok(match i64::try_from(value) {
        Ok(value) => Object::Int(value),
        Err(_) => Object::Text(value.to_string()),
    })
}

/// A number in digits, as protocol 0 writes it: `3`, `3L`, `2.5`, and `01` for true.
pub(super) fn written(digits: &str) -> Step<Object> {
    Ok(match digits {
        "00" => Object::Bool(false),
        "01" => Object::Bool(true),
        _ => match digits.trim_end_matches('L').parse() {
            Ok(whole) => Object::Int(whole),
            Err(_) => Object::Float(digits.parse().map_err(|_| damaged())?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_keep_their_sign_and_size() {
        assert_eq!(whole(&[0xfe, 0xff]).unwrap(), Object::Int(-2));
        assert_eq!(whole(&[]).unwrap(), Object::Int(0));
        let beyond = [0, 0, 0, 0, 0, 0, 0, 0x80, 0];
        assert_eq!(whole(&beyond).unwrap(), Object::Text("9223372036854775808".to_string()));
    }
}
