// SPDX-License-Identifier: MIT
//! Pictures with captions. Small pictures are enlarged pixel by pixel, so that no viewer blurs them.

use super::words;
use crate::content::{Channels, Image, Images, Weight};
use crate::palette::hex;
use crate::plan::{Plan, Scene};
use crate::subset::base64;
use crate::svg::{Anchor, Rect, Short, Stroke, Svg};
use crate::text::{LINE, clean, shorten, wrap};
use resvg::tiny_skia::{ColorU8, Pixmap};
use std::fmt::Write;

/// Lines of a caption.
const MOST_LINES: usize = 3;

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, images: &'a Images) -> Plan<'a> {
    if images.images.is_empty() {
        return words::plan(scene, "No pictures were given.".to_string());
    }
    Plan::block(
        Box::new(move |wide| {
            let rows = rows(scene, images, wide);
            let heights = rows.iter().map(|row| row.height + row.caption + 0.9 * scene.em);
            heights.sum::<f64>() - 0.9 * scene.em
        }),
        Box::new(move |frame, svg| {
            let (columns, wide) = columns(scene, images, frame.plot.width);
            let mut y = frame.plot.y;
            for (row, place) in rows(scene, images, frame.plot.width).iter().enumerate() {
                for (column, image) in images.images.iter().skip(row * columns).take(columns).enumerate() {
                    let x = frame.plot.x + column as f64 * (wide + scene.em);
                    draw_image(scene, image, Rect::new(x, y, wide, place.height), svg);
                }
                y += place.height + place.caption + 0.9 * scene.em;
            }
        }),
    )
}

struct Row {
    height: f64,
    caption: f64,
}

/// Pictures side by side and the width of each: at least five letters' sizes, so that captions can be read. A row that does not fit is
/// cut into rows of nearly the same length.
fn columns(scene: &Scene, images: &Images, wide: f64) -> (usize, f64) {
    let em = scene.em;
    let fitting = (((wide + em) / (6.0 * em)) as usize).max(1);
    let wanted = images.columns.clamp(1, images.images.len().max(1));
    let columns = wanted.div_ceil(wanted.div_ceil(fitting));
    (columns, (wide - em * (columns - 1) as f64) / columns as f64)
}

fn rows(scene: &Scene, images: &Images, wide: f64) -> Vec<Row> {
    let (columns, wide) = columns(scene, images, wide);
    let row = |images: &[Image]| {
        let shape = |image: &Image| (image.height.max(1) as f64 / image.width.max(1) as f64).clamp(0.2, 3.0);
        let lines = images.iter().map(|image| caption(scene, image, wide).len()).max();
        let caption = match lines.unwrap_or(0) {
            0 => 0.0,
            lines => (lines as f64 * LINE + 0.3) * scene.em,
        };
        let height = images.iter().map(shape).fold(0.0, f64::max) * wide;
        Row { height, caption }
    };
    images.images.chunks(columns).map(row).collect()
}

fn caption(scene: &Scene, image: &Image, wide: f64) -> Vec<String> {
    let mut lines = wrap(&clean(&image.caption), wide, scene.em, Weight::Regular);
    if lines.len() > MOST_LINES {
        let rest = lines.split_off(MOST_LINES - 1).concat();
        lines.push(shorten(&rest, wide, scene.em, Weight::Regular));
    }
    lines
}

fn draw_image(scene: &Scene, image: &Image, place: Rect, svg: &mut Svg) {
    let em = scene.em;
    // The whole picture, in its own shape, in the middle of its place.
    let scale = (place.width / image.width.max(1) as f64).min(place.height / image.height.max(1) as f64);
    let (wide, high) = (scale * image.width as f64, scale * image.height as f64);
    let inner = Rect::new(
        place.x + (place.width - wide) / 2.0,
        place.y + (place.height - high) / 2.0,
        wide,
        high,
    );
    match png(image, (400 / image.width.max(image.height).max(1)).clamp(1, 64)) {
        Some(png) => {
            let _ = writeln!(
                svg.body,
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"/>",
                Short(inner.x),
                Short(inner.y),
                Short(inner.width),
                Short(inner.height),
                base64(&png)
            );
            svg.rect(inner, "none", Some(&Stroke::solid(scene.ink.grid, 0.08 * em)), "");
        }
        None => {
            svg.rect(place, &hex(scene.ink.grid), None, "");
            let letters = scene.letters().colored(scene.ink.muted).anchored(Anchor::Middle);
            svg.text(place.x + place.width / 2.0, place.y + place.height / 2.0, "–", letters);
        }
    }
    let letters = scene.letters().anchored(Anchor::Middle);
    for (row, line) in caption(scene, image, place.width).iter().enumerate() {
        let y = place.bottom() + (1.1 + row as f64 * LINE) * em;
        svg.text(place.x + place.width / 2.0, y, line, letters);
    }
}

/// A picture as a PNG file, pixel by pixel; `None` if its numbers do not fit together.
pub fn image_png(image: &Image) -> Option<Vec<u8>> {
    png(image, 1)
}

/// The picture with each pixel enlarged so many times.
fn png(image: &Image, times: usize) -> Option<Vec<u8>> {
    let per_pixel = match image.channels {
        Channels::Gray => 1,
        Channels::Rgb => 3,
    };
    let (width, height) = (image.width, image.height);
    let pixels = width.checked_mul(height)?;
    if pixels == 0 || pixels.checked_mul(per_pixel)? != image.pixels.len() {
        return None;
    }
    let mut map = Pixmap::new(u32::try_from(width * times).ok()?, u32::try_from(height * times).ok()?)?;
    let stride = width * times;
    for (at, pixel) in map.pixels_mut().iter_mut().enumerate() {
        let source = ((at / stride / times) * width + at % stride / times) * per_pixel;
        let [r, g, b] = match image.channels {
            Channels::Gray => [image.pixels[source]; 3],
            Channels::Rgb => [image.pixels[source], image.pixels[source + 1], image.pixels[source + 2]],
        };
        *pixel = ColorU8::from_rgba(r, g, b, 255).premultiply();
    }
    map.encode_png().ok()
}
