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
        let mut header = parse_header(&String::from_utf8_lossy(&text))?;
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

// The part of Python's literal syntax that `.npy` headers use: one dictionary of a string, a truth
// value and a tuple of integers. Nothing nests, so no file can make this recurse.

/// More dimensions than NumPy allows are refused.
const DIMENSIONS: usize = 64;

/// NumPy counts the bytes of a string with 31 bits.
const WIDTH_LIMIT: usize = 1 << 31;

/// Parses the header dictionary.
pub(crate) fn parse_header(text: &str) -> Parsed<Header> {
    let mut literal = Literal { rest: text.trim() };
    let (mut shape, mut fortran_order, mut content) = (None, None, None);
    literal.expect('{')?;
    while !literal.accept('}') {
        let key = literal.string()?;
        literal.expect(':')?;
        match key {
            "descr" => content = Some(literal.descr()?),
            "fortran_order" => fortran_order = Some(literal.truth()?),
            "shape" => shape = Some(literal.tuple()?),
            other => bail!("has the unknown key `{other}` in its .npy header"),
        }
        if !literal.accept(',') {
            literal.expect('}')?;
            break;
        }
    }
    match (shape, fortran_order, content) {
        (Some(shape), Some(fortran_order), Some(content)) => Ok(Header {
            shape,
            fortran_order,
            content,
            bytes: 0,
        }),
        _ => bail!("has an .npy header without one of `descr`, `fortran_order`, `shape`"),
    }
}

/// What a type string such as `<f4`, `|b1` or `>U12` stands for.
pub(crate) fn parse_descr(descr: &str) -> Parsed<Content> {
    let unknown = || {
        let advice = match descr.trim_start_matches(['<', '>', '=', '|']).chars().next() {
            Some('M' | 'm') => "dates and times are not read; save array.astype('int64') or .astype(str)",
            Some('c') => "complex numbers are not read; save the real and imaginary parts side by side",
            Some('V') => "raw records are not read; save one field as a plain array",
            _ => "save it as float32, float64, an integer type or str",
        };
        problem!("holds values of type `{descr}`: {advice}")
    };
    let (order, name) = match descr.as_bytes().first() {
        Some(b'>') => (ByteOrder::Big, &descr[1..]),
        // `=` is the writer's own order, which NumPy never writes; all its common machines are little.
        Some(b'<' | b'|' | b'=') => (ByteOrder::Little, &descr[1..]),
        _ => (ByteOrder::Little, descr),
    };
    if name == "O" || name == "O8" || name == "O4" {
        return Ok(Content::Objects);
    }
    let (Some(kind), Some(width)) = (name.get(..1), name.get(1..).and_then(|w| w.parse::<usize>().ok())) else {
        return Err(unknown());
    };
    let element = match (kind, width) {
        ("U" | "S" | "a", WIDTH_LIMIT..) => return Err(unknown()),
        ("U", _) => return Ok(Content::Unicode(width, order)),
        ("S" | "a", _) => return Ok(Content::Bytes(width)),
        ("b", 1) => Element::Bool,
        ("i", 1) => Element::I8,
        ("i", 2) => Element::I16,
        ("i", 4) => Element::I32,
        ("i", 8) => Element::I64,
        ("u", 1) => Element::U8,
        ("u", 2) => Element::U16,
        ("u", 4) => Element::U32,
        ("u", 8) => Element::U64,
        ("f", 2) => Element::F16,
        ("f", 4) => Element::F32,
        ("f", 8) => Element::F64,
        _ => return Err(unknown()),
    };
    Ok(Content::Numbers(element, order))
}

struct Literal<'a> {
    rest: &'a str,
}

impl<'a> Literal<'a> {
    fn accept(&mut self, symbol: char) -> bool {
        match self.rest.trim_start().strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: char) -> Parsed<()> {
        if self.accept(symbol) {
            return Ok(());
        }
        let found: String = self.rest.chars().take(20).collect();
        bail!("has a damaged .npy header: expected `{symbol}` before `{found}`")
    }

    fn string(&mut self) -> Parsed<&'a str> {
        let quote = if self.accept('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let Some((text, rest)) = self.rest.split_once(quote) else {
            bail!("has a damaged .npy header: a quote is not closed");
        };
        self.rest = rest.trim_start();
        Ok(text)
    }

    fn descr(&mut self) -> Parsed<Content> {
        if self.rest.starts_with('[') {
            bail!("holds a structured (record) array; save one field as a plain array: np.save(path, array['field'])");
        }
        parse_descr(self.string()?)
    }

    fn truth(&mut self) -> Parsed<bool> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest.trim_start();
                return Ok(value);
            }
        }
        bail!("has a damaged .npy header: `fortran_order` is neither True nor False")
    }

    fn tuple(&mut self) -> Parsed<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            if sizes.len() == DIMENSIONS {
                bail!("has more than {DIMENSIONS} dimensions");
            }
            sizes.push(self.size()?);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn size(&mut self) -> Parsed<usize> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-');
        let end = end.unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        // Python 2 wrote long integers as `3L`.
        self.rest = rest.strip_prefix('L').unwrap_or(rest).trim_start();
        if digits.starts_with('-') {
            bail!("has the negative size {digits} in its shape");
        }
        match digits.parse() {
            Ok(size) => Ok(size),
            Err(_) => bail!("has the impossible size `{digits}` in its shape"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_as_numpy_writes_it_is_understood() {
        let header = parse_header("{'descr': '>f8', 'fortran_order': True, 'shape': (3, 4L), }   \n").unwrap();
        assert_eq!(header.shape, [3, 4]);
        assert!(header.fortran_order);
        assert_eq!(header.content, Content::Numbers(Element::F64, ByteOrder::Big));
    }

    #[test]
    fn a_negative_size_is_refused() {
        let error = parse_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }").unwrap_err();
        assert!(error.to_string().contains("negative size -3"), "{error}");
    }

    #[test]
    fn dates_complex_numbers_and_records_are_refused_with_advice() {
        for (descr, words) in [
            ("<M8[ns]", "dates"),
            ("<c8", "complex"),
            ("|V8", "records"),
            ("<f16", "float32"),
        ] {
            let error = parse_descr(descr).unwrap_err().to_string();
            assert!(error.contains(words), "{descr}: {error}");
        }
    }
}
