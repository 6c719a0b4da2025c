// SPDX-License-Identifier: MIT
//! Which bytes went in: a digest of each input file, for the results document.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::array::Array;
use crate::error::Result;
use crate::mapped::MappedFile;
use crate::memory;
use crate::path::InputPath;

/// One input of a run, as the results document names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRecord {
    /// The path as given, with its `#key`.
    pub path: String,
    /// The shape of the array.
    pub shape: Vec<usize>,
    /// Short name of the stored type.
    pub dtype: String,
    /// The BLAKE3 digest of the whole file.
    pub digest: String,
    /// Architecture and components, where the input is a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
}

impl InputRecord {
    /// The record of an array that was read from `input`.
    pub fn of(input: &InputPath, array: &Array) -> Result<Self> {
        Ok(InputRecord {
            path: input.to_string(),
            shape: array.shape().to_vec(),
            dtype: array.dtype().to_string(),
            digest: digest(&input.path)?,
            about: Vec::new(),
        })
    }
}

/// The BLAKE3 digest of a file's bytes, in hexadecimal.
pub fn digest(path: &Path) -> Result<String> {
    if let Some(array) = memory::lent(path) {
        return Ok(memory::digest_of(&array));
    }
    let file = MappedFile::open(path)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_rayon(&file);
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_published_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty");
        crate::write_whole(&path, b"").unwrap();
        let expected = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(digest(&path).unwrap(), expected);
    }
}
