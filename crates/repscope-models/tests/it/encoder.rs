// SPDX-License-Identifier: MIT
//! Exported models give the embeddings that torch gives.

use std::sync::Arc;

use crate::fixtures::{array, assert_like_torch, encode, file, floats, open};
use repscope_io::{Array, Data};
use repscope_models::{Encoder, Layout, Options};

fn rows(shape: &[usize], values: Vec<f32>) -> Array {
    Array::new(shape.to_vec(), "f32", Data::F32(Arc::new(values))).unwrap()
}

#[test]
fn both_heads_of_a_convolutional_network_are_kept_apart() {
    let embeddings = encode("two_heads.onnx", "images.npy", Options::default());
    let shapes: Vec<_> = embeddings
        .outputs
        .iter()
        .map(|o| (o.name.as_str(), o.shape.as_slice()))
        .collect();
    assert_eq!(shapes, [("z", &[8][..]), ("p", &[5][..])]);
    assert_like_torch(&embeddings.outputs[0], "two_heads_z.npy");
    assert_like_torch(&embeddings.outputs[1], "two_heads_p.npy");
    assert_eq!(embeddings.notes, [""; 0]);
}

#[test]
fn a_chosen_head_comes_alone_and_a_wrong_name_lists_those_there() {
    let chosen = |name: &str| Options {
        outputs: vec![name.to_string()],
        ..Options::default()
    };
    let embeddings = encode("two_heads.onnx", "images.npy", chosen("p"));
    assert_eq!(embeddings.outputs.len(), 1);
    assert_like_torch(&embeddings.outputs[0], "two_heads_p.npy");
    let said = Encoder::open(&file("two_heads.onnx"), None, chosen("q"))
        .err()
        .unwrap()
        .to_string();
    assert!(
        said.contains("no output named q") && said.contains("z [?, 8]") && said.contains("p [?, 5]"),
        "{said}"
    );
    let input = Options {
        input: Some("y".to_string()),
        ..Options::default()
    };
    let said = Encoder::open(&file("two_heads.onnx"), None, input)
        .err()
        .unwrap()
        .to_string();
    assert!(
        said.contains("no input named y") && said.contains("x [?, 3, 16, 16]"),
        "{said}"
    );
}

#[test]
fn vectors_go_through_a_perceptron() {
    let embeddings = encode("mlp.onnx", "vectors.npy", Options::default());
    assert_like_torch(&embeddings.outputs[0], "mlp_z.npy");
}

#[test]
fn a_graph_of_fixed_batch_takes_bytes_scaled_and_normalized() {
    // 11 rows in batches of 8: the last one is filled up and cut. (16, 16) is fed as (1, 16, 16), a map comes out.
    let options = Options {
        scale: Some(255.0),
        mean: vec![0.5],
        std: vec![0.25],
        ..Options::default()
    };
    let embeddings = encode("fixed_batch.onnx", "gray.npy", options);
    assert_eq!(embeddings.outputs[0].shape, [64]);
    assert_like_torch(&embeddings.outputs[0], "fixed_batch_z.npy");
    let said = embeddings.notes.join("\n");
    for part in ["(16, 16) are fed as (1, 16, 16)", "8 rows at once", "(4, 4, 4)"] {
        assert!(said.contains(part), "{part} is missing in:\n{said}");
    }
}

#[test]
fn bytes_without_a_scale_are_said_to_be_fed_as_they_are() {
    let embeddings = encode("fixed_batch.onnx", "gray.npy", Options::default());
    assert!(
        embeddings.notes.iter().any(|n| n.contains("0 to 255")),
        "{:?}",
        embeddings.notes
    );
}

#[test]
fn channels_first_images_are_turned_for_a_graph_that_has_them_last() {
    let embeddings = encode("channels_last.onnx", "images.npy", Options::default());
    assert_eq!(embeddings.outputs[0].shape, [16, 8], "a sequence of 16 patches");
    assert_like_torch(&embeddings.outputs[0], "channels_last_z.npy");
    assert!(
        embeddings
            .notes
            .iter()
            .any(|n| n.contains("(3, 16, 16) are fed as (16, 16, 3)")),
        "{:?}",
        embeddings.notes
    );
    let first = Options {
        layout: Some(Layout::ChannelsFirst),
        ..Options::default()
    };
    assert_eq!(
        encode("channels_last.onnx", "images.npy", first).outputs,
        embeddings.outputs
    );
}

#[test]
fn the_batch_size_does_not_change_a_bit() {
    for (model, rows) in [
        ("two_heads.onnx", "images.npy"),
        ("mlp.onnx", "vectors.npy"),
        ("channels_last.onnx", "images.npy"),
    ] {
        let with = |batch, threads| {
            encode(
                model,
                rows,
                Options {
                    batch,
                    threads,
                    ..Options::default()
                },
            )
            .outputs
        };
        let whole = with(37, 1);
        for (batch, threads) in [(1, 1), (2, 1), (7, 1), (32, 1), (7, 2), (32, 3)] {
            assert!(
                with(batch, threads) == whole,
                "{model}: batch {batch} on {threads} threads differs"
            );
        }
    }
}

#[test]
fn frames_are_encoded_one_by_one() {
    let vectors = floats(&array("vectors.npy"));
    let movie = rows(&[12, 3, 12], vectors[..36 * 12].to_vec());
    let single = encode("mlp.onnx", "vectors.npy", Options::default());
    for batch in [1, 4, 32] {
        let options = Options {
            batch,
            ..Options::default()
        };
        let made = open("mlp.onnx", options).encode_all(&movie).unwrap();
        assert_eq!(made.outputs[0].shape, [3, 6]);
        assert_eq!(made.outputs[0].values, single.outputs[0].values[..36 * 6]);
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_with_both_shapes() {
    let said = open("two_heads.onnx", Options::default())
        .encode_all(&array("vectors.npy"))
        .unwrap_err()
        .to_string();
    assert!(said.contains("(12,)") && said.contains("(3, 16, 16)"), "{said}");
    let none = rows(&[0, 12], Vec::new());
    assert!(open("mlp.onnx", Options::default()).encode_all(&none).is_err());
    let means = Options {
        mean: vec![0.1, 0.2],
        ..Options::default()
    };
    let said = open("two_heads.onnx", means)
        .encode_all(&array("images.npy"))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("2 values of mean") && said.contains("3 channels"),
        "{said}"
    );
}

#[test]
fn a_embedding_that_is_not_finite_is_an_error_that_names_the_row() {
    let mut vectors = floats(&array("vectors.npy"));
    vectors[34 * 12 + 5] = f32::NAN;
    let mut encoder = open("mlp.onnx", Options::default());
    let said = encoder.encode_all(&rows(&[37, 12], vectors)).unwrap_err().to_string();
    assert!(
        said.contains("row 34") && said.contains("its input holds NaN"),
        "{said}"
    );
    let mut linear = Options {
        scale: Some(1e-30),
        ..Options::default()
    };
    linear.batch = 1;
    let said = open("mlp.onnx", linear)
        .encode_all(&rows(&[2, 12], vec![3e38; 24]))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("row 0") && said.contains("although its input is finite"),
        "{said}"
    );
}

#[test]
fn batches_come_in_order_and_an_error_of_the_receiver_stops_them() {
    let mut seen = Vec::new();
    let mut encoder = open(
        "mlp.onnx",
        Options {
            batch: 10,
            ..Options::default()
        },
    );
    let mut receive = |batch: repscope_models::Batch| {
        seen.push((batch.first, batch.count, batch.outputs[0].values.len()));
        Ok(())
    };
    encoder.encode(&array("vectors.npy"), &mut receive).unwrap();
    assert_eq!(seen, [(0, 10, 60), (10, 10, 60), (20, 10, 60), (30, 7, 42)]);
    let mut calls = 0;
    let stopped = encoder.encode(&array("vectors.npy"), &mut |_| {
        calls += 1;
        Err(repscope_models::Error::Model("full".to_string()))
    });
    assert!(stopped.is_err() && calls == 1);
}

#[test]
fn the_digest_follows_what_changes_embeddings_and_nothing_else() {
    let digest = |model: &str, options: Options| open(model, options).digest().to_string();
    let plain = digest("mlp.onnx", Options::default());
    assert_eq!(
        plain,
        digest(
            "mlp.onnx",
            Options {
                batch: 5,
                threads: 2,
                ..Options::default()
            }
        )
    );
    assert_ne!(
        plain,
        digest(
            "mlp.onnx",
            Options {
                scale: Some(255.0),
                ..Options::default()
            }
        )
    );
    assert_ne!(
        plain,
        digest(
            "mlp.onnx",
            Options {
                mean: vec![0.5],
                ..Options::default()
            }
        )
    );
    assert_ne!(plain, digest("two_heads.onnx", Options::default()));
}
