// SPDX-License-Identifier: MIT
//! One image: its size and kind without decoding it, and its values.

use std::io::Cursor;
use std::path::Path;

use png::{BitDepth, ColorType};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;

use crate::catch_panic::catch_panic;
use crate::error::{Parsed, Problem, Result, bail};
use crate::mapped::MappedFile;

/// Images with a longer side are not believed.
const SIDE_LIMIT: usize = 65_535;

/// Images that take more bytes when decoded are not believed.
const BYTE_LIMIT: u64 = 512 << 20;

/// PNG packs at most 1032 bytes into one, with 8 pixels in each of them; JPEG packs less.
const PIXELS_PER_BYTE: usize = 1032 * 8;

/// What the header of an image says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Without alpha: 1 for gray, 3 for color.
    pub(super) colors: usize,
    pub(super) has_alpha: bool,
    /// 8 or 16.
    pub(super) bits: usize,
}

/// A decoded image: pixel by pixel, with alpha behind the colors where there is one.
pub(super) struct Picture {
    pub(super) header: Header,
    values: Samples,
}

enum Samples {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

#[derive(Debug, Clone, Copy)]
enum Codec {
    Png,
    Jpeg,
}

/// Reads the header alone.
pub(super) fn look(path: &Path) -> Result<Header> {
    let file = MappedFile::open(path)?;
    header(&file).map_err(|p| p.in_file(path.display()))
}

/// Decodes an image, after checking its header.
pub(super) fn decode(path: &Path) -> Result<Picture> {
    let file = MappedFile::open(path)?;
    let decoded = header(&file).and_then(|header| picture(&file, header));
    decoded.map_err(|p| p.in_file(path.display()))
}

impl Picture {
    /// Whether alpha hides nothing.
    pub(super) fn is_opaque(&self) -> bool {
        let channels = self.header.colors + 1;
        !self.header.has_alpha
            || match &self.values {
                Samples::Bytes(v) => v.chunks_exact(channels).all(|pixel| pixel[channels - 1] == u8::MAX),
                Samples::Words(v) => v.chunks_exact(channels).all(|pixel| pixel[channels - 1] == u16::MAX),
            }
    }

    /// Puts the values of 8 or 16 bits into a row of `colors` values per pixel; gray is repeated, alpha dropped.
    pub(super) fn put(&self, colors: usize, row: &mut [f32]) {
        match &self.values {
            Samples::Bytes(v) => self.spread(v, colors, row),
            Samples::Words(v) => self.spread(v, colors, row),
        }
    }

    /// As `put`, for images of 8 bits; others leave the row as it is.
    pub(super) fn put_bytes(&self, colors: usize, row: &mut [u8]) {
        if let Samples::Bytes(v) = &self.values {
            self.spread(v, colors, row);
        }
    }

    fn spread<T: Copy, U: From<T>>(&self, values: &[T], colors: usize, row: &mut [U]) {
        let own = self.header.colors;
        if own == colors && !self.header.has_alpha {
            row.iter_mut()
                .zip(values)
                .for_each(|(place, &value)| *place = U::from(value));
            return;
        }
        let pixels = values.chunks_exact(own + usize::from(self.header.has_alpha));
        for (pixel, place) in pixels.zip(row.chunks_exact_mut(colors)) {
            for (color, value) in place.iter_mut().enumerate() {
                *value = U::from(pixel[color.min(own - 1)]);
            }
        }
    }
}

fn codec(bytes: &[u8]) -> Parsed<Codec> {
    if bytes.is_empty() {
        bail!("is empty (0 bytes)");
    }
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Ok(Codec::Png);
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Ok(Codec::Jpeg);
    }
    let found: Vec<String> = bytes.iter().take(8).map(|b| format!("{b:02x}")).collect();
    let found = found.join(" ");
    bail!("is no image: PNG and JPEG files do not start with the bytes {found}")
}

fn header(bytes: &[u8]) -> Parsed<Header> {
    let header = match codec(bytes)? {
        Codec::Png => header_of(&contained(|| open_png(bytes))?),
        Codec::Jpeg => {
            let frame = frame(bytes)?;
            let colors = match frame.components {
                1 => 1,
                3 => 3,
                n => bail!("has {n} color components, where 1 (gray) and 3 (color) are read; convert it to RGB"),
            };
            if frame.bits != 8 {
                bail!("is a JPEG of {} bits, where 8 are read; save it as PNG", frame.bits);
            }
            Header {
                width: frame.width,
                height: frame.height,
                colors,
                has_alpha: false,
                bits: 8,
            }
        }
    };
    check_size(&header, bytes.len())?;
    Ok(header)
}

/// Compares the size that a header states with limits and with the file, before memory is taken for it.
fn check_size(header: &Header, bytes: usize) -> Parsed<()> {
    let Header { width, height, .. } = *header;
    let pixels = width.saturating_mul(height);
    if pixels == 0 {
        bail!("is an image of {width} × {height} pixels, which is nothing");
    }
    let channels = header.colors + usize::from(header.has_alpha);
    let needed = (pixels as u64).saturating_mul((channels * header.bits / 8) as u64);
    if width.max(height) > SIDE_LIMIT || needed > BYTE_LIMIT {
        bail!(
            "claims {width} × {height} pixels, {needed} bytes when decoded; at most {BYTE_LIMIT} bytes and sides of \
             {SIDE_LIMIT} are read"
        );
    }
    if pixels / PIXELS_PER_BYTE > bytes {
        bail!("claims {width} × {height} pixels in a file of {bytes} bytes, which cannot hold them: it is damaged");
    }
    Ok(())
}

fn picture(bytes: &[u8], header: Header) -> Parsed<Picture> {
    let (found, values) = match codec(bytes)? {
        Codec::Png => contained(|| {
            let mut png = open_png(bytes)?;
            let found = header_of(&png);
            let mut values = vec![0; png.output_buffer_size().unwrap_or(0)];
            png.next_frame(&mut values)?;
            Ok::<_, png::DecodingError>((found, values))
        })?,
        Codec::Jpeg if !is_whole(bytes) => bail!(
            "ends before its image does, after {} bytes; it may have been cut off while copying",
            bytes.len()
        ),
        Codec::Jpeg => contained(|| {
            let options = DecoderOptions::default()
                .set_strict_mode(false)
                .set_max_width(SIDE_LIMIT)
                .set_max_height(SIDE_LIMIT)
                .jpeg_set_out_colorspace(if header.colors == 1 {
                    ColorSpace::Luma
                } else {
                    ColorSpace::RGB
                });
            let mut jpeg = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
            let values = jpeg.decode()?;
            let (width, height) = jpeg.dimensions().unwrap_or_default();
            Ok::<_, zune_jpeg::errors::DecodeErrors>((
                Header {
                    width,
                    height,
                    ..header
                },
                values,
            ))
        })?,
    };
    if found != header {
        bail!(
            "is damaged: its header states {} but {} come out",
            describe(&header),
            describe(&found)
        );
    }
    let word = |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]);
    let values = if header.bits == 8 {
        Samples::Bytes(values)
    } else {
        Samples::Words(values.chunks_exact(2).map(word).collect())
    };
    Ok(Picture { header, values })
}

/// A PNG file with its header read. Palettes and values of fewer than 8 bits are expanded; texts and color profiles, which may
/// inflate to any size, are passed over.
fn open_png(bytes: &[u8]) -> std::result::Result<png::Reader<Cursor<&[u8]>>, png::DecodingError> {
    // A decoder needs some room beside the image itself.
    let limits = png::Limits {
        bytes: 2 * BYTE_LIMIT as usize,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.read_info()
}

fn header_of(png: &png::Reader<Cursor<&[u8]>>) -> Header {
    let (color, depth) = png.output_color_type();
    Header {
        width: png.info().width as usize,
        height: png.info().height as usize,
        colors: if matches!(color, ColorType::Rgb | ColorType::Rgba) {
            3
        } else {
            1
        },
        has_alpha: matches!(color, ColorType::GrayscaleAlpha | ColorType::Rgba),
        bits: if depth == BitDepth::Sixteen { 16 } else { 8 },
    }
}

fn describe(header: &Header) -> String {
    let kind = if header.colors == 1 { "gray" } else { "color" };
    let Header {
        width, height, bits, ..
    } = header;
    format!("{width} × {height} {kind} pixels of {bits} bits")
}

fn contained<T, E: std::fmt::Display>(decode: impl FnOnce() -> std::result::Result<T, E>) -> Parsed<T> {
    match catch_panic(decode) {
        Some(Ok(decoded)) => Ok(decoded),
        Some(Err(error)) => bail!("cannot be decoded: {error}"),
        None => bail!("cannot be decoded: it is damaged"),
    }
}

// The markers of a JPEG file: its size without decoding it, and whether it is whole.
//
// The decoder fills what is missing of a file that was cut with gray, without a word. So the end of the image is
// looked for here.

/// What the frame header says.
pub(super) struct Frame {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) components: u8,
    pub(super) bits: u8,
}

const START_OF_SCAN: u8 = 0xda;
const END_OF_IMAGE: u8 = 0xd9;

/// The frame header; what follows it is ignored.
pub(super) fn frame(bytes: &[u8]) -> Parsed<Frame> {
    let mut markers = Markers { bytes, at: 2 };
    loop {
        match markers.next()? {
            // All kinds of frames; c4, c8 and cc between them are something else.
            (0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf, segment) => {
                let &[bits, h1, h0, w1, w0, components, ..] = segment else {
                    bail!("has a damaged frame header");
                };
                return Ok(Frame {
                    width: usize::from(u16::from_be_bytes([w1, w0])),
                    height: usize::from(u16::from_be_bytes([h1, h0])),
                    components,
                    bits,
                });
            }
            (START_OF_SCAN | END_OF_IMAGE, _) => bail!("has no frame header"),
            _ => {}
        }
    }
}

/// Whether the image is complete. What follows its end does not matter: cameras append more pictures.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let mut markers = Markers { bytes, at: 2 };
    while let Ok((marker, _)) = markers.next() {
        match marker {
            END_OF_IMAGE => return true,
            START_OF_SCAN => markers.skip_scan(),
            _ => {}
        }
    }
    false
}

struct Markers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Markers<'a> {
    /// The next marker and its segment, without the two bytes of its length.
    fn next(&mut self) -> Parsed<(u8, &'a [u8])> {
        let cut = || Problem::new("ends too early; it may have been cut off while copying");
        // Any number of ff may stand before a marker, and sloppy writers leave bytes between segments.
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        rest = &rest[rest.iter().position(|&b| b == 0xff).ok_or_else(cut)?..];
        rest = &rest[rest.iter().position(|&b| b != 0xff).ok_or_else(cut)?..];
        let (&marker, rest) = rest.split_first().ok_or_else(cut)?;
        // These stand alone.
        if matches!(marker, 0x00 | 0x01 | 0xd0..=0xd9) {
            self.at = self.bytes.len() - rest.len();
            return Ok((marker, &[]));
        }
        let length = usize::from(u16::from_be_bytes(*rest.first_chunk().ok_or_else(cut)?));
        let segment = rest.get(2..length.max(2)).ok_or_else(cut)?;
        self.at = self.bytes.len() - rest.len() + length.max(2);
        Ok((marker, segment))
    }

    /// Goes to the next marker behind the data of a scan, in which ff is followed by 00 or a restart.
    fn skip_scan(&mut self) {
        let data = &self.bytes[self.at..];
        let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xd0..=0xd7 | 0xff);
        self.at += data.windows(2).position(is_marker).unwrap_or(data.len());
    }
}
