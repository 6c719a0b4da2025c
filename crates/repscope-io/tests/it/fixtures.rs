// SPDX-License-Identifier: MIT
//! The files that `tests/files/generate.py` wrote.
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use repscope_io::{Array, Data, InputPath, read_array};

/// The matrix most files hold: -3.0, -1.5, … 13.5 in four rows of three.
pub fn matrix() -> Vec<f64> {
    (0..12).map(|i| f64::from(i) * 1.5 - 3.0).collect()
}

pub const CLASSES: [&str; 4] = ["cat", "dog", "cat", "élan"];

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

/// A file that PyTorch wrote (`tests/torch/make.py`).
pub fn torch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch").join(name)
}

/// Writes a file without forcing it to disk, as there are thousands.
pub fn put(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

/// Reads `name`, which may have a `#key`.
pub fn read(name: &str) -> repscope_io::Result<Array> {
    read_array(&InputPath::parse(&folder().join(name).display().to_string()))
}

/// The message that reading `name` gives.
pub fn message(name: &str) -> String {
    match read(name) {
        Ok(array) => panic!("{name} should not be readable but is {array:?}"),
        Err(error) => error.to_string(),
    }
}

/// All values as `f64`, without the checks of a space.
pub fn numbers(array: &Array) -> Vec<f64> {
    match array.data() {
        Data::F32(v) => (**v).as_ref().iter().map(|&x| f64::from(x)).collect(),
        Data::F64(v) => (**v).as_ref().to_vec(),
        Data::U8(v) => (**v).as_ref().iter().map(|&x| f64::from(x)).collect(),
        Data::I64(v) => v.iter().map(|&i| i as f64).collect(),
        Data::U64(v) => v.iter().map(|&i| i as f64).collect(),
        Data::Bool(v) => v.iter().map(|&b| f64::from(u8::from(b))).collect(),
        other => panic!("no numbers: {other:?}"),
    }
}

pub fn texts(array: &Array) -> Vec<String> {
    match array.data() {
        Data::Text(v) => v.clone(),
        other => panic!("no text: {other:?}"),
    }
}

/// The class names of `name`, row by row.
pub fn labels(name: &str) -> Vec<String> {
    let labels = read(name).unwrap().into_labels(name).unwrap();
    labels
        .codes()
        .iter()
        .map(|&c| labels.names()[c as usize].clone())
        .collect()
}
