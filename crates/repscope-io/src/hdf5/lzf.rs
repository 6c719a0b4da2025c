// SPDX-License-Identifier: MIT
//! LZF, the compression that h5py offers beside gzip (`compression="lzf"`): literal runs, and copies of what came before.

use hdf5_reader::error::{Error, Result};
use hdf5_reader::messages::filter_pipeline::FilterDescription;

use super::LARGEST_CHUNK;

/// Its number among the filters of HDF5.
pub(super) const FILTER: u16 = 32000;

/// One chunk. The third number that h5py writes beside the filter is the size of a chunk.
pub(super) fn decode(filter: &FilterDescription, data: &[u8]) -> Result<Vec<u8>> {
    let size = filter
        .client_data
        .get(2)
        .map_or(LARGEST_CHUNK, |&size| size as usize)
        .min(LARGEST_CHUNK);
    expand(data, size).ok_or_else(|| Error::InvalidData("a chunk compressed with LZF is damaged".to_string()))
}

fn expand(mut data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    while let Some((&control, rest)) = data.split_first() {
        data = rest;
        if control < 32 {
            let (run, rest) = data.split_at_checked(usize::from(control) + 1)?;
            out.extend_from_slice(run);
            data = rest;
        } else {
            let mut length = usize::from(control >> 5);
            if length == 7 {
                let (&more, rest) = data.split_first()?;
                length += usize::from(more);
                data = rest;
            }
            let (&low, rest) = data.split_first()?;
            data = rest;
            let back = (usize::from(control & 31) << 8 | usize::from(low)) + 1;
            let from = out.len().checked_sub(back)?;
            // What is copied may be part of the copy.
            for at in from..from + length + 2 {
                out.push(*out.get(at)?);
            }
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_copies_are_expanded() {
        // Three literals, then five bytes from three back: the copy reads what it writes.
        let packed = [2, b'a', b'b', b'c', 3 << 5, 2];
        assert_eq!(expand(&packed, 100).unwrap(), b"abcabcab");
        assert!(expand(&packed, 7).is_none(), "more than a chunk holds");
        assert!(expand(&[1 << 5, 9], 100).is_none(), "from before the beginning");
        assert!(expand(&[3, b'a'], 100).is_none(), "a run that was cut off");
    }
}
