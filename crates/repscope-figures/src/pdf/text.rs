// SPDX-License-Identifier: MIT
//! Letters as text that can be searched and copied.

use super::canvas::{Canvas, Part};
use super::document::{Kind, matrix};
use super::font::Font;
use super::refuse;
use pdf_writer::{Finish, Name, Ref, Str, TextStr};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::layout::{PositionedGlyph, Span};
use resvg::usvg::tiny_skia_path::Point;
use resvg::usvg::{Group, Node, Text, Transform};

/// Pixels per point of letters that are drawn as a picture: 600 per inch.
const PIXELS: f32 = 600.0 / 72.0;

/// Glyphs of one font on one line, written with one operator.
struct Run {
    font: Ref,
    size: f32,
    start: Transform,
    /// Where the last glyph ends, from the start.
    end: f32,
    /// Glyphs behind a step back, in thousandths of the size.
    pieces: Vec<(f32, Vec<u8>)>,
}

impl Canvas<'_> {
    /// Draws the letters of `node`, which is this text.
    pub fn text(&mut self, text: &Text, node: &Node) -> Result<(), String> {
        let spans = || text.layouted().iter().filter(|span| span.visible);
        for span in spans() {
            refuse(span.stroke.is_some(), "a line around letters")?;
            let lines = [&span.underline, &span.overline, &span.line_through];
            refuse(lines.iter().any(|line| line.is_some()), "a line along letters")?;
        }
        let embedded = |span: &Span| {
            span.positioned_glyphs
                .iter()
                .all(|glyph| self.fonts.get(glyph.font).is_some())
        };
        if spans().all(embedded) {
            return spans().try_for_each(|span| self.span(span));
        }
        let words: String = text.chunks().iter().map(|chunk| chunk.text()).collect();
        self.begin_actual_text(&words);
        if is_outlines(text.flattened()) {
            self.group(text.flattened())?;
        } else {
            self.letters_as_picture(text, node)?;
        }
        self.content.end_marked_content();
        Ok(())
    }

    fn span(&mut self, span: &Span) -> Result<(), String> {
        let Some(fill) = &span.fill else {
            return Ok(());
        };
        self.paint(fill.paint(), fill.opacity(), Part::Inside)?;
        self.content.begin_text();
        let mut run: Option<Run> = None;
        let fonts = self.fonts;
        for glyph in &span.positioned_glyphs {
            let Some(font) = fonts.get(glyph.font) else {
                continue; // `text` has seen that there is one
            };
            let letter = Letter::of(glyph, font)?;
            // A glyph that stands for other letters here than elsewhere says so.
            let is_usual = font.text(letter.number) == Some(glyph.text.as_str());
            if is_usual && run.as_mut().is_some_and(|run| run.takes(&letter)) {
                continue;
            }
            if let Some(ended) = run.take() {
                self.run(&ended);
            }
            let next = Run::new(&letter);
            if is_usual {
                run = Some(next);
            } else {
                self.begin_actual_text(&glyph.text);
                self.run(&next);
                self.content.end_marked_content();
            }
        }
        if let Some(ended) = run {
            self.run(&ended);
        }
        self.content.end_text();
        Ok(())
    }

    fn run(&mut self, run: &Run) {
        let name = self.used.name(Kind::Font, run.font);
        self.content.set_font(Name(name.as_bytes()), run.size);
        self.content.set_text_matrix(matrix(run.start));
        let mut line = self.content.show_positioned();
        let mut items = line.items();
        for (back, glyphs) in &run.pieces {
            if *back != 0.0 {
                items.adjust(*back);
            }
            items.show(Str(glyphs));
        }
    }

    /// What is drawn next, up to the end of the marked content, reads as these words.
    fn begin_actual_text(&mut self, words: &str) {
        let mut mark = self.content.begin_marked_content_with_properties(Name(b"Span"));
        mark.properties().actual_text(TextStr(words));
        mark.finish();
    }

    /// Colored letters, such as emoji, are a picture.
    fn letters_as_picture(&mut self, text: &Text, node: &Node) -> Result<(), String> {
        let bounds = text.stroke_bounding_box();
        let Some(corner) = node.abs_layer_bounding_box() else {
            return Ok(()); // nothing to see
        };
        let (wide, high) = ((bounds.width() * PIXELS).ceil(), (bounds.height() * PIXELS).ceil());
        let mut pixels = Pixmap::new(wide as u32, high as u32).ok_or("letters of this size are not drawn")?;
        // resvg draws letters where they stand before they are turned, but moves them by their corner on the page.
        let (x, y) = (corner.x() - bounds.x(), corner.y() - bounds.y());
        let scale = Transform::from_scale(PIXELS, PIXELS);
        resvg::render_node(node, scale.pre_translate(x, y), &mut pixels.as_mut());
        let place = Transform::from_translate(bounds.x(), bounds.y());
        self.picture(&pixels, place.pre_scale(wide / PIXELS, high / PIXELS))
    }
}

/// Whether letters are nothing but outlines.
fn is_outlines(group: &Group) -> bool {
    group.children().iter().all(|node| matches!(node, Node::Path(_)))
}

/// A glyph with its place.
struct Letter {
    font: Ref,
    size: f32,
    /// From letters of this size, y upwards, to the drawing.
    place: Transform,
    number: u16,
    width: f32,
}

impl Letter {
    fn of(glyph: &PositionedGlyph, font: &Font) -> Result<Self, String> {
        let number = font.number(glyph.id.0).ok_or("a glyph is missing from its font")?;
        let size = glyph.font_size();
        let scale = font.units_per_em / size;
        Ok(Self {
            font: font.object,
            size,
            place: glyph.outline_transform().pre_scale(scale, scale),
            number,
            width: font.width(number),
        })
    }
}

impl Run {
    fn new(letter: &Letter) -> Self {
        Self {
            font: letter.font,
            size: letter.size,
            start: letter.place,
            end: letter.width / 1000.0 * letter.size,
            pieces: vec![(0.0, letter.number.to_be_bytes().to_vec())],
        }
    }

    /// Adds the letter if it stands on the same line.
    fn takes(&mut self, letter: &Letter) -> bool {
        let near = |a: f32, b: f32| (a - b).abs() < 1e-4;
        let (a, b) = (self.start, letter.place);
        let turned = !(near(a.sx, b.sx) && near(a.kx, b.kx) && near(a.ky, b.ky) && near(a.sy, b.sy));
        if turned || self.font != letter.font || self.size != letter.size {
            return false;
        }
        let Some(inverse) = self.start.invert() else {
            return false;
        };
        let mut at = Point::from_xy(letter.place.tx, letter.place.ty);
        inverse.map_point(&mut at);
        if at.y.abs() > 1e-3 * self.size {
            return false;
        }
        // Counted from where the glyphs written so far end, so that rounding does not add up.
        let back = ((self.end - at.x) / self.size * 1000.0).round();
        let number = letter.number.to_be_bytes();
        match self.pieces.last_mut() {
            Some((_, glyphs)) if back == 0.0 => glyphs.extend(number),
            _ => self.pieces.push((back, number.to_vec())),
        }
        self.end += (letter.width - back) / 1000.0 * self.size;
        true
    }
}
