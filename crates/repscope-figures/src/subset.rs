// SPDX-License-Identifier: MIT
//! A TrueType font reduced to the letters of one figure, so that an SVG carries its font in a few kilobytes.
//!
//! Only what a browser needs is kept: outlines, advances and the map from letters. Hinting and layout tables go.

use crate::content::Weight;
use crate::text::face;
use std::collections::{BTreeMap, BTreeSet};
use ttf_parser::{GlyphId, Tag};

/// `@font-face` rules for the letters of this text, for a page around figures with [`FontIn::Page`](crate::FontIn::Page).
pub fn font_css(text: &str) -> String {
    let letters: BTreeSet<char> = text.chars().collect();
    font_faces(&[letters.clone(), letters])
}

/// `@font-face` rules for regular and bold letters.
pub(crate) fn font_faces(used: &[BTreeSet<char>; 2]) -> String {
    let mut css = String::new();
    for (letters, (weight, number)) in used.iter().zip([(Weight::Regular, 400), (Weight::Bold, 600)]) {
        if let Some(font) = subset(weight, letters) {
            css.push_str(&format!(
                "@font-face{{font-family:Inter;font-weight:{number};src:url(data:font/ttf;base64,{}) format(\"truetype\")}}\n",
                base64(&font)
            ));
        }
    }
    css
}

/// The font with these letters only; `None` if it has none of them.
fn subset(weight: Weight, letters: &BTreeSet<char>) -> Option<Vec<u8>> {
    let face = face(weight);
    let table = |name: &[u8; 4]| face.raw_face().table(Tag::from_bytes(name));
    let (glyf, loca, head) = (table(b"glyf")?, table(b"loca")?, table(b"head")?);
    let long_offsets = *head.get(51)? == 1;
    let outline = |glyph: u16| -> &[u8] {
        let offset = |i: usize| {
            Some(if long_offsets {
                u32_at(loca, 4 * i)? as usize
            } else {
                2 * usize::from(u16_at(loca, 2 * i)?)
            })
        };
        let range = offset(usize::from(glyph)).zip(offset(usize::from(glyph) + 1));
        range.and_then(|(from, to)| glyf.get(from..to)).unwrap_or(&[])
    };

    let letters: BTreeMap<char, u16> = letters
        .iter()
        .filter_map(|c| face.glyph_index(*c).map(|glyph| (*c, glyph.0)))
        .collect();
    if letters.is_empty() {
        return None;
    }
    // Glyph 0 stands for missing letters and must stay first. Composite glyphs bring their parts.
    let mut glyphs = vec![0u16];
    let mut wanted: Vec<u16> = letters.values().copied().collect();
    while let Some(glyph) = wanted.pop() {
        if !glyphs.contains(&glyph) {
            glyphs.push(glyph);
            wanted.extend(parts(outline(glyph)).into_iter().map(|(_, part)| part));
        }
    }
    glyphs[1..].sort_unstable();
    let new_number = |glyph: u16| glyphs.iter().position(|g| *g == glyph).unwrap_or(0) as u16;

    let (mut new_glyf, mut new_loca, mut new_hmtx) = (Vec::new(), Vec::new(), Vec::new());
    for &glyph in &glyphs {
        new_loca.extend((new_glyf.len() as u32).to_be_bytes());
        let mut bytes = outline(glyph).to_vec();
        for (at, part) in parts(outline(glyph)) {
            bytes[at..at + 2].copy_from_slice(&new_number(part).to_be_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        new_glyf.extend(bytes);
        new_hmtx.extend(face.glyph_hor_advance(GlyphId(glyph)).unwrap_or(0).to_be_bytes());
        new_hmtx.extend(face.glyph_hor_side_bearing(GlyphId(glyph)).unwrap_or(0).to_be_bytes());
    }
    new_loca.extend((new_glyf.len() as u32).to_be_bytes());

    let count = (glyphs.len() as u16).to_be_bytes();
    let mut new_head = head.to_vec();
    new_head[50..52].copy_from_slice(&[0, 1]);
    new_head[8..12].fill(0);
    let mut new_hhea = table(b"hhea")?.to_vec();
    new_hhea[34..36].copy_from_slice(&count);
    let mut new_maxp = table(b"maxp")?.to_vec();
    new_maxp[4..6].copy_from_slice(&count);
    let new_cmap = cmap(
        letters
            .iter()
            .map(|(c, glyph)| (*c as u32, u32::from(new_number(*glyph)))),
    );
    let mut new_post = vec![0u8; 32];
    new_post[1] = 3;

    // Sorted by tag, as the format requires.
    Some(assemble(&[
        (b"OS/2", table(b"OS/2")?.to_vec()),
        (b"cmap", new_cmap),
        (b"glyf", new_glyf),
        (b"head", new_head),
        (b"hhea", new_hhea),
        (b"hmtx", new_hmtx),
        (b"loca", new_loca),
        (b"maxp", new_maxp),
        (b"name", table(b"name")?.to_vec()),
        (b"post", new_post),
    ]))
}

/// The parts of a composite outline: where the number of each part stands, and the number. None for a plain outline.
fn parts(outline: &[u8]) -> Vec<(usize, u16)> {
    let mut parts = Vec::new();
    if u16_at(outline, 0).is_none_or(|contours| contours < 0x8000) {
        return parts;
    }
    let mut at = 10;
    while let (Some(flags), Some(part)) = (u16_at(outline, at), u16_at(outline, at + 2)) {
        parts.push((at + 2, part));
        at += 4 + if flags & 0x0001 != 0 { 4 } else { 2 };
        at += match flags {
            f if f & 0x0008 != 0 => 2,
            f if f & 0x0040 != 0 => 4,
            f if f & 0x0080 != 0 => 8,
            _ => 0,
        };
        if flags & 0x0020 == 0 {
            break;
        }
    }
    parts
}

/// A map from letters to glyphs in format 12: one group per letter.
fn cmap(letters: impl Iterator<Item = (u32, u32)>) -> Vec<u8> {
    let groups: Vec<u8> = letters
        .flat_map(|(letter, glyph)| [letter, letter, glyph])
        .flat_map(u32::to_be_bytes)
        .collect();
    let mut table = vec![0, 0, 0, 1, 0, 3, 0, 10, 0, 0, 0, 12, 0, 12, 0, 0];
    table.extend((16 + groups.len() as u32).to_be_bytes());
    table.extend(0u32.to_be_bytes());
    table.extend((groups.len() as u32 / 12).to_be_bytes());
    table.extend(groups);
    table
}

pub(crate) fn assemble(tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.ilog2() as u16;
    let mut font = vec![0, 1, 0, 0];
    for number in [count, 16 << power, power, 16 * count - (16 << power)] {
        font.extend(number.to_be_bytes());
    }
    let mut offset = 12 + 16 * tables.len();
    let mut data = Vec::new();
    let mut head_at = 0;
    for (tag, table) in tables {
        let mut padded = table.clone();
        padded.resize(table.len().next_multiple_of(4), 0);
        if *tag == b"head" {
            head_at = offset;
        }
        font.extend(*tag);
        font.extend(checksum(&padded).to_be_bytes());
        font.extend((offset as u32).to_be_bytes());
        font.extend((table.len() as u32).to_be_bytes());
        offset += padded.len();
        data.extend(padded);
    }
    font.extend(data);
    let adjustment = 0xB1B0_AFBAu32.wrapping_sub(checksum(&font));
    font[head_at + 8..head_at + 12].copy_from_slice(&adjustment.to_be_bytes());
    font
}

fn checksum(bytes: &[u8]) -> u32 {
    (0..bytes.len())
        .step_by(4)
        .fold(0u32, |sum, at| sum.wrapping_add(u32_at(bytes, at).unwrap_or(0)))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)
        .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// Bytes as text, for `data:` addresses.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let in_use = digit <= chunk.len();
            text.push(if in_use {
                DIGITS[(word >> (18 - 6 * digit)) as usize & 63] as char
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ttf_parser::Face;

    #[test]
    fn base64_of_the_standard_examples() {
        // RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_reduced_font_has_the_same_outlines_and_advances_for_its_letters() {
        #[derive(Default, PartialEq, Debug)]
        struct Outline(Vec<String>);
        impl ttf_parser::OutlineBuilder for Outline {
            fn move_to(&mut self, x: f32, y: f32) {
                self.0.push(format!("M{x} {y}"));
            }
            fn line_to(&mut self, x: f32, y: f32) {
                self.0.push(format!("L{x} {y}"));
            }
            fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
                self.0.push(format!("Q{x1} {y1} {x} {y}"));
            }
            fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {}
            fn close(&mut self) {
                self.0.push("Z".to_string());
            }
        }
        let letters: BTreeSet<char> = "aZ0é×⁻⁴σÄ".chars().collect();
        let bytes = subset(Weight::Bold, &letters).expect("the letters are there");
        assert!(bytes.len() < 8000, "{} bytes for nine letters", bytes.len());
        let (small, full) = (Face::parse(&bytes, 0).expect("a font"), face(Weight::Bold));
        for c in letters {
            let (a, b) = (small.glyph_index(c).expect("kept"), full.glyph_index(c).expect("there"));
            assert_eq!(small.glyph_hor_advance(a), full.glyph_hor_advance(b));
            let (mut in_small, mut in_full) = (Outline::default(), Outline::default());
            small.outline_glyph(a, &mut in_small);
            full.outline_glyph(b, &mut in_full);
            assert_eq!(in_small, in_full, "outline of {c}");
        }
        assert_eq!(small.glyph_index('b'), None);
    }
}
