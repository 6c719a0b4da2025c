// SPDX-License-Identifier: MIT
//! What chunks are packed with, and how it is undone.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use serde_json::Value;

use super::blosc;
use super::layout::{Kind, codecs_3};
use crate::array::count;
use crate::error::{Parsed, bail, problem};
use crate::memory::memory_limit;
use crate::zstd;

/// How values become the bytes of a chunk.
pub(super) struct Codecs {
    /// Which axis of the array each axis of a stored chunk is.
    pub(super) order: Vec<usize>,
    pub(super) values: Values,
    /// What is undone first stands first.
    pub(super) packed: Vec<Packing>,
}

pub(super) enum Values {
    /// One after the other, in C order.
    Fixed,
    /// How many there are, then each behind its length.
    Texts,
    /// Chunks within a chunk, and where each of them is.
    Shards(Box<Shards>),
}

pub(super) struct Shards {
    pub(super) chunk: Vec<usize>,
    pub(super) codecs: Codecs,
    pub(super) is_index_first: bool,
    pub(super) has_checksum: bool,
}

impl Shards {
    pub(super) fn new(about: &Value, outer: &[usize], kind: &mut Kind) -> Parsed<Shards> {
        let chunk = about["chunk_shape"].as_array().map(Vec::as_slice).unwrap_or_default();
        let chunk: Option<Vec<usize>> = chunk.iter().map(|size| size.as_u64()?.try_into().ok()).collect();
        let fits = |chunk: &Vec<usize>| {
            let is_part = |(&outer, &inner): (&usize, &usize)| inner > 0 && outer % inner == 0;
            chunk.len() == outer.len() && outer.iter().zip(chunk).all(is_part)
        };
        let Some(chunk) = chunk.filter(fits) else {
            bail!("is damaged: the chunks in a shard do not fill it");
        };
        let index = about["index_codecs"].as_array().cloned().unwrap_or_default();
        let index: Vec<&str> = index.iter().filter_map(|codec| codec["name"].as_str()).collect();
        let has_checksum = match index.as_slice() {
            ["bytes"] => false,
            ["bytes", "crc32c"] => true,
            other => bail!("has shards whose index is stored with {other:?}, which is not read"),
        };
        Ok(Shards {
            codecs: codecs_3(&about["codecs"], &chunk, kind)?,
            chunk,
            is_index_first: about["index_location"] == "start",
            has_checksum,
        })
    }

    /// The bytes of each chunk in C order; none for those that were never written.
    pub(super) fn parts<'a>(&self, shard: &'a [u8], outer: &[usize]) -> Parsed<Vec<Option<&'a [u8]>>> {
        let damaged = || problem!("is damaged: its shard is shorter than its index");
        let grid: Vec<usize> = outer
            .iter()
            .zip(&self.chunk)
            .map(|(outer, inner)| outer / inner)
            .collect();
        let checksum = if self.has_checksum { 4 } else { 0 };
        let size = count(&grid).and_then(|parts| parts.checked_mul(16)?.checked_add(checksum));
        let size = size.filter(|&size| size <= shard.len()).ok_or_else(damaged)?;
        let index = if self.is_index_first {
            &shard[..size]
        } else {
            &shard[shard.len() - size..]
        };
        let index = if self.has_checksum { verified(index)? } else { index };
        let part = |[start, length]: &[[u8; 8]; 2]| {
            let (start, length) = (u64::from_le_bytes(*start), u64::from_le_bytes(*length));
            if (start, length) == (u64::MAX, u64::MAX) {
                return Ok(None);
            }
            let range = usize::try_from(start).ok().zip(usize::try_from(length).ok());
            let bytes = range.and_then(|(start, length)| shard.get(start..start.checked_add(length)?));
            bytes.map(Some).ok_or_else(damaged)
        };
        let numbers = index.as_chunks::<8>().0;
        numbers.as_chunks::<2>().0.iter().map(part).collect()
    }
}

/// One way of packing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zlib,
    Zstd,
    /// A block behind its size.
    Lz4,
    Blosc,
    Crc32c,
    /// The first bytes of all values, then the second ones.
    Shuffle(usize),
}

impl Packing {
    /// What this name means; `about` is how it was set up.
    pub(super) fn known(name: &str, about: &Value) -> Parsed<Packing> {
        Ok(match name.strip_prefix("numcodecs.").unwrap_or(name) {
            "gzip" => Packing::Gzip,
            "zlib" => Packing::Zlib,
            "zstd" => Packing::Zstd,
            "lz4" => Packing::Lz4,
            "blosc" => Packing::Blosc,
            "crc32c" => Packing::Crc32c,
            "shuffle" => Packing::Shuffle(about["elementsize"].as_u64().map_or(4, |size| size as usize)),
            other => bail!(
                "is stored with the codec {other}, which is not read; store it with zstd, blosc (lz4 or zstd), gzip or without"
            ),
        })
    }

    /// Undoes it. Values take `expected` bytes in the end, where that is known.
    pub(super) fn undo<'a>(self, packed: Cow<'a, [u8]>, expected: Option<usize>) -> Parsed<Cow<'a, [u8]>> {
        // Room for what other codecs add.
        let most = expected.map_or_else(memory_limit, |bytes| {
            (bytes as u64).saturating_mul(2).saturating_add(1 << 16)
        });
        Ok(match self {
            Packing::Gzip => inflate(MultiGzDecoder::new(&*packed), most)?.into(),
            Packing::Zlib => inflate(ZlibDecoder::new(&*packed), most)?.into(),
            Packing::Zstd => zstd::unpack(&packed, most)?.into(),
            Packing::Blosc => blosc::unpack(&packed, most)?.into(),
            Packing::Lz4 => {
                let Some((size, block)) = packed.split_first_chunk::<4>() else {
                    bail!("is damaged: a chunk ends too early");
                };
                let size = u32::from_le_bytes(*size);
                if u64::from(size) > most {
                    bail!("is damaged: a chunk claims {size} bytes, and {most} are the most");
                }
                let mut unpacked = vec![0; size as usize];
                blosc::lz4(block, &mut unpacked)?;
                unpacked.into()
            }
            Packing::Crc32c => match packed {
                Cow::Borrowed(packed) => verified(packed)?.into(),
                Cow::Owned(packed) => verified(&packed)?.to_vec().into(),
            },
            Packing::Shuffle(width) => {
                let mut plain = vec![0; packed.len()];
                blosc::unshuffle(&packed, width.max(1), &mut plain);
                plain.into()
            }
        })
    }
}

fn inflate(decoder: impl Read, most: u64) -> Parsed<Vec<u8>> {
    let mut unpacked = Vec::new();
    let read = decoder.take(most.saturating_add(1)).read_to_end(&mut unpacked);
    read.map_err(|error| problem!("is damaged: {error}"))?;
    if unpacked.len() as u64 > most {
        bail!("is damaged: a chunk holds more than {most} bytes");
    }
    Ok(unpacked)
}

/// The bytes before their checksum, which fits them.
fn verified(bytes: &[u8]) -> Parsed<&[u8]> {
    match bytes.split_last_chunk::<4>() {
        Some((bytes, sum)) if crc32c(bytes) == u32::from_le_bytes(*sum) => Ok(bytes),
        _ => bail!("is damaged: a checksum does not fit its bytes"),
    }
}

/// The polynomial of Castagnoli, its lowest bit first.
fn crc32c(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |sum, _| {
            (sum >> 1) ^ (0x82f6_3b78 & 0_u32.wrapping_sub(sum & 1))
        })
    });
    let step = |sum: u32, byte: &u8| (sum >> 8) ^ table[((sum ^ u32::from(*byte)) & 255) as usize];
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // RFC 3720, B.4: 32 bytes of zeros; and the check value of the polynomial.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_name_that_is_not_known_is_said() {
        let said = Packing::known("lzma", &Value::Null).unwrap_err().to_string();
        assert!(said.contains("codec lzma") && said.contains("zstd"), "{said}");
    }
}
