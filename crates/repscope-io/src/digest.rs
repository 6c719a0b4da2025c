// SPDX-License-Identifier: MIT
//! Which bytes went in: a digest of each input file, for the results document.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::array::{Array, Data};
use crate::error::Result;
use crate::images::Images;
use crate::path::InputPath;
use crate::watched::Watched;

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
    /// The files that it was read from. A document that was stored has none.
    #[serde(skip)]
    pub files: Files,
}

/// The files of an input, as they were when they were opened. They are no part of what a record says: all are equal.
#[derive(Debug, Clone, Default)]
pub struct Files(Vec<Watched>);

impl PartialEq for Files {
    fn eq(&self, _: &Files) -> bool {
        true
    }
}

impl Eq for Files {}

impl Files {
    /// Refuses files that are no longer as they were.
    pub fn verify(&self) -> Result<()> {
        self.0.iter().try_for_each(Watched::verify)
    }
}

impl FromIterator<Watched> for Files {
    fn from_iter<T: IntoIterator<Item = Watched>>(files: T) -> Self {
        Files(files.into_iter().collect())
    }
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
            files: Files::default(),
        }
    }

    /// The record of an array that was read from `input`, with the digest of the bytes that were read.
    pub fn of(input: &InputPath, array: &Array) -> Result<Self> {
        if !array.shards().is_empty() {
            let files: Vec<Watched> = array
                .shards()
                .iter()
                .map(|(path, file)| Watched::of(path, file))
                .collect();
            let digests: Vec<&str> = files.iter().map(Watched::digest).collect();
            let digest = blake3::hash(digests.join("\n").as_bytes()).to_hex().to_string();
            let record = InputRecord::new(input, array.shape(), array.dtype(), digest);
            return Ok(record.from_files(files));
        }
        let file = match array.file() {
            Some(file) => Watched::of(&input.path, file),
            None => Watched::open(&input.path)?,
        };
        Ok(InputRecord::of_file(input, array.shape(), array.dtype(), file))
    }

    /// The record of what was read from one file.
    pub fn of_file(path: impl ToString, shape: &[usize], dtype: &str, file: Watched) -> Self {
        InputRecord::new(path, shape, dtype, file.digest().to_string()).from_files([file])
    }

    /// The record of a folder of images.
    pub fn of_images(path: impl ToString, shape: &[usize], dtype: &str, images: &Images) -> Result<Self> {
        let record = InputRecord::new(path, shape, dtype, images.digest()?);
        Ok(record.from_files(images.watched()?.iter().cloned()))
    }

    /// The same, read from these files.
    pub fn from_files(self, files: impl IntoIterator<Item = Watched>) -> Self {
        InputRecord {
            files: files.into_iter().collect(),
            ..self
        }
    }
}

/// The BLAKE3 digest of a file's bytes, in hexadecimal.
pub fn digest(path: &Path) -> Result<String> {
    Ok(Watched::open(path)?.digest().to_string())
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
        Data::Elsewhere(matrix) => text(&matrix.digest),
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
