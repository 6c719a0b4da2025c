// SPDX-License-Identifier: MIT
//! Pictures made of pixels, gray where every pixel is, with a mask where one is transparent.

use super::canvas::Canvas;
use super::document::{Kind, compress, matrix};
use pdf_writer::{Filter, Finish, Name, Ref};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Image, ImageKind, Opacity, Transform};

/// The numbers of one pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Gray,
    Rgb,
}

impl Canvas<'_> {
    pub fn image(&mut self, image: &Image) -> Result<(), String> {
        if !image.is_visible() {
            return Ok(());
        }
        let ImageKind::PNG(bytes) = image.kind() else {
            return Err("a picture other than PNG is not drawn".to_string());
        };
        let pixels = Pixmap::decode_png(bytes).map_err(|error| format!("a PNG could not be read: {error}"))?;
        self.picture(
            &pixels,
            Transform::from_scale(image.size().width(), image.size().height()),
        )
    }

    /// Draws pixels into the place that the transform makes of the unit square.
    pub fn picture(&mut self, pixmap: &Pixmap, place: Transform) -> Result<(), String> {
        let size = [pixmap.width(), pixmap.height()];
        let colors: Vec<[u8; 4]> = pixmap
            .pixels()
            .iter()
            .map(|pixel| pixel.demultiply())
            .map(|c| [c.red(), c.green(), c.blue(), c.alpha()])
            .collect();
        let mask = colors.iter().any(|[_, _, _, alpha]| *alpha < 255).then(|| {
            let alphas: Vec<u8> = colors.iter().map(|color| color[3]).collect();
            self.pixels(size, Space::Gray, &alphas, None)
        });
        let object = if colors.iter().all(|[r, g, b, _]| r == g && g == b) {
            let grays: Vec<u8> = colors.iter().map(|color| color[0]).collect();
            self.pixels(size, Space::Gray, &grays, mask)
        } else {
            let rgb: Vec<u8> = colors.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
            self.pixels(size, Space::Rgb, &rgb, mask)
        };
        let name = self.used.name(Kind::Object, object);
        self.opacity(Opacity::ONE);
        self.apart(|own| {
            // A PDF has the first row of pixels at y = 1.
            let upright = place.pre_concat(Transform::from_row(1.0, 0.0, 0.0, -1.0, 0.0, 1.0));
            own.content.transform(matrix(upright)).x_object(Name(name.as_bytes()));
            Ok(())
        })
    }

    fn pixels(&mut self, [width, height]: [u32; 2], space: Space, bytes: &[u8], mask: Option<Ref>) -> Ref {
        let object = self.document.next();
        let compressed = compress(bytes);
        let mut image = self.document.pdf.image_xobject(object, &compressed);
        image.filter(Filter::FlateDecode);
        image.width(width as i32).height(height as i32).bits_per_component(8);
        match space {
            Space::Gray => image.color_space().device_gray(),
            Space::Rgb => image.color_space().device_rgb(),
        }
        if let Some(mask) = mask {
            image.s_mask(mask);
        }
        image.finish();
        object
    }
}
