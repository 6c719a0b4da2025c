// SPDX-License-Identifier: MIT
//! The markers of a JPEG file: its size without decoding it, and whether it is whole.
//!
//! The decoder fills what is missing of a file that was cut with gray, without a word. So the end of the image is
//! looked for here.

use crate::error::{Parsed, Problem, bail};

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
