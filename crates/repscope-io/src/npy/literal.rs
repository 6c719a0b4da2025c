// SPDX-License-Identifier: MIT
//! The part of Python's literal syntax that `.npy` headers use: one dictionary of a string, a truth
//! value and a tuple of integers. Nothing nests, so no file can make this recurse.

use super::header::{Content, Header};
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, bail, problem};

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
