// SPDX-License-Identifier: MIT
//! Images in a folder are encoded like the same values in an array.

use std::path::Path;
use std::sync::Arc;

use crate::fixtures::golden;
use repscope_io::{Array, BadImages, Data, Images};
use repscope_models::{Embeddings, Encoder, Options, Rows};

/// A ResNet that takes images of any size, in color.
fn encode(rows: &dyn Rows, batch: usize) -> Embeddings {
    let options = Options {
        batch,
        scale: Some(255.0),
        ..Options::default()
    };
    let weights = golden("resnet_basic", "weights.safetensors");
    let mut encoder = Encoder::open(&weights, None, options).unwrap();
    encoder.encode_all(rows).unwrap()
}

fn folder() -> tempfile::TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../repscope-io/tests/images");
    let folder = tempfile::tempdir().unwrap();
    for name in ["color.png", "color.jpg", "gray.png", "palette.png", "opaque.png"] {
        std::fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn the_embeddings_of_a_folder_are_those_of_its_images_as_bytes_and_as_numbers() {
    let folder = folder();
    let images = Images::open(folder.path(), BadImages::Refuse).unwrap();
    let embeddings = encode(&images, 2);
    assert_eq!(embeddings.outputs[0].values.len() % 5, 0);
    let bytes = images.read_all().unwrap();
    let Data::U8(values) = bytes.data() else {
        panic!("images of 8 bits are bytes")
    };
    let numbers: Vec<f32> = (**values).as_ref().iter().map(|&b| f32::from(b)).collect();
    let numbers = Array::new(bytes.shape().to_vec(), "u8", Data::F32(Arc::new(numbers))).unwrap();
    assert_eq!(encode(&bytes, 5), embeddings);
    assert_eq!(encode(&numbers, 3), embeddings);
}

#[test]
fn an_image_that_breaks_during_a_run_is_named() {
    let folder = folder();
    let images = Images::open(folder.path(), BadImages::Refuse).unwrap();
    repscope_io::write_whole(&folder.path().join("gray.png"), b"no image any more").unwrap();
    let said = images.read(0..5, &mut Vec::new()).unwrap_err().to_string();
    assert!(said.contains("gray.png is no image"), "{said}");
}
