// SPDX-License-Identifier: MIT
//! Draws a tree into a content stream: groups, paths and clips.

use super::document::{Document, Kind, Used, compress, matrix, rounded, short};
use super::font::Fonts;
use super::refuse;
use pdf_writer::types::{ColorSpaceOperand, LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Finish, Name, Rect, Ref, Settings};
use resvg::usvg::tiny_skia_path::{self, PathSegment, Point};
use resvg::usvg::{
    BlendMode, ClipPath, Fill, FillRule, Group, LineCap, LineJoin, Node, Opacity, Paint, PaintOrder, Path, Stroke,
    Transform,
};

/// One stream: that of the page, of a transparent group or of a pattern.
pub(super) struct Canvas<'a> {
    pub document: &'a mut Document,
    pub fonts: &'a Fonts,
    pub content: Content,
    pub used: Used,
    /// From where we draw to the space of the stream, in which patterns and gradients have their place.
    pub place: Transform,
}

/// What is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Inside,
    Line,
}

/// What it is painted with.
pub(super) enum Ink {
    Color([f32; 3]),
    Pattern(Ref),
}

impl<'a> Canvas<'a> {
    pub fn new(document: &'a mut Document, fonts: &'a Fonts) -> Self {
        Self {
            document,
            fonts,
            content: Content::with_settings(Settings { pretty: false }),
            used: Used::default(),
            place: Transform::identity(),
        }
    }

    /// The compressed stream and what it uses.
    pub fn finish(self) -> (Vec<u8>, Used) {
        (compress(&self.content.finish()), self.used)
    }

    /// Draws on in other coordinates.
    pub fn transform(&mut self, transform: Transform) {
        if !transform.is_identity() {
            self.content.transform(matrix(transform));
            self.place = self.place.pre_concat(transform);
        }
    }

    /// Draws with a state of its own: coordinates and clips end with it.
    pub fn apart(&mut self, draw: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let place = self.place;
        self.content.save_state();
        draw(self)?;
        self.content.restore_state();
        self.place = place;
        Ok(())
    }

    pub fn group(&mut self, group: &Group) -> Result<(), String> {
        refuse(!group.filters().is_empty(), "a filter")?;
        refuse(group.mask().is_some(), "a mask")?;
        refuse(group.blend_mode() != BlendMode::Normal, "a blend mode")?;
        // Whether a group is isolated makes a difference to blend modes only.
        let opaque = group.opacity() == Opacity::ONE;
        if opaque && group.transform().is_identity() && group.clip_path().is_none() {
            return self.children(group);
        }
        self.apart(|own| {
            own.transform(group.transform());
            if let Some(clip) = group.clip_path() {
                own.clip(clip)?;
            }
            if opaque {
                own.children(group)
            } else {
                own.transparent(group)
            }
        })
    }

    fn children(&mut self, group: &Group) -> Result<(), String> {
        group.children().iter().try_for_each(|node| match node {
            Node::Group(group) => self.group(group),
            Node::Path(path) => self.path(path),
            Node::Image(image) => self.image(image),
            Node::Text(text) => self.text(text, node),
        })
    }

    /// Draws the group as a whole and lays it over the page: where its parts overlap, they do not shine through each other.
    fn transparent(&mut self, group: &Group) -> Result<(), String> {
        let mut canvas = Canvas::new(&mut *self.document, self.fonts);
        canvas.children(group)?;
        let (stream, used) = canvas.finish();
        let object = self.document.next();
        let bounds = group.stroke_bounding_box();
        let mut form = self.document.pdf.form_xobject(object, &stream);
        form.filter(pdf_writer::Filter::FlateDecode);
        form.bbox(Rect::new(bounds.left(), bounds.top(), bounds.right(), bounds.bottom()));
        used.write(&mut form.resources());
        let mut transparency = form.group();
        transparency.transparency().color_space().device_rgb();
        transparency.finish();
        form.finish();
        self.opacity(group.opacity());
        let name = self.used.name(Kind::Object, object);
        self.content.x_object(Name(name.as_bytes()));
        Ok(())
    }

    /// Draws only inside the path from now on.
    fn clip(&mut self, clip: &ClipPath) -> Result<(), String> {
        refuse(clip.clip_path().is_some(), "a clip path that is clipped")?;
        let rule = match clip.root().children() {
            // A clip without a shape leaves nothing: a rectangle without a size does the same.
            [] => {
                self.content.rect(0.0, 0.0, 0.0, 0.0);
                FillRule::NonZero
            }
            [Node::Path(path)] => {
                let moved = path.data().clone().transform(clip.transform());
                self.trace(&moved.ok_or("a clip path without bounds is not drawn")?);
                path.fill().map_or(FillRule::NonZero, Fill::rule)
            }
            _ => return Err("a clip path of several shapes is not drawn".to_string()),
        };
        match rule {
            FillRule::NonZero => self.content.clip_nonzero(),
            FillRule::EvenOdd => self.content.clip_even_odd(),
        };
        self.content.end_path();
        Ok(())
    }

    pub fn path(&mut self, path: &Path) -> Result<(), String> {
        if !path.is_visible() {
            return Ok(());
        }
        let parts = match path.paint_order() {
            PaintOrder::FillAndStroke => [Part::Inside, Part::Line],
            PaintOrder::StrokeAndFill => [Part::Line, Part::Inside],
        };
        // One after the other, never both at once: a PDF would let the line knock out the inside, which an SVG does not.
        parts.into_iter().try_for_each(|part| match part {
            Part::Inside => path.fill().map_or(Ok(()), |fill| self.fill(fill, path.data())),
            Part::Line => path.stroke().map_or(Ok(()), |stroke| self.stroke(stroke, path.data())),
        })
    }

    fn fill(&mut self, fill: &Fill, data: &tiny_skia_path::Path) -> Result<(), String> {
        self.paint(fill.paint(), fill.opacity(), Part::Inside)?;
        self.trace(data);
        match fill.rule() {
            FillRule::NonZero => self.content.fill_nonzero(),
            FillRule::EvenOdd => self.content.fill_even_odd(),
        };
        Ok(())
    }

    fn stroke(&mut self, stroke: &Stroke, data: &tiny_skia_path::Path) -> Result<(), String> {
        self.paint(stroke.paint(), stroke.opacity(), Part::Line)?;
        let content = &mut self.content;
        content.set_line_width(short(stroke.width().get()));
        content.set_line_cap(match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        content.set_line_join(match stroke.linejoin() {
            LineJoin::Miter => LineJoinStyle::MiterJoin,
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
            LineJoin::MiterClip => return Err("a clipped miter is not drawn".to_string()),
        });
        content.set_miter_limit(stroke.miterlimit().get());
        let dashes = stroke
            .dasharray()
            .unwrap_or_default()
            .iter()
            .map(|length| short(*length));
        content.set_dash_pattern(dashes, short(stroke.dashoffset()));
        self.trace(data);
        self.content.stroke();
        Ok(())
    }

    /// Paints with this from now on.
    pub fn paint(&mut self, paint: &Paint, opacity: Opacity, part: Part) -> Result<(), String> {
        self.opacity(opacity);
        let ink = self.ink(paint)?;
        let content = &mut self.content;
        match (part, ink) {
            (Part::Inside, Ink::Color([r, g, b])) => content.set_fill_rgb(r, g, b),
            (Part::Line, Ink::Color([r, g, b])) => content.set_stroke_rgb(r, g, b),
            (part, Ink::Pattern(pattern)) => {
                let name = self.used.name(Kind::Pattern, pattern);
                let name = Name(name.as_bytes());
                if part == Part::Inside {
                    content.set_fill_color_space(ColorSpaceOperand::Pattern);
                    content.set_fill_pattern(None, name)
                } else {
                    content.set_stroke_color_space(ColorSpaceOperand::Pattern);
                    content.set_stroke_pattern(None, name)
                }
            }
        };
        Ok(())
    }

    /// Paints with this opacity from now on.
    pub fn opacity(&mut self, opacity: Opacity) {
        let state = self.document.opacity(rounded(opacity.get(), 1e4));
        let name = self.used.name(Kind::State, state);
        self.content.set_parameters(Name(name.as_bytes()));
    }

    fn trace(&mut self, data: &tiny_skia_path::Path) {
        let content = &mut self.content;
        let mut pen = Point::zero();
        let third = |from: f32, to: f32| short(from + (to - from) * 2.0 / 3.0);
        for segment in data.segments() {
            match segment {
                PathSegment::MoveTo(to) => content.move_to(short(to.x), short(to.y)),
                PathSegment::LineTo(to) => content.line_to(short(to.x), short(to.y)),
                // PDF has cubic curves only.
                PathSegment::QuadTo(by, to) => content.cubic_to(
                    third(pen.x, by.x),
                    third(pen.y, by.y),
                    third(to.x, by.x),
                    third(to.y, by.y),
                    short(to.x),
                    short(to.y),
                ),
                PathSegment::CubicTo(a, b, to) => {
                    content.cubic_to(short(a.x), short(a.y), short(b.x), short(b.y), short(to.x), short(to.y))
                }
                PathSegment::Close => content.close_path(),
            };
            if let PathSegment::MoveTo(to)
            | PathSegment::LineTo(to)
            | PathSegment::QuadTo(_, to)
            | PathSegment::CubicTo(_, _, to) = segment
            {
                pen = to;
            }
        }
    }
}
