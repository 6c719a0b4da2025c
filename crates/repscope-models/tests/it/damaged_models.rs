// SPDX-License-Identifier: MIT
//! Files that are no models, or not whole, are refused in words.

use std::path::Path;

use crate::fixtures::{array, assert_like_torch, encode, file, open};
use repscope_io::write_whole;
use repscope_models::runtime::{ModelBytes, Runtime, load};
use repscope_models::{Encoder, Options};

fn refused(path: &Path) -> String {
    match Encoder::open(path, None, Options::default()) {
        Ok(_) => panic!("{} was taken", path.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_operator_that_is_missing_is_named_with_the_way_out() {
    let said = refused(&file("determinant.onnx"));
    assert!(
        said.contains("determinant.onnx") && said.contains("operator Det,"),
        "{said}"
    );
    assert!(said.contains("the runtime onnxruntime"), "{said}");
}

#[test]
fn a_model_that_was_cut_off_anywhere_gives_words_or_runs() {
    // Where the cut falls between two parts, what remains may still be a model; else it is refused. Nothing panics.
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(file("two_heads.onnx")).unwrap();
    let mut refusals = 0;
    for part in 0..40 {
        let path = folder.path().join("cut.onnx");
        write_whole(&path, &whole[..whole.len() * part / 40]).unwrap();
        match Encoder::open(&path, None, Options::default()) {
            Ok(mut encoder) => drop(encoder.encode_all(&array("images.npy"))),
            Err(error) => {
                assert!(error.to_string().contains("cut.onnx"), "{error}");
                refusals += 1;
            }
        }
        // The runtime too, without the reader before it.
        let _ = load(ModelBytes::File(path), &Runtime::Rten, 1);
    }
    assert_eq!(refusals, 40, "a prefix of this file is never a model");
}

#[test]
fn bytes_changed_at_random_never_panic() {
    let whole = std::fs::read(file("mlp.onnx")).unwrap();
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let rows = array("vectors.npy");
    for _ in 0..150 {
        let mut bytes = whole.clone();
        // The structure, not the weights: it stands in the first and the last bytes.
        for _ in 0..4 {
            let near = next() % 700;
            let at = if next() % 2 == 0 { near } else { bytes.len() - 1 - near };
            bytes[at] = (next() % 256) as u8;
        }
        if let Ok(mut encoder) = Encoder::from_graph(bytes, Options::default()) {
            let _ = encoder.encode_all(&rows);
        }
    }
    let noise: Vec<u8> = (0..4096).map(|_| (next() % 256) as u8).collect();
    assert!(Encoder::from_graph(noise, Options::default()).is_err());
    assert!(Encoder::from_graph(Vec::new(), Options::default()).is_err());
}

#[test]
fn weights_in_another_file_are_found_beside_it_or_asked_for() {
    let embeddings = encode("apart.onnx", "vectors.npy", Options::default());
    assert_like_torch(&embeddings.outputs[0], "apart_z.npy");
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("apart.onnx");
    let bytes = std::fs::read(file("apart.onnx")).unwrap();
    write_whole(&alone, &bytes).unwrap();
    let said = refused(&alone);
    assert!(said.contains("apart.onnx.data") && said.contains("beside"), "{said}");
    assert!(load(ModelBytes::Memory(bytes), &Runtime::Rten, 1).is_err());
    // Other weights beside the same file are another encoder.
    let weights = std::fs::read(file("apart.onnx.data")).unwrap();
    write_whole(&folder.path().join("apart.onnx.data"), &weights).unwrap();
    let there = open("apart.onnx", Options::default()).digest().to_string();
    let digest = || {
        Encoder::open(&alone, None, Options::default())
            .unwrap()
            .digest()
            .to_string()
    };
    assert_eq!(digest(), there);
    write_whole(&folder.path().join("apart.onnx.data"), &vec![0; weights.len()]).unwrap();
    assert_ne!(digest(), there);
}

#[test]
fn weights_are_never_read_from_outside_the_folder_or_from_files_of_another_kind() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(file("apart.onnx")).unwrap();
    let weights = std::fs::read(file("apart.onnx.data")).unwrap();
    let named = |name: &[u8]| {
        let before = b"apart.onnx.data";
        let mut changed = bytes.clone();
        for at in 0..changed.len() - before.len() {
            if changed[at..].starts_with(before) {
                changed[at..at + before.len()].copy_from_slice(name);
            }
        }
        changed
    };
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let model = inner.join("model.onnx");
    write_whole(&folder.path().join("ab.onnx.data"), &weights).unwrap();
    write_whole(&model, &named(b"../ab.onnx.data")).unwrap();
    assert!(
        refused(&model).contains("which is not beside it"),
        "{}",
        refused(&model)
    );
    write_whole(&inner.join("apart.onnx.text"), &weights).unwrap();
    write_whole(&model, &named(b"apart.onnx.text")).unwrap();
    assert!(refused(&model).contains("end in .data"), "{}", refused(&model));
}

#[test]
fn what_is_no_model_at_all_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.onnx");
    write_whole(&text, b"these are notes, not a model\n").unwrap();
    assert!(refused(&text).contains("notes.onnx"));
    assert!(refused(&folder.path().join("none.onnx")).contains("none.onnx"));
    assert!(refused(&file("vectors.npy")).contains("vectors.npy"));
}
