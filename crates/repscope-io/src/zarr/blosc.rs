// SPDX-License-Identifier: MIT
//! Blosc 1, the usual compression of Zarr: blocks of LZ4, zstd or zlib over bytes that were shuffled, so that like bytes stand together.

use std::io::Read;

use crate::error::{Parsed, Problem, bail, problem};
use crate::zstd;

/// Bytes of the header.
const HEADER: usize = 16;

/// Values of more bytes are not split.
const MOST_SPLITS: usize = 16;

/// Parts of fewer bytes are not split.
const LEAST_SPLIT: usize = 128;

mod flag {
    pub(super) const SHUFFLED: u8 = 1;
    pub(super) const STORED: u8 = 2;
    pub(super) const BITS_SHUFFLED: u8 = 4;
    pub(super) const WHOLE: u8 = 16;
}

fn damaged() -> Problem {
    problem!("is damaged: what Blosc compressed ends too early or does not fit")
}

/// The bytes of a buffer, at most `most`.
pub(super) fn unpack(packed: &[u8], most: u64) -> Parsed<Vec<u8>> {
    let (header, body) = packed.split_first_chunk::<HEADER>().ok_or_else(damaged)?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
    let (flags, width) = (header[2], usize::from(header[3]).max(1));
    let (size, block) = (number(4), number(8));
    if size as u64 > most {
        bail!("is damaged: a chunk claims {size} bytes, and {most} are the most");
    }
    if flags & flag::STORED != 0 {
        return Ok(body.get(..size).ok_or_else(damaged)?.to_vec());
    }
    if size == 0 {
        return Ok(Vec::new());
    }
    if block == 0 {
        return Err(damaged());
    }
    let codec = Codec::of(flags >> 5)?;
    let blocks = size.div_ceil(block);
    // Each block says where it begins.
    let starts = body.get(..blocks * 4).ok_or_else(damaged)?;
    let mut unpacked = vec![0; size];
    let mut plain = vec![0; block.min(size)];
    for (out, start) in unpacked.chunks_mut(block).zip(starts.as_chunks::<4>().0) {
        let mut rest = packed.get(u32::from_le_bytes(*start) as usize..).ok_or_else(damaged)?;
        let is_split =
            flags & flag::WHOLE == 0 && width <= MOST_SPLITS && out.len() / width >= LEAST_SPLIT && out.len() == block;
        let part = out.len() / if is_split { width } else { 1 };
        let plain = &mut plain[..out.len()];
        if part * (out.len() / part) != out.len() {
            return Err(damaged());
        }
        for plain in plain.chunks_mut(part) {
            let (length, after) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
            let length = u32::from_le_bytes(*length) as usize;
            let (own, after) = after.split_at_checked(length).ok_or_else(damaged)?;
            rest = after;
            if length == part {
                plain.copy_from_slice(own);
            } else {
                codec.unpack(own, plain)?;
            }
        }
        if flags & flag::SHUFFLED != 0 && width > 1 {
            unshuffle(plain, width, out);
        } else if flags & flag::BITS_SHUFFLED != 0 && out.len() >= width {
            unshuffle_bits(plain, width, out);
        } else {
            out.copy_from_slice(plain);
        }
    }
    Ok(unpacked)
}

#[derive(Clone, Copy)]
enum Codec {
    Lz4,
    Zlib,
    Zstd,
}

impl Codec {
    fn of(number: u8) -> Parsed<Codec> {
        Ok(match number {
            1 => Codec::Lz4,
            3 => Codec::Zlib,
            4 => Codec::Zstd,
            other => bail!(
                "is compressed with {} of Blosc, which is not read; store it with lz4, zstd or zlib",
                match other {
                    0 => "BloscLZ",
                    2 => "Snappy",
                    _ => "an unknown codec",
                }
            ),
        })
    }

    /// Fills `out`.
    fn unpack(self, packed: &[u8], out: &mut [u8]) -> Parsed<()> {
        match self {
            Codec::Lz4 => lz4(packed, out),
            Codec::Zlib => {
                let mut decoder = flate2::read::ZlibDecoder::new(packed);
                decoder.read_exact(out).map_err(|_| damaged())
            }
            Codec::Zstd => {
                let plain = zstd::unpack(packed, out.len() as u64)?;
                if plain.len() != out.len() {
                    return Err(damaged());
                }
                out.copy_from_slice(&plain);
                Ok(())
            }
        }
    }
}

/// Fills `out` with what a block of LZ4 stands for.
pub(super) fn lz4(packed: &[u8], out: &mut [u8]) -> Parsed<()> {
    match lz4_flex::block::decompress_into(packed, out) {
        Ok(size) if size == out.len() => Ok(()),
        _ => Err(damaged()),
    }
}

/// The first bytes of all values stand first, then the second ones; what is no whole value stands at the end.
pub(super) fn unshuffle(plain: &[u8], width: usize, out: &mut [u8]) {
    let values = out.len() / width;
    for byte in 0..width {
        for value in 0..values {
            out[value * width + byte] = plain[byte * values + value];
        }
    }
    out[values * width..].copy_from_slice(&plain[values * width..]);
}

/// The first bits of all values stand first, then the second ones; what is no whole value stands at the end.
fn unshuffle_bits(plain: &[u8], width: usize, out: &mut [u8]) {
    let values = out.len() / width;
    // Blosc leaves a block as it is whose values are not a multiple of eight.
    if !values.is_multiple_of(8) {
        out.copy_from_slice(plain);
        return;
    }
    let row = values / 8;
    out.fill(0);
    for bit in 0..width * 8 {
        for value in 0..values {
            let is_set = plain[bit * row + value / 8] >> (value % 8) & 1;
            out[value * width + bit / 8] |= is_set << (bit % 8);
        }
    }
    out[values * width..].copy_from_slice(&plain[values * width..]);
}
