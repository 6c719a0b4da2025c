// SPDX-License-Identifier: MIT
//! From SVG to PNG and PDF. Both are made from the same SVG text: resvg reads it and draws the PNG, `pdf` writes the PDF.

use crate::figure::Figure;
use crate::layout::draw;
use crate::letters::{all_fonts, escaped, other_font, own_fonts};
use crate::pdf;
use crate::style::{FontIn, Style};
use crate::text::has_foreign_letters;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, ID};
use resvg::usvg::{FontResolver, Options, Tree};
use std::sync::Arc;

/// Pixels per inch of a PNG.
const DPI: f64 = 300.0;

/// Why a figure could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The picture would be too large.
    #[error("a figure of {width} × {height} pixels is too large; give fewer panels or a smaller width")]
    TooLarge {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// A fault of ours: a drawing that another library does not read.
    #[error("internal error: the drawing could not be turned into {format}: {reason}")]
    Internal {
        /// What was to be written.
        format: &'static str,
        /// What the library said.
        reason: String,
    },
}

/// The figure as SVG text. Text stays text.
pub fn to_svg(figure: &Figure, style: &Style) -> String {
    draw(figure, style).svg
}

/// The figure as PNG with 300 pixels per inch.
pub fn to_png(figure: &Figure, style: &Style) -> Result<Vec<u8>, Error> {
    let internal = |reason: String| Error::Internal { format: "PNG", reason };
    let tree = parse(figure, style, DPI).map_err(internal)?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width(), size.height());
    let too_large = Error::TooLarge { width, height };
    if u64::from(width) * u64::from(height) > 400_000_000 {
        return Err(too_large);
    }
    let mut pixmap = Pixmap::new(width, height).ok_or(too_large)?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    let png = pixmap.encode_png().map_err(|error| internal(error.to_string()))?;
    Ok(with_resolution(&png, DPI))
}

/// The figure as PDF, one page of its size. Text stays text, and the font is embedded with the letters used.
pub fn to_pdf(figure: &Figure, style: &Style) -> Result<Vec<u8>, Error> {
    let internal = |reason: String| Error::Internal { format: "PDF", reason };
    let tree = parse(figure, style, 72.0).map_err(internal)?;
    let [_, name] = figure.names();
    pdf::write(&tree, name).map_err(internal)
}

fn parse(figure: &Figure, style: &Style, dpi: f64) -> Result<Tree, String> {
    // The libraries get the font from us, and would not read it from the SVG.
    let style = Style {
        font: FontIn::Page,
        ..style.clone()
    };
    // Escaped before it is laid out, because an escape is wider than its letter.
    let svg = draw(&escaped(figure), &style).svg;
    // Only for letters that ours lack: the picture depends on the fonts of the machine for these alone.
    let fonts = if has_foreign_letters(&svg) {
        all_fonts()
    } else {
        own_fonts()
    };
    let select_fallback = |c: char, used: &[ID], fonts: &mut Arc<Database>| other_font(c, used, fonts);
    let font_resolver = FontResolver {
        select_fallback: Box::new(select_fallback),
        ..FontResolver::default()
    };
    let options = Options {
        fontdb: Arc::new(fonts),
        font_family: "Inter".to_string(),
        font_resolver,
        dpi: dpi as f32,
        ..Options::default()
    };
    Tree::from_str(&svg, &options).map_err(|error| error.to_string())
}

/// The PNG with a pHYs chunk behind its header, which is 8 + 25 bytes long.
fn with_resolution(png: &[u8], dpi: f64) -> Vec<u8> {
    let per_meter = ((dpi / 0.0254).round() as u32).to_be_bytes();
    let mut chunk = b"pHYs".to_vec();
    chunk.extend(per_meter);
    chunk.extend(per_meter);
    chunk.push(1);
    let (header, rest) = png.split_at(33);
    let mut bytes = header.to_vec();
    bytes.extend(9u32.to_be_bytes());
    bytes.extend(&chunk);
    bytes.extend(crc32(&chunk).to_be_bytes());
    bytes.extend(rest);
    bytes
}

/// The checksum of PNG chunks.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_standard_example() {
        // The check value of CRC-32 as given in its catalogs.
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
