// SPDX-License-Identifier: MIT
//! Fonts, embedded with the letters used. A glyph is called by its number in the subset, and a table says which letters it stands for.
//!
//! A font that cannot be reduced, or whose letters are not what its plain outlines are (colors, optical sizes), is not embedded:
//! its letters are drawn instead.

use super::document::{Document, compress, deflate, rounded};
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Finish, Name, Rect, Ref, Str};
use resvg::usvg::fontdb::ID;
use resvg::usvg::{Group, Node, Tree};
use std::collections::BTreeMap;
use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId, RawFace, Tag};

const IDENTITY: SystemInfo = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

/// The fonts of a drawing, in the order in which they appear.
pub(super) struct Fonts(Vec<(ID, Option<Font>)>);

/// A font that is embedded.
pub(super) struct Font {
    pub object: Ref,
    pub units_per_em: f32,
    numbers: GlyphRemapper,
    /// What each glyph of the subset stands for.
    texts: Vec<String>,
    /// In thousandths of the size.
    widths: Vec<f32>,
}

/// The glyphs used of each font, with the letters that each stands for where it is first used.
type Glyphs = Vec<(ID, BTreeMap<u16, String>)>;

impl Fonts {
    pub fn embed(tree: &Tree, document: &mut Document) -> Self {
        let mut glyphs = Glyphs::new();
        collect(tree.root(), &mut glyphs);
        let embed = |(id, glyphs): (ID, BTreeMap<u16, String>)| {
            let name = tree.fontdb().face(id).map_or("", |face| &face.post_script_name);
            let font = tree
                .fontdb()
                .with_face_data(id, |data, index| embed(data, index, name, &glyphs, document));
            (id, font.flatten())
        };
        Self(glyphs.into_iter().map(embed).collect())
    }

    pub fn get(&self, id: ID) -> Option<&Font> {
        let (_, font) = self.0.iter().find(|(known, _)| *known == id)?;
        font.as_ref()
    }
}

impl Font {
    /// The number of a glyph in the subset.
    pub fn number(&self, glyph: u16) -> Option<u16> {
        self.numbers.get(glyph)
    }

    pub fn text(&self, number: u16) -> Option<&str> {
        self.texts.get(usize::from(number)).map(String::as_str)
    }

    pub fn width(&self, number: u16) -> f32 {
        self.widths.get(usize::from(number)).copied().unwrap_or(0.0)
    }
}

fn collect(group: &Group, fonts: &mut Glyphs) {
    for node in group.children() {
        match node {
            Node::Group(group) => collect(group, fonts),
            Node::Text(text) => {
                for glyph in text.layouted().iter().flat_map(|span| &span.positioned_glyphs) {
                    let known = fonts.iter().position(|(id, _)| *id == glyph.font);
                    let index = known.unwrap_or_else(|| {
                        fonts.push((glyph.font, BTreeMap::new()));
                        fonts.len() - 1
                    });
                    let letters = fonts[index].1.entry(glyph.id.0);
                    letters.or_insert_with(|| glyph.text.clone());
                }
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
}

/// `None` where the font cannot be embedded.
fn embed(data: &[u8], index: u32, name: &str, glyphs: &BTreeMap<u16, String>, document: &mut Document) -> Option<Font> {
    let face = Face::parse(data, index).ok()?;
    if !has_plain_outlines(&face) {
        return None;
    }
    let numbers = GlyphRemapper::new_from_glyphs_sorted(&glyphs.keys().copied().collect::<Vec<_>>());
    let subset = subsetter::subset(data, index, &numbers).ok()?;
    let raw = RawFace::parse(&subset, 0).ok()?;
    let cff = raw.table(Tag::from_bytes(b"CFF "));

    let per_em = f32::from(face.units_per_em());
    let thousandths = |length: f32| rounded(length * 1000.0 / per_em, 1e2);
    let advance = |glyph: u16| thousandths(f32::from(face.glyph_hor_advance(GlyphId(glyph)).unwrap_or(0)));
    let font = Font {
        object: document.next(),
        units_per_em: per_em,
        texts: numbers
            .remapped_gids()
            .map(|glyph| glyphs.get(&glyph).cloned().unwrap_or_default())
            .collect(),
        widths: numbers.remapped_gids().map(advance).collect(),
        numbers,
    };

    let [descendant, descriptor, letters, file] = [(); 4].map(|()| document.next());
    let pdf = &mut document.pdf;
    let name = format!("{}+{name}", tag(&subset));
    // The name of a font with outlines in CFF ends with that of its encoding.
    let whole_name = match cff {
        Some(_) => format!("{name}-Identity-H"),
        None => name.clone(),
    };
    pdf.type0_font(font.object)
        .base_font(Name(whole_name.as_bytes()))
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(descendant)
        .to_unicode(letters);

    let mut cid = pdf.cid_font(descendant);
    cid.base_font(Name(name.as_bytes())).system_info(IDENTITY);
    cid.font_descriptor(descriptor).default_width(0.0);
    cid.widths().consecutive(0, font.widths.iter().copied());
    match cff {
        Some(_) => cid.subtype(CidFontType::Type0),
        None => cid
            .subtype(CidFontType::Type2)
            .cid_to_gid_map_predefined(Name(b"Identity")),
    };
    cid.finish();

    let mut flags = FontFlags::SYMBOLIC;
    flags.set(FontFlags::FIXED_PITCH, face.is_monospaced());
    flags.set(FontFlags::ITALIC, face.is_italic());
    let bounds = face.global_bounding_box();
    let [left, bottom, right, top] =
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|at| thousandths(f32::from(at)));
    let mut about = pdf.font_descriptor(descriptor);
    about.name(Name(name.as_bytes())).flags(flags);
    about.bbox(Rect::new(left, bottom, right, top));
    about.italic_angle(face.italic_angle());
    about.ascent(thousandths(f32::from(face.ascender())));
    about.descent(thousandths(f32::from(face.descender())));
    about.cap_height(thousandths(f32::from(face.capital_height().unwrap_or(face.ascender()))));
    // No font says how thick its stems are. This is what a weight of 400 or 700 has in most.
    about.stem_v(10.0 + 0.244 * (f32::from(face.weight().to_number()) - 50.0));
    match cff {
        Some(_) => about.font_file3(file),
        None => about.font_file2(file),
    };
    about.finish();

    let program = cff.unwrap_or(&subset);
    let compressed = compress(program);
    let mut stream = deflate(pdf, file, &compressed);
    match cff {
        Some(_) => stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C")),
        None => stream.pair(Name(b"Length1"), program.len() as i32),
    };
    stream.finish();

    let mut cmap = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
    for (number, text) in (0u16..).zip(&font.texts).filter(|(_, text)| !text.is_empty()) {
        cmap.pair_with_multiple(number, text.chars());
    }
    let compressed = compress(&cmap.finish());
    deflate(pdf, letters, &compressed).finish();
    Some(font)
}

/// Whether letters look as the outlines in the font say. Emoji have colors, and outlines with an optical size differ from size to size.
fn has_plain_outlines(face: &Face) -> bool {
    let has = |table: &[u8; 4]| face.raw_face().table(Tag::from_bytes(table)).is_some();
    let colored = [b"COLR", b"CBDT", b"sbix", b"SVG "].into_iter().any(has);
    let sized = |axis: ttf_parser::VariationAxis| axis.tag == Tag::from_bytes(b"opsz");
    !colored && !face.variation_axes().into_iter().any(sized)
}

/// Six letters that tell this subset from another of the same font.
fn tag(subset: &[u8]) -> String {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = subset.iter().fold(0xCBF2_9CE4_8422_2325, fnv);
    (0..6)
        .map(|place| char::from(b'A' + (hash / 26u64.pow(place) % 26) as u8))
        .collect()
}
