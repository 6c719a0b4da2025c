// SPDX-License-Identifier: MIT
//! Strings of fixed width, padded with NUL: `<U12` (UTF-32) and `|S12` (bytes).

use std::io::Read;

use super::header::Content;
use crate::element::{ByteOrder, reserve};
use crate::error::{Parsed, bail};

/// Reads `count` strings of `width` UTF-32 characters.
pub(super) fn read_unicode(from: &mut impl Read, width: usize, order: ByteOrder, count: usize) -> Parsed<Vec<String>> {
    let mut texts = reserve(count)?;
    // Without strings there are no bytes the width was compared with.
    let mut bytes = vec![0; if count > 0 { width * 4 } else { 0 }];
    for at in 0..count {
        from.read_exact(&mut bytes)?;
        texts.push(decode_utf32(&bytes, order, at)?);
    }
    Ok(texts)
}

/// Reads `count` strings of `width` bytes of UTF-8.
pub(super) fn read_bytes(from: &mut impl Read, width: usize, count: usize) -> Parsed<Vec<String>> {
    let mut texts = reserve(count)?;
    let mut bytes = vec![0; if count > 0 { width } else { 0 }];
    for at in 0..count {
        from.read_exact(&mut bytes)?;
        let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        match str::from_utf8(&bytes[..end]) {
            Ok(text) => texts.push(text.to_string()),
            Err(_) => bail!("holds bytes that are not UTF-8 text at value {at}"),
        }
    }
    Ok(texts)
}

/// The text of one NumPy string scalar: all of `bytes`, whatever width its type states.
pub(crate) fn read_one(bytes: &[u8], content: Content, order: ByteOrder) -> Parsed<String> {
    match content {
        Content::Unicode(..) => decode_utf32(bytes, order, 0),
        _ => read_bytes(&mut &*bytes, bytes.len(), 1).map(|mut texts| texts.remove(0)),
    }
}

fn decode_utf32(bytes: &[u8], order: ByteOrder, at: usize) -> Parsed<String> {
    let code = |b: &[u8; 4]| match order {
        ByteOrder::Little => u32::from_le_bytes(*b),
        ByteOrder::Big => u32::from_be_bytes(*b),
    };
    let codes = bytes.as_chunks::<4>().0;
    let end = codes.iter().rposition(|b| *b != [0; 4]).map_or(0, |last| last + 1);
    match codes[..end].iter().map(|b| char::from_u32(code(b))).collect() {
        Some(text) => Ok(text),
        None => bail!("holds a string that is not Unicode at value {at}"),
    }
}
