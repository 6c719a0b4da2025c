// SPDX-License-Identifier: MIT
//! Colors, gradients along a line, and patterns.

use super::canvas::{Canvas, Ink};
use super::document::{Shared, matrix, rounded};
use super::refuse;
use pdf_writer::types::{FunctionShadingType, PaintType, TilingType};
use pdf_writer::{Filter, Finish, Rect, Ref};
use resvg::usvg::{Color, LinearGradient, Opacity, Paint, Pattern, SpreadMethod, Stop};

impl Canvas<'_> {
    pub fn ink(&mut self, paint: &Paint) -> Result<Ink, String> {
        Ok(match paint {
            Paint::Color(color) => Ink::Color(rgb(*color)),
            Paint::LinearGradient(gradient) => Ink::Pattern(self.gradient(gradient)?),
            Paint::Pattern(pattern) => Ink::Pattern(self.pattern(pattern)?),
            Paint::RadialGradient(_) => return Err("a radial gradient is not drawn".to_string()),
        })
    }

    fn gradient(&mut self, gradient: &LinearGradient) -> Result<Ref, String> {
        refuse(gradient.spread_method() != SpreadMethod::Pad, "a gradient that repeats")?;
        let opaque = |stop: &Stop| stop.opacity() == Opacity::ONE;
        refuse(!gradient.stops().iter().all(opaque), "a transparent gradient")?;
        let place = self.place.pre_concat(gradient.transform());
        let from = Shared::Paint(gradient.id().to_string(), place);
        if let Some(object) = self.document.shared(&from) {
            return Ok(object);
        }
        let object = self.document.share(from);
        let colors = self.colors(gradient.stops());
        let mut pattern = self.document.pdf.shading_pattern(object);
        pattern.matrix(matrix(place));
        let mut shading = pattern.function_shading();
        shading.shading_type(FunctionShadingType::Axial);
        shading.color_space().device_rgb();
        shading.coords([gradient.x1(), gradient.y1(), gradient.x2(), gradient.y2()]);
        shading.extend([true, true]).function(colors);
        Ok(object)
    }

    /// The function from the share of the way to the color: one straight piece from each stop to the next.
    fn colors(&mut self, stops: &[Stop]) -> Ref {
        let at = |stop: &Stop| stop.offset().get();
        let (first, last) = (&stops[0], &stops[stops.len() - 1]);
        let mut ends: Vec<(f32, [f32; 3])> = stops.iter().map(|stop| (at(stop), rgb(stop.color()))).collect();
        // The pieces must cover the whole way.
        if at(first) > 0.0 {
            ends.insert(0, (0.0, rgb(first.color())));
        }
        if at(last) < 1.0 {
            ends.push((1.0, rgb(last.color())));
        }
        let pieces: Vec<Ref> = ends
            .windows(2)
            .map(|pair| {
                let piece = self.document.next();
                let mut function = self.document.pdf.exponential_function(piece);
                function.domain([0.0, 1.0]).c0(pair[0].1).c1(pair[1].1).n(1.0);
                piece
            })
            .collect();
        let whole = self.document.next();
        let mut function = self.document.pdf.stitching_function(whole);
        function.domain([0.0, 1.0]);
        function.bounds(ends[1..ends.len() - 1].iter().map(|(at, _)| *at));
        function.encode(pieces.iter().flat_map(|_| [0.0, 1.0]));
        function.functions(pieces);
        whole
    }

    fn pattern(&mut self, pattern: &Pattern) -> Result<Ref, String> {
        let tile = pattern.rect();
        // The content of a pattern starts at its tile.
        let place = self.place.pre_concat(pattern.transform());
        let place = place.pre_translate(tile.x(), tile.y());
        let from = Shared::Paint(pattern.id().to_string(), place);
        if let Some(object) = self.document.shared(&from) {
            return Ok(object);
        }
        let mut canvas = Canvas::new(&mut *self.document, self.fonts);
        canvas.group(pattern.root())?;
        let (stream, used) = canvas.finish();
        let object = self.document.share(from);
        let mut tiling = self.document.pdf.tiling_pattern(object, &stream);
        tiling.filter(Filter::FlateDecode);
        tiling.matrix(matrix(place));
        tiling
            .paint_type(PaintType::Colored)
            .tiling_type(TilingType::NoDistortion);
        tiling.bbox(Rect::new(0.0, 0.0, tile.width(), tile.height()));
        tiling.x_step(tile.width()).y_step(tile.height());
        used.write(&mut tiling.resources());
        tiling.finish();
        Ok(object)
    }
}

fn rgb(color: Color) -> [f32; 3] {
    // Four digits are one of 256 levels again.
    [color.red, color.green, color.blue].map(|level| rounded(f32::from(level) / 255.0, 1e4))
}
