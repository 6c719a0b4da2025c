// SPDX-License-Identifier: MIT
//! Which bytes went in: a digest of each input file, for the results document.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::array::{Array, Data};
use crate::error::Result;
use crate::mapped::MappedFile;
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
    /// The record of anything.
    pub fn new(path: impl ToString, shape: &[usize], dtype: &str, digest: String) -> Self {
        InputRecord {
            path: path.to_string(),
            shape: shape.to_vec(),
            dtype: dtype.to_string(),
            digest,
            about: Vec::new(),
        }
    }

    /// The record of an array that was read from `input`.
    pub fn of(input: &InputPath, array: &Array) -> Result<Self> {
        Ok(InputRecord::new(
            input,
            array.shape(),
            array.dtype(),
            digest(&input.path)?,
        ))
    }
}

/// The BLAKE3 digest of a file's bytes, in hexadecimal.
pub fn digest(path: &Path) -> Result<String> {
    let file = MappedFile::open(path)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_rayon(&file);
    Ok(hasher.finalize().to_hex().to_string())
}

/// The BLAKE3 digest of an array: its type, shape and values.
pub fn digest_of_array(array: &Array) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{} {:?}\n", array.dtype(), array.shape()).as_bytes());
    let mut text = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    match array.data() {
        Data::Text(values) => values.iter().for_each(|value| text(value)),
        Data::Mixed(values) => values.iter().for_each(|value| text(&format!("{value:?}"))),
        Data::Bool(values) => {
            let bytes: Vec<u8> = values.iter().map(|&value| u8::from(value)).collect();
            hasher.update(&bytes);
        }
        Data::F32(values) => {
            hasher.update_rayon(bytemuck::cast_slice((**values).as_ref()));
        }
        Data::F64(values) => {
            hasher.update_rayon(bytemuck::cast_slice((**values).as_ref()));
        }
        Data::U8(values) => {
            hasher.update_rayon((**values).as_ref());
        }
        Data::I64(values) => {
            hasher.update_rayon(bytemuck::cast_slice(values));
        }
        Data::U64(values) => {
            hasher.update_rayon(bytemuck::cast_slice(values));
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_an_array_depends_on_values_shape_and_type() {
        let array = |shape: Vec<usize>, dtype: &str, data: Data| {
            digest_of_array(&Array::new(shape, dtype, data).expect("a shape that fits"))
        };
        let one = |value: f32| array(vec![1, 1], "f32", Data::f32(vec![value]));
        let texts = |texts: [&str; 2]| array(vec![2], "str", Data::Text(texts.map(str::to_string).to_vec()));
        assert_eq!(one(7.0), one(7.0));
        assert_ne!(one(7.0), one(8.0));
        assert_ne!(one(7.0), array(vec![1], "f32", Data::f32(vec![7.0])));
        assert_ne!(texts(["ab", "c"]), texts(["a", "bc"]));
    }

    #[test]
    fn the_digest_of_nothing_is_the_published_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty");
        crate::write_whole(&path, b"").unwrap();
        let expected = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(digest(&path).unwrap(), expected);
    }
}
