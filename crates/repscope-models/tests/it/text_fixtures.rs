// SPDX-License-Identifier: MIT
//! The folders of `golden/text.py` and what their models answer.

use std::path::PathBuf;

use repscope_io::{InputPath, read_array};
use repscope_models::{Pooling, TextEncoder, TextOptions};

pub fn folder(case: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../golden/text")
        .join(case)
}

pub fn texts() -> Vec<String> {
    let json = std::fs::read(folder("texts.json")).unwrap();
    serde_json::from_slice(&json).unwrap()
}

pub fn expected(case: &str, name: &str) -> Vec<f32> {
    let array = read_array(&InputPath::file(folder(case).join(format!("{name}.npy")))).unwrap();
    crate::fixtures::floats(&array)
}

pub fn embeddings(case: &str, options: TextOptions) -> (Vec<f32>, Vec<String>) {
    let mut encoder = TextEncoder::open(&folder(case), options).unwrap();
    encoder.encode_all(&texts()).unwrap()
}

pub fn pooled(pooling: Pooling) -> TextOptions {
    TextOptions {
        pooling: Some(pooling),
        ..TextOptions::default()
    }
}

pub fn with_checkpoint(name: &str) -> TextOptions {
    TextOptions {
        checkpoint: Some((folder("checkpoints").join(format!("{name}.pt")), None)),
        ..TextOptions::default()
    }
}

/// Within 1e-5 of the largest value: a few roundings of f32 in each layer.
pub fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0, |m: f32, x| m.max(x.abs()));
    let off = found
        .iter()
        .zip(expected)
        .fold(0.0, |m: f32, (a, b)| m.max((a - b).abs()));
    assert!(off <= 1e-5 * largest, "{what}: off by {off} on values up to {largest}");
}
