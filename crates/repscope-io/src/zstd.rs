// SPDX-License-Identifier: MIT
//! Zstandard: what polars compresses Parquet with, and what Arrow files, HDF5 files and Zarr stores may be compressed with.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use crate::error::{Parsed, bail, problem};

/// The bytes of all frames. A block of a few bytes can stand for 128 KiB, so more than `most` is refused as soon as it comes.
pub(crate) fn unpack(mut packed: &[u8], most: u64) -> Parsed<Vec<u8>> {
    let mut unpacked = Vec::new();
    while !packed.is_empty() {
        let decoder = match StreamingDecoder::new(&mut packed) {
            Ok(decoder) => decoder,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let rest = packed.get(length as usize..);
                packed = rest.ok_or_else(|| problem!("is damaged: zstd data end too early"))?;
                continue;
            }
            Err(error) => bail!("is damaged: {error}"),
        };
        let left = most.saturating_sub(unpacked.len() as u64);
        let read = decoder.take(left.saturating_add(1)).read_to_end(&mut unpacked);
        read.map_err(|error| problem!("is damaged: {error}"))?;
        if unpacked.len() as u64 > most {
            bail!("is damaged: zstd data hold more than the {most} bytes that are claimed");
        }
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one segment: its size, then a block of the repeated byte 7, the last one.
    fn frame(size: u8) -> Vec<u8> {
        let header = [0x28, 0xb5, 0x2f, 0xfd, 0x20, size];
        let block = (u32::from(size) << 3 | 1 << 1 | 1).to_le_bytes();
        [&header[..], &block[..3], &[7]].concat()
    }

    #[test]
    fn frames_follow_each_other_and_what_may_be_skipped_is() {
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let packed = [frame(4), skipped.to_vec(), frame(2)].concat();
        assert_eq!(unpack(&packed, 6).unwrap(), [7; 6]);
        assert_eq!(unpack(&[], 0).unwrap(), [0; 0]);
    }

    #[test]
    fn more_than_was_claimed_is_refused_and_so_is_less() {
        let said = unpack(&frame(200), 199).unwrap_err().to_string();
        assert!(said.contains("more than the 199 bytes"), "{said}");
        let whole = frame(200);
        for keep in 1..whole.len() {
            assert!(unpack(&whole[..keep], 1000).is_err(), "{keep}");
        }
        assert!(unpack(&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1], 10).is_err());
    }
}
