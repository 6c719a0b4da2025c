// SPDX-License-Identifier: MIT
//! The models and rows that `models/make.py` made, and what torch answered.

use std::path::PathBuf;

use repscope_io::{Array, Data, InputPath, Weights, read_array};
use repscope_models::{Embeddings, Encoder, Options, Output};

pub fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/models")
        .join(name)
}

/// A file of a case of `golden/models.py`.
pub fn golden(case: &str, name: &str) -> PathBuf {
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/models");
    models.join(case).join(name)
}

/// The weights of a case of `golden/models.py`.
pub fn golden_weights(case: &str) -> Weights {
    Weights::open(&golden(case, "weights.safetensors"), None).unwrap()
}

pub fn array(name: &str) -> Array {
    read_array(&InputPath::file(file(name))).unwrap()
}

pub fn floats(array: &Array) -> Vec<f32> {
    let Data::F32(values) = array.data() else {
        panic!("the files of the tests hold f32")
    };
    (**values).as_ref().to_vec()
}

pub fn open(name: &str, options: Options) -> Encoder {
    Encoder::open(&file(name), None, options).unwrap()
}

pub fn encode(model: &str, rows: &str, options: Options) -> Embeddings {
    open(model, options).encode_all(&array(rows)).unwrap()
}

/// Embeddings agree with torch: the largest difference, against the largest value, is within a few roundings of f32.
pub fn assert_like_torch(output: &Output, expected: &str) {
    let expected = array(expected);
    let torch = floats(&expected);
    assert_eq!(output.values.len(), torch.len());
    let largest = torch.iter().fold(0.0, |m: f32, x| m.max(x.abs()));
    let off = output
        .values
        .iter()
        .zip(&torch)
        .fold(0.0, |m: f32, (a, b)| m.max((a - b).abs()));
    assert!(
        off <= 2e-6 * largest,
        "{}: off by {off} on values up to {largest}",
        output.name
    );
}
