// SPDX-License-Identifier: MIT
//! Reads back the PDFs that we write, for tests: objects, streams and the text as a viewer would copy it.

use miniz_oxide::inflate::decompress_to_vec_zlib;
use std::collections::BTreeMap;

/// The objects of a file by number: what stands before the stream, and the stream, inflated.
pub(crate) struct Objects(pub BTreeMap<usize, (String, Vec<u8>)>);

/// One word of a stream.
#[derive(Debug)]
enum Token {
    /// A number, a name, an operator or a bracket.
    Word(String),
    Bytes(Vec<u8>),
}

impl Objects {
    pub fn of(pdf: &[u8]) -> Self {
        let mut objects = BTreeMap::new();
        let mut at = 0;
        while let Some(start) = find(&pdf[at..], b" 0 obj").map(|found| at + found) {
            let digits = pdf[..start].iter().rev().take_while(|byte| byte.is_ascii_digit());
            let number: String = String::from_utf8_lossy(&pdf[start - digits.count()..start]).into();
            let rest = &pdf[start + 6..];
            let end = find(rest, b"endobj").expect("an end");
            let before = find(rest, b"stream\n").map_or(end, |stream| stream.min(end));
            let text = String::from_utf8_lossy(&rest[..before]).into_owned();
            let mut stream = Vec::new();
            at = start + 6 + end;
            if before < end {
                let (from, length) = (before + 7, number_after(&text, "/Length").expect("a length"));
                stream = decompress_to_vec_zlib(&rest[from..from + length]).expect("deflated bytes");
                at = start + 6 + from + length;
            }
            objects.insert(number.parse().expect("a number"), (text, stream));
        }
        Self(objects)
    }

    /// Objects whose text holds this.
    pub fn with(&self, text: &str) -> Vec<&(String, Vec<u8>)> {
        self.0.values().filter(|(own, _)| own.contains(text)).collect()
    }

    /// The operators of the page and their numbers and names, with a blank between each two.
    pub fn page(&self) -> String {
        words(self.page_bytes())
    }

    fn page_bytes(&self) -> &[u8] {
        let contents = self.with("/Contents");
        let number = number_after(&contents[0].0, "/Contents").expect("a page");
        &self.0[&number].1
    }

    /// The texts of the page, in the order in which they are drawn.
    pub fn texts(&self) -> Vec<String> {
        let (mut texts, mut text) = (Vec::new(), String::new());
        let (mut letters, mut actual, mut is_text) = (BTreeMap::new(), None, false);
        let (mut strings, mut last) = (Vec::new(), Vec::new());
        for token in tokens(self.page_bytes()) {
            let Token::Word(word) = token else {
                let Token::Bytes(bytes) = token else { continue };
                strings.push(bytes);
                continue;
            };
            match word.as_str() {
                "BT" => is_text = true,
                "ET" => is_text = false,
                "BDC" => actual = strings.pop().map(|bytes| text_string(&bytes)),
                "EMC" => text += &actual.take().unwrap_or_default(),
                "Tf" => {
                    let name: &String = &last[last.len() - 2];
                    letters = self.letters(name[2..].parse().expect("F and a number"));
                }
                "TJ" if actual.is_none() => {
                    let codes = strings.iter().flat_map(|bytes| bytes.chunks(2));
                    text.extend(
                        codes.map(|code| letters[&usize::from(u16::from_be_bytes([code[0], code[1]]))].as_str()),
                    );
                }
                _ => {}
            }
            if matches!(word.as_str(), "TJ" | "BDC") {
                strings.clear();
            }
            if matches!(word.as_str(), "ET" | "EMC") && !is_text {
                texts.push(std::mem::take(&mut text));
            }
            last.push(word);
        }
        texts
    }

    /// What the glyphs of a font stand for.
    fn letters(&self, font: usize) -> BTreeMap<usize, String> {
        let table = number_after(&self.0[&font].0, "/ToUnicode").expect("a table of letters");
        let table = String::from_utf8_lossy(&self.0[&table].1);
        let hex = |text: &str| u16::from_str_radix(text, 16).expect("hexadecimal digits");
        let pairs = table.lines().filter_map(|line| {
            let (glyph, letters) = line.strip_prefix('<')?.strip_suffix('>')?.split_once("> <")?;
            let units: Vec<u16> = (0..letters.len() / 4)
                .map(|i| hex(&letters[4 * i..4 * i + 4]))
                .collect();
            Some((usize::from(hex(glyph)), String::from_utf16(&units).ok()?))
        });
        pairs.collect()
    }
}

/// A string of letters: ASCII, or UTF-16 behind a mark.
fn text_string(bytes: &[u8]) -> String {
    match bytes.strip_prefix(&[0xFE, 0xFF]) {
        Some(units) => {
            let units: Vec<u16> = units.chunks(2).map(|c| u16::from_be_bytes([c[0], c[1]])).collect();
            String::from_utf16_lossy(&units)
        }
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The numbers, names and operators of a stream, with a blank between each two.
pub(crate) fn words(stream: &[u8]) -> String {
    let word = |token| match token {
        Token::Word(word) => Some(word),
        Token::Bytes(_) => None,
    };
    tokens(stream)
        .into_iter()
        .filter_map(word)
        .collect::<Vec<_>>()
        .join(" ")
}

fn tokens(stream: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        match stream[at] {
            b'(' => {
                let (bytes, end) = literal(stream, at + 1);
                tokens.push(Token::Bytes(bytes));
                at = end;
            }
            b'<' if stream.get(at + 1) == Some(&b'<') => at += 2,
            b'<' => {
                let end = at + find(&stream[at..], b">").expect("an end");
                let digits = String::from_utf8_lossy(&stream[at + 1..end]);
                let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).expect("hexadecimal digits");
                tokens.push(Token::Bytes((0..digits.len() / 2).map(byte).collect()));
                at = end + 1;
            }
            byte if byte.is_ascii_whitespace() || b"[]<>".contains(&byte) => at += 1,
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"[]<>(/".contains(byte);
                let length = 1 + stream[at + 1..].iter().take_while(|byte| !is_end(byte)).count();
                let word = String::from_utf8_lossy(&stream[at..at + length]);
                tokens.push(Token::Word(word.into_owned()));
                at += length;
            }
        }
    }
    tokens
}

/// The bytes of a string in parentheses, and where it ends.
fn literal(stream: &[u8], mut at: usize) -> (Vec<u8>, usize) {
    let (mut bytes, mut depth) = (Vec::new(), 0);
    loop {
        match stream[at] {
            b'\\' => {
                at += 1;
                let octal = stream[at..].iter().take(3).take_while(|byte| byte.is_ascii_digit());
                let octal: String = octal.map(|byte| char::from(*byte)).collect();
                if octal.is_empty() {
                    let escapes = [(b'n', 10), (b'r', 13), (b't', 9), (b'b', 8), (b'f', 12)];
                    let known = escapes.iter().find(|(letter, _)| *letter == stream[at]);
                    bytes.push(known.map_or(stream[at], |(_, byte)| *byte));
                } else {
                    bytes.push(u8::from_str_radix(&octal, 8).expect("octal digits"));
                    at += octal.len() - 1;
                }
            }
            b')' if depth == 0 => return (bytes, at + 1),
            byte => {
                depth += i32::from(byte == b'(') - i32::from(byte == b')');
                bytes.push(byte);
            }
        }
        at += 1;
    }
}

/// The number behind a key.
pub(crate) fn number_after(text: &str, key: &str) -> Option<usize> {
    let rest = text[text.find(key)? + key.len()..].trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
