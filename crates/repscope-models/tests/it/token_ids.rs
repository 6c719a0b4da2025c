// SPDX-License-Identifier: MIT
//! Arrays of token ids go through a graph of integers like rows through any other (`golden/text.py`).

use std::sync::Arc;

use crate::text_fixtures::{assert_near, expected, folder};
use repscope_io::{Array, Data, InputPath, read_array};
use repscope_models::{Embeddings, Encoder, Options};

fn ids() -> Array {
    read_array(&InputPath::file(folder("onnx/ids.npy"))).unwrap()
}

fn pooler(pad: Option<i64>, batch: usize) -> Options {
    Options {
        outputs: vec!["pooler_output".to_string()],
        pad,
        batch,
        ..Options::default()
    }
}

fn encode(rows: &Array, options: Options) -> repscope_models::Result<Embeddings> {
    Encoder::open(&folder("onnx/model.onnx"), None, options)?.encode_all(rows)
}

#[test]
fn rows_of_token_ids_have_the_embeddings_of_their_texts_when_the_filling_token_is_known() {
    let embeddings = encode(&ids(), pooler(Some(0), 32)).unwrap();
    assert_near(&embeddings.outputs[0].values, &expected("bert", "pooler"), "ids");
    for batch in [1, 3] {
        assert_eq!(encode(&ids(), pooler(Some(0), batch)).unwrap(), embeddings);
    }
    let all = encode(&ids(), pooler(None, 32)).unwrap();
    assert_ne!(all.outputs[0].values, embeddings.outputs[0].values);
}

#[test]
fn floats_that_are_whole_are_tokens_and_others_are_named() {
    let ids = ids();
    let Data::I64(values) = ids.data() else {
        panic!("the file holds integers")
    };
    let mut floats: Vec<f64> = values.iter().map(|&id| id as f64).collect();
    let array = |floats: &[f64]| Array::new(ids.shape().to_vec(), "f64", Data::F64(Arc::new(floats.to_vec()))).unwrap();
    let embeddings = encode(&ids, pooler(Some(0), 32)).unwrap();
    assert_eq!(encode(&array(&floats), pooler(Some(0), 32)).unwrap(), embeddings);
    floats[24 * 5 + 2] = 1.5;
    let said = encode(&array(&floats), pooler(Some(0), 3)).unwrap_err().to_string();
    assert!(said.contains("row 5 (counted from 0) holds 1.5 at place 2"), "{said}");
}

#[test]
fn another_filling_token_is_another_digest() {
    let digest = |pad| {
        let encoder = Encoder::open(&folder("onnx/model.onnx"), None, pooler(pad, 32)).unwrap();
        encoder.digest().to_string()
    };
    assert_ne!(digest(Some(0)), digest(None));
    assert_ne!(digest(Some(0)), digest(Some(1)));
}
